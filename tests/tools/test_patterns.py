"""The time of every regular expression grows linearly with the text: none keeps mlsub busy for hours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlsub.io.data import load_yaml
from tools.campaigns.limits.expressions import MADE, REPOSITORY, all_expressions, of_functions, of_schemas, of_scripts
from tools.campaigns.limits.proved import HOW, digest, flaws, proved
from tools.campaigns.limits.steps import growing
from tools.support.effort import LONG


def test_every_expression_takes_linear_time() -> None:
    """Its steps are counted, so that it is the same on every machine."""
    kept = frozenset() if LONG else proved()
    assert [flaw for one in all_expressions() if digest(one) not in kept for flaw in flaws(one)] == []


@pytest.mark.slow
def test_the_proofs_that_are_kept_are_those_of_the_expressions() -> None:
    assert proved() == {*map(digest, all_expressions())}, f"{HOW} proves what is new, and writes the file"


def test_every_expression_is_known() -> None:
    """A call whose pattern is made of arguments needs an example in ``tools/campaigns/limits/expressions.py``."""
    assert {place for place, expression in of_functions() if expression is None} - MADE.keys() == set()
    assert MADE.keys() <= {place for place, _ in of_functions()}
    assert [place for place, pattern in of_schemas().items() if pattern is None] == []
    assert len(of_schemas()) > 5


def test_no_expression_is_made_in_another_way() -> None:
    """Calls of ``re`` are found by their name: so nothing of it has another name, and no other module makes any."""
    strange = r"from re import|import regex|import re as|import re,|, re\n|import translate|\bre\.compile\b[^(]"
    for file in sorted((REPOSITORY / "mlsub").rglob("*.py")):
        assert re.findall(strange, file.read_text("utf-8")) == [], file


SLOW = load_yaml(Path(__file__).with_name("growing.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", SLOW.values(), ids=SLOW)
def test_growth_is_found(pattern: str) -> None:
    assert next(growing(re.compile(pattern), True), None) is not None


@pytest.mark.parametrize(
    "pattern", [r"(?<!\d)\d++x", r"<[^<>]*+>", r"[a-z]{1,100}:", r"sk-[\w-]{20,200}(?![\w-])", r"a+b+c", r"(\w+)\s*="]
)
def test_linear_time_is_not_taken_for_growth(pattern: str) -> None:
    searched = pattern != r"a+b+c" and pattern != r"(\w+)\s*="
    assert list(growing(re.compile(pattern), searched)) == []


def test_the_scripts_of_the_site_have_expressions() -> None:
    assert len(list(of_scripts())) > 10
