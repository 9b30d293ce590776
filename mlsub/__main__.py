"""The ``mlsub`` command, and ``python -m mlsub``: where the process starts and ends.

What is imported here, every call waits for: the version is printed before anything else is read.
"""

from __future__ import annotations

import gc
import sys

from mlsub.io import VERSION

#: So many new objects, some ten megabytes, start the search for garbage.
_MANY_OBJECTS = 100_000


def main() -> None:
    """Answer the words of the command line."""
    # What is imported and read stays to the end: to look for cycles in it again and again would be a tenth of a check.
    gc.set_threshold(_MANY_OBJECTS)
    if sys.argv[1:] == ["--version"] and _printed(f"mlsub, version {VERSION}\n"):
        return
    from mlsub import cli

    try:
        cli.main()
    finally:
        # What is left goes with the process: to look for cycles in it once more would be a fifth of a small check.
        if "duckdb" not in sys.modules:  # It reports objects that are not freed at exit.
            gc.freeze()


def _printed(text: str) -> bool:
    """Print, or leave it to :mod:`mlsub.commands.ending` to say why that cannot be."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # It is None where it is closed.
        return False
    return True


if __name__ == "__main__":
    main()
