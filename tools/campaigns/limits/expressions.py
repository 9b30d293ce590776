"""Every regular expression of mlsub, with its value and whether it is searched for or matched at one place only.

Those of modules are found by importing what uses ``re``, those of functions in the source, where what a function puts
into an expression is some text. What functions make in another way is in :data:`MADE`, with a call that makes it.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parents[3]
_ANCHORED = frozenset(("match", "fullmatch"))
_TAKE_A_PATTERN = _ANCHORED | {"compile", "search", "sub", "subn", "findall", "finditer", "split"}
#: Expressions that are matched at one place only, through a name that a loop gives them.
_MATCHED_BY_NAME = frozenset(("ALMOST_RESULT", "OTHER_LOG", "_MISUSES"))
#: Stands for what a function puts into an expression.
_PART = "a 1"


class Expression(NamedTuple):
    """A compiled expression; ``searched`` where it is looked for at every place of a text."""

    place: str
    pattern: re.Pattern[Any]
    searched: bool = True


def _made(name: str, *arguments: Any) -> Callable[[], Any]:
    def make() -> Any:
        module, _, path = name.partition(":")
        found: Any = importlib.import_module(f"mlsub.{module}")
        for part in path.split("."):
            found = getattr(found, part)
        return found(*arguments)

    return make


#: Places where a function makes an expression, and what makes such a one; None where the expression is among those of
#: modules, or of :func:`_of_data`.
MADE: dict[str, Callable[[], Any] | None] = {
    "mlsub/commands/audit/sentence.py:_first_of": _made("commands.audit.sentence:_first_of", ("x", "nvidia")),
    "mlsub/commands/audit/sentence.py:_count_pattern": _made("commands.audit.sentence:_count_pattern"),
    "mlsub/commands/audit/sentence.py:_last_of": _made("commands.audit.sentence:_last_of", ("in", "")),
    "mlsub/commands/audit/sentence.py:_figure_pattern": _made("commands.audit.sentence:_figure_pattern"),
    "mlsub/commands/audit/sentence.py:_kind_pattern": _made("commands.audit.sentence:_kind_pattern", "alike"),
    "mlsub/commands/audit/subject.py:differences": lambda: r"dgx[\W_]{1,3}a100",
    "mlsub/log/private/patterns.py:compiled": None,
    "mlsub/packing/redactor.py:compile_text": _made("packing.redactor:compile_text", "ab*cd"),
    "mlsub/io/problems.py:pattern": None,
    "mlsub/io/show.py:spellings": _made("io.show:spellings", (("dgx a100", ("a",)), ("tpu", ("b",)))),
    "mlsub/log/reader.py:_record": _made("log.reader:_record", b":::MLLOG "),
    "mlsub/rules/arithmetic.py:token": _made("rules.formula:FORMULAS.token"),
    "mlsub/submission/file_tree.py:stray_kind": None,
    "mlsub/submission/templates.py:_line": _made("submission.templates:_line"),
    "mlsub/systems/fields.py:_placeholder_pattern": _made("systems.fields:_placeholder_pattern"),
    "mlsub/systems/fields.py:is_meaningful": None,
    "mlsub/systems/names.py:_embedded_name_pattern": _made("systems.names:_embedded_name_pattern"),
}
#: Of these the expression is used for matches at one place only.
_MADE_FOR_MATCHES = frozenset(("mlsub/rules/arithmetic.py:token",))


@cache
def sources() -> dict[str, str]:
    """The modules that use ``re``, and their text."""
    files = sorted((REPOSITORY / "mlsub").rglob("*.py"))
    texts = {file.relative_to(REPOSITORY).as_posix(): file.read_text("utf-8") for file in files}
    return {name: text for name, text in texts.items() if "import re\n" in text}


@cache
def _all_source() -> str:
    return "\n".join(file.read_text("utf-8") for file in sorted((REPOSITORY / "mlsub").rglob("*.py")))


def _module(file: str) -> Any:
    return importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def _only_matched(file: str, name: str) -> bool:
    """Whether a compiled expression of a module is used for matches at one place only, wherever it is used."""
    # Nobody uses a name of another module that begins with an underscore.
    source = sources()[file] if name.startswith("_") else _all_source()
    methods = re.findall(rf"\b{re.escape(name)}\b(?:\[\"?\w+\"?\])?\.(\w+)", source)
    return name in _MATCHED_BY_NAME or (bool(methods) and all(one in _ANCHORED | {"pattern"} for one in methods))


def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict | tuple | list | frozenset):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(inner)


def _of_modules() -> Iterator[Expression]:
    """The expressions that modules hold, also inside tables."""
    for file in sources():
        for name, value in vars(_module(file)).items():
            for pattern in _patterns_in(value):
                yield Expression(f"{file}:{name}", pattern, not _only_matched(file, name))


@cache
def of_functions() -> tuple[tuple[str, Expression | None], ...]:
    """The expressions that functions give to ``re``, by their places; None where the source does not say which."""
    return tuple(_of_functions())


def _of_functions() -> Iterator[tuple[str, Expression | None]]:
    for file, source in sources().items():
        for call, function in _calls(ast.parse(source), None):
            match call.func:
                case ast.Attribute(value=ast.Name(id="re"), attr=name) if name in _TAKE_A_PATTERN:
                    place = f"{file}:{function.name}"
                    text = None if place in MADE else _text(file, function, call.args[0])
                    made = None if text is None else Expression(place, re.compile(text), name not in _ANCHORED)
                    yield place, made


def _calls(tree: ast.AST, within: ast.FunctionDef | None) -> Iterator[tuple[ast.Call, ast.FunctionDef]]:
    """The calls in functions, each with the innermost one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and within is not None:
            yield node, within
        yield from _calls(node, node if isinstance(node, ast.FunctionDef) else within)


