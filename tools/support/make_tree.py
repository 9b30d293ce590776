"""Builds synthetic submissions that are accepted as they stand, so that a case can spoil one thing at a time."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from mlsub.convergence.reference import history_of
from mlsub.systems.fields import fields

ORG = "ACME"
SYSTEM = "rack1"
#: A file with a rule of one's own, which the logs break.
HOUSE = """title: House rules
common:
  "1.0":
    both:
      acme_ticket: {occurs: exactly_one}
"""
#: Result files of an entry, from the rules of MLPerf Training v1.0 and v1.1.
RUNS = dict.fromkeys(("resnet", "ssd", "maskrcnn", "dlrm", "digits"), 5)
RUNS |= {"bert": 10, "rnnt": 10, "minigo": 10, "unet3d": 40}

_HYPERPARAMETERS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("hyperparameters.yaml").read_text()
)
_QUALITY = {"resnet": 0.7595, "bert": 0.7225, "unet3d": 0.9085, "digits": 0.97}
#: Where the evaluations are that do not reach the target (first, step), and the one that does: where the rules of the
#: round ask for them, and no faster than the reference. Epochs; for BERT samples.
_EVALUATED = {
    "resnet": (4, 4, 40),
    "bert": (150_000, 150_000, 3_000_000),
    "unet3d": (1000, 20, 2200),
    "digits": (1, 1, 8),
}
_EPOCH_MS = 50_000
_MARK = ":::MLLOG "


class Log:
    """The lines of one result file: records as dictionaries, everything else as text."""

    def __init__(self, lines: Sequence[dict[str, Any] | str]) -> None:
        self.lines = list(lines)

    @classmethod
    def read(cls, file: Path) -> Log:
        """The log in a file that :meth:`text` wrote."""
        lines = file.read_text().splitlines()
        return cls([json.loads(line.removeprefix(_MARK)) if line.startswith(_MARK) else line for line in lines])

    def text(self) -> str:
        """The log as it stands in the file."""
        return "".join((_MARK + json.dumps(line) if isinstance(line, dict) else line) + "\n" for line in self.lines)

    def records(self, key: str | None = None) -> list[dict[str, Any]]:
        """The records of a key, or all."""
        return [line for line in self.lines if isinstance(line, dict) and key in (None, line["key"])]

    def at(self, key: str) -> int:
        """Where the first record of a key stands, counted from 0."""
        return next(i for i, line in enumerate(self.lines) if isinstance(line, dict) and line["key"] == key)

    def put(self, key: str, /, **parts: Any) -> None:
        """Replace parts of the first record of a key; ``metadata`` is merged into what is there.

        Of evaluations it is the last, which reaches the target.
        """
        record = self.records(key)[-1 if key == "eval_accuracy" else 0]
        record["metadata"] = {**record["metadata"], **parts.pop("metadata", {})}
        record.update(parts)

    def last(self, minutes: float) -> None:
        """Stretch or shorten all after run_start, so that the run takes so many minutes."""
        start, stop = (self.records(key)[0]["time_ms"] for key in ("run_start", "run_stop"))
        for record in self.records():
            if record["time_ms"] > start:
                record["time_ms"] = start + (record["time_ms"] - start) * minutes * 60_000 / (stop - start)

    def drop(self, *keys: str) -> None:
        """Take every record of these keys away."""
        self.lines = [line for line in self.lines if not (isinstance(line, dict) and line["key"] in keys)]


def _later_ms(round_folder: str) -> int:
    """How much later the deadline of a round of training is than that of v1.0; 0 where runs of v1.0 may be its own."""
    if round_folder in ("v1.0", "v1.1"):
        return 0
    first, own = history_of("training", "1.0"), history_of("training", round_folder.removeprefix("v"))
    return 0 if first is None or own is None else (own.deadline.last - first.deadline.last).days * 86_400_000


def make_log(
    benchmark: str = "resnet",
    division: str = "closed",
    run: int = 0,
    org: str = ORG,
    system: str = SYSTEM,
    round_folder: str = "v1.0",
) -> Log:
    """A compliant log; each has its own start, each run of an entry its own seed and duration: 10 + ``run`` minutes.

    It starts less than three weeks before the deadline of the round.
    """
    entry = zlib.crc32(f"{org}/{system}/{benchmark}/{division}".encode(errors="surrogatepass"))
    clock = [1_620_000_000_000 + _later_ms(round_folder) + entry % 1_000_000_000 + run * 10_000_000]
    lines: list[dict[str, Any] | str] = []

    def log(key: str, value: Any = None, kind: str = "POINT_IN_TIME", after_ms: int = 1, **metadata: Any) -> None:
        clock[0] += after_ms
        lines.append(
            {
                "namespace": "",
                "time_ms": clock[0],
                "event_type": kind,
                "key": key,
                "value": value,
                "metadata": {"file": "train.py", "lineno": len(lines) + 100, **metadata},
            }
        )

    start, end = "INTERVAL_START", "INTERVAL_END"
    log("cache_clear", True)
    log("init_start", kind=start)
    log("submission_benchmark", benchmark)
    log("submission_division", division)
    log("submission_org", org)
    log("submission_status", "onprem")
    log("submission_platform", system)
    log("seed", 1000 + run)
    log("gradient_accumulation_steps", 1)
    for key, value in _HYPERPARAMETERS[benchmark].items():
        log(key, value)
    log("init_stop", kind=end, after_ms=60_000)
    log("run_start", kind=start)
    run_start = clock[0]
    log("block_start", kind=start, first_epoch_num=1, epoch_count=1)
    log("epoch_start", kind=start, epoch_num=1)
    log("epoch_stop", kind=end, after_ms=_EPOCH_MS, epoch_num=1)
    log("block_stop", kind=end, first_epoch_num=1)
    log("eval_start", kind=start, epoch_num=1)
    first, step, last = _EVALUATED[benchmark]
    for epoch in range(first, last, step):
        log("eval_accuracy", 0.01, epoch_num=epoch)
    log("eval_accuracy", _QUALITY[benchmark] + run * 1e-5, epoch_num=last)
    log("eval_stop", kind=end, epoch_num=1)
    log("run_stop", kind=end, after_ms=run_start + (10 + run) * 60_000 - clock[0], status="success")
    return Log(lines)


def make_description(division: str = "closed", org: str = ORG, **changes: Any) -> dict[str, Any]:
    """A system description with every required field filled in; a change to ``None`` takes the field away."""
    content = {name: f"some {name.replace('_', ' ')}" for name in fields().required}
    content |= {name: field.example for name, field in fields().fields.items() if field.kind is not None}
    content |= {"submitter": org, "division": division, "status": "onprem", "system_name": SYSTEM}
    content |= {"number_of_nodes": "1", "accelerators_per_node": "8", "hw_notes": "", "sw_notes": ""}
    content |= changes
    return {name: value for name, value in content.items() if value is not None}


class Tree:
    """One organisation's folder on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.org = folder.name

    def add_system(self, name: str = SYSTEM, division: str = "closed", **changes: Any) -> Path:
        """Write a system description."""
        file = self.description(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(make_description(division, self.org, **changes), indent=2) + "\n")
        return file

    def add_entry(
        self,
        benchmark: str = "resnet",
        system: str = SYSTEM,
        division: str = "closed",
        runs: int | None = None,
        named: str = "result_{}.txt",
    ) -> Path:
        """Write an entry's logs."""
        folder = self.entry(benchmark, system)
        folder.mkdir(parents=True, exist_ok=True)
        for run in range(RUNS[benchmark] if runs is None else runs):
            log = make_log(benchmark, division, run, self.org, system, self.folder.parent.name)
            (folder / named.format(run)).write_text(log.text())
        if benchmark != "digits":
            self.add_code(benchmark, system)
        return folder

    def add_copies(self, system: str, benchmark: str = "resnet") -> None:
        """Add a system whose runs have the evaluations of the first one's, at other times: what review asks about."""
        self.add_system(system)
        folder = self.add_entry(benchmark, system)
        for run in range(RUNS[benchmark]):
            lines = self.log(run, benchmark).read_text().split('"time_ms": ')
            later = (f"{int(line[:13]) + 770_000_000 + 11 * at}{line[13:]}" for at, line in enumerate(lines[1:]))
            (folder / f"result_{run}.txt").write_text('"time_ms": '.join([lines[0], *later]))

    def add_code(self, benchmark: str = "resnet", system: str = SYSTEM) -> Path:
        """Write what the submission rules want beside the logs: an implementation, and the system's scripts."""
        code = self.folder / "benchmarks" / benchmark
        for file in (
            code / "implementations" / "pytorch" / "train.py",
            *(code / system / name for name in ("README.md", "setup.sh", "init_datasets.sh", "run_and_time.sh")),
            code / system / f"{system}_pytorch.json",
        ):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
            file.chmod(0o755 if file.suffix == ".sh" else 0o644)
        return code

    def description(self, name: str = SYSTEM) -> Path:
        """The file of a system description."""
        return self.folder / "systems" / f"{name}.json"

    def entry(self, benchmark: str = "resnet", system: str = SYSTEM) -> Path:
        """The folder of an entry."""
        return self.folder / "results" / system / benchmark

    def log(self, run: int = 0, benchmark: str = "resnet", system: str = SYSTEM) -> Path:
        """The file of a log."""
        return self.entry(benchmark, system) / f"result_{run}.txt"

    def edit(
        self, change: Callable[[Log], object], *runs: int, benchmark: str = "resnet", system: str = SYSTEM
    ) -> None:
        """Change some logs of an entry, run 0 unless told."""
        for run in runs or (0,):
            file = self.log(run, benchmark, system)
            log = Log.read(file)
            change(log)
            file.write_text(log.text())

    def describe(self, name: str = SYSTEM, **changes: Any) -> None:
        """Change fields of a system description; ``None`` takes a field away."""
        file = self.description(name)
        content = {name: value for name, value in (json.loads(file.read_text()) | changes).items() if value is not None}
        file.write_text(json.dumps(content, indent=2) + "\n")


