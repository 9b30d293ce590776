"""Listing a tree on a disk: bounded, following no link, stopped by nothing that lies there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.submission.audit import audit_layout
from mlsub.submission.file_tree import MAX_DEPTH, FileTree, Item, ItemKind, read_file_tree
from mlsub.submission.templates import is_unfilled, templates
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree, snapshot


def test_a_listing_says_what_lies_there(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.sh").write_text("1234")
    (tmp_path / "b" / "run.sh").chmod(0o755)
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "link").symlink_to("b/../nowhere")
    os.mkfifo(tmp_path / "pipe")
    before = snapshot(tmp_path)
    assert read_file_tree(tmp_path).items == (
        Item("a.txt", size=0),
        Item("b", ItemKind.FOLDER),
        Item("b/run.sh", size=4, executable=True),
        Item("link", ItemKind.LINK, target="b/../nowhere"),
        Item("pipe", ItemKind.OTHER),
    )
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("mode", "executable"), [(0o700, True), (0o610, True), (0o601, True), (0o666, False)])
def test_what_anybody_may_execute_is_executable(mode: int, executable: bool, tmp_path: Path) -> None:
    (tmp_path / "run.sh").touch()
    (tmp_path / "run.sh").chmod(mode)
    assert read_file_tree(tmp_path).items == (Item("run.sh", size=0, executable=executable),)


def test_a_link_to_a_folder_above_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "up").symlink_to(".")
    assert [item.path for item in read_file_tree(tmp_path).items] == ["up"]


def test_folders_nobody_submits_are_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    assert [item.path for item in read_file_tree(tmp_path).items] == [".git"]


def test_a_listing_ends(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text("")
    assert read_file_tree(tmp_path, max_items=30).cut is None
    assert read_file_tree(tmp_path, max_items=29).cut == "more than 29 names"
    deep = tmp_path
    for _ in range(MAX_DEPTH + 5):
        deep /= "d"
        deep.mkdir()
    tree = read_file_tree(tmp_path)
    assert tree.cut == "folders nested more than 40 deep"
    assert max(item.path.count("/") for item in tree.items) == MAX_DEPTH


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    assert read_file_tree(tmp_path / "gone") == FileTree(items=(), closed={".": "No such file or directory"})
    assert read_file_tree(Path("nul\0byte")).closed.keys() == {"."}


def test_a_template_is_recognised_until_it_is_filled_in(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    written = templates("rack1", "resnet", "pytorch")
    for template in written:
        (tree.folder / template.path).write_text(template.content)
    assert read_file_tree(tree.folder).unfilled == tuple(sorted(template.path for template in written))
    (found,) = audit_layout(read_file_tree(tree.folder), {"resnet": {"rack1"}}, "training")
    assert (found.rule, found.path) == ("layout.template-unfilled", "benchmarks/resnet")
    assert found.actual == "5: rack1/README.md, rack1/init_datasets.sh, rack1/rack1_pytorch.json, and 2 more"


TEMPLATES = {Path(template.path).name: template.content for template in templates("rack1", "resnet", "pytorch")}
#: Lines that any script or text may have, or any JSON file.
COMMON = ("", "#!/bin/bash", "set -euo pipefail", "exit 1", "{", "}")
HEADING = re.compile(r"#+ (Setup|Data|Run|What was run|resnet on rack1)")
#: What somebody fills in.
FILLED = "srun python train.py\nexit 1\n"


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_one_as_long_as_it_has_any_line_of_its_own(name: str) -> None:
    own = [line for line in TEMPLATES[name].splitlines() if line.strip() not in COMMON and not HEADING.fullmatch(line)]
    assert len(own) >= 3
    for line in own:
        assert is_unfilled(f"#!/bin/bash\nset -euo pipefail\n{FILLED}  {line}\n".encode()), line
        assert is_unfilled(("#!/bin/sh\n" + FILLED * 1000 + line.strip()).encode()), line
    common = [line for line in TEMPLATES[name].splitlines() if line not in (*own, "exit 1")]
    assert not is_unfilled("\n".join([*common, FILLED]).encode())


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name.endswith(".sh")])
def test_a_script_that_still_refuses_to_run_is_a_template(name: str) -> None:
    """The line that says so, and the first ``exit 1``, where nothing runs before it."""
    said = 'echo "$0 is a template that nobody has filled in."'
    assert is_unfilled(f"#!/bin/bash\n{said}\npython train.py\n".encode())
    assert is_unfilled(b"#!/bin/bash\n# Our comment.\nset -euo pipefail\n\nexit 1\npython train.py\n")
    assert not is_unfilled(b"#!/bin/bash\nset -euo pipefail\npython train.py || {\nexit 1\n}\n")


def test_a_file_with_other_lines_alone_is_no_template() -> None:
    assert not is_unfilled(b"#!/bin/bash\nset -euo pipefail\n# Nothing to do.\n")
    assert not is_unfilled(b"#!/bin/bash\n") and not is_unfilled(b"")


@pytest.mark.parametrize("round_name", ["v5.0", "v5.1"])
def test_published_code_is_no_template(round_name: str) -> None:
    code = CORPUS.parent / "code" / round_name
    files = [file for file in code.glob("*/benchmarks/**/*") if file.suffix in (".sh", ".md", ".json")]
    if not files:
        pytest.skip("published code is not there")
    assert [file for file in files if file.is_file() and is_unfilled(file.read_bytes())] == []


def test_a_pipe_or_a_link_in_the_place_of_a_template_holds_nothing_up(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "bert" / "rack1"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "setup.sh")
    (folder / "README.md").symlink_to("/dev/zero")
    assert read_file_tree(tmp_path).unfilled == ()


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


@given(st.lists(ITEMS, max_size=30), st.dictionaries(NAMES, st.sets(NAMES, max_size=3), max_size=3))
def test_whatever_lies_there_can_be_audited(items: list[Item], systems: dict[str, set[str]]) -> None:
    tree = FileTree(items=tuple(sorted({item.path: item for item in items}.values(), key=lambda item: item.path)))
    found = list(audit_layout(tree, systems, "training"))
    assert len(set(found)) == len(found)
    assert all(not f.rejects for f in found)
