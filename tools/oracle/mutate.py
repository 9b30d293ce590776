"""Seeded random changes to a log: what bugs, crashes and careless hands do to its records."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from mlsub.rules.model import KeyRule
from tools.oracle.generate import Combination, rules_of
from tools.oracle.log import Line, Log, Mutant, altered, content, keys_of, moved, places_of, record_line, show
from tools.oracle.official_values import near_official
from tools.oracle.structure import CHANGES_OF_STRUCTURE, Change
from tools.oracle.text_mutations import FILE_CHANGES, LINE_CHANGES, OLD_LINE_CHANGES
from tools.oracle.values import NASTY, near_misses, near_misses_of, resolved_rule

#: One mutant in so many has two changes.
DOUBLE_EVERY = 6

DIVISIONS = ("closed", "open", "Closed", "closed ", "", "network", None, ["closed"], {"closed": 1}, True, "common")
PATHS = ("../training_1.0.0/closed", "../training_1.1.0/open", "closed/../open", "/closed", "..", ".", "{}", "{0}")
BENCHMARKS = (
    *("resnet", "ssd", "maskrcnn", "bert", "dlrm", "rnnt", "unet3d", "minigo", "gpt3", "stable_diffusion", "flux1"),
    *("llama2_70b_lora", "llama31_8b", "gnn", "rgat", "retinanet", "dlrm_dcnv2", "deepcam", "openfold", "transformer"),
)
BAD_BENCHMARKS = ("common", "resnet_sgd", "RESNET", "bert ", "", None, 1, ["bert"], "digits")
STATUSES = ("cloud", "onprem", "preview", "research", "available", "Cloud", "on-prem", "", None, ["cloud"], 0)
OPTIMIZERS = ("sgd", "lars", "lamb", "LAMB", "AdamW", "adam", "SGD", "", None, ["sgd"], {"sgd": 1}, 1, True)
CHOICES = {
    "submission_division": (*DIVISIONS, *PATHS),
    "submission_benchmark": (*BENCHMARKS, *BAD_BENCHMARKS, *PATHS),
    "submission_status": STATUSES,
    "opt_name": OPTIMIZERS,
}
METADATA = (None, "", "epoch_num", "status tensor first_epoch_num epoch_count", ["epoch_num"], ["status"], ["tensor"])
METADATA_MORE: tuple[Any, ...] = (
    ["first_epoch_num", "epoch_count"],
    [],
    {},
    {"epoch_num": None},
    0,
    1.5,
    True,
    math.nan,
    [[]],
)
ENTRIES: tuple[Any, ...] = (None, "", 0, -1, 1, 0.5, True, False, "1", [], [1], {}, math.nan, math.inf, "x", 2**64)
TIMES = (None, "", "12:30", "123", " 7 ", "1_000", "nan", "inf", math.nan, math.inf, -math.inf, 0, -5, 1.5e12, True)
TIMES_MORE: tuple[Any, ...] = ([], [1], {}, "1e3", 10**400, 2**64, 1e308, "\u0661")
INIT_LIMITS = tuple(minutes * 60_000 for minutes in (20, 30, 240))
PROGRESS = ("epoch_num", "samples_count", "step_num", "first_epoch_num", "epoch_count", "metric", "iteration")


def mutants(log: Log, combination: Combination, seed: str, number: int) -> Iterator[Mutant]:
    """So many changed logs; the same seed gives the same ones."""
    rules = stated_rules(log, combination)
    for place in range(number):
        yield mutant(log, rules, f"{seed}/{place}")


def stated_rules(log: Log, combination: Combination) -> dict[str, KeyRule]:
    """The rules of a log, their formulas computed from what it states."""
    values = {str(line.key): (line.record or {}).get("value") for line in log if line.key is not None}
    return {key: resolved_rule(rule, values) for key, rule in rules_of(combination).items()}


def mutant(log: Log, rules: dict[str, KeyRule], seed: str) -> Mutant:
    """One changed log."""
    rng = random.Random(seed)
    words = []
    changes = 2 if rng.randrange(DOUBLE_EVERY) == 0 else 1
    while changes:
        changed = _change(rng, log, rules)
        if changed is not None:
            description, log = changed
            words.append(description)
            changes -= 1
    data = content(log)
    if rng.randrange(25) == 0:
        name, on_file = rng.choice(FILE_CHANGES)
        words.append(name)
        data = on_file(data)
    return Mutant(f"[{seed}] {' and then '.join(words)}", data)


def _change(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log] | None:
    """A change, or None where it cannot be made to this log (to a key that an earlier change took away, say)."""
    change = rng.choices(list(CHANGES), list(CHANGES.values()))[0]
    try:
        return change(rng, log, rules)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None


def _pick(rng: random.Random, log: Log) -> int:
    """The place of a record. Keys are alike in weight: hundreds of tensors do not outweigh one run_stop."""
    return rng.choice(places_of(log, rng.choice(keys_of(log))))


def _with(log: Log, place: int, *lines: Line) -> Log:
    return [*log[:place], *lines, *log[place + 1 :]]


def _drop(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    return f"drop line {place + 1} ({log[place].key})", _with(log, place)


def _drop_all(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    key = rng.choice(keys_of(log))
    return f"drop all {key}", [line for line in log if line.key != key]


def _repeat(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    to = rng.choice((place, rng.randrange(len(log) + 1)))
    return f"repeat {log[place].key} at line {to + 1}", [*log[:to], log[place], *log[to:]]


def _repeat_other(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    value = _value(rng, str(log[place].key), rules)
    to = rng.choice((place, place + 1, rng.randrange(len(log) + 1)))
    other = record_line({**(log[place].record or {}), "value": value}, old=log[place].old)
    return f"repeat {log[place].key} with value {show(value)} at line {to + 1}", [*log[:to], other, *log[to:]]


def _swap(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    one, other = _pick(rng, log), _pick(rng, log)
    swapped = list(log)
    swapped[one], swapped[other] = log[other], log[one]
    return f"swap {log[one].key} (line {one + 1}) and {log[other].key} (line {other + 1})", swapped


def _move(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place, to = _pick(rng, log), rng.randrange(len(log))
    return f"move {log[place].key} from line {place + 1} to {to + 1}", moved(log, place, to)


def _value(rng: random.Random, key: str, rules: dict[str, KeyRule]) -> Any:
    near = near_misses_of(rules[key]) if key in rules else []
    pools = [pool for pool in (NASTY, near, near, CHOICES.get(key, ()), near_official(key)) if pool]
    return rng.choice(rng.choice(pools))


def _set_value(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    value = _value(rng, str(log[place].key), rules)
    return f"{log[place].key} (line {place + 1}) with value {show(value)}", altered(log, place, value=value)


def _set_all_values(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    key = rng.choice((*keys_of(log), *["eval_accuracy"] * 10))
    value = _value(rng, key, rules)
    for place in places_of(log, key):
        log = altered(log, place, value=value)
    return f"all {key} with value {show(value)}", log


def _set_choice(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    key = rng.choice(list(CHOICES))
    place = rng.choice(places_of(log, key))
    value = rng.choice(CHOICES[key])
    return f"{key} with value {show(value)}", altered(log, place, value=value)


def _set_metadata(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    metadata = rng.choice((*METADATA, *METADATA_MORE))
    return f"{log[place].key} with metadata {show(metadata)}", altered(log, place, metadata=metadata)


def _entry(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    wanted = [key for key in keys_of(log) if key in rules and rules[key].metadata]
    key = rng.choice(wanted)
    place = rng.choice(places_of(log, key))
    metadata = dict((log[place].record or {})["metadata"])
    entries = (*rules[key].metadata, *rules[key].first_metadata)
    name = rng.choice([name for entry in entries for name in entry.names])
    if rng.randrange(3) == 0:
        metadata.pop(name, None)
        return f"{key} without metadata {name}", altered(log, place, metadata=metadata)
    near = [v for entry in entries if name in entry.names for c in entry.constraints for v in near_misses(c)]
    metadata[name] = rng.choice((*ENTRIES, *near, *near))
    return f"{key} with metadata {name} {show(metadata[name])}", altered(log, place, metadata=metadata)


def _time(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    time_ms = rng.choice((*TIMES, *TIMES_MORE))
    return f"{log[place].key} at time {show(time_ms)}", altered(log, place, time_ms=time_ms)


def _init_time(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    start = rng.choice(places_of(log, "init_start"))
    stop = rng.choice(places_of(log, "init_stop"))
    step = rng.choice((0, -1, 1, -0.5, 1e-6, -1e-6, 10**12, -(10**12)))
    time_ms = (log[start].record or {})["time_ms"] + rng.choice(INIT_LIMITS) + step
    return f"init_stop {step} ms off the limit of initialisation", altered(log, stop, time_ms=time_ms)


def _renamed_progress(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """An evaluation or block that counts in another unit."""
    key = rng.choice([key for key in keys_of(log) if key.startswith(("eval", "block", "epoch"))])
    places = places_of(log, key)
    places = places if rng.randrange(2) else [rng.choice(places)]
    there = [name for name in PROGRESS if name in (log[places[0]].record or {})["metadata"]]
    name, other = rng.choice(there), rng.choice(PROGRESS)
    for place in places:
        metadata = dict((log[place].record or {})["metadata"])
        metadata[other] = metadata.pop(name)
        log = altered(log, place, metadata=metadata)
    return f"{len(places)} {key} with {other} for {name}", log


def _shifted_progress(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """Evaluations too early, too late, or one of a pair at another step."""
    key = rng.choice([key for key in keys_of(log) if key.startswith(("eval", "block", "epoch"))])
    places = places_of(log, key)[rng.randrange(len(places_of(log, key))) :]
    places = places if rng.randrange(2) else places[:1]
    names = [name for name in PROGRESS if name in (log[places[0]].record or {})["metadata"]]
    name, by = rng.choice(names), rng.choice((1, -1, 0.5, 1000, -1000, *[_batch_size(log)] * 4))
    for place in places:
        metadata = dict((log[place].record or {})["metadata"])
        metadata[name] = metadata[name] + by
        log = altered(log, place, metadata=metadata)
    return f"{len(places)} {key} with {name} shifted by {by}", log


def _batch_size(log: Log) -> Any:
    places = places_of(log, "global_batch_size")
    return (log[places[0]].record or {})["value"] if places else 1


def _drop_field(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    field = rng.choice(("time_ms", "key", "value", "metadata", "event_type", "namespace"))
    record = {name: value for name, value in (log[place].record or {}).items() if name != field}
    return f"{log[place].key} without {field}", _with(log, place, Line(record_line(record, old=log[place].old).text))


def _extra_field(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    name, value = rng.choice(("extra", "Key", "line", "")), rng.choice(NASTY)
    return f"{log[place].key} with a field {name!r} {show(value)}", altered(log, place, **{name: value})


def _rename(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    key = log[place].key or ""
    spoiled = (key.upper(), f"{key}s", f" {key}", key.replace("_", "-"), "", None, 1, [key], {key: 1}, True)
    new = rng.choice((*spoiled, *keys_of(log), *rules))
    return f"{key} (line {place + 1}) renamed to {show(new)}", altered(log, place, key=new)


def _line(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    name, change = rng.choice((*LINE_CHANGES, *(OLD_LINE_CHANGES if log[place].old else ())))
    old, new = log[place].text, change(rng, log[place].text)
    same = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(new))
    description = f"{log[place].key} (line {place + 1}): {name}, now ...{show(new[max(0, same - 12) :])}"
    return description, _with(log, place, Line(new))


def _join(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    place = _pick(rng, log)
    glue = rng.choice(("", " ", "\r", "\x0b", "\x85", "\t"))
    text = log[place].text + glue + log[place + 1].text
    return f"lines {place + 1} and {place + 2} on one line, glued by {glue!r}", [
        *log[:place],
        Line(text),
        *log[place + 2 :],
    ]


#: Every change, with its weight.
CHANGES: dict[Change, int] = {
    _drop: 3,
    _drop_all: 4,
    _repeat: 4,
    _repeat_other: 4,
    _swap: 4,
    _move: 5,
    _set_value: 16,
    _set_all_values: 8,
    _set_choice: 4,
    _set_metadata: 5,
    _entry: 5,
    _time: 4,
    _init_time: 2,
    _renamed_progress: 2,
    _shifted_progress: 3,
    _drop_field: 3,
    _extra_field: 1,
    _rename: 4,
    _line: 8,
    _join: 2,
    **CHANGES_OF_STRUCTURE,
}
