"""Count what a submitter has in a round: result sets, systems, benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from mlsub.commands.audit.places import RoundFolder, submitter_folder
from mlsub.rounds import get_round, normalise_round
from mlsub.submission.tree import TreeReader
from mlsub.systems.description import read_description


def counted(what: str, round_: str, submitter: str, only: Mapping[str, str], rounds: Sequence[RoundFolder]) -> int:
    """How many result sets (``count``), ``systems`` by name or ``benchmarks`` there are.

    Args:
        what: which of them.
        round_: the round, as in ``v1.0``.
        submitter: the folder of the organisation.
        only: division, benchmark and system that are asked for, where they are.
        rounds: where results lie.

    Raises:
        MlsubError: the round or the organisation is not there.
    """
    name = normalise_round(round_) or round_
    sets = [
        one
        for one in _sets(submitter_folder(name, submitter, rounds), name)
        if all(dict(one)[key] == value for key, value in only.items())
    ]
    key = {"systems": "name", "benchmarks": "benchmark"}.get(what)
    return len(sets) if key is None else len({dict(one)[key] for one in sets})


@lru_cache(maxsize=64)
def _sets(folder: Path, round_: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    files = TreeReader(folder, folder.name, get_round("training", round_)).organisation()
    found = []
    for entry in files.entries:
        if entry.results:
            description = read_description(folder / "systems" / f"{entry.system}.json", entry.system)
            facts = {
                "division": (description.division or "").lower(),
                "benchmark": entry.benchmark,
                "system": entry.system,
                "name": description.text("system_name") or entry.system,
            }
            found.append(tuple(facts.items()))
    return tuple(found)
