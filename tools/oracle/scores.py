"""The official summarizer, the installed one and those of the past, asked about descriptions and odd entries.

The installed summarizer runs in this process, on files in memory.
"""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, nullcontext, redirect_stdout
from functools import lru_cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import mlsub
from mlsub.rules.load import entry_requirements as needs
from mlsub.submission.report import EntryResult
from tools.oracle.generate import Combination, combinations, usage_and_round
from tools.oracle.log import Line, Log, generated
from tools.oracle.oracle import prepared
from tools.oracle.packages import ORGANISATION, SYSTEM, empty_entry
from tools.support.corpus import SHARED

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.result_summarizer import result_summarizer

#: The history of the official tool.
HISTORY = SHARED / "upstream" / "mlcommons-logging.bundle"
#: The release that submitters had at the deadline of each round.
RELEASES = {
    "0.7": "0.7.0-rc4",
    "1.0": "1.0.0",
    "1.1": "1.1.0-rc4",
    "2.0": "2.0.0-rc4",
    "2.1": "2.1.0-rc3",
    "3.0": "3.0.0-rc2",
    "3.1": "3.1.0-rc3",
    "4.0": "4.0.0-rc3-rcp-prunning",
    "4.1": "4.1.0-rc4",
    "5.0": "5.0.0-rc3",
    "5.1": "5.1.0-rc4",
    "6.0": "6.0.0-rc6",
    "6.1": "master",
    "hpc-1.0": "hpc-1.0.0-rc2",
    "hpc-2.0": "2.0.0",
    "hpc-3.0": "hpc-3.0.0",
}
_FILE = "mlperf_logging/result_summarizer/result_summarizer.py"


def fetch_history(folder: Path) -> None:
    """Unpack the history into a new folder."""
    subprocess.run(["git", "clone", "--quiet", "--bare", str(HISTORY), str(folder / "git")], check=True)


