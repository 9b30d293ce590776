"""Packages with faults, drawn by a seed, and where the two sides differ on them.

Files and folders that are missing, misnamed, in the wrong place or of the wrong kind, and files of odd content.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.convergence import algorithm_of
from mlsub.convergence.curves import plan_of
from mlsub.rounds import get_round
from mlsub.submission.report import Report
from tools.oracle.generate import Combination, combinations, usage_and_round
from tools.oracle.log import Log
from tools.oracle.packages import (
    CLOSED,
    SYSTEM,
    Answer,
    Package,
    accepted,
    build,
    counting,
    describe,
    log_of,
    official,
    ours,
    package_combinations,
    rejecting,
    speed_up,
)

#: A fault changes a package; what it cannot change, because an earlier fault did, stays as it is.
Change = Callable[[Package, random.Random], object]

HIDDEN = (".old", ".ipynb_checkpoints", ".git", ".DS_Store", ".cache")
ODD_BYTES = (
    *(b"", b"\0" * 50, b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"not json", b"[]", b"1", b"null", b'"x"', b"{", b"\xff"),
)
DEEP = b"[" * 100_000


def gone(path: Path) -> None:
    """Remove whatever is there."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


def instead(path: Path, rng: random.Random) -> str:
    """Put another kind of thing in a path's place."""
    kind = rng.choice(("folder", "nothing", "dangling", "loop", "file", "link to a folder"))
    gone(path)
    if kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "file":
        path.write_bytes(rng.choice(ODD_BYTES))
    elif kind == "link to a folder":
        path.symlink_to(".")
    return kind


def described(package: Package) -> dict[str, Any]:
    """The fields of the system description."""
    found: dict[str, Any] = json.loads(package.description().read_text())
    return found


_ODD_VALUES: tuple[Any, ...] = (
    *("", " ", "0", "-1", "8.0", "eight", "x" * 10_000, "\0", "\u202e8", "８", "räck", "{}", "a\nb", "closed "),
    *(0, -1, 8, 8.5, 10**400, 1e308, float("nan"), float("inf"), True, False, None),
    *([], [8], {}, {"value": 8}, [[[]]]),
)
_FACTORS: tuple[bytes, ...] = (
    *(b'{"scaling_factor": %b}' % x for x in (b"1.01", b'"1.01"', b"NaN", b"1e999", b"null", b"[1.01]")),
    *(b'{"scaling_factor": -1}', b'{"scaling_factor": true}', b'\xef\xbb\xbf{"scaling_factor": 1.01}'),
    *(b'{"Scaling_Factor": 1.01}', b" " * 100_000, *ODD_BYTES, DEEP),
)
_FLAGS: tuple[bytes, ...] = (
    *(b"rcp-bypass", b"seed-checker-bypass\nrcp-bypass", b"seed-checker-bypass\n", b"seed-checker-bypass"),
    *(b"rcp-bypass ", b" rcp-bypass", b"RCP-BYPASS", b"--rcp-bypass", b"\xef\xbb\xbfrcp-bypass", b"rcp-bypass\0"),
    *(b"rcp-bypass,seed-checker-bypass", b"rcp-bert-train-samples", b"#rcp-bypass", b"", b"rcp-bypass"),
    *(b"rcp-bypass\n", b"rcp_bypass", b"\xff\xfe", b"a\xe9b", b"x" * 1000),
    *(b"x" * 60_000, b"rcp\xadbypass", "rcp‑bypass".encode()),
    *(b"rcp-bypass\nseed-checker-bypass\n", b"rcp_bypass\n", b"seed\n", b"rcp\n", b"help\n", b"\n", b"q\n\n"),
    *(b"werror\n", b"rcp_bert_train_samples\nrcp_by", b"log_output /dev/null\n", b"log_output=\n", b"rcp-by\0pass \n"),
)
_POWER_NAMES = (
    *("node_0.txt", "node_1.txt", "node_00.txt", "node_-1.txt", "node_+1.txt", "node_1_0.txt", "node0.txt", "node.txt"),
    *("node_0", "node_0.json", "Node_0.txt", ".node_0.txt", "node_0.txt.bak", "sw_0.txt", "sw_1.txt", "switch_0.txt"),
    *("node_0 .txt", "node_٠.txt", "other", "node_1e0.txt", "node_0x1.txt", "sw.txt"),
)
_SEEDS: tuple[Any, ...] = (
    *("1000", "x", 1000.5, True, None, [], {}, 10**400, -1, float("nan"), float("inf"), "１０", " 5 "),
)


def _odd_fields(package: Package, rng: random.Random) -> None:
    fields = described(package)
    for name in (rng.choice(("division", "status")), *rng.sample(sorted(fields), rng.randint(0, 5))):
        fields[name] = rng.choice((*_ODD_VALUES, "Closed", "open", "x", ["closed"]))
        if rng.random() < 0.2:
            del fields[name]
    package.description().write_text(json.dumps(fields))


