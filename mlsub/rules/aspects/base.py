"""What the aspects of a key's rule share: they compile to tests, and what fails stays typed until it is a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.rules.model import KeyRule
from mlsub.rules.nesting import EpochSequence
from mlsub.rules.values import Stated


class Part(msgspec.Struct, frozen=True):
    """One thing that a rule demands: the aspect (last part of the rule id) and its words.

    ``options`` are the values of a closed list, or the names of tensors.
    """

    aspect: str
    words: str
    options: tuple[str, ...] = ()


class Expectation(msgspec.Struct, frozen=True):
    """What is expected of every record of a key, in words that follow "expected: ", and what to say where it fails.

    ``behind`` is a key that must come first: while it is missing, that alone is reported.
    """

    aspect: str
    words: str
    message: str
    fix: str
    behind: str | None = None


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


class Flaw(msgspec.Struct, frozen=True):
    """What is wrong with a key of one log: a finding without its place, source and severity."""

    aspect: str
    line: int | None
    message: str
    expected: str
    actual: str
    fix: str
    warning: bool = False


class Case(msgspec.Struct, frozen=True):
    """What else is wrong with a log, which excuses some of its failures.

    ``missed`` are keys that must appear and do not, ``faulty`` keys that are at fault themselves, ``spoiled`` those of
    records that cannot be decoded. ``cut_off`` means that records may follow.
    """

    missed: frozenset[str]
    faulty: frozenset[str]
    spoiled: frozenset[str]
    cut_off: bool


class LogSoFar:
    """What the rules of one log look back on: keys seen, values stated, first starts, the sequence of epochs."""

    __slots__ = ("seen", "sequence", "starts", "stated")

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.stated = Stated()
        self.starts: dict[str, float] = {}
        self.sequence = EpochSequence()


class KeyOutcome(msgspec.Struct):
    """What one key's rule has seen in one log.

    ``values`` shows distinct values where a key that must appear once appeared more often, and ``wanted`` is the number
    of records that a rule with ``once_where`` asks of this log, None as long as that is open. ``incomparable`` is the
    line and the value of the first evaluation that cannot be compared with the quality target.
    """

    compiled: CompiledKey
    count: int = 0
    wanted: int | None = None
    first: Any = None
    same: bool = True
    lines: list[int] = []
    values: list[str] = []
    failures: dict[Expectation, Failure] = {}
    reached: bool = False
    incomparable: tuple[int, str] | None = None
    best: Any = None
    last_line: int | None = None
    tensors: list[Any] = []

    @property
    def rule(self) -> KeyRule:
        """The rule of the key."""
        return self.compiled.rule

    def copy(self) -> KeyOutcome:
        """One that goes on counting without changing this one."""
        failures = {expected: msgspec.structs.replace(failure) for expected, failure in self.failures.items()}
        lists = {"lines": [*self.lines], "values": [*self.values], "tensors": [*self.tensors]}
        return msgspec.structs.replace(self, failures=failures, **lists)

    def see(self, event: Event, log: LogSoFar) -> None:
        """Take the next record of the key."""
        self.count += 1
        compiled = self.compiled
        for test in compiled.tests if self.count == 1 else compiled.later_tests:
            test(event, self, log)

    def fail(self, expected: Expectation, line: int, found: Any, *, in_words: bool = False) -> Failure:
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

    def flaws(self, case: Case) -> Iterator[Flaw]:
        """Everything wrong with the key that is not excused by what is wrong besides."""
        for aspect in self.compiled.aspects:
            yield from aspect.flaws(self, case)
        for of, failure in self.failures.items():
            # A key that should not be there at all is reported as that, whatever its value.
            unwanted = self.wanted == 0 and of.aspect == "value"
            if not (unwanted or of.behind in case.missed or case.faulty.intersection(failure.needs)):
                more = f", and {failure.count - 1} more" if failure.count > 1 else ""
                expected, actual, fix = failure.expected or of.words, failure.actual + more, failure.fix or of.fix
                yield Flaw(of.aspect, failure.first_line, of.message, expected, actual, fix)


Test = Callable[[Event, KeyOutcome, LogSoFar], None]


class About(msgspec.Struct, frozen=True):
    """What explains an aspect; ``title`` and ``example`` have places for the key and the words of a rule."""

    title: str
    why: str
    fix: str
    example: str


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
    def about(cls) -> About:
        """What explains it."""
        return shipped(__file__, "aspects.yaml", dict[str, About])[cls.name]

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

    def parts(self, division: str | None = None) -> list[Part]:
        """What is demanded, cut into the parts that can change one by one."""
        return [Part(self.name, words) for words in self.words(division)]

    def test(self) -> Test | None:
        """The test of one record, compiled; None where only the whole log is looked at."""
        return None

    def named(self) -> Iterable[str]:
        """The keys whose values it is computed from."""
        return ()

    def looked_back_on(self) -> Iterable[str]:
        """Further keys whose records it depends on."""
        return ()

    def flaws(self, out: KeyOutcome, case: Case) -> Iterable[Flaw]:
        """What is wrong with all records of a log so far together."""
        return ()


class CompiledKey(msgspec.Struct, frozen=True):
    """One key's rule as tests: of its first record, and of those after it."""

    rule: KeyRule
    aspects: tuple[Aspect, ...]
    tests: tuple[Test, ...]
    later_tests: tuple[Test, ...]
