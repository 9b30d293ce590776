"""Where the memory of a user lies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mlsub.io.errors import MlsubError
from mlsub.workspace.memory.memory import LIMIT, Memory


def usual_folder() -> Path | None:
    """``mlsub`` in the user's folder of caches, as the XDG Base Directory Specification has it; None without a home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # noqa: PTH117  (an empty path is not the current folder)
        return Path(named, "mlsub")
    try:
        return Path.home() / ".cache" / "mlsub"
    except RuntimeError:
        return None


def memory_of(folder: str | None, limit: int | None = None, paths: Sequence[str] = ()) -> Memory | None:
    """A memory.

    Args:
        folder: where it is to lie; None for the usual place.
        limit: bytes that it may have; None for the usual number.
        paths: what is going to be read. Nothing is ever written into it.

    Returns:
        None where there can be none: no home, or a system that does not say when a file has changed.

    Raises:
        MlsubError: ``folder`` lies in what is read, or is not a folder.
    """
    place = Path(folder) if folder is not None else usual_folder()
    if place is None or os.name != "posix":
        return None
    try:
        place = place.resolve()
        inside = next((path for path in paths if place.is_relative_to(Path(path).resolve())), None)
        if folder is not None and place.exists() and not place.is_dir():
            raise MlsubError(f"{folder} is not a folder. Name another with --cache-dir.")
    except (OSError, ValueError, RuntimeError):
        return None
    if inside is not None:
        if folder is None:
            return None
        raise MlsubError(
            f"The cache folder {folder} lies in {inside}, which is only read. Name a folder outside of it."
        )
    return Memory(place, LIMIT if limit is None else limit)
