"""What a team repeats: settings from files and the environment, waivers, and the baseline.

Here: where the settings file of a call is, the nearest one from PATH upwards, but never one inside a package.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from mlsub.io.look import open_regular
from mlsub.io.show import display_path
from mlsub.submission.find import is_folder, is_organisation

_ANY_DEPTH = "**"


def covers(pattern: str, place: str) -> bool:
    """Whether a pattern means a place, or a folder that it lies in.

    Args:
        pattern: relative, with ``/`` between folders; ``*``, ``?`` and ``[...]`` match within one name, ``**`` any
            number of folders.
        place: relative to the same folder; one outside of it is never meant.
    """
    names = _path_parts(place)
    return ".." not in names and _matches(_path_parts(pattern), names)


def fixed_part(pattern: str) -> str:
    """The folder or file that everything lies in which a pattern can mean."""
    names = _path_parts(pattern)
    return "/".join(names[: next((at for at, name in enumerate(names) if any(c in name for c in "*?[")), len(names))])


def _path_parts(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _matches(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a pattern matches the beginning of a place, whole names each. Time is that of the product of both."""
    reached = {0}
    for part in pattern:
        if part == _ANY_DEPTH:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
        if not reached:
            return False
    return True


def relative_path(folder: str, root: str, path: str) -> str:
    """A path of a report as it is seen from the folder of the settings, with ``/`` between folders."""
    return os.path.relpath(os.path.join(root, path), folder).replace(os.sep, "/")  # noqa: PTH118


PYPROJECT = "pyproject.toml"
#: Of one folder, the first that is there counts.
NAMES = (".mlsub.toml", "mlsub.toml", PYPROJECT)
_DEEPEST = 64


def find_settings(paths: Sequence[str]) -> tuple[Path | None, Path | None]:
    """Return the settings file for paths: the nearest one, upwards from the folder that they have in common.

    The search ends at the root of a repository, at the user's home, and below a folder that anyone may write to, such
    as ``/tmp``. A file in an organisation's folder, or deeper, came with the package that is checked and must not
    decide how it is checked: it is passed over.

    Args:
        paths: what is asked for; without any, the current folder.

    Returns:
        The file, and one that is passed over because a package brought it along.
    """
    folders = list(_folders_to_search(_common_folder(paths)))
    files = ((at, folder / name) for at, folder in enumerate(folders) for name in NAMES)
    there = [(at, file) for at, file in files if os.path.isfile(file)]  # noqa: PTH113  (a path object may raise)
    if not there:
        return None, None
    packages = (at for at, folder in enumerate(folders) if folder != _home() and is_organisation(folder, unseen=True))
    outermost = max(packages, default=-1)
    inside = next((file for at, file in there if at <= outermost and is_settings(file, ours=False)), None)
    return next((file for at, file in there if at > outermost and is_settings(file)), None), inside


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
        with open_regular(file) as stream:
            if b"mlsub" not in stream.read(MAX_TOML_BYTES):
                return False
        tools = read_toml(file, display_path(file)).get("tool")
    except OSError:
        return False
    except FileProblemsError:
        if ours:
            raise
        return True
    return isinstance(tools, dict) and "mlsub" in tools


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111  (Path.home raises where there is none)


def _common_folder(paths: Sequence[str]) -> Path:
    try:
        absolute = [os.path.abspath(path) for path in paths] or [os.getcwd()]  # noqa: PTH100, PTH109
        common = Path(os.path.commonpath(absolute))
    except (OSError, ValueError):
        return Path.cwd()
    return next(folder for folder in (common, *common.parents) if is_folder(folder) or folder == folder.parent)


def _folders_to_search(start: Path) -> Iterator[Path]:
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
    return bool(mode & stat.S_IWOTH)
