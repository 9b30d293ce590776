"""The rules that bind one log: the official ones of its round, and the user's own beside them."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.divisions import Division
from mlsub.findings import Finding, Kind
from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.log.reading import Crash
from mlsub.rounds import Round, overlay_content
from mlsub.rules.compiled import plan_for
from mlsub.rules.engine import Judge, Outcome
from mlsub.rules.isolate import review_crashed, reviewed
from mlsub.rules.phrases import Passing, findings_of


class LogRules:
    """Takes the events of one log in file order; :meth:`findings` says what the rules have against it."""

    def __init__(self, round_: Round, division: Division | None, benchmark: str | None) -> None:
        # Only known names pick rules, so that no log can fill the cache of rule sets.
        known = benchmark if benchmark in round_.benchmarks else None
        choice = (round_.usage, round_.name, division.name if division else None, known)
        self._official = Judge(plan_for(*choice, round_.overlay))
        self._house: Judge | None = None
        self._broken: Exception | None = None
        self._round = round_
        self.add = self._official.add
        if round_.overlay:
            try:
                self._house = Judge(plan_for(*choice, round_.overlay, house=True))
                self.add = self._add_to_both
            except Exception as error:
                self._broken = error

    def handler(self, key: str | None) -> Handler | None:
        """What takes the events of a key; None where no rule looks at them."""
        if key is None:
            return None
        wanted = self._official.wants(key) or (self._house is not None and self._house.wants(key))
        return self.add if wanted else None

    def _add_to_both(self, event: Event) -> None:
        self._official.add(event)
        if self._house is not None:
            try:
                self._house.add(event)
            except Exception as error:
                self._house, self._broken = None, error

    def in_trouble(self, key: str) -> bool:
        """Whether a record of this key may have broken a rule; :meth:`findings` says whether it did."""
        return self._official.in_trouble(key) or (self._house is not None and self._house.in_trouble(key))

    def reached(self) -> bool:
        """Whether every quality target has been reached so far."""
        return self._official.reached()

    def crash(self) -> Crash | None:
        """The first record whose quality measure the official checker cannot compare with the target."""
        broken = [out.incomparable for out in self._official.finish().keys if out.incomparable is not None]
        for line, shown in sorted(broken)[:1]:
            return Crash(line, f"{shown} cannot be compared with the quality target")
        return None

    def findings(
        self, path: str, spoiled: frozenset[str], *, cut_off: bool, passing: Passing | None = None
    ) -> Iterator[Finding]:
        """The findings; see :func:`mlsub.rules.phrases.findings_of`."""
        checker = self._round.checker
        yield from findings_of(self._official.finish(), path, checker, spoiled, cut_off=cut_off, passing=passing)
        if self._broken is not None:
            yield review_crashed("house", path, self._broken)
        if self._house is not None:
            house = self._house
            yield from reviewed("house", path, lambda: self._by_house(house.finish(), path, spoiled, cut_off, passing))

    def certain(self, path: str, spoiled: frozenset[str]) -> Iterator[Finding]:
        """What is wrong by now and stays wrong, whatever follows; further records may be taken afterwards.

        Wrong values and metadata, a key twice with different values, a wrong order, a phase over its limit. Nothing is
        reported missing, and no target missed. At the end a finding may have other words: where the key that a value
        was computed from turns out to be wrong itself, that is the defect.

        Args:
            path: the log, as findings name it.
            spoiled: keys of records that cannot be decoded.
        """
        yield from findings_of(self._official.certain(), path, self._round.checker, spoiled, cut_off=True)
        if self._house is not None:
            yield from self._by_house(self._house.certain(), path, spoiled, cut_off=True)

    def _by_house(
        self, seen: Outcome, path: str, spoiled: frozenset[str], cut_off: bool, passing: Passing | None = None
    ) -> Iterator[Finding]:
        source = str(overlay_content(self._round.overlay)["title"])
        yield from findings_of(seen, path, source, spoiled, cut_off=cut_off, kind=Kind.HOUSE, passing=passing)
