"""Logs of training runs, as ``mlsub check`` reads and judges them."""

from __future__ import annotations

import pickle
from unittest.mock import patch

from mlsub.judge import rules
from mlsub.judge.log import LogTask
from mlsub.log import events
from mlsub.log.intervals import IntervalFold
from mlsub.log.report import LogReport
from mlsub.log.trace import TraceFold
from mlsub.present.entries import Reports
from mlsub.present.envelope import answer
from mlsub.workspace.record import pack, unpack
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.judging import (
    PATH,
    bears_out,
    check_document,
    cut,
    deep,
    judge,
    report_of,
    same,
    shown,
    sound,
    task_of,
)
from tests.campaigns.fuzz.loggrammar import LONGEST, WORDS, chance, generate, seeds, split

_FOLDS = (TraceFold, IntervalFold)
#: One input in so many is judged with what other commands ask of a log besides, or comes from another process.
_WITH_FOLDS, _PICKLED = 4, 16
#: One in so many is compared with what was remembered by all types in it too, shown as text, and given as JSON.
_TO_THE_TYPE, _SHOWN, _AS_JSON = 8, 4, 8
#: One is judged with bounds that it reaches: on events held back, on records decoded at once, on keys remembered.
_BOUNDED = 6
#: The JSON answer on one log is no longer than this, in bytes, whatever the log.
_LONGEST_ANSWER = 4_000_000


def _read(data: bytes) -> None:
    round_id, log = split(data)
    folds = _FOLDS if chance(log, _WITH_FOLDS) == 0 else ()
    judged = judge(round_id, [log], folds=folds)
    if len(judged.facts) != len(folds):
        raise BrokenError("a fold has failed")
    sound(judged.findings)
    bears_out(judged)
    same(judged, judge(round_id, cut(log), folds=folds), "in pieces another answer")
    if chance(log, _BOUNDED) == 2:
        with patch.multiple(rules, MAX_HELD=3), patch.multiple(events, BATCH=5, _MAX_KEYS=2, _MAX_KEY=9):
            for twice in (True, False):
                same(judged, judge(round_id, cut(log), folds=folds, twice=twice), "at its bounds another answer")
    _remembered(judged, task_of(round_id, folds=folds))
    if chance(log, _PICKLED) == 0:
        same(judged, pickle.loads(pickle.dumps(judged)), "another process gives another answer")  # noqa: S301
    if chance(log, _SHOWN) == 0:
        shown(check_document(round_id, judged), 40 + chance(data, 161))
    if chance(log, _AS_JSON) == 1:
        size = len(answer("check", Reports(reports=(report_of(round_id, judged),), settings=None)))
        if size > _LONGEST_ANSWER:
            raise BrokenError(f"an answer of {size} bytes")


def _remembered(judged: LogReport, task: LogTask) -> None:
    """What the cache keeps comes back as it was; it may keep nothing."""
    packed = pack(judged, task) if judged.lasting else None
    if packed is not None:
        known = unpack(*packed, LogReport, task)
        if known is None:
            raise BrokenError(f"what was remembered of {PATH} cannot be read")
        same(judged, known, "what was remembered is another answer")
        if chance(bytes(packed[0]), _TO_THE_TYPE) == 0 and deep(known) != deep(judged):
            raise BrokenError("what was remembered is of other types")


HARNESSES = (
    Harness("logs", "logs of training runs: reader and judge", _read, seeds, WORDS, generate, longest=LONGEST),
)
