"""Faults of the tree of a package: names in another case or script, links, hidden files, several systems."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

from tools.oracle.faults_files import Change, described
from tools.oracle.generate import usage_and_round
from tools.oracle.log import content
from tools.oracle.packages import SYSTEM, Package, describe, log_of, package_combinations

_LOG_NAMES = (
    *("results_0.txt", "result_x.txt", "result_[a].txt", "result_ 0.txt", "result_0.txt.txt", "Result_0.txt"),
    "result_9.txt",
    *("result_.txt", "result_[0].txt", "result_*.txt", "result_9.TXT", ".result_9.txt"),
    *("result_[0-9].txt", "result_?.txt", "result_0 (copy).txt", "result_ä.txt", "result_\n.txt", "result_0.txt.gz"),
    *(os.fsdecode(b"result_\xff.txt"), "result_" + "9" * 200 + ".txt", "._result_0.txt", ".result_0.txt"),
    "result_0.TXT",
)
_LITTER = (
    *(".DS_Store", "._result_0.txt", ".result_0.txt", "Thumbs.db", ".gitkeep", ".nfs0001", "result_0.txt~"),
    "#result_0.txt#",
)


def _another_case(package: Package, rng: random.Random) -> None:
    """One name of the tree in another case of letters."""
    paths = [
        *(package.folder / "systems", package.folder / "results", package.description(), package.system),
        *(package.entry, rng.choice(package.logs)),
    ]
    path = rng.choice(paths)
    path.rename(path.with_name(rng.choice((path.name.upper(), path.name.capitalize(), path.name.swapcase()))))


def _odd_log_name(package: Package, rng: random.Random) -> None:
    file = rng.choice(package.logs)
    if rng.random() < 0.5:
        file.rename(file.with_name(rng.choice(_LOG_NAMES)))
    else:
        file.with_name(rng.choice(_LOG_NAMES)).write_bytes(content(log_of(package.combination, 77)))


def _another_number(package: Package, rng: random.Random) -> None:
    """No logs, one too few, or more than are asked for."""
    more = rng.choice((-len(package.logs), -1, -1, 1, 5, 100))
    for file in package.logs[: max(-more, 0)]:
        file.unlink()
    for run in range(len(package.logs), len(package.logs) + more):
        (package.entry / f"result_{run}.txt").write_bytes(content(log_of(package.combination, run)))


def _links(package: Package, rng: random.Random) -> None:
    """Something of the package is a link to where it really lies, inside or outside, or another link to it."""
    path = rng.choice(
        (
            package.folder / "systems",
            package.folder / "results",
            package.system,
            package.entry,
            package.description(),
            package.logs[0],
        )
    )
    outside = package.folder.parents[1] / "outside"
    outside.mkdir(exist_ok=True)
    kind = rng.choice(("moved out", "moved beside", "absolute", "twice", "to another log", "hard"))
    if kind in ("moved out", "absolute"):
        target = path.rename(outside / path.name)
        path.symlink_to(target if kind == "absolute" else os.path.relpath(target, path.parent))
    elif kind == "moved beside":
        target = path.rename(path.with_name(f"{path.name}.real"))
        path.symlink_to(target.name)
    elif kind == "twice":
        path.with_name(f"{path.stem}_2{path.suffix}").symlink_to(path.name)
    elif kind == "to another log":
        package.logs[0].unlink()
        package.logs[0].with_name("result_0.txt").symlink_to(package.logs[-1].name)
    else:
        (path.parent / "result_8.txt").hardlink_to(package.logs[0])


def _litter(package: Package, rng: random.Random) -> None:
    """What editors, file managers and version control leave, at several levels."""
    places = (package.folder, package.folder / "systems", package.folder / "results", package.system, package.entry)
    for place in rng.sample(places, rng.randint(1, 3)):
        path = place / rng.choice((*_LITTER, "__MACOSX", ".git", ".vscode"))
        if path.name in ("__MACOSX", ".git", ".vscode"):
            path.mkdir()
        else:
            path.write_bytes(rng.choice((b"", b"\0\1", b"{}")))


def _another_entry(package: Package, rng: random.Random) -> None:
    """A second benchmark of the system: whole, with too few runs, without any, or with the logs of the first."""
    ours = package.combination
    others = [c for c in package_combinations() if c.round == ours.round and c.benchmark != ours.benchmark]
    other = rng.choice([c for c in others if c.division == ours.division] or others)
    entry = package.entry.parent / other.benchmark
    kind = rng.choice(("whole", "whole", "fewer", "more", "empty", "of the first"))
    if kind == "of the first":
        shutil.copytree(package.entry, entry)
        return
    entry.mkdir()
    runs = len(package.logs) if kind != "empty" else 0
    for run in range(runs + {"fewer": -1, "more": 1}.get(kind, 0)):
        (entry / f"result_{run}.txt").write_bytes(content(log_of(other, 20 + run)))


def _another_division(package: Package, rng: random.Random) -> None:
    """A second system, of the other division, with logs that say the one or the other."""
    ours = package.combination
    division = "open" if ours.division == "closed" else "closed"
    other = ours._replace(division=division, choice=None)
    fields = json.loads(describe(other)) | (
        {"division": rng.choice((division, "Open", "", 1))} if rng.random() < 0.2 else {}
    )
    package.description("rack2").write_text(json.dumps(fields))
    below = package.entry.relative_to(package.system)
    entry = package.folder / "results" / "rack2" / below
    entry.mkdir(parents=True)
    for run in range(len(package.logs)):
        said = other if rng.random() < 0.9 and other in package_combinations() else ours
        (entry / f"result_{run}.txt").write_bytes(content(log_of(said, 40 + run)))


def _systems(package: Package, rng: random.Random) -> None:
    """Several systems, some without description or without results."""
    for number in range(2, rng.choice((3, 4, 6))):
        name = f"rack{number}"
        if rng.random() < 0.85:
            fields = described(package) | {"system_name": name}
            package.description(name).write_text(json.dumps(fields))
        if rng.random() < 0.85:
            shutil.copytree(package.system, package.folder / "results" / name, symlinks=True)


def _scaling_folders(package: Package, rng: random.Random) -> None:
    """Of HPC weak beside strong, or in its place; of training a folder between system and benchmark."""
    usage, _ = usage_and_round(package.combination.round)
    name = rng.choice(("weak", "weak", "weak", "Strong", "WEAK", "medium", "strong ", ".weak", "strong"))
    logs = [log.read_bytes() for log in package.logs]
    if usage != "hpc":
        between = package.system / name
        between.mkdir()
        package.entry.rename(between / package.combination.benchmark)
        return
    if rng.random() < 0.3:
        package.entry.parent.rename(package.system / name)
        return
    entry = package.system / name / package.combination.benchmark
    entry.mkdir(parents=True)
    for run in range(len(logs) + rng.choice((-1, 0, 0, 1, 15))):
        (entry / f"result_{run}.txt").write_bytes(content(log_of(package.combination, 60 + run)))


def _moved(package: Package, rng: random.Random) -> None:
    """Something one folder too high or too deep."""
    path = rng.choice(
        (package.folder / "systems", package.system, package.entry, package.logs[0], package.description())
    )
    if rng.random() < 0.5:
        path.rename(path.parent.parent / path.name)
    else:
        inner = path.parent / rng.choice((SYSTEM, "a", path.name + "_"))
        inner.mkdir(exist_ok=True)
        path.rename(inner / path.name)


def _organisations(package: Package, rng: random.Random) -> None:
    """An organisation in the organisation, whole or as empty folders."""
    inner = package.folder / rng.choice((package.folder.name, "inner", "results/inner"))
    if rng.random() < 0.5:
        copied = Path(str(package.folder) + "-copy")
        shutil.copytree(package.folder, copied)
        copied.rename(inner)
    else:
        (inner / "results").mkdir(parents=True)
        (inner / "systems").mkdir()


TREE_FAULTS: dict[str, Change] = {
    "name in another case": _another_case,
    "log of an odd name": _odd_log_name,
    "another number of logs": _another_number,
    "links": _links,
    "litter": _litter,
    "another entry": _another_entry,
    "another division": _another_division,
    "several systems": _systems,
    "strong and weak": _scaling_folders,
    "something in another folder": _moved,
    "an organisation in the organisation": _organisations,
}
