"""What the logs and the system description say of one result, as far as claims ask."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.model import Result
from mlsub.commands.audit.places import RoundFolder, folder_of
from mlsub.commands.audit.unstretch import edit_factor, ending_of
from mlsub.convergence.entry import Options
from mlsub.io.errors import MlsubError
from mlsub.judge.pool import Progress
from mlsub.log.report import LogReport
from mlsub.rules.load import benchmark
from mlsub.submission.report import EntryResult, Report
from mlsub.systems.description import read_description
from mlsub.workspace import Checked, Settings, check_with_logs


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One result as its files have it.

    ``minutes`` are those of the runs in the order of their files, None for one that counts as slowest; ``mean`` is
    their olympic mean. ``edit`` is the factor that the logs were multiplied by, None where they were not; ``undone``
    the olympic mean of the times before that, up to the last event of each run.
    ``scaling`` is the factor of scaling.json, None without one, ``expected_scaling`` the one that the convergence test
    gives. ``rcp_factor`` takes the time to the mean of the reference convergence points, None where the result was not
    compared with any. ``division`` is that of the description, ``logged`` what the logs say.
    """

    result: Result
    place: str
    minutes: tuple[Fraction | None, ...]
    mean: Fraction | None
    edit: Fraction | None
    undone: Fraction | None
    rcp_verdict: str
    rcp_factor: Fraction | None
    scaling: Fraction | None
    expected_scaling: Fraction
    division: str | None
    logged: tuple[str, ...]
    converged: int
    description: dict[str, Any]
    logs: tuple[LogReport, ...]

    def score(self, basis: str) -> Fraction | None:
        """The time to train in minutes on a basis; None where there is none."""
        if basis == "published" and self.result.published is not None:
            return self.result.published
        if self.mean is None:
            return None
        if basis in ("published", "expected"):
            # Both scale the times as they stand in the logs, edited or not: so do the official tools.
            return self.mean * ((self.scaling or 1) if basis == "published" else self.expected_scaling)
        unscaled = self.undone if self.undone is not None else self.mean
        return unscaled * (self.rcp_factor or 1) if basis == "rcp_mean" else unscaled


class Missing(msgspec.Struct, frozen=True):
    """A result that is not among the results given, or is not what the file says it is."""

    result: Result
    reason: str


def gather(
    results: Sequence[Result], rounds: Sequence[RoundFolder], jobs: int | None = None, progress: Progress | None = None
) -> dict[str, Facts | Missing]:
    """What there is of each result, by its name; the logs of a round are read in one go."""
    found: dict[str, Facts | Missing] = {}
    folders: dict[str, Path] = {}
    for result in results:
        try:
            folders[result.name] = folder_of(result, rounds)
        except MlsubError as error:
            found[result.name] = Missing(result, str(error))
    by_round: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.name in folders:
            by_round.setdefault((result.usage, result.round), []).append(result)
    for (usage, name), wanted in by_round.items():
        settings = Settings(name, usage, jobs, progress, convergence=Options(train_samples=True))
        checked = check_with_logs(sorted({folders[one.name] for one in wanted}), settings)
        for one in wanted:
            found[one.name] = _facts(one, folders[one.name], checked)
    return found


def _facts(result: Result, folder: Path, checked: Sequence[Checked]) -> Facts | Missing:
    for part in checked:
        for entry in part.report.entries:
            if Path(part.report.root) / entry.path == folder:
                logs = tuple(log for log in part.logs if log.path.rpartition("/")[0] == entry.path)
                return _of_entry(result, folder, part.report, entry, logs)
    return Missing(result, f"no result log in {folder.parent.name}/{folder.name}")


def _of_entry(
    result: Result, folder: Path, report: Report, entry: EntryResult, logs: tuple[LogReport, ...]
) -> Facts | Missing:
    division = entry.division.lower() if entry.division else None
    if result.division is not None and division is not None and result.division != division:
        return Missing(result, f"the file says division {result.division}, the system description {division}")
    minutes = tuple(_minutes(log) if log.compliant else None for log in logs)
    edit, covered = _edit(logs)
    before = tuple(value if log.compliant else None for log, value in zip(logs, covered, strict=True)) if edit else None
    below = 3 if entry.scaling_type else 2
    file = folder.parents[below] / "systems" / f"{entry.system}.json"
    return Facts(
        result=result,
        place=entry.path,
        minutes=minutes,
        mean=_olympic_mean(result, entry, minutes),
        edit=edit,
        undone=_olympic_mean(result, entry, before) if before is not None else None,
        rcp_verdict=entry.rcp.verdict,
        rcp_factor=_rcp_factor(entry),
        scaling=exact(entry.score.scaling) if entry.score.scaling_file else None,
        expected_scaling=exact(entry.score.expected_scaling),
        division=division,
        logged=tuple(sorted({log.division for log in logs if log.division})),
        converged=entry.converged,
        description=read_description(file, file.name).content or {},
        logs=logs,
    )


def _minutes(log: LogReport) -> Fraction | None:
    duration = log.run.duration_ms
    return None if duration is None else Fraction(duration) / 60_000


def _olympic_mean(result: Result, entry: EntryResult, minutes: Sequence[Fraction | None]) -> Fraction | None:
    """The olympic mean as the official tool has it, but exact."""
    if entry.score.unscaled is None:
        return None
    if entry.scaling_type == "weak":
        return exact(entry.score.unscaled)
    try:
        dropped = benchmark(result.usage, result.round, entry.benchmark).forgiven
    except KeyError:
        return exact(entry.score.unscaled)
    known = sorted(value for value in minutes if value is not None)
    kept = known[dropped : len(minutes) - dropped]
    return sum(kept, Fraction(0)) / len(kept) if kept else None


def _edit(logs: Sequence[LogReport]) -> tuple[Fraction | None, list[Fraction]]:
    """The factor all logs were multiplied by, and the minutes of each run before; None, and nothing, for none."""
    endings = [ending for log in logs if (ending := ending_of(log.run)) is not None]
    factor = edit_factor(endings) if len(endings) == len(logs) else None
    if factor is None:
        return None, []
    return factor, [Fraction(ending.last - ending.start) / 60_000 for ending in endings]


def _rcp_factor(entry: EntryResult) -> Fraction | None:
    """The factor to the reference's mean; BERT counts by train_samples where its logs have them."""
    tested = [one for one in (entry.rcp, entry.rcp.also) if one is not None and one.mean and one.reference_mean]
    if not tested:
        return None
    mean, reference = tested[0].mean, tested[0].reference_mean
    assert mean is not None and reference is not None  # noqa: S101  (chosen so above)
    return max(Fraction(1), exact(reference) / exact(mean))


def exact(value: float) -> Fraction:
    """The fraction a double stands for: the simplest one within its precision, or else its own bits.

    A mean of whole numbers comes out as that mean and 14.1 as 141/10.

    Raises:
        ValueError: it is not finite.
    """
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    bits = Fraction(value)
    near = bits.limit_denominator(1_000_000)
    return near if float(near) == value else bits


def hyperparameters(facts: Facts, name: str) -> tuple[Any, ...]:
    """The distinct values of a logged hyperparameter over the runs, in the order of the runs."""
    distinct: dict[str, Any] = {}
    for log in facts.logs:
        if name in log.run.hyperparameters:
            value = log.run.hyperparameters[name]
            distinct.setdefault(repr(value)[:1000], value)
    return tuple(distinct.values())


def whole(description: Mapping[str, Any], field: str) -> int | None:
    """A count of a system description, be it written as text; None where there is none."""
    value = description.get(field)
    text = str(value).strip() if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
