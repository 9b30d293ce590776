"""Records of a log that the official parser cannot use, or does not see: findings in bounded number."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.findings import Finding
from mlsub.log.event import Defect, Event
from mlsub.log.events import Tally
from mlsub.log.reading import Crash
from mlsub.rules.catalogue import finding

#: Findings of one rule in one log; what goes beyond is counted in the last of them.
MAX_FINDINGS_A_RULE = 20
#: Keys of broken records that are remembered, so as not to report them missing as well.
MAX_SPOILED_KEYS = 1000


class Defects:
    """Records the official parser cannot use or does not see."""

    def __init__(self, path: str, tally: Tally) -> None:
        self.path = path
        self._tally = tally
        self.spoiled_keys: set[str] = set()
        self.times: dict[str, float] = {}
        self.hidden_count = 0
        #: The first record at which the official parser ends in a traceback.
        self.crash: Crash | None = None
        self.any = False
        #: How many events came before the last record that breaks off.
        self._broken_after: int | None = None
        self._found: dict[str, list[Finding]] = {}
        self._counts: dict[str, int] = {}

    def add(self, defect: Defect) -> None:
        """A record the official parser stops at."""
        self.any = True
        self._broken_after = self._tally.events if defect.rule == "log.record-undecodable" else None
        if defect.key is not None and len(self.spoiled_keys) < MAX_SPOILED_KEYS:
            self.spoiled_keys.add(defect.key)
        if defect.event is not None:
            self._recover(defect.event)
        if defect.crash is not None and self.crash is None:
            self.crash = Crash(defect.line, defect.crash)
        self._put(defect.rule, defect.line, defect.reason)

    def too_long(self, line: int, hidden: bool) -> None:
        """A record beyond the bound on memory."""
        if hidden:
            self._put_hidden(line, "a record of more than 16 MiB")
            return
        self.any = True
        self._put("log.record-too-long", line, "more than 16 MiB")

    def hidden(self, event: Event | Defect) -> None:
        """A record that the official parser never sees."""
        record = event if isinstance(event, Event) else event.event
        if record is not None:
            self._recover(record)
        key = event.key if isinstance(event.key, str) else None
        self._put_hidden(event.line, f"key {key[:80]}" if key else "a record without a key")

    def _put_hidden(self, line: int, actual: str) -> None:
        self.hidden_count += 1
        self._put("log.hidden-record", line, actual)

    def _recover(self, event: Event) -> None:
        if event.key == "run_start":
            self.times.setdefault("run_start", event.time_ms)
        elif event.key == "run_stop":
            self.times["run_stop"] = event.time_ms

    def _put(self, rule: str, line: int, actual: str) -> None:
        self._counts[rule] = self._counts.get(rule, 0) + 1
        found = self._found.setdefault(rule, [])
        if len(found) < MAX_FINDINGS_A_RULE:
            found.append(finding(rule, self.path, line=line, actual=actual))

    @property
    def found(self) -> bool:
        """Whether there is anything to report."""
        return bool(self._found)

    @property
    def break_off(self) -> bool:
        """Whether the last record so far is one that breaks off: where nothing follows, the log was cut."""
        return self._broken_after == self._tally.events

    def findings(self, *, cut_off: bool) -> Iterator[Finding]:
        """The findings, bounded in number; the last of a rule says how many more there are.

        Args:
            cut_off: whether the last record is where the log was cut.
        """
        for rule, found in self._found.items():
            more = self._counts[rule] - len(found)
            yield from found[:-1]
            last = found[-1]
            if rule == "log.record-undecodable" and cut_off and not more:
                last = msgspec.structs.replace(last, message=_CUT_OFF)
            if more:
                last = msgspec.structs.replace(last, actual=f"{last.actual}; and {more} more like it after that")
            yield last


#: What the last record says where it is cut off.
_CUT_OFF = "The log ends with a record that cannot be decoded, so the rest is missing"
