"""The score and the energy of an entry, from the times of its runs, and what prevents either."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.convergence.entry import Convergence
from mlsub.findings import Effect, Finding, Severity
from mlsub.io.data import loads
from mlsub.io.look import open_regular
from mlsub.io.show import several, show
from mlsub.log.run import Run, Timeline
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding, has_effect, isolated
from mlsub.rules.load import EntryRequirements
from mlsub.submission.model import POWER, Entry
from mlsub.submission.report import EnergyResult, EntryResult, ScoreResult
from mlsub.systems.fields import MAX_COUNT

if TYPE_CHECKING:
    from mlsub.score.energy.score import Power


def olympic_mean(minutes: Sequence[float | None], dropped: int) -> float | None:
    """The mean without the fastest and the slowest runs.

    Args:
        minutes: time to train of each run in minutes; None for a run that is noncompliant or has no run interval,
            which counts as slowest.
        dropped: how many runs fall out at each end: 1, for unet3d 4.

    Returns:
        The mean in minutes, unrounded; None where more runs count as slowest than may fall out, or where none
        are left. (MLPerf training rules, "Benchmark results": drop the fastest and the slowest time.)
    """
    ordered = sorted(math.inf if value is None else value for value in minutes)
    kept = ordered[dropped : len(ordered) - dropped]
    if not kept or math.isinf(kept[-1]):
        return None
    return add_in_order(kept) / len(kept)


def add_in_order(values: Iterable[float]) -> float:
    """The sum of floats as every Python makes it, to the last digit; ``sum`` rounds in another way from 3.12 on."""
    return reduce(operator.add, values, 0.0)


def weak_minutes(timelines: Sequence[Timeline], least: int) -> float | None:
    """The time to train all models, in minutes: from the first run_start to the last run_stop.

    Args:
        timelines: those of the compliant runs, times in ms.
        least: how many models there must be.

    Returns:
        None where there are fewer. (MLPerf HPC: time_to_train_all of the official result summarizer.)
    """
    starts = [timeline.run_start for timeline in timelines if timeline.run_start is not None]
    stops = [timeline.run_stop for timeline in timelines if timeline.run_stop is not None]
    if len(timelines) < least or not starts or not stops:
        return None
    return (max(stops) - min(starts)) / 60_000.0


def instance_scale(run: Run) -> int | None:
    """The accelerators that train one model, as its log states them; nodes where these have none.

    None where the log states no numbers. (MLPerf HPC: instance_scale of the official result summarizer.)

    Raises:
        TypeError: the summarizer ends in it, for a number is a list or an object.
        OverflowError: the summarizer ends in it, for a number is infinite.
    """
    nodes, per_node = run.scale
    if nodes is None or per_node is None:
        return None
    try:
        return int(nodes) * max(int(per_node), 1)
    except ValueError:
        return None


FILE = "scaling.json"
MAX_BYTES = 1 << 16
#: Published factors lie between 1 and 1.07.
MAX_FACTOR = 1000.0


class ScalingFile(msgspec.Struct, frozen=True):
    """The factor in a benchmark's folder, of the committee or of the package checker; None where none can be used."""

    factor: float | None = None
    findings: tuple[Finding, ...] = ()


def read_scaling(folder: Path, path: str) -> ScalingFile:
    """Read ``scaling.json`` of a benchmark's folder; bad input never raises.

    Args:
        folder: the benchmark's.
        path: what findings call it, relative to the report's root.
    """
    name = f"{path}/{FILE}" if path not in ("", ".") else FILE
    try:
        with open_regular(f"{folder}/{FILE}") as stream:  # Of every entry; most have none.
            content = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ScalingFile()
    except OSError as error:
        return ScalingFile(findings=(_unusable(name, str(error.strerror or error)),))
    if len(content) > MAX_BYTES:
        return ScalingFile(findings=(_unusable(name, f"more than {MAX_BYTES >> 10} KiB"),))
    try:
        # As text: of bytes json would guess the encoding, and read what the official summarizer cannot.
        stated: Any = loads(content.decode())
    except (ValueError, RecursionError):
        return ScalingFile(findings=(_unusable(name, "not JSON"),))
    factor = stated.get("scaling_factor") if isinstance(stated, dict) else None
    if isinstance(factor, (int, float)) and not isinstance(factor, bool) and 0 < factor <= MAX_FACTOR:
        return ScalingFile(float(factor))
    return ScalingFile(findings=(_unusable(name, show(content.decode("utf-8", "replace"))),))


def _unusable(name: str, why: str) -> Finding:
    return finding("score.scaling-file", name, actual=why)


def score_of(
    unscaled: float | None, expected_scaling: float, file: ScalingFile, instance_scale: int | None = None
) -> ScoreResult:
    """The score of an entry on its three bases.

    Args:
        unscaled: the olympic mean of the logs in minutes, None without one.
        expected_scaling: the factor that the convergence test gives, 1 for none.
        file: the entry's ``scaling.json``.
        instance_scale: that of weak scaling.
    """
    scaling = 1.0 if file.factor is None else file.factor
    return ScoreResult(
        unscaled=unscaled,
        published=scale(unscaled, scaling),
        expected=scale(unscaled, expected_scaling),
        scaling=scaling,
        expected_scaling=expected_scaling,
        scaling_file=file.factor is not None,
        instance_scale=instance_scale,
    )


def scale(value: float | None, factor: float = 1.0) -> float | None:
    """Return minutes or joules times a factor; None without any, and where that is not finite."""
    return None if value is None or not math.isfinite(value * factor) else value * factor


def missing_scaling(entries: Iterable[EntryResult]) -> Iterator[tuple[str, float]]:
    """Yield the place of each ``scaling.json`` that an entry lacks, and the expected factor."""
    for entry in entries:
        if not entry.score.scaling_file and not entry.score.as_expected:
            yield f"{entry.path}/{FILE}", entry.score.expected_scaling


