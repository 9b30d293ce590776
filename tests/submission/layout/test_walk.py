"""Listing a tree on a disk: bounded, following no link, stopped by nothing that lies there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.model import Item, ItemKind, Listing, Place
from mlsub.submission.layout.templates import is_unfilled, templates
from mlsub.submission.layout.walk import MAX_DEPTH, list_tree
from tests.make_tree import make_tree, snapshot


def test_a_listing_says_what_lies_there(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.sh").write_text("1234")
    (tmp_path / "b" / "run.sh").chmod(0o755)
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "link").symlink_to("b/../nowhere")
    os.mkfifo(tmp_path / "pipe")
    before = snapshot(tmp_path)
    assert list_tree(tmp_path).items == (
        Item("a.txt", size=0),
        Item("b", ItemKind.FOLDER),
        Item("b/run.sh", size=4, executable=True),
        Item("link", ItemKind.LINK, target="b/../nowhere"),
        Item("pipe", ItemKind.OTHER),
    )
    assert snapshot(tmp_path) == before


def test_a_link_to_a_folder_above_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "up").symlink_to(".")
    assert [item.path for item in list_tree(tmp_path).items] == ["up"]


def test_folders_nobody_submits_are_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    assert [item.path for item in list_tree(tmp_path).items] == [".git"]


def test_a_listing_ends(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text("")
    assert list_tree(tmp_path, max_items=30).cut is None
    assert list_tree(tmp_path, max_items=29).cut == "more than 29 names"
    deep = tmp_path
    for _ in range(MAX_DEPTH + 5):
        deep /= "d"
        deep.mkdir()
    tree = list_tree(tmp_path)
    assert tree.cut == "folders nested more than 40 deep"
    assert max(item.path.count("/") for item in tree.items) == MAX_DEPTH


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    assert list_tree(tmp_path / "gone") == Listing(items=(), closed=(".",), reasons={".": "No such file or directory"})
    assert list_tree(Path("nul\0byte")).closed == (".",)


def test_a_template_is_recognised_until_it_is_filled_in(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    written = templates("rack1", "resnet", "pytorch")
    for template in written:
        (tree.folder / template.path).write_text(template.content)
    assert list_tree(tree.folder).unfilled == tuple(sorted(template.path for template in written))
    (found,) = audit_layout(list_tree(tree.folder), [Place("rack1", "resnet")], "training")
    assert (found.rule, found.path) == ("layout.template-unfilled", "benchmarks/resnet")
    assert found.actual == "5: rack1/README.md, rack1/init_datasets.sh, rack1/rack1_pytorch.json, and 2 more"


TEMPLATES = {Path(template.path).name: template.content for template in templates("rack1", "resnet", "pytorch")}
#: What lines of templates ask.
ASK = ("mlsub-template", "TODO", "nobody has filled in")


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_one_as_long_as_any_line_of_it_asks_to_be_filled_in(name: str) -> None:
    lines = TEMPLATES[name].splitlines(keepends=True)
    asking = [line for line in lines if any(word in line for word in ASK)]
    kept = [line for line in lines if line not in asking]
    assert len(asking) >= 2
    for line in asking:
        assert is_unfilled(("#!/bin/sh\n" + "srun train\n" * 5000 + line.strip()).encode())
        assert is_unfilled("".join([*kept, "srun train\n", line]).encode())
    assert not is_unfilled("".join([*kept, "srun train\n"]).encode())


@pytest.mark.parametrize("name", [name for name in TEMPLATES if not name.endswith(".json")])
def test_a_file_with_nothing_but_lines_of_a_template_is_one(name: str) -> None:
    kept = [line for line in TEMPLATES[name].splitlines() if not any(word in line for word in ASK)]
    assert is_unfilled("\n".join(kept).encode())
    assert not is_unfilled(b"#!/bin/bash\nset -euo pipefail\n# Nothing to do.\n")
    assert not is_unfilled(b"#!/bin/bash\n") and not is_unfilled(b"")


def test_a_pipe_or_a_link_in_the_place_of_a_template_holds_nothing_up(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "bert" / "rack1"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "setup.sh")
    (folder / "README.md").symlink_to("/dev/zero")
    assert list_tree(tmp_path).unfilled == ()


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=()), min_size=1, max_size=8)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
ITEMS = st.builds(
    Item,
    PATHS | PATHS.map("benchmarks/bert/{}".format) | PATHS.map("results/{}".format),
    st.sampled_from(ItemKind),
    st.none() | st.integers(0, 2**60),
    st.booleans(),
    st.none() | PATHS | PATHS.map("../{}".format),
)


@settings(deadline=None)
@given(st.lists(ITEMS, max_size=30), st.lists(st.builds(Place, NAMES, NAMES), max_size=3))
def test_whatever_lies_there_can_be_audited(items: list[Item], places: list[Place]) -> None:
    tree = Listing(items=tuple(sorted({item.path: item for item in items}.values(), key=lambda item: item.path)))
    found = list(audit_layout(tree, places, "training"))
    assert len(set(found)) == len(found)
    assert all(not f.rejects for f in found)
