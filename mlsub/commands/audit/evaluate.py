"""The value of an expression, on one basis: exact, and an interval where inputs are taken within their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from mlsub.commands.audit.claims import ClaimsFile
from mlsub.commands.audit.expression import Constant, Name, Node, parse
from mlsub.commands.audit.facts import Facts
from mlsub.commands.audit.functions import Answer, Band, NoValueError, function_of, not_stated, not_there
from mlsub.commands.audit.places import RoundFolder
from mlsub.workspace import AS_FOUND, Checked, Settings

#: Basis, whether inputs are taken with their uncertainty, and values in the place of theirs.
_Question = tuple[str, bool, tuple[tuple[str, Fraction], ...]]


class World(msgspec.Struct, frozen=True):
    """All that expressions are evaluated against, and on which ``question``.

    ``settings`` and ``checked`` are what further results are read by, see facts.py; ``near`` keeps those that were.
    ``known`` keeps the values of named expressions by question.
    """

    file: ClaimsFile
    facts: Mapping[str, Facts]
    rounds: Sequence[RoundFolder]
    settings: Settings = AS_FOUND
    checked: Sequence[Checked] = ()
    near: dict[str, dict[str, Facts]] = msgspec.field(default_factory=dict)
    known: dict[_Question, dict[str, Answer | NoValueError]] = msgspec.field(default_factory=dict)
    question: _Question = ("published", False, ())

    def fact(self, name: str) -> Facts:
        """The facts of a result.

        Raises:
            NoValueError: there are none.
        """
        found = self.facts.get(name)
        if found is None or not found.found:
            raise not_there(f"{name}: {found.reason if found else 'not looked for'}")
        return found

    def facts_in(self, expression: str) -> list[Facts]:
        """The facts of the results that an expression rests on, found or not."""
        return [self.facts[name] for name in self.file.results_in(expression)]

    def with_results(self, facts: Mapping[str, Facts]) -> World:
        """The same with other results in the place of some."""
        return msgspec.structs.replace(self, facts={**self.facts, **facts}, known={})

    def minutes(self, of: Facts, basis: str | None = None) -> Band:
        """The time to train of a result on a basis, usually that of the question.

        Raises:
            NoValueError: it has no score.
        """
        score = of.minutes[basis or self.question[0]]
        if score is None:
            raise not_stated(f"{of.name} has no score: too few of its runs count")
        return Band(score, score)

    def value(self, node: Node) -> Answer:
        """The value of a part of an expression; errors are those of :func:`evaluate`."""
        if isinstance(node, Constant):
            return Band(node.value, node.value) if isinstance(node.value, Fraction) else node.value
        if isinstance(node, Name):
            return self._named(node.name)
        function = function_of(node)
        kinds = function.kinds(len(node.arguments)) or ()
        arguments = [self._argument(*one) for one in zip(kinds, node.arguments, strict=True)]
        if node.function in ("==", "!=") and type(arguments[0]) is not type(arguments[1]):
            raise NoValueError(f"column {node.column}: text or truth is compared with a number")
        try:
            value = function.how(self, *arguments, **dict(node.named))
            return Band.of(value) if isinstance(value, Fraction) else value
        except ZeroDivisionError:
            raise NoValueError(f"column {node.column}: division by zero") from None
        except OverflowError:
            raise NoValueError(f"column {node.column}: the number grows beyond any figure") from None

    def _named(self, name: str) -> Answer:
        _, spread, instead = self.question
        if name in self.file.values:
            value = self.known[self.question][name]
            if isinstance(value, NoValueError):
                raise value
            return value
        given = self.file.inputs[name]
        exact = dict(instead).get(name, given.amount)
        return Band(given.low, given.high) if spread and name not in dict(instead) else Band(exact, exact)

    def _argument(self, kind: str, node: Node) -> Facts | Answer:
        if isinstance(node, Name) and (kind == "basis" or node.name in self.file.results):
            return node.name if kind == "basis" else self.fact(node.name)
        value = self.value(node)
        if kind == "text":
            return value if isinstance(value, str) else ""
        if kind == "number" and not isinstance(value, Band):
            raise NoValueError("a number is needed where text or truth stands")
        if kind == "truth" and not (value is None or isinstance(value, bool)):
            raise NoValueError("true or false is needed where a number or text stands")
        return value


def evaluate(
    tree: Node, world: World, basis: str, *, spread: bool = False, instead: Mapping[str, Fraction] | None = None
) -> Answer:
    """The value of an expression.

    Args:
        tree: checked before, see kinds.py.
        world: the facts and inputs.
        basis: the score that minutes() are, where an expression asks for none itself.
        spread: inputs within their uncertainty, in place of their values.
        instead: other values of inputs, by name.

    Raises:
        NoValueError: there is no value; so with ``spread`` where a divisor may be zero.
    """
    at = msgspec.structs.replace(world, question=(basis, spread, tuple(sorted((instead or {}).items()))))
    if at.question not in world.known:
        values = world.known[at.question] = {}
        for name, text in world.file.values.items():
            # Each needs only those before it, so that no chain of them costs depth; a failure counts where it is used.
            try:
                values[name] = at.value(parse(text))
            except NoValueError as error:
                values[name] = error
    return at.value(tree)