def _odd_names(package: Package, rng: random.Random) -> None:
    """Names of fields in another case, with spaces around, twice, or unknown."""
    fields = described(package)
    name = rng.choice(sorted(fields))
    value = fields[name] if rng.random() < 0.5 else fields.pop(name)
    fields[rng.choice((name.upper(), f" {name}", f"{name} ", name.replace("_", "-"), "x" * 1000, ""))] = value
    package.description().write_text(json.dumps(fields, ensure_ascii=rng.random() < 0.5))


def _factor(package: Package, rng: random.Random) -> None:
    place = rng.choice((package.entry, package.entry, package.system, package.folder))
    file = place / rng.choice(("scaling.json", "scaling.json", "Scaling.json", "scaling.JSON"))
    if rng.random() < 0.2:
        instead(file, rng)
    else:
        file.write_bytes(rng.choice(_FACTORS))


def _flag_files(package: Package, rng: random.Random) -> None:
    places = (package.folder, package.folder / "results", package.system, package.entry)
    for place in rng.sample(places, rng.choice((1, 1, 2))):
        file = place / rng.choice(("package_checker_params", "package_checker_params", "Package_Checker_Params"))
        if rng.random() < 0.1:
            instead(file, rng)
        else:
            file.write_bytes(rng.choice(_FLAGS))


def _power_files(package: Package, rng: random.Random) -> None:
    """Power measurements of each run, some of other names, of another number, or of another kind."""
    folder = package.entry / "power"
    if rng.random() < 0.1:
        instead(folder, rng)
        return
    folder.mkdir(exist_ok=True)
    odd = rng.choice((0.0, 0.1, 0.5))
    for log in package.logs:
        run = folder / (log.stem if rng.random() < 0.95 else rng.choice((log.name, "result_99", log.stem.upper())))
        if rng.random() < odd / 5:
            instead(run, rng)
            continue
        run.mkdir()
        names = rng.sample(_POWER_NAMES, 2) if rng.random() < odd else ["node_0.txt"]
        for name in names:
            (run / name).mkdir() if rng.random() < odd / 5 else (run / name).write_bytes(b"")


def _some(package: Package, rng: random.Random, *counts: int) -> list[int]:
    """The numbers of some logs: as many as one of these counts says."""
    return rng.sample(range(len(package.logs)), rng.choice(counts))


def _rewrite(package: Package, numbers: Iterable[int], change: Callable[[Log], Log]) -> None:
    """Write some logs as they were made, with a change."""
    for number in numbers:
        package.logs[number].write_bytes(change(log_of(package.combination, number)).content())


def _foreign_log(package: Package, rng: random.Random) -> None:
    """Logs of another round, benchmark or division in place of some, or of all."""
    ours = package.combination
    alike = {
        "round": [c for c in package_combinations() if c.benchmark == ours.benchmark and c.division == ours.division],
        "benchmark": [c for c in combinations() if c.round == ours.round and c.division == ours.division],
        "division": [c for c in combinations() if c.round == ours.round and c.benchmark == ours.benchmark],
    }
    others = [c for c in alike[rng.choice(list(alike))] if c != ours and c.round != "0.6"]
    other: Combination = rng.choice(others)
    for number in _some(package, rng, 1, 1, 2, len(package.logs)):
        package.logs[number].write_bytes(log_of(other, number).content())


def _seeds(package: Package, rng: random.Random) -> None:
    """Seeds of odd types, or of another line or file, in some logs."""
    value = rng.choice(_SEEDS)

    def seeded(log: Log) -> Log:
        place = log.first("seed")
        number = log.record(place)["value"] - 1000
        metadata: Any = {"file": "train.py", "lineno": rng.choice((3, "3", 3.0, None, number, [3]))}
        if rng.random() < 0.2:
            metadata.pop(rng.choice(("file", "lineno")))
        return log.altered(place, value=value if rng.random() < 0.7 else 1000, metadata=metadata)

    _rewrite(package, _some(package, rng, 1, 2, len(package.logs)), seeded)


def _noise(package: Package, rng: random.Random) -> None:
    """Megabytes of other output, or bytes that no text has, around the records."""
    file = rng.choice(package.logs)
    kinds = (b"step 1 loss 0.5\n" * 20_000, b"\xff\xfe\x00" * 1000, b"\r" * 5000, b"x" * 300_000)
    line = rng.choice(kinds).rstrip(b"\n") + b"\n"
    whole = file.read_bytes()
    file.write_bytes(rng.choice((line + whole, whole + line, whole.replace(b"\n", b"\r\n"), whole.rstrip(b"\n"))))


