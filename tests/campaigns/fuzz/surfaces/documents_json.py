"""Documents in JSON, beside the standard library and the official tools that read the same files."""

from __future__ import annotations

import io
import json
import logging
import math
import random
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from mlperf_logging.rcp_checker.rcp_checker import RCP_Checker, submission_runs
from mlperf_logging.result_summarizer import result_summarizer

from mlsub.commands.rcp.build import against_schema
from mlsub.config.baseline import Baseline, read_baseline
from mlsub.convergence.algorithm import algorithm_of
from mlsub.convergence.filecheck import check_reference_file
from mlsub.convergence.reference import EPOCHS, SAMPLES, Point, benchmark_in, points_of, runs_of
from mlsub.io.documents import read_pairs
from mlsub.io.errors import MlsubError
from mlsub.io.show import plain
from mlsub.rounds import get_round
from mlsub.score.scaled import FILE, read_scaling
from mlsub.submission.params import FILE as FLAGS
from mlsub.submission.params import read_flags
from mlsub.systems.capture.machine import from_json, merge, to_json
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.provider import one_in
from tests.campaigns.fuzz.scratch import scratch
from tests.campaigns.fuzz.surfaces.documents_grammar import ODD
from tests.campaigns.fuzz.surfaces.documents_shared import (
    check_error,
    check_findings,
    placed,
    placed_anew,
    same,
    taken,
)

_ROUND = "6.1"


def _pairs(data: bytes) -> None:
    """Keys and values are those of :func:`json.loads`, in order, each with the line on which its key stands."""
    file = placed(data, "fuzz.json")
    pairs = taken(lambda: read_pairs(file, kind="files", top="keys"), data, file)
    try:
        content = json.loads(data.decode("utf-8").removeprefix("\ufeff"), object_pairs_hook=_Members)
    except (ValueError, RecursionError):
        content = None
    sound = isinstance(content, _Members) and len({key for key, _ in content}) == len(content)
    if (pairs is not None) is not sound:
        raise BrokenError(f"{'refused' if sound else 'taken'}, but it is {content!r:.300}")
    if pairs is None:
        return
    plain = json.loads(data.decode("utf-8").removeprefix("\ufeff"))
    if not same({pair.key: pair.value for pair in pairs}, plain):
        raise BrokenError(f"{pairs!r:.300} is not {plain!r:.300}")
    lines = re.split("\r\n|\r|\n", data.decode("utf-8"))
    for pair in pairs:
        if pair.key.isalnum() and "\\u" not in lines[pair.line - 1] and pair.key not in lines[pair.line - 1]:
            raise BrokenError(f"{pair.key!r} is not on line {pair.line}")


class _Members(list[tuple[str, Any]]):
    """The members of an object, twice given ones included."""


def _scaling(data: bytes) -> None:
    """A factor that is used is the one by which the official summarizer multiplies."""
    folder = placed(data, FILE).parent
    found = read_scaling(folder, "x")
    check_findings(found.findings, data)
    if (found.factor is None) is (not found.findings):
        raise BrokenError(f"{found}")
    try:
        theirs: Any = result_summarizer._get_scaling_factor(str(folder))
    except Exception:
        theirs = None
    if found.factor is not None and (theirs is None or found.factor != theirs):
        raise BrokenError(f"{found.factor} here, {theirs!r} in the official tool")
    if found.factor is None and type(theirs) in (int, float) and 0 < theirs <= 1000:
        raise BrokenError(f"{theirs!r} in the official tool, nothing here")


def _reference(data: bytes) -> None:
    """A file without an error can be computed with, and gives the points of the official tool."""
    file = placed_anew(data, ".json")
    try:
        found = check_reference_file(file)
        for problem in found:
            if not problem.message.strip() or len(plain(problem.message)) > 1_000:
                raise BrokenError(f"{problem}")
        if any(problem.severity == "error" for problem in found):
            _still_refused_in_one_line(file)
        elif one_in(4, data):
            _points(file, data, warned=bool(found))
    finally:
        file.unlink()


