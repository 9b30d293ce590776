"""Seeds that an entry shares with other rounds or organisations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, listed, observe
from mlsub.review.runs.thresholds import thresholds
from mlsub.review.seeds import SEEDS_OF_A_LOG

#: Entries kept for one seed: hostile input may give every entry the same ones.
MAX_USERS = 100


def find_shared_seeds(entries: Sequence[Entry]) -> Iterator[Observation]:
    """Entries most of whose seeds an earlier round or another organisation uses too; within one, mlsub check tells."""
    limits = thresholds()
    seeds = [_seeds(entry) for entry in entries]
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
                "Seeds are the same as in entries of another round or organisation",
                f"{alike[best]} of {len(seeds[n])} seeds ({listed(shown, 5)}) as in {entries[best].path}; "
                f"{len(alike)} such entries",
                expected="seeds drawn for each run",
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


def _seeds(entry: Entry) -> set[int]:
    return {s.value for trace in entry.traces for s in trace.run.seeds[:SEEDS_OF_A_LOG] if not s.error}
