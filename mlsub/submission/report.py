"""The report: what was checked, what came of it, and why. Its fields are those of the JSON document."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import starmap
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from mlsub.findings import Effect, Finding, Kind, Says, Severity, Verdict
from mlsub.rules.catalogue import demanded_key, has_effect
from mlsub.systems.fields import SystemFacts

#: How far the factor of a file may lie from the expected one, in relation to it, and be the same but for rounding.
SCALING_TOLERANCE = 1e-5
#: The same without a file: what the arithmetic of doubles leaves of a factor of 1.
_NO_SCALING = 1e-9


_HOW = [
    "exact", "interpolated", "smaller-batch", "missing", "insufficient-convergence", "no-batch-size", "no-point",
    "crash", "no-runs", "no-reference", "open-division", "unknown-division", "round-without-test", "unknown-benchmark",
    "benchmark-without-test", "round-of-your-own",
]  # fmt: skip
_RELATIVE = "^(?!/)"
_FIGURES = ("batch_size", "reference_mean", "minimum")
# What JSON Schema says of several fields together, or of a finding here alone; types cannot. Only official findings
# rule a division out.
_A_PASS_HAS_FIGURES: dict[str, Any] = {
    "if": {"properties": {"verdict": {"const": "pass"}}},
    "then": {
        "properties": {name: {"type": "number"} for name in _FIGURES},
        "anyOf": [{"properties": {"mean": {"type": "number"}}}, {"properties": {"logs_unit": {"type": "string"}}}],
    },
}
_OF_A_FINDING: dict[str, Any] = {
    "properties": {"path": {"pattern": _RELATIVE}},
    "if": {"properties": {"kind": {"enum": ["house", "review"]}}},
    "then": {"properties": {"blocks": {"const": "none"}}},
}
#: A verdict needs rules and at least one log: nothing checked is never a success.
A_VERDICT_HAS_LOGS: dict[str, Any] = {
    "if": {"properties": {"official": {"enum": ["accepted", "rejected"]}}},
    "then": {"properties": {"usage": {"type": "string"}, "round": {"type": "string"}, "logs": {"minItems": 1}}},
}
#: Relative to the report's root, with / between folders.
RelativePath = Annotated[str, Says(pattern=_RELATIVE)]
Count = Annotated[int, Says(minimum=0)]
Factor = Annotated[float, Says(exclusiveMinimum=0)]
#: The official checker of entries and descriptions always decides.
Decided = Annotated[Verdict, Says(enum=["accepted", "rejected"])]


class LogResult(msgspec.Struct, frozen=True, kw_only=True):
    """One log. ``minutes`` is run_stop minus run_start, unrounded; ``path`` is relative to the report's root.

    ``benchmark``, ``division`` and ``status`` (of run_stop) are as logged.
    """

    path: RelativePath
    organisation: str
    official: Annotated[str, Says(enum=["compliant", "noncompliant"])]
    benchmark: str | None
    division: str | None
    status: str | None
    minutes: float | None


class RcpResult(msgspec.Struct, frozen=True, kw_only=True):
    """The convergence test of one entry against the reference convergence points (RCP).

    ``verdict`` is ``pass``, ``fail``, ``missing`` (no reference covers the batch size), ``bypassed`` (failed or
    missing, but ``bypass`` names the file that asked to let it pass) or ``not-required``; all else is None for the
    last. Means, stdev, minimum and ``points`` are in ``unit``; ``counted`` is the metadata or key they are read from.
    ``points`` are the convergence points of the runs in the order of their files, None for a run that did not converge.
    Where the logs count something else than the reference, ``logs_unit`` says what: then ``points`` are in that, and
    there is no ``mean``, as it cannot be compared; the verdict is that of the official tool, which compares it.
    ``logs_benchmark`` is what logs name in place of the entry's benchmark, of which the verdict then says nothing.
    ``minimum`` is the least mean that is accepted; ``scaling`` the factor by which the result's time is normalised.
    ``also`` is BERT's answer by the other way of counting (``epoch_num`` or ``train_samples``). ``reference_points``
    says which points count: those merged when the results were ``published``, those at the ``deadline``, the
    ``newest``, or the caller's ``own``.
    """

    verdict: Annotated[str, Says(enum=["pass", "fail", "missing", "not-required", "bypassed"])]
    how: Annotated[str | None, Says("What it was compared with, or why there was no test.", enum=_HOW)] = None
    counted: Annotated[str | None, Says(enum=["epoch_num", "samples_count", "step_num", "train_samples", None])] = None
    unit: Annotated[str | None, Says(enum=["epochs", "samples", "steps", "tokens", None])] = None
    logs_unit: Annotated[
        str | None, Says("What the logs count, where that is not unit.", enum=["epochs", "samples", None])
    ] = None
    logs_benchmark: Annotated[str | None, Says("The benchmark that logs name, where that is not the entry's.")] = None
    batch_size: int | float | None = None
    mean: Annotated[float | None, Says("Olympic mean of the points; null where logs_unit is not.")] = None
    reference_mean: float | None = None
    reference_stdev: float | None = None
    reference_runs: Annotated[int | None, Says("0 where the reference is interpolated.", minimum=0)] = None
    minimum: float | None = None
    scaling: Annotated[float, Says(minimum=1)] = 1.0
    points: tuple[int | float | None, ...] = ()
    bypass: RelativePath | None = None
    also: RcpResult | None = None
    reference_points: Annotated[str | None, Says(enum=["published", "deadline", "newest", "own", None])] = None

    @property
    def otherwise(self) -> str | None:
        """The verdict by the other way of counting, where that is another."""
        return self.also.verdict if self.also is not None and self.also.verdict != self.verdict else None

    @property
    def incomparable(self) -> str | None:
        """Why the logs cannot be compared with the reference; None where they can."""
        if self.logs_unit is None:
            return None
        return f"not comparable: the logs count {self.logs_unit}, the reference {self.unit}"


class ScoreResult(msgspec.Struct, frozen=True, kw_only=True):
    """The score of one entry in minutes, unrounded, on three bases; each is None where there is no olympic mean.

    ``unscaled`` is the olympic mean of the logs. ``published`` is ``unscaled`` times ``scaling``, the factor of the
    entry's ``scaling.json`` and 1 without one: what the official summarizer prints and the results table of the round
    says. ``expected`` is ``unscaled`` times ``expected_scaling``, the factor of the convergence test: what the official
    package checker would write with the same reference points. ``scaling_file`` says whether the entry has a usable
    ``scaling.json``.

    Of HPC's weak scaling ``unscaled`` is the time to train all models, which are the compliant runs, and
    ``instance_scale`` the number of accelerators that train one of them (of nodes, where these have none).
    """

    unscaled: float | None
    published: float | None
    expected: float | None
    scaling: Factor
    expected_scaling: Factor
    scaling_file: bool
    instance_scale: Annotated[int | None, Says("Weak scaling only.")] = None

    @property
    def as_expected(self) -> bool:
        """Whether the published factor is the one that the convergence test gives, apart from rounding."""
        tolerance = SCALING_TOLERANCE if self.scaling_file else _NO_SCALING
        return abs(self.scaling - self.expected_scaling) <= tolerance * self.expected_scaling


class EnergyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The energy of one entry in joules, by the official formula: over the timed part, scaled like the time.

    ``runs`` are the energies of the runs in the order of their files, None where one cannot be computed.
    """

    unscaled: float | None
    scaled: float | None
    runs: tuple[float | None, ...]


