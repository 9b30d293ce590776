"""The score of an entry: the olympic mean of its times, scaled where it converged faster than the reference."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mlsub.findings import Finding
from mlsub.report.model import ScoreResult
from mlsub.rules.catalogue import finding
from mlsub.show import show

FILE = "scaling.json"
MAX_BYTES = 1 << 16
#: Published factors lie between 1 and 1.07.
MAX_FACTOR = 1000.0
#: How far a published factor may lie from the computed one, in relation to it, before a reader is told.
TOLERANCE = 1e-5


class ScalingFile(msgspec.Struct, frozen=True):
    """The committee's factor in a benchmark's folder; ``factor`` is None where there is none that can be used."""

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
        if (folder / FILE).exists() and not (folder / FILE).is_file():
            return ScalingFile(findings=(_unusable(name, "not a regular file"),))
        with (folder / FILE).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ScalingFile()
    except OSError as error:
        return ScalingFile(findings=(_unusable(name, str(error.strerror or error)),))
    if len(content) > MAX_BYTES:
        return ScalingFile(findings=(_unusable(name, f"more than {MAX_BYTES >> 10} KiB"),))
    try:
        factor = _factor(json.loads(content))
    except (ValueError, RecursionError):
        return ScalingFile(findings=(_unusable(name, "not JSON"),))
    if factor is None:
        return ScalingFile(findings=(_unusable(name, show(content.decode("utf-8", "replace"))),))
    return ScalingFile(factor)


def _factor(content: Any) -> float | None:
    value = content.get("scaling_factor") if isinstance(content, dict) else None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 < value <= MAX_FACTOR else None


def _unusable(name: str, why: str) -> Finding:
    return finding(
        "score.scaling-file",
        name,
        "The scaling factor cannot be used",
        expected='{"scaling_factor": 1.0123}',
        actual=why,
    )


def score_of(minutes: float | None, computed: float, file: ScalingFile) -> ScoreResult:
    """The score of an entry.

    Args:
        minutes: the olympic mean, None without one.
        computed: the factor the convergence test comes to, 1 for none.
        file: what the tree holds; it is the committee's word, and wins.
    """
    scaling, basis = (file.factor, "scaling.json") if file.factor is not None else (computed, "rcp")
    if file.factor is None and computed == 1:
        basis = "none"
    scaled = None if minutes is None else minutes * scaling
    return ScoreResult(
        unscaled=minutes,
        scaling=scaling,
        scaled=scaled if scaled is not None and math.isfinite(scaled) else None,
        basis=basis,
    )


def audit_scaling(path: str, computed: float, file: ScalingFile) -> Iterator[Finding]:
    """Whether the published factor is the computed one."""
    if file.factor is not None and abs(file.factor - computed) > TOLERANCE * computed:
        yield finding(
            "score.scaling-differs",
            path,
            "The published scaling factor is not the one the reference points come to",
            expected=f"{computed:.6f}",
            actual=f"{file.factor:.6f} in {FILE}",
        )
