"""What the detectors find of some entries."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.model import Observation
from mlsub.submission.result import Result


def observed(*entries: Result, against: Sequence[Result] = ()) -> dict[str, list[Observation]]:
    """What is found, by rule."""
    found: dict[str, list[Observation]] = {}
    for observations in observe_runs(entries, against).values():
        for observation in observations:
            undone = observation.undone.words if observation.undone else ""
            assert (observation.finding.actual or "").endswith(undone), "the score without it is said last"
            found.setdefault(observation.finding.rule, []).append(observation)
    return found


def the_one(rule: str, *entries: Result) -> Observation:
    """The only thing that is found."""
    found = observed(*entries)
    assert set(found) == {rule}
    [observation] = found[rule]
    assert observation.finding.actual is not None
    return observation