class EntryName(msgspec.Struct, frozen=True, kw_only=True):
    """Which entry it is, by its path and by its folders."""

    path: str
    organisation: str
    system: str
    benchmark: str


class EntryResult(EntryName, frozen=True, kw_only=True):
    """One system and benchmark.

    ``runs`` counts result files; ``minutes`` is the published score, ``score.published``; ``energy`` is None where the
    entry has no power measurements.
    """

    path: RelativePath
    scaling_type: Annotated[str | None, Says("HPC only.", enum=["strong", "weak", None])]
    division: Annotated[str | None, Says("As the system description says.")]
    official: Decided
    runs: Count
    compliant: Count
    converged: Count
    minutes: float | None
    rcp: Annotated[RcpResult, Says(**_A_PASS_HAS_FIGURES)]
    score: ScoreResult
    energy: EnergyResult | None = None

    @property
    def description_path(self) -> str | None:
        """Where its system's description lies, relative to the report's root; None outside a tree."""
        parts = self.path.split("/")
        below = 4 if self.scaling_type else 3
        if len(parts) < below or parts[-below] != "results":
            return None
        return "/".join([*parts[:-below], "systems", f"{self.system}.json"])


class EmptyFolder(EntryName, frozen=True, kw_only=True):
    """A benchmark's folder without result logs: what its result is, or whether there is one, is not known."""

    path: RelativePath


