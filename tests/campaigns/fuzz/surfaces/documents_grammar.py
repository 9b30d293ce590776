"""Documents drawn from a JSON Schema: what fits it, and now and then what nearly does."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping, Sequence
from functools import reduce
from re import _constants as sre
from re import _parser as sre_parser
from typing import Any

import yaml

#: Values that fit few places.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 10**30, 0.5, 1e308, float("inf"), float("nan"), -0.0, "", " ", "x" * 500, "\u2028"),
    *("a\nb", "\x07", "\u202e", "é", "\U0001f600", "1e-4", "1_0", "0x1F", "2021-02-31", "yes", "~", "null", "=", "<<"),
    *("../..", "/dev/zero", "${x}", "{0..9}", "*", "%s", "{}", [], {}, [[]], {"a": {}}, ["x", 1], {"": 1}),
)
_WORDS = ("a", "b1", "rack1", "resnet", "N/A", "8", "text with blanks", "v1.1", "1.0", "0.5%")
_LETTERS = string.ascii_letters + string.digits + " .-_/,é"


class Maker:
    """Draws documents of one schema.

    Args:
        schema: the schema, whose references lead to its own ``$defs``.
        hints: values that mean something, by the name of the field they stand in, ``NAME*`` for what a
            mapping holds; ``NAME:`` has its keys, and ``*`` those of any other mapping.
        odd: how often a value is one of :data:`ODD` in the place of one that fits.
    """

    def __init__(self, schema: dict[str, Any], hints: Mapping[str, Sequence[Any]], odd: float = 0.02) -> None:
        self._schema, self._hints, self._odd = schema, hints, odd

    def make(self, rng: random.Random) -> Any:
        """One document as plain data."""
        return self._value(self._schema, "", rng, 0)

    def change(self, content: Any, rng: random.Random) -> Any:
        """A document with one part of it drawn anew, or a part that it did not have."""
        return self._changed(content, self._schema, "", rng, 0)

    def _changed(self, content: Any, schema: Any, name: str, rng: random.Random, depth: int) -> Any:
        schema = self._meant(schema) or {}
        if isinstance(content, dict) and content and rng.random() < 0.9:
            fields = schema.get("properties", {})
            key = rng.choice([*content, *content, *fields])
            free = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
            due = fields.get(key, next((one for one in free if isinstance(one, dict)), {}))
            below = key if key in fields else f"{name}*"
            return {**content, key: self._changed(content.get(key), due, below, rng, depth + 1)}
        if isinstance(content, list) and content and rng.random() < 0.9:
            at = rng.randrange(len(content))
            item = self._changed(content[at], schema.get("items", {}), name, rng, depth + 1)
            return [*content[:at], item, *content[at + (rng.random() < 0.8) :]]
        return self._value(schema, name, rng, depth)

    def _meant(self, schema: Any) -> dict[str, Any] | None:
        """A schema with its references followed; None for one that says nothing, or that nothing fits."""
        while isinstance(schema, dict) and "$ref" in schema:
            schema = reduce(lambda part, step: part[step], schema["$ref"].split("/")[1:], self._schema)
        return schema if isinstance(schema, dict) else None

    def _value(self, schema: Any, name: str, rng: random.Random, depth: int) -> Any:
        schema = self._meant(schema)
        if schema is None or rng.random() < self._odd:
            return rng.choice(ODD)
        known = [hint for hint in self._hints.get(name, ()) if _may_be(hint, schema)]
        if known and rng.random() < 0.8:
            return rng.choice(known)
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema and "properties" not in schema:
                return self._value(rng.choice(schema[word]), name, rng, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        kind = kinds if isinstance(kinds, str) else rng.choice(kinds)
        return getattr(self, f"_{kind}")(schema, name, rng, depth)

    def _object(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> dict[str, Any]:
        fields, required = schema.get("properties", {}), set(schema.get("required", ()))
        for word in ("anyOf", "oneOf"):
            required |= set(rng.choice(schema.get(word, [{}])).get("required", ()))
        often = (0.5, 0.5, 0.25, 0.25, 0.1)[depth] if depth < 5 else 0.0
        keep = [field for field in fields if (field in required and rng.random() > self._odd) or rng.random() < often]
        lacking = min(schema.get("minProperties", 0), len(fields)) - len(keep)
        keep += rng.sample([field for field in fields if field not in keep], max(0, lacking))
        made = {field: self._value(fields[field], field, rng, depth + 1) for field in keep}
        more = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        for free in (one for one in more if isinstance(one, dict)):
            for _ in range(self._count(schema, "Properties", rng, depth)):
                made[self._key(schema, name, rng)] = self._value(free, f"{name}*", rng, depth + 1)
        if rng.random() < self._odd:
            made[rng.choice((*_WORDS, *fields))] = rng.choice(ODD)
        return made

    def _key(self, schema: dict[str, Any], name: str, rng: random.Random) -> str:
        patterns = [schema.get("propertyNames", {}).get("pattern"), *schema.get("patternProperties", {})]
        known = [
            key
            for key in self._hints.get(f"{name}:", self._hints.get("*", ()))
            if not patterns[0] or re.search(patterns[0], key)
        ]
        if known and rng.random() < 0.8:
            return str(rng.choice(known))
        pattern = rng.choice(patterns)
        return text_like(pattern, rng) if pattern else str(rng.choice(_WORDS))

    def _array(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> list[Any]:
        count = self._count(schema, "Items", rng, depth)
        return [self._value(schema.get("items", True), name, rng, depth + 1) for _ in range(count)]

    def _count(self, schema: dict[str, Any], of: str, rng: random.Random, depth: int) -> int:
        least, most = schema.get(f"min{of}", 0), schema.get(f"max{of}", 4)
        return min(most, least + rng.choice((0, 1, 1, 2) if depth < 3 else (0, 1)))

    def _string(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> str:
        if schema.get("format") == "date":
            return f"{rng.choice((1999, 2021, 2024))}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        if "pattern" in schema:
            return text_like(schema["pattern"], rng)
        text = rng.choice((*_WORDS, "".join(rng.choices(_LETTERS, k=rng.choice((1, 3, 20))))))
        return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 500)]

    def _number(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> float | int:
        return rng.choice((self._integer(schema, name, rng, depth), rng.random() + schema.get("minimum", 0), 1e6))

    def _integer(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> int:
        least, most = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1), schema.get("maximum", 1 << 40)
        return int(rng.choice((least, min(least + rng.randrange(100), most), most)))

    def _boolean(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> bool:
        return rng.random() < 0.5

    def _null(self, schema: dict[str, Any], name: str, rng: random.Random, depth: int) -> None:
        return None


def _may_be(hint: Any, schema: dict[str, Any]) -> bool:
    """Whether a hint is of the kind of a place: a list of names has its hints for what is in it."""
    kind = {list: "array", dict: "object"}.get(type(hint))
    due = schema.get("type")
    return due is None or (kind in due if kind else due not in ("array", "object"))


def text_like(pattern: str, rng: random.Random) -> str:
    """A short text that a regular expression matches."""
    return "".join(_drawn(sre_parser.parse(pattern), rng))


def _drawn(parts: Any, rng: random.Random) -> list[str]:
    made: list[str] = []
    for kind, value in parts:
        if kind is sre.LITERAL:
            made.append(chr(value))
        elif kind is sre.IN:
            made.append(_of_class(value, rng))
        elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, inner = value
            for _ in range(rng.randint(least, max(least, min(most, least + 3)))):
                made += _drawn(inner, rng)
        elif kind is sre.SUBPATTERN:
            made += _drawn(value[-1], rng)
        elif kind is sre.BRANCH:
            made += _drawn(rng.choice(value[1]), rng)
        elif kind in (sre.ANY, sre.NOT_LITERAL):
            made.append(rng.choice(_LETTERS))
    return made


def _of_class(choices: Any, rng: random.Random) -> str:
    if choices[0][0] is sre.NEGATE:
        return rng.choice(string.ascii_letters)
    kind, value = rng.choice(choices)
    if kind is sre.RANGE:
        return chr(rng.randint(*value))
    return chr(value) if kind is sre.LITERAL else rng.choice("a1_")


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):
    """Writes out what stands in two places, for documents have no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def as_yaml(content: Any, rng: random.Random) -> bytes:
    """Plain data as YAML in one of the styles that people and tools write."""
    text: str = yaml.dump(
        content,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=rng.random() < 0.5,
        default_flow_style=rng.choice((False, False, None, True)),
        default_style=rng.choice((None, None, None, '"', "'", "|")),
        width=rng.choice((40, 200)),
    )
    return text.encode("utf-8", "surrogatepass")
