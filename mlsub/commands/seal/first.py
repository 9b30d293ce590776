"""What keeps a submission from being sealed although it could be: the check rejects it, or it is not filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlsub.findings import Finding, Verdict
from mlsub.rules.catalogue import finding
from mlsub.submission.locate import folders, is_organisation
from mlsub.submission.report import Report
from mlsub.submission.unfilled import unfilled_in
from mlsub.workspace import Settings, check_paths

#: Rules that are named of many.
_SHOWN = 5


def check_first(
    tree: Path, settings: Settings, *, rejected_too: bool, unfilled_too: bool
) -> tuple[Verdict, tuple[Finding, ...]]:
    """The official verdict on a tree, and why it is not sealed.

    Args:
        tree: an organisation's folder, or one of organisations.
        settings: how it is checked.
        rejected_too: seal it whatever the check says.
        unfilled_too: seal it although somebody has to fill something in.
    """
    reports = check_paths([tree], settings)
    worst = max((report.official for report in reports), key=list(Verdict).index)
    found = [] if rejected_too else list(_rejected(tree, reports))
    if not unfilled_too:
        found += _unfilled(tree)
    return worst, tuple(found)


def _rejected(tree: Path, reports: Sequence[Report]) -> Iterator[Finding]:
    for report in reports:
        wrong = [found for found in report.findings if found.rejects]
        if report.official is Verdict.NOT_CHECKED:
            why = wrong[0].message if wrong else None
            yield finding("seal.rejected", tree.name, "The package cannot be checked", expected="accepted", actual=why)
        elif report.official is Verdict.REJECTED:
            rules = Counter(found.rule for found in wrong).most_common()
            more = [f"and {len(rules) - _SHOWN} more rules"] if len(rules) > _SHOWN else []
            named = [f"{rule} ({count} times)" if count > 1 else rule for rule, count in rules[:_SHOWN]]
            yield finding("seal.rejected", tree.name, expected="accepted", actual=", ".join([*named, *more]))


def _unfilled(tree: Path) -> Iterator[Finding]:
    inside = [tree] if is_organisation(tree) else [child for child in folders(tree) if is_organisation(child)]
    for package in inside:
        for each in unfilled_in(package):
            path = (package / each.path).relative_to(tree.parent).as_posix()
            yield finding("seal.unfilled", path, actual=None if each.template else ", ".join(each.fields))
