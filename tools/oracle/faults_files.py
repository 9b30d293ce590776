"""Faults of the files of a package: descriptions, flags, factors, power measurements, logs that belong elsewhere."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mlsub.convergence.curves import plan_of
from mlsub.rounds import get_round
from tools.oracle.generate import Combination, combinations, usage_and_round
from tools.oracle.log import Log
from tools.oracle.packages import CLOSED, Package, counting, log_of, package_combinations, speed_up

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
    *(b'{"scaling_factor": 1.01}', b'{"scaling_factor": "1.01"}', b'{"scaling_factor": NaN}'),
    b'{"scaling_factor": 1e999}',
    *(b'{"scaling_factor": null}', b'{"scaling_factor": [1.01]}', b'{"scaling_factor": -1}'),
    b'{"scaling_factor": true}',
    *(b'\xef\xbb\xbf{"scaling_factor": 1.01}', b'{"Scaling_Factor": 1.01}', b" " * 100_000, *ODD_BYTES, DEEP),
)
_FLAGS: tuple[bytes, ...] = (
    *(b"rcp-bypass", b"seed-checker-bypass\nrcp-bypass", b"seed-checker-bypass\n", b"seed-checker-bypass"),
    *(b"rcp-bypass ", b" rcp-bypass", b"RCP-BYPASS", b"--rcp-bypass"),
    *(
        b"\xef\xbb\xbfrcp-bypass",
        b"rcp-bypass\0",
        b"rcp-bypass,seed-checker-bypass",
        b"rcp-bert-train-samples",
        b"#rcp-bypass",
    ),
    *(b"", b"rcp-bypass", b"rcp-bypass\n", b"rcp_bypass", b"\xff\xfe", b"a\xe9b", b"x" * 1000),
    *(b"x" * 70_000, b"rcp\xadbypass", "rcp‑bypass".encode()),
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
    for place in rng.sample(
        (package.folder, package.folder / "results", package.system, package.entry), rng.choice((1, 1, 2))
    ):
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
    line = rng.choice(
        (b"step 1 loss 0.5\n" * 20_000, b"\xff\xfe\x00" * 1000 + b"\n", b"\r" * 5000 + b"\n", b"x" * 300_000 + b"\n")
    )
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
