"""Entries of two rounds go together by organisation and benchmark, which have one name in every round."""

from __future__ import annotations

import msgspec
import pytest

from mlsub.commands.inspect.run import inspect
from mlsub.review.runs.changes import find_changes
from tests.review.runs.build import Record, entry, every, put


def tuned(made: list[Record]) -> None:
    put(made, "global_batch_size", 4608)


@pytest.mark.parametrize(
    ("old", "new", "rounds", "folders", "compared"),
    [
        ("IEI", "Inspur", ("1.1", "2.0"), ("bert", "bert"), True),
        ("Krai", "krai", ("1.1", "2.0"), ("bert", "bert"), True),
        ("ACME", "AMCE", ("1.1", "2.0"), ("bert", "bert"), False),
        ("ACME", "ACME", ("1.1", "2.0"), ("ssd", "ssd"), False),
        ("ACME", "ACME", ("4.1", "5.0"), ("ssd", "retinanet"), True),
        ("ACME", "ACME", ("4.1", "5.0"), ("gnn", "rgat"), True),
    ],
)
def test_the_same_submitter_and_benchmark(
    old: str, new: str, rounds: tuple[str, str], folders: tuple[str, str], compared: bool
) -> None:
    before = entry(org=old, round_=rounds[0])
    after = entry(every(tuned), org=new, round_=rounds[1], start_ms=1_650_000_000_000)
    both = [msgspec.structs.replace(one, benchmark=name) for one, name in zip((before, after), folders, strict=True)]
    assert bool(list(find_changes(both))) is compared


def test_an_inspection_has_both_names() -> None:
    [found] = inspect([msgspec.structs.replace(entry(org="QCT", round_="4.1"), benchmark="gnn")], []).entries
    assert (found.organisation, found.organisation_name) == ("QCT", "Quanta Cloud Technology")
    assert (found.benchmark, found.benchmark_name) == ("gnn", "rgat")
