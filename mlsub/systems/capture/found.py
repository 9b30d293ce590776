"""What a part of the capture finds: fields with values, and reasons where there are none."""

from __future__ import annotations

from pathlib import Path

from mlsub.systems.catalogue import Value
from mlsub.systems.draft import TO_FILL_IN

Found = dict[str, Value]
_MOST = 1 << 20


def unknown(reason: str) -> Value:
    """A field that this machine does not tell, and why."""
    return Value(TO_FILL_IN, reason)


def read_text(path: Path) -> str | None:
    """The first MiB of a file of the system; None where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(_MOST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def counted(names: list[str]) -> str:
    """Equal names once, with their number: ``8x A, 2x B``."""
    return ", ".join(f"{names.count(name)}x {name}" for name in dict.fromkeys(names))


def bytes_in_words(size: float) -> str:
    """A size as makers of disks give it: decimal, three digits."""
    for unit in ("TB", "GB", "MB"):
        scale = {"TB": 1e12, "GB": 1e9, "MB": 1e6}[unit]
        if size >= scale:
            return f"{size / scale:.3g}{unit}" if size / scale < 1000 else f"{size / scale:.0f}{unit}"
    return f"{size:.0f} bytes"
