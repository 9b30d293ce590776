"""Every name that a test, a benchmark or an example imports from this repository is there: ``python -m tools.imports``.

mypy covers ``mlsub`` and ``bench``; this covers the rest in seconds, and without importing anything: the imports inside
functions too, which pytest does not meet when it collects.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
OURS = ("mlsub", "tests", "tools", "docs")
LOOKED_AT = ("tests", "tools", "docs", "examples")


def place(module: str) -> Path | None:
    """The file of a module, or the folder of one without ``__init__.py``."""
    path = REPOSITORY.joinpath(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py", path)
    return next((one for one in candidates if one.exists()), None)


@cache
def names(module: str) -> frozenset[str] | None:
    """What a module defines or imports at its top; None where it makes its names itself."""
    file = place(module)
    if file is None or file.is_dir():
        return frozenset()
    found: set[str] = set()
    for node in _top(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name.asname or name.name).split(".")[0] for name in node.names}
    return None if "__getattr__" in found else frozenset(found)


def _top(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module, without those inside functions and classes."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _top(node)


def missing(file: Path) -> Iterator[str]:
    """The imports of a file that lead nowhere."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            wanted: list[tuple[str, str | None]] = [(name.name, None) for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            wanted = [(node.module, name.name) for name in node.names]
        else:
            continue
        for module, name in wanted:
            if module.split(".")[0] in OURS and not _is_there(module, name):
                what = f"no module {module}" if name is None or place(module) is None else f"no {name} in {module}"
                yield f"{file.relative_to(REPOSITORY)}:{node.lineno}: {what}"


def _is_there(module: str, name: str | None) -> bool:
    if place(module) is None:
        return False
    known = names(module)
    return name is None or known is None or name in known or place(f"{module}.{name}") is not None


def main() -> int:
    """Print what is missing."""
    files = [file for folder in LOOKED_AT for file in sorted((REPOSITORY / folder).rglob("*.py"))]
    found = [line for file in files for line in missing(file)]
    print("\n".join(found) if found else f"All imports of {len(files)} test modules lead somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
