"""Every harness: the inputs in its folder, its seeds, and some that are drawn, always the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaigns.fuzz.finding import MEMORY
from tests.campaigns.fuzz.guard import Desk, Fork
from tests.campaigns.fuzz.harness import harnesses
from tests.campaigns.fuzz.search import Search
from tests.campaigns.fuzz.turn import CORPUS
from tests.effort import HUNG, effort

FILES = sorted(file for file in CORPUS.rglob("*") if file.is_file())
#: Inputs of each harness that are drawn.
DRAWN = effort(30, 3_000)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(CORPUS).as_posix())
def test_an_input_of_the_corpus_passes(file: Path) -> None:
    """``make campaigns`` begins with these inputs, and measures their time and memory; here none may hang."""
    harness = replace(harnesses()[file.parent.name], seconds=HUNG)
    data = file.read_bytes()
    found = Fork(harness, Desk(len(data))).failure(data)
    assert found is None or found.kind == MEMORY, found.text


def test_each_folder_of_the_corpus_has_a_harness_and_small_files() -> None:
    assert {file.parent.name for file in FILES} <= set(harnesses())
    assert [file for file in FILES if file.parent.parent != CORPUS or file.stat().st_size > 4_000] == []


@pytest.mark.parametrize("name", harnesses())
def test_seeds_and_drawn_inputs_pass(name: str) -> None:
    harness = harnesses()[name]
    search = Search(harness, "replay", harness.seeds())
    for number in range(len(search.seeds) + DRAWN):
        data, _ = search.draw(number)
        harness.run(data)
