"""Whether a process of another one, which has no exit status for the test, still runs."""

from __future__ import annotations

from pathlib import Path


def is_alive(process: int) -> bool:
    """Whether a process runs; one that is dead and not yet collected does not. Linux only."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")
