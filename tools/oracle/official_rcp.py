"""The installed convergence (RCP) checker as a live oracle for every round.

The installed release computes as the checkers of v4.1 and later did. What those before did otherwise is changed in it
here, stated apart from mlsub's own data (mlsub/convergence/algorithms.yaml), from the sources of each round.
"""

from __future__ import annotations

import glob
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from functools import lru_cache, partial
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements as needs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.rcp_checker import rcp_checker


class Day(NamedTuple):
    """What the checker of a round did otherwise than the installed one.

    ``trimmed``: the stdev of the reference was that of its runs without the fastest and slowest. ``pruned_by`` is the
    figure by which points were pruned, None where all stayed. ``scaled``: a result faster than the reference's mean
    was scaled. ``by_folder``: the folder named the benchmark, the log read last its batch size, and a run without
    run_stop was left out. ``passed_over`` are evaluations that did not count beside those of the other name.
    """

    trimmed: bool
    pruned_by: str | None
    scaled: bool
    by_folder: bool
    passed_over: str | None = None


_FIRST = Day(trimmed=True, pruned_by=None, scaled=False, by_folder=True, passed_over="eval_accuracy")
_SCALED = Day(trimmed=True, pruned_by="Min Epochs", scaled=True, by_folder=True, passed_over="eval_accuracy")
_BY_LOG = Day(trimmed=True, pruned_by="Min Epochs", scaled=True, by_folder=False)
#: By usage and round; the others are those of the installed release.
DAYS: dict[tuple[str, str], Day] = {
    ("training", "1.0"): _FIRST._replace(passed_over="eval_error"),
    ("training", "1.1"): _FIRST,
    ("training", "2.0"): _SCALED._replace(scaled=False),
    ("training", "2.1"): _SCALED,
    ("training", "3.0"): _BY_LOG,
    ("training", "3.1"): _BY_LOG,
    ("training", "4.0"): Day(trimmed=True, pruned_by="RCP Mean", scaled=True, by_folder=False),
    ("hpc", "1.0"): _FIRST,
    ("hpc", "2.0"): _SCALED,
    ("hpc", "3.0"): _BY_LOG,
}
LATEST = Day(trimmed=False, pruned_by="RCP Mean", scaled=True, by_folder=False)
#: Runs of benchmarks that the installed release no longer knows the number of, and that the rounds had.
_GONE = {"dlrm": 5}


#: What the official messages are called here.
HOW = {
    "RCP found": "exact",
    "RCP Interpolation": "interpolated",
    "RCP not found but slower": "smaller-batch",
    "Missing RCP": "missing",
    "Cannot find any RCPs": "missing",
    "Insufficient convergence": "insufficient-convergence",
    "Could not detect": "no-batch-size",
}


class Said(NamedTuple):
    """What the checker says of an entry; ``crash`` is the exception it ends in, which is a rejection."""

    passed: bool
    message: str = ""
    scaling: float = 1.0
    crash: str | None = None


class _OfDay(rcp_checker.RCP_Checker):
    """The checker of a day; see :class:`Day`."""

    day = LATEST

    def compute_rcp_stats(self) -> None:
        if not self.day.trimmed:
            super().compute_rcp_stats()
            return
        for record in self.rcp_data.values():
            points = sorted(record["Epochs to converge"])
            cut = 4 if record["Benchmark"] == "unet3d" else 1
            kept = points[cut : len(points) - cut]
            record["RCP Mean"], record["RCP Stdev"] = np.mean(kept), np.std(kept)
            least = self._find_min_acceptable_mean(record["RCP Mean"], record["RCP Stdev"], len(kept))
            record["Max Speedup"], record["Min Epochs"] = record["RCP Mean"] / least, least
        self._prune_rcps()

    def _prune_rcps(self) -> None:
        by = self.day.pruned_by
        if by == "RCP Mean":
            super()._prune_rcps()
            return
        kept = list(self.rcp_data.values())
        if by is not None:
            fastest = min(kept, key=lambda record: record[by])
            kept = [record for record in kept if record["BS"] >= fastest["BS"]]
            place = 1
            while place < len(kept) - 1:
                low, record, high = kept[place - 1 : place + 2]
                if record[by] > self._create_interp_rcp(record["BS"], low, high)[1][by]:
                    del kept[place]
                else:
                    place += 1
        sizes = {record["BS"] for record in kept}
        self.pruned_rcp_data = {name: record for name, record in self.rcp_data.items() if record["BS"] in sizes}

    def _find_norm_factor(self, rcp_record: dict[str, Any], mean_subm_epochs: float) -> float:
        return float(super()._find_norm_factor(rcp_record, mean_subm_epochs)) if self.day.scaled else 1.0

    def _reset_results_scaling(self, results_dir: str) -> None:
        if self.day.scaled:
            super()._reset_results_scaling(results_dir)

    def _set_results_scaling(self, scale_factor: float, results_dir: str) -> None:
        if self.day.scaled:
            super()._set_results_scaling(scale_factor, results_dir)


