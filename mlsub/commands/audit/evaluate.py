"""The value of an expression, on one basis, against the results that claims name and all that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from mlsub.commands.audit.claims import ClaimsFile
from mlsub.commands.audit.expression import Answer, Band, Call, Constant, Name, Node, parse
from mlsub.commands.audit.functions import (
    ABSENT,
    FUNCTIONS,
    OPERATIONS,
    UNSAID,
    NoValueError,
    function_of,
    rounds_meant,
    submitted,
)
from mlsub.commands.audit.results import FoundResult, RoundFolder, read_logs
from mlsub.workspace import AS_FOUND, Context

#: Basis, and values of inputs in the place of theirs.
_Question = tuple[str, tuple[tuple[str, Band], ...]]


class World(msgspec.Struct, frozen=True):
    """All that expressions are evaluated against, and on which ``question``.

    ``context`` is how further results are read, see results.py; ``further`` keeps those that were.
    ``known`` keeps the values of named expressions by question. ``moved``: all figures of results are others.
    """

    file: ClaimsFile
    facts: Mapping[str, FoundResult]
    rounds: Sequence[RoundFolder]
    context: Context = AS_FOUND
    further: dict[Path | None, FoundResult] = msgspec.field(default_factory=dict)
    known: dict[tuple[_Question, str], Answer | NoValueError] = msgspec.field(default_factory=dict)
    question: _Question = ("published", ())
    moved: bool = False

    def fact(self, name: str) -> FoundResult:
        """Return the facts of a result.

        Raises:
            NoValueError: there are none.
        """
        found = self.facts.get(name)
        if found is None or not found.result:
            raise NoValueError(f"{name}: {found.reason if found else 'not looked for'}", ABSENT)
        return found

    def facts_in(self, expression: str) -> list[FoundResult]:
        """Return the facts of the results that an expression rests on, found or not."""
        return [self.facts[name] for name in self.file.results_in(expression)]

    def read(self, results: Sequence[FoundResult]) -> list[FoundResult]:
        """Return some of all results given with their logs, without those that have none."""
        new = [one for one in results if one.folder not in self.further]
        self.further.update(zip((one.folder for one in new), read_logs(new, self.context), strict=True))
        return [self.further[one.folder] for one in results if self.further[one.folder].result]

    def among(self, call: Call, *, whole: bool = False) -> Sequence[FoundResult] | None:
        """Return which of all results given a call looks at; None for one that does not.

        ``whole``: of one that counts some, all of which they are some, but nothing of one submitter in one round.
        """
        over = function_of(call).over
        if over is submitted and whole:
            span, *submitter = self._arguments(call)
            return None if submitter and len(rounds_meant(span)) == 1 else submitted(self, span)
        return over(self, *self._arguments(call), **dict(call.named)) if over else None

    def minutes(self, of: FoundResult, basis: str | None = None) -> Band:
        """Return the time to train of a result on a basis, usually that of the question.

        Raises:
            NoValueError: it has no score.
        """
        score = of.minutes[basis or self.question[0]]
        if score is None:
            raise NoValueError(f"{of.name} has no score: too few of its runs count", UNSAID)
        return Band(score, score)

    def value(self, node: Node) -> Any:
        """Return the value of a part of an expression, or its result; errors are those of :func:`evaluate`."""
        if isinstance(node, Constant):
            return Band(node.value, node.value) if isinstance(node.value, Fraction) else node.value
        if isinstance(node, Name) and node.name in self.file.values:
            named = self.known[self.question, node.name]
            if isinstance(named, NoValueError):
                raise named
            return named
        if isinstance(node, Name):
            return dict(self.question[1]).get(node.name) or Band.of(self.file.inputs[node.name].amount)
        function, arguments = function_of(node), self._arguments(node)
        if function.over:
            arguments = [function.over(self, *arguments, **dict(node.named)), *arguments]
        if node.function in ("==", "!=") and type(arguments[0]) is not type(arguments[1]):
            raise NoValueError(f"column {node.column}: text or truth is compared with a number")
        try:
            value = function.how(self, *arguments)
            answer = Band.of(value) if isinstance(value, Fraction) else value
            if self.moved and function.reads and isinstance(answer, Band):
                # Another figure, and for two calls two others.
                return answer + answer + Band.of(Fraction(1 + crc32(node.written.replace(" ", "").encode()) % 997))
            return answer
        except ZeroDivisionError:
            raise NoValueError(f"column {node.column}: division by zero") from None
        except OverflowError:
            raise NoValueError(f"column {node.column}: the number grows beyond any figure") from None

    def _arguments(self, call: Call) -> list[Any]:
        kinds = function_of(call).kinds(len(call.arguments)) or ()
        return [self._argument(*one) for one in zip(kinds, call.arguments, strict=True)]

    def _argument(self, kind: str, node: Node) -> Any:
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


def evaluate(tree: Node, world: World, basis: str, instead: Mapping[str, Band] | None = None) -> Answer:
    """Return the value of an expression.

    Args:
        tree: checked before, see kinds.py.
        world: the facts and inputs.
        basis: the score that minutes() are, where an expression asks for none itself.
        instead: other values of inputs, by name, or all those within their uncertainty.

    Raises:
        NoValueError: there is no value; so within an uncertainty where a divisor may be zero.
    """
    at = msgspec.structs.replace(world, question=(basis, tuple((instead or {}).items())))
    for name, text in world.file.values.items():
        # Each needs only those before it, so that no chain of them costs depth; a failure counts where it is used.
        if (at.question, name) not in at.known:
            try:
                at.known[at.question, name] = at.value(parse(text))
            except NoValueError as error:
                at.known[at.question, name] = error
    answer: Answer = at.value(tree)
    return answer


def depends(expression: str, world: World, *, on_inputs: bool = False) -> bool:
    """Return whether a value depends on a result, or with ``on_inputs`` on an input: a number is another with others.

    Of a condition it is enough that it asks for one.
    """
    tree, inputs = parse(expression), world.file.inputs_in(expression) if on_inputs else ()
    others = {one.name: Band.of(at * one.amount + at - 1) for at, one in enumerate(inputs, 2)}
    try:
        value = evaluate(tree, world, "published")
        moved = evaluate(tree, msgspec.structs.replace(world, moved=True, known={}), "published", others)
    except NoValueError:
        return True
    if isinstance(value, Band):
        return value != moved
    return bool(inputs) or any((FUNCTIONS | OPERATIONS)[one].reads for one in world.file.functions_in(expression))
