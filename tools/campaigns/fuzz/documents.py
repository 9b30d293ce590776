"""Documents of every kind that mlsub reads: each is taken, or refused in lines that can be printed."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml
from mlperf_logging.result_summarizer import result_summarizer
from mlperf_logging.system_desc_checker.system_desc_checker import check_system_desc

from mlsub.commands.audit.read import read_claims
from mlsub.commands.demo.run import read_rehearsal
from mlsub.config.baseline import read_baseline
from mlsub.config.load import load
from mlsub.convergence.filecheck import check_reference_file
from mlsub.convergence.reference import benchmark_in, runs_of
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.documents import read_pairs
from mlsub.io.problems import FileProblemsError
from mlsub.io.read import read_tree
from mlsub.io.show import plain
from mlsub.packing.read import read_manifest
from mlsub.rounds import get_round
from mlsub.rules.arithmetic import ExpressionError
from mlsub.rules.formula import UnknownValueError, parse
from mlsub.rules.overlay import check_overlay
from mlsub.score import FILE, read_scaling
from mlsub.score.energy.read import read_run
from mlsub.score.energy.score import run_joules
from mlsub.submission.params import FILE as FLAGS
from mlsub.submission.params import read_flags
from mlsub.systems.capture import read_capture
from mlsub.systems.description import read_description
from tools.campaigns.fuzz.engine import BrokenError, Harness, scratch, words
from tools.support.make_tree import make_description
from tools.support.runner import REPOSITORY

#: Characters of a line of an error or a finding, and lines of an error.
_LONGEST_LINE, _MOST_LINES = 3_000, 101
#: Brackets of a document that comes near the limit of Python's recursion, where the depth of the caller counts.
_DEEP = 400
_ROUNDS = tuple(get_round("training", name) for name in ("0.6", "1.0", "3.1", "4.1", "5.1", "6.1"))


def _reader(name: str, use: Callable[[Path], object]) -> Callable[[bytes], None]:
    """Return what reads a file of some bytes, and looks at the error where it is refused."""

    def run(data: bytes) -> None:
        file = scratch("documents") / name
        file.write_bytes(data)
        try:
            use(file)
        except MlsubError as error:
            for problem in error.problems if isinstance(error, FileProblemsError) else ():
                if not problem.message or not 1 <= (problem.line or 1) <= _lines(data):
                    raise BrokenError(f"{problem} of a file of {_lines(data)} lines") from error
            _printable(error.lines)

    return run


def _lines(data: bytes) -> int:
    return len(re.split("\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", data.decode("utf-8", "replace")))


def _printable(lines: Iterable[str]) -> None:
    """Lines of an error say something, and not without end."""
    found = list(lines)
    if not 1 <= len(found) <= _MOST_LINES or any(not 0 < len(plain(line)) <= _LONGEST_LINE for line in found):
        raise BrokenError(f"an error of {len(found)} lines: {found[:2]!r:.300}")


def _sound(findings: Iterable[Finding], data: bytes) -> None:
    """Findings have a message, and a line that the file has."""
    for one in findings:
        if one.line is not None and not 1 <= one.line <= _lines(data):
            raise BrokenError(f"{one} of a file of {_lines(data)} lines")
        _printable([one.message, *filter(None, (one.expected, one.actual, one.fix))])


def _description(file: Path) -> None:
    """Findings of every round, and the verdict of the official checker."""
    data = file.read_bytes()
    for round_ in _ROUNDS:
        found = read_description(file, "systems/rack1.json", round_)
        _sound(found.findings, data)
        if round_.name == "0.6" or data.count(b"[") + data.count(b"{") >= _DEEP:
            continue
        logging.disable(logging.CRITICAL)
        try:
            theirs = bool(check_system_desc(str(file), round_.usage, round_.ruleset)[0])
        except Exception:
            theirs = False  # a traceback is no acceptance
        finally:
            logging.disable(logging.NOTSET)
        if found.accepted is not theirs:
            raise BrokenError(f"v{round_.name}: {found.findings} here, {theirs} of the official checker")


def _scaling(file: Path) -> None:
    """A factor that is used is the one by which the official summarizer multiplies."""
    found = read_scaling(file.parent, "x")
    _sound(found.findings, file.read_bytes())
    try:
        theirs: Any = result_summarizer._get_scaling_factor(str(file.parent))
    except Exception:
        theirs = None
    used = found.factor is not None and found.factor != theirs
    passed_over = found.factor is None and type(theirs) in (int, float) and 0 < theirs <= 1000
    if used or passed_over or (found.factor is None) is (not found.findings):
        raise BrokenError(f"{found} here, {theirs!r} in the official tool")


def _flags(file: Path) -> None:
    for round_ in _ROUNDS:
        for place in ("folders", "root", "results"):
            _sound(read_flags(file.parent, "x", round_, place).findings, file.read_bytes())


def _power(file: Path) -> None:
    """The power files of a run: of a node, and behind a line of a switch."""
    place = scratch("power") / "result_0"
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    for name, content in zip(("node_0.txt", "sw_0.txt"), file.read_bytes().split(b"\n====\n", 1), strict=False):
        (place / name).write_bytes(content)
    try:
        run_joules(read_run(place.parent, "power", "result_0"), 10_000.0)
    except MlsubError as error:
        _printable([str(error)])


def _reference(file: Path) -> None:
    problems = check_reference_file(file)
    _printable([problem.message for problem in problems][:_MOST_LINES] or ["no problem"])
    if not any(problem.severity == "error" for problem in problems):
        benchmark_in(file)
        runs_of(file)


def _formula(file: Path) -> None:
    """A formula, computed over values of every kind."""
    text = file.read_bytes().decode("utf-8", "replace")
    try:
        formula = parse.__wrapped__(text)
    except ExpressionError as error:
        if not 1 <= error.column <= len(text) + 1:
            raise BrokenError(f"column {error.column} of {len(text)}") from error
        return
    for value in (1, 0, -3, 0.5, float("inf"), 10**30, "text", True, None, [1]):
        try:
            formula.compute(dict.fromkeys(formula.names, value))
        except (UnknownValueError, ArithmeticError, ValueError, TypeError):
            continue
    formula.words()


def _quoted(page: str) -> list[bytes]:
    """Return the YAML documents of a page of the docs."""
    return re.findall(rb"```yaml\n(.*?)```", (REPOSITORY / "docs" / page).read_bytes(), re.DOTALL)


def _files(pattern: str) -> list[bytes]:
    found = (file.read_bytes() for file in sorted((REPOSITORY / "submissions").glob(pattern)))
    return [content for content in found if len(content) < 8_000]


#: Values that fit few places.
_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 0.5, float("inf"), float("nan"), "", " ", "x" * 500, "a\nb", "\x07", "\u202e", "1e-4"),
    *("1_0", "0x1F", "2021-02-31", "yes", "~", "<<", "../..", "/dev/zero", "${x}", "{0..9}", "**", [], {}, [[]]),
    {"a": {}},
)


def _damaged(seeds: Callable[[], Iterable[bytes]]) -> Callable[[random.Random], bytes]:
    """Return what draws a YAML document with a few values replaced, dropped or moved, and keys renamed."""

    def change(content: Any, rng: random.Random) -> Any:
        if isinstance(content, dict) and content and rng.random() < 0.9:
            key = rng.choice(list(content))
            rest = {name: value for name, value in content.items() if name != key}
            match rng.randrange(8):
                case 0:
                    return rest
                case 1:
                    return {**rest, rng.choice((f"{key}s", str(key)[:-1], "", 1, *content)): content[key]}
            return {**content, key: change(content[key], rng)}
        if isinstance(content, list) and content and rng.random() < 0.9:
            at = rng.randrange(len(content))
            return [*content[:at], change(content[at], rng), *content[at + rng.randrange(2) :]]
        return rng.choice(_ODD)

    def generate(rng: random.Random) -> bytes:
        content = yaml.safe_load(rng.choice(list(seeds())))
        for _ in range(rng.choice((1, 1, 2, 4))):
            content = change(content, rng)
        style = rng.choice((None, None, '"', "'", "|"))
        text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=rng.random() < 0.5, default_style=style)
        return text.encode("utf-8", "surrogatepass")

    return generate


_MANIFEST = b"""organisation: ACME
round: "1.0"
systems:
  rack1: ${HOME:-/tmp}/rack1.json