def _about_the_limit(package: Package, rng: random.Random) -> None:
    """Runs that converge at the limit of the convergence test, at the mean of the reference, or next to either."""
    ours = package.combination
    if ours.division != "closed":
        return
    usage, name = usage_and_round(ours.round)
    plan = plan_of(get_round(usage, name), ours.benchmark, CLOSED[ours.round][ours.benchmark])
    if plan.minimum is None or plan.mean is None:
        return
    near = rng.choice((plan.minimum, plan.mean, (plan.minimum + plan.mean) / 2))
    near = rng.choice((near, near + 1e-9, near - 1e-9, math.ceil(near), math.floor(near), round(near, 3)))
    _rewrite(package, range(len(package.logs)), lambda log: counting(log, lambda value: near))


def _batch_sizes(package: Package, rng: random.Random) -> None:
    """Another batch size in one log or in all, also of an odd type."""
    size: Any = rng.choice((1, 8, 10**6, "256", 256.0, 256.5, None, True, [], -1, 10**400, float("nan"), float("inf")))
    numbers = _some(package, rng, 1, len(package.logs))
    _rewrite(package, numbers, lambda log: log.altered(log.places("global_batch_size"), value=size))


def _description_bytes(package: Package, rng: random.Random) -> None:
    whole = package.description().read_bytes()
    twice = whole.replace(b"{", b'{"division": "closed",', 1)
    number = whole.replace(b"{", b'{"n": ' + b"9" * 5000 + b",", 1)
    accent = whole.replace(b"ACME", b"ACM\xe9")
    more = (b"\xef\xbb\xbf" + whole, whole[:-3], whole + b"x", whole + b"\n\n")
    cases = (*ODD_BYTES, DEEP, twice, number, accent, *more)
    package.description().write_bytes(rng.choice(cases))


def _log_content(package: Package, rng: random.Random) -> None:
    file = rng.choice(package.logs)
    whole = file.read_bytes()
    half = whole[: rng.randrange(len(whole))]
    file.write_bytes(rng.choice((b"", b"\0" * 100, half, whole.decode().encode("utf-16"), whole * 2, b"x\n" + whole)))


def _noncompliant_logs(package: Package, rng: random.Random) -> None:
    miss = -1e9 if package.combination.benchmark in ("ssd", "resnet", "retinanet") else 1e9
    numbers = _some(package, rng, 1, 1, 2)
    _rewrite(package, numbers, lambda log: log.altered(log.places("eval_accuracy"), value=miss))


def _without_seed(package: Package, rng: random.Random) -> None:
    file = rng.choice(package.logs)
    file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True) if b'"key": "seed"' not in line))


FILE_FAULTS: dict[str, Change] = {
    "description content": _description_bytes,
    "log of another kind": lambda package, rng: instead(rng.choice(package.logs), rng),
    "content of a log": _log_content,
    "noncompliant logs": _noncompliant_logs,
    "copied log": lambda package, rng: shutil.copyfile(*rng.sample(package.logs, 2)),
    "runs that converge too fast": lambda package, rng: speed_up(package),
    "log without seed": _without_seed,
    "description with odd values": _odd_fields,
    "description with odd names": _odd_names,
    "factor of an odd kind": _factor,
    "flags of an odd kind": _flag_files,
    "power of an odd kind": _power_files,
    "logs that belong elsewhere": _foreign_log,
    "odd seeds": _seeds,
    "noise in a log": _noise,
    "odd batch sizes": _batch_sizes,
    "runs about the limit": _about_the_limit,
}


