"""Where the news go: lines of text, or lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any, Protocol

import msgspec

from mlsub.commands.watch.lines import line_of
from mlsub.commands.watch.news import News, PhaseChanged
from mlsub.commands.watch.phase import Phase
from mlsub.commands.watch.run import Row


class Outlet(Protocol):
    """Shows what happens."""

    def tell(self, news: News) -> None:
        """Something happened."""

    def draw(self, rows: Sequence[Row]) -> None:
        """Where the runs stand now."""

    def close(self) -> None:
        """Nothing follows."""


class TextOutlet:
    """One line for each change."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._phases: dict[str, str] = {}

    def tell(self, news: News) -> None:
        """Write a line. That a run evaluates, and goes on, is left out: its result has a line of its own."""
        if isinstance(news, PhaseChanged):
            if news.phase == Phase.EVALUATING or self._phases.get(news.path) == news.phase == Phase.RUN:
                return
            self._phases[news.path] = news.phase
        line = line_of(news)
        if line is not None:
            self._stream.write(line + "\n")
            self._stream.flush()

    def draw(self, rows: Sequence[Row]) -> None:
        """Nothing: lines stay as they are."""

    def close(self) -> None:
        """Nothing: each line was written at once."""


class JsonlOutlet:
    """One JSON object for each event, on one line of plain ASCII; see schema.json."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def tell(self, news: News) -> None:
        """Write an object."""
        self._stream.write(json.dumps(document(news), allow_nan=False) + "\n")
        self._stream.flush()

    def draw(self, rows: Sequence[Row]) -> None:
        """Nothing: a machine follows the events."""

    def close(self) -> None:
        """Nothing: each object was written at once."""


def document(news: News) -> dict[str, Any]:
    """An event as the fields of its JSON object; numbers that JSON has not are null."""
    content = _finite(msgspec.to_builtins(news))
    assert isinstance(content, dict)  # noqa: S101  (a struct becomes an object)
    return content


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(part) for part in content]
    if isinstance(content, float) and not abs(content) < float("inf"):
        return None
    return content
