"""Records on their way to the log: judged first, then written by the official event logger.

The rules are those of :mod:`mlsub.judge.rules`, the same that mlsub check judges the finished log by.
"""

from __future__ import annotations

import logging
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.divisions import CLOSED, division_of
from mlsub.emit.errors import DoomedRunError, EmitError, EmitWarning, describe
from mlsub.emit.sink import LogFile
from mlsub.emit.values import check_whole, plain_value
from mlsub.findings import Finding, Kind, Severity
from mlsub.io.documents import Pair
from mlsub.judge.keys import known_keys, missing_key, suggest_keys
from mlsub.judge.preflight import preflight
from mlsub.judge.rules import LogRules
from mlsub.log.event import Event, before_run, event_type
from mlsub.review.run import is_evaluated_after_run
from mlsub.rounds import Round
from mlsub.rules.aspects.base import Flaw
from mlsub.rules.aspects.records import AnyOfAspect
from mlsub.rules.catalogue import finding
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule

_OURS = __name__.rpartition(".")[0]
#: Keys of a log's own that are compared with missing ones.
_MOST_UNKNOWN = 200
_NOTHING: frozenset[str] = frozenset()
_CHECKPOINT = "the time at which the checkpoint was written, as int(time.time() * 1000)"


class JudgedAs(NamedTuple):
    """By whose rules a run is judged: a round, ``closed`` or ``open``, and a benchmark of the round."""

    round: Round
    division: str
    benchmark: str


