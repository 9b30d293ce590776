"""Where a field stands, and that finding it out takes one pass over the description."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.systems import description
from mlsub.systems.description import first_lines, read_description
from tests.make_tree import make_tree


def test_the_first_line_counts() -> None:
    found = first_lines('{\n "a": "b",\n "c\\"d": 1, "e": "\xff",\n "b": 2, "a": 3\n}\n')
    assert [found.get(name) for name in ("a", "b", "e", 'c\\"d', "f", "")] == [2, 2, 3, 3, None, None]


def test_thousands_of_fields_that_are_there_twice_are_one_pass_over_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them was looked for from the beginning: 8,000 took 2 s, 80,000 would have taken minutes."""
    tree = make_tree(tmp_path)
    file = tree.description()
    twice = "".join(f' "field {number % 8_000}": "x",\n' for number in range(16_000))
    file.write_text(file.read_text().replace("{", "{\n" + twice, 1))
    passes = []

    class Counted:
        def finditer(self, text: str) -> object:
            passes.append(len(text))
            return pattern.finditer(text)

    pattern = description._TEXT
    monkeypatch.setattr(description, "_TEXT", Counted())
    found = [f for f in read_description(file, "x.json").findings if f.rule == "system.duplicate-key"]
    assert len(found) == 8_000
    assert [f.line for f in found[:3]] == [2, 3, 4]
    assert passes == [len(file.read_text())]
