"""The rules that bind one log: the official ones of its round and the user's own, known once it has named itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mlsub.divisions import Division, division_of
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.show import readable, show
from mlsub.log.event import Event, RecordBatch
from mlsub.log.events import EventTally, Fold, Handler
from mlsub.log.reading import Crash
from mlsub.rounds import Round
from mlsub.rules.catalogue import review_crashed, reviewed
from mlsub.rules.engine import Judge, Skip, compiled_rules, findings_of

#: Events kept back until a log has named itself, and the bytes read meanwhile.
MAX_KEPT = 50_000
MAX_KEPT_BYTES = 32 << 20
#: What a report shows of a name a log gives itself.
NAME_WIDTH = 200

_NAMES = ("submission_division", "submission_benchmark")
#: Reads the log once more, for one fold.
ReadAgain = Callable[[Fold], None]


class LogRules:
    """Takes the events of one log in file order; :meth:`findings` gives the violations."""

    def __init__(self, round_: Round, division: Division | None, benchmark: str | None) -> None:
        # Only known names pick rules, so that no log can fill the cache of rule sets.
        known = benchmark if benchmark in round_.benchmarks else None
        choice = (round_.usage, round_.name, division.name if division else None, known)
        self._official = Judge(compiled_rules(*choice, round_.overlay))
        self._house: Judge | None = None
        self._broken: Exception | None = None
        self._round = round_
        #: Gives what takes the events of a key; None where no rule looks at them.
        self.handler: Callable[[str | None], Handler | None] = self._official.handler
        if round_.overlay:
            try:
                self._house = Judge(compiled_rules(*choice, round_.overlay, house=True))
                self.handler = self._handler_of_both
            except Exception as error:
                self._broken = error

    def add(self, events: Iterable[Event]) -> None:
        """Take the next events, for whoever does not sort them by key."""
        handler = self.handler
        for event in events:
            handle = handler(event.key) if isinstance(event.key, str) else None
            if handle is not None:
                handle(event)

    def _handler_of_both(self, key: str | None) -> Handler | None:
        official = self._official.handler(key)
        try:
            house = self._house.handler(key) if self._house is not None else None
        except Exception as error:
            self._house, self._broken, house = None, error, None
        if house is None:
            return official

        def handle(event: Event) -> None:
            if official is not None:
                official(event)
            if self._house is not None:
                try:
                    house(event)
                except Exception as error:
                    self._house, self._broken = None, error

        return handle

    def in_trouble(self, key: str) -> bool:
        """Whether a record of this key may have broken a rule; :meth:`findings` says whether it did."""
        return self._official.in_trouble(key) or (self._house is not None and self._house.in_trouble(key))

    def reached(self) -> bool:
        """Whether every quality target has been reached so far."""
        return self._official.reached()

    def crash(self) -> Crash | None:
        """The first record whose quality measure the official checker cannot compare with the target."""
        found = [out.incomparable for out in self._official.finish().keys if out.incomparable is not None]
        line, shown = min(found, default=(0, ""))
        return Crash(line, f"{shown} cannot be compared with the quality target") if found else None

    def findings(
        self, path: str, spoiled: frozenset[str], *, cut_off: bool, skip: Skip | None = None
    ) -> Iterator[Finding]:
        """The findings; see :func:`mlsub.rules.engine.findings_of`."""
        yield from findings_of(self._official.finish(), path, spoiled, cut_off=cut_off, skip=skip)
        if self._broken is not None:
            yield review_crashed("house", path, self._broken)
        if self._house is not None:
            house = self._house
            yield from reviewed(
                "house", path, lambda: findings_of(house.finish(), path, spoiled, cut_off=cut_off, skip=skip)
            )

    def certain(self, path: str, spoiled: frozenset[str]) -> Iterator[Finding]:
        """What is wrong by now and stays wrong, whatever follows; further records may be taken afterwards.

        Wrong values and metadata, a key twice with different values, a wrong order, a phase over its limit. Nothing is
        reported missing, and no target missed. At the end a finding may have other words: where the key that a value
        was computed from turns out to be wrong itself, that is the defect.

        Args:
            path: the log, as findings name it.
            spoiled: keys of records that cannot be decoded.
        """
        yield from findings_of(self._official.certain(), path, spoiled, cut_off=True)
        if self._house is not None:
            yield from findings_of(self._house.certain(), path, spoiled, cut_off=True)


class NamedRules:
    """Judges the events of one log in file order, from the first one on: the first ones once the log is named.

    A log that names itself too late to keep what came before is read once more.

    Args:
        round_: whose rules they are.
        tally: what the reader counts.
        read_again: reads the log once more; None where it cannot be.
    """

    def __init__(self, round_: Round, tally: EventTally, read_again: ReadAgain | None) -> None:
        self.rules: LogRules | None = None
        #: Called when the rules are known, and with them the keys to ask for.
        self.on_named: Callable[[], None] = _nothing
        self._round = round_
        self._tally = tally
        self._read_again = read_again
        self._named: dict[str, Event] = {}
        #: The events so far; None for too many.
        self._kept: list[Event] | None = []
        self._kept_from = 0

    def handler(self, key: str | None) -> Handler | None:
        """What takes the events of a key; another one when the rules are known."""
        if self.rules is not None:
            return self.rules.handler(key)
        if key is None:
            return None
        return self._keep_name if key in _NAMES and key not in self._named else self._keep

    def look_ahead(self, records: RecordBatch) -> None:
        """Look at records before their events are taken: where the log names itself in them, none has to be kept."""
        if self.rules is not None:
            return
        named = self._named.copy()
        for event in records.decoded:
            if event.key in _NAMES and isinstance(event, Event):
                named.setdefault(event.key, event)
                if len(named) == len(_NAMES):
                    self._named = named
                    self._begin()
                    return

    def name(self, key: str) -> str | None:
        """What the log says of itself first under ``submission_division`` or ``submission_benchmark``."""
        named = self._named.get(key)
        name = None if named is None else named.value
        return readable(name[:NAME_WIDTH]) if isinstance(name, str) else None

    def rules_at_end(self) -> LogRules:
        """The rules, after the last event; of a log that never named itself those that hold for any.

        Raises:
            MlsubError: the log has to be read once more, and cannot be.
        """
        self._begin()
        self.on_named = _nothing
        if self.rules is None:
            if self._read_again is None:
                raise MlsubError("it names its benchmark too late to be judged as it comes; check it as a file")
            self.rules = self._new()
            self._read_again(self.rules)
        return self.rules

    def unknown_name(self) -> Crash | None:
        """A name whose rules the official checker looks for in vain; without a division it looks for none."""
        division, benchmark = (self._named.get(key) for key in _NAMES)
        if division is None:
            return None
        if division_of(division.value) is None:
            return Crash(division.line, f"no rules of division {show(division.value, NAME_WIDTH)}")
        if benchmark is not None and benchmark.value not in self._round.benchmarks:
            return Crash(benchmark.line, f"no rules of benchmark {show(benchmark.value, NAME_WIDTH)}")
        return None

    def _keep(self, event: Event) -> None:
        """Keep an event until the log has said what it is."""
        kept, fed = self._kept, self._tally.fed
        if kept is None:
            return
        if not kept:
            self._kept_from = fed
        kept.append(event)
        if len(kept) > MAX_KEPT or fed - self._kept_from > MAX_KEPT_BYTES:
            self._kept = None

    def _keep_name(self, event: Event) -> None:
        """Keep an event that may say what the log is."""
        self._named.setdefault(event.key, event)
        self._keep(event)
        if len(self._named) == len(_NAMES):
            self._begin()

    def _begin(self) -> None:
        """Start judging, unless what came before is lost: the log has said all that it says of itself."""
        if self.rules is not None or self._kept is None:
            return
        self.rules = self._new()
        self.rules.add(self._kept)
        self._kept = []
        self.on_named()
        self.on_named = _nothing  # It holds on to the reader, which holds on to this.

    def _new(self) -> LogRules:
        division = division_of(self.name("submission_division"))
        return LogRules(self._round, division, self.name("submission_benchmark"))


def _nothing() -> None:
    return None
