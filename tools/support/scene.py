"""A watch without waiting: a clock that only moves when somebody sleeps, and a script of what happens meanwhile."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from rich.console import Console

from mlsub.commands.watch.document import Outlet
from mlsub.commands.watch.model import RunSoFar, WatchedEvaluation, WatchEvent
from mlsub.commands.watch.model import schema as schema_of_events
from mlsub.commands.watch.run import Clock, Watch
from mlsub.commands.watch.sofar import LogSoFar
from mlsub.commands.watch.source import NewBytes
from mlsub.commands.watch.view import picture
from mlsub.rounds import get_round
from mlsub.workspace import Context, Request
from tools.support.make_tree import make_log

#: 4 May 2021: when the logs of tools/support/make_tree.py were made.
BEGAN_S = 1_620_100_000.0
#: Sleeps after which a watch that was told nothing further will never end.
MANY = 500

Step = Callable[[], object]


class FakeClock(Clock):
    """Runs one step of a script at each sleep; after the last one it goes on, but not for ever."""

    def __init__(self, script: Sequence[Step] = (), now: float = BEGAN_S) -> None:
        super().__init__()
        self._script = list(script)
        self._began = now
        self.slept = 0.0
        self._sleeps = 0

    def now_ms(self) -> int:
        return int((self._began + self.slept) * 1000)

    def sleep(self, seconds: float, readable: Sequence[int] = ()) -> None:
        self.slept += seconds
        self._sleeps += 1
        assert self._sleeps < MANY, "the watch goes on for ever"
        if self._script:
            self._script.pop(0)()


class Kept(Outlet):
    """An outlet that keeps what it is told, and what a live view of so many columns would show."""

    def __init__(self, width: int = 80) -> None:
        self._width = width
        self.news: list[WatchEvent] = []
        self.pictures: list[str] = []
        self.closed = False

    def show(self, news: WatchEvent) -> None:
        self.news.append(news)

    def draw(self, logs: Sequence[LogSoFar], at_ms: int) -> None:
        self.pictures.append(shown(logs, at_ms, self._width))

    def close(self) -> None:
        self.closed = True

    def of(self, kind: type[Any]) -> list[Any]:
        return [news for news in self.news if isinstance(news, kind)]


def runs_of(news: Sequence[WatchEvent]) -> list[RunSoFar]:
    """What was told of the runs so far."""
    return [one for one in news if isinstance(one, RunSoFar)]


def phases_of(news: Sequence[WatchEvent]) -> list[str]:
    """The phases of one run, each as it began, but that it is waited for."""
    phases = ["" if one.restart else one.phase for one in runs_of(news)]
    changes = [phase for phase, before in zip(phases, ["", *phases], strict=False) if phase != before]
    return [phase for phase in changes if phase not in ("", "waiting")]


def evaluations_of(news: Sequence[WatchEvent]) -> list[WatchedEvaluation]:
    """The evaluations of one run."""
    return list({one.evaluation.line: one.evaluation for one in runs_of(news) if one.evaluation}.values())


class Fed:
    """A log whose bytes are given by hand, and what is shown of it."""

    descriptors = ()

    def __init__(self, round_name: str = "1.0", overlay: str | None = None, usage: str = "training") -> None:
        self.news: list[WatchEvent] = []
        self._data = b""
        self.log = LogSoFar(self, "-", get_round(usage, round_name, overlay), self.news.append)  # type: ignore[arg-type]

    def look(self) -> NewBytes:
        return NewBytes(state="there", data=self._data)

    def feed(self, data: bytes, at_ms: int = 0) -> list[WatchEvent]:
        """What these bytes bring."""
        known, self._data = len(self.news), data
        self.log.look(at_ms)
        return self.news[known:]


def shown(logs: Sequence[LogSoFar], at_ms: int, width: int) -> str:
    """The live view on a terminal of so many columns."""
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False, markup=False).print(picture(logs, at_ms))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def ctrl_c() -> None:
    """A step of a script: somebody asks for the end."""
    raise KeyboardInterrupt


def watched(
    paths: Sequence[Path | str], script: Sequence[Step] = (), *, width: int = 80, **how: Any
) -> tuple[int, Kept]:
    """Watch logs by the rules of v1.0, unless told (see :func:`watch`); the exit status, and what was told."""
    kept = Kept(width)
    status = watch(kept, paths, script, **how)
    assert kept.closed
    return status, kept


def watch(
    outlet: Any,
    paths: Sequence[Path | str],
    script: Sequence[Step] = (),
    *,
    settings: dict[str, Any] | None = None,
    clock: FakeClock | None = None,
    standard_input: int = 0,
    **asked: Any,
) -> int:
    time = clock if clock is not None else FakeClock(script)
    names, wanted = [str(path) for path in paths], Context(Request(**{"round": "1.0", **asked}))
    return Watch(names, wanted, time, outlet, standard_input=standard_input, **(settings or {})).run()


def text_of(paths: Sequence[Path | str], script: Sequence[Step] = (), *, jsonl: bool = False, **asked: Any) -> str:
    """What a watch writes as text, or as JSON lines."""
    stream = io.StringIO()
    watch(Outlet(stream, jsonl=jsonl), paths, script, **asked)
    return stream.getvalue()


def events_of(paths: Sequence[Path | str], script: Sequence[Step] = (), **asked: str) -> list[dict[str, Any]]:
    """What a watch writes as JSON lines, each valid by the published schema."""
    return read_events(text_of(paths, script, jsonl=True, **asked))


def read_events(text: str) -> list[dict[str, Any]]:
    """The objects of JSON lines; each must keep the contract."""
    assert text.isascii() and text.endswith("\n")
    events = [json.loads(line, parse_constant=_no_number) for line in text.splitlines()]
    for event in events:
        schema().validate(event)
    return events


def _no_number(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


@lru_cache(maxsize=1)
def schema() -> Draft202012Validator:
    content = schema_of_events()
    Draft202012Validator.check_schema(content)
    assert all(part["additionalProperties"] is False for part in content["$defs"].values() if "properties" in part)
    return Draft202012Validator(content)


def lines_of(run: int = 0, **how: str) -> list[bytes]:
    """The lines of a compliant log, each with its end."""
    return make_log(run=run, **how).text().encode().splitlines(keepends=True)


def at(lines: Sequence[bytes], key: str) -> int:
    """The first line with a record of a key, counted from 0."""
    return next(n for n, line in enumerate(lines) if f'"key": "{key}"'.encode() in line)


def append(file: Path, *data: bytes) -> Step:
    """A step that lets a log grow."""

    def step() -> None:
        with file.open("ab") as stream:
            stream.write(b"".join(data))

    return step


def wait() -> None:
    """A step in which nothing happens."""
