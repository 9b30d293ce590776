"""Drop the page cache before a run, so that it reads its data from where they lie."""

from __future__ import annotations

import os
from pathlib import Path

_DROP = Path("/proc/sys/vm/drop_caches")


def drop_page_cache(drop: Path = _DROP) -> str | None:
    """Write dirty pages out and drop the page cache of this machine.

    Returns:
        None where it was dropped, else in words why it was not.
    """
    if not drop.exists():
        return f"there is no {drop}: only Linux has it"
    os.sync()
    try:
        drop.write_text("3\n")
    except OSError as error:
        return f"{drop} cannot be written: {error.strerror or error}; it takes root, outside of most containers"
    return None