entries:
  - {system: rack1, benchmark: resnet, runs: [a.txt, b], implementation: x, choose: all}
files:
  - {from: README.md, to: docs/README.md}
"""
#: Of each kind: the name of its file, what reads it, and documents to begin with where ``corpus`` has none.
_KINDS: dict[str, tuple[str, Callable[[Path], object], Callable[[], Iterable[bytes]]]] = {
    "yaml": ("a.yaml", lambda file: read_tree(file, kind="documents", top="keys"), lambda: _quoted("claims.md")),
    "manifest": ("a.yaml", lambda file: read_manifest(file, {}), lambda: (_MANIFEST, *_files("*/submission.yaml"))),
    "claims": ("a.yaml", read_claims, lambda: _quoted("claims.md")),
    "rehearsal": ("a.yaml", read_rehearsal, lambda: _files("*/training.yaml")),
    "overlay": ("a.yaml", check_overlay, lambda: _quoted("overlay.md")),
    "config": ("mlsub.toml", load, tuple),
    "pairs": ("a.json", lambda file: read_pairs(file, kind="files", top="keys"), tuple),
    "baseline": ("a.json", read_baseline, tuple),
    "capture": ("a.json", read_capture, tuple),
    "reference-points": ("a.json", _reference, tuple),
    "scaling": (FILE, _scaling, tuple),
    "checker-params": (FLAGS, _flags, tuple),
    "system-description": ("rack1.json", _description, lambda: (json.dumps(make_description(), indent=1).encode(),)),
    "power": ("a.txt", _power, tuple),
    "formulas": ("a.txt", _formula, tuple),
}
HARNESSES = tuple(
    Harness(kind, _reader(name, use), seeds, words("documents"), _damaged(seeds) if name == "a.yaml" else None, 8_000)
    for kind, (name, use, seeds) in _KINDS.items()
)
