"""Whether a file of reference points can be used: by this tool, and by the official one."""

from __future__ import annotations

import json
import math
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from mlsub.convergence import cut_of, traits_of
from mlsub.convergence.reference import EPOCHS, MAX_BYTES, SAMPLES
from mlsub.io.data import loads
from mlsub.io.look import open_regular
from mlsub.io.show import show
from mlsub.log.reading import LARGEST_COUNT, usable_number
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.rules.load import entry_requirements

#: Problems of one file that are reported.
_MAX_PROBLEMS = 20
#: Batch sizes of one benchmark; installed files have up to thirteen, and each costs a search for its limit.
_MAX_RECORDS = 1000
#: Nested deeper, a record could be read but not be written again. Hyperparameters are lists of numbers at most.
_MAX_DEPTH = 20


class RcpProblem(msgspec.Struct, frozen=True):
    """What is wrong, in one line; an error makes the file unusable. ``record`` is None for the file as a whole."""

    severity: Literal["error", "warning"]
    message: str
    record: str | None = None
    fix: str | None = None


def needed_runs(benchmark_name: str) -> int | None:
    """Runs of a submission's entry in the newest round with this benchmark; None where no round has it."""
    for usage in usages():
        for name in reversed(known_rounds(usage)):
            if benchmark_name in get_round(usage, name).benchmarks:
                return entry_requirements(usage, name, benchmark_name).runs
    return None


def check_reference_file(file: Path) -> tuple[RcpProblem, ...]:
    """All problems of a reference file, errors first; bad input never raises."""
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            # A pipe may never end, and could not be read a second time.
            return (RcpProblem("error", "It is not a regular file", fix="Save it in a file, and pass that file."),)
        with open_regular(file) as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        return (RcpProblem("error", f"It cannot be read: {getattr(error, 'strerror', None) or error}"),)
    if not content.strip():
        return (RcpProblem("error", "It is empty"),)
    if len(content) > MAX_BYTES:
        return (RcpProblem("error", f"It is larger than {MAX_BYTES >> 20} MiB"),)
    try:
        records = loads(content, _parse_object)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        return (RcpProblem("error", f"It is not JSON{where}"),)
    found: list[RcpProblem] = []
    if json.detect_encoding(content) != "utf-8":
        message = "It begins with a byte order mark or is not UTF-8, which the official tool cannot read"
        found.append(RcpProblem("warning", message, fix="Save it as UTF-8 without a byte order mark."))
    found += check_records(records)
    return tuple(sorted(found, key=lambda problem: problem.severity))[:_MAX_PROBLEMS]


class _ObjectWithRepeats(dict[str, Any]):
    """An object in which names stood twice: ``repeated``."""

    repeated: tuple[str, ...] = ()


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    marked = _ObjectWithRepeats(found)
    marked.repeated = tuple(sorted(name for name, count in Counter(name for name, _ in pairs).items() if count > 1))
    return marked


def _repeated_names(value: Any) -> tuple[str, ...]:
    return value.repeated if isinstance(value, _ObjectWithRepeats) else ()


def check_records(records: Any) -> Iterator[RcpProblem]:
    """Problems of the content of a reference file."""
    if not isinstance(records, dict):
        yield RcpProblem("error", "An object of reference points is needed, each under a name of its own")
        return
    if not records:
        yield RcpProblem("error", "It has no reference points")
        return
    if len(records) > _MAX_RECORDS:
        yield RcpProblem("error", f"It has {len(records)} records; more than {_MAX_RECORDS} are not read")
        return
    for name in _repeated_names(records):
        yield RcpProblem("error", "Two records have the same name, of which only one would count", name[:60])
    broken = False
    for name, record in records.items():
        for problem in _check_record(name[:60], record):
            broken = broken or problem.severity == "error"
            yield problem
    if not broken:
        yield from _check_as_one(records)


def _check_record(name: str, record: Any) -> Iterator[RcpProblem]:
    if not isinstance(record, dict):
        yield RcpProblem("error", "A record is not an object; is this a file of reference points?", name)
        return
    missing = [key for key in ("Benchmark", "BS", "Hyperparams") if key not in record]
    if missing:
        yield RcpProblem("error", f"{', '.join(missing)} missing; is this a file of reference points?", name)
        return
    for key in _repeated_names(record):
        yield RcpProblem("error", f"{show(key, 40)} stands in it twice, of which only the last would count", name)
    called, size = record["Benchmark"], record["BS"]
    if not isinstance(called, str) or not called:
        yield RcpProblem("error", f"Benchmark is not a name: {show(called)}", name)
        return
    if not _is_count(size):
        what = f"is above {LARGEST_COUNT:g}" if _is_large(size) else "is not a number above 0"
        yield RcpProblem("error", f"BS, the batch size, {what}: {show(size)}", name)
    if not isinstance(record["Hyperparams"], dict):
        yield RcpProblem("error", "Hyperparams is not an object", name)
    elif is_deep(record):
        yield RcpProblem("error", f"It is nested more than {_MAX_DEPTH} deep", name)
    yield from _check_points(name, record, called)


def _check_points(name: str, record: dict[str, Any], called: str) -> Iterator[RcpProblem]:
    wanted = traits_of(called).points
    if wanted not in record:
        other = next((key for key in (EPOCHS, SAMPLES) if key in record), None)
        fix = f"Rename {other!r} to {wanted!r}." if other else None
        yield RcpProblem("error", f"{wanted!r} missing, which the official tool reads for {called[:40]}", name, fix)
        return
    points = record[wanted]
    bad = [points] if not isinstance(points, list) else [point for point in points if not _is_count(point)]
    if bad:
        large = isinstance(points, list) and _is_large(bad[0])
        what = f"contains a number above {LARGEST_COUNT:g}" if large else "is not a list of numbers above 0"
        yield RcpProblem("error", f"{wanted!r} {what}: {show(bad[0])}", name)
        return
    least = 2 * cut_of(called) + 1
    runs = needed_runs(called)
    if len(points) < least:
        yield RcpProblem(
            "error", f"{len(points)} runs are too few for an olympic mean; at least {least} are needed", name
        )
    elif runs is None:
        yield RcpProblem("warning", f"{called[:40]} is not a benchmark of any round", name)
    elif len(points) < 2 * runs:
        yield RcpProblem(
            "warning", f"{len(points)} runs, where the rules ask for {2 * runs}: twice those of an entry", name
        )
    if len(points) >= least and len(set(points)) == 1:
        yield RcpProblem("warning", "All runs have the same point, so that nothing faster is accepted", name)


def _check_as_one(records: dict[str, Any]) -> Iterator[RcpProblem]:
    named = sorted({record["Benchmark"] for record in records.values()})
    if len(named) > 1:
        yield RcpProblem("error", f"The records are of {len(named)} benchmarks: {', '.join(named)[:100]}")
    sizes: dict[float, str] = {}
    for name, record in records.items():
        first = sizes.setdefault(record["BS"], name)
        if first != name:
            message = f"Batch size {show(record['BS'])} has a record already: {first[:60]}"
            yield RcpProblem("error", message, name[:60], "Put their runs together in one record.")


def _is_count(value: Any) -> bool:
    """Whether it is a number above 0 that can be computed with; a larger one would overflow on the way."""
    return (usable_number(value) or 0) > 0


def _is_large(value: Any) -> bool:
    return isinstance(value, (int, float)) and LARGEST_COUNT <= value < math.inf


def is_deep(value: Any, levels: int = _MAX_DEPTH) -> bool:
    """Whether a record, or what is to be one, has objects and arrays nested deeper than a reference file may have."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(is_deep(inner, levels - 1) for inner in members)
