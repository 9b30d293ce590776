"""Write a file that can be made again, such as one of a cache: whole or not at all, and as fast as that can be.

What a user keeps is written by :mod:`mlsub.io.output`, which brings it to the disk and replaces nothing unasked.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

_PART = re.compile(r"\.mlsub-[0-9a-f]+\.(part|new)")


def is_part(name: str) -> bool:
    """Whether a name is that of a file or folder that is not finished; ``.new`` ones are of earlier versions."""
    return _PART.fullmatch(name) is not None


def part_of(folder: str | os.PathLike[str]) -> str:
    """A new name in a folder for a file or folder that is not finished."""
    return os.path.join(folder, f".mlsub-{os.urandom(8).hex()}.part")  # noqa: PTH118  (fast, also without pathlib)


def replace_whole(file: str | os.PathLike[str], content: bytes, mode: int = 0o666) -> None:
    """Put content in place of a file, in one step; whoever reads it meanwhile sees the old one or the new one.

    It is not brought to the disk: after a crash of the machine it may be damaged, so its reader has to notice that.

    Args:
        file: in a folder that is there.
        content: all of it.
        mode: of a new file, less what the umask takes away.

    Raises:
        OSError: the system refuses; then nothing has changed.
    """
    part = part_of(os.path.dirname(file))  # noqa: PTH120
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as stream:  # noqa: PTH123
            stream.write(content)
        os.replace(part, file)  # noqa: PTH105
    except OSError:
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
        raise
