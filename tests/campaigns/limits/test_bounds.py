"""The table of limits says what the code does, and no bound on foreign input is missing in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.campaigns.limits.bounds import APART, BOUNDS, ELSEWHERE, value
from tests.campaigns.limits.exactly import CASES
from tests.campaigns.limits.patterns import REPOSITORY

PAGE = (REPOSITORY / "docs/reliability.md").read_text("utf-8")
ROWS = {line.split("|")[1].strip(): line for line in PAGE[PAGE.index("\n## Limits") :].splitlines() if line[:2] == "| "}
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "Kibit": 1 << 10}
_BOUND = re.compile(r"(?:^|_)(?:MAX|MOST|LONGEST|DEEP|DEEPEST|LIMIT|LARGEST)(?:_|$)")


def _row(what: str) -> list[str]:
    """The cells of the row whose first one begins with these words."""
    [line] = [line for name, line in ROWS.items() if re.match(rf"{re.escape(what)}(?![^ ,])", name)]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("what", BOUNDS)
def test_a_figure_is_that_of_the_code(what: str) -> None:
    _, *limits = _row(what)
    limit = "; ".join(limits)
    for where, shown in BOUNDS[what].items():
        assert re.search(rf"(?<![\d,]){re.escape(shown)}", limit), (where, shown, limit)
        match = re.search(r"([\d,]+)(?: (\w+))?", shown)
        assert match is not None
        assert int(match[1].replace(",", "")) * UNITS.get(match[2], 1) == value(where), where


def test_what_is_tried_exactly_is_in_the_table() -> None:
    known = {f"mlsub.{where}" for row in BOUNDS.values() for where in row}
    same = {"mlsub.convergence.filecheck:MAX_BYTES", "mlsub.packing.archive:MAX_MEMBERS"}  # imported there
    assert {case.where for case in CASES} - known == same


def test_every_bound_is_in_the_table_or_is_none_on_foreign_input() -> None:
    """A new constant whose name says that it is a bound belongs into ``tests/campaigns/limits/bounds.py``."""
    elsewhere = [
        f"{module}:{name}" for group in ELSEWHERE.values() for module, names in group.items() for name in names.split()
    ]
    listed = {where for row in BOUNDS.values() for where in row}
    found = set(_constants())
    assert sorted(found - listed - set(elsewhere)) == []
    assert sorted(set(elsewhere) - found) == []
    assert sorted(set(elsewhere) & listed) == []


def _constants() -> Iterator[str]:
    for file in sorted((REPOSITORY / "mlsub").rglob("*.py")):
        parts = file.relative_to(REPOSITORY / "mlsub").with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if module.startswith(APART):
            continue
        for node in ast.parse(file.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else ()
            for target in [node.target] if isinstance(node, ast.AnnAssign) else targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and _BOUND.search(name.id):
                        yield f"{module}:{name.id}"
