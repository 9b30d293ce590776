"""Which mutants are tried: at most one a line, chosen by a seed, the same as long as the lines are the same."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.mutation.kinds import KINDS

#: The rooms that decide verdicts, scores and packages, with their folders.
ROOMS = {
    "log": "mlsub/log",
    "rules": "mlsub/rules",
    "submission": "mlsub/submission",
    "convergence": "mlsub/convergence",
    "score": "mlsub/score",
    "review": "mlsub/review",
    "judge": "mlsub/judge",
    "workspace": "mlsub/workspace",
    "packing": "mlsub/packing",
    "audit": "mlsub/commands/audit",
}


class Mutant(NamedTuple):
    """A change to the source.

    Attributes:
        identity: digest of what is changed and how; stays when other lines move.
        kind: a name of ``KINDS``.
        file: relative to the repository.
        line: of the node that changes.
        node: its place among all nodes of the file, in the order of :func:`nodes`.
        before: the node as text.
        after: what takes its place.
        at_import: it runs when the module is imported, not when a function is called.
    """

    identity: str
    room: str
    kind: str
    file: str
    line: int
    node: int
    before: str
    after: str
    at_import: bool


class ChangeableNode(NamedTuple):
    """A node that may change, with the node above it."""

    node: ast.AST
    above: ast.AST
    in_function: bool


def nodes(tree: ast.Module) -> Iterator[ChangeableNode]:
    """Give the nodes that may change: not those of annotations, decorators, patterns, class options and f-strings."""
    yield from _below(tree, in_function=False)


def _below(above: ast.AST, *, in_function: bool) -> Iterator[ChangeableNode]:
    for field, value in ast.iter_fields(above):
        if field in ("annotation", "returns", "decorator_list", "pattern", "type_params", "ctx"):
            continue
        if field == "keywords" and isinstance(above, ast.ClassDef):
            continue
        for node in value if isinstance(value, list) else (value,):
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr) or _only_for_types(node):
                continue
            yield ChangeableNode(node, above, in_function)
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            # What a parameter is by default is computed where the function is defined.
            if isinstance(node, ast.arguments):
                yield from _below(node, in_function=False)
            else:
                yield from _below(node, in_function=in_function or inside)


def _only_for_types(node: ast.AST) -> bool:
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    literal = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal"
    return literal or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "TypeVar")


def candidates(repository: Path, room: str) -> Iterator[list[Mutant]]:
    """Give the mutants of a room, those of one line together, in the order of the source."""
    for file in sorted((repository / ROOMS[room]).rglob("*.py")):
        name, source = file.relative_to(repository).as_posix(), file.read_text("utf-8")
        lines, by_line, seen = source.splitlines(), {}, Counter[str]()  # type: ignore[var-annotated]
        for number, (node, above, in_function) in enumerate(nodes(ast.parse(source))):
            for kind, change in KINDS.items():
                for changed in change(node, above):
                    line = node.lineno  # type: ignore[attr-defined]
                    before, after = ast.unparse(node), ast.unparse(ast.fix_missing_locations(changed))
                    said = "\n".join((name, lines[line - 1].strip(), kind, before, after))
                    seen[said] += 1
                    identity = hashlib.blake2b(f"{said}\n{seen[said]}".encode(), digest_size=6).hexdigest()
                    mutant = Mutant(identity, room, kind, name, line, number, before, after, not in_function)
                    by_line.setdefault(line, []).append(mutant)
        yield from by_line.values()


def chosen(repository: Path, count: int, seed: int) -> list[Mutant]:
    """Choose mutants: to each room as its part of the lines is, and each kind of a line as likely as another."""
    lines = {room: [_one(line, seed) for line in candidates(repository, room)] for room in ROOMS}
    total = sum(map(len, lines.values()))
    taken: list[Mutant] = []
    for room_lines in lines.values():
        part = round(count * len(room_lines) / total)
        taken += sorted(room_lines, key=lambda mutant: _rank(mutant.identity, seed))[:part]
    return sorted(taken, key=lambda mutant: (mutant.file, mutant.line))


def _one(line: list[Mutant], seed: int) -> Mutant:
    """Draw a kind of a line, then a mutant of the kind."""
    kind = min({mutant.kind for mutant in line}, key=lambda name: _rank(line[0].identity + name, seed))
    return min((m for m in line if m.kind == kind), key=lambda mutant: _rank(mutant.identity, seed))


def _rank(text: str, seed: int) -> str:
    return hashlib.blake2b(f"{seed} {text}".encode(), digest_size=8).hexdigest()
