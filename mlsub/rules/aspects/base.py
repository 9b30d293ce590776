"""What the aspects of a key's rule share: they compile to tests, and what fails stays typed until it is a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import show
from mlsub.log.event import Event, clock
from mlsub.rules.catalogue import RuleTexts
from mlsub.rules.constraints import StatedValues
from mlsub.rules.model import KeyRule

if TYPE_CHECKING:
    from mlsub.rules.nesting import EpochSequence

#: What the first start so far is before there is one; the official checker's own number.
NO_START = 9e99


class DemandPart(msgspec.Struct, frozen=True):
    """One thing that a rule demands: the aspect (last part of the rule id) and its words.

    ``options`` are the values of a closed list, or the names of tensors.
    """

    aspect: str
    words: str
    options: tuple[str, ...] = ()


class Flaw(msgspec.Struct, frozen=True):
    """What is wrong with a key of one log: a finding without its place, source and severity.

    Without ``line`` and ``actual`` it is an expectation: what every record of the key must be, and what to say where
    one is not. ``only_with`` is a key that must come first: while it is missing, that alone is reported.
    """

    aspect: str
    message: str
    expected: str
    fix: str
    line: int | None = None
    actual: str = ""
    warning: bool = False
    only_with: str | None = None


class Failure(msgspec.Struct):
    """An expectation that did not hold: on how many records, where first, and what stood there.

    ``expected`` is the expectation with the values of this log, None where its words say it all; ``needs`` are the keys
    whose values it was computed from; ``fix`` is a better guess than the expectation's.
    """

    first_line: int
    actual: str
    count: int = 1
    expected: str | None = None
    needs: tuple[str, ...] = ()
    fix: str | None = None


class Excuses(msgspec.Struct, frozen=True):
    """What else is wrong with a log, which excuses some of its failures.

    ``missed`` are keys that must appear and do not, ``faulty`` keys that are at fault themselves, ``spoiled`` those of
    records that cannot be decoded. ``cut_off`` means that records may follow.
    """

    missed: frozenset[str]
    faulty: frozenset[str]
    spoiled: frozenset[str]
    cut_off: bool


class Note(msgspec.Struct, frozen=True):
    """What is kept of the records of a key for the rules of others, beside that there was one.

    ``starts`` asks for the earliest time, ``stated`` for the values; ``choices`` are values that choose which rules
    apply; ``begins`` means that the sequence of epochs begins with such a record.
    """

    starts: bool = False
    choices: frozenset[str] = frozenset()
    stated: bool = False
    begins: bool = False


class LogState:
    """What the rules of one log look back on.

    Keys seen, (key, value) that choose which rules apply, values stated, first starts (ms, in logs of v0.6 s), the
    sequence of epochs.
    """

    __slots__ = ("_sequence", "chosen", "seen", "starts", "stated")

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.chosen: set[tuple[str, str]] = set()
        self.stated = StatedValues()
        self.starts: dict[str, float] = {}
        self._sequence: EpochSequence | None = None

    @property
    def sequence(self) -> EpochSequence:
        """The sequence of epochs; most rounds ask for none."""
        if self._sequence is None:
            from mlsub.rules.nesting import EpochSequence

            self._sequence = EpochSequence()
        return self._sequence

    def keep(self, event: Event, note: Note) -> None:
        """Keep what other rules will ask of a record."""
        key, value = event.key, event.value
        self.seen.add(key)
        if note.starts:
            time = clock(event)
            if time < self.starts.get(key, NO_START):
                self.starts[key] = time
        elif note.choices and isinstance(value, str) and value in note.choices:
            self.chosen.add((key, value))
        if note.stated:
            self.stated.state(key, value)
        if note.begins:
            self.sequence.see(event, "true")


class KeyOutcome:
    """What one key's rule has seen in one log.

    Of a key that must appear once, ``first`` is the value of the first record, on ``first_line``; of several records
    ``lines`` are those of the first ones, ``values`` shows their distinct values, and ``differing`` says whether there
    are any. Of a key with a quality target, ``reached`` says whether an evaluation reached it, ``best`` is the best
    value, ``last_line`` that of the last one, and ``incomparable`` the line and the value of the first one that cannot
    be compared with the target. ``wanted`` is the number of records that a rule with ``once_where`` asks of this log,
    None as long as that is open.
    """

    count = 0
    first: Any = None
    first_line = 0
    lines: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    differing = False
    reached = False
    best: Any = None
    last_line: int | None = None
    incomparable: tuple[int, str] | None = None
    tensors: tuple[Any, ...] = ()
    wanted: int | None = None

    def __init__(self, compiled: CompiledKey, log: LogState) -> None:
        self.compiled = compiled
        self.log = log
        self.failures: dict[Flaw, Failure] = {}

    @property
    def rule(self) -> KeyRule:
        """The rule of the key."""
        return self.compiled.rule

    @property
    def in_trouble(self) -> bool:
        """Whether a record broke a demand, or was one too many."""
        return bool(self.failures or self.lines)

    @property
    def misses_target(self) -> bool:
        """Whether there are evaluations, none of which reached the target, or one that cannot be compared with it."""
        return self.last_line is not None and (not self.reached or self.incomparable is not None)

    def see(self, event: Event) -> None:
        """Take the next record of the key."""
        self.count = count = self.count + 1
        for test in self.compiled.tests if count == 1 else self.compiled.later_tests:
            test(event, self)

    def without_end(self) -> KeyOutcome:
        """This one as long as it is open how many records there must be."""
        other = copy(self)
        other.wanted = None
        return other

    def copy(self) -> KeyOutcome:
        """One that goes on counting without changing this one."""
        other = copy(self)
        other.failures = {expected: copy(failure) for expected, failure in self.failures.items()}
        return other

    def fail(self, expected: Flaw, line: int, found: Any, *, in_words: bool = False) -> Failure:
        """Note that an expectation did not hold on a record; ``found`` is a value, or already in words."""
        failure = self.failures.get(expected)
        if failure is not None:
            failure.count += 1
        else:
            failure = self.failures[expected] = Failure(line, found if in_words else show(found))
        return failure

    def failed(self, aspect: str) -> list[Failure]:
        """The failures of one aspect."""
        return [failure for expected, failure in self.failures.items() if expected.aspect == aspect]

    def flaws(self, excuses: Excuses) -> Iterator[Flaw]:
        """Everything wrong with the key that is not excused by what is wrong besides."""
        for aspect in self.compiled.aspects:
            yield from aspect.flaws(self, excuses)
        for of, failure in self.failures.items():
            # A key that should not be there at all is reported as that, whatever its value.
            unwanted = self.wanted == 0 and of.aspect == "value"
            if not (unwanted or of.only_with in excuses.missed or excuses.faulty.intersection(failure.needs)):
                more = f", and {failure.count - 1} more" if failure.count > 1 else ""
                expected, actual, fix = failure.expected or of.expected, failure.actual + more, failure.fix or of.fix
                yield Flaw(of.aspect, of.message, expected, fix, failure.first_line, actual)


#: Notes what is wrong with a record.
Test = Callable[[Event, KeyOutcome], None]


class Aspect:
    """One aspect of what is demanded of a key.

    ``name`` is the last part of the ids of its rules. ``fields`` are those of the key's rule that demand it. ``lead``
    and ``join`` put its parts into one phrase. ``of_all`` means that it tests also records that the official checker
    no longer looks at, such as a second ``submission_org``.
    """

    name: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    lead: ClassVar[str] = ""
    join: ClassVar[str] = "; "
    of_all: ClassVar[bool] = False

    def __init__(self, rule: KeyRule) -> None:
        self.rule = rule

    @classmethod
    def about(cls) -> RuleTexts:
        """What explains it."""
        return shipped(__file__, "aspects.yaml", dict[str, RuleTexts])[cls.name]

    @classmethod
    def is_demanded(cls, rule: KeyRule) -> bool:
        """Whether a rule demands anything of this aspect."""
        return any(getattr(rule, field) for field in cls.fields)

    @classmethod
    def phrase(cls, words: Iterable[str]) -> str:
        """Parts as one phrase."""
        return cls.lead + cls.join.join(words)

    def words(self, division: str | None) -> Iterable[str]:
        """What is demanded, in words; ``division`` where that is known. None where ``parts`` says more than words."""
        return ()

    def parts(self, division: str | None = None) -> list[DemandPart]:
        """What is demanded, cut into the parts that can change one by one."""
        return [DemandPart(self.name, words) for words in self.words(division)]

    def test(self) -> Test | None:
        """The test of one record, compiled; None where only the whole log is looked at."""
        return None

    def tests(self) -> tuple[Test | None, Test | None]:
        """The tests of the first record, and of those after it."""
        test = self.test()
        return test, test

    def value_keys(self) -> Iterable[str]:
        """The keys whose values it is computed from."""
        return ()

    def earlier_keys(self) -> Iterable[str]:
        """Further keys whose records it depends on."""
        return ()

    def flaws(self, out: KeyOutcome, excuses: Excuses) -> Iterable[Flaw]:
        """What is wrong with all records of a log so far together."""
        return ()


class CompiledKey(msgspec.Struct, frozen=True):
    """One key's rule as tests: of its first record, and of those after it.

    ``place`` is that in the rule set. ``where`` is (key, value) of a rule that binds only logs that state this value.
    ``counted`` means that all records together can break the rule by their number or by the tensors that they name.
    """

    rule: KeyRule
    aspects: tuple[Aspect, ...]
    tests: tuple[Test, ...]
    later_tests: tuple[Test, ...]
    place: int
    where: tuple[str, str] | None
    counted: bool
