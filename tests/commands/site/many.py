"""Rounds of results in a few words each: what pages over many results are tested with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from mlsub.commands.site.results import Result, RoundResults
from mlsub.commands.site.whole import Whole
from mlsub.findings import Verdict
from mlsub.rounds import get_round
from mlsub.score.named import named
from tests.commands.site.sites import one_round
from tests.make_tree import make_tree

#: Round, benchmark folder, organisation, accelerator, number, minutes, and where it is not Closed the division.
Words = Sequence[Any]


@lru_cache(maxsize=1)
def _any() -> RoundResults:
    with TemporaryDirectory() as above:
        return one_round(make_tree(Path(above)))


def result(number: int, round_name: str, words: Words) -> Result:
    """A result in the words of a case."""
    benchmark, organisation, model, count, minutes, *rest = words
    division = rest[0] if rest else "closed"
    base, usage = _any().results[0], "hpc" if round_name.startswith("hpc ") else "training"
    name = round_name.removeprefix("hpc ")
    row = replace(
        base.row,
        usage=usage, round=name, benchmark=benchmark, organisation=organisation, submitter=organisation,
        accelerator_model_name=model, accelerators_count=count, division=division, system=f"{count} {model}",
        result_minutes=minutes, published_minutes=minutes, system_folder=f"rack{count}",
    )  # fmt: skip
    score = replace(base.entry.score, published=minutes)
    entry = replace(base.entry, benchmark=benchmark, organisation=organisation, division=division, score=score)
    return replace(
        base, slug=f"result-{number}", entry=entry, row=row, named=named(row), round=get_round(usage, name), logs=()
    )


def rounds_of(cases: dict[str, Iterable[Words]]) -> list[RoundResults]:
    """Rounds by their names, each with the words of its results."""
    made, number = [], 0
    for name, words in cases.items():
        results = []
        for one in words:
            results.append(result(number, str(name), one))
            number += 1
        usage = "hpc" if str(name).startswith("hpc ") else "training"
        round_ = get_round(usage, str(name).removeprefix("hpc "))
        made.append(replace(_any(), round=round_, results=tuple(results), rest=()))
    return made


def whole_of(cases: dict[str, Iterable[Words]]) -> Whole:
    """All of a site."""
    return Whole(rounds_of(cases))


def rejected(of: Result) -> Result:
    """The same result, rejected."""
    return replace(of, entry=replace(of.entry, official=Verdict.REJECTED))
