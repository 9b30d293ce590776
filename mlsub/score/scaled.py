"""The score of an entry: the olympic mean of its times, scaled where it converged faster than the reference."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.io.data import loads
from mlsub.io.look import open_regular
from mlsub.io.show import show
from mlsub.log.run import Run, Timeline
from mlsub.rules.catalogue import finding
from mlsub.submission.report import EntryResult, ScoreResult


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
    return sum(kept) / len(kept)


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
        published=_scale(unscaled, scaling),
        expected=_scale(unscaled, expected_scaling),
        scaling=scaling,
        expected_scaling=expected_scaling,
        scaling_file=file.factor is not None,
        instance_scale=instance_scale,
    )


def _scale(minutes: float | None, factor: float) -> float | None:
    return None if minutes is None or not math.isfinite(minutes * factor) else minutes * factor


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
