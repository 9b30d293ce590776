"""What a redaction comes to, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mlsub.commands.redact.model import Item, Kind
from mlsub.io.plain import plain

_WIDTH = 60


def ordered(items: Iterable[Item]) -> list[Item]:
    """Items by kind, then by their number."""
    return sorted(items, key=lambda item: (list(Kind).index(item.kind), len(item.placeholder), item.placeholder))


def shown(item: Item) -> str:
    """What is replaced, as text that is safe to print; of a secret no more than its beginning."""
    if item.kind is Kind.ENV:
        return "values of variables"
    text = plain(item.key.decode("utf-8", "backslashreplace"))
    if item.kind is Kind.SECRET:
        return f"{text[:4]}..."
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def as_text(items: Sequence[Item], root: Path, logs: int, *, written: str) -> Iterator[str]:
    """Lines for people.

    Args:
        items: what there is to replace, in order.
        root: the folder that logs are named in.
        logs: how many logs were read.
        written: where they were written to, empty for nowhere.
    """
    yield f"{plain(str(root))}:"
    free = [item for item in items if item.count]
    held = [item for item in items if item.in_records]
    for item in free:
        yield f"  {item.placeholder} for {shown(item)}: {_times(item.count)}, {_places(item.places, item.count, root)}"
    if held:
        yield "Not redacted, for it stands inside a record, and no record may be altered:"
    for item in held:
        yield f"  {shown(item)}: {_times(item.in_records)}, {_places(item.record_places, item.in_records, root)}"
    if held:
        yield "  Log the next run from a folder that names nobody; of this one ask the review committee."
    count = sum(item.count for item in free)
    done = f"{'replaced' if written else 'to replace'} in {logs} log{'s' * (logs != 1)}"
    things = f"{len(free)} different thing{'s' * (len(free) != 1)}"
    if not free:
        yield f"nothing {done}"
    elif written:
        yield f"{things}, {_times(count)}, {done}; all records are as they were. Written: {written}"
    else:
        yield f"{things}, {_times(count)}, {done}. To replace them: --write, or -o OUT for copies"


def as_json(items: Sequence[Item], root: Path, logs: int, *, written: str) -> str:
    """The same as one document."""
    found: list[dict[str, Any]] = [
        {
            "kind": item.kind.value,
            "text": shown(item),
            "placeholder": item.placeholder,
            "count": item.count,
            "in_records": item.in_records,
            "places": [{"path": _relative(file, root), "line": line} for file, line in item.places],
            "record_places": [{"path": _relative(file, root), "line": line} for file, line in item.record_places],
        }
        for item in items
    ]
    document = {"root": plain(str(root)), "logs": logs, "written": written or None, "items": found}
    return json.dumps(document, indent=2) + "\n"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _places(places: Sequence[tuple[Path, int]], count: int, root: Path) -> str:
    file, line = places[0]
    return ("" if count == 1 else "first in ") + f"{_relative(file, root)}:{line}"


def _relative(file: Path, root: Path) -> str:
    return plain(file.relative_to(root).as_posix())