def _still_refused_in_one_line(file: Path) -> None:
    """What does not look at a file before it reads it either gets what it needs, or says why not."""
    for read in (lambda: benchmark_in(file), lambda: runs_of(file), lambda: points_of(file, "resnet", 5, _algorithm())):
        try:
            read()
        except MlsubError as error:
            check_error(error)


def _points(file: Path, data: bytes, *, warned: bool) -> None:
    content = json.loads(data)
    name = benchmark_in(file)
    if name is None:
        raise BrokenError("a file without an error names no benchmark")
    known = name in submission_runs["training"]
    runs = submission_runs["training"].get(name, 5)
    points = points_of(file, name, runs, _algorithm())
    if len(points) != len(content) or len(runs_of(file)) != len(content):
        raise BrokenError(f"{len(content)} records, {len(points)} points")
    if not warned and against_schema(content):
        raise BrokenError(f"{against_schema(content)}")
    if known and not warned and one_in(12, data):
        _compare(points, _official(data.decode("utf-8"), name))


def _compare(points: tuple[Point, ...], theirs: list[dict[str, Any]]) -> None:
    for ours, other in zip(points, theirs, strict=True):
        pairs = ((ours.mean, other["RCP Mean"]), (ours.stdev, other["RCP Stdev"]), (ours.minimum, other["Min Epochs"]))
        if ours.batch_size != other["BS"] or not all(math.isclose(a, b, rel_tol=1e-9) for a, b in pairs):
            raise BrokenError(f"{ours} here, {other!r:.300} in the official tool")


def _official(text: str, name: str) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            checker = RCP_Checker("training", f"{_ROUND}.0", name, False, io.StringIO(text))
        finally:
            logging.disable(logging.NOTSET)
    return list(checker.rcp_data.values())


@cache
def _algorithm() -> Any:
    return algorithm_of("training", _ROUND)


def _capture(data: bytes) -> None:
    """A capture is the same when it is written and read again, and can be joined with another one."""
    try:
        found = from_json(data, "the capture")
    except MlsubError as error:
        check_error(error)
        return
    if from_json(to_json(found).encode(), "it") != found:
        raise BrokenError("it is another one when it is written and read again")
    values, findings = merge([("a", found), ("b", from_json(_CAPTURE, "b"))])
    check_findings((finding for finding in findings), b"")
    json.dumps({name: one.value for name, one in values.items()})


def _baseline(data: bytes) -> None:
    """A baseline is the same when it is written and read again."""
    file = placed(data, "baseline.json")
    found: Baseline | None = taken(lambda: read_baseline(file), data, file)
    if found is not None and read_baseline(placed(found.content(), "baseline.json")) != found:
        raise BrokenError("it is another one when it is written and read again")


def _flags(data: bytes) -> None:
    """From v4.0 a flag is set where the package checker sets it: by a line that is the flag and nothing else."""
    placed(data, FLAGS)
    for name in ("1.1", "2.0", "3.1", "4.0", "4.1", "6.1"):
        for root in (False, True):
            flags = read_flags(scratch("documents"), "x", get_round("training", name), root=root)
            check_findings(flags.findings, data)
            if not root and name in ("4.1", "6.1") and len(data) <= 1 << 16:
                _compare_flags(flags.rcp_bypass, "rcp-bypass", data)
                _compare_flags(flags.seed_bypass, "seed-checker-bypass", data)


def _compare_flags(asked: str | None, flag: str, data: bytes) -> None:
    try:
        lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").readlines()
    except UnicodeDecodeError:
        lines = []
    if (asked is not None) is not (flag in lines):
        raise BrokenError(f"{flag}: {asked} here, {flag in lines} in the official tool")


_CAPTURE = (
    b'{"mlsub": "1", "host": "a1", "values": {"host_processor_model_name": {"value": "EPYC", "source": "lscpu"},'
    b' "cooling": {"value": "TODO", "source": "no tool"}}}'
)
_RECORD = {"Benchmark": "resnet", "BS": 4096, "Hyperparams": {"opt": "lars"}, EPOCHS: [40, 41, 42, 43, 44] * 2}
_LARGER = {**_RECORD, "BS": 8192, EPOCHS: [45.5, 46, 47, 48, 49] * 2}
_SAMPLES = {"Benchmark": "flux1", "BS": 512, "Hyperparams": {}, SAMPLES: [1e6, 1.1e6, 1.2e6, 1.3e6, 1.4e6] * 4}


