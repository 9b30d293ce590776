"""The score and the energy of one entry, and what prevents either."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mlsub.convergence.entry import Convergence
from mlsub.findings import Effect, Finding, Severity
from mlsub.io.show import several, show
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding, has_effect, isolated
from mlsub.rules.load import EntryRequirements
from mlsub.score.scaled import (
    ScalingFile,
    audit_scaling,
    instance_scale,
    olympic_mean,
    read_scaling,
    score_of,
    weak_minutes,
)
from mlsub.submission.model import POWER, Entry
from mlsub.submission.report import EnergyResult, ScoreResult
from mlsub.systems.fields import MAX_COUNT

if TYPE_CHECKING:
    from mlsub.score.energy.score import Power

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
        score = score_of(minutes, 1.0, ScalingFile(), _scale(entry) if minutes is not None else None)
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


def _scale(entry: Entry) -> int | None:
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
