"""How far a long search has come, in a file that is always whole, and its figures as tables."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tests.differential.phases import PHASES, Task
from tests.differential.sources import Source

#: Changes with the form of the file.
VERSION = 2


class Searched(NamedTuple):
    """What came of a task.

    ``places`` numbers were gone through, ``ended`` says that the phase has no more, ``logs`` were made, of which the
    official checker ``rejected`` so many; ``seconds`` of CPU time; ``named`` are the known deviations that were met.
    """

    places: int
    ended: bool
    logs: int
    rejected: int
    seconds: float
    named: tuple[str, ...]
    differing: tuple[tuple[str, bytes], ...]


class Done(NamedTuple):
    """All that was searched of one source in one phase."""

    phase: str
    round: str
    places: int = 0
    ended: bool = False
    logs: int = 0
    rejected: int = 0
    seconds: float = 0.0

    def plus(self, more: Searched) -> Done:
        """With what came of one task more."""
        return self._replace(
            places=self.places + more.places,
            ended=more.ended,
            logs=self.logs + more.logs,
            rejected=self.rejected + more.rejected,
            seconds=round(self.seconds + more.seconds, 3),
        )


class State:
    """How far the search has come, kept in a file that is always whole."""

    def __init__(self, file: Path, seed: str, output: Path | None = None) -> None:
        self.file = file
        self.output = output or file.with_name(f"{file.stem}-differing")
        self.seed = seed
        self.done: dict[str, Done] = {}
        self.found: list[dict[str, str]] = []
        self.named: Counter[str] = Counter()
        self.stopped = False
        if file.exists():
            self._resume(json.loads(file.read_text(encoding="utf-8")))

    def _resume(self, content: dict[str, Any]) -> None:
        if content.get("version") != VERSION:
            raise SystemExit(f"{self.file} is of another version: give another --state, or remove the file")
        if content["seed"] != self.seed:
            raise SystemExit(
                f"{self.file} is of seed {content['seed']!r}: give that seed, another --state, or remove the file"
            )
        self.done = {name: Done(**fields) for name, fields in content["done"].items()}
        self.found, self.named = content["found"], Counter(content["named"])

    def stop(self, *_: object) -> None:
        """Stop when the tasks that have begun are over."""
        self.stopped = True

    def reached(self, task: Task) -> int:
        """The number of the first log that was not searched."""
        return self._of(task).places

    def left(self, task: Task) -> int:
        """How many logs of a task are still to be searched."""
        done = self._of(task)
        return 0 if done.ended else max(0, task.number - done.places)

    def logs(self) -> int:
        """How many logs were searched in all."""
        return sum(done.logs for done in self.done.values())

    def _of(self, task: Task) -> Done:
        return self.done.get(_name(task), Done(task.phase, task.source.combination.round))

    def add(self, task: Task, searched: Searched) -> None:
        """Keep what came of some logs, and each one that differs for inspection."""
        self.done[_name(task)] = self._of(task).plus(searched)
        self.named.update(searched.named)
        for description, content in searched.differing:
            name = f"{task.source.name}-{self.seed}-{len(self.found):04}.log".replace("/", "_")
            self.output.mkdir(parents=True, exist_ok=True)
            (self.output / name).write_bytes(content)
            where = {"phase": task.phase, "round": task.source.combination.round}
            self.found.append({**where, "log": name, "what": description})
            print(f"\n{description}\n  saved as {self.output / name}", flush=True)
        self._save()

    def _save(self) -> None:
        """Write beside the file, then put it in its place: an interruption leaves the old one or the new one."""
        done = {name: one._asdict() for name, one in self.done.items()}
        content = {"version": VERSION, "seed": self.seed, "done": done, "found": self.found, "named": self.named}
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        beside.write_text(json.dumps(content, indent=1), encoding="utf-8")
        beside.replace(self.file)


def _name(task: Task) -> str:
    return f"{task.phase}/{task.source.name}"


def full_name(source: Source) -> str:
    """The name with the usage before it: training-5.1-bert-closed."""
    name = source.name
    return name if name.startswith("hpc-") else f"training-{name}"


def tables(state: State) -> str:
    """The figures by phase and by ruleset, in Markdown, and the known deviations that were met."""
    phases = _table(state, "phase", [phase.name for phase in PHASES])
    rounds = _table(state, "round", list(dict.fromkeys(done.round for done in state.done.values())))
    named = "".join(f"known deviation, {number} logs: {name}\n" for name, number in sorted(state.named.items()))
    return f"\n{phases}\n{rounds}\n{named}"


def _table(state: State, by: str, names: list[str]) -> str:
    columns = ("logs", "rejected by the official checker", "differences", "logs a second and core")
    lines = [f"| {'phase' if by == 'phase' else 'ruleset'} | {' | '.join(columns)} |", "|---|--:|--:|--:|--:|"]
    for name in names:
        done = [one for one in state.done.values() if getattr(one, by) == name]
        lines.append(_row(name, done, sum(found[by] == name for found in state.found)))
    lines.append(_row("all", list(state.done.values()), len(state.found)))
    return "\n".join(lines) + "\n"


def _row(name: str, done: list[Done], differences: int) -> str:
    logs, rejected = sum(one.logs for one in done), sum(one.rejected for one in done)
    seconds = sum(one.seconds for one in done)
    share = f" ({rejected / logs:.0%})" if logs else ""
    rate = f"{logs / seconds:,.0f}" if seconds else "-"
    return f"| {name} | {logs:,} | {rejected:,}{share} | {differences:,} | {rate} |"
