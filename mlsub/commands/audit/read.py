"""Read a claims file: everything that is wrong with it at once, each with its line and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec.structs import replace

from mlsub.commands.audit.claims import (
    FORM,
    Claim,
    ClaimedResult,
    ClaimReading,
    ClaimsFile,
    ClaimSource,
    Input,
    Statement,
)
from mlsub.commands.audit.expression import Name, nodes, parse
from mlsub.commands.audit.kinds import Typed, check_stated, meant_name, parse_unit, type_of
from mlsub.commands.audit.verdict import BASES
from mlsub.commands.audit.wording import NumberError, Stated
from mlsub.io.documents import read_document
from mlsub.io.problems import did_you_mean
from mlsub.io.read import YamlTree
from mlsub.rounds import known_rounds, normalise_round
from mlsub.rules.arithmetic import ExpressionError

Step = str | int


def read_claims(file: Path) -> ClaimsFile:
    """Read a claims file, but none of its results.

    Args:
        file: a YAML file, see :data:`~mlsub.commands.audit.claims.FORM`.

    Raises:
        FileProblemsError: it cannot be read, or does not hold together.
    """
    written, tree = read_document(file, FORM)
    claims = _Reader(written, tree).read(file)
    tree.raise_problems()
    return claims


class _Reader:
    """Checks what the schema cannot, and completes each part with its name, its line and its document."""

    def __init__(self, written: ClaimsFile, tree: YamlTree) -> None:
        self._written, self._tree, self._flaw = written, tree, tree.report
        self._names: dict[str, Typed] = {}

    def read(self, file: Path) -> ClaimsFile:
        for name in self._written.published:
            if name not in self._written.results:
                self._flaw(f"there is no result {name!r}{meant_name(name, self._written.results)}", "published", name)
        results = {name: self._result(name, one) for name, one in self._written.results.items()}
        self._names = {name: Typed("result") for name in results}
        inputs = {name: self._input(name, one) for name, one in self._written.inputs.items()}
        values = self._values()
        claims = tuple(self._claim(one, "claims", at) for at, one in enumerate(self._written.claims))
        self._check_together(claims)
        return replace(self._written, file=str(file), results=results, inputs=inputs, values=values, claims=claims)

    def _result(self, name: str, one: ClaimedResult) -> ClaimedResult:
        here, published = ("results", name), self._written.published.get(name)
        if name in BASES:
            self._flaw(f"{name!r} is the name of a basis; give the result another name", *here)
        with self._noting_errors("published", name):
            if published is not None and published.amount <= 0:
                self._flaw("a time to train is more than 0 minutes", "published", name)
        text = str(one.round)[:40]
        round_ = normalise_round(text)
        if round_ not in known_rounds(one.usage):
            known = [f"v{round_}" for round_ in known_rounds(one.usage)]
            self._flaw(f"there is no {one.usage} round {text!r}{did_you_mean(text, known)}", *here, "round")
        names = {"submitter": one.submitter, "system": one.system, "benchmark": one.benchmark}
        missing = [key for key, value in names.items() if value is None]
        if one.path is None and missing:
            self._flaw(f"{' and '.join(missing)} missing; or give path, the benchmark's folder", *here)
        for key, place in {"path": one.path, **names}.items():
            if place is not None and not _inside(place, many=key == "path"):
                self._flaw(f"{place[:80]!r} is not the name of a folder below the results", *here, key)
        day = one.retrieved or self._written.retrieved
        return replace(one, name=name, round=round_ or "", published=published, retrieved=day)

    def _input(self, name: str, one: Input) -> Input:
        here, amount, unit = ("inputs", name), None, None
        if name in self._written.results or name in BASES:
            self._flaw(f"{name!r} is given twice: a result, or a basis, has that name", *here)
        with self._noting_errors(*here, "value"):
            amount = one.amount
        with self._noting_errors(*here, "plus_minus"):
            _ = amount is None or one.spread
        with self._noting_errors(*here, "unit"):
            unit = parse_unit(one.unit)
        self._names.setdefault(name, Typed("number", unit))
        return replace(one, name=name)

    def _values(self) -> dict[str, str]:
        """Return the named expressions, each after those it needs."""
        found: dict[str, str] = {}
        needs: dict[str, Sequence[str]] = {}
        for name, written in self._written.values.items():
            text = _text(written)
            if name in self._names or name in BASES:
                self._flaw(f"{name!r} is given twice: a result, an input or a basis has that name", "values", name)
                continue
            with self._noting_errors("values", name):
                needs[name], found[name] = [one.name for one in nodes(parse(text)) if isinstance(one, Name)], text
        rest = {name: [other for other in others if other in needs] for name, others in needs.items()}
        try:
            order = list(TopologicalSorter(rest).static_order())
        except CycleError as error:
            # As Python has it, each is needed by the next, and the first stands at the end again.
            circle = error.args[1][::-1]
            self._flaw(f"circular: {' -> '.join(circle)}", "values", circle[0])
            return {}
        for name in order:
            self._names[name] = self._type(found[name], None, "values", name) or Typed("any")
        return {name: found[name] for name in order}

    def _claim(self, one: Claim, *here: Step) -> Claim:
        figures = _several(one.stated)
        first = figures[0].expr if figures and figures[0].expr is not None else one.expr
        found = [self._figure(written, one, at, *here) for at, written in enumerate(figures)]
        stated = tuple(figure for figure in found if figure is not None)
        if not stated and one.expr is not None:
            self._type(_text(one.expr), None, *here, "expr")
        if first is None and one.unverifiable is None and not one.same_quantity:
            self._flaw("nothing to check it against; give expr, unverifiable or same_quantity", *here)
        if first is not None and not figures:
            self._flaw("expr needs stated, the value it is checked against", *here)
        if first is not None and one.unverifiable is not None:
            self._flaw("expr and unverifiable exclude each other; what is near goes to nearest", *here)
        return replace(
            one,
            text=one.text or one.id,
            line=self._tree.line(*here),
            source=self._source(one, *here),
            expr=None if one.expr is None else _text(one.expr),
            also=self._readings(one.also, next(iter(stated), None), *here, "also"),
            nearest=self._readings(one.nearest, None, *here, "nearest", judged=False),
            stated=stated,
            basis=_several(one.basis),
            context=_several(one.context),
            same_quantity=tuple(self._statements(one, *here, "same_quantity")),
        )

    def _source(self, one: Claim, *here: Step) -> ClaimSource:
        """Return the document of a claim: the file's, one that it names, or its own."""
        name, documents, own = one.document, self._written.documents, one.source_override
        if name is not None and name not in documents:
            self._flaw(f"there is no document {name!r}{meant_name(name, documents)}", *here, "document")
        base = documents.get(name or "", self._written.source)
        return base if own is None else replace(own, publisher=own.publisher or base.publisher)

    def _figure(self, written: Stated, one: Claim, at: int, *here: Step) -> Stated | None:
        """Return a figure of a claim, whose expression has to fit; ``at`` is its position in the claim."""
        place = (*here, "stated", *((at,) if isinstance(one.stated, tuple) else ()))
        figure, own = self._checked(written, *place), written.expr is not None
        expr = written.expr if own else one.expr
        if expr is None:
            if at and not one.unverifiable:
                self._flaw("a further figure needs expr, what it is", *place)
            return figure
        found = self._type(_text(expr), figure, *(place if own else here), "expr")
        if figure is None or found is None:
            return figure
        if at and not own:
            self._readings(one.also, figure, *here, "also")
        if found.kind == "text" or (found.kind != "any" and (found.kind == "truth") != isinstance(figure.amount, bool)):
            self._flaw(f"the expression is {found.kind}, what is stated is not", *place)
        return replace(figure, expr=_text(expr) if own else None)

    def _checked(self, one: Stated, *here: Step) -> Stated | None:
        with self._noting_errors(*here):
            return one.checked()
        return None

    def _readings(
        self, written: Any, stated: Stated | None, *here: Step, judged: bool = True
    ) -> tuple[ClaimReading, ...]:
        found = []
        for position, one in enumerate(_several(written)):
            place = (*here, position) if isinstance(written, tuple) else here
            reading = one if isinstance(one, ClaimReading) else ClaimReading(expr=one)
            text = _text(reading.expr)
            kind = self._type(text, stated, *place, *(("expr",) if isinstance(one, ClaimReading) else ()))
            if kind is not None and kind.kind == "text" and judged:
                self._flaw("a reading is a number or true or false, not text", *place)
            found.append(replace(reading, expr=text))
        return tuple(found)

    def _statements(self, one: Claim, *here: Step) -> Iterator[Statement]:
        for position, item in enumerate(one.same_quantity):
            place = (*here, position)
            if (item.value is not None) == (item.claim is not None):
                self._flaw("a statement has either value, or claim with the id of another one", *place)
            own = None if item.stated is None else self._checked(item.stated, *place)
            shown = item if own is None else own
            yield replace(item, unit=shown.unit, wording=shown.wording, line=self._tree.line(*place))

    def _check_together(self, claims: tuple[Claim, ...]) -> None:
        """Whether each claim has an id of its own, and those that others name are there and fit."""
        by_id: dict[str, Claim] = {}
        for position, claim in enumerate(claims):
            if claim is not by_id.setdefault(claim.id, claim):
                first = by_id[claim.id].line
                self._flaw(f"{claim.id!r} is given twice, first on line {first}", "claims", position, "id")
        for position, claim in enumerate(claims):
            here = ("claims", position, "same_quantity")
            for number, name in enumerate(statement.claim for statement in claim.same_quantity):
                if name is not None and name not in by_id:
                    self._flaw(f"there is no claim {name!r}{meant_name(name, by_id)}", *here, number)
                elif name is not None and by_id[name].figure is None:
                    self._flaw(f"claim {name!r} states no value", *here, number)
            others = [by_id[one.claim].figure for one in claim.same_quantity if one.claim in by_id]
            said = [*(one.stated for one in claim.same_quantity), *others, claim.figure]
            units = {one.unit or "none" for one in said if one is not None}
            if claim.same_quantity and len(units) > 1:
                # Statements in several units cannot be compared with one another.
                self._flaw(f"the statements have several units: {', '.join(sorted(units))}", *here)

    def _type(self, text: str, stated: Stated | None, *here: Step) -> Typed | None:
        """Return what an expression is; where it is judged, its unit has to be that of what is stated."""
        found = None
        with self._noting_errors(*here):
            found = type_of(text, self._names)
            if stated is not None:
                check_stated(found.unit, stated)
        return found

    @contextmanager
    def _noting_errors(self, *here: Step) -> Iterator[None]:
        """Note what the block says is wrong with a number, a unit or an expression."""
        try:
            yield
        except (ExpressionError, NumberError) as error:
            self._flaw(str(error), *here)


def _text(written: Any) -> str:
    """Return an expression as text, whatever YAML takes it for."""
    return str(written).lower() if isinstance(written, bool) else str(written)


def _several(written: Any) -> tuple[Any, ...]:
    """One thing or several as several."""
    return written if isinstance(written, tuple) else () if written is None else (written,)


def _inside(place: str, *, many: bool) -> bool:
    """Return whether a path leads to below where it begins."""
    parts = PurePosixPath(place).parts
    fits = bool(parts) and ".." not in parts and "\0" not in place and (many or len(parts) == 1)
    return fits and not place.startswith("/")