class SystemResult(msgspec.Struct, frozen=True, kw_only=True):
    """One system description; ``facts`` is None where it cannot be read."""

    path: RelativePath
    organisation: str
    official: Decided
    facts: SystemFacts | None = None


class Hidden(msgspec.Struct, frozen=True):
    """How many findings a report leaves out, and by which option or setting."""

    by: Annotated[str, Says(enum=["select", "ignore", "only", "severity", "per-path-ignores"])]
    findings: Annotated[int, Says(minimum=1)]


#: Of thousands of paths the root is the same.
_relative = lru_cache(64)(os.path.relpath)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one check found.

    ``root`` is the folder that all paths are relative to. ``official`` is the verdict of the official checker in
    force for the round on the whole; review findings and filters never change it. ``without_logs`` are folders of
    results that may be missing here: the best of their benchmark may be among them.
    """

    usage: str | None
    round: Annotated[str | None, Says("Without v and patch number, such as 1.0.", pattern=r"^[0-9]+\.[0-9]+$")]
    root: Annotated[str, Says(minLength=1)]
    official: Verdict
    logs: tuple[LogResult, ...] = ()
    entries: tuple[EntryResult, ...] = ()
    systems: tuple[SystemResult, ...] = ()
    without_logs: tuple[EmptyFolder, ...] = ()
    findings: tuple[Annotated[Finding, Says(**_OF_A_FINDING)], ...] = ()
    judged_by: Annotated[
        str | None,
        Says(
            "Whose verdicts those on entries are: in a round without a package checker those of the checker of logs.",
            enum=["package-checker", "log-checker", None],
        ),
    ] = None
    round_from: Annotated[str | None, Says("The folder that the round was read off; null where it was given.")] = None
    hidden: Annotated[tuple[Hidden, ...], Says("Findings that somebody chose not to see.")] = ()
    rcp_file: Annotated[
        str | None, Says("The user's own reference points by which entries were tested; null where none was.")
    ] = None
    rules_file: Annotated[str | None, Says("The user's own rules in force besides; null without any.")] = None

    @property
    def own_files(self) -> str:
        """See :func:`describe_own_files`."""
        return describe_own_files(self.rcp_file, self.rules_file)

    def path_below(self, above: str, path: str = ".") -> str:
        """Return one of its paths relative to a folder above its root."""
        inside = _relative(self.root, above)
        return path if inside == "." else inside if path == "." else f"{inside}/{path}"

    def at(self, above: str) -> Report:
        """Return the report with paths relative to a folder above its root."""
        if self.root == above:
            return self
        moved = {
            name: [replace(one, path=self.path_below(above, one.path)) for one in getattr(self, name)]
            for name in ("logs", "entries", "systems", "without_logs", "findings")
        }
        for place, one in enumerate(self.entries):
            if one.rcp.bypass is not None:
                rcp = replace(one.rcp, bypass=self.path_below(above, one.rcp.bypass))
                moved["entries"][place] = replace(moved["entries"][place], rcp=rcp)
        return replace(self, root=above, **{name: tuple(of) for name, of in moved.items()})

    def exit_status(self, *, fail_on: Severity | None = None) -> int:
        """Return 0 for accepted, 1 for rejected or against the user's own rules, 2 for not checked.

        Review findings from ``fail_on`` on are 1, too. What a waiver or the baseline suppresses does not count, but
        never changes the official verdict.
        """
        if self.official is Verdict.NOT_CHECKED:
            return 2
        if self.official is Verdict.REJECTED:
            return 1
        return int(any(found.suppressed is None and found.counts(fail_on) for found in self.findings))

    def review_errors(self) -> tuple[Finding, ...]:
        """Return the review errors that nothing suppresses."""
        return tuple(
            found
            for found in self.findings
            if found.kind is Kind.REVIEW and found.severity is Severity.ERROR and found.suppressed is None
        )

    def rejecting(self) -> tuple[Finding, ...]:
        """Return the official errors but those of runs that are forgiven.

        They are where the entry is accepted all the same, and what a log breaks by itself is forgiven too where the
        entry has another reason to be rejected.
        """
        if self.official is Verdict.ACCEPTED:
            return ()
        accepted = {entry.path for entry in self.entries if entry.official is Verdict.ACCEPTED}
        forgiving = accepted | {finding.path for finding in self.findings if has_effect(finding, Effect.FORGIVES)}
        folders = {log.path: log.path.rpartition("/")[0] or "." for log in self.logs}

        def forgiven(finding: Finding) -> bool:
            folder = folders.get(finding.path)
            if demanded_key(finding.rule):
                return folder in forgiving
            return folder in accepted and not has_effect(finding, Effect.STRAY_LOGS)

        return tuple(finding for finding in self.findings if finding.rejects and not forgiven(finding))


def describe_own_files(rcp_file: str | None, rules_file: str | None) -> str:
    """Return what follows a verdict where files of the user's own count, such as ``by ...``; nothing without any."""
    points = f"reference points of {rcp_file}" if rcp_file else "the official rules"
    rules = f" and rules of {rules_file}" if rules_file else ""
    return f" by {points}{rules}" if rcp_file or rules_file else ""


