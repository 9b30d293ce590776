"""From where on the detectors speak; the numbers and where they come from are in thresholds.yaml."""

from __future__ import annotations

import msgspec

from mlsub.io.data import shipped


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The numbers of thresholds.yaml: milliseconds, shares of a run, factors, counts."""

    stretch_runs: int
    stretch_factor: float
    stretch_gap_ms: float
    stretch_slack_ms: float
    overlap_ms: float
    told_ms: float
    jump_ms: float
    jump_share: float
    gap_runs: int
    gap_times: float
    gap_share: float
    gap_ms: float
    pause_share: float
    pause_ms: float
    copy_evaluations: int
    copy_digits: int
    copy_marks: int
    copy_pairs: int
    seeds_shared: int
    seeds_part: float
    spread_chance: float
    spread_runs: int
    spread_values: int
    spread_batch: float
    throughput_least: float
    throughput_other_unit: float
    interval_times: float
    interval_share: float
    interval_runs: int
    pace_times: float
    pace_deviations: float
    init_times: float
    init_ms: float


def thresholds() -> Thresholds:
    """The numbers that ship with mlsub."""
    return shipped(__file__, "thresholds.yaml", Thresholds)
