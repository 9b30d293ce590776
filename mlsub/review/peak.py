"""Audit of times that no hardware reaches: the least arithmetic of a benchmark over the peak of its accelerators."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.divisions import CLOSED, division_of
from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.io.show import several
from mlsub.log.reader import SCALE
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry
from mlsub.submission.report import RcpResult
from mlsub.systems.fields import count
from mlsub.systems.names import Peak, chip_of, peak_of


class LeastWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The least arithmetic of a benchmark for one of a unit; see operations.yaml."""

    unit: str
    each: int
    multiply_adds: float
    passes: int
    source: str

    @property
    def operations(self) -> float:
        """Operations for one of the unit."""
        return 2 * self.multiply_adds * self.passes * self.each


def audit_peak(entry: Entry, benchmark: str, rcp: RcpResult) -> Iterator[Finding]:
    """Yield a Closed entry with runs that took less time than its accelerators need at their peak.

    Args:
        entry: with its logs and its description.
        benchmark: as the rules call it.
        rcp: its convergence test, which reads how far each run had come.
    """
    work = shipped(__file__, "operations.yaml", dict[str, LeastWork]).get(benchmark)
    counted = work is not None and (work.unit, None, None) == (rcp.unit, rcp.logs_unit, rcp.logs_benchmark)
    number, peak, name = _accelerators_of(entry)
    if work is None or not counted or not number or peak is None or division_of(entry.division) != CLOSED:
        return
    least = work.operations / (number * peak.teraflops * 1e12) / 60
    pairs = zip(entry.logs, rcp.points, strict=False)
    odd = [(log, point) for log, point in pairs if point and log.minutes and 0 < log.minutes < point * least]
    if odd:
        log, point = odd[0]
        yield finding(
            "entry.faster-than-peak",
            log.path,
            line=log.run.lines.get("run_stop"),
            expected=f"{point * least:.3g} minutes or more: {point * work.operations:.2g} operations for {point:,g} "
            f"{work.unit} at {peak.teraflops:,g} teraflops ({peak.precision}) of each of {number} {name}",
            actual=several([f"{log.minutes:.3g} minutes in {log.name}" for log, _ in odd], 5),
            source=f"{work.source}; {peak.source}",
        )


def _accelerators_of(entry: Entry) -> tuple[int, Peak | None, str]:
    """Return how many accelerators the description states, their peak and their name; None for an unknown peak."""
    content = (entry.description.content if entry.description else None) or {}
    nodes, each = (count(content.get(name)) or 0 for name in SCALE)
    model, system = (content.get(name) for name in ("accelerator_model_name", "system_name"))
    chip = chip_of(model, system if isinstance(system, str) else "", entry.system) if isinstance(model, str) else None
    return nodes * each, peak_of(chip) if chip is not None else None, chip.name if chip is not None else ""
