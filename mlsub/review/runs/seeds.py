"""Seeds that an earlier round or another organisation uses too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlsub.review.cross import SEEDS_OF_A_LOG
from mlsub.review.runs.model import Entry, Observation, listed, observe, thresholds

#: Entries kept for one seed: hostile input may give every entry the same ones.
MAX_USERS = 100
#: Numbers above the small ones that people choose all over the world.
_CONSTANTS = {1234, 4321, 12345, 123456, 1234567, 12345678, 123456789, 1337, 31337, 2718, 3141, 31415, 314159, 271828}


def find_shared_seeds(entries: Sequence[Entry]) -> Iterator[Observation]:
    """Entries most of whose seeds an earlier round or another organisation uses too; mlsub check reports others."""
    limits = thresholds()
    seeds = [seeds_of(entry) for entry in entries]
    users: dict[int, list[int]] = {}
    for n, values in enumerate(seeds):
        for value in values:
            of = users.setdefault(value, [])
            if len(of) < MAX_USERS:
                of.append(n)
    for n, entry in enumerate(entries):
        shared = Counter(m for value in seeds[n] for m in users[value] if m != n)
        common = {m: count for m, count in shared.items() if _before(entries[m], entry)}
        alike = {
            m: count
            for m, count in common.items()
            if count >= limits.seeds_shared and count >= limits.seeds_part * min(len(seeds[n]), len(seeds[m]))
        }
        if alike:
            best = max(alike, key=lambda m: (alike[m], -m))
            shown = [str(value)[:24] for value in sorted(seeds[n] & seeds[best])]
            yield observe(
                "inspect.seeds-shared",
                entry,
                f"{alike[best]} of {len(seeds[n])} seeds ({listed(shown, 5)}) as in {entries[best].path}; "
                f"{len(alike)} such entries",
                other=entries[best].path,
                common=alike[best],
                seeds=len(seeds[n]),
                entries=len(alike),
            )


def _before(other: Entry, entry: Entry) -> bool:
    """Whether an entry is of an earlier round, or of another organisation of the same; and of other runs."""
    if other.round.usage != entry.round.usage or other.runs_started & entry.runs_started:
        return False  # The same runs once more have a finding of their own.
    if other.round == entry.round:
        return other.organisation < entry.organisation
    return other.round_order < entry.round_order


def seeds_of(entry: Entry) -> set[int]:
    """The seeds of an entry that another one has not by chance alone."""
    found = {s.value for trace in entry.traces for s in trace.run.seeds[:SEEDS_OF_A_LOG] if not s.error}
    return {seed for seed in found if not _is_usual(seed, found)}


def _is_usual(seed: int, found: set[int]) -> bool:
    """Whether anybody may choose a seed: a small number, one of a row of numbers, or one of the usual constants."""
    return abs(seed) < thresholds().seeds_small or seed in _CONSTANTS or bool({seed - 1, seed + 1} & found)
