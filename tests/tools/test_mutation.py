"""The mutation gate changes what it says it changes, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tools.mutation.kinds import KINDS
from tools.mutation.plan import ROOMS, Mutant, candidates, nodes
from tools.mutation.tree import switched

SOURCE = '''"""A module."""

from __future__ import annotations

LIMIT = 3


def judged(values: list[int], more: int = 1) -> str | None:
    """A function."""
    if len(values) > LIMIT and not more:
        values.append(more)
    return f"{more + 1}" if max(values[0], -more) == 2 else None
'''

#: What each kind makes of an expression or a statement.
CHANGES = [
    ("comparison", "a < b", ["a <= b", "a >= b"]),
    ("comparison", "a is not None", ["a is None"]),
    ("boolean", "a and b", ["a or b", "b", "a"]),
    ("arithmetic", "a * b", ["a / b", "a + b"]),
    ("arithmetic", "-a", ["a"]),
    ("constant", "True", ["False"]),
    ("constant", "0.5", ["1.5"]),
    ("off by one", "a[1:]", ["a[2:]", "a[0:]"]),
    ("return None", "return a", ["return None"]),
    ("return None", "return None", []),
    ("dropped statement", "f(a)", ["pass"]),
    ("dropped statement", "a += 1", ["pass"]),
    ("negated condition", "b if not a else c", ["b if a else c"]),
    ("negated condition", "[a for a in b if c]", ["[a for a in b if not c]"]),
    ("swapped arguments", "f(a, b, c)", ["f(b, a, c)"]),
    ("other branch", "b if a else c", ["b", "c"]),
]


@pytest.mark.parametrize(("kind", "source", "expected"), CHANGES, ids=lambda one: str(one))
def test_a_kind_changes_a_node_in_each_of_its_ways(kind: str, source: str, expected: list[str]) -> None:
    found = []
    for node, above, _ in nodes(ast.parse(source)):
        for changed in KINDS[kind](node, above):
            found.append(source.replace(ast.unparse(node), ast.unparse(ast.fix_missing_locations(changed)), 1))
    assert found == expected


def test_every_kind_has_a_case() -> None:
    assert {kind for kind, *_ in CHANGES} == KINDS.keys()


def written(folder: Path) -> list[Mutant]:
    (folder / ROOMS["score"]).mkdir(parents=True)
    (folder / ROOMS["score"] / "made.py").write_text(SOURCE)
    return [mutant for line in candidates(folder, "score") for mutant in line]


def test_a_copy_is_changed_only_by_the_mutant_that_is_on(tmp_path: Path) -> None:
    mutants = written(tmp_path)
    on: list[int] = []

    def answers(source: str) -> list[object]:
        names: dict[str, Any] = {"_mutated": on.__contains__}
        module = source.replace("from mlsub._switch import mutated as _mutated\n", "")
        exec(compile(module, "made", "exec", dont_inherit=True), names)  # noqa: S102
        found = [names["LIMIT"]]
        for values, more in (([1, 2, 3, 4], 0), ([2], 1), ([1], 1), ([0, 0, 0], 0), ([1, 2], -2)):
            try:
                found.append((names["judged"](values, more), values))
            except Exception as error:
                found.append(repr(error))
        return found

    expected = answers(SOURCE)
    noticed = 0
    for number, mutant in enumerate(mutants):
        copy = switched(SOURCE, {mutant.node: (number, mutant)})
        on.clear()
        assert answers(copy) == expected, mutant
        on.append(number)
        noticed += answers(copy) != expected
    assert len(mutants) >= 20 and noticed >= len(mutants) - 5


def test_a_mutant_keeps_its_name_where_other_lines_move(tmp_path: Path) -> None:
    before = written(tmp_path)
    file = tmp_path / ROOMS["score"] / "made.py"
    file.write_text(SOURCE.replace("LIMIT = 3\n", "LIMIT = 3\n\n\ndef first(): ...\n"))
    after = [mutant for line in candidates(tmp_path, "score") for mutant in line]
    assert [mutant.identity for mutant in after] == [mutant.identity for mutant in before]
    assert [mutant.line for mutant in after] != [mutant.line for mutant in before]
