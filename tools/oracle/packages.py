"""Whole packages, accepted as they stand, and both sides' verdict on them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml

from mlsub.convergence import unit_of
from mlsub.findings import Verdict
from mlsub.rounds import Round, get_round
from mlsub.rules.load import entry_requirements as needs
from mlsub.submission.report import Report
from mlsub.workspace import check_paths
from mlsub.workspace.places import Context, Request
from tools.oracle.generate import Combination, combinations, usage_and_round
from tools.oracle.log import Log, generated
from tools.oracle.official_rcp import quiet, rcp_of_the_day
from tools.oracle.oracle import prepared
from tools.oracle.script import FLAGS, asked_by_script
from tools.oracle.shared import INSTALLED_POINTS
from tools.support.make_tree import make_description

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.package_checker import package_checker

#: Batch sizes with a reference point, by round and benchmark of Closed.
CLOSED: dict[str, dict[str, int]] = yaml.safe_load(Path(__file__).with_name("closed_packages.yaml").read_text())
#: The first round whose packages were checked, and the most runs of a benchmark.
_UNCHECKED, _MOST_RUNS = ("0.6", "0.7"), 10
#: Of the rounds that skipped a benchmark's folder without results.
_BENCHMARKS = frozenset(get_round("training", "1.0").benchmarks)
#: So far that no reference is slower.
_SLOW = 10**9
ORGANISATION, SYSTEM = "ACME", "rack1"
#: How an evaluation says how far the training has come.
_COUNTERS = ("epoch_num", "samples_count", "step_num")


@cache
def package_combinations() -> tuple[Combination, ...]:
    """What a package can be of: benchmarks of few runs, in Closed those with a batch size that has a reference."""
    return tuple(
        c
        for c in combinations()
        if c.round not in _UNCHECKED and runs_of(c) <= _MOST_RUNS
        if c.division == "open" or c.benchmark in CLOSED.get(c.round, {})
    )


def runs_of(combination: Combination) -> int:
    """How many runs an entry has."""
    return needs(*usage_and_round(combination.round), combination.benchmark).runs


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

    def describe(self, **fields: Any) -> None:
        """Write the description anew, with other fields; None takes one away."""
        content = {**json.loads(self.description().read_text()), **fields}
        self.description().write_text(json.dumps({name: x for name, x in content.items() if x is not None}))


def build(above: Path, combination: Combination, organisation: str = ORGANISATION) -> Package:
    """Write a package that both sides accept."""
    entry = empty_entry(above, combination, organisation)
    for run in range(runs_of(combination)):
        (entry / f"result_{run}.txt").write_bytes(log_of(combination, run).content())
    return Package(above / f"v{combination.round}" / organisation, combination)


def empty_entry(above: Path, combination: Combination, organisation: str = ORGANISATION, *, weak: bool = False) -> Path:
    """Write a package without logs; gives the folder of its benchmark."""
    package = Package(above / f"v{combination.round}" / organisation, combination)
    entry = package.system / "weak" / combination.benchmark if weak else package.entry
    entry.mkdir(parents=True)
    package.description().parent.mkdir()
    package.description().write_text(describe(combination))
    return entry


def describe(combination: Combination) -> str:
    """A system description as the round wants it."""
    return json.dumps(make_description(combination.division, ORGANISATION, status="Available on-premise"), indent=2)


#: The records of each combination, which are made once.
_generated_once = lru_cache(maxsize=64)(generated)


def log_of(combination: Combination, run: int, *, slow: bool = True) -> Log:
    """A compliant log with a seed of its own; in Closed at a batch size with a reference, and slow to converge."""
    log = _generated_once(combination).without("seed")
    log = log.inserted(1, log.like(0, key="seed", value=1000 + run, metadata={"file": "train.py", "lineno": 3}))
    size = CLOSED.get(combination.round, {}).get(combination.benchmark) if combination.division == "closed" else None
    if size is not None:
        log = log.altered(log.places("global_batch_size"), value=size)
        log = counting(log, lambda value: value * (_SLOW if slow else 1), unit_of(combination.benchmark))
    # Each run at a time of its own, so that none is a copy of another.
    for place in range(len(log)):
        log[place] = log.like(place, time_ms=log.record(place)["time_ms"] + 10_000_000 * run)
    return log


def counting(log: Log, counted: Callable[[Any], Any], unit: str | None = None) -> Log:
    """The log with another count at each evaluation; one that counts nothing gets that of 1 ``unit``, if any."""
    for place in (*log.places("eval_accuracy"), *log.places("eval_error")):
        metadata = log.metadata(place)
        there: dict[str, Any] = {name: metadata[name] for name in _COUNTERS if name in metadata}
        counts = there or ({unit: 1} if unit else {})
        log = log.altered(place, metadata=metadata | {name: counted(value) for name, value in counts.items()})
    return log


def speed_up(package: Package) -> None:
    """Let every run converge faster than the reference."""
    for run, file in enumerate(package.logs):
        file.write_bytes(log_of(package.combination, run, slow=False).content())


def official(package: Package, *, today: bool = False) -> Answer:
    """The verdict of the installed package checker; it writes scaling.json into the package, as it does for anybody.

    ``today`` leaves the checker as it is; otherwise it judges as that of the round's day did, with the flags that the
    script that verifies a submission passes on.
    """
    usage, name = usage_and_round(package.combination.round)
    folder, ruleset = str(package.folder), f"{name}.0"
    flags = dict.fromkeys(FLAGS, False)
    day = nullcontext() if today else _of_the_day(get_round(usage, name))
    with prepared(package.combination.round, today=today), day, quiet():
        try:
            if not today:
                flags |= asked_by_script(package.folder, get_round(usage, name))
            systems = package_checker.check_systems(folder, usage, ruleset)
            results = package_checker.check_training_result_files(folder, usage, ruleset, True, **flags)
        except Exception as error:
            return Answer(False, f"{type(error).__name__}: {str(error)[:200]}")
    return Answer(bool(systems and results))


class _OptionalSeeds(package_checker.SeedChecker):
    """To v4.0 runs without a seed passed that sort before the first run with one."""

    def _assert_unique_seed_per_run(self, result_files: list[str]) -> list[str]:
        seeded = [self._has_seed(file) for file in result_files]
        first = seeded.index(True) if True in seeded else len(seeded)
        forgiven = [f"Result file {file} logs no seed." for file in result_files[:first]]
        errors = super()._assert_unique_seed_per_run(result_files)
        return [error for error in errors if error not in forgiven]

    def _has_seed(self, file: str) -> bool:
        try:
            return bool(self._get_seed_records(file))
        except Exception:
            return False


def _with_results(folder: str) -> list[str]:
    """To v1.0 a benchmark's folder without results was skipped, if its system has a description."""
    found = [child for child in Path(folder).iterdir() if child.is_dir()]
    described = (Path(folder).parents[1] / "systems" / f"{Path(folder).name}.json").is_file()
    skipped = _BENCHMARKS if described else frozenset()
    return [str(child) for child in found if child.name not in skipped or any(child.glob("result_*.txt"))]


