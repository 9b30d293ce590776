"""Logs with what the convergence checker stumbles over: repeated, missing, misplaced and odd records."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

Record = dict[str, Any]
Line = Record | str
Change = Callable[[random.Random, list[Line]], object]

NAMES = ("global_batch_size", "submission_benchmark", "eval_accuracy", "eval_error", "train_samples", "run_stop")
#: What stands where a count belongs.
ODD_COUNTS: tuple[Any, ...] = (
    *(True, False, None, "12", "many", [12], [12, 13], {}, -1, 0, 0.0005, 12.34567, 1e20, 1e308, 10**30, 10**400),
    *(float("inf"), float("-inf"), float("nan")),
)
ODD_SIZES: tuple[Any, ...] = (True, None, "4096", [4096], {}, -1, -1.0, 0, 0.5, 1e20, float("inf"), float("nan"))
_ODD_NAMES: tuple[Any, ...] = (None, 7, True, "", "Resnet", "bert", ["bert"], {"a": 1}, "stable_diffusion", "flux1")
_ODD_STATUS: tuple[Any, ...] = ("success", "aborted", None, True, "Success", ["success"])


def record(key: str, value: Any = None, **metadata: Any) -> Record:
    """One record as the official logger writes it."""
    return {
        "namespace": "",
        "time_ms": 1000,
        "event_type": "POINT_IN_TIME",
        "key": key,
        "value": value,
        "metadata": {"file": "train.py", "lineno": 7, **metadata},
    }


def plain_log(name: Any, size: Any, points: Sequence[Any], unit: str, status: Any = "success") -> list[Line]:
    """A log of some evaluations, with blocks around them."""
    made: list[Line] = [
        record("submission_benchmark", name),
        record("submission_division", "closed"),
        record("opt_name", "sgd"),
        record("global_batch_size", size),
        record("train_samples", 3_000_000),
        record("run_start"),
    ]
    for number, point in enumerate(points):
        made.append(record("block_start", first_epoch_num=number))
        if name == "stable_diffusion":
            for metric, value in (("FID", 89.0), ("CLIP", 0.16)):
                made.append(record("eval_accuracy", value, metric=metric, samples_count=point, step_num=point))
        else:
            made.append(record("eval_accuracy", 0.9, **{unit: point}))
        made.append(record("block_stop", first_epoch_num=number))
    made.append(record("run_stop", status=status))
    return made


def text_of(lines: Sequence[Line]) -> str:
    """The log as text."""
    return "".join(line if isinstance(line, str) else f":::MLLOG {json.dumps(line)}\n" for line in lines)


def change(chance: random.Random, lines: list[Line], times: int) -> None:
    """Change a log in some of the ways."""
    for _ in range(times):
        chance.choice(CHANGES)(chance, lines)


def _records(lines: list[Line], *keys: str) -> list[Record]:
    # The division is the description's, and no concern of the convergence checker.
    found = [line for line in lines if isinstance(line, dict) and line.get("key") != "submission_division"]
    return [line for line in found if not keys or line.get("key") in keys]


def _insert(chance: random.Random, lines: list[Line], line: Line) -> None:
    lines.insert(chance.randint(0, len(lines)), line)


def _repeat(chance: random.Random, lines: list[Line]) -> None:
    found = _records(lines, *NAMES)
    if found:
        again = json.loads(json.dumps(chance.choice(found)))
        if chance.random() < 0.3:
            again["value"] = chance.choice([1, 8192, "bert", None])
        _insert(chance, lines, again)


def _mention_in_key(chance: random.Random, lines: list[Line]) -> None:
    name = chance.choice(NAMES)
    key = chance.choice([f"eval_{name}", f"{name}_target", f"my_{name}_2"])
    metadata = chance.choice(
        [{}, {"epoch_num": 1}, {"samples_count": 512}, {"status": "success"}, {"status": "aborted", "epoch_num": 3}]
    )
    _insert(chance, lines, record(key, chance.choice([100_000, 1, "bert", None]), **metadata))


def _mention_elsewhere(chance: random.Random, lines: list[Line]) -> None:
    found = _records(lines)
    if found:
        target, name = chance.choice(found), chance.choice(NAMES)
        if chance.random() < 0.5 and isinstance(target.get("metadata"), dict):
            target["metadata"][name] = chance.choice([1, 4096, "x"])
        else:
            target["value"] = chance.choice([f"see {name}", {name: 1}, [name]])


def _escaped(chance: random.Random, lines: list[Line]) -> None:
    text = json.dumps(record("eval_accuracy", 0.9, epoch_num=1))
    spelt = chance.choice(["eval\\u005faccuracy", "\\run_stop", "eval\\/accuracy"])
    _insert(chance, lines, f":::MLLOG {text.replace('eval_accuracy', spelt)}\n")


def _twice_the_same_name(chance: random.Random, lines: list[Line]) -> None:
    text = json.dumps(record("note", 5, epoch_num=1, status="success"))
    key = f'{{"key": {json.dumps(chance.choice(NAMES))}, '
    _insert(chance, lines, f":::MLLOG {text.replace('{', key, 1)}\n")


def _move(chance: random.Random, lines: list[Line]) -> None:
    if (taken := _drop(chance, lines, "run_start")) is not None:
        _insert(chance, lines, taken)


def _drop(chance: random.Random, lines: list[Line], *besides: str) -> Record | None:
    """Take a record out of the log."""
    if not (found := _records(lines, *NAMES, *besides)):
        return None
    target = chance.choice(found)
    del lines[next(n for n, line in enumerate(lines) if line is target)]
    return target


def _drop_part(chance: random.Random, lines: list[Line]) -> None:
    found = _records(lines, *NAMES)
    if found:
        target = chance.choice(found)
        name = chance.choice(["key", "value", "metadata", "time_ms"])
        if name == "metadata" and chance.random() < 0.5:
            target[name] = chance.choice([None, [], "x", {}, 5])
        else:
            target.pop(name, None)


def _odd_count(chance: random.Random, lines: list[Line]) -> None:
    found = [line for line in _records(lines, "eval_accuracy", "eval_error") if isinstance(line.get("metadata"), dict)]
    if found:
        target = chance.choice(found)["metadata"]
        unit = chance.choice(["epoch_num", "samples_count", "step_num", "metric"])
        if chance.random() < 0.3:
            target.pop(unit, None)
        else:
            target[unit] = chance.choice(ODD_COUNTS)


def _odd_value(chance: random.Random, lines: list[Line]) -> None:
    odd = {
        "global_batch_size": ODD_SIZES,
        "submission_benchmark": _ODD_NAMES,
        "train_samples": ODD_COUNTS,
        "eval_accuracy": ("0.9", None, [0.9], {"FID": 1}, True, 91.0, float("nan")),
    }
    found = _records(lines, *odd)
    if found:
        target = chance.choice(found)
        target["value"] = chance.choice(odd[target["key"]])


def _odd_stop(chance: random.Random, lines: list[Line]) -> None:
    _insert(chance, lines, record("run_stop", status=chance.choice(_ODD_STATUS)))


def _other_evaluation(chance: random.Random, lines: list[Line]) -> None:
    metadata = {"epoch_num": chance.choice([1, 5, 60]), "samples_count": chance.choice([1, 10**6]), "metric": "FID"}
    key = chance.choice(["eval_error", "eval_accuracy"])
    _insert(chance, lines, record(key, chance.choice([0.1, 95.0]), step_num=100, **metadata))


def _broken_line(chance: random.Random, lines: list[Line]) -> None:
    name = chance.choice((*NAMES, "note"))
    whole = json.dumps(record(name, 512, epoch_num=2, status="success"))
    line = chance.choice(
        [
            f":::MLLOG {whole} 100%|####|\n",
            f":::MLLOG {whole[:-9]}\n",
            f":::MLLOG {whole} :::MLLOG {json.dumps(record('note'))}\n",
            f"0: :::MLLOG {whole}\r\n",
            f":::MLLOG {whole}\r:::MLLOG {json.dumps(record('note'))}\n",
            f":::MLLOG \n:::MLLOG\n{name}\n",
            f':::MLLOG ["{name}"]\n',
            f':::MLLOG "{name}"\n',
            f":::MLLOG \x1d{whole}\x85\xa0\n",
        ]
    )
    _insert(chance, lines, line)


CHANGES: tuple[Change, ...] = (
    *(_repeat, _mention_in_key, _mention_elsewhere, _escaped, _twice_the_same_name, _move, _drop, _drop_part),
    *(_odd_count, _odd_value, _odd_stop, _other_evaluation, _broken_line),
)
