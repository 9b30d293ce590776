"""What the system does not let us look at for a moment is said, and the next check knows nothing of it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from mlsub.commands.review.run import ObservedOrganisation, observe_sides, sides_of
from mlsub.findings import Effect
from mlsub.io import MlsubError
from mlsub.rules.catalogue import catalogue, finding, has_effect
from mlsub.submission.report import Report
from mlsub.workspace import Context, check_paths
from mlsub.workspace.cache import Cache
from tests.many_inputs import make_many
from tests.refused import Refusals
from tools.support.effort import LONG
from tools.support.make_tree import make_tree
from tools.support.sample import rows

ERRORS = (errno.EIO, errno.EACCES, errno.ESTALE, errno.EMFILE) if LONG else (errno.EIO,)
#: A round, one of those that check power measurements, and parts of one.
PLACES = ("v4.0", "v5.0", *(("v4.0/ACME", "v4.0/ACME/results/rack1/resnet", "v4.1/loose") if LONG else ()))
Answer = TypeVar("Answer")
#: A log that was read, and has a line that cannot be.
_OF_CONTENT = "seed.log-undecodable"


def test_each_rule_of_what_cannot_be_read_is_transient() -> None:
    unreadable = [rule for rule, info in catalogue().items() if "cannot be read" in info.title and rule != _OF_CONTENT]
    assert len(unreadable) >= 6
    assert [rule for rule in unreadable if not has_effect(finding(rule, "."), Effect.TRANSIENT)] == []
    assert [
        rule
        for rule in catalogue()
        if rule.endswith(".unreadable") and not has_effect(finding(rule, "."), Effect.TRANSIENT)
    ] == []


def check(path: Path, cache: Path | None) -> Report:
    kept = Cache(cache) if cache is not None else None
    [report] = check_paths([path], Context(jobs=1, cache=kept))
    return report


def names(report: Report, path: str, error: int) -> bool:
    """Whether a report says of a path, in what is never remembered, why it could not be looked at."""
    said = [
        f"{found.path} {found.message} {found.actual}"
        for found in report.findings
        if has_effect(found, Effect.TRANSIENT)
    ]
    return any(os.strerror(error) in text and os.path.basename(path) in text for text in said)  # noqa: PTH119


def each_refused(
    ask: Callable[[Path], Answer], base: Path, error: int, patch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Answer, Answer]]:
    """Refuse each look at a folder once: its path, the answer, and the next answer with the same cache."""
    refusals = Refusals(base, patch)
    refusals.at_call(-1, 0)
    ask(base.with_name("counted"))
    for number in rows(range(refusals.calls)):
        cache = base.with_name(f"cache-{number}")
        refusals.at_call(number, error)
        first = ask(cache)
        failed = refusals.path
        refusals.at_call(-1, 0)
        yield failed, first, ask(cache)


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("lies", PLACES)
@pytest.mark.usefixtures("settled")
def test_no_refused_look_passes_or_lasts(
    lies: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "in"
    tree = make_many(base, "v5.0", "bert", runs=2) if lies == "v5.0" else make_many(base, runs=2)
    path = base / lies
    if not path.exists():
        shutil.copytree(tree.entry(), path)
    healthy = check(path, None)
    assert healthy == check(path, tmp_path / "cache"), "and everything is imported"
    wrong = []
    for failed, first, second in each_refused(partial(check, path), base, error, monkeypatch):
        if first != healthy and not names(first, failed, error):
            wrong.append(f"{failed}: says nothing of it")
        if second != healthy:
            wrong.append(f"{failed}: is remembered")
    assert wrong == []


def judged(path: Path, cache: Path) -> tuple[ObservedOrganisation, ...] | None:
    context = Context(jobs=1, cache=Cache(cache))
    try:
        return observe_sides(sides_of([str(path)], context.request), context)
    except MlsubError:
        return None


@pytest.mark.usefixtures("settled")
def test_no_review_of_what_could_not_be_looked_at_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "in"
    make_tree(base).add_copies("rack2")
    healthy = judged(base / "v1.0", tmp_path / "cache")
    assert healthy is not None
    for failed, _, second in each_refused(partial(judged, base / "v1.0"), base, errno.EIO, monkeypatch):
        assert second == healthy, failed