def _reference_files(rng: random.Random) -> bytes:
    """Files of reference points, with values of every kind."""
    records: dict[str, Any] = {}
    for at in range(rng.choice((1, 1, 2, 4))):
        record = dict(rng.choice((_RECORD, _LARGER, _SAMPLES)))
        count = rng.choice((2, 3, 5, 9, 10, 11, 20, 40))
        record["BS"] = rng.choice((at + 1, 2**at * 512, 1.5, 1e300))
        spread = rng.choice((0, 1, 10, 1e-9))
        unit = EPOCHS if EPOCHS in record else SAMPLES
        record[unit] = [rng.choice((40, 1e-3, 1e6)) + spread * rng.random() for _ in range(count)]
        if rng.random() < 0.3:
            record[rng.choice(("BS", "Benchmark", "Hyperparams", EPOCHS, "more"))] = rng.choice(ODD)
        elif rng.random() < 0.1:
            record[unit] = [*record[unit], rng.choice(ODD)]
        records[f"r{at}"] = record
    return json.dumps(records).encode()


def _pair_files(rng: random.Random) -> bytes:
    content = {rng.choice(("a", "b", "opt_name", "é", "\n", "")): rng.choice(ODD) for _ in range(4)}
    text = json.dumps(content, indent=rng.choice((None, 0, 2)), ensure_ascii=rng.random() < 0.5)
    return text.replace('"a"', rng.choice(('"a"', '"b"', '\n\n\t"a"'))).encode("utf-8", "surrogatepass")


_SEEDS = {
    "pairs": (b'{"a": 1, "b": [1, {"c": null}],\r\n "d": "x\\ny"}', b'\xef\xbb\xbf{\n"a": NaN,\n"b": -Infinity}'),
    "scaling": (b'{"scaling_factor": 1.023}', b'{"scaling_factor": 1, "scaling_factor": 2e0}', b"[1.5]"),
    "reference-points": tuple(
        json.dumps(one).encode() for one in ({"a": _RECORD}, {"a": _RECORD, "b": _LARGER}, {"flux": _SAMPLES})
    ),
    "capture": (_CAPTURE,),
    "baseline": (
        b'{"title": "x", "baseline": 1, "findings": [{"path": "a", "rule": "b", "message": "c", "count": 2}]}',
        Baseline(findings=()).content(),
    ),
    "checker-params": (b"rcp-bypass", b"seed-checker-bypass\nrcp-bypass", b"rcp_bypass\n", b"rcp_bert_train_samples\n"),
}
_WORDS = (
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"9" * 5000,
        b"-0.0",
        b"1E400",
        b"true",
        b"null",
        b'""',
        b'"\\ud800"',
        b"[" * 1100,
    ),
    *(
        b'{"a":' * 300,
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r",
        b"\\u0000",
        b"\x00",
        b'"scaling_factor": ',
        b'"BS": ',
        b"0.1",
    ),
    *(
        b'"Benchmark": "unet3d"',
        b'"values": ',
        b'"count": 0',
        b"rcp-bypass",
        b"seed-checker-bypass",
        b"\r\n",
        b" ",
        b"\x0c",
    ),
)


def _harness(name: str, surface: str, run: Any, generate: Any = None, **bounds: float) -> Harness:
    return Harness(name, surface, run, lambda: _SEEDS[name], _WORDS, generate, longest=8_000, **bounds)


HARNESSES = (
    _harness("pairs", "keys and values in JSON", _pairs, _pair_files),
    _harness("scaling", "scaling.json", _scaling),
    _harness("reference-points", "files of reference points", _reference, _reference_files, seconds=5.0),
    _harness("capture", "captures of hosts", _capture),
    _harness("baseline", "baselines", _baseline),
    _harness("checker-params", "package_checker_params", _flags),
)