class Writer:
    """Judges the records of one run as they are made, and writes them in the process that does.

    Args:
        file: the log, None in a process that does not write.
        judged_as: whose rules hold.
        path: what findings call the log.
        refuses: whether a record that dooms the run raises; else it is a warning.
        namespace: goes into every record.
        root: the folder that is cut off the names of source files.
    """

    def __init__(
        self,
        file: LogFile | None,
        judged_as: JudgedAs,
        path: str,
        *,
        refuses: bool,
        namespace: str,
        root: Path | None,
    ) -> None:
        self.file = file
        self.refuses = refuses
        self._namespace = namespace
        self._official = _official_logger(file, namespace, root) if file is not None else None
        #: Whether the rules have refused something, and when (ms) the timed region has begun, if it has.
        self.refused = False
        self.run_start: int | None = None
        self._judged_as = round_, division, benchmark = judged_as
        self._rules = LogRules(round_, division_of(division), benchmark)
        self._path = path
        self._reported: set[tuple[str, str]] = set()
        rules = rules_for(round_.usage, round_.name, division, benchmark, round_.overlay)
        late = {rule.key for rule in rules.every if not before_run(rule.key) or "run_start" in rule.after}
        self._late = frozenset((*late, "init_stop"))
        self._seed_needed = division == CLOSED.name and round_.seeds == "required"
        self._seeds = 0
        self._known = known_keys(round_, benchmark)
        self._unknown: dict[str, int | None] = {}

    def write(self, key: str, value: Any, metadata: dict[str, Any], at: int | None = None) -> None:
        """Judge a record, and write it where this process does; only there the rules refuse.

        Args:
            key: of the record.
            value: of it.
            metadata: of it.
            at: its time (ms) where that is the time of a checkpoint; None for now.

        Raises:
            DoomedRunError: it breaks a rule for good; it is not written.
            EmitError: it is not JSON, cannot be written, or cannot have this time.
        """
        value, metadata = plain_value(value), plain_value(metadata)
        time_ms, kind = self._time_of_record(key, at), event_type(key)
        event = Event(
            time_ms=float(time_ms),
            key=key,
            value=value,
            metadata=metadata,
            event_type=kind,
            namespace=self._namespace,
            line=self.file.lines + 1 if self.file is not None else 1,
        )
        self._rules.add((event,))
        self._seeds += key == "seed"
        if key not in self._known and len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.setdefault(key, event.line)
        found = self._not_reported(self._certain()) if self._rules.in_trouble(key) else []
        if self.file is not None:
            self.act_on(found)
        if key == "run_start":
            self.run_start = time_ms
        if self.file is not None:
            self._log(key, value, metadata, time_ms, kind)

    def _time_of_record(self, key: str, at: int | None) -> int:
        """Return the time (ms) of a record: now, or that of the checkpoint that it is about.

        Raises:
            EmitError: the benchmark is not evaluated after the run, or the time is not in the run.
        """
        now = int(time.time() * 1000)
        if at is None:
            return now
        round_, _, benchmark = self._judged_as
        if not is_evaluated_after_run(benchmark, round_.usage, round_.name):
            why = f"{benchmark} is not evaluated after the run in {round_.title}; leave it out"
            raise EmitError(f"{key} takes no time_ms: {why}")
        at = check_whole("time_ms", at, _CHECKPOINT)
        if self.run_start is None or not self.run_start <= at <= now:
            run = f"the run, from {self.run_start or 'run_start, which is not logged,'} to now, {now}"
            raise EmitError(f"time_ms is {at}, which is not in {run}: give {_CHECKPOINT}")
        return at

    def _log(self, key: str, value: Any, metadata: dict[str, Any], time_ms: int, kind: str) -> None:
        """Hand a record to the official logger, which notes the file and line of whoever called the recorder."""
        assert self._official is not None and self.file is not None  # noqa: S101  (asked before)
        official = self._official
        log = {"INTERVAL_START": official.start, "INTERVAL_END": official.end}.get(kind, official.event)
        log(key, value, metadata=metadata, time_ms=time_ms, stack_offset=1 + _frames_of_ours())
        if self.file.failed is not None:
            reason, self.file.failed = self.file.failed, None
            raise EmitError(f"{key} cannot be logged: {reason[:300]}")

    def act_on(self, found: list[Finding]) -> None:
        """Refuse, or report in the process that writes, the violations of a run."""
        bad = [each for each in found if each.severity is Severity.ERROR]
        if bad and self.refuses:
            self.refused = True
            raise DoomedRunError(bad)
        if self.file is not None:
            for each in found:
                warn_caller(describe(each).strip())

    def close(self, *, discard: bool) -> None:
        """Let the log go, or take it away with all that was written."""
        if self.file is not None:
            self.file.close(discard=discard)

    def preflight(self, hyperparameters: Mapping[str, Any], stated: Mapping[str, Any]) -> list[Finding]:
        """Return everything that is certain of a run with these hyperparameters, before anything of it is logged.

        Args:
            hyperparameters: by their keys in the log.
            stated: what else is logged before the clock.
        """
        given, found = [], []
        for key, value in hyperparameters.items():
            try:
                given.append(Pair(str(key), plain_value(value)))
            except EmitError as error:
                actual = str(error).partition(" cannot")[0]
                found.append(finding("preflight.cannot-log", self._path, f"{key} cannot be logged", actual=actual))
        checked = preflight(*self._judged_as, given, self._path, stated)
        lost = hyperparameters.keys() - {one.key for one in given}
        found += [one for one in checked.findings if one.kind is not Kind.OFFICIAL or missing_key(one) not in lost]
        return found if self.refuses else self._not_reported(iter(found))

    def _certain(self) -> Iterator[Finding]:
        """What no later record can fix."""
        return self._rules.findings(self._path, _NOTHING, cut_off=True)

    def before_clock(self) -> list[Finding]:
        """Return what is missing that has to be logged before the timed region, besides what is certain."""
        every = self._rules.findings(self._path, _NOTHING, cut_off=False, skip=self._is_logged_later)
        certain = {(found.rule, found.message) for found in self._certain()}
        missing = [found for found in every if (found.rule, found.message) not in certain]
        if self._seed_needed and not self._seeds:
            message, expected = "The run does not log its seed", "a different seed for each run"
            missing.append(finding("seed.missing", self._path, message, expected=expected))
        return self._not_reported(iter(suggest_keys(missing, self._unknown)))

    def _is_logged_later(self, rule: KeyRule, flaw: Flaw) -> bool:
        """Whether what is wrong is about a key that is logged later, when the clock runs."""
        return flaw.aspect == AnyOfAspect.name or rule.key in self._late

    def _not_reported(self, found: Iterator[Finding]) -> list[Finding]:
        fresh = [each for each in found if (each.rule, each.message) not in self._reported]
        self._reported.update((each.rule, each.message) for each in fresh)
        return fresh

    def reached(self) -> bool:
        """Return whether the evaluations so far reach the quality target."""
        return self._rules.reached()


def warn_caller(message: str) -> None:
    """Warn the training code, at the line that called the recorder."""
    warnings.warn(message, EmitWarning, stacklevel=1 + _frames_of_ours())


def _frames_of_ours() -> int:
    """How many frames there are from the calling function up to the code that called the recorder."""
    frame, count = sys._getframe(1), 0
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(_OURS):
        frame, count = frame.f_back, count + 1
    return count


def _official_logger(file: LogFile, namespace: str, root: Path | None) -> Any:
    from mlperf_logging.mllog.mllog import MLLogger

    logger = logging.Logger(f"mlsub.emit.{file.path}", level=logging.INFO)
    logger.addHandler(file)
    return MLLogger(logger, default_namespace=namespace, root_dir=re.escape(str(root)) if root is not None else None)
