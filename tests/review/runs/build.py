"""Entries for the forensics tests: clean ones of a few facts, spoiled in one thing at a time, and what is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mlsub.convergence import dialect_of
from mlsub.log.event import Event
from mlsub.log.events import EventTally
from mlsub.log.lengths import Trace
from mlsub.log.reading import RcpReadingFold
from mlsub.log.run import Run, RunFold
from mlsub.log.trace import TraceReader
from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.model import Observation
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result, results_of
from mlsub.systems.fields import SystemFacts
from tests.log.pushing import push, take
from tests.score.reports import make_entry, make_report, make_system

Record = dict[str, Any]
Change = Callable[[list[Record]], object]

_HOUR_MS = 3_600_000
_SAMPLES = 175_104


def records(run: int, org: str = "ACME", start_ms: float = 1_634_000_000_000) -> list[Record]:
    """The records of a clean BERT run of v1.1: an hour after the one before, with lengths and values of its own."""
    chance = random.Random(f"{org}/{run}/{start_ms}")
    clock = start_ms + run * _HOUR_MS + chance.randrange(60_000)
    made: list[Record] = []

    def log(key: str, value: Any = None, after_ms: float = 1, **metadata: Any) -> None:
        nonlocal clock
        clock += after_ms
        metadata = {"file": "train.py", "lineno": 7, **metadata}
        made.append({"time_ms": clock, "key": key, "value": value, "metadata": metadata})

    log("init_start")
    for key, value in (("org", org), ("division", "closed"), ("benchmark", "bert"), ("platform", "rack1")):
        log(f"submission_{key}", value)
    log("seed", chance.randrange(1 << 40))
    for key, value in (("global_batch_size", 3072), ("opt_name", "lamb"), ("opt_base_learning_rate", 0.002)):
        log(key, value)
    log("init_stop", after_ms=60_000 + chance.randrange(2_000))
    log("run_start")
    blocks = 14 + chance.randrange(4)
    for block in range(1, blocks + 1):
        place = block * _SAMPLES
        log("block_start", first_epoch_num=place)
        log("block_stop", after_ms=60_000 + chance.randrange(500), first_epoch_num=place)
        log("eval_start", epoch_num=place)
        reached = 0.7205 if block == blocks else 0.60 + 0.11 * block / blocks
        log("eval_accuracy", reached + chance.random() * 1e-3, after_ms=2_000 + chance.randrange(50), epoch_num=place)
        log("eval_stop", epoch_num=place)
    log("train_samples", blocks * _SAMPLES + chance.randrange(_SAMPLES))
    log("run_stop", status="success")
    return made


def at(made: list[Record], key: str, nth: int = 0) -> int:
    """Where the n-th record of a key stands."""
    return [n for n, record in enumerate(made) if record["key"] == key][nth]


def delay(made: list[Record], key: str, by_ms: float, nth: int = 0) -> None:
    """Put the n-th record of a key, and all behind it, off by some ms."""
    for record in made[at(made, key, nth) :]:
        record["time_ms"] += by_ms


def put(made: list[Record], key: str, value: Any, nth: int = 0) -> None:
    """Give the n-th record of a key another value."""
    made[at(made, key, nth)]["value"] = value


def stretch(factor: float) -> Change:
    """Stretch a run, without its last record, by a factor."""

    def change(made: list[Record]) -> None:
        start, stop = made[at(made, "run_start")]["time_ms"], made[-1]
        stop["time_ms"] = start + round((made[-2]["time_ms"] - start) * factor)

    return change


def log_of(made: list[Record], path: str = "rack1/bert/result_0.txt") -> LogReport:
    """What is read of some records, one a line."""
    tally, reading, fold = EventTally(), RcpReadingFold(dialect_of("training", "1.1")), TraceReader()
    run = RunFold(tally, reading)
    events = [Event(line=line, **record) for line, record in enumerate(made, 1)]
    push(events, run, tally=tally)
    fold.take(events)
    for event, record in zip(events, made, strict=True):
        take(reading, event.line, json.dumps(record).encode(), event)
    return read_log(path, run.finish(), fold.finish())


def read_log(path: str, run: Run, trace: Trace) -> LogReport:
    """The report on a log of BERT that was read so."""
    return LogReport(
        path=path,
        compliant=True,
        undecodable=False,
        benchmark="bert",
        division=str(run.identity.get("submission_division")),
        status="success",
        minutes=run.minutes,
        run=run,
        findings=(),
        trace=trace,
    )


def entry(
    changes: dict[int, Change] | None = None,
    runs: int = 10,
    org: str = "ACME",
    system: str = "rack1",
    round_: str = "1.1",
    start_ms: float = 1_634_000_000_000,
    names: list[str] | None = None,
    benchmark: str = "bert",
    facts: SystemFacts | None = None,
) -> Result:
    """A clean entry; ``changes`` spoil runs by their numbers."""
    root = f"v{round_}/{org}"
    path = f"{root}/results/{system}/{benchmark}"
    logs = []
    for run in range(runs):
        made = records(run, org, start_ms)
        (changes or {}).get(run, len)(made)
        logs.append(log_of(made, f"{path}/{names[run] if names else f'result_{run}.txt'}"))
    division = logs[0].division if len({log.division for log in logs}) == 1 else None
    of = make_entry(path=path, organisation=org, system=system, benchmark=benchmark, division=division)
    described = replace(make_system(facts=facts), path=f"{root}/systems/{system}.json")
    systems = () if facts is None else (described,)
    [result] = results_of(make_report(of, round=round_, root="/", systems=systems), logs)
    return result


def every(change: Change, runs: int = 10) -> dict[int, Change]:
    """The same change of every run."""
    return dict.fromkeys(range(runs), change)


def write_tree(folder: Path, changes: dict[int, Change] | None = None, runs: int = 10, round_: str = "v1.1") -> Path:
    """The same entry as files: an organisation's tree. Gives its folder."""
    place = folder / round_ / "ACME" / "results" / "rack1" / "bert"
    place.mkdir(parents=True)
    for run in range(runs):
        made = records(run)
        (changes or {}).get(run, len)(made)
        text = "".join(f":::MLLOG {json.dumps(record)}\n" for record in made)
        (place / f"result_{run}.txt").write_text(text)
    return folder / round_ / "ACME"


def observed(*entries: Result, against: Sequence[Result] = ()) -> dict[str, list[Observation]]:
    """What is found, by rule."""
    found: dict[str, list[Observation]] = {}
    for observations in observe_runs(entries, against).values():
        for observation in observations:
            numbers, actual = observation.numbers, observation.finding.actual or ""
            if numbers.get("minutes_undone") is not None:
                said = actual.rpartition(f"; {numbers['minutes']:.6f} minutes as logged")[2]
                same = abs(numbers["minutes"] - numbers["minutes_undone"]) < 5e-7
                assert said.startswith(", the same " if same else f", {numbers['minutes_undone']:.6f} "), (
                    "the score without"
                )
            found.setdefault(observation.finding.rule, []).append(observation)
    return found


def the_one(rule: str, *entries: Result) -> Observation:
    """The only thing that is found."""
    found = observed(*entries)
    assert set(found) == {rule}
    [observation] = found[rule]
    assert observation.finding.actual is not None
    return observation
