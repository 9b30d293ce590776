"""Reports that say why a file of the user's own, or a rule that a call names, keeps everything from being checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlsub.convergence.filecheck import check_reference_file
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.rules.catalogue import finding
from mlsub.rules.explain import suggestion
from mlsub.submission.report import Report
from mlsub.workspace import not_checked


def broken_points(file: Path) -> list[Report]:
    """A report that says why a file of reference points cannot be used; nothing where it can."""
    found = []
    for problem in check_reference_file(file):
        if problem.severity == "error":
            place = f"{problem.record}: " if problem.record else ""
            words = f"{place}{problem.message}"
            found.append(finding("check.broken-reference", file.name, words, fix=problem.fix))
    return _not_checked(found)


def broken_rules(error: MlsubError) -> list[Report]:
    """A report that says where a rule file is broken.

    Raises:
        MlsubError: it is another error.
    """
    if not isinstance(error, FileProblemsError):
        raise error
    return _not_checked([finding("check.broken-rules", one.path, one.message, line=one.line) for one in error.problems])


def unknown_rules(prefixes: Sequence[str]) -> list[Report]:
    """A report that names the rules to select or ignore that do not exist; nothing where all do."""
    hints = filter(None, map(suggestion, prefixes))
    return _not_checked([finding("check.unknown-rule", ".", f"There is {hint}") for hint in hints])


def _not_checked(problems: Sequence[Finding]) -> list[Report]:
    return [not_checked(".", problems)] if problems else []
