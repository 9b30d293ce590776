"""Rounds of results in a few words each: what pages over many results are tested with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from mlsub.commands.site.results import Site, SiteResult, SiteRound, build_rounds
from mlsub.findings import Verdict
from mlsub.submission.report import Report
from mlsub.workspace import Checked
from tests.commands.site.sites import one_round
from tools.support.make_tree import make_tree

#: Round, benchmark folder, organisation, accelerator, number, minutes, and where it is not Closed the division.
Words = Sequence[Any]


@lru_cache(maxsize=1)
def _any() -> Report:
    with TemporaryDirectory() as above:
        return one_round(make_tree(Path(above))).report


def rounds_of(cases: dict[str, Iterable[Words]]) -> list[SiteRound]:
    """Rounds by their names, each with the words of its results."""
    numbers = count()
    checked = []
    for name, words in cases.items():
        usage = "hpc" if str(name).startswith("hpc ") else "training"
        made = [_made(next(numbers), one) for one in words]
        report = replace(
            _any(), usage=usage, round=str(name).removeprefix("hpc "), findings=(),
            entries=tuple(entry for entry, _ in made), systems=tuple(system for _, system in made),
        )  # fmt: skip
        checked.append(Checked((report,)))
    return build_rounds(checked, None)


def _made(number: int, words: Words) -> tuple[Any, Any]:
    benchmark, organisation, model, accelerators, minutes, *rest = words
    report, division, system = _any(), rest[0] if rest else "closed", f"rack{number}"
    (entry,), (described,) = report.entries, report.systems
    facts = replace(
        described.facts, submitter=organisation, accelerator_model_name=model, number_of_nodes=1,
        accelerators_per_node=accelerators, system_name=f"{accelerators} {model}",
    )  # fmt: skip
    score = replace(entry.score, published=minutes)
    made = replace(
        entry, benchmark=benchmark, organisation=organisation, division=division, score=score, system=system,
        path=f"results/{system}/{benchmark}",
    )  # fmt: skip
    return made, replace(described, path=f"systems/{system}.json", facts=facts)


def result(round_name: str, words: Words) -> SiteResult:
    """A result in the words of a case."""
    (one,) = rounds_of({round_name: [words]})
    return one.results[0]


def site_of(cases: dict[str, Iterable[Words]]) -> Site:
    """All of a site."""
    return Site(rounds_of(cases))


def rejected(of: SiteResult) -> SiteResult:
    """The same result, rejected."""
    return replace(of, official=Verdict.REJECTED)