@lru_cache(maxsize=16)
def _class_of(day: Day) -> type[_OfDay]:
    return type("_OfOneDay", (_OfDay,), {"day": day})


@lru_cache(maxsize=256)
def _kept_checker(day: Day, *asked: Any) -> _OfDay:
    """The statistics of a reference take far longer than a test of runs, and are the same each time."""
    return _class_of(day)(*asked)


def _early_submission(
    passed_over: str | None, files: Sequence[str], ruleset: str, samples: bool
) -> tuple[Any, list[float] | None, str | None]:
    """To v2.1: the batch size of the log read last, the points of those that stop, and the name of the folder."""
    size: Any = -1
    folder = Path(files[0]).parent.name if files else None
    points, failed = [], 0
    for file in files:
        text = Path(file).read_text(encoding="latin-1")
        if passed_over and "eval_accuracy" in text and "eval_error" in text:
            text = "".join(line for line in text.splitlines(keepends=True) if passed_over not in line)
        with patch.object(rcp_checker, "open", lambda *_, text=text, **__: StringIO(text), create=True):
            unstopped, point, stated, _ = rcp_checker.read_submission_file(file, ruleset, samples)
        size = stated if '"global_batch_size"' in text else size
        if '"run_stop"' in text:
            points.append(point)
            failed += unstopped
    most = 4 if folder == "unet3d" else 1
    return size, None if failed > most else points, folder


@contextmanager
def rcp_of_the_day(usage: str, round_name: str) -> Iterator[None]:
    """The installed module, computing as that of a round did; logs are read in the order of their names."""
    day = DAYS.get((usage, round_name), LATEST)
    listed = SimpleNamespace(glob=lambda *args, **more: sorted(glob.glob(*args, **more)))  # noqa: PTH207
    replaced: list[tuple[str, Any]] = [
        ("glob", listed),
        ("RCP_Checker", lambda *asked: _kept_checker(day, *asked) if asked[-1] is None else _class_of(day)(*asked)),
    ]
    if day.by_folder:
        replaced.append(("get_submission_epochs", partial(_early_submission, day.passed_over)))
    with ExitStack() as names:
        names.enter_context(patch.dict(rcp_checker.submission_runs["training"], _GONE))
        for name, value in replaced:
            names.enter_context(patch.object(rcp_checker, name, value))
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Let the official tools print, log and warn of nothing."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def official_test(
    folder: Path,
    usage: str,
    round_name: str,
    *,
    bypass: bool = False,
    samples: bool = False,
    set_scaling: bool = False,
    reference: Path | None = None,
    today: bool = False,
) -> Said:
    """The verdict of the round's checker on a folder of logs, named like the benchmark; ``today`` is the installed one.

    ``bypass`` passes over a test that fails, ``samples`` counts BERT by ``train_samples``, ``set_scaling`` writes
    ``scaling.json`` as the package checker does, ``reference`` is other reference data than the round's.
    """
    day = nullcontext() if today else rcp_of_the_day(usage, round_name)
    with day, ExitStack() as files, quiet():
        own = files.enter_context(reference.open()) if reference is not None else None
        ruleset = get_round(usage, round_name).ruleset
        try:
            passed, message, scaling = rcp_checker.check_directory(
                str(folder), usage, ruleset, False, samples, own, "pruned_rcps", bypass, set_scaling
            )
        except Exception as error:
            return Said(False, crash=f"{type(error).__name__}: {str(error)[:200]}")
    return Said(bool(passed), message, float(scaling))


def runs_agree(usage: str, round_name: str, name: str) -> bool:
    """Whether the installed checker asks for as many runs as the rules of a round do."""
    asked = {**rcp_checker.submission_runs[usage], **_GONE}.get(name)
    return asked == needs(usage, round_name, name).runs
