"""Faults of a package: files and folders that are missing, misnamed, in the wrong place or of the wrong kind."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tools.oracle.faults_files import FILE_FAULTS, HIDDEN, ODD_BYTES, Change, gone, instead
from tools.oracle.faults_tree import TREE_FAULTS
from tools.oracle.packages import SYSTEM, Package, describe

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
BENCHMARK_NAMES = (
    *("Retinanet", "RETINANET", "resnet50", "retinanet ", "retinane[t]", ".retinanet", "ncf", "common", "x"),
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


def _rename_benchmark(package: Package, rng: random.Random) -> None:
    package.entry.rename(package.entry.parent / rng.choice(BENCHMARK_NAMES))


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


def _rename_organisation(package: Package, rng: random.Random) -> Path:
    return package.folder.rename(
        package.folder.with_name(rng.choice(("AC[ME]", "AC*", "A?ME", "ACME Inc.", ".ACME", "ACME[0]")))
    )


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
    "benchmark renamed": _rename_benchmark,
    "something in the entry": _in_the_entry,
    "something at the top": _top,
    "organisation renamed": _rename_organisation,
    **FILE_FAULTS,
    **TREE_FAULTS,
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
