"""The page that runs mlsub in a browser, as far as it needs none: what it is made of, and how it unpacks."""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io import MlsubError
from mlsub.packing.tree import RefusedError
from tools.app import inside
from tools.app.build import PACKAGES, pinned, write_zip
from tools.supply.audit import LOCK

APP = Path(inside.__file__).parent
Members = dict[str, bytes | str | None]


def mode_of(name: str) -> int:
    return 0o755 if name.endswith(".sh") else 0o644


def as_zip(members: Members, file: Path) -> None:
    """Bytes are a file, text is a link, None is a folder; what the name begins with ``=`` is there twice."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(f"{name.lstrip('=')}{'/' if content is None else ''}")
            info.external_attr = (0o120777 if isinstance(content, str) else mode_of(name)) << 16
            archive.writestr(info, content or b"")


def as_tar(members: Members, file: Path) -> None:
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name.lstrip("="))
            if content is None:
                member.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
            else:
                member.size, member.mode = len(content), mode_of(name)
            archive.addfile(member, io.BytesIO(content) if isinstance(content, bytes) else None)


PACKERS = pytest.mark.parametrize(("pack", "name"), [(as_zip, "a.zip"), (as_tar, "a.tar.gz")])


@PACKERS
def test_an_archive_is_unpacked_as_it_is(pack: Callable[[Members, Path], None], name: str, tmp_path: Path) -> None:
    members: Members = {
        "v1.0": None,
        "v1.0/A/b.txt": b"text",
        "v1.0/A/d.sh": b"",
        "v1.0/A/c.txt": "b.txt",
        "v1.0/d": None,
    }
    pack(members, tmp_path / name)
    (to := tmp_path / "to").mkdir()
    inside.unpack(tmp_path / name, to, lambda *_: None)
    found = {path.relative_to(to).as_posix() for path in to.rglob("*")}
    assert found == {"v1.0", "v1.0/A", "v1.0/A/b.txt", "v1.0/A/c.txt", "v1.0/A/d.sh", "v1.0/d"}
    assert [(to / "v1.0/A" / name).stat().st_mode & 0o100 for name in ("b.txt", "d.sh")] == [0, 0o100]
    assert (to / "v1.0/A/c.txt").readlink() == Path("b.txt")
    assert (to / "v1.0/A/b.txt").read_bytes() == b"text"


#: What an archive holds, and what is said of it.
REFUSED: list[tuple[Members, str]] = [
    ({"../up.txt": b""}, "the path leads upwards (..)"),
    ({"/etc/passwd": b""}, "the path is absolute"),
    ({"a/b\x07": b""}, "the name has control characters"),
    ({"a": "../../up"}, "the link leads out of the tree"),
    ({"a/b": "c", "a/c": "b"}, "the link leads in a circle"),
    ({"a": b"1", "=a": b"2"}, "File exists"),
    ({"a": b"1", "a/b": b"2"}, "File exists"),
]


@PACKERS
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("members", "why"), REFUSED)
def test_what_leads_elsewhere_is_refused(
    pack: Callable[[Members, Path], None], name: str, members: Members, why: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (to := tmp_path / "to").mkdir()
    pack(members, tmp_path / "in" / name)
    with pytest.raises((MlsubError, OSError), match=re.escape(why)):
        inside.unpack(tmp_path / "in" / name, to, lambda *_: None)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "to"}


@PACKERS
def test_what_is_too_much_is_refused(
    pack: Callable[[Members, Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MAX_UNPACKED", 10)
    pack({"a": b"12345", "b": b"678901"}, tmp_path / name)
    (to := tmp_path / "to").mkdir()
    with pytest.raises(RefusedError) as error:
        inside.unpack(tmp_path / name, to, lambda *_: None)
    assert [one.message for one in error.value.findings] == ["unpacked it is more than 10 bytes"]


def test_every_package_of_the_page_is_pinned() -> None:
    lock = LOCK.read_text("utf-8")
    for names in PACKAGES.values():
        lines = pinned(names, lock)
        assert [line.partition("==")[0] for line in lines.splitlines() if "==" in line] == list(names)
        assert lines.count("--hash=sha256:") >= len(names)
    with pytest.raises(MlsubError, match="does not pin nothing-like-it"):
        pinned(("nothing-like-it",), lock)


def test_the_zip_is_the_same_on_every_day(tmp_path: Path) -> None:
    texts = []
    for day in (1, 10**9):
        folder = tmp_path / str(day)
        folder.mkdir()
        for name in ("b.py", "a.yaml", "a.pyc", "_c.cpython-314-x86_64-linux-gnu.so"):
            (folder / name).write_text(name)
            os.utime(folder / name, (day, day))
        write_zip(folder, tmp_path / f"{day}.zip")
        texts.append((tmp_path / f"{day}.zip").read_bytes())
    assert texts[0] == texts[1]
    assert zipfile.ZipFile(tmp_path / "1.zip").namelist() == ["a.yaml", "b.py"]


def test_the_page_names_no_other_place_and_its_scripts_are_short() -> None:
    texts = {file.name: file.read_text("utf-8") for file in APP.iterdir() if file.suffix in (".html", ".css", ".js")}
    assert [name for name, text in texts.items() if "//" in re.sub(r"(?m)^\s*//.*$", "", text)] == []
    assert sum(text.count("\n") for name, text in texts.items() if name.endswith(".js")) <= 300
