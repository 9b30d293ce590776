"""Faults of a package: files and folders that are missing, misnamed, in the wrong place or of the wrong kind.

Names in another case or script, links, hidden files, several systems; those of single files are in faults_files.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tools.oracle.faults_files import FILE_FAULTS, HIDDEN, ODD_BYTES, Change, described, gone, instead
from tools.oracle.generate import Combination, usage_and_round
from tools.oracle.packages import SYSTEM, Package, describe, log_of, package_combinations

#: Names of systems that mean something to a search, or that only look odd.
PATTERNS = (
    *("rack[8xH100]", "rack*", "rack?", "[r]ack1", "[!x]ack", "rack[", "rack]", "**", "*", "?ack1", "[[]x]"),
    "{a,b}",
)
ODD_NAMES = (
    *("räck1", "ra\u0308ck1", "机架", "🖥", "\u202erack", "rack\u00a01", "\ufeffrack1", "rack1 ", " rack1", "rack\t1"),
    "rack1.",
    *(os.fsdecode(b"rack\xff"), os.fsdecode(b"\xe9"), "..rack", "rack;rm", "%2e%2e", "CON", "0", "null", "rack:1"),
    *("rack 1", "räck", "rack\n1", "-rack", "rack.json", "r\\ck", "~", "$HOME", "rack\x01", "results", "a" * 200),
    *("RACK1", "ra'ck", 'ra"ck', "ra%sck", "ra{folder}ck", "strong"),
)
ORGANISATION_NAMES = ("AC[ME]", "AC*", "A?ME", "ACME Inc.", ".ACME", "ACME[0]")
BENCHMARK_NAMES = (
    *("Retinanet", "RETINANET", "resnet50", "retinanet ", "retinane[t]", ".retinanet", "ncf", "common", "x"),
)
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


def _another_description(package: Package, rng: random.Random) -> None:
    name = rng.choice(("rack2.json", ".rack2.json", "rack2.JSON", "rack2.json.bak", "a", "[x].json", "x y.json"))
    file = package.folder / "systems" / name
    if rng.random() < 0.5:
        file.write_text(describe(package.combination))
    elif rng.random() < 0.5:
        file.write_bytes(rng.choice(ODD_BYTES))
    else:
        instead(file, rng)


def _rename_system(names: tuple[str, ...]) -> Change:
    def change(package: Package, rng: random.Random) -> None:
        name = rng.choice(names)
        package.system.rename(package.folder / "results" / name)
        if rng.random() < 0.9:
            package.description().rename(package.description(name))

    return change


def _another_system(package: Package, rng: random.Random) -> None:
    """Something beside the system: a copy with too few logs, an empty folder, one with folders, a link."""
    name = rng.choice((*HIDDEN, "rack2", "rack8", "RACK1", "rack[1]", "rack*"))
    folder = package.folder / "results" / name
    kind = rng.choice(("copy", "copy", "fewer", "empty", "file", "folder", "link", "dangling", "benchmark", "deep"))
    if kind in ("copy", "fewer"):
        shutil.copytree(package.system, folder)
        for file in sorted(folder.glob("**/result_*.txt"))[: 1 if kind == "fewer" else 0]:
            file.unlink()
    elif kind == "empty":
        folder.mkdir()
    elif kind == "file":
        folder.write_bytes(b"")
    elif kind == "folder":
        (folder / rng.choice(("hooks", ".cache", "Retinanet"))).mkdir(parents=True)
    elif kind == "link":
        folder.symlink_to(SYSTEM)
    elif kind == "dangling":
        folder.symlink_to("nowhere")
    elif kind == "benchmark":
        (folder / package.combination.benchmark).mkdir(parents=True)
    else:
        (folder / "a" / "b").mkdir(parents=True)
    if rng.random() < 0.5:
        package.description(name).write_text(describe(package.combination))


def _in_the_system(package: Package, rng: random.Random) -> None:
    name = rng.choice((*BENCHMARK_NAMES, *HIDDEN, "package_checker_params", "power", "scaling.json", "result_0.txt"))
    path = package.system / name
    gone(path)
    rng.choice((Path.mkdir, Path.touch, lambda p: p.symlink_to("nowhere"), lambda p: p.symlink_to(".")))(path)


def _in_the_entry(package: Package, rng: random.Random) -> None:
    name = rng.choice(("notes.md", "plots", ".cache", "result_9", "results", "power", "logs", "[x]"))
    path = package.entry / name
    rng.choice((Path.mkdir, Path.touch, lambda p: p.symlink_to("nowhere")))(path)
    if path.is_dir() and rng.random() < 0.5:
        (path / "result_0.txt").write_bytes(b"")


def _top(package: Package, rng: random.Random) -> None:
    if rng.random() < 0.5:
        instead(package.folder / rng.choice(("systems", "results")), rng)
    else:
        instead(package.folder / rng.choice(("benchmarks", "README.md", ".git", "scaling.json")), rng)


def _another_case(package: Package, rng: random.Random) -> None:
    """One name of the tree in another case of letters."""
    above = (package.folder / "systems", package.folder / "results", package.description(), package.system)
    path = rng.choice((*above, package.entry, rng.choice(package.logs)))
    path.rename(path.with_name(rng.choice((path.name.upper(), path.name.capitalize(), path.name.swapcase()))))


def _write_logs(entry: Path, combination: Combination, runs: range) -> None:
    """Write logs of a combination, numbered from 0; ``runs`` make the seeds and times."""
    for number, run in enumerate(runs):
        (entry / f"result_{number}.txt").write_bytes(log_of(combination, run).content())


def _odd_log_name(package: Package, rng: random.Random) -> None:
    file = rng.choice(package.logs)
    if rng.random() < 0.5:
        file.rename(file.with_name(rng.choice(_LOG_NAMES)))
    else:
        file.with_name(rng.choice(_LOG_NAMES)).write_bytes(log_of(package.combination, 77).content())


def _another_number(package: Package, rng: random.Random) -> None:
    """No logs, one too few, or more than are asked for."""
    more = rng.choice((-len(package.logs), -1, -1, 1, 5, 100))
    for file in package.logs[: max(-more, 0)]:
        file.unlink()
    for run in range(len(package.logs), len(package.logs) + more):
        (package.entry / f"result_{run}.txt").write_bytes(log_of(package.combination, run).content())


def _links(package: Package, rng: random.Random) -> None:
    """Something of the package is a link to where it really lies, inside or outside, or another link to it."""
    above = (package.folder / "systems", package.folder / "results", package.system, package.entry)
    path = rng.choice((*above, package.description(), package.logs[0]))
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
    runs = len(package.logs) + {"fewer": -1, "more": 1}.get(kind, 0) if kind != "empty" else 0
    _write_logs(entry, other, range(20, 20 + runs))


def _another_division(package: Package, rng: random.Random) -> None:
    """A second system, of the other division, with logs that say the one or the other."""
    ours = package.combination
    division = "open" if ours.division == "closed" else "closed"
    other = ours._replace(division=division, choice=None)
    fields = json.loads(describe(other))
    if rng.random() < 0.2:
        fields["division"] = rng.choice((division, "Open", "", 1))
    package.description("rack2").write_text(json.dumps(fields))
    below = package.entry.relative_to(package.system)
    entry = package.folder / "results" / "rack2" / below
    entry.mkdir(parents=True)
    for run in range(len(package.logs)):
        said = other if rng.random() < 0.9 and other in package_combinations() else ours
        (entry / f"result_{run}.txt").write_bytes(log_of(said, 40 + run).content())


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
    runs = len(package.logs) + rng.choice((-1, 0, 0, 1, 15))
    _write_logs(entry, package.combination, range(60, 60 + runs))


def _moved(package: Package, rng: random.Random) -> None:
    """Something one folder too high or too deep."""
    above = (package.folder / "systems", package.system, package.entry)
    path = rng.choice((*above, package.logs[0], package.description()))
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


FAULTS: dict[str, Change] = {
    "description of another kind": lambda p, rng: instead(p.description(), rng),
    "description renamed": lambda p, rng: p.description().rename(
        p.description(rng.choice(("RACK1", "rack", ".rack1")))
    ),
    "another description": _another_description,
    "system named like a pattern": _rename_system(PATTERNS),
    "system of an odd name": _rename_system((*ODD_NAMES, *HIDDEN)),
    "another system": _another_system,
    "something in the system": _in_the_system,
    "benchmark renamed": lambda p, rng: p.entry.rename(p.entry.with_name(rng.choice(BENCHMARK_NAMES))),
    "something in the entry": _in_the_entry,
    "something at the top": _top,
    "organisation renamed": lambda p, rng: p.folder.rename(p.folder.with_name(rng.choice(ORGANISATION_NAMES))),
    **FILE_FAULTS,
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


class Faulty(NamedTuple):
    """A package with faults, and their names."""

    package: Package
    faults: tuple[str, ...]


def spoil(package: Package, rng: random.Random, faults: int, fault: str | None = None) -> Faulty:
    """Put some faults into a package, one after the other, or one by name."""
    names = (fault,) if fault else tuple(rng.choice(list(FAULTS)) for _ in range(faults))
    for name in names:
        # A fault that needs what an earlier one took away is none.
        with suppress(OSError, ValueError, TypeError, AttributeError, IndexError, RecursionError):
            found = FAULTS[name](package, rng)
            if isinstance(found, Path) and name == "organisation renamed":
                package = package._replace(folder=found)
    return Faulty(package, names)


def listing(folder: Path) -> str:
    """What lies in a package, for a report on it."""
    lines = []
    for above, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(above) / name
            kind = "/" if path.is_dir() else f" ({path.lstat().st_size})"
            if path.is_symlink():
                kind = f" -> {path.readlink()}"
            lines.append(f"    {path.relative_to(folder)!s}{kind}".encode("ascii", "backslashreplace").decode())
    return "\n".join(lines)
