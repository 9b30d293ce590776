"""Faults of a package: files and folders that are missing, misnamed, in the wrong place or of the wrong kind."""

from __future__ import annotations

import json
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.differential.fault_parts import DEEP, HIDDEN, ODD_BYTES, Change, described, gone, instead
from tests.differential.faults_files import FILE_FAULTS
from tests.differential.faults_tree import TREE_FAULTS
from tests.differential.log import altered, content, places_of
from tests.differential.packages import SYSTEM, Package, describe, log_of

#: Names of systems that mean something to a search, or that only look odd.
PATTERNS = (
    "rack[8xH100]",
    "rack*",
    "rack?",
    "[r]ack1",
    "[!x]ack",
    "rack[",
    "rack]",
    "**",
    "*",
    "?ack1",
    "[[]x]",
    "{a,b}",
)
ODD_NAMES = (
    *("rack 1", "räck", "rack\n1", "-rack", "rack.json", "r\\ck", "~", "$HOME", "rack\x01", "results", "a" * 200),
    *("RACK1", "ra'ck", 'ra"ck', "ra%sck", "ra{folder}ck", "strong"),
)
BENCHMARK_NAMES = (
    "Retinanet",
    "RETINANET",
    "resnet50",
    "retinanet ",
    "retinane[t]",
    ".retinanet",
    "ncf",
    "common",
    "x",
)
FLAGS = (
    b"",
    b"rcp-bypass",
    b"rcp-bypass",
    b"rcp-bypass\n",
    b"seed-checker-bypass",
    b"rcp_bypass",
    b"\xff\xfe",
    b"a\xe9b",
    b"x" * 1000,
)


def _field(package: Package, rng: random.Random) -> None:
    fields = described(package)
    name = rng.choice(("division", "division", "status", "submitter", "system_name", "framework", "cooling", *fields))
    value: Any = rng.choice(
        (1, None, True, [], {}, "", "Closed", "open", "closed", "x", float("nan"), 10**400, ["closed"])
    )
    if rng.random() < 0.3:
        fields.pop(name, None)
    else:
        fields[name] = value
    package.description().write_text(json.dumps(fields))


def _description_bytes(package: Package, rng: random.Random) -> None:
    whole = package.description().read_bytes()
    twice = whole.replace(b"{", b'{"division": "closed",', 1)
    number = whole.replace(b"{", b'{"n": ' + b"9" * 5000 + b",", 1)
    accent = whole.replace(b"ACME", b"ACM\xe9")
    cases = (
        *ODD_BYTES,
        DEEP,
        twice,
        number,
        accent,
        b"\xef\xbb\xbf" + whole,
        whole[:-3],
        whole + b"x",
        whole + b"\n\n",
    )
    package.description().write_bytes(rng.choice(cases))


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


def _flags(package: Package, rng: random.Random) -> None:
    place = rng.choice((package.folder, package.folder / "results", package.system, package.entry))
    file = place / "package_checker_params"
    if rng.random() < 0.3:
        instead(file, rng)
    else:
        file.write_bytes(rng.choice(FLAGS))


def _scaling(package: Package, rng: random.Random) -> None:
    file = package.entry / "scaling.json"
    if rng.random() < 0.5:
        instead(file, rng)
    else:
        file.write_bytes(rng.choice((*ODD_BYTES, b'{"scaling_factor": 1.01}', b'{"scaling_factor": "x"}', DEEP)))


def _fewer_logs(package: Package, rng: random.Random) -> None:
    rng.choice(package.logs).unlink()


def _more_logs(package: Package, rng: random.Random) -> None:
    name = rng.choice(
        ("result_9.txt", "result_.txt", "result_[0].txt", "result_*.txt", "result_9.TXT", ".result_9.txt")
    )
    (package.entry / name).write_bytes(content(log_of(package.combination, 9)))


def _rename_log(package: Package, rng: random.Random) -> None:
    name = rng.choice(
        (
            "results_0.txt",
            "result_0.TXT",
            "result_x.txt",
            "result_[a].txt",
            "result_ 0.txt",
            "result_0.txt.txt",
            "Result_0.txt",
        )
    )
    file = rng.choice(package.logs)
    file.rename(file.with_name(name))


def _odd_log(package: Package, rng: random.Random) -> None:
    instead(rng.choice(package.logs), rng)


def _log_content(package: Package, rng: random.Random) -> None:
    file = rng.choice(package.logs)
    whole = file.read_bytes()
    half = whole[: rng.randrange(len(whole))]
    file.write_bytes(rng.choice((b"", b"\0" * 100, half, whole.decode().encode("utf-16"), whole * 2, b"x\n" + whole)))


def _noncompliant_logs(package: Package, rng: random.Random) -> None:
    for number in rng.sample(range(len(package.logs)), rng.choice((1, 1, 2))):
        log = log_of(package.combination, number)
        for place in places_of(log, "eval_accuracy"):
            log = altered(
                log, place, value=-1e9 if package.combination.benchmark in ("ssd", "resnet", "retinanet") else 1e9
            )
        package.logs[number].write_bytes(content(log))


def _copied_log(package: Package, rng: random.Random) -> None:
    one, other = rng.sample(package.logs, 2)
    other.write_bytes(one.read_bytes())


def _too_fast(package: Package, rng: random.Random) -> None:
    for number, file in enumerate(package.logs):
        file.write_bytes(content(log_of(package.combination, number, slow=False)))


def _without_seed(package: Package, rng: random.Random) -> None:
    file = rng.choice(package.logs)
    file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True) if b'"key": "seed"' not in line))


def _in_the_entry(package: Package, rng: random.Random) -> None:
    name = rng.choice(("notes.md", "plots", ".cache", "result_9", "results", "power", "logs", "[x]"))
    path = package.entry / name
    rng.choice((Path.mkdir, Path.touch, lambda p: p.symlink_to("nowhere")))(path)
    if path.is_dir() and rng.random() < 0.5:
        (path / "result_0.txt").write_bytes(b"")


def _power(package: Package, rng: random.Random) -> None:
    folder = package.entry / "power"
    folder.mkdir()
    for number, log in enumerate(package.logs):
        run = folder / log.stem
        if rng.random() < 0.9:
            run.mkdir()
            (run / "node_0.txt").write_bytes(b"")
            if rng.random() < 0.2:
                (run / rng.choice(("node_1.txt", "sw_0.txt", "node_x.txt", "other"))).write_bytes(b"")
        elif rng.random() < 0.5:
            run.write_bytes(str(number).encode())


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
    "description field": _field,
    "description content": _description_bytes,
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
    "flags": _flags,
    "scaling factor": _scaling,
    "too few logs": _fewer_logs,
    "another log": _more_logs,
    "log renamed": _rename_log,
    "log of another kind": _odd_log,
    "content of a log": _log_content,
    "noncompliant logs": _noncompliant_logs,
    "copied log": _copied_log,
    "runs that converge too fast": _too_fast,
    "log without seed": _without_seed,
    "something in the entry": _in_the_entry,
    "power": _power,
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
