"""Where the news go: lines of text, or lines of JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import IO, Any

import msgspec

from mlsub.commands.watch.lines import line_of, verdict
from mlsub.commands.watch.news import Concluded, Ended, News, PhaseChanged
from mlsub.commands.watch.phase import Phase
from mlsub.commands.watch.run import Row
from mlsub.present.document import Text
from mlsub.present.output import put


class Outlet(ABC):
    """Shows what happens; most leave what they have shown as it is."""

    @abstractmethod
    def tell(self, news: News) -> None:
        """Something happened."""

    def draw(self, rows: Sequence[Row]) -> None:  # noqa: B027  (most show no table)
        """Where the runs stand now."""

    def close(self) -> None:  # noqa: B027  (most have nothing to take away)
        """Nothing follows."""


class TextOutlet(Outlet):
    """One line for each change, and at the end a table of the logs where there are several."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._phases: dict[str, str] = {}
        self._ends: dict[str, Ended] = {}

    def tell(self, news: News) -> None:
        """Write a line. That a run evaluates, and goes on, is left out: its result has a line of its own."""
        if isinstance(news, PhaseChanged):
            if news.phase == Phase.EVALUATING or self._phases.get(news.path) == news.phase == Phase.RUN:
                return
            self._phases[news.path] = news.phase
        if isinstance(news, Ended):
            self._ends[news.path] = news
        if isinstance(news, Concluded):
            put(self._stream, *verdict(news, [*self._ends.values()]))
        elif self._stream.isatty():
            put(self._stream, Text(line_of(news)))
        else:  # However long it is, each is one line for whoever reads them.
            self._stream.write(line_of(news) + "\n")
        self._stream.flush()


class JsonlOutlet(Outlet):
    """One JSON object for each event, on one line of plain ASCII; see :func:`mlsub.commands.watch.news.schema`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def tell(self, news: News) -> None:
        """Write an object."""
        self._stream.write(json.dumps(document(news), allow_nan=False) + "\n")
        self._stream.flush()


def document(news: News) -> Any:
    """An event as its JSON object; numbers that JSON does not have are null."""
    return _finite(msgspec.to_builtins(news))


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    if isinstance(content, float) and not abs(content) < float("inf"):
        return None
    return content
