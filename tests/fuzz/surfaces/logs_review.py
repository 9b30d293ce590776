"""The logs of one entry: reviewed one by one, side by side, and judged as an entry."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from mlsub.commands.inspect.document import document_of
from mlsub.commands.inspect.run import Inspection, inspect
from mlsub.convergence.algorithm import manner_of
from mlsub.judge.entry import judge_entry
from mlsub.log.events import LogReader, Tally
from mlsub.log.reading import ReadingFold
from mlsub.log.run import RunFold
from mlsub.log.trace import Trace, TraceFold, trace_of
from mlsub.present.envelope import answer
from mlsub.review.cross import audit_organisation_seeds, audit_same_runs
from mlsub.review.runs.model import Entry
from mlsub.rules.load import benchmark
from mlsub.submission.model import Entry as JudgedEntry
from mlsub.systems.description import SystemDescription, read_description
from tests.differential.generate import usage_and_round
from tests.differential.log import content
from tests.differential.mutate import mutant
from tests.fuzz.harness import Harness
from tests.fuzz.judging import feed, judge, round_of, shown, sound
from tests.fuzz.loggrammar import BETWEEN, WORDS, benchmark_of, chance, drawn, joined, lines_of, several, split
from tests.fuzz.scratch import scratch
from tests.make_tree import make_description
from tests.review.runs.build import records

#: Logs of one input; what is beyond is left out.
_MOST_LOGS = 12
#: One input in so many is rendered and written as JSON.
_SHOWN = 4


def _read(data: bytes) -> None:
    round_id, rest = split(data)
    logs = several(rest)[:_MOST_LOGS]
    named = benchmark_of(round_id, rest)
    _inspect(round_id, logs, named, as_text=chance(data, _SHOWN) == 0)
    _judge(round_id, logs, named, in_tree=chance(data, 2) == 0)


def _inspect(round_id: str, logs: Sequence[bytes], named: str, *, as_text: bool) -> None:
    half = (len(logs) + 1) // 2 if len(logs) > 3 and chance(logs[0], 2) else len(logs)
    first = _entry(round_id, logs[:half], named, "rack1")
    second = _entry(round_id, logs[half:], named, "rack2")
    entries = [one for one in (first, second) if one.traces]
    for found in (inspect(entries), inspect(entries[:1], entries[1:])):
        sound([one.finding for entry in found.entries for one in entry.observations])
        if as_text:
            shown(document_of(found), 60)
            shown(document_of(found, "summary"), 100)
            answer("inspect", found)
            _kept(found)


def _kept(found: Inspection) -> None:
    """What the cache can keep of an inspection comes back."""
    try:
        content = msgspec.msgpack.encode(found)
    except (UnicodeEncodeError, OverflowError, NotImplementedError):
        return
    msgspec.msgpack.decode(content, type=Inspection)


def _entry(round_id: str, logs: Sequence[bytes], named: str, system: str) -> Entry:
    path = f"ACME/results/{system}/{named}"
    return Entry(
        path=path,
        round=round_of(round_id),
        organisation="ACME",
        system=system,
        benchmark=named,
        scaling_type=None,
        traces=tuple(_trace(round_id, log, f"{path}/result_{number}.txt") for number, log in enumerate(logs)),
    )


def _trace(round_id: str, log: bytes, path: str) -> Trace:
    """The trace of a log, read as ``mlsub inspect`` does."""
    tally, fold = Tally(), TraceFold()
    run = RunFold(tally, ReadingFold(manner_of(*usage_and_round(round_id))))
    reader = LogReader([run, fold], log_format=round_of(round_id).log_format, tally=tally, taken=run.take)
    feed(reader, [log])
    return trace_of(path, run.finish(), fold.finish())


def _judge(round_id: str, logs: Sequence[bytes], named: str, *, in_tree: bool) -> None:
    folder, (usage, name) = scratch("review"), usage_and_round(round_id)
    path = f"ACME/results/rack1/{named}"
    judged = tuple(judge(round_id, [log], f"{path}/result_{n}.txt") for n, log in enumerate(logs))
    entry = JudgedEntry(
        path=path,
        organisation="ACME",
        system="rack1",
        benchmark=named,
        folder=folder,
        results=tuple(folder / f"result_{number}.txt" for number in range(len(logs))),
        logs=judged,
        description=_description(round_id) if in_tree else None,
        in_tree=in_tree,
    )
    _, found = judge_entry(entry, benchmark(usage, name, named), round_of(round_id))
    sound([*found, *(one for log in judged for one in log.findings)][: len(found) + 500])
    sound(list(audit_same_runs(judged)))
    other = msgspec.structs.replace(entry, system="rack2")
    sound(list(audit_organisation_seeds([entry, other])))


@cache
def _description(round_id: str) -> SystemDescription:
    file = scratch("review") / "rack1.json"
    file.write_text(json.dumps(make_description()))
    return read_description(file, "ACME/systems/rack1.json", round_of(round_id))


def _drawn(rng: random.Random) -> bytes:
    """An entry whose runs have much in common, or nothing."""
    kind = rng.randrange(4)
    if kind == 0:
        round_id, _ = first = drawn(rng)
        return joined(round_id, BETWEEN.join(log for _, log in (first, *(drawn(rng) for _ in range(rng.randrange(4))))))
    if kind == 1:
        round_id, log = drawn(rng)
        return joined(round_id, BETWEEN.join([log] * rng.randrange(1, 5)))
    runs = [lines_of(records(run), "1.1") for run in range(rng.choice((2, 4, 6)))]
    changed = [mutant(log, {}, str(rng.random())).content if rng.randrange(2) else content(log) for log in runs]
    return joined(rng.choice(("1.1", "1.1", "2.0", "5.0")), BETWEEN.join(changed))


def _seeds() -> Iterator[bytes]:
    rng = random.Random("review")
    return (_drawn(rng) for _ in range(12))


HARNESSES = (
    Harness(
        "logs-review",
        "runs side by side: reviewed, inspected, judged as an entry",
        _read,
        _seeds,
        (*WORDS, BETWEEN),
        _drawn,
        longest=60_000,
        seconds=2.0,
        seconds_per_kb=0.05,
    ),
)
