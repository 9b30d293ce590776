"""Whether the rules accept the hyperparameters of a file, before anything is trained with them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from mlsub.commands.rules.table import OfBenchmark, about
from mlsub.findings import Finding, Severity, Verdict
from mlsub.io.documents import read_pairs
from mlsub.judge.preflight import Given, preflight
from mlsub.present.ci import CiReport, Outcome, part
from mlsub.rounds import Round


class KeyCheck(OfBenchmark, frozen=True, kw_only=True):
    """What the rules have against the hyperparameters of a file.

    ``keys`` is how many the file has; ``still_to_log`` are the keys that the run has to log besides before its clock
    starts.
    """

    SCHEMA: ClassVar[int] = 1

    file: str
    keys: int
    findings: tuple[Finding, ...]
    still_to_log: tuple[str, ...]

    @property
    def errors(self) -> int:
        """The number of findings for which a run would be rejected."""
        return sum(one.severity is Severity.ERROR for one in self.findings)


def key_check(round_: Round, division: str, name: str, file: Path) -> KeyCheck:
    """Check a file of hyperparameters, YAML or JSON.

    Raises:
        FileProblemsError: the file cannot be read.
    """
    pairs = read_pairs(file, kind="files of hyperparameters", top="the keys of a log and their values")
    given = [Given(pair.key, pair.value, pair.line, pair.meant) for pair in pairs]
    found = preflight(round_, division, name, given, str(file))
    return KeyCheck(
        **about(round_, division, name),
        file=str(file),
        keys=len(given),
        findings=found.findings,
        still_to_log=found.still_to_log,
    )


def results_of(checked: KeyCheck) -> CiReport:
    """The same for CI: what a run would be rejected for counts."""

    def outcome(one: Finding) -> Outcome:
        return Outcome.COUNTS if one.severity is Severity.ERROR else Outcome.BESIDE

    name = f"{checked.file} ({checked.usage} v{checked.round} {checked.benchmark}, {checked.division})"
    verdict = Verdict.REJECTED if checked.errors else Verdict.ACCEPTED
    of_file = part(name, checked.findings, outcome, verdict=verdict, checked=[checked.file])
    return CiReport("rules keys", (of_file,))
