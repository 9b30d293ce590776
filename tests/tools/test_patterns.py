"""The time of every regular expression grows linearly with the text: none keeps mlsub busy for hours."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from tools.campaigns.limits.attacks import attacks
from tools.campaigns.limits.expressions import MADE, REPOSITORY, Expression, by_file, of_functions, of_schemas, sources
from tools.campaigns.limits.steps import Machine, growing


def _of(file: str) -> list[Expression]:
    others = [name for name in by_file() if name not in sources()]
    return [one for name in (others if file == "data" else [file]) for one in by_file().get(name, ())]


@pytest.mark.parametrize("file", [*sources(), "data"])
def test_every_expression_takes_linear_time(file: str) -> None:
    """Its steps are counted, so that it is the same on every machine."""
    slow = [
        f"{expression.place}: more and more steps for each of many {body!r} between {lead!r} and {end!r}"
        for expression in _of(file)
        for lead, body, end in islice(growing(expression.pattern, expression.searched), 1)
    ]
    assert slow == []


@pytest.mark.parametrize("file", [*sources(), "data"])
def test_what_is_counted_reads_as_the_engine_does(file: str) -> None:
    for expression in _of(file):
        machine = Machine(expression.pattern, searched=True, low_bounds=False)
        for lead, body, end in attacks(expression.pattern)[::5]:
            text = lead + body * 3 + end
            read: Any = text.encode("latin-1", "replace") if isinstance(expression.pattern.pattern, bytes) else text
            found = [match.span() for match in expression.pattern.finditer(read)]
            assert machine.spans(read.decode("latin-1") if isinstance(read, bytes) else read) == found


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


@pytest.mark.parametrize("pattern", SLOW.values(), ids=SLOW)
def test_growth_is_found(pattern: str) -> None:
    assert next(growing(re.compile(pattern), True), None) is not None


@pytest.mark.parametrize(
    "pattern", [r"(?<!\d)\d++x", r"<[^<>]*+>", r"[a-z]{1,100}:", r"sk-[\w-]{20,200}(?![\w-])", r"a+b+c", r"(\w+)\s*="]
)
def test_linear_time_is_not_taken_for_growth(pattern: str) -> None:
    searched = pattern != r"a+b+c" and pattern != r"(\w+)\s*="
    assert list(growing(re.compile(pattern), searched)) == []


def test_scripts_of_the_site_read_text_with_linear_expressions() -> None:
    """Their expressions are Python's too, but for the way they are written down."""
    found = []
    for file in sorted((REPOSITORY / "mlsub/commands/site/static").glob("*.js")):
        if not file.name.endswith(".min.js"):
            for text in _of_script(file.read_text("utf-8")):
                found.append(text)
                if text in OF_NUMBERS:
                    continue
                for written, python in SCRIPT_CLASSES.items():
                    text = text.replace(written, python)
                assert list(growing(re.compile(text), True)) == [], (file.name, text)
    assert len(found) > 10


#: Classes of characters that Python has no word for, and such as behave alike.
SCRIPT_CLASSES = {r"[^\p{L}\d]": r"[\W_]", r"\p{L}": "[A-Za-z]", r"\p{M}": "[\u0300-\u036f]"}
#: Read the digits of one number, which are 309 at most.
OF_NUMBERS = frozenset((r"\B(?=(\d{3})+$)",))


def _of_script(text: str) -> list[str]:
    """Regular expressions of a script: what stands between slashes behind a bracket, a comma or an equals sign."""
    return re.findall(r"(?m)[(,=] ?/((?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/[gimsuy]*(?=[,).;])", text)
