"""Build the page that runs mlsub in a browser: ``python -m tools.app.build FOLDER``, the same bytes everywhere.

The folder has all that the page needs: Pyodide from npm (the lock of the site's scripts pins it), the wheels that
``check``, ``score`` and ``review`` import, by the lock of CI, and the wheel of this source. A browser has no rpds, so
jsonschema is not among them: only what people write wrongly, in settings or rules of their own, needs it.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from mlsub.io import VERSION, MlsubError
from mlsub.rounds import all_rounds, usages
from tools.supply.audit import LOCK
from tools.supply.build import REPOSITORY
from tools.supply.build import build as build_wheel

PYODIDE = REPOSITORY / "tests" / "commands" / "site" / "npm" / "node_modules" / "pyodide"
#: What a page loads of Pyodide; the rest is for Node.js and for developers.
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
_OF_PAGE = ("page.css", "page.js", "worker.js")
#: Packages by the platform whose wheels are taken. PyYAML has none for a browser; without its part in C it is Python.
PACKAGES = {
    "pyemscripten_2026_0_wasm32": ("click", "mlperf-logging", "msgspec"),
    "manylinux2014_x86_64": ("pyyaml",),
}
_PYTHON = "3.14"
_LINUX_LIBRARY = "-linux-gnu.so"
#: The earliest time that a zip can state.
_TIME = (1980, 1, 1, 0, 0, 0)


def build(folder: Path) -> None:
    """Build the page into a folder, in place of what is there.

    Raises:
        MlsubError: Pyodide or a wheel cannot be had.
    """
    if not PYODIDE.is_dir():
        raise MlsubError("Pyodide is not there: npm ci --prefix tests/commands/site/npm, as make browser-app does")
    with tempfile.TemporaryDirectory() as name:
        wheels, python, made = (Path(name, part) for part in ("wheels", "python", "made"))
        for platform, packages in PACKAGES.items():
            _download(packages, platform, wheels)
        _, ours = build_wheel(REPOSITORY, Path(name, "ours"))
        _extract(ours, python)
        # Rule files as they are kept: PyYAML in Python takes seconds for them.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        keep = (sys.executable, "-m", "mlsub.io.data")
        subprocess.run(keep, check=True, cwd=python, env=environment | {"PYTHONPATH": str(python)})
        for wheel in sorted(wheels.glob("*.whl")):
            _extract(wheel, python)
        shutil.copy(Path(__file__).with_name("inside.py"), python)
        (made / "pyodide").mkdir(parents=True)
        for file in _OF_PYODIDE:
            shutil.copy(PYODIDE / file, made / "pyodide")
        for file in _OF_PAGE:
            shutil.copy(Path(__file__).with_name(file), made)
        (made / "index.html").write_text(_page(), "utf-8")
        write_zip(python, made / "python.zip")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)


def pinned(names: tuple[str, ...], lock: str) -> str:
    """The lines of a lock that pin packages, with their digests.

    Raises:
        MlsubError: it does not pin one.
    """
    found = {match[1]: match[0] for match in re.finditer(r"^([\w.-]+)==(?:.*\\\n)*.*\n", lock, re.MULTILINE)}
    if missing := [name for name in names if "--hash=" not in found.get(name, "")]:
        raise MlsubError(f"{LOCK.name} does not pin {', '.join(missing)}: make lock")
    return "".join(found[name] for name in names)


def _download(names: tuple[str, ...], platform: str, to: Path) -> None:
    """Fetch the wheels of packages for a platform.

    Raises:
        MlsubError: they are not to be had.
    """
    to.mkdir(exist_ok=True)
    wanted = to / f"{platform}.txt"
    wanted.write_text(pinned(names, LOCK.read_text("utf-8")), "utf-8")
    words = (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--platform", platform, "--python-version", _PYTHON, "--implementation", "cp"),
        *("--abi", f"cp{_PYTHON.replace('.', '')}", "--only-binary", ":all:", "--no-deps", "--require-hashes"),
        *("-r", str(wanted), "-d", str(to)),
    )
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MlsubError(f"{', '.join(names)} cannot be had for {platform}: {done.stderr.strip()[-500:]}")


def _extract(wheel: Path, to: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(to)


def _page() -> str:
    """The page, with its version and the rounds that one can choose."""
    text = Path(__file__).with_name("index.html").read_text("utf-8")
    return text.replace("VERSION", VERSION).replace("ROUNDS", "\n".join(_options()))


def _options() -> Iterator[str]:
    for usage in usages():
        for round_ in reversed(all_rounds(usage)):
            value = html.escape(f"{round_.usage} {round_.name}")
            yield f'<option value="{value}">{html.escape(round_.title)}</option>'


def write_zip(folder: Path, file: Path) -> None:
    """Write what lies in a folder, but bytecode and libraries of Linux, as a zip that depends on no day or machine."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc" and not path.name.endswith(_LINUX_LIBRARY):
                archive.writestr(
                    zipfile.ZipInfo(path.relative_to(folder).as_posix(), _TIME), path.read_bytes(), zipfile.ZIP_DEFLATED
                )


if __name__ == "__main__":
    try:
        build(Path(sys.argv[1]))
    except MlsubError as error:
        raise SystemExit(f"make browser-app: {error}") from error
