"""The rules of a log, which are known once it has named its division and its benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlsub.divisions import DIVISIONS, division_of
from mlsub.io.show import readable, show
from mlsub.judge.rules import LogRules
from mlsub.log.event import Event
from mlsub.log.events import Fold, Handler, Tally
from mlsub.log.reading import Crash
from mlsub.rounds import Round

#: Events held back until a log has named itself, and the bytes read meanwhile.
MAX_HELD = 50_000
MAX_HELD_BYTES = 32 << 20
#: What a report shows of a name a log gives itself.
NAME_WIDTH = 200

_NAMES = ("submission_division", "submission_benchmark")
#: Reads the log once more, for one fold.
Again = Callable[[Fold], None]


class NamedRules:
    """Judges the events of one log in file order, from the first one on: the first ones once the log is named.

    A log that takes too long is read once more, or where that is not possible judged by all rules it may be under.

    Args:
        round_: whose rules they are.
        tally: what the reader counts.
        again: reads the log once more; None where it cannot be.
    """

    def __init__(self, round_: Round, tally: Tally, again: Again | None) -> None:
        self.rules: LogRules | None = None
        #: Called when the rules are known, and with them the keys to ask for.
        self.on_named: Callable[[], None] = _nothing
        self._round = round_
        self._tally = tally
        self._again = again
        self._named: dict[str, Event] = {}
        self._held: list[Event] | None = []
        self._held_from = 0
        self._candidates: dict[tuple[str | None, str | None], LogRules] = {}

    def handler(self, key: str | None) -> Handler | None:
        """What takes the events of a key."""
        if self.rules is not None:
            return self.rules.handler(key)
        return None if key is None else self._hold

    def name(self, key: str) -> str | None:
        """What the log says of itself first under ``submission_division`` or ``submission_benchmark``."""
        name = self._value(key)
        return readable(name[:NAME_WIDTH]) if isinstance(name, str) else None

    def known(self) -> LogRules:
        """The rules, after the last event; of a log that never named itself those that hold for any."""
        if self.rules is None:
            self._settle()
        self.on_named = _nothing
        if self.rules is None:
            self.rules = self._new()
            if self._again is not None:
                self._again(self.rules)
        return self.rules

    def unknown(self) -> Crash | None:
        """A name whose rules the official checker looks for in vain; without a division it looks for none."""
        division, benchmark = (self._named.get(key) for key in _NAMES)
        if division is None:
            return None
        if division_of(division.value) is None:
            return Crash(division.line, f"no rules of division {show(division.value, NAME_WIDTH)}")
        if benchmark is not None and benchmark.value not in self._round.benchmarks:
            return Crash(benchmark.line, f"no rules of benchmark {show(benchmark.value, NAME_WIDTH)}")
        return None

    def _value(self, key: str) -> Any:
        event = self._named.get(key)
        return None if event is None else event.value

    def _hold(self, event: Event) -> None:
        """Keep an event until the log has said what it is."""
        held, fed = self._held, self._tally.fed
        if held is None:
            for rules in self._candidates.values():
                rules.add(event)
        else:
            if not held:
                self._held_from = fed
            held.append(event)
        if event.key in _NAMES and event.key not in self._named:
            self._named[event.key] = event
            if len(self._named) == len(_NAMES):
                self._settle()
                return
        if held is not None and (len(held) > MAX_HELD or fed - self._held_from > MAX_HELD_BYTES):
            self._try_all(held)

    def _settle(self) -> None:
        """Start judging: the log has said all that it says of itself."""
        if self._held is not None:
            self.rules = self._new()
            for event in self._held:
                self.rules.add(event)
        elif self._candidates:
            division = division_of(self.name("submission_division"))
            benchmark = self.name("submission_benchmark")
            known = benchmark if benchmark in self._round.benchmarks else None
            self.rules = self._candidates[division.name if division else None, known]
        else:
            return
        self._held, self._candidates = [], {}
        self.on_named()
        self.on_named = _nothing  # It holds on to the reader, which holds on to this.

    def _try_all(self, held: list[Event]) -> None:
        self._held = None
        if self._again is not None:
            return
        self._candidates = {
            (division, name): LogRules(self._round, division_of(division), name)
            for division in (None, *DIVISIONS)
            for name in (None, *self._round.benchmarks)
        }
        for event in held:
            for rules in self._candidates.values():
                rules.add(event)

    def _new(self) -> LogRules:
        division = division_of(self.name("submission_division"))
        return LogRules(self._round, division, self.name("submission_benchmark"))


def _nothing() -> None:
    return None
