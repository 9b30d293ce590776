"""A workplace of loose runs, a description, code and a manifest, from which an accepted package can be made."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from mlsub.packing.manifest import Manifest
from mlsub.packing.pack import Packing, PackOptions, pack
from mlsub.packing.read import read_manifest
from mlsub.workspace import Context
from tools.support.make_tree import ORG, RUNS, SYSTEM, Log, make_description, make_log

TODAY = date(2026, 11, 21)


class Workplace:
    """Files under one folder: ``runs/<benchmark>/``, ``rack1.json``, ``code/`` and ``submission.yaml``."""

    def __init__(self, folder: Path, *benchmarks: str, division: str = "closed", named: str = "train-{}.txt") -> None:
        self.folder = folder
        self.out = folder / "out" / "v1.0" / ORG
        self.manifest_file = folder / "submission.yaml"
        self.content: dict[str, Any] = {
            "organisation": ORG,
            "round": "1.0",
            "systems": {SYSTEM: "rack1.json"},
            "entries": [],
        }
        (folder / "rack1.json").write_text(json.dumps(make_description(division)))
        for benchmark in benchmarks or ("resnet",):
            self.add(benchmark, division, named)
        self.save()

    def add(self, benchmark: str, division: str, named: str) -> None:
        """Write the logs of an entry, and list them in the manifest from the last to the first."""
        runs = self.folder / "runs" / benchmark
        runs.mkdir(parents=True)
        names = [named.format(run) for run in range(RUNS[benchmark])]
        for run, name in enumerate(names):
            (runs / name).write_text(make_log(benchmark, division, run).text())
        listed = [f"runs/{benchmark}/{name}" for name in reversed(names)]
        self.content["entries"].append({"system": SYSTEM, "benchmark": benchmark, "runs": listed})

    def add_code(self, benchmark: str = "resnet", implementation: str = "mxnet") -> Path:
        """Write some code, and name it in the manifest."""
        folder = self.folder / "code" / implementation
        folder.mkdir(parents=True)
        (folder / "train.py").write_text("print('training')\n")
        (folder / "run.sh").write_text("#!/bin/sh\n")
        (folder / "run.sh").chmod(0o755)
        code = {"benchmark": benchmark, "implementation": implementation, "folder": f"code/{implementation}"}
        self.content.setdefault("code", []).append(code)
        self.save()
        return folder

    def save(self, **changes: Any) -> None:
        """Write the manifest, with changes that stay."""
        self.content.update(changes)
        self.manifest_file.write_text(yaml.safe_dump(self.content, sort_keys=False))

    def entry(self, number: int = 0, /, **changes: Any) -> None:
        """Change an entry of the manifest; ``None`` takes a word away."""
        entry = self.content["entries"][number] | changes
        self.content["entries"][number] = {key: value for key, value in entry.items() if value is not None}
        self.save()

    def make_too_fast(self) -> None:
        """Let the runs of ResNet converge so fast that the convergence test fails."""
        for file in (self.folder / "runs" / "resnet").iterdir():
            log = Log.read(file)
            log.put("eval_accuracy", metadata={"epoch_num": 16})
            file.write_text(log.text())

    def manifest(self) -> Manifest:
        """The manifest as it is read."""
        return read_manifest(self.manifest_file, {})

    def pack(self, *, today: date = TODAY, **options: Any) -> Packing:
        """Pack it, written unless told."""
        asked = PackOptions(**{"today": today, "write": True, "context": Context(jobs=1), **options})
        return pack(self.manifest(), self.out, asked)[1]

    def sources(self) -> dict[str, bytes]:
        """All files but the output."""
        return {path: content for path, content in files(self.folder).items() if "out" not in path.split("/")}


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a tree by its place."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    }


def rules(packed: Packing) -> list[str]:
    """The rules of the findings of packing."""
    return [found.rule for found in packed.findings]
