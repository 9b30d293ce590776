"""Every regular expression of mlsub, with its value and the ways in which it is used.

Those of a module are found by importing the modules that use ``re``; for what a function makes of its arguments,
:mod:`tests.campaigns.limits.made` has examples, and a test fails where one is missing there.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
SEARCHES = frozenset(("search", "sub", "subn", "findall", "finditer", "split"))
ANCHORED = frozenset(("match", "fullmatch"))
#: Expressions that are matched at one place only, through a name that a loop gives them.
OF_NAMES = frozenset(("ALMOST_RESULT", "OTHER_LOG", "_MISUSES"))


@dataclass(frozen=True)
class Call:
    """A call of the module ``re`` in the source: its place, its function, and its pattern as an expression."""

    file: str
    line: int
    function: str
    pattern: ast.expr
    scope: str
    name: str
    within: ast.AST

    @property
    def place(self) -> str:
        return f"{self.file}:{self.scope or self.name}"


@cache
def calls() -> tuple[Call, ...]:
    """Each call of a function of ``re`` that takes a pattern."""
    return tuple(_all_calls())


def _all_calls() -> Iterator[Call]:
    for file in sorted((REPOSITORY / "mlsub").rglob("*.py")):
        text = file.read_text("utf-8")
        if "import re\n" in text:
            tree = ast.parse(text)
            yield from _calls_of(file.relative_to(REPOSITORY).as_posix(), tree, "", "", tree)


def _calls_of(file: str, node: ast.AST, scope: str, name: str, within: ast.AST) -> Iterator[Call]:
    for child in ast.iter_child_nodes(node):
        inner, named, function = scope, name, within
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner, function = child.name, child
        elif isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
            named = child.targets[0].id
        if (
            isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and isinstance(child.func.value, ast.Name)
            and child.func.value.id == "re"
            and child.func.attr in SEARCHES | ANCHORED | {"compile"}
        ):
            yield Call(file, child.lineno, child.func.attr, child.args[0], inner, named, function)
        yield from _calls_of(file, child, inner, named, function)


_FLAGS = ("A", "I", "M", "S", "X", "ASCII", "IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "NOFLAG")
#: What modules take of ``re`` besides its functions: none of it makes an expression.
HARMLESS = frozenset(("escape", "error", "Match", "Pattern", *_FLAGS))


def unseen(file: Path) -> Iterator[str]:
    """The lines of a module that make expressions, or may, in a way that :func:`calls` does not see."""
    tree = ast.parse(file.read_text("utf-8"))
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                others = {one.name for one in names} & {"re", "regex", "re2", "sre_compile"}
                strange = bool(others) and (len(names) > 1 or others != {"re"} or names[0].asname is not None)
            case ast.ImportFrom(module=module, names=names):
                translated = module in ("fnmatch", "glob") and any(one.name == "translate" for one in names)
                strange = module in ("re", "regex", "re2", "sre_compile") or translated
            case ast.Attribute(value=ast.Name(id="re"), attr=name):
                strange = name not in HARMLESS and not (name in SEARCHES | ANCHORED | {"compile"} and node in called)
            case _:
                strange = False
        if strange:
            yield f"{file.name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}"


@cache
def _source(file: str) -> str:
    """The text of a module; of all modules where ``file`` is empty."""
    files = [REPOSITORY / file] if file else sorted((REPOSITORY / "mlsub").rglob("*.py"))
    return "\n".join(one.read_text("utf-8") for one in files)


def only_anchored(file: str, name: str) -> bool:
    """Whether a compiled expression of a module is used for matches at one place only, wherever it is used."""
    # Nobody uses a name of another module that begins with an underscore.
    source = _source(file if name.startswith("_") else "")
    methods = re.findall(rf"\b{re.escape(name)}\b(?:\[\w+\])?\.(\w+)", source)
    return name in OF_NAMES or (bool(methods) and all(method in ANCHORED | {"pattern"} for method in methods))


@dataclass(frozen=True)
class Expression:
    """A compiled expression; ``searched`` where it is looked for at every place of a text."""

    place: str
    pattern: re.Pattern[str] | re.Pattern[bytes]
    searched: bool


def _values(value: object) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, tuple | list | frozenset):
        for inner in value:
            yield from _values(inner)


def of_modules() -> Iterator[Expression]:
    """The expressions that modules hold, also inside tables."""
    for file in sorted((REPOSITORY / "mlsub").rglob("*.py")):
        shown = file.relative_to(REPOSITORY).as_posix()
        if "import re\n" not in file.read_text("utf-8"):
            continue
        module = importlib.import_module(shown.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        for name, value in vars(module).items():
            for pattern in _values(value):
                yield Expression(f"{shown}:{name}", pattern, not only_anchored(shown, name))


def of_functions() -> Iterator[Expression]:
    """The expressions that stand as constants in functions."""
    for call in calls():
        if call.scope and isinstance(call.pattern, ast.Constant) and isinstance(call.pattern.value, str | bytes):
            yield Expression(call.place, re.compile(call.pattern.value), call.function not in ANCHORED)
