"""Changes to what holds a log together: values that others follow from, evaluations, stages, the order of phases."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from mlsub.rules.model import KeyRule
from tools.oracle.generate import FIRST
from tools.oracle.log import Log, altered, keys_of, moved, places_of, show

Change = Callable[[random.Random, Log, dict[str, KeyRule]], tuple[str, Log]]

#: Keys of which a formula or a limit of time elsewhere needs the value.
SOURCES = (*FIRST, *FIRST, "submission_division", "submission_benchmark", "max_steps", "opt_name", "scheduler_type")
#: Where a run passes from one phase to the next.
PHASES = ("init_start", "init_stop", "run_start", "run_stop", "epoch_start", "eval_start", "eval_accuracy", "eval_stop")
STAGES = ("staging_start", "staging_stop")
#: What counts how far the training has come.
COUNTERS = ("samples_count", "epoch_num", "step_num", "first_epoch_num")
MEASURES = ("FID", "CLIP", "fid", "FID ", "", None, ["FID"])


def _other_number(rng: random.Random, value: Any) -> Any:
    others = (2 * value, value / 2, value + 1, value - 1, 3 * value, float(value), 0, -value, str(value))
    return rng.choice(others)


def _counter(metadata: dict[str, Any]) -> str:
    """The entry that counts; a LookupError where there is none."""
    for name in COUNTERS:
        if name in metadata:
            return name
    raise LookupError("no counter")


def _source_alone(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """Another value, and nothing that follows from it is changed."""
    key = rng.choice(FIRST)
    place = rng.choice(places_of(log, key))
    value = _other_number(rng, (log[place].record or {})["value"])
    return f"{key} alone becomes {show(value)}", altered(log, place, value=value)


def _source_late(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """Logged behind what is computed from it."""
    key = rng.choice(SOURCES)
    place = rng.choice(places_of(log, key))
    to = rng.choice((len(log) - 1, *(found for phase in PHASES for found in places_of(log, phase)[:1])))
    return f"{key} only at line {to + 1}", moved(log, place, to)


def _source_again(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """Logged once more in the middle, the same or another."""
    key = rng.choice(SOURCES)
    place = places_of(log, key)[0]
    to = rng.choice((place + 1, rng.choice(places_of(log, rng.choice(PHASES)))))
    value = (log[place].record or {})["value"]
    if rng.randrange(2) and isinstance(value, int | float):
        value = _other_number(rng, value)
    again = altered(log, place, value=value)[place]
    return f"{key} again at line {to + 1} with {show(value)}", [*log[:to], again, *log[to:]]


def _without_evaluation(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """One evaluation, or all up to it, left out: the next ones come too late."""
    places = places_of(log, rng.choice(("eval_accuracy", "eval_error", "eval_start", "eval_stop")))
    number = rng.randrange(len(places))
    gone = set(places[: number + 1] if rng.randrange(2) else [places[number]])
    kept = [line for place, line in enumerate(log) if place not in gone]
    return f"evaluations without line {', '.join(str(place + 1) for place in sorted(gone))}", kept


def _more_evaluation(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """One evaluation more: twice at one point, or too early."""
    place = rng.choice([p for key in ("eval_accuracy", "eval_error") for p in places_of(log, key)])
    metadata = dict((log[place].record or {})["metadata"])
    name = _counter(metadata)
    metadata[name] = rng.choice((metadata[name], metadata[name] / 2, metadata[name] - 1, 0, -metadata[name]))
    more = altered(log, place, metadata=metadata)[place]
    to = rng.choice((place, place + 1))
    return f"one more evaluation at {name} {show(metadata[name])}", [*log[:to], more, *log[to:]]


def _counters(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """All evaluations count in another unit, in two, or in negative numbers."""
    for_all = rng.choice(("swap", "both", "negative", "text"))
    key = rng.choice([key for key in keys_of(log) if key.startswith("eval")])
    for place in places_of(log, key):
        metadata = dict((log[place].record or {})["metadata"])
        name = _counter(metadata)
        other = "epoch_num" if name == "samples_count" else "samples_count"
        if for_all in ("swap", "both"):
            metadata[other] = metadata.pop(name) if for_all == "swap" else metadata[name]
        else:
            metadata[name] = -metadata[name] if for_all == "negative" else str(metadata[name])
        log = altered(log, place, metadata=metadata)
    return f"counters of {key}: {for_all}", log


def _pair(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """Measures that belong together: one gone, under another name, at another step, or their values exchanged."""
    places = [place for place, line in enumerate(log) if "metric" in ((line.record or {}).get("metadata") or {})]
    place = rng.choice(places)
    record = log[place].record or {}
    metadata = dict(record["metadata"])
    how = rng.randrange(4)
    if how == 0:
        return f"pair without line {place + 1}", [*log[:place], *log[place + 1 :]]
    if how == 1:
        metadata["metric"] = rng.choice(MEASURES)
        return f"pair with metric {metadata['metric']!r}", altered(log, place, metadata=metadata)
    if how == 2:
        name = _counter(metadata)
        metadata[name] = rng.choice((metadata[name] + 1, str(metadata[name]), float(metadata[name]), None, -1))
        return f"pair with one at {name} {metadata[name]!r}", altered(log, place, metadata=metadata)
    other = rng.choice(places)
    value = (log[other].record or {})["value"]
    return "pair with values exchanged", altered(altered(log, place, value=value), other, value=record["value"])


def _staging(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """The stages of HPC in another order, in another phase, or twice."""
    place = rng.choice([p for key in STAGES for p in places_of(log, key)])
    to = rng.choice((place - 1, place + 1, 0, *(p for phase in PHASES for p in places_of(log, phase))))
    if rng.randrange(3) == 0:
        return f"{log[place].key} again at line {to + 1}", [*log[:to], log[place], *log[to:]]
    return f"{log[place].key} at line {to + 1}", moved(log, place, to)


def _neighbours(rng: random.Random, log: Log, rules: dict[str, KeyRule]) -> tuple[str, Log]:
    """A beginning or an end that changes places with what stands near it, or is gone."""
    place = rng.choice([p for key in keys_of(log) if key.endswith(("_start", "_stop")) for p in places_of(log, key)])
    if rng.randrange(4) == 0:
        return f"no {log[place].key} (line {place + 1})", [*log[:place], *log[place + 1 :]]
    to = place + rng.choice((-3, -2, -1, 1, 2, 3))
    return f"{log[place].key} from line {place + 1} to {to + 1}", moved(log, place, max(0, to))


#: Every change to the structure, with its weight.
CHANGES_OF_STRUCTURE: dict[Change, int] = {
    _source_alone: 4,
    _source_late: 3,
    _source_again: 3,
    _without_evaluation: 3,
    _more_evaluation: 3,
    _counters: 2,
    _pair: 8,
    _staging: 4,
    _neighbours: 4,
}
