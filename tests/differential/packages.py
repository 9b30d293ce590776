"""Whole packages, accepted as they stand, and both sides' verdict on them."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import mlsub
from mlsub.findings import Verdict
from mlsub.rounds import Round, get_round
from mlsub.submission.report import Report
from tests.differential.generate import Combination, usage_and_round
from tests.differential.log import Line, Log, altered, content, generated, places_of, record_line
from tests.differential.oracle import prepared
from tests.make_tree import make_description

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.package_checker import package_checker

#: Benchmarks of few runs, with a batch size that has a reference point and the metadata that counts; None in Open.
CLOSED: dict[tuple[str, str], tuple[int, str]] = {
    ("3.1", "gpt3"): (1536, "epoch_num"),
    ("4.0", "gpt3"): (1536, "epoch_num"),
    ("4.1", "gpt3"): (1536, "epoch_num"),
    ("5.0", "llama31_405b"): (1152, "samples_count"),
    ("5.1", "llama31_405b"): (1152, "samples_count"),
    ("5.1", "retinanet"): (512, "epoch_num"),
    ("6.0", "llama31_405b"): (1152, "samples_count"),
}
OPEN = (
    *(("2.0", "ssd"), ("2.1", "resnet"), ("3.0", "resnet"), ("4.1", "ssd"), ("5.0", "retinanet")),
    *(("5.1", "retinanet"), ("6.0", "llama31_405b"), ("6.1", "deepseekv3_671b"), ("hpc-3.0", "oc20")),
)
COMBINATIONS = (
    *(Combination(round_, benchmark, "closed", None) for round_, benchmark in CLOSED),
    *(Combination(round_, benchmark, "open", None) for round_, benchmark in OPEN),
)
RUNS = {"gpt3": 3, "oc20": 5, "llama31_405b": 3, "deepseekv3_671b": 3, "retinanet": 5, "ssd": 5, "resnet": 5}
#: So far that no reference is slower.
_SLOW = 10**9
ORGANISATION, SYSTEM = "ACME", "rack1"


class Answer(NamedTuple):
    """What the official package checker says: whether it accepts, and the exception that it ends in, if any."""

    accepted: bool
    crash: str | None = None


class Package(NamedTuple):
    """An organisation's folder with one system and one benchmark."""

    folder: Path
    combination: Combination

    @property
    def system(self) -> Path:
        return self.folder / "results" / SYSTEM

    @property
    def entry(self) -> Path:
        usage, _ = usage_and_round(self.combination.round)
        below = self.system / "strong" if usage == "hpc" else self.system
        return below / self.combination.benchmark

    @property
    def logs(self) -> list[Path]:
        return sorted(self.entry.glob("result_*.txt"))

    def description(self, system: str = SYSTEM) -> Path:
        return self.folder / "systems" / f"{system}.json"


def build(above: Path, combination: Combination, organisation: str = ORGANISATION) -> Package:
    """Write a package that both sides accept."""
    package = Package(above / f"v{combination.round}" / organisation, combination)
    package.entry.mkdir(parents=True)
    package.description().parent.mkdir()
    package.description().write_text(describe(combination))
    for run in range(RUNS[combination.benchmark]):
        (package.entry / f"result_{run}.txt").write_bytes(content(log_of(combination, run)))
    return package


def describe(combination: Combination) -> str:
    """A system description as the round wants it."""
    return json.dumps(make_description(combination.division, ORGANISATION, status="Available on-premise"), indent=2)


def log_of(combination: Combination, run: int, *, slow: bool = True) -> Log:
    """A compliant log with a seed of its own; in Closed at a batch size with a reference, and slow to converge."""
    log = generated(combination)
    like = log[0].record or {}
    seed = {**like, "key": "seed", "value": 1000 + run, "metadata": {"file": "train.py", "lineno": 3}}
    log.insert(1, record_line(seed))
    asked = CLOSED.get((combination.round, combination.benchmark)) if combination.division == "closed" else None
    if asked is not None:
        size, count = asked
        factor = _SLOW if slow else 1
        for place in places_of(log, "global_batch_size"):
            log = altered(log, place, value=size)
        for place in places_of(log, "eval_accuracy"):
            metadata = (log[place].record or {})["metadata"]
            log = altered(log, place, metadata={**metadata, count: metadata[count] * factor})
    return [_later(line, run) for line in log]


def _later(line: Line, run: int) -> Line:
    """A record at a time of the run's own, so that no run is a copy of another."""
    if line.record is None:
        return line
    return record_line({**line.record, "time_ms": line.record["time_ms"] + 10_000_000 * run}, old=line.old)


def official(package: Package) -> Answer:
    """The verdict of the installed package checker; it writes scaling.json into the package, as it does for anybody."""
    usage, name = usage_and_round(package.combination.round)
    folder, ruleset = str(package.folder), f"{name}.0"
    flags = {"rcp_bypass": False, "rcp_bert_train_samples": False, "seed_checker_bypass": False}
    with prepared(package.combination.round), _of_the_day(get_round(usage, name)), _quiet():
        try:
            systems = package_checker.check_systems(folder, usage, ruleset)
            results = package_checker.check_training_result_files(folder, usage, ruleset, True, False, **flags)
        except Exception as error:
            return Answer(False, f"{type(error).__name__}: {str(error)[:200]}")
    return Answer(bool(systems and results))


@contextmanager
def _of_the_day(round_: Round) -> Iterator[None]:
    """Without what the checker of the round's day did not do yet: read flags from v4.0 on, power from v5.0 on."""
    replaced: list[tuple[Any, str, Any]] = []
    if round_.checker_params != "folders":
        there = os.path.exists
        path = SimpleNamespace(
            **{**vars(os.path), "exists": lambda file: not str(file).endswith("package_checker_params") and there(file)}
        )
        replaced.append((package_checker, "os", SimpleNamespace(**{**vars(os), "path": path})))
    if not round_.power_checked:
        replaced.append((package_checker.PowerChecker, "check_power", lambda *_: (True, set())))
    with ExitStack() as names:
        for holder, name, value in replaced:
            names.enter_context(patch.object(holder, name, value))
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def ours(package: Package) -> Report:
    """What mlsub says."""
    usage, name = usage_and_round(package.combination.round)
    return mlsub.check(package.folder, round=name, usage=usage, jobs=1)


def rejecting(report: Report) -> set[str]:
    """The rules that a report rejects a package by."""
    return {finding.rule for finding in report.findings if finding.rejects}


def accepted(report: Report) -> bool:
    """Whether a report accepts."""
    return report.official is Verdict.ACCEPTED