def _text(file: str, function: ast.FunctionDef, pattern: ast.expr) -> str | bytes | None:
    """An expression with some text for each of its parts; None where it is made in another way."""
    match pattern:
        case ast.Constant(value=str() | bytes() as value):
            return value
        case ast.JoinedStr(values=parts):
            inner = (part.value if isinstance(part, ast.FormattedValue) else part for part in parts)
            texts = [_text(file, function, part) for part in inner]
            return "".join(text if isinstance(text, str) else _PART for text in texts)
        case ast.Name(id=name) if isinstance(held := getattr(_module(file), name, None), str | bytes):
            return held
        case ast.Name(id=name):
            given = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
            return next((_text(file, function, n.value) for n in given if ast.unparse(n.targets[0]) == name), None)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="escape")):
            return _PART
    return None


def _of_data() -> Iterator[Expression]:
    """The expressions that data have: names of stray files, fields of descriptions, schemas of documents."""
    from mlsub.io.data import shipped
    from mlsub.log.private.patterns import LOOKS, all_forms, compiled
    from mlsub.submission import file_tree
    from mlsub.systems.fields import fields, pattern_of

    for kinds in shipped(file_tree.__file__, "strays.yaml", dict[str, dict[str, str]]).values():
        for kind, pattern in kinds.items():
            yield Expression(f"mlsub/submission/strays.yaml:{kind}", re.compile(pattern), False)
    for name, field in fields().fields.items():
        if (text := pattern_of(field)) is not None:
            yield Expression(f"mlsub/systems/fields.yaml:{name}", re.compile(text))
    for place, schema in of_schemas().items():
        yield Expression(place, re.compile(schema or ""))
    for look in (look for looks in all_forms() for look in looks):
        place = f"mlsub/log/private/looks.yaml:{look.near[0].decode()}"
        yield Expression(place, compiled(look.form.pattern))
        if look.form.back is not None:
            yield Expression(place, compiled(look.form.back), False)
    for name, pattern in LOOKS.checks.items():
        yield Expression(f"mlsub/log/private/looks.yaml:{name}", compiled(pattern), False)


@cache
def of_schemas() -> dict[str, str | None]:
    """The expressions of schemas (``pattern=``) by their places; None where it is neither text nor the name of one."""
    found = {}
    for path in sorted((REPOSITORY / "mlsub").rglob("*.py")):
        text, file = path.read_text("utf-8"), path.relative_to(REPOSITORY).as_posix()
        for node in ast.walk(ast.parse(text)) if "pattern=" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("Meta", "Says"):
                for word in (word for word in node.keywords if word.arg == "pattern"):
                    value = getattr(word.value, "value", None)
                    if isinstance(word.value, ast.Name):
                        value = getattr(_module(file), word.value.id, None)
                    found[f"{file}:{word.value.lineno}"] = value if isinstance(value, str) else None
    return found


def _of_made() -> Iterator[Expression]:
    for place, make in MADE.items():
        if make is not None:
            made = make()
            pattern = made if isinstance(made, re.Pattern | str) else made.pattern
            yield Expression(place, re.compile(pattern), place not in _MADE_FOR_MATCHES)


#: Classes of characters of scripts that Python has no word for, and such as behave alike.
_SCRIPT_CLASSES = {r"[^\p{L}\d]": r"[\W_]", r"\p{L}": "[A-Za-z]", r"\p{M}": "[\u0300-\u036f]"}
#: Read the digits of one number, which are 309 at most.
_OF_NUMBERS = frozenset((r"\B(?=(\d{3})+$)",))
#: What stands between slashes behind a bracket, a comma or an equals sign.
_IN_A_SCRIPT = re.compile(r"(?m)[(,=] ?/((?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/[gimsuy]*(?=[,).;])")


def of_scripts() -> Iterator[Expression]:
    """The expressions of the scripts of the site, which are Python's too, but for the way they are written down."""
    for file in sorted((REPOSITORY / "mlsub/commands/site/static").glob("*.js")):
        if not file.name.endswith(".min.js"):
            for written in set(_IN_A_SCRIPT.findall(file.read_text("utf-8"))) - _OF_NUMBERS:
                text = written
                for script, python in _SCRIPT_CLASSES.items():
                    text = text.replace(script, python)
                yield Expression(f"{file.relative_to(REPOSITORY)}: {written}", re.compile(text))


@cache
def all_expressions() -> tuple[Expression, ...]:
    """Each once."""
    found: dict[tuple[object, ...], Expression] = {}
    in_functions = (expression for _, expression in of_functions() if expression is not None)
    for one in (*_of_modules(), *in_functions, *_of_made(), *_of_data(), *of_scripts()):
        found.setdefault((one.pattern.pattern, one.pattern.flags, one.searched), one)
    return tuple(found.values())
