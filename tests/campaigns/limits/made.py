"""Expressions that functions make, with examples of what they are made of."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.campaigns.limits.patterns import ANCHORED, REPOSITORY, Call, Expression, calls, of_functions, of_modules

#: Parts of an expression that a function puts in, as they stand in the source: by the place of the function.
PARTS = {
    "mlsub/commands/audit/sentences.py:_since": {"re.escape(name)": r"v1\.0"},
    "mlsub/commands/audit/sentences.py:_model_names": {"re.escape(used)": "mlperf training"},
    "mlsub/commands/audit/quoting.py:mentions": {"re.escape(flat(name))": "mlperf training"},
    "mlsub/commands/audit/subject.py:_as_written": {
        "'[\\\\W_]{1,3}'.join(map(re.escape, said.split()))": r"dgx[\W_]{1,3}a100"
    },
    "mlsub/commands/audit/vocabulary.py:suites_in": {"suites": "training|inference"},
    "mlsub/commands/audit/vocabulary.py:counts_in": {
        "'|'.join(sorted(words, key=len, reverse=True))": "eleven|ten|one"
    },
    "mlsub/io/problems.py:pattern": {"re.sub('\\\\$$', '\\\\\\\\Z', due)": r"^[a-z][a-z0-9_]*\Z"},
    "mlsub/log/event.py:decode_mll": {},
    "mlsub/systems/names.py:_word": {"re.escape(text)": "dgx a100"},
}
#: Functions that make an expression, and what they are called with; the place is that of the call of re.
CALLED: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "mlsub/commands/redact/patterns.py:literal": ("mlsub.commands.redact.patterns", "literal", ("ab*cd",)),
    "mlsub/io/show.py:spellings": ("mlsub.io.show", "spellings", ((("dgx a100", ("a",)), ("tpu", ("b",))),)),
    "mlsub/log/reader.py:_record": ("mlsub.log.reader", "_record", (b":::MLLOG ",)),
    "mlsub/submission/listing.py:_line": ("mlsub.submission.listing", "_line", ()),
    "mlsub/systems/fields.py:_placeholder": ("mlsub.systems.fields", "_placeholder", ()),
    "mlsub/rules/arithmetic.py:token": ("mlsub.rules.formula", "FORMULAS.token", ()),
    "mlsub/systems/names.py:_embedded": ("mlsub.systems.names", "_embedded", ()),
}
#: Used for matches at one place only.
MATCHED = frozenset(("mlsub/rules/arithmetic.py:token",))
#: What the first makes, modules hold in tables, where they are found; the others are in :func:`of_data`.
HELD = frozenset(
    (
        "mlsub/commands/redact/document.py:patterns",
        "mlsub/commands/redact/patterns.py:any_stem",
        "mlsub/commands/redact/patterns.py:any_of",
        "mlsub/submission/listing.py:_patterns",
        "mlsub/systems/fields.py:is_meaningful",
    )
)


def of_calls() -> Iterator[Expression]:
    """The expressions that functions give, in tables too."""
    for place, (module, name, arguments) in CALLED.items():
        function: Any = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
        found = function(*arguments)
        yield Expression(
            place,
            getattr(found, "pattern", found) if not isinstance(found, re.Pattern) else found,
            place not in MATCHED,
        )


def of_data() -> Iterator[Expression]:
    """The expressions that data have: names of stray files, fields of descriptions, schemas of documents."""
    from mlsub.commands.redact.patterns import any_stem
    from mlsub.submission.listing import _patterns
    from mlsub.systems.fields import fields, pattern_of

    for table in ("folders", "files"):
        for kind, pattern in _patterns(table).items():
            yield Expression(f"mlsub/submission/strays.yaml:{kind}", pattern, False)
    for name, field in fields().fields.items():
        if (text := pattern_of(field)) is not None:
            yield Expression(f"mlsub/systems/fields.yaml:{name}", re.compile(text), True)
    yield Expression("mlsub/commands/redact/patterns.py:any_stem", any_stem([b"node", b"gpu-a"]), True)
    for place, schema in of_schemas():
        if schema is not None:
            yield Expression(place, re.compile(schema), True)


def of_schemas() -> Iterator[tuple[str, str | None]]:
    """The expressions of schemas (``pattern=``) by their places; None where it is neither text nor the name of one."""
    for file in sorted((REPOSITORY / "mlsub").rglob("*.py")):
        text = file.read_text("utf-8")
        shown = file.relative_to(REPOSITORY).as_posix()
        for node in ast.walk(ast.parse(text)) if "pattern" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("Meta", "Says"):
                for keyword in node.keywords:
                    if keyword.arg == "pattern":
                        yield f"{shown}:{keyword.value.lineno}", _schema(shown, keyword.value)


def _schema(file: str, pattern: ast.expr) -> str | None:
    if isinstance(pattern, ast.Name):
        value = getattr(_module(file), pattern.id, None)
    else:
        value = pattern.value if isinstance(pattern, ast.Constant) else None
    return value if isinstance(value, str) else None


def _module(file: str) -> Any:
    return importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def text_of(call: Call, pattern: ast.expr) -> str | None:
    """An expression with its parts put in; None where a part has no example."""
    module = _module(call.file)
    known = PARTS.get(call.place)
    if known is None:
        return None
    if isinstance(pattern, ast.JoinedStr):
        parts = [text_of(call, part.value if isinstance(part, ast.FormattedValue) else part) for part in pattern.values]
        return None if None in parts else "".join(filter(None, parts))
    if isinstance(pattern, ast.Constant):
        return str(pattern.value)
    written = ast.unparse(pattern)
    if isinstance(pattern, ast.Name) and written not in known:
        value = getattr(module, written, None)
        return value if isinstance(value, str) else _local(call, written)
    return known.get(written)


def _local(call: Call, name: str) -> str | None:
    """The text that a function gives a name of its own."""
    for node in ast.walk(call.within):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return text_of(call, node.value)
    return None


def of_parts() -> Iterator[tuple[Call, Expression | None]]:
    """The expressions that functions compile from parts; None where the tables here lack them."""
    for call in calls():
        if not call.scope or isinstance(call.pattern, ast.Constant) or call.place in CALLED.keys() | HELD:
            continue
        text = text_of(call, call.pattern)
        yield call, None if text is None else Expression(call.place, re.compile(text), call.function not in ANCHORED)


@cache
def by_file() -> dict[str, list[Expression]]:
    """All expressions, each once, by the file of the source or of data that has it."""
    found: dict[str, list[Expression]] = defaultdict(list)
    made = (expression for _, expression in of_parts() if expression is not None)
    seen = set()
    for expression in (*of_modules(), *of_functions(), *of_calls(), *of_data(), *made):
        key = (expression.pattern.pattern, expression.pattern.flags, expression.searched)
        if key not in seen:
            seen.add(key)
            found[expression.place.partition(":")[0]].append(expression)
    return found
