"""A copy of the repository that holds all mutants, each behind its switch."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from tools.mutation.plan import Mutant, nodes

_SWITCH = "from mlsub._switch import mutated as _mutated\n"
_CACHES = "from mlsub._switch import cache as _mutation_cache, lru_cache as _mutation_lru_cache\n"


def digest(repository: Path) -> str:
    """Return the digest of all files that are tracked or might be, as they are now."""
    environment = os.environ | {"GIT_INDEX_FILE": str(repository / "build" / "mutation-index")}
    (repository / "build").mkdir(exist_ok=True)
    for words in (("read-tree", "HEAD"), ("add", "--all")):
        subprocess.run(("git", *words), cwd=repository, env=environment, check=True)
    done = subprocess.run(
        ("git", "write-tree"), cwd=repository, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def write(repository: Path, folder: Path, mutants: Sequence[Mutant], state: str) -> None:
    """Write the copy into a new folder, with a repository of its own, as tests ask git for the files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = subprocess.run(("git", "archive", state), cwd=repository, check=True, capture_output=True)
    subprocess.run(("tar", "-x"), cwd=folder, input=archive.stdout, check=True)
    numbers: dict[str, dict[int, tuple[int, Mutant]]] = defaultdict(dict)
    for number, mutant in enumerate(mutants):
        numbers[mutant.file][mutant.node] = number, mutant
    for file in sorted((folder / "mlsub").rglob("*.py")):
        name = file.relative_to(folder).as_posix()
        file.write_text(switched(file.read_text("utf-8"), numbers.get(name, {})), encoding="utf-8")
    shutil.copy(Path(__file__).with_name("switch.py"), folder / "mlsub" / "_switch.py")
    commit = ("git", "-c", "user.name=mutation", "-c", "user.email=mutation@localhost", "commit", "-qm", "all mutants")
    for words in (("git", "init", "-q"), ("git", "add", "--all", "--force"), commit):
        subprocess.run(words, cwd=folder, check=True)


def switched(source: str, mutants: dict[int, tuple[int, Mutant]]) -> str:
    """Return the source of a module with its mutants, and with caches that note what runs."""
    tree = ast.parse(source)
    changes = {id(one.node): mutants[place] for place, one in enumerate(nodes(tree)) if place in mutants}
    probes = [-number - 1 for number, mutant in mutants.values() if mutant.at_import]
    changed = ast.unparse(ast.fix_missing_locations(_Switches(changes, probes).visit(tree)))
    needs = (_SWITCH if mutants else "") + (_CACHES if "@_mutation_" in changed else "")
    if not needs:
        return source
    lines = changed.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("from __future__ import")), -1) + 1
    if not start and isinstance(tree.body[0], ast.Expr):
        start = 1
    return "\n".join([*lines[:start], needs, *lines[start:]])


class _Switches(ast.NodeTransformer):
    """Put each mutant beside what it changes, and a probe into each function of a file that changes at import."""

    def __init__(self, changes: dict[int, tuple[int, Mutant]], probes: Sequence[int]) -> None:
        self._changes, self._probes = changes, probes

    def visit(self, node: ast.AST) -> Any:
        number, mutant = self._changes.get(id(node), (None, None))
        visited = super().visit(node)
        if isinstance(visited, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in ast.walk(ast.Module(cast(list[ast.stmt], visited.decorator_list), [])):
                if isinstance(decorator, ast.Name) and decorator.id in ("cache", "lru_cache"):
                    decorator.id = f"_mutation_{decorator.id}"
            documented = ast.get_docstring(visited, clean=False) is not None
            visited.body[documented:documented] = [ast.Expr(_on(probe)) for probe in self._probes]
        if mutant is None or number is None:
            return visited
        if isinstance(node, ast.stmt):
            [after] = ast.parse(_in_function(mutant.after)).body[0].body  # type: ignore[attr-defined]
            return ast.If(_on(number), [after], [visited])
        return ast.IfExp(_on(number), ast.parse(mutant.after, mode="eval").body, visited)


def _in_function(statement: str) -> str:
    return "while True:\n" + "\n".join(f"    {line}" for line in statement.split("\n"))


def _on(number: int) -> ast.Call:
    return ast.Call(ast.Name("_mutated", ast.Load()), [ast.Constant(number)], [])
