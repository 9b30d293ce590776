"""Published results: the figures of hand computation to all printed digits, and the verdicts on Graphcore's claims."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

from mlsub.commands.audit.document import build_document, rounded
from mlsub.commands.audit.evaluate import World, evaluate
from mlsub.commands.audit.expression import Band, parse
from mlsub.commands.audit.functions import FUNCTIONS
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.run import audit, read_world
from mlsub.commands.audit.verdict import Audit, ClaimVerdict
from mlsub.commands.audit.wording import fixed, wordings
from mlsub.present.text import render
from mlsub.workspace import Context
from tests.commands.audit.claims import table
from tools.oracle import shared

pytestmark = pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)

REPOSITORY = Path(__file__).resolve().parents[3]
TABLE = table("figures.yaml")
FIGURES: list[tuple[str, str]] = [(str(expression), figure) for expression, figure in TABLE["figures"]]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A file whose claims are the figures of the table, and the results that they name."""
    keys = ("round", "submitter", "system", "benchmark")
    content = {
        "claims_version": 1,
        "source": {"title": "figures"},
        "results": {name: dict(zip(keys, parts, strict=True)) for name, parts in TABLE["results"].items()},
        "claims": [
            {"id": f"f{number}", "expr": expression, "stated": {"value": figure}}
            for number, (expression, figure) in enumerate(FIGURES)
        ],
    }
    file = tmp_path_factory.mktemp("figures") / "claims.yaml"
    file.write_text(yaml.safe_dump(content))
    return read_world(read_claims(file), [str(shared.CORPUS)], context=Context(jobs=1))


@pytest.mark.parametrize("number", range(len(FIGURES)), ids=[expression for expression, _ in FIGURES])
def test_a_figure_has_all_its_printed_digits(number: int, evaluated: World) -> None:
    claim = evaluated.file.claims[number]
    assert claim.expr is not None
    value = evaluate(parse(claim.expr), evaluated, "published")
    assert isinstance(value, Band)
    assert value.certain
    printed = FIGURES[number][1]
    digits = len(printed.partition(".")[2])
    assert fixed(value.low, digits).replace(",", "") == printed


@lru_cache(maxsize=4)
def graphcore(round_: str) -> Audit:
    file = REPOSITORY / "submissions" / f"graphcore-{round_}" / "claims.yaml"
    return audit(file, [str(shared.CORPUS)], context=Context(jobs=1))


@pytest.mark.parametrize(
    ("name", "points"), [("S3-24", ["299,921", "319,271"]), ("S3-25", ["298,094", "321,941"])], ids=["resnet", "bert"]
)
def test_performance_per_dollar_breaks_even_where_it_should(name: str, points: list[str]) -> None:
    [judged] = [one for one in graphcore("v1.0").claims if one.claim.id == name]
    assert [rounded(one.at) for one in judged.break_even] == points
    assert [one.within_uncertainty for one in judged.break_even] == [True, False]


def test_the_spread_of_the_prices() -> None:
    spreads = {one.claim.id: one.readings[0] for one in graphcore("v1.0").claims if one.readings}
    ends = [(variant.low, variant.high) for variant in (spreads["S3-24"], spreads["S3-25"])]
    assert [(fixed(low), fixed(high)) for low, high in ends if low and high] == [
        ("1.472886", "1.627926"),
        ("1.195093", "1.320892"),
    ]


@pytest.mark.slow
def test_what_else_changed_is_told() -> None:
    [judged] = [one for one in graphcore("v1.1").claims if one.claim.id == "X-02"]
    assert [(change.name, change.old, change.new) for change in judged.changed][:3] == [
        ("opt_name", '"sgd"', '"lars"'),
        ("epochs", "44", "38"),
        ("global_batch_size", "1920", "3200"),
    ]


#: Claim -> the verdict, what it holds for, what its wording accepts, and its figure.
WORKED = {
    "ttt-bert-pod64": ("holds-only-for", "division open", "(9, 9.5]", "9.392079167"),
    "ttt-resnet-pod64": ("holds", None, "[14.45, 14.55)", "14.484627778"),
    "perf-per-dollar-resnet": ("holds-fragile", None, "[1.55, 1.65)", "1.550405848"),
    "perf-per-dollar-bert": ("holds-fragile", None, "[1.25, 1.35)", "1.257992589"),
    "hosts-pod64": ("holds", None, None, None),
    "blog-bert-5x": ("not-verifiable", None, "(5, ∞)", None),
}


def test_the_worked_examples() -> None:
    file = shared.SHARED / "claims" / "claims.yaml"
    claims = audit(file, [str(shared.CORPUS)], context=Context(jobs=1)).claims
    figures = [fixed(one.computed, 9) if isinstance(one.computed, Fraction) else None for one in claims]
    assert {
        one.claim.id: (one.verdict.value, one.only_for, one.accepted.words() if one.accepted else None, figure)
        for one, figure in zip(claims, figures, strict=True)
    } == WORKED
    [near] = claims[-1].nearest
    assert isinstance(near.value, Fraction)
    assert fixed(near.value, 9) == "1.958547952"


def test_the_examples_of_the_docs_are_what_is_printed() -> None:
    page = (REPOSITORY / "docs" / "claims.md").read_text()
    blocks = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    printed = render(build_document(graphcore("v1.0"))) + render(build_document(graphcore("v1.1")))
    assert blocks
    assert all(block in printed for block in blocks)


def test_the_docs_name_every_function_wording_and_verdict() -> None:
    page = (REPOSITORY / "docs" / "claims.md").read_text()
    for name in FUNCTIONS:
        assert f"`{name}(" in page
    for name in (*wordings(), *(verdict.value for verdict in ClaimVerdict)):
        assert f"`{name}`" in page
