"""The answer in words: by how much, and what for."""

from __future__ import annotations

import msgspec

from mlsub.io.show import in_digits, plural, shortened
from mlsub.log.changes import Change, changed_hyperparameters
from mlsub.score.difference.decompose import TimePart, decompose
from mlsub.score.difference.measure import EntrySide, MeasuredEntry, runs_of

#: Parts below this share of the larger time, and of the difference, are shown together.
_SMALL_OF_TIME, _SMALL_OF_DIFFERENCE = 0.002, 0.02
#: Values that say much about a training.
TELLING = ("accelerator", "global_batch_size", "opt_name")
#: Characters shown of one of them, and how many digits more two rates have that fewer do not tell apart.
_LONGEST, _MORE = 40, 5
#: The phases in words.
PHASES = {
    "start": "start of the run",
    "training": "training",
    "before_evaluation": "pause before evaluation",
    "evaluation": "evaluation",
    "pauses": "pauses",
    "end": "end of the run",
    "inside": "training, evaluation and pauses",
    "run": "the run",
    "undivided": "not distinguished",
    "init": "initialisation (not timed)",
}


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Why the times of two entries differ.

    ``ratio`` is old time by new time (above 1: the new one is faster), ``reduction`` the share of the old time that is
    saved; None of two benchmarks. ``parts`` add up to the difference in minutes; where there are none, ``undivided``
    says why.
    ``hyperparameters`` are those that differ. ``answer`` is the whole in words.
    """

    old: EntrySide
    new: EntrySide
    ratio: float | None
    reduction: float | None
    parts: tuple[TimePart, ...]
    undivided: str | None
    hyperparameters: tuple[Change, ...]
    answer: str


def explain(one: MeasuredEntry, other: MeasuredEntry) -> Difference:
    """Return why the times of two entries differ, and by how much each cause changes them."""
    old, new = one.side, other.side
    undivided = one.undivided or other.undivided
    if old.minutes is None or new.minutes is None:
        undivided = undivided or "one of them has no time"
    same = old.trains == new.trains
    undivided = undivided if same else "they train different benchmarks"
    parts = () if undivided else decompose(one, other)
    changes = changed_hyperparameters(runs_of(one.result), runs_of(other.result))
    was, now = (it.result.accelerator or "not stated" for it in (one, other))
    chips = (Change(name="accelerator", old=was, new=now),) if was != now else ()
    times = old.minutes or 0.0, new.minutes or 0.0
    ratio = times[0] / times[1] if same and min(times) > 0 else None
    return Difference(
        old=old,
        new=new,
        ratio=ratio,
        reduction=None if ratio is None else 1 - 1 / ratio,
        parts=parts,
        undivided=undivided,
        hyperparameters=changes,
        answer=answer(old, new, parts, undivided, (*chips, *changes)),
    )


def answer(
    old: EntrySide,
    new: EntrySide,
    parts: tuple[TimePart, ...],
    undivided: str | None,
    changes: tuple[Change, ...] = (),
) -> str:
    """Return how the times compare, the parts that matter, largest first, and what else changed; A is old, B is new."""
    if old.trains != new.trains:
        times = f"A and B train different benchmarks, {old.benchmark_title} and {new.benchmark_title}."
        if old.minutes is not None and new.minutes is not None:
            times += f" They take {' and '.join(_minutes(old.minutes, new.minutes))} min."
    elif old.minutes is None or new.minutes is None:
        without = " and ".join(name for name, side in (("A", old), ("B", new)) if side.minutes is None)
        times = f"{without} {'have' if ' ' in without else 'has'} no time to compare."
    elif undivided:
        times = f"{_times_words(old, new)}. Not divided: {undivided}."
    else:
        because = _parts_words(parts, max(old.minutes, new.minutes), old, new)
        times = f"{_times_words(old, new)}: {because}." if because else f"{_times_words(old, new)}."
    return f"{times}{_counts_words(old, new)}{_changes_words(changes)}"


def _counts_words(old: EntrySide, new: EntrySide) -> str:
    """How many evaluations and blocks a run has, and how long it initialises, where that is another."""
    pairs = {
        "evaluations": (old.evaluations, new.evaluations),
        "blocks": (old.blocks, new.blocks),
        "seconds of initialisation (not timed)": (old.phases.get("init"), new.phases.get("init")),
    }
    words = [
        f"{in_digits(round(one, 1))} -> {in_digits(round(other, 1))} {name}"
        for name, (one, other) in pairs.items()
        if one is not None and other is not None and round(one, 1) != round(other, 1)
    ]
    return f" A run has {', '.join(words)}." if words else ""


def _times_words(old: EntrySide, new: EntrySide) -> str:
    one, other = old.minutes or 0.0, new.minutes or 0.0
    times = f"{' -> '.join(_minutes(one, other))} min"
    if one == other:
        return f"B takes as long as A ({times})"
    if min(one, other) <= 0:
        return f"The times are {times}"
    percent = abs(other - one) / one * 100
    longer = "shorter" if other < one else "longer"
    return f"B is {percent:.1f} % {longer} ({one / other:.2f}x, {times})"


def _minutes(one: float, other: float) -> list[str]:
    """Two times with three digits, or with six decimals where only those tell them apart."""
    three = [f"{time:.{sum(abs(time) < limit for limit in (1, 10, 100))}f}" for time in (one, other)]
    return three if one == other or three[0] != three[1] else [f"{one:.6f}", f"{other:.6f}"]


def _changes_words(changes: tuple[Change, ...]) -> str:
    """Accelerator, batch size and optimizer, and how many more; that they are the cause nobody can say."""
    shown = {change.name: change for change in changes}
    named = [shown[name] for name in TELLING if name in shown]
    if not changes:
        return ""
    words = [f"{change.name} {short_value(change.old)} -> {short_value(change.new)}" for change in named]
    rest = len(changes) - len(named)
    if rest:
        words.append(plural(rest, f"{'more ' if named else ''}logged value"))
    return f" Also different: {', '.join(words)}."


def short_value(value: object, most: int = _LONGEST) -> str:
    """Return a value, shortened to so many characters."""
    return shortened("-" if value is None else str(value) or '""', most)


def _parts_words(parts: tuple[TimePart, ...], time: float, old: EntrySide, new: EntrySide) -> str:
    whole = abs(sum(part.minutes for part in parts))
    large = [
        part for part in parts if abs(part.minutes) >= max(_SMALL_OF_TIME * time, _SMALL_OF_DIFFERENCE * whole) > 0
    ]
    large.sort(key=lambda part: -abs(part.minutes))
    rest = sum(part.minutes for part in parts if part not in large)
    shown = [f"{part_words(part, old, new)} ({part.minutes:+.2f} min)" for part in large]
    if large and len(large) < len(parts):
        shown.append(f"all else {round(rest, 2) + 0.0:+.2f} min")
    return ", ".join(shown)


def part_words(part: TimePart, old: EntrySide, new: EntrySide) -> str:
    """Return a part in words, without its minutes."""
    if part.name == "work":
        more = "fewer" if part.new < part.old else "as many" if part.new == part.old else "more"
        return f"{more} {part.unit} {in_digits(part.old)} -> {in_digits(part.new)}"
    if part.name == "pace":
        return _pace_words(part, old, new)
    if part.name == "accelerators":
        return f"accelerators {part.old:.0f} -> {part.new:.0f}"
    if part.name == "scaling":
        return f"scaling {part.old:.6g} -> {part.new:.6g}"
    return f"{PHASES[part.name]} {part.old:.1f} s -> {part.new:.1f} s"


def part_name(part: TimePart) -> str:
    """Return what a part is of, in a word or two, for a row of a chart."""
    if part.name == "pace":
        return f"{PHASES[part.of or 'training']} per {part.unit.rpartition(' ')[2]}"
    return part.unit if part.name == "work" else PHASES.get(part.name, part.name)


def rate(value: float, more: int = 0) -> str:
    """Samples a second: small ones with their fractions; ``more`` digits than usual."""
    return f"{value:,.{more}f}" if value >= 100 else f"{value:.{3 + more}g}"


def rates(one: float, other: float) -> list[str]:
    """Two rates with as many digits as tell them apart."""
    shown = ([rate(value, more) for value in (one, other)] for more in range(_MORE))
    return next((two for two in shown if two[0] != two[1]), [rate(one), rate(other)])


def _pace_words(part: TimePart, old: EntrySide, new: EntrySide) -> str:
    unit = part.unit.rpartition(" ")[2]
    each = f"per {unit}" + (" and accelerator" if part.unit.startswith("accelerator") else "")
    what = PHASES[part.of or "training"]
    if not part.new or not part.old or part.old == part.new:
        return f"{what} as fast {each}"
    speed = part.old / part.new
    faster = f"{(speed - 1) * 100:.1f} % faster" if speed > 1 else f"{(1 - speed) * 100:.1f} % slower"
    samples = ""
    if old.throughput and new.throughput and part.of == "training":
        samples = f": {' -> '.join(rates(old.throughput, new.throughput))} samples/s"
    return f"{what} {faster} {each}{samples}"
