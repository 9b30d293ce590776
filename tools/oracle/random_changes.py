"""Seeded random changes to a log: what bugs, crashes and careless hands do to its records, its structure, its bytes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from mlsub.rules.model import KeyRule
from tools.oracle.asked import near_official
from tools.oracle.generate import FIRST, Combination
from tools.oracle.log import ChangedLog, Line, Log, record_line
from tools.oracle.random_text import FILE_CHANGES, LINE_CHANGES, OLD_LINE_CHANGES, SPLICES
from tools.oracle.values import CHOICES, NASTY, PHASES, near_misses, near_misses_of

#: One mutant in so many has two changes, and one in so many is changed as a file as well.
DOUBLE_EVERY, FILE_EVERY = 6, 25

METADATA: tuple[Any, ...] = (
    *(None, "", "epoch_num", "status tensor first_epoch_num epoch_count", ["epoch_num"], ["status"], ["tensor"]),
    *(["first_epoch_num", "epoch_count"], [], {}, {"epoch_num": None}, 0, 1.5, True, math.nan, [[]]),
)
ENTRIES: tuple[Any, ...] = (None, "", 0, -1, 1, 0.5, True, False, "1", [], [1], {}, math.nan, math.inf, "x", 2**64)
TIMES: tuple[Any, ...] = (
    *(None, "", "12:30", "123", " 7 ", "1_000", "nan", "inf", math.nan, math.inf, -math.inf, 0, -5, 1.5e12, True),
    *([], [1], {}, "1e3", 10**400, 2**64, 1e308, "\u0661"),
)
INIT_LIMITS = tuple(minutes * 60_000 for minutes in (20, 30, 240))
PROGRESS = ("epoch_num", "samples_count", "step_num", "first_epoch_num", "epoch_count", "metric", "iteration")
#: Keys of which a formula or a limit of time elsewhere needs the value.
SOURCES = (*FIRST, *FIRST, "submission_division", "submission_benchmark", "max_steps", "opt_name", "scheduler_type")
STAGES = ("staging_start", "staging_stop")
#: What counts how far the training has come.
COUNTERS = ("samples_count", "epoch_num", "step_num", "first_epoch_num")
_FIELDS = ("extra", "Key", "line", "")
MEASURES = ("FID", "CLIP", "fid", "FID ", "", None, ["FID"])

_T = TypeVar("_T")


class Draw(NamedTuple):
    """A log to be changed, the rules on it, and what chooses."""

    rng: random.Random
    log: Log
    rules: dict[str, KeyRule]

    def key(self) -> str:
        """A key of the log."""
        return self.rng.choice(self.log.distinct_keys())

    def place(self) -> int:
        """The place of a record. Keys are alike in weight: hundreds of tensors do not outweigh one run_stop."""
        return self.rng.choice(self.log.places(self.key()))

    def place_of(self, *keys: str) -> int:
        """The place of a record of one of these keys."""
        return self.rng.choice([place for key in keys for place in self.log.places(key)])

    def altered(self, key: str, choices: Mapping[str, Sequence[Any]] | None = None) -> Log:
        """The log with another value in a record of a key, and nothing that follows from it changed."""
        place = self.place_of(key)
        old = self.log.record(place)["value"]
        return self.log.altered(place, value=self.rng.choice(choices[key]) if choices else _other_number(self.rng, old))

    def key_like(self, *beginnings: str) -> str:
        """A key that begins so."""
        return self.rng.choice([key for key in self.log.distinct_keys() if key.startswith(beginnings)])

    def value(self, key: str) -> Any:
        """Something to log for a key: what no key allows, what its rule almost allows, what the official rules name."""
        near = near_misses_of(self.rules[key]) if key in self.rules else []
        pools = [pool for pool in (NASTY, near, near, CHOICES.get(key, ()), near_official(key)) if pool]
        return self.rng.choice(self.rng.choice(pools))


#: A change; it raises where it cannot be made to this log (to a key that an earlier change took away, say).
Change = Callable[[Draw], Log]


def mutants(log: Log, combination: Combination, seed: str, number: int) -> Iterator[ChangedLog]:
    """So many changed logs; the same seed gives the same ones."""
    rules = log.rules(combination)
    for place in range(number):
        yield mutant(log, rules, f"{seed}/{place}")


def mutant(log: Log, rules: dict[str, KeyRule], seed: str) -> ChangedLog:
    """One changed log."""
    rng = random.Random(seed)
    words: list[str] = []
    changes = 2 if rng.randrange(DOUBLE_EVERY) == 0 else 1
    while len(words) < changes:
        name, change = _drawn(rng, CHANGES)
        try:
            changed = change(Draw(rng, log, rules))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            continue
        words.append(f"{name} ({log.difference(changed)})")
        log = changed
    data = log.content()
    if rng.randrange(FILE_EVERY) == 0:
        name, on_file = rng.choice(FILE_CHANGES)
        words.append(name)
        data = on_file(data)
    return ChangedLog(f"[{seed}] {' and then '.join(words)}", data)


def spliced(rng: random.Random, one: ChangedLog, other: ChangedLog, seed: str) -> ChangedLog:
    """One log of two; lines are split at LF, and what is cut in the middle of a line is joined there."""
    name, splice = _drawn(rng, SPLICES)
    lines = splice(rng, one.content.splitlines(keepends=True), other.content.splitlines(keepends=True))
    return ChangedLog(f"[{seed}] {one.description} and {other.description}: {name}", b"".join(lines))


def _drawn(rng: random.Random, table: Mapping[str, tuple[int, _T]]) -> tuple[str, _T]:
    """One of a table, by weight."""
    (name, (_, change)) = rng.choices(list(table.items()), [weight for weight, _ in table.values()])[0]
    return name, change


def _repeat(at: Draw) -> Log:
    place = at.place()
    return at.log.inserted(at.rng.choice((place, at.rng.randrange(len(at.log) + 1))), at.log[place])


def _repeat_other(at: Draw) -> Log:
    place = at.place()
    value = at.value(str(at.log[place].key))
    to = at.rng.choice((place, place + 1, at.rng.randrange(len(at.log) + 1)))
    return at.log.inserted(to, at.log.like(place, value=value))


def _swap(at: Draw) -> Log:
    one, other = at.place(), at.place()
    return at.log.replaced(one, at.log[other]).replaced(other, at.log[one])


def _set_all_values(at: Draw) -> Log:
    key = at.rng.choice((*at.log.distinct_keys(), *["eval_accuracy"] * 10))
    return at.log.altered(at.log.places(key), value=at.value(key))


def _set_entry(at: Draw) -> Log:
    """Another entry of metadata that a rule asks for, or none."""
    key = at.rng.choice([key for key in at.log.distinct_keys() if key in at.rules and at.rules[key].metadata])
    place = at.place_of(key)
    metadata = dict(at.log.metadata(place))
    entries = (*at.rules[key].metadata, *at.rules[key].first_metadata)
    name = at.rng.choice([name for entry in entries for name in entry.names])
    if at.rng.randrange(3) == 0:
        metadata.pop(name, None)
    else:
        near = [v for entry in entries if name in entry.names for c in entry.constraints for v in near_misses(c)]
        metadata[name] = at.rng.choice((*ENTRIES, *near, *near))
    return at.log.altered(place, metadata=metadata)


def _init_time(at: Draw) -> Log:
    """An init_stop at a limit of the time of initialisation, or next to it."""
    start, stop = at.place_of("init_start"), at.place_of("init_stop")
    step = at.rng.choice((0, -1, 1, -0.5, 1e-6, -1e-6, 10**12, -(10**12)))
    time_ms = at.log.record(start)["time_ms"] + at.rng.choice(INIT_LIMITS) + step
    return at.log.altered(stop, time_ms=time_ms)


def _rename_progress(at: Draw) -> Log:
    """An evaluation or block that counts in another unit."""
    places = at.log.places(at.key_like("eval", "block", "epoch"))
    places = places if at.rng.randrange(2) else [at.rng.choice(places)]
    there = [name for name in PROGRESS if name in at.log.metadata(places[0])]
    name, other = at.rng.choice(there), at.rng.choice(PROGRESS)

    def renamed(metadata: dict[str, Any]) -> None:
        metadata[other] = metadata.pop(name)

    return _with_entries(at.log, places, renamed)


def _shift_progress(at: Draw) -> Log:
    """Evaluations too early, too late, or one of a pair at another step."""
    places = at.log.places(at.key_like("eval", "block", "epoch"))
    places = places[at.rng.randrange(len(places)) :]
    places = places if at.rng.randrange(2) else places[:1]
    names = [name for name in PROGRESS if name in at.log.metadata(places[0])]
    sizes = at.log.places("global_batch_size")
    size = at.log.record(sizes[0])["value"] if sizes else 1
    name, by = at.rng.choice(names), at.rng.choice((1, -1, 0.5, 1000, -1000, *[size] * 4))

    def shifted(metadata: dict[str, Any]) -> None:
        metadata[name] = metadata[name] + by

    return _with_entries(at.log, places, shifted)


def _with_entries(log: Log, places: list[int], change: Callable[[dict[str, Any]], None]) -> Log:
    """The log with the metadata of some records changed."""
    for place in places:
        metadata = dict(log.metadata(place))
        change(metadata)
        log = log.altered(place, metadata=metadata)
    return log


def _drop_field(at: Draw) -> Log:
    place = at.place()
    field = at.rng.choice(("time_ms", "key", "value", "metadata", "event_type", "namespace"))
    record = {name: value for name, value in at.log.record(place).items() if name != field}
    return at.log.replaced(place, Line(record_line(record, old=at.log[place].old).text))


def _rename(at: Draw) -> Log:
    place = at.place()
    key = at.log[place].key or ""
    spoiled = (key.upper(), f"{key}s", f" {key}", key.replace("_", "-"), "", None, 1, [key], {key: 1}, True)
    return at.log.altered(place, key=at.rng.choice((*spoiled, *at.log.distinct_keys(), *at.rules)))


def _change_text(at: Draw) -> Log:
    line = at.log[place := at.place()]
    _, change = at.rng.choice((*LINE_CHANGES, *(OLD_LINE_CHANGES if line.old else ())))
    return at.log.replaced(place, Line(change(at.rng, line.text)))


def _join_lines(at: Draw) -> Log:
    place = at.place()
    glue = at.rng.choice(("", " ", "\r", "\x0b", "\x85", "\t"))
    joined = Line(at.log[place].text + glue + at.log[place + 1].text)
    return at.log.replaced(place + 1).replaced(place, joined)


def _other_number(rng: random.Random, value: Any) -> Any:
    return rng.choice((2 * value, value / 2, value + 1, value - 1, 3 * value, float(value), 0, -value, str(value)))


def _counter(metadata: dict[str, Any]) -> str:
    """The entry that counts; a ValueError where there is none."""
    return min(metadata.keys() & set(COUNTERS), key=COUNTERS.index)


def _source_late(at: Draw) -> Log:
    """Logged behind what is computed from it."""
    place = at.place_of(at.rng.choice(SOURCES))
    phases = (found for phase in PHASES for found in at.log.places(phase)[:1])
    return at.log.moved(place, at.rng.choice((len(at.log) - 1, *phases)))


def _source_again(at: Draw) -> Log:
    """Logged once more in the middle, the same or another."""
    place = at.log.places(at.rng.choice(SOURCES))[0]
    to = at.rng.choice((place + 1, at.place_of(at.rng.choice(PHASES))))
    value = at.log.record(place)["value"]
    if at.rng.randrange(2) and isinstance(value, int | float):
        value = _other_number(at.rng, value)
    return at.log.inserted(to, at.log.like(place, value=value))


def _lose_evaluation(at: Draw) -> Log:
    """One evaluation, or all up to it, left out: the next ones come too late."""
    places = at.log.places(at.rng.choice(("eval_accuracy", "eval_error", "eval_start", "eval_stop")))
    number = at.rng.randrange(len(places))
    return at.log.without_lines(places[: number + 1] if at.rng.randrange(2) else [places[number]])


def _more_evaluation(at: Draw) -> Log:
    """One evaluation more: twice at one point, or too early."""
    place = at.place_of("eval_accuracy", "eval_error")
    metadata = dict(at.log.metadata(place))
    name = _counter(metadata)
    metadata[name] = at.rng.choice((metadata[name], metadata[name] / 2, metadata[name] - 1, 0, -metadata[name]))
    return at.log.inserted(at.rng.choice((place, place + 1)), at.log.like(place, metadata=metadata))


def _change_counters(at: Draw) -> Log:
    """All evaluations count in another unit, in two, in negative numbers or in text."""
    how = at.rng.choice(("swap", "both", "negative", "text"))

    def counted(metadata: dict[str, Any]) -> None:
        name = _counter(metadata)
        other = "epoch_num" if name == "samples_count" else "samples_count"
        if how in ("swap", "both"):
            metadata[other] = metadata.pop(name) if how == "swap" else metadata[name]
        else:
            metadata[name] = -metadata[name] if how == "negative" else str(metadata[name])

    return _with_entries(at.log, at.log.places(at.key_like("eval")), counted)


def _spoil_pair(at: Draw) -> Log:
    """Measures that belong together: one gone, under another name, at another step, or their values exchanged."""
    places = [place for place, line in enumerate(at.log) if "metric" in ((line.record or {}).get("metadata") or {})]
    place = at.rng.choice(places)
    metadata = dict(at.log.metadata(place))
    how = at.rng.randrange(4)
    if how == 0:
        return at.log.replaced(place)
    if how == 1:
        return at.log.altered(place, metadata={**metadata, "metric": at.rng.choice(MEASURES)})
    if how == 2:
        count = metadata[name := _counter(metadata)]
        others = (count + 1, str(count), float(count), None, -1)
        return at.log.altered(place, metadata={**metadata, name: at.rng.choice(others)})
    other = at.rng.choice(places)
    one_value, other_value = (at.log.record(each)["value"] for each in (place, other))
    return at.log.altered(place, value=other_value).altered(other, value=one_value)


def _stage(at: Draw) -> Log:
    """The stages of HPC in another order, in another phase, or twice."""
    place = at.place_of(*STAGES)
    phases = (found for phase in PHASES for found in at.log.places(phase))
    to = at.rng.choice((place - 1, place + 1, 0, *phases))
    return at.log.inserted(to, at.log[place]) if at.rng.randrange(3) == 0 else at.log.moved(place, to)


def _shift_border(at: Draw) -> Log:
    """A beginning or an end that changes places with what stands near it, or is gone."""
    place = at.place_of(*(key for key in at.log.distinct_keys() if key.endswith(("_start", "_stop"))))
    if at.rng.randrange(4) == 0:
        return at.log.replaced(place)
    return at.log.moved(place, max(0, place + at.rng.choice((-3, -2, -1, 1, 2, 3))))


#: Every change to the records of a log, with its weight.
CHANGES: dict[str, tuple[int, Change]] = {
    "a record dropped": (3, lambda at: at.log.replaced(at.place())),
    "a key dropped": (4, lambda at: at.log.without(at.key())),
    "a record repeated": (4, _repeat),
    "a record repeated with another value": (4, _repeat_other),
    "two records swapped": (4, _swap),
    "a record moved": (5, lambda at: at.log.moved(at.place(), at.rng.randrange(len(at.log)))),
    "another value": (16, lambda at: at.log.altered(p := at.place(), value=at.value(str(at.log[p].key)))),
    "all values of a key": (8, _set_all_values),
    "a value that chooses rules": (4, lambda at: at.altered(at.rng.choice([*CHOICES]), CHOICES)),
    "other metadata": (5, lambda at: at.log.altered(at.place(), metadata=at.rng.choice(METADATA))),
    "an entry of metadata": (5, _set_entry),
    "another time": (4, lambda at: at.log.altered(at.place(), time_ms=at.rng.choice(TIMES))),
    "init_stop at a limit": (2, _init_time),
    "progress in another unit": (2, _rename_progress),
    "progress shifted": (3, _shift_progress),
    "a field dropped": (3, _drop_field),
    "a field more": (1, lambda at: at.log.altered(at.place(), **{at.rng.choice(_FIELDS): at.rng.choice(NASTY)})),
    "a key renamed": (4, _rename),
    "the text of a line": (8, _change_text),
    "two lines joined": (2, _join_lines),
    "a source alone": (4, lambda at: at.altered(at.rng.choice(FIRST))),
    "a source late": (3, _source_late),
    "a source again": (3, _source_again),
    "an evaluation less": (3, _lose_evaluation),
    "an evaluation more": (3, _more_evaluation),
    "other counters": (2, _change_counters),
    "a pair spoiled": (8, _spoil_pair),
    "a stage elsewhere": (4, _stage),
    "a beginning or end elsewhere": (4, _shift_border),
}
