"""An input as large as a bound is taken, and one that is larger by one is refused in the words of the bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.io.errors import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.packing.tree import DamagedError, RefusedError
from mlsub.rules.arithmetic import ExpressionError
from tools.campaigns.limits.bounds import value
from tools.campaigns.limits.exactly import CASES, Case

#: Bounds whose inputs take a second to read.
SLOW = ("mlsub.io.problems:MAX_BYTES", "mlsub.rules.engine:MAX_STEPS")


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
