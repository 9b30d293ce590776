"""The RCP test agrees with the recorded answer on every Closed entry of every round."""

from __future__ import annotations

from typing import Any

import pytest

from mlsub.convergence.algorithm import algorithm_of, is_tested, unit_of
from mlsub.convergence.point import paired_rule
from mlsub.convergence.reference import points_of, reference_file
from mlsub.convergence.runs import progress_of
from mlsub.convergence.verdict import Result, judge_convergence
from mlsub.judge.log import LogTask, judge_log
from mlsub.rounds import get_round
from mlsub.rules.load import benchmark, rules_for
from tests.differential.shared import ABSENT, folder, present, recorded_entries

pytestmark = pytest.mark.skipif(not present(), reason=ABSENT)

ROUNDS = ("1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1")
#: What the official messages are called here.
HOW = {
    "RCP found": "exact",
    "RCP Interpolation": "interpolated",
    "RCP not found but slower convergence on smaller batch size": "smaller-batch",
    "Missing RCP": "missing",
    "Insufficient convergence": "insufficient-convergence",
}


def _result(round_name: str, path: str, samples: bool) -> Result | None:
    """None where not one log of the entry is there."""
    name = path.split("/")[-1]
    logs = sorted((folder(round_name) / path).glob("result_*.txt"))
    if not logs:
        return None
    algorithm = algorithm_of("training", round_name)
    file = reference_file("training", get_round("training", round_name).ruleset, name)
    assert algorithm is not None and file is not None and is_tested(name)
    runs = [judge_log(LogTask(str(log), log.name, "training", round_name)).run for log in logs]
    paired = paired_rule(rules_for("training", round_name, "closed", name))
    progress = progress_of(runs, name, algorithm, unit_of(name), paired, samples=samples)
    needed = benchmark("training", round_name, name).runs
    return judge_convergence(progress, points_of(file, name, needed, algorithm), name, needed, algorithm)


def _differs(ours: Result, recorded: dict[str, Any]) -> list[str]:
    reference = ours.reference
    exact = {
        "passed": (ours.passed, recorded["passed"]),
        "bs": (ours.batch_size, recorded.get("bs")),
        "points": (reference.runs if reference else None, recorded.get("points")),
        "msg": (ours.how, next(word for text, word in HOW.items() if recorded["msg"].startswith(text))),
    }
    near = {
        "mean": (ours.mean, recorded.get("mean"), 1e-9),
        "rcp_mean": (reference.mean if reference else None, recorded.get("rcp_mean"), 1e-9),
        "rcp_stdev": (reference.stdev if reference else None, recorded.get("rcp_stdev"), 1e-9),
    }
    found = [f"{name}: {a} for {b}" for name, (a, b) in exact.items() if b is not None and a != b]
    found += [f"{n}: {a} for {b}" for n, (a, b, r) in near.items() if b is not None and a != pytest.approx(b, rel=r)]
    minimum = recorded.get("minimum")
    if minimum is not None and ours.minimum != pytest.approx(minimum, abs=1e-4):
        found.append(f"minimum: {ours.minimum} for {minimum}")
    return found


@pytest.mark.parametrize("round_name", ROUNDS)
def test_each_closed_entry_has_the_recorded_answer(round_name: str) -> None:
    compared, differing = 0, []
    for path, entry in recorded_entries(round_name).items():
        answers = (entry.get("rcp") or {}) if entry["division"] == "closed" else {}
        for kind, recorded in answers.items():
            ours = _result(round_name, path, kind == "train_samples")
            if ours is None or recorded["passed"] is None:
                continue
            compared += 1
            differing += [f"{path} {kind}: {what}" for what in _differs(ours, recorded)]
    assert differing == []
    assert compared >= 10