def render_scaling(factor: float) -> bytes:
    """Return the content of a ``scaling.json``, as the official package checker writes it."""
    return json.dumps({"scaling_factor": factor}).encode()


def audit_scaling(path: str, score: ScoreResult, severity: Severity | None = None) -> Iterator[Finding]:
    """Whether the factor in ``scaling.json`` is the expected one."""
    if score.scaling_file and not score.as_expected:
        yield finding(
            "score.scaling-differs",
            path,
            expected=f"{score.expected_scaling:.6f}",
            actual=f"{score.scaling:.6f} in {FILE}",
            severity=severity,
        )


#: Scales of runs that a finding shows.
_MOST_SCALES = 5


def judge_score(
    entry: Entry, needs: EntryRequirements, round_: Round, convergence: Convergence
) -> tuple[ScoreResult, tuple[Finding, ...]]:
    """The score, and what prevents one.

    The official summarizer does not scale the time of weak scaling, whatever ``scaling.json`` says.
    """
    minutes, untimed = isolated("the score", entry.path, lambda: _minutes(entry, needs, round_), None)
    file, unread = isolated(
        "score.scaling-file", entry.path, lambda: read_scaling(entry.folder, entry.path), ScalingFile()
    )
    if entry.scaling_type == "weak":
        score = score_of(minutes, 1.0, ScalingFile(), _scale_of(entry) if minutes is not None else None)
    else:
        score = score_of(minutes, convergence.result.scaling, file)
    return score, (*file.findings, *untimed, *unread)


def audit_factor(
    entry: Entry, score: ScoreResult, convergence: Convergence
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """How the factor of a score differs from the expected one, and what prevents to say so."""
    # Where the test is bypassed, the committee may have set the factor; the points of another day may have given it.
    explained = any(has_effect(found, Effect.EXPLAINS_FACTOR) for found in convergence.findings)
    severity = Severity.NOTE if explained or convergence.result.verdict == "bypassed" else None
    path = entry.path
    return isolated("score.scaling-differs", path, lambda: tuple(audit_scaling(path, score, severity)), ())


def _instance_scales(entry: Entry) -> dict[int | str, list[str]]:
    """The instance scales of the models that count in weak scaling, each with the names of its logs.

    A text is the error that the official result summarizer ends in.
    """
    scales: dict[int | str, list[str]] = {}
    for log in entry.logs:
        if log.compliant:
            try:
                scale: int | str | None = instance_scale(log.run)
            except (TypeError, OverflowError) as error:
                scale = str(error)
            if scale is not None:
                scales.setdefault(scale, []).append(log.name)
    return scales


def _scale_of(entry: Entry) -> int | None:
    """The instance scale of all models, None where they have none or several, or one that no system has."""
    scales = list(_instance_scales(entry))
    first = scales[0] if len(scales) == 1 else None
    return first if isinstance(first, int) and abs(first) <= MAX_COUNT else None


def audit_scales(entry: Entry) -> Iterator[Finding]:
    """The official result summarizer ends where the models of weak scaling are not of one size."""
    scales = _instance_scales(entry) if entry.scaling_type == "weak" else {}
    unread = {scale: names for scale, names in scales.items() if isinstance(scale, str)}
    if unread:
        what, expected = "a scale that is no number", "number_of_nodes and accelerators_per_node as whole numbers"
        fix = "Log both as whole numbers in every run."
    else:
        what, expected = "runs of different scale", "the same number_of_nodes times accelerators_per_node in every run"
        fix = "Submit runs of one scale together; those of another one are an entry of another system."
    if unread or len(scales) > 1:
        shown = [f"{show(scale)} ({several(names, 3)})" for scale, names in (unread or scales).items()]
        yield finding(
            "official.crash",
            entry.path,
            f"The official result summarizer ends with a traceback on {what}",
            expected=expected,
            actual="; ".join(shown[:_MOST_SCALES]),
            fix=fix,
            source="official result_summarizer",
        )


def energy_of(
    entry: Entry, needs: EntryRequirements, power: Power | None, score: ScoreResult
) -> tuple[EnergyResult | None, tuple[Finding, ...]]:
    """The energy, and what prevents it."""
    if power is None:
        return None, ()
    from mlsub.score.energy.score import energy_result, weak_energy

    counted = [log.minutes if log.compliant else None for log in entry.logs]
    if entry.scaling_type == "weak":
        scaled = frozenset(name for names in _instance_scales(entry).values() for name in names)
        measured = [joules for log, joules in zip(entry.logs, power.joules, strict=True) if log.name in scaled]
        return isolated("the energy", entry.path, lambda: weak_energy(power, measured), None)
    return isolated(
        "the energy", entry.path, lambda: energy_result(power, counted, needs.forgiven, score.scaling), None
    )


def _minutes(entry: Entry, needs: EntryRequirements, round_: Round) -> float | None:
    """The time to train before any scaling, in minutes: of HPC's weak scaling that of all models together."""
    if entry.scaling_type == "weak":
        return weak_minutes([log.run.timeline for log in entry.logs if log.compliant], needs.runs)
    return olympic_mean([log.minutes if log.counts_in(round_) else None for log in entry.logs], needs.forgiven)


def power_of(entry: Entry, round_: Round) -> tuple[Power | None, tuple[Finding, ...]]:
    """The power measurements, which no official tool looks at before the round that checks them."""
    if POWER not in entry.strays:
        return None, ()
    from mlsub.score.energy.judge import judge_power

    if round_.power_checked:
        return judge_power(entry, round_), ()
    return isolated("power", entry.path, lambda: judge_power(entry, round_), None)
