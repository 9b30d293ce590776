"""Small logs of chosen convergence, in a benchmark's folder of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mlsub.convergence import USUAL, Options
from mlsub.convergence.entry import Convergence, convergence_of
from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements as needs
from mlsub.submission.model import LogReport
from mlsub.submission.params import NO_FLAGS, Flags
from tools.support.judging import entry_of, report_on


def log_of(
    name: str, batch_size: Any, point: Any, *, status: str | None = "success", unit: str = "epoch_num", **values: Any
) -> str:
    """A log with what the convergence test reads; a ``point`` of None leaves the evaluation out."""
    records: list[tuple[str, Any, dict[str, Any]]] = [
        ("submission_benchmark", name, {}),
        ("submission_division", "closed", {}),
        *((key, value, {}) for key, value in values.items()),
        *([("global_batch_size", batch_size, {})] if batch_size is not None else []),
        ("run_start", None, {}),
    ]
    if point is not None and name == "stable_diffusion":
        for metric, value in (("FID", 89.0), ("CLIP", 0.16)):
            records.append(("eval_accuracy", value, {"metric": metric, "samples_count": point, "step_num": point}))
    elif point is not None:
        records.append(("eval_accuracy", 0.9, {unit: point}))
    if status is not None:
        records.append(("run_stop", None, {"status": status}))
    lines = [
        {"namespace": "", "time_ms": 1000 * n, "event_type": "POINT_IN_TIME", "key": k, "value": v, "metadata": m}
        for n, (k, v, m) in enumerate(records)
    ]
    return "".join(f":::MLLOG {json.dumps(line)}\n" for line in lines)


def write_logs(folder: Path, logs: Sequence[str]) -> None:
    """Write logs as an entry's results."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("result_*.txt"):
        old.unlink()
    for number, text in enumerate(logs):
        (folder / f"result_{number}.txt").write_text(text)


def judged(
    folder: Path, round_name: str, *, usage: str = "training", flags: Flags = NO_FLAGS, options: Options = USUAL
) -> Convergence:
    """What the convergence test says of a benchmark's folder, which is named like the benchmark."""
    round_ = get_round(usage, round_name)
    results = sorted(folder.glob("result_*.txt"))
    entry = entry_of(folder, results, _reports(results, usage, round_name), in_tree=False)
    return convergence_of(entry, needs(usage, round_name, folder.name), round_, flags, options)


def _reports(results: Sequence[Path], usage: str, round_name: str) -> Iterator[LogReport]:
    """The reports on some logs; of those with the same content one is judged, for what convergence needs of it."""
    known: dict[bytes, LogReport] = {}
    for file in results:
        content = file.read_bytes()
        if content not in known:
            known[content] = report_on(file, usage, round_name)
        yield msgspec.structs.replace(known[content], path=file.name)
