"""The ``mlsub`` command, and ``python -m mlsub``: where the process starts and ends.

What is imported here, every call waits for: the version is printed before anything else is read.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

from mlsub.io import VERSION

#: So many new objects, a few megabytes, start the search for garbage.
_MANY_OBJECTS = 50_000


def main() -> None:
    """Answer the words of the command line."""
    # What is imported and read stays to the end: to look for cycles in it again and again would be a tenth of a check.
    gc.set_threshold(_MANY_OBJECTS)
    if sys.argv[1:] == ["--version"] and _printed(f"mlsub, version {VERSION}\n"):
        return
    from mlsub import cli

    try:
        cli.main()
    except SystemExit as ended:
        _leave(ended.code)
        raise


def _printed(text: str) -> bool:
    """Print, or leave it to :mod:`mlsub.commands.ending` to say why that cannot be."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # It is None where it is closed.
        return False
    return True


def _leave(status: object) -> None:
    """End the process at once, as mypy does: freeing every object by itself would be a tenth of a small check.

    The answer is flushed by then. Whatever was to be done at exit is done, and what it prints is flushed too; where a
    thread still runs, or a profiler, Python ends the process.
    """
    import atexit
    import threading

    if isinstance(status, int) and threading.active_count() == 1 and sys.getprofile() is None:
        atexit._run_exitfuncs()
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
