"""mlsub as its users have it: a wheel of this repository in an environment of its own.

Where it is installed to be edited, each start of Python takes 10 ms more, for which no user waits.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tools.bench.results import REPOSITORY

#: What a wheel is made of.
_SOURCES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "mlsub")


@cache
def installed(below: Path) -> Path:
    """The folder of the commands of an environment with mlsub as it is now, made anew below a folder."""
    folder = below / "installed-mlsub"
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
    python, there = folder / "bin" / "python", Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    # What mlsub needs is that of this Python; whatever that starts with is not: a file like this is read in one place.
    (there / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    with tempfile.TemporaryDirectory() as scratch:
        for name in _SOURCES:
            source, copy = REPOSITORY / name, Path(scratch, name)
            if source.is_dir():
                shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(source, copy)
        words = ["--python", str(python), "install", "--quiet", "--disable-pip-version-check", "--no-deps", scratch]
        # Older ones need a package that a new environment does not have.
        builds = find_spec("setuptools") and find_spec("setuptools.command.bdist_wheel")
        subprocess.run([sys.executable, "-m", "pip", *words, *(["--no-build-isolation"] if builds else [])], check=True)
    return folder / "bin"