@contextmanager
def _of_the_day(round_: Round) -> Iterator[None]:
    """As the checker of the round's day: flags read from v4.0 on, seeds required from v4.1 on, power from v5.0 on."""
    replaced: list[tuple[Any, str, Any]] = []
    if round_.seeds == "optional":
        replaced.append((package_checker, "SeedChecker", _OptionalSeeds))
    if not round_.folder_flags:
        there = os.path.exists
        path = SimpleNamespace(
            **{**vars(os.path), "exists": lambda file: not str(file).endswith("package_checker_params") and there(file)}
        )
        replaced.append((package_checker, "os", SimpleNamespace(**{**vars(os), "path": path})))
    if round_.empty_folder_ignored:
        replaced.append((package_checker, "_get_sub_folders", _with_results))
    if not round_.power_checked:
        replaced.append((package_checker.PowerChecker, "check_power", lambda *_: (True, set())))
    with ExitStack() as names:
        names.enter_context(rcp_of_the_day(round_.usage, round_.name))
        for holder, name, value in replaced:
            names.enter_context(patch.object(holder, name, value))
        yield


def ours(package: Package) -> Report:
    """What mlsub says by the reference points of the installed release."""
    usage, name = usage_and_round(package.combination.round)
    return check_paths([package.folder], Context(Request(name, usage, convergence=INSTALLED_POINTS), jobs=1))[0]


def rejecting(report: Report) -> set[str]:
    """The rules that a report rejects a package by."""
    return {finding.rule for finding in report.findings if finding.rejects}


def accepted(report: Report) -> bool:
    """Whether a report accepts."""
    return report.official is Verdict.ACCEPTED