def of_history(history: Path, commit: str, file: str) -> str:
    """A file of the official tool as it was."""
    asked = ["git", "-C", str(history / "git"), "show", f"{commit}:{file}"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout


def summarizer_of(round_id: str, history: Path) -> ModuleType:
    """The summarizer of a round's day, which uses the installed checker."""
    source = of_history(history, RELEASES[round_id], _FILE)
    module = ModuleType(f"mlperf_logging.result_summarizer.of_{round_id.replace('.', '_').replace('-', '_')}")
    module.__package__ = "mlperf_logging.result_summarizer"
    exec(compile(source, f"{RELEASES[round_id]}/{_FILE}", "exec"), module.__dict__)  # noqa: S102  (the official tool)
    return module


def crash_of(
    above: Path,
    round_id: str,
    descriptions: Sequence[dict[str, Any]],
    module: ModuleType = result_summarizer,
    change: Callable[[Path], object] = lambda organisation: None,
    *,
    as_then: bool = False,
) -> str | None:
    """The exception that a summarizer ends in on systems of these descriptions without results, None for none.

    ``change`` is made to the organisation's folder before it is asked. ``as_then``: text that is no Unicode is taken as
    by pandas before 3.0, and printed as Python does in the locale C.UTF-8.
    """
    usage, name = usage_and_round(round_id)
    organisation = above / "ACME"
    (organisation / "systems").mkdir(parents=True)
    for number, description in enumerate(descriptions):
        (organisation / "results" / f"rack{number}" / ("strong" if usage == "hpc" else "")).mkdir(parents=True)
        (organisation / "systems" / f"rack{number}.json").write_text(json.dumps(description))
    change(organisation)
    argv = ["result_summarizer", str(organisation), usage, f"{name}.0"]
    printed = TextIOWrapper(BytesIO(), encoding="utf-8", errors="surrogateescape" if as_then else "strict")
    pandas = result_summarizer.pd
    newer = as_then and hasattr(pandas.options, "future")
    text = pandas.option_context("future.infer_string", False) if newer else nullcontext()
    # The newer ones write summary.json where they are.
    with chdir(above), patch.object(sys, "argv", argv), redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with text:
                module.main()
            printed.flush()
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
    return None


#: Minutes, absolute, and beyond that relative.
NEAR = 1e-9
#: In v0.6 times are in seconds, whose neighbours are 2.4e-7 s apart.
NEAR_SECONDS = 1e-8
MINUTE = 60_000
#: A number of 310 digits is one as well, where it is read as one with a fraction.
_ENDLESS = re.compile(rb'"time_ms": (NaN|-?Infinity)|:::MLL (nan|-?inf|-?\d{310,})\b')
ODD_TIMES: tuple[Any, ...] = (
    *("1620000000000", "soon", "", None, True, [], {}, -1, 0, 0.5, -1e300, 1e18, 1e300, 10**400),
    *(float("inf"), float("-inf"), float("nan")),
)


def _factors(*values: bytes) -> Iterator[bytes]:
    return (b'{"scaling_factor": %b}' % value for value in values)


ODD_FACTORS: tuple[bytes, ...] = (
    *(b"", b"{", b"[]", b"{}", b"1.02", b"null"),
    *_factors(b"null", b'"1.02"', b"0", b"-1", b"NaN", b"Infinity", b"true", b"1e308", b"[1]"),
    *(b'{"factor": 1.1}', b'\xff\xfe{"scaling_factor": 1.1}', b'\xef\xbb\xbf{"scaling_factor": 1.1}'),
    *_factors(b"1" + b"0" * 400),
)
USUAL_FACTORS: tuple[bytes, ...] = (
    *_factors(b"1.0", b"1.0238", b"2", b"1e-3", b'1.1, "by": "the committee"', b'3, "scaling_factor": 1.000000001'),
)


class Score(NamedTuple):
    """The official summarizer's minutes, None for no score, or exception; of weak scaling its scale and energy."""

    minutes: float | None
    crash: str | None = None
    scale: int | None = None
    energy: float | None = None


class Both(NamedTuple):
    """An entry, in words, and what each side says of it; ``endless`` if a time is infinite, or not a number.

    ``rules`` are those of all findings of mlsub, ``rejecting`` those that reject for another reason than _ABOUT_OTHERS.
    """

    what: str
    ours: EntryResult
    rules: frozenset[str]
    rejecting: frozenset[str]
    theirs: Score
    endless: bool

    @property
    def word(self) -> str:
        """How the try ended, for the figures."""
        if self.theirs.crash is not None:
            return "official crash"
        return "no score" if self.theirs.minutes is None else "a score"

    @property
    def problem(self) -> str | None:
        """Where the sides differ without a reason that is named."""
        if self._same or any(known(self) for known in KNOWN.values()):
            return None
        return f"{self.what}\n  {self.theirs}\n  {self.ours.score} {sorted(self.rejecting)}"

    @property
    def _same(self) -> bool:
        ours, theirs = self.ours.score.published, self.theirs.minutes
        if self.theirs.crash is not None:
            return bool(self.rejecting)
        if self.ours.score.instance_scale != self.theirs.scale:
            return False
        if ours is None or theirs is None:
            return ours is theirs
        return math.isclose(ours, theirs, rel_tol=NEAR, abs_tol=NEAR_SECONDS if "0.6-" in self.what[:4] else NEAR)


#: Rules that reject for what the summarizer does not look at.
_ABOUT_OTHERS = ("rcp.", "seed.", "entry.run-count", "layout.", "cross.")
#: Where the scores may differ, by id in docs/deviations.yaml.
KNOWN: dict[str, Callable[[Both], bool]] = {
    "scaling-file": lambda both: "score.scaling-file" in both.rules,
    "endless-time": lambda both: both.endless,
    "first-round": lambda both: both.what.startswith("0.6-") and "log.record-undecodable" in both.rules,
}


def _tied(chance: random.Random, runs: int) -> list[float]:
    times = [chance.choice((10, 11, 12.5, 0.1)) for _ in range(3)]
    return [chance.choice(times) for _ in range(runs)]


#: How the minutes of an entry's runs lie.
TIMES: dict[str, Callable[[random.Random, int], list[float]]] = {
    "equal": lambda chance, runs: [chance.choice((10.0, 1e-3, 7.25, 0.1, 1e6))] * runs,
    "tied": _tied,
    "near each other": lambda chance, runs: [
        10 + chance.choice((0, 1, -1)) * chance.choice((1e-9, 1e-6, 2**-20)) for _ in range(runs)
    ],
    "far apart": lambda chance, runs: [chance.choice((0.0, -5.0, 1e-9, 10.0, 1e9, 1e12)) for _ in range(runs)],
    "random": lambda chance, runs: [chance.uniform(0.1, 1000) for _ in range(runs)],
}


def _again(chance: random.Random, log: Log) -> Log:
    place = log.places(chance.choice(("run_start", "run_stop")))[0]
    time_ms = log.record(place)["time_ms"]
    again = log.like(place, time_ms=chance.choice((time_ms + 1, time_ms + MINUTE, 0)))
    return log.inserted(chance.choice((place, place + 1, len(log))), again)


def _off_target(chance: random.Random, log: Log) -> Log:
    for key in ("eval_accuracy", "eval_error", "averaged_validation_loss"):
        for place in log.places(key):
            log = log.altered(place, value=chance.choice((-1e9, 1e9)))
    return log


def _another_scale(chance: random.Random, log: Log) -> Log:
    key = chance.choice(("number_of_nodes", "accelerators_per_node"))
    for place in log.places(key):
        log = log.altered(place, value=chance.choice((0, 1, 2, 3.5, 64, True, "8", [8], None, float("inf"))))
    return log


#: What may be out of the usual in a log.
DEFECTS: dict[str, Callable[[random.Random, Log], Log]] = {
    "another status": lambda chance, log: log.altered(
        p := chance.choice(log.places("run_stop")),
        metadata={**log.metadata(p), "status": chance.choice(("aborted", None, "x", 1))},
    ),
    "no run_stop": lambda chance, log: log.without("run_stop"),
    "no run_start": lambda chance, log: log.without("run_start"),
    "run_start or run_stop again": _again,
    "an odd time": lambda chance, log: log.altered(
        log.first(chance.choice(("run_start", "run_stop"))), time_ms=chance.choice(ODD_TIMES)
    ),
    "off its target": _off_target,
    "a broken record": lambda chance, log: log.replaced(
        p := chance.randrange(len(log)), Line(log[p].text[:-5], None, log[p].old)
    ),
    "another scale": _another_scale,
}


@lru_cache(maxsize=1)
def _combinations() -> tuple[Combination, ...]:
    # The rules of v0.6's minigo are in a file of their own, which the installed summarizer does not ask for.
    return tuple(c for c in combinations() if (c.round, c.benchmark) != ("0.6", "minigo"))


def tried(seed: str, number: int, above: Path) -> Both:
    """Make an entry of a seed and a number, and ask both sides about its score."""
    chance = random.Random(f"{seed} {number}")
    combination = _combinations()[number % len(_combinations())]
    usage, name = usage_and_round(combination.round)
    weak = usage == "hpc" and chance.random() < 0.5
    asked = needs(usage, name, combination.benchmark)
    runs = chance.choice((*[asked.runs] * 8, asked.runs + 1, asked.runs + 7, chance.randint(1, asked.runs)))
    folder, log = empty_entry(above, combination, weak=weak), generated(combination)
    shape = chance.choice(list(TIMES))
    defect = chance.choice(list(DEFECTS))
    odd = chance.sample(range(runs), min(runs, chance.choice((0, 0, 0, 1, 1, asked.forgiven, asked.forgiven + 1))))
    for run, minutes in enumerate(TIMES[shape](chance, runs)):
        timed = lasting(log, minutes, chance.choice((0, 0, 0.25)))
        timed = DEFECTS[defect](chance, timed) if run in odd else timed
        (folder / f"result_{run}.txt").write_bytes(timed.content())
    factor = chance.choice((None, None, chance.choice(USUAL_FACTORS), chance.choice(ODD_FACTORS)))
    if factor is not None:
        (folder / "scaling.json").write_bytes(factor)
    scaling = f"{'weak ' if weak else ''}scaling.json {factor!r}"
    what = f"{combination}: {runs} runs {shape}, {len(odd)} with {defect}, {scaling}"
    return compared(what, folder, combination, weak=weak)


def compared(what: str, folder: Path, combination: Combination, *, weak: bool) -> Both:
    """Ask both sides about the entry in a benchmark's folder."""
    usage, name = usage_and_round(combination.round)
    report = mlsub.check(folder.parents[2 if usage == "training" else 3], round=name, usage=usage, jobs=1)
    (entry,) = report.entries
    other = {f.rule for f in report.findings if f.rejects and not f.rule.startswith(_ABOUT_OTHERS)}
    endless = any(_ENDLESS.search(file.read_bytes()) for file in folder.glob("result_*.txt"))
    theirs = official_score(folder, combination, weak=weak)
    return Both(what, entry, frozenset(f.rule for f in report.findings), frozenset(other), theirs, endless)


def lasting(log: Log, minutes: float, part: float = 0) -> Log:
    """The log with so many minutes between run_start and run_stop; ``part`` of a millisecond is added to both."""
    start = log.first("run_start")
    began = log.record(start)["time_ms"] + part
    return log.altered(start, time_ms=began).altered(log.first("run_stop"), time_ms=began + minutes * MINUTE)


def official_score(folder: Path, combination: Combination, *, weak: bool) -> Score:
    """What the installed summarizer makes of a benchmark's folder, in minutes."""
    usage, name = usage_and_round(combination.round)
    asked = (combination.benchmark, SYSTEM, (folder / "power").is_dir(), str(folder), usage, f"{name}.0")
    with prepared(combination.round):
        try:
            if weak:
                found = result_summarizer._compute_weak_score_standalone(*asked, {"submitter": ORGANISATION})
                scores, energies = ({name.partition(":")[2]: value for name, value in one.items()} for one in found)
                of = (scores.get("instance_scale"), energies.get("time_to_train_all"))
                return Score(scores.get("time_to_train_all"), None, *of)
            minutes, _, _ = result_summarizer._compute_strong_score_standalone(*asked)
        except Exception as error:
            return Score(None, f"{type(error).__name__}: {str(error)[:200]}")
    if minutes is not None and combination.round == "0.6":
        # The installed release takes the seconds of v0.6 for milliseconds, and so has a thousandth of the minutes.
        minutes *= 1000
    return Score(None if minutes is None else float(minutes))
