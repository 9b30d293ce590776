"""Put a folder in place, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mlsub.io.durable import make_folder, settle, settle_tree
from mlsub.io.errors import MlsubError
from mlsub.io.leftovers import clear_leftovers, new_folder, remove
from mlsub.io.output import cannot_write
from mlsub.io.renaming import exchange


@contextmanager
def staging_beside(final: Path) -> Iterator[Path]:
    """An empty folder to build in, on the same file system as ``final``; what is left of it goes in the end.

    What killed processes have left here before goes first; see :mod:`mlsub.io.leftovers`.

    Raises:
        MlsubError: it cannot be made.
    """
    with ExitStack() as stack:
        try:
            make_folder(final.parent)
            # A name that cannot be given (too long, NUL) is reported before the work, not after it.
            with suppress(FileNotFoundError):
                final.lstat()
            clear_leftovers(final.parent)
            staging = stack.enter_context(new_folder(final.parent))
        except (OSError, ValueError) as error:
            raise cannot_write(final, error) from error
        yield staging


def put_folder(staging: Path, final: Path) -> None:
    """Give a finished folder its name; an earlier folder of that name is replaced and removed.

    Whoever looks meanwhile, and whatever kills the process, there is the old folder or the new one. Where the file
    system cannot exchange two names there is a moment with neither: then the old one lies beside, under the name that
    :func:`recover_folder` looks for, which this function calls first. The new folder is on the disk with all that is
    in it before it gets its name, and its name before the old one is removed: so this holds for a power cut, too.

    Args:
        staging: the finished folder, on the same file system as ``final``.
        final: its name from now on.

    Raises:
        MlsubError: ``final`` is not a folder, or is a link, or something cannot be renamed. Then the old one is where
            it was (unless the text says that only its remains could not be removed).
    """
    try:
        recover_folder(final)
        if final.is_symlink() or (final.exists() and not final.is_dir()):
            raise MlsubError(f"{final} is not a folder, or is a link. Name another, or move it away.")
        settle_tree(staging)
        if not final.exists():
            staging.rename(final)
            settle(final.parent)
        elif exchange(staging, final):
            settle(final.parent)
            _remove_old(staging, final)
        else:
            _replace(staging, final)
    except (OSError, ValueError) as error:
        raise cannot_write(final, error) from error


def recover_folder(final: Path) -> bool:
    """Give a folder back its name after a :func:`put_folder` that was killed half-way; whether there was one."""
    old = _old_name(final)
    if not old.is_dir() or old.is_symlink() or os.path.lexists(final):
        return False
    old.rename(final)
    settle(final.parent)
    return True


def _replace(staging: Path, final: Path) -> None:
    """Replace without an exchange: first the old one away, then the new one in."""
    old = _old_name(final)
    if os.path.lexists(old):
        # Beside a final folder it is what a killed process had no time to remove.
        _remove_old(old, final)
    final.rename(old)
    try:
        staging.rename(final)
    except OSError:
        old.rename(final)
        raise
    settle(final.parent)
    _remove_old(old, final)


def _remove_old(folder: Path, final: Path) -> None:
    remove(folder)
    if os.path.lexists(folder):
        raise MlsubError(f"{final} is in place, but what it replaced cannot be removed: remove {folder}.")


def _old_name(final: Path) -> Path:
    return final.with_name(f".{final.name}.mlsub-old")
