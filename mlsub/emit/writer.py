"""Records on their way to the log: judged first, then written by the official event logger."""

from __future__ import annotations

import logging
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from mlsub.emit.errors import DoomedRunError, EmitError, tell
from mlsub.emit.foresight import Foresight, dooms
from mlsub.emit.sink import LogFile
from mlsub.emit.values import plain_value
from mlsub.findings import Finding
from mlsub.log.event import Event
from mlsub.rules.steps import event_type

_OURS = __name__.rpartition(".")[0]


class EmitWarning(UserWarning):
    """The rules have something against the run, and the recorder was asked only to report it."""


class Writer:
    """Judges the records of one run, and writes them in the process that does.

    Args:
        file: the log, None in a process that does not write.
        foresight: what the rules say of it.
        refuses: whether a record that dooms the run raises; else it is a warning.
        namespace: goes into every record.
        root: the folder that is cut off the names of source files.
    """

    def __init__(
        self,
        file: LogFile | None,
        foresight: Foresight,
        *,
        refuses: bool,
        namespace: str,
        root: Path | None,
    ) -> None:
        self.file = file
        self.foresight = foresight
        self.refuses = refuses
        self._namespace = namespace
        self._official = _official_logger(file, namespace, root) if file is not None else None
        #: Whether the rules have refused something, and whether the timed region has begun.
        self.refused = self.clock_started = False

    def write(self, key: str, value: Any, metadata: dict[str, Any], kind: str | None = None) -> None:
        """Judge a record, and write it where this process does; only there the rules refuse.

        Raises:
            DoomedRunError: it breaks a rule for good; it is not written.
            EmitError: it is not JSON, or cannot be written.
        """
        value, metadata = plain_value(value), plain_value(metadata)
        time_ms, kind = int(time.time() * 1000), kind or event_type(key)
        event = Event(
            time_ms=float(time_ms),
            key=key,
            value=value,
            metadata=metadata,
            event_type=kind,
            namespace=self._namespace,
            line=self.file.lines + 1 if self.file is not None else 1,
        )
        found = self.foresight.add(event)
        if self.file is not None:
            self.act_on(found)
            self.clock_started = self.clock_started or key == "run_start"
            self._log(key, value, metadata, time_ms, kind)

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
        """Refuse, or report in the process that writes, what the rules have against the run."""
        bad = [each for each in found if dooms(each)]
        if bad and self.refuses:
            self.refused = True
            raise DoomedRunError(bad)
        if self.file is not None:
            for each in found:
                warn_caller(tell(each).strip())

    def close(self, *, discard: bool) -> None:
        """Let the log go, or take it away with all that was written."""
        if self.file is not None:
            self.file.close(discard=discard)


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
