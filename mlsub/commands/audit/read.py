"""Read a claims file: everything that is wrong with it at once, each with its line and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from mlsub.commands.audit.expression import Expression
from mlsub.commands.audit.kinds import BASES, Typed, check_stated, misspelt, type_of, unit_named
from mlsub.commands.audit.model import Claim, ClaimsFile, Further, Input, Reading, Result, Stated, Statement
from mlsub.commands.audit.wording import NumberError, number, plus_minus, stated
from mlsub.commands.audit.written import (
    FORM,
    ClaimWords,
    InputWords,
    Source,
    WrittenClaim,
    WrittenClaims,
    WrittenReading,
    WrittenResult,
)
from mlsub.io.documents import read_document
from mlsub.io.problems import meant
from mlsub.io.read import Tree
from mlsub.rounds import known_rounds, normalise_round
from mlsub.rules.arithmetic import ExpressionError

Step = str | int
#: An expression and its kind.
_Typed = tuple[Expression, str]


def read_claims(file: Path) -> ClaimsFile:
    """Read a claims file, but none of its results.

    Args:
        file: a YAML file, see :func:`~mlsub.commands.audit.written.claims_schema`.

    Raises:
        FileProblemsError: it cannot be read, or does not hold together.
    """
    written, tree = read_document(file, FORM)
    claims = _Reader(file, written, tree).file()
    tree.raise_problems()
    return claims


class _Reader:
    """Turns a file as it is written into claims, and notes what is wrong with it."""

    def __init__(self, file: Path, written: WrittenClaims, tree: Tree) -> None:
        self._file, self._written, self._tree = file, written, tree
        self._names: dict[str, Typed] = {}

    def file(self) -> ClaimsFile:
        results = {result.name: result for result in self._results()}
        inputs = {one.name: one for one in self._inputs(results)}
        self._names = {name: Typed("result") for name in results}
        for name, one in inputs.items():
            self._names.setdefault(name, Typed("number", unit_named(one.unit)))
        values = self._values()
        claims = tuple(self._claims())
        self._check_statements(claims)
        return ClaimsFile(
            file=self._file,
            source=self._written.source,
            documents=self._written.documents,
            results=results,
            inputs=inputs,
            values=values,
            claims=claims,
        )

    def _results(self) -> Iterator[Result]:
        results, published = self._written.results, self._written.published
        for name in published:
            if name not in results:
                self._flaw(f"there is no result {name!r}{_meant(name, results)}", "published", name)
        for name, written in results.items():
            here = ("results", name)
            if name in BASES:
                self._flaw(f"{name!r} is the name of a basis; give the result another name", *here)
            minutes = self._number(published[name].minutes, "published", name) if name in published else None
            if minutes is not None and minutes <= 0:
                self._flaw("a time to train is more than 0 minutes", "published", name)
            yield Result(
                **{**msgspec.structs.asdict(written), "round": self._round(written, *here)},
                name=name,
                line=self._tree.line(*here),
                published=minutes,
                published_source=published[name].source if name in published else None,
            )

    def _round(self, written: WrittenResult, *here: Step) -> str:
        text, usage = str(written.round)[:40], written.usage
        name = normalise_round(text)
        if name not in known_rounds(usage):
            known = [f"v{round_}" for round_ in known_rounds(usage)]
            self._flaw(f"there is no {usage} round {text!r}{meant(text, known)}", *here, "round")
        names = {"submitter": written.submitter, "system": written.system, "benchmark": written.benchmark}
        missing = [key for key, value in names.items() if value is None]
        if written.path is None and missing:
            self._flaw(f"{' and '.join(missing)} missing; or give path, the benchmark's folder", *here)
        for key, place in {"path": written.path, **names}.items():
            if place is not None and not _inside(place, many=key == "path"):
                self._flaw(f"{place[:80]!r} is not the name of a folder below the results", *here, key)
        return name or ""

    def _inputs(self, results: Iterable[str]) -> Iterator[Input]:
        for name, written in self._written.inputs.items():
            here = ("inputs", name)
            if name in results or name in BASES:
                self._flaw(f"{name!r} is given twice: a result, or a basis, has that name", *here)
            value, spread = self._number(written.value, *here, "value"), Fraction(0)
            try:
                if written.plus_minus is not None:
                    spread = plus_minus(str(written.plus_minus), value)
            except NumberError as error:
                self._flaw(str(error), *here, "plus_minus")
            if unit_named(written.unit) is None and (hint := misspelt(written.unit)) is not None:
                self._flaw(hint, *here, "unit")
            words = _shared(written, InputWords)
            yield Input(name=name, value=value, plus_minus=spread, line=self._tree.line(*here), **words)

    def _values(self) -> dict[str, Expression]:
        found: dict[str, Expression] = {}
        for name in self._written.values:
            if name in self._names or name in BASES:
                self._flaw(f"{name!r} is given twice: a result, an input or a basis has that name", "values", name)
            elif (expression := self._parsed("values", name)) is not None:
                found[name] = expression
        order, circles = _in_order({name: [one.name for one in expr.names] for name, expr in found.items()})
        for circle in circles:
            self._flaw(f"circular: {' -> '.join((*circle, circle[0]))}", "values", circle[0])
        if circles:
            return {}
        for name in order:
            self._names[name] = self._type(found[name], "values", name) or Typed("any")
        return {name: found[name] for name in order}

    def _claims(self) -> Iterator[Claim]:
        seen: dict[str, int] = {}
        for position, written in enumerate(self._written.claims):
            here = ("claims", position)
            name, line = written.id, self._tree.line(*here)
            if name in seen:
                self._flaw(f"{name!r} is given twice, first on line {seen[name]}", *here, "id")
            seen.setdefault(name, line)
            yield self._claim(written, line, *here)

    def _source(self, written: WrittenClaim, *here: Step) -> Source:
        """The document of a claim: the file's, one that it names, or its own."""
        name, documents = written.document, self._written.documents
        if name is not None and name not in documents:
            self._flaw(f"there is no document {name!r}{_meant(name, documents)}", *here, "document")
        base = documents.get(name or "", self._written.source)
        own = written.source_override
        return base if own is None else msgspec.structs.replace(own, publisher=own.publisher or base.publisher)

    def _claim(self, written: WrittenClaim, line: int, *here: Step) -> Claim:
        figures = list(self._figures(written, *here))
        said, expr = figures[0] if figures else (None, None)
        if not figures and written.expr is not None:
            expr = self._expression(None, *here, "expr")
        words = {**_shared(written, ClaimWords), "text": written.text or written.id}
        claim = Claim(
            **words,
            line=line,
            source=self._source(written, *here),
            expr=expr[0] if expr else None,
            also=tuple(self._readings(written.also, said, *here, "also")),
            nearest=tuple(self._readings(written.nearest, None, *here, "nearest", judged=False)),
            stated=said,
            further=tuple(self._further(written, figures[1:], *here)),
            says={key: what for key, what in msgspec.structs.asdict(written.says).items() if what is not msgspec.UNSET},
            basis=(written.basis,) if isinstance(written.basis, str) else written.basis,
            context=(written.context,) if isinstance(written.context, str) else written.context,
            same_quantity=tuple(self._statements(written, *here, "same_quantity")),
        )
        self._whole(written, claim, *here)
        for position, (stated_, typed) in enumerate(figures):
            if stated_ is not None and typed is not None:
                several = (position,) if isinstance(written.stated, tuple) else ()
                self._kinds(stated_, typed[1], *here, "stated", *several)
        return claim

    def _figures(self, written: WrittenClaim, *here: Step) -> Iterator[tuple[Stated | None, _Typed | None]]:
        """Each figure that is stated, with its own expression or the claim's."""
        several = written.stated if isinstance(written.stated, tuple) else (written.stated,)
        for position, one in enumerate(several):
            if one is not None:
                place = (*here, "stated", position) if isinstance(written.stated, tuple) else (*here, "stated")
                said = self._stated(*place)
                of = (*place, "expr") if one.expr is not None else (*here, "expr")
                given = one.expr is not None or written.expr is not None
                yield said, self._expression(said, *of) if given else None

    def _further(
        self, written: WrittenClaim, figures: Sequence[tuple[Stated | None, _Typed | None]], *here: Step
    ) -> Iterator[Further]:
        several = written.stated if isinstance(written.stated, tuple) else ()
        for position, (said, expr) in enumerate(figures, 1):
            place = (*here, "stated", position)
            if several[position].expr is None and written.expr is None and not written.unverifiable:
                self._flaw("a further figure needs expr, what it is", *place)
            if said is not None and expr is not None:
                shared = several[position].expr is None
                also = tuple(self._readings(written.also, said, *here, "also")) if shared else ()
                yield Further(expr=expr[0], stated=said, also=also)

    def _kinds(self, said: Stated, kind: str, *here: Step) -> None:
        truth = isinstance(said.value, bool)
        if kind == "text" or ((kind == "truth") != truth and kind != "any"):
            self._flaw(f"the expression is {kind}, what is stated is not", *here)

    def _whole(self, written: WrittenClaim, claim: Claim, *here: Step) -> None:
        """Whether the parts of a claim fit together."""
        if claim.expr is None and written.expr is None and claim.unverifiable is None and not claim.same_quantity:
            self._flaw("nothing to check it against; give expr, unverifiable or same_quantity", *here)
        if claim.expr is not None and written.stated is None:
            self._flaw("expr needs stated, the value it is checked against", *here)
        if claim.expr is not None and claim.unverifiable is not None:
            self._flaw("expr and unverifiable exclude each other; what is near goes to nearest", *here)

    def _readings(self, written: Any, said: Stated | None, *here: Step, judged: bool = True) -> Iterator[Reading]:
        several = isinstance(written, tuple)
        for position, item in enumerate(written if several else (written,)):
            place = (*here, position) if several else here
            reading = item if isinstance(item, WrittenReading) else None
            found = self._expression(said, *place, *(("expr",) if reading else ()))
            if found is not None:
                if found[1] == "text" and judged:
                    self._flaw("a reading is a number or true or false, not text", *place)
                yield Reading(found[0], reading.label if reading else None)

    def _statements(self, written: WrittenClaim, *here: Step) -> Iterator[Statement]:
        for position, item in enumerate(written.same_quantity):
            place = (*here, position)
            own = item.value is not None
            if own == (item.claim is not None):
                self._flaw("a statement has either value, or claim with the id of another one", *place)
            yield Statement(
                stated=self._stated(*place) if own else None,
                claim=item.claim,
                where=" ".join(part for part in (item.document, item.file, item.where) if part) or None,
                line=self._tree.line(*place),
            )

    def _check_statements(self, claims: tuple[Claim, ...]) -> None:
        by_id = {claim.id: claim for claim in claims}
        for position, claim in enumerate(claims):
            here = ("claims", position, "same_quantity")
            for number_, name in enumerate(statement.claim for statement in claim.same_quantity):
                if name is not None and name not in by_id:
                    self._flaw(f"there is no claim {name!r}{_meant(name, by_id)}", *here, number_)
                elif name is not None and by_id[name].stated is None:
                    self._flaw(f"claim {name!r} states no value", *here, number_)
            others = [by_id[one.claim].stated for one in claim.same_quantity if one.claim in by_id]
            said = [*(one.stated for one in claim.same_quantity), *others, claim.stated]
            units = {one.unit or "none" for one in said if one is not None}
            if claim.same_quantity and len(units) > 1:
                # Statements in several units cannot be compared with one another.
                self._flaw(f"the statements have several units: {', '.join(sorted(units))}", *here)

    def _stated(self, *here: Step) -> Stated | None:
        names = ("value", "unit", "wording", "reading", "tolerance")
        said = {name: text for name in names if (text := self._tree.text(*here, name)) is not None}
        try:
            return stated(said, self._tree.line(*here), truth=self._tree.is_truth(*here, "value"))
        except NumberError as error:
            self._flaw(str(error), *here)
            return None

    def _number(self, written: str | float, *here: Step) -> Fraction:
        try:
            return number(str(written))
        except NumberError as error:
            self._flaw(str(error), *here)
            return Fraction(1)

    def _expression(self, said: Stated | None, *here: Step) -> _Typed | None:
        """An expression and its kind; where it is judged, its unit has to be that of what is stated."""
        expression = self._parsed(*here)
        found = self._type(expression, *here) if expression is not None else None
        if expression is None or found is None:
            return None
        try:
            if said is not None:
                check_stated(found.unit, said)
        except ExpressionError as error:
            self._flaw(str(error), *here)
        return expression, found.kind

    def _parsed(self, *here: Step) -> Expression | None:
        try:
            return Expression(self._tree.text(*here) or "")
        except ExpressionError as error:
            self._flaw(str(error), *here)
            return None

    def _type(self, expression: Expression, *here: Step) -> Typed | None:
        try:
            return type_of(expression, self._names)
        except ExpressionError as error:
            self._flaw(str(error), *here)
            return None

    def _flaw(self, message: str, *here: Step) -> None:
        self._tree.report(message, *here)


def _shared(written: msgspec.Struct, words: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields that what is written has in common with what is made of it."""
    return {name: getattr(written, name) for name in words.__struct_fields__}


def _in_order(needs: Mapping[str, Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Names so that each comes after those it needs, and the circles, which have no order."""
    rest = {name: [other for other in others if other in needs] for name, others in needs.items()}
    circles: list[list[str]] = []
    while True:
        try:
            return list(TopologicalSorter(rest).static_order()), circles
        except CycleError as error:
            # The circle as Python has it: each name is needed by the next, and the first stands at the end again.
            circle = error.args[1][:0:-1]
            start = circle.index(next(name for name in needs if name in circle))
            circles.append([*circle[start:], *circle[:start]])
            rest = {name: [o for o in others if o not in circle] for name, others in rest.items() if name not in circle}


def _meant(text: str, known: Iterable[str]) -> str:
    return meant(text, known) if known else "; the file names none"


def _inside(place: str, *, many: bool) -> bool:
    """Whether a path leads to below where it begins."""
    parts = PurePosixPath(place).parts
    return (
        bool(parts)
        and not place.startswith("/")
        and ".." not in parts
        and "\0" not in place
        and (many or len(parts) == 1)
    )
