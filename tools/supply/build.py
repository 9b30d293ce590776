"""The source distribution and, from it, the wheel: ``python -m tools.supply.build FOLDER``, the same bytes everywhere.

setuptools takes times from SOURCE_DATE_EPOCH where a wheel is made, and nowhere else; owners, modes and times of a
source distribution are those of the copy that it is made of, and the wheel takes over the modes. They are set here.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
#: The earliest time that a wheel can state: without git, or with a commit from before.
_EARLIEST = 315_532_800


def epoch(source: Path) -> int:
    """Seconds since the Unix epoch that files are dated: SOURCE_DATE_EPOCH, or when the last commit was made."""
    if stated := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(stated)
    words = ("git", "-C", str(source), "log", "-1", "--format=%ct")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return max(int(done.stdout), _EARLIEST) if done.returncode == 0 else _EARLIEST


def level(archive: bytes, time: int) -> bytes:
    """A tar.gz with the same files in the order of their names, of one owner and time, and one of two modes."""
    made = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=made, mode="w") as new:
        for member in sorted(old, key=lambda one: one.name):
            executable = member.isdir() or member.mode & 0o100
            # Times to parts of a second stand in a header of their own.
            level = member.replace(mtime=time, mode=0o755 if executable else 0o644, deep=False)
            level.uid = level.gid = 0
            level.uname = level.gname = ""
            level.pax_headers = {}
            new.addfile(level, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(made.getvalue(), mtime=time)


def _build(kind: str, source: Path, to: Path, time: int) -> None:
    # Packages to build with come from the environment: a lock has them, an index of the day has others.
    words = (sys.executable, "-m", "build", "--no-isolation", kind, "--outdir", str(to), str(source))
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(time)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, umask=0o022)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")


def build(source: Path, to: Path) -> list[Path]:
    """Build both into a folder, and give their paths: the source distribution, then the wheel."""
    time = epoch(source)
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made, unpacked = Path(folder, "made"), Path(folder, "unpacked")
        _build("--sdist", source, made, time)
        (packed,) = made.glob("*.tar.gz")
        archive = to / packed.name
        archive.write_bytes(level(packed.read_bytes(), time))
        with tarfile.open(archive) as files:
            files.extractall(unpacked, filter="data")
        (inside,) = unpacked.iterdir()
        _build("--wheel", inside, to, time)
    return [archive, *to.glob("*.whl")]


if __name__ == "__main__":
    for path in build(REPOSITORY, Path(sys.argv[1])):
        print(path)