def make_tree(
    above: Path,
    round_folder: str = "v1.0",
    org: str = ORG,
    benchmarks: Sequence[str] = ("resnet",),
    division: str = "closed",
) -> Tree:
    """An accepted organisation with one system: ``<above>/<round_folder>/<org>``."""
    tree = Tree(above / round_folder / org)
    tree.add_system(division=division)
    for benchmark in benchmarks:
        tree.add_entry(benchmark, division=division)
    return tree


def reference_runs(above: Path, count: int = 10) -> Tree:
    """Runs that ``rcp build`` makes reference points of: twice as many as an entry has, at each of two batch sizes."""
    tree = make_tree(above, "v4.1", org="Reference")
    for system, size, first in (("small", 3200, 37), ("large", 4096, 57)):
        tree.add_entry(system=system, runs=count)
        for number in range(count):

            def change(log: Log, size: int = size, epochs: int = first + number) -> None:
                log.put("global_batch_size", value=size)
                log.put("eval_accuracy", metadata={"epoch_num": epochs})

            tree.edit(change, number, system=system)
    return tree


def spoil(tree: Tree, *runs: int, benchmark: str = "resnet") -> None:
    """Make runs noncompliant, each by one defect: they never reach the quality target."""
    tree.edit(lambda log: log.put("eval_accuracy", value=0.1), *runs, benchmark=benchmark)


def snapshot(folder: Path) -> dict[bytes, tuple[int, int, int]]:
    """Mode, size and time of change of everything under a folder; links are not followed."""
    found = [os.fsencode(folder)]
    for parent, folders, files in os.walk(os.fsencode(folder)):
        found += [os.path.join(parent, name) for name in (*folders, *files)]  # noqa: PTH118  (names that are no text)
    states = {path: os.lstat(path) for path in found}
    return {path: (state.st_mode, state.st_size, state.st_mtime_ns) for path, state in states.items()}
