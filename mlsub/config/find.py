"""Where the settings file of a call is: the nearest one from PATH upwards, but never one inside a package."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mlsub.config.paths import from_here
from mlsub.submission.locate import is_folder, may_be_organisation

PYPROJECT = "pyproject.toml"
#: Of one folder, the first that is there counts.
NAMES = (".mlsub.toml", "mlsub.toml", PYPROJECT)
_DEEPEST = 64


class Found(NamedTuple):
    """The settings file of a call, None for none, and one that is passed over because a package brought it along."""

    file: Path | None = None
    inside: Path | None = None


def find_settings(paths: Sequence[str]) -> Found:
    """The settings file for paths: the nearest one, upwards from the folder that they have in common.

    The search ends at the root of a repository, at the user's home, and below a folder that anyone may write to, such
    as ``/tmp``. A file in an organisation's folder, or deeper, came with the package that is checked and must not
    decide how it is checked: it is passed over.

    Args:
        paths: what is asked for; without any, the current folder.
    """
    folders = list(_upwards(_common(paths)))
    there = [(at, folder / name) for at, folder in enumerate(folders) for name in NAMES if _is_file(folder / name)]
    if not there:
        return Found()
    packages = (at for at, folder in enumerate(folders) if folder != _home() and may_be_organisation(folder))
    outermost = max(packages, default=-1)
    inside = next((file for at, file in there if at <= outermost and is_settings(file, ours=False)), None)
    return Found(next((file for at, file in there if at > outermost and is_settings(file)), None), inside)


def is_settings(file: Path, *, ours: bool = True) -> bool:
    """Whether a file of one of our names has settings: one that is of other tools too needs our table.

    Args:
        file: it is there.
        ours: whether it is an error that it mentions us and cannot be read; else it counts as one.

    Raises:
        FileProblemsError: it is ours, mentions us, and is not TOML.
    """
    if file.name != PYPROJECT:
        return True
    from mlsub.io.problems import FileProblemsError
    from mlsub.io.read import MAX_TOML_BYTES, read_toml

    try:
        with file.open("rb") as stream:
            if b"mlsub" not in stream.read(MAX_TOML_BYTES):
                return False
        tools = read_toml(file, from_here(file)).get("tool")
    except OSError:
        return False
    except FileProblemsError:
        if ours:
            raise
        return True
    return isinstance(tools, dict) and "mlsub" in tools


def _is_file(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except (OSError, ValueError):
        return False


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111  (Path.home raises where there is none)


def _common(paths: Sequence[str]) -> Path:
    try:
        absolute = [os.path.abspath(path) for path in paths] or [os.getcwd()]  # noqa: PTH100, PTH109
        common = Path(os.path.commonpath(absolute))
    except (OSError, ValueError):
        return Path.cwd()
    return next(folder for folder in (common, *common.parents) if is_folder(folder) or folder == folder.parent)


def _upwards(start: Path) -> Iterator[Path]:
    home = _home()
    for folder in (start, *start.parents)[:_DEEPEST]:
        if _anyone_writes(folder):
            return
        yield folder
        if folder == home or os.path.lexists(folder / ".git"):
            return


def _anyone_writes(folder: Path) -> bool:
    try:
        mode = folder.stat().st_mode
    except (OSError, ValueError):
        return True
    return bool(mode & stat.S_IWOTH and mode & stat.S_ISVTX)