#: The verdict alone; with tables and counts; with what rejects or was warned of; with all findings.
Detail = Literal["quiet", "summary", "usual", "full"]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which findings are shown, and how much; what is left out counts for nothing but the official verdict.

    ``select`` and ``ignore`` are rules or the start of some: ``key``, ``key.seed``, ``run.event-type``. ``only`` is the
    kind of findings, ``severity`` the least that is shown. ``fail_on`` is the least severity of review findings that
    count for the exit status.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    only: Kind | None = None
    severity: Severity = Severity.NOTE
    detail: Detail = "usual"
    fail_on: Severity | None = None

    def wants(self, finding: Finding) -> bool:
        """Return whether a finding is shown."""
        return self.hidden_by(finding) is None

    def hidden_by(self, finding: Finding) -> str | None:
        """Return the option that leaves a finding out; None where it is shown."""
        if self.select and not finding.rule.startswith(self.select):
            return "select"
        if self.ignore and finding.rule.startswith(self.ignore):
            return "ignore"
        if self.only is not None and finding.kind is not self.only:
            return "only"
        return "severity" if finding.severity.rank > self.severity.rank else None


def choose(report: Report, choice: Choice) -> Report:
    """Return the report with only the findings asked for; the verdict stays what it is."""
    return hide(report, choice.hidden_by)


def hide(report: Report, by: Callable[[Finding], str | None]) -> Report:
    """Return the report without the findings that something hides, and with their number by what does.

    Why nothing was checked is never left out.
    """
    unchecked = report.official is Verdict.NOT_CHECKED
    kept: list[Finding] = []
    hidden: dict[str, set[tuple[object, ...]]] = {}
    for found in report.findings:
        why = None if has_effect(found, Effect.UNCHECKED) or (unchecked and found.rejects) else by(found)
        if why is None:
            kept.append(found)
        else:
            hidden.setdefault(why, set()).add(found.defect)
    counts = Counter({one.by: one.findings for one in report.hidden})
    counts.update({by: len(defects) for by, defects in hidden.items()})
    return replace(report, findings=tuple(kept), hidden=tuple(starmap(Hidden, counts.items())))
