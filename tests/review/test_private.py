"""What logs and code show that is private: asked in a review, by kind and line, and never printed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from unittest.mock import patch

import pytest

from mlsub.io.data import load_yaml
from mlsub.submission import code
from tools.support.make_tree import Log, Tree, make_tree
from tools.support.runner import check, run

TABLES = load_yaml(Path(__file__).with_name("private.yaml"))
PRIVATE = re.compile(r"j(?:ane\.)?doe|hf_|horse|gpu17|node0400|93\.184")


def asks(tree: Tree, *args: object) -> list[dict[str, object]]:
    """The questions of a review about what is private or confidential, with all their places."""
    outcome = run("review", tree.folder, "--format", "json", *args)
    assert not PRIVATE.search(outcome.stdout)
    [one] = outcome.document["organisations"]
    return [ask for ask in one["asks"] if ask["rule"] in ("run.contact", "code.confidential")]


@pytest.mark.parametrize(("line", "kinds"), TABLES["lines"])
def test_what_a_framework_prints(line: str, kinds: str | None, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.lines.insert(log.at("run_start"), line), 2)
    tree.edit(lambda log: log.lines.append(line), 2)
    number = tree.log(2).read_text().splitlines().index(line) + 1
    found = [(place["path"].rpartition("/")[2], place["actual"]) for ask in asks(tree) for place in ask["findings"]]
    said = ", ".join(f"{kind} in line {number} and 1 more" for kind in kinds.split(", ")) if kinds else ""
    assert found == [("result_2.txt", said)] * bool(kinds)
    assert not check(tree.folder).of("run.contact")


@pytest.mark.parametrize(("name", "text", "expected"), TABLES["code"])
def test_what_the_code_says(name: str, text: str, expected: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.add_code() / name).write_text(text)
    places = [(ask["rule"], place) for ask in asks(tree) for place in ask["findings"]]
    assert " ".join(sorted(f"{rule}:{place['line']}" for rule, place in places)) == expected
    assert all(place["path"].endswith(f"/{name}") for _, place in places)


def test_records_and_free_text_and_code_are_one_question(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)

    def add(log: Log) -> None:
        log.put("submission_org", metadata={"file": "/home/jdoe/train.py", "lineno": 3})
        log.lines.insert(log.at("init_stop"), {**log.records("seed")[0], "key": "poc", "value": "jane.doe@acme.io"})
        log.lines.insert(0, "0: cd /home/jdoe")

    tree.edit(add, 1)
    (tree.add_code() / "run_and_time.sh").write_text("cd /home/jdoe\n")
    [ask] = asks(tree)
    found = {place["path"].rpartition("/")[2]: (place["line"], place["actual"]) for place in ask["findings"]}
    poc = next(n for n, line in enumerate(tree.log(1).read_text().splitlines(), 1) if '"poc"' in line)
    shown = f"poc in line {poc}, home folder in line 1 and 1 more"
    assert found == {"result_1.txt": (1, shown), "run_and_time.sh": (1, "home folder in line 1")}


def test_the_line_is_that_of_the_file_behind_a_long_one(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.lines.insert(3, "x" * (3 << 20)), 0)
    tree.edit(lambda log: log.lines.append("0: in /home/jdoe"), 0)
    [ask] = asks(tree)
    assert [place["line"] for place in ask["findings"]] == [len(tree.log(0).read_text().splitlines())]


def test_code_that_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    tree, cache = make_tree(tmp_path / "tree"), ("--cache-dir", tmp_path / "cache")
    script = tree.add_code() / "run_and_time.sh"
    script.write_text("cd /home/jdoe\n")
    for file in (tree.folder, *tree.folder.rglob("*")):
        os.utime(file, (1e9, 1e9))
    with patch("mlsub.workspace.cache.SETTLED_NS", -(10**12)):
        first = asks(tree, *cache)
        with patch.object(code, "content_of", side_effect=AssertionError):
            assert asks(tree, *cache) == first != []
        script.write_text("cd /data\n")
        assert asks(tree, *cache) == []


def test_a_defect_of_ours_costs_only_the_question(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    with patch("mlsub.log.private.places.find_asked", side_effect=RuntimeError):
        outcome = run("review", tree.folder, "--format", "json")
    [one] = outcome.document["organisations"]
    assert (one["official"], asks(tree)) == ("accepted", [])
