"""Which benchmark a folder of results holds, round by round."""

from __future__ import annotations

import pytest

from mlsub.rounds import get_round, known_rounds, usages
from mlsub.rounds.benchmarks import benchmark_of


@pytest.mark.parametrize(
    ("round_", "folder", "title"),
    [
        ("1.1", "ssd", "SSD"),
        ("2.0", "ssd", "RetinaNet"),
        ("5.0", "retinanet", "RetinaNet"),
        ("4.0", "gnn", "R-GAT"),
        ("5.0", "rgat", "R-GAT"),
        ("0.7", "bert", "BERT"),
        ("9.9", "ssd", "RetinaNet"),
        ("1.0", "unheard", None),
    ],
)
def test_benchmarks_over_the_rounds(round_: str, folder: str, title: str | None) -> None:
    found = benchmark_of("training", round_, folder)
    assert (found.title if found else None) == title


def test_every_folder_of_every_round_holds_a_benchmark() -> None:
    for usage in usages():
        for name in known_rounds(usage):
            for folder in get_round(usage, name).benchmarks:
                assert benchmark_of(usage, name, folder) is not None, (usage, name, folder)
