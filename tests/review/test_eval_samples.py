"""Evaluations whose eval_accuracy states another samples_count than their eval_start and eval_stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.log.event import Event
from mlsub.log.lengths import Shift
from tests.review.folding import fold
from tools.support.corpus import SHARED
from tools.support.runner import check


def run(places: list[tuple[Any, Any, Any]]) -> Any:
    """A run with evaluations of which start, accuracy and stop state these samples."""
    made = [Event(line=1, time_ms=0.0, key="run_start", value=None, metadata={})]
    for three in places:
        for key, samples in zip(("eval_start", "eval_accuracy", "eval_stop"), three, strict=True):
            metadata = {} if samples is None else {"samples_count": samples}
            made.append(Event(line=len(made) + 1, time_ms=len(made), key=key, value=0.5, metadata=metadata))
    return fold(made)


@pytest.mark.parametrize(
    ("places", "shift"),
    [
        ([(384, 352, 384), (768, 736, 768)], Shift(2, 3, 352, 384, 32)),
        ([(384, 416, 384), (768, 704, 768)], Shift(2, 3, 416, 384, 64)),
        ([(384, 352, 384), (768, 768, 768)], None),
        ([(384, 384, 384), (768, 736, 768)], None),
        ([(384, 352, 384), (768, 736, 736)], None),
        ([(384, 352, 384), (None, 736, None)], None),
        ([(384, "352", 384)], None),
        ([(384, None, 384)], None),
        ([(float("nan"), 352, float("nan"))], None),
        ([], None),
    ],
)
def test_all_evaluations_of_a_run_state_another_place(places: list[tuple[Any, Any, Any]], shift: Shift | None) -> None:
    assert run(places).lengths.shift == shift


@pytest.mark.skipif(not (SHARED / "v6.0-sample").is_dir(), reason="the published sample of v6.0 is not here")
def test_the_mean_that_the_convergence_test_would_have_is_named() -> None:
    outcome = check("--round", "6.0", SHARED / "v6.0-sample" / "MiTAC")
    (found,) = outcome.of("entry.samples-count")
    assert (found["expected"], found["severity"], found["line"]) == (
        "384, as in eval_start and eval_stop",
        "warning",
        48,
    )
    assert Path(found["path"]).name == "result_0.txt"
    assert found["actual"] == (
        "352 in eval_accuracy, and so in all 15 evaluations of 1 run; "
        "the convergence test reads a mean of 172,000, by eval_stop it is 172,032"
    )
