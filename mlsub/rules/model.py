"""The rules of one round, division and benchmark, in the form the engine reads."""

from __future__ import annotations

import msgspec

from mlsub.findings import Blocks
from mlsub.rules.constraints import Constraint, operand_words


class Occurs(msgspec.Struct, frozen=True):
    """How often a key must appear.

    ``exactly_one`` allows repeats with the very same value, with a warning. ``once_where`` is (key, value): exactly
    once in a log that states this value, never in another.
    """

    exactly_one: bool = False
    at_least: int = 0
    once_where: tuple[str, str] | None = None

    @property
    def least(self) -> int:
        """The number of records that every log needs."""
        return 1 if self.exactly_one else self.at_least

    @property
    def is_required(self) -> bool:
        """Whether a log without the key breaks the rules, at least where another key has a certain value."""
        return bool(self.least or self.once_where)

    def words(self) -> str:
        """The demand in words, or "any number of times"."""
        if self.exactly_one:
            return "exactly once"
        if self.once_where:
            return "exactly once where {} is {}, otherwise never".format(*self.once_where)
        return (
            f"at least {'once' if self.at_least == 1 else f'{self.at_least} times'}"
            if self.at_least
            else "any number of times"
        )


class Within(msgspec.Struct, frozen=True):
    """A time limit: less than ``minutes`` (a number or a formula) after the earliest ``of`` so far."""

    of: str
    minutes: float | str

    def words(self) -> str:
        """The limit in words."""
        minutes = operand_words(self.minutes) if isinstance(self.minutes, str) else f"{self.minutes:g}"
        return f"less than {minutes} minutes after the first {self.of}"


class Entry(msgspec.Struct, frozen=True):
    """What the metadata of a record must say: one of ``names``, and constraints on what stands there.

    ``optional`` means that nothing is missing without; ``when`` names another entry without which nothing is asked.
    """

    names: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()
    optional: bool = False
    when: str | None = None

    def words(self) -> str:
        """The demand in words."""
        words = " and ".join([" or ".join(self.names), *(c.words() for c in self.constraints)])
        if self.when:
            words += f" where there is {self.when}"
        return f"{words}, if there" if self.optional else words


class Gathers(msgspec.Struct, frozen=True):
    """A virtual key: the records of ``key`` whose metadata has ``field``, one object for each value of ``by``."""

    key: str
    field: str
    by: str


class Reach(msgspec.Struct, frozen=True):
    """A quality target: at least one evaluation must hold all of these. ``field`` picks one of several measures."""

    field: str | None
    constraints: tuple[Constraint, ...]

    def words(self) -> str:
        """The target in words."""
        demand = " and ".join(c.words() for c in self.constraints)
        return f"{self.field} {demand}" if self.field else demand


class KeyRule(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one round demands of one key.

    ``blocks`` is the division a violation rules out, ``origin`` the official file the demand comes from,
    ``warn_only`` the aspects of which the official checker in force only warned, ``first_metadata`` what holds for the
    first record only, ``nested`` the way v0.6 nests its epochs and evaluations (see :mod:`mlsub.rules.nesting`),
    ``note`` what a reader of a violation has to know besides.
    """

    key: str
    blocks: Blocks
    origin: str
    occurs: Occurs = Occurs()
    value: tuple[Constraint, ...] = ()
    metadata: tuple[Entry, ...] = ()
    first_metadata: tuple[Entry, ...] = ()
    after: tuple[str, ...] = ()
    not_after: tuple[str, ...] = ()
    within: Within | None = None
    reaches: tuple[Reach, ...] = ()
    tensors: tuple[str, ...] | None = None
    warn_only: tuple[str, ...] = ()
    gathers: Gathers | None = None
    nested: str | None = None
    note: str | None = None

    @property
    def title(self) -> str:
        """What to call the key: a virtual one by what it is made of."""
        return f"{self.gathers.key} of one {self.gathers.by}" if self.gathers else self.key


class Variant(msgspec.Struct, frozen=True):
    """Rules that apply where a key (the optimizer's name, say) is logged with a certain value."""

    key: str
    value: str
    rules: tuple[KeyRule, ...]


class RuleSet(msgspec.Struct, frozen=True):
    """The rules a log is checked against.

    ``division`` and ``benchmark`` are None where the log names none that is known; ``checker`` is the place in the
    official checker that findings cite.
    """

    usage: str
    round: str
    division: str | None
    benchmark: str | None
    rules: tuple[KeyRule, ...]
    variants: tuple[Variant, ...]
    alternatives: tuple[tuple[str, ...], ...]
    checker: str