#: Names of systems that mean something to a search, or that only look odd.
PATTERNS = (
    *("rack[8xH100]", "rack*", "rack?", "[r]ack1", "[!x]ack", "rack[", "rack]", "**", "*", "?ack1", "[[]x]", "{a,b}"),
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
    *("result_9.txt", "result_.txt", "result_[0].txt", "result_*.txt", "result_9.TXT", ".result_9.txt"),
    *("result_[0-9].txt", "result_?.txt", "result_0 (copy).txt", "result_ä.txt", "result_\n.txt", "result_0.txt.gz"),
    *(os.fsdecode(b"result_\xff.txt"), "result_" + "9" * 200 + ".txt", "._result_0.txt", ".result_0.txt"),
    *("result_0.TXT",),
)
_LITTER = (
    *(".DS_Store", "._result_0.txt", ".result_0.txt", "Thumbs.db", ".gitkeep", ".nfs0001", "result_0.txt~"),
    *("#result_0.txt#",),
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


def spoil(package: Package, rng: random.Random, faults: int, fault: str | None = None) -> tuple[Package, Sequence[str]]:
    """Put some faults into a package, one after the other, or one by name; gives the package and their names."""
    names = (fault,) if fault else tuple(rng.choice(list(FAULTS)) for _ in range(faults))
    for name in names:
        # A fault that needs what an earlier one took away is none.
        with suppress(OSError, ValueError, TypeError, AttributeError, IndexError, RecursionError):
            found = FAULTS[name](package, rng)
            if isinstance(found, Path) and name == "organisation renamed":
                package = package._replace(folder=found)
    return package, names


def file_tree(folder: Path) -> str:
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


#: Where mlsub rejects and the official tool accepts: the rule that does so, and the row of docs/deviations.yaml.
STRICTER: dict[str, str] = {
    "tree.unknown-benchmark": "unknown-benchmark",
    "tree.unknown-scaling": "hpc-third-folder",
    "tree.unreadable": "broken-link",
    "tree.no-logs": "no-logs",
    "tree.systems-missing": "no-systems",
    "log.empty": "unreadable-log",
    "log.no-records": "unreadable-log",
    "log.wide-encoding": "unreadable-log",
    "entry.glob-name": "glob-name",
}
#: Rules that name a log and reject its entry.
_ENTRY = ("official.", "seed.", "rcp.")


class Tried(NamedTuple):
    """A package with faults, what each side says of it, and in words what lies in it.

    ``factors`` are those of the entries that pass the convergence test, where the official checker writes one: mlsub's,
    and what it wrote.
    """

    description: str
    report: Report
    answer: Answer
    file_tree: str
    factors: tuple[tuple[float, float], ...] = ()

    @property
    def problem(self) -> str | None:
        """Where the sides differ without a known reason, or a rule of mlsub crashed; None where neither is so."""
        crashed = [f.actual for f in self.report.findings if f.rule in ("rule.crashed", "review.crashed")]
        if crashed:
            return self._told(f"a rule of mlsub crashed: {crashed}")
        if accepted(self.report) and not self.answer.accepted:
            return self._told("mlsub accepts what the official checker does not")
        if self.answer.accepted and not accepted(self.report) and (self._unexplained or not rejecting(self.report)):
            return self._told("mlsub rejects what the official checker accepts")
        differing = [pair for pair in self.factors if not math.isclose(*pair, rel_tol=1e-12)]
        if differing:
            return self._told(f"the factors differ: {differing}")
        return None

    @property
    def _unexplained(self) -> set[str]:
        """The rules that reject for no reason of STRICTER.

        A hidden description is opened by the official tool, which does not check its fields.
        """
        logs = {log.path for log in self.report.logs}
        # What a single log is noncompliant by is forgiven, or has a finding on the entry as well.
        deciding = [f for f in self.report.findings if f.rejects and (f.path not in logs or f.rule.startswith(_ENTRY))]
        # The result summarizer, which is not asked here, ends on some descriptions that the package checker takes.
        deciding = [f for f in deciding if "result summarizer" not in f.message]
        # Of an entry in whose place others are judged nothing else matters.
        replaced = tuple(f.path for f in deciding if f.rule == "entry.glob-name")
        return {
            f.rule
            for f in deciding
            if f.rule not in STRICTER and "systems/." not in f.path and not f.path.startswith(replaced)
        }

    @property
    def word(self) -> str:
        """A word for the figures."""
        side = "accepted" if self.answer.accepted else "crash" if self.answer.crash else "rejected"
        return f"official {side}, mlsub {'accepted' if accepted(self.report) else 'rejected'}"

    def _told(self, what: str) -> str:
        return f"{self.description}: {what}\n  {sorted(rejecting(self.report))}\n  {self.answer}\n{self.file_tree}"


def tried(seed: str, number: int, above: Path, fault: str | None = None) -> Tried:
    """Build a package, put faults into it (or one, by name) and ask both sides."""
    rng = random.Random(f"{seed} {number} {fault or ''}")
    package = build(above, rng.choice(package_combinations()))
    package, names = spoil(package, rng, rng.choice((1, 1, 2, 3)), fault)
    # The official checker comes last, for it writes into the package.
    report, content = ours(package), file_tree(package.folder)
    description = f"{seed} {number}, {package.combination}, {', '.join(names)}"
    answer = official(package)
    both = answer.accepted and accepted(report)
    return Tried(description, report, answer, content, tuple(_factors(package, report)) if both else ())


def _factors(package: Package, report: Report) -> Iterator[tuple[float, float]]:
    usage, name = usage_and_round(package.combination.round)
    algorithm = algorithm_of(usage, name)
    for entry in report.entries if algorithm and algorithm.normalise else ():
        if entry.rcp.verdict == "pass":
            file = package.folder / entry.path / "scaling.json"
            written = json.loads(file.read_text())["scaling_factor"] if file.is_file() else 1.0
            yield entry.rcp.scaling, written
