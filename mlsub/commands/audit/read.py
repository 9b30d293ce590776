"""Read a claims file: everything that is wrong with it at once, each with its line and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from mlsub.commands.audit.expression import Expression, ExpressionError, parse
from mlsub.commands.audit.kinds import BASES, Scope, kind_of
from mlsub.commands.audit.model import Claim, ClaimsFile, Input, Reading, Result, Source, Statement, Value
from mlsub.commands.audit.numbers import NumberError, number, plus_minus, stated
from mlsub.commands.audit.order import in_order
from mlsub.commands.audit.schema import claims_schema, unknown_words
from mlsub.commands.audit.units import Unit, check_stated, unit_named, unit_of
from mlsub.io.yamlfile import (
    FileProblemsError,
    Problem,
    child,
    content_of,
    meant,
    read,
    schema_problems,
    twice,
)
from mlsub.rounds import known_rounds, normalise_round


class ClaimsError(FileProblemsError):
    """A claims file that cannot be used."""


def read_claims(file: Path) -> ClaimsFile:
    """Read a claims file; no result is looked at.

    Args:
        file: a YAML file, see claims.schema.json.

    Raises:
        ClaimsError: it cannot be read, or does not hold together.
    """
    node, problems = read(file, kind="claims files", top="claims_version, source, results, inputs and claims")
    if not isinstance(node, yaml.MappingNode):
        raise ClaimsError(problems)
    shown = str(file)
    schema = claims_schema()
    found = [Problem(shown, line_of(where), message) for where, message in (*twice(node), *unknown_words(node, schema))]
    found = found or schema_problems(node, shown, schema)
    if not found:
        reader = _Reader(file, node)
        claims = reader.file()
        found = [Problem(shown, line_of(where), message) for where, message in reader.flaws]
        if not found:
            return claims
    raise ClaimsError(tuple(sorted(dict.fromkeys(found), key=lambda problem: problem.line)))


def line_of(node: yaml.Node) -> int:
    """The 1-based line a node begins on."""
    line: int = node.start_mark.line
    return line + 1


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


class _Reader:
    """Turns the nodes of a file that fits the schema into claims, and collects what is wrong with it."""

    def __init__(self, file: Path, node: yaml.MappingNode) -> None:
        self.flaws: list[tuple[yaml.Node, str]] = []
        self._file, self._node = file, node
        self._scope = Scope((), (), {})
        self._units: dict[str, Unit | None] = {}

    def file(self) -> ClaimsFile:
        source = self._source(child(self._node, "source"))
        documents = {str(key.value): self._source(value) for key, value in self._section("documents")}
        results = {result.name: result for result in self._results()}
        inputs = {one.name: one for one in self._inputs(results)}
        self._scope = Scope(tuple(results), tuple(inputs), {})
        self._units = {name: unit_named(one.unit) for name, one in inputs.items()}
        values = self._values()
        claims = tuple(self._claims(source, documents))
        self._check_statements(claims)
        return ClaimsFile(
            file=self._file,
            source=source,
            documents=documents,
            results=results,
            inputs=inputs,
            values=values,
            claims=claims,
        )

    def _section(self, name: str) -> list[tuple[yaml.Node, yaml.Node]]:
        return _pairs(child(self._node, name))

    def _source(self, node: yaml.Node | None) -> Source:
        return Source(**content_of(node)) if node is not None else Source()

    def _results(self) -> Iterator[Result]:
        published = {str(key.value): value for key, value in self._section("published")}
        names = [str(key.value) for key, _ in self._section("results")]
        for key, _ in self._section("published"):
            if key.value not in names:
                self._flaw(key, f"there is no result {key.value!r}{_meant(str(key.value), names)}")
        for key, node in self._section("results"):
            name, content = str(key.value), content_of(node)
            if name in BASES:
                self._flaw(key, f"{name!r} is the name of a basis; call the result otherwise")
            table = published.get(name)
            minutes = self._number(child(table, "minutes")) if table is not None else None
            if minutes is not None and minutes <= 0:
                self._flaw(table or key, "a time to train is more than 0 minutes")
            yield Result(
                **{**content, "round": self._round(node, content)},
                name=name,
                line=line_of(key),
                published=minutes,
                published_source=content_of(table)["source"] if table is not None else None,
            )

    def _round(self, node: yaml.Node, content: Mapping[str, Any]) -> str:
        written = child(node, "round") or node
        text, usage = str(written.value)[:40], content.get("usage", "training")
        name = normalise_round(text)
        if name not in known_rounds(usage):
            known = [f"v{round_}" for round_ in known_rounds(usage)]
            self._flaw(written, f"there is no {usage} round {text!r}{meant(text, known)}")
        path = content.get("path")
        missing = [key for key in ("submitter", "system", "benchmark") if key not in content]
        if path is None and missing:
            self._flaw(node, f"{' and '.join(missing)} missing; or give path, the benchmark's folder")
        places = [path, *(content.get(key) for key in ("submitter", "system", "benchmark"))]
        for place in places:
            if place is not None and not _inside(place, many=place is path):
                self._flaw(node, f"{place[:80]!r} is no name of a folder below the results")
        return name or ""

    def _inputs(self, results: Mapping[str, Result]) -> Iterator[Input]:
        for key, node in self._section("inputs"):
            name, content = str(key.value), content_of(node)
            if name in results or name in BASES:
                self._flaw(key, f"{name!r} is there twice: a result, or a basis, is called so")
            written = child(node, "value") or node
            value = self._number(written)
            around = child(node, "plus_minus")
            try:
                spread = plus_minus(str(around.value), value) if around is not None else Fraction(0)
            except NumberError as error:
                self._flaw(around or node, str(error))
                spread = Fraction(0)
            yield Input(
                **{**content, "value": value, "plus_minus": spread},
                name=name,
                line=line_of(key),
                written=str(written.value),
            )

    def _values(self) -> dict[str, Value]:
        found: dict[str, tuple[yaml.Node, Expression]] = {}
        for key, node in self._section("values"):
            name = str(key.value)
            if name in self._scope.names or name in BASES:
                self._flaw(key, f"{name!r} is there twice: a result, an input or a basis is called so")
            elif (expression := self._parsed(node)) is not None:
                found[name] = (key, expression)
        order, circles = in_order({name: [one.name for one in expr.names] for name, (_, expr) in found.items()})
        for circle in circles:
            self._flaw(found[circle[0]][0], f"circular: {' -> '.join((*circle, circle[0]))}")
        if circles:
            return {}
        nodes = {str(key.value): node for key, node in self._section("values")}
        values: dict[str, Value] = {}
        for name in order:
            key, expression = found[name]
            kind, self._units[name] = self._kind(expression, nodes[name])
            self._scope = Scope(self._scope.results, self._scope.inputs, {**self._scope.values, name: kind})
            values[name] = Value(name, expression, line_of(key))
        return values

    def _claims(self, source: Source, documents: Mapping[str, Source]) -> Iterator[Claim]:
        seen: dict[str, int] = {}
        section = child(self._node, "claims")
        for node in section.value if section is not None else ():
            content = content_of(node)
            name = content["id"]
            if name in seen:
                self._flaw(child(node, "id") or node, f"{name!r} is there twice, first on line {seen[name]}")
            seen.setdefault(name, line_of(node))
            yield self._claim(node, content, self._document(node, content, source, documents))

    def _document(
        self, node: yaml.Node, content: Mapping[str, Any], source: Source, documents: Mapping[str, Source]
    ) -> Source:
        name = content.get("document")
        if name is not None and name not in documents:
            self._flaw(child(node, "document") or node, f"there is no document {name!r}{_meant(name, documents)}")
        base = documents.get(name, source) if name is not None else source
        own = child(node, "source_override")
        if own is None:
            return base
        return Source(**{**{"publisher": base.publisher}, **content_of(own)})

    def _claim(self, node: yaml.Node, content: Mapping[str, Any], source: Source) -> Claim:
        said = child(node, "stated")
        expr = self._expression(child(node, "expr"))
        claim = Claim(
            id=content["id"],
            text=content.get("text", content["id"]),
            line=line_of(node),
            source=source,
            document=content.get("document"),
            where=content.get("where"),
            kind=content.get("kind"),
            expr=expr[0] if expr else None,
            label=content.get("label"),
            also=tuple(self._readings(child(node, "also"), judged=True)),
            nearest=tuple(self._readings(child(node, "nearest"), judged=False)),
            stated=self._stated(said),
            says=_says(child(node, "says")),
            basis=_several(content.get("basis")),
            unverifiable=content.get("unverifiable"),
            context=_several(content.get("context")),
            same_quantity=tuple(self._statements(child(node, "same_quantity"))),
            footnote=content.get("footnote"),
            note=content.get("note"),
        )
        self._whole(node, claim, expr[1] if expr else None)
        self._check_unit(node, claim)
        return claim

    def _whole(self, node: yaml.Node, claim: Claim, kind: str | None) -> None:
        """Whether the parts of a claim fit together."""
        if claim.expr is None and claim.unverifiable is None and not claim.same_quantity and not _has(node, "expr"):
            self._flaw(node, f"{claim.id}: nothing to hold it against; give expr, unverifiable or same_quantity")
        if claim.expr is not None and claim.stated is None and not _has(node, "stated"):
            self._flaw(node, f"{claim.id}: expr needs stated, the value it is held against")
        if claim.expr is not None and claim.unverifiable is not None:
            self._flaw(node, f"{claim.id}: expr and unverifiable exclude each other; what is near goes to nearest")
        if claim.expr is not None and claim.stated is not None and kind is not None:
            truth = isinstance(claim.stated.value, bool)
            if kind == "text" or ((kind == "truth") != truth and kind != "any"):
                self._flaw(
                    child(node, "stated") or node, f"{claim.id}: the expression is {kind}, what is stated is not"
                )

    def _readings(self, node: yaml.Node | None, *, judged: bool) -> Iterator[Reading]:
        items = node.value if isinstance(node, yaml.SequenceNode) else [node] if node is not None else []
        for item in items:
            inner = child(item, "expr") if isinstance(item, yaml.MappingNode) else item
            label = child(item, "label")
            if (found := self._expression(inner)) is not None:
                if found[1] == "text" and judged:
                    self._flaw(item, "a reading is a number or true or false, not text")
                yield Reading(found[0], str(label.value) if label is not None else None)

    def _statements(self, node: yaml.Node | None) -> Iterator[Statement]:
        for item in node.value if isinstance(node, yaml.SequenceNode) else ():
            content = content_of(item)
            own = child(item, "value") is not None
            if own == ("claim" in content):
                self._flaw(item, "a statement has either value, or claim with the id of another one")
            where = " ".join(str(content[key]) for key in ("document", "file", "where") if key in content)
            yield Statement(
                stated=self._stated(item) if own else None,
                claim=content.get("claim"),
                where=where or None,
                line=line_of(item),
            )

    def _check_statements(self, claims: tuple[Claim, ...]) -> None:
        known = [claim.id for claim in claims]
        stating = {claim.id for claim in claims if claim.stated is not None}
        section: Any = child(self._node, "claims")
        for node, claim in zip(section.value, claims, strict=True):
            for statement in claim.same_quantity:
                name = statement.claim
                if name is not None and name not in known:
                    self._flaw(child(node, "same_quantity") or node, f"there is no claim {name!r}{_meant(name, known)}")
                elif name is not None and name not in stating:
                    self._flaw(child(node, "same_quantity") or node, f"claim {name!r} states no value")
            self._check_units(node, claim, claims)

    def _check_units(self, node: yaml.Node, claim: Claim, claims: tuple[Claim, ...]) -> None:
        """Statements in several units cannot be held against one another."""
        others = {other.id: other.stated for other in claims}
        said = [statement.stated or others.get(statement.claim or "") for statement in claim.same_quantity]
        units = {one.unit or "none" for one in (*said, claim.stated) if one is not None}
        if claim.same_quantity and len(units) > 1:
            where = child(node, "same_quantity") or node
            self._flaw(where, f"{claim.id}: the statements have several units: {', '.join(sorted(units))}")

    def _stated(self, node: yaml.Node | None) -> Any:
        if node is None:
            return None
        parts = {str(key.value): value for key, value in _pairs(node)}
        try:
            return stated(parts, line_of(node))
        except NumberError as error:
            self._flaw(node, str(error))
            return None

    def _number(self, node: yaml.Node | None) -> Fraction:
        try:
            return number(str(node.value)) if node is not None else Fraction(0)
        except NumberError as error:
            self._flaw(node or self._node, str(error))
            return Fraction(1)

    def _expression(self, node: yaml.Node | None) -> tuple[Expression, str] | None:
        expression = self._parsed(node) if node is not None else None
        if expression is None or node is None:
            return None
        before = len(self.flaws)
        kind, _ = self._kind(expression, node)
        return (expression, kind) if len(self.flaws) == before else None

    def _parsed(self, node: yaml.Node) -> Expression | None:
        try:
            return parse(str(node.value))
        except ExpressionError as error:
            self._flaw(node, str(error))
            return None

    def _kind(self, expression: Expression, node: yaml.Node) -> tuple[str, Unit | None]:
        try:
            return kind_of(expression, self._scope), unit_of(expression, self._units)
        except ExpressionError as error:
            self._flaw(node, str(error))
            return "any", None

    def _check_unit(self, node: yaml.Node, claim: Claim) -> None:
        """Whether each reading of a claim is measured in the unit that is stated."""
        readings = child(node, "also")
        items = readings.value if isinstance(readings, yaml.SequenceNode) else [readings]
        places = [(claim.expr, child(node, "expr")), *zip((one.expr for one in claim.also), items, strict=False)]
        for expression, where in places:
            try:
                if expression is not None and claim.stated is not None:
                    check_stated(expression, claim.stated, self._units)
            except ExpressionError as error:
                self._flaw(where or node, str(error))

    def _flaw(self, node: yaml.Node, message: str) -> None:
        self.flaws.append((node, message))


def _says(node: yaml.Node | None) -> dict[str, Any]:
    """What is disclosed: text as it stands in the file, null and truths as what they are."""
    return {str(key.value): _said(value) for key, value in _pairs(node)}


def _said(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_said(item) for item in node.value]
    kind = node.tag.rpartition(":")[2]
    return content_of(node) if kind in ("null", "bool") else str(node.value)


def _has(node: yaml.Node, key: str) -> bool:
    return child(node, key) is not None


def _several(content: Any) -> tuple[str, ...]:
    return (content,) if isinstance(content, str) else tuple(content or ())


def _meant(text: str, known: Any) -> str:
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
