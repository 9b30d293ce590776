"""The table of limits says what the code does."""

from __future__ import annotations

import re

import pytest

from tools.campaigns.limits.bounds import BOUNDS, value
from tools.campaigns.limits.exactly import CASES
from tools.campaigns.limits.expressions import REPOSITORY

PAGE = (REPOSITORY / "docs/reliability.md").read_text("utf-8")
ROWS = {line.split("|")[1].strip(): line for line in PAGE[PAGE.index("\n## Limits") :].splitlines() if line[:2] == "| "}
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "Kibit": 1 << 10}


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
