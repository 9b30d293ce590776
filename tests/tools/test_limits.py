"""The list of limits says what the code does, and the code keeps each bound to the last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.packing.tree import DamagedError, RefusedError
from mlsub.rules.arithmetic import ExpressionError
from tools.campaigns.limits.bounds import BOUNDS, value
from tools.campaigns.limits.exactly import CASES, Case
from tools.campaigns.limits.expressions import REPOSITORY

PAGE = (REPOSITORY / "docs/reliability.md").read_text("utf-8")
LIMITS = PAGE[PAGE.index("\n## Limits") : PAGE.index("\n## Campaigns")]
ITEMS = dict(re.findall(r"^- \*\*(.*?)\*\*: (.*(?:\n  .*)*)", LIMITS, re.MULTILINE))
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "Kibit": 1 << 10}


def _limit(what: str) -> str:
    """The text of the item whose name begins with these words."""
    [limit] = [text for name, text in ITEMS.items() if re.match(rf"{re.escape(what)}(?![^ ,])", name)]
    return " ".join(limit.split())


@pytest.mark.parametrize("what", BOUNDS)
def test_a_figure_is_that_of_the_code(what: str) -> None:
    limit = _limit(what)
    for where, shown in BOUNDS[what].items():
        assert re.search(rf"(?<![\d,]){re.escape(shown)}", limit), (where, shown, limit)
        match = re.search(r"([\d,]+)(?: (\w+))?", shown)
        assert match is not None
        assert int(match[1].replace(",", "")) * UNITS.get(match[2], 1) == value(where), where


def test_what_is_tried_exactly_is_in_the_list() -> None:
    known = {f"mlsub.{where}" for row in BOUNDS.values() for where in row}
    same = {"mlsub.convergence.filecheck:MAX_BYTES", "mlsub.packing.archive:MAX_MEMBERS"}  # imported there
    assert {case.where for case in CASES} - known == same


def _said(case: Case, folder: Path, size: int) -> str:
    """What is wrong with an input: text, or texts, or an error; any other answer is what was read of it."""
    folder.mkdir()
    try:
        answer = case.ask(folder, size)
    except RefusedError as error:
        answer = [finding.message for finding in error.findings]
    except FileProblemsError as error:
        answer = [problem.message for problem in error.problems]
    except (MlsubError, DamagedError, ExpressionError, OverflowError, ValueError) as error:
        answer = str(error)
    texts = [answer] if isinstance(answer, str) else answer if isinstance(answer, list) else []
    return "; ".join(text for text in texts if isinstance(text, str))


#: Bounds whose inputs take a second to read.
SLOW = ("mlsub.io.problems:MAX_BYTES", "mlsub.rules.engine:MAX_STEPS")


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if case.where in SLOW else ()) for case in CASES],
    ids=lambda case: case.where.removeprefix("mlsub."),
)
def test_a_bound_is_kept_to_the_last(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = int(value(case.where))
    if case.instead is not None:
        limit = case.instead
        monkeypatch.setattr(case.where.replace(":", "."), limit)
    assert _said(case, tmp_path / "at", limit) == ""
    assert case.said in _said(case, tmp_path / "beyond", limit + 1)
