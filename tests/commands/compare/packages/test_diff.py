"""``mlsub compare --packages``: what is told of two packages, and what is not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsub.commands.compare.packages.files import compare_files
from mlsub.commands.compare.packages.model import (
    EntryChange,
    FileChanges,
    FindingChange,
    PackageDiff,
    Side,
    SystemChange,
)
from mlsub.log.changes import Change, fields, hyperparameters
from mlsub.log.run import Run, RunFold
from tests.commands.runner import answer_schema, call, run
from tests.conftest import ExpectedText
from tests.corpus import CORPUS
from tests.make_tree import Log, Tree, make_tree, snapshot, spoil


def six_minutes_longer(log: Log) -> None:
    for line in log.lines:
        if isinstance(line, dict) and line["key"] == "run_stop":
            line["time_ms"] += 360_000


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> tuple[Tree, Tree]:
    """A package, and what became of it: one run spoiled, slower ones, another batch size, a renamed system."""
    old = make_tree(tmp_path / "a", benchmarks=["resnet", "bert"])
    old.add_system("rack2-2021")
    old.add_entry("resnet", "rack2-2021")
    new = Tree(tmp_path / "b" / "v1.0" / "ACME")
    shutil.copytree(old.folder, new.folder)
    spoil(new, 0)
    new.edit(six_minutes_longer, *range(5))
    new.edit(lambda log: log.put("global_batch_size", value=6400), *range(4))
    new.edit(lambda log: log.drop("opt_epsilon"), *range(10), benchmark="bert")
    new.describe(framework="other \x1b[31mframework", cooling=None)
    new.description("rack2-2021").rename(new.description("rack2-2022"))
    (new.folder / "results" / "rack2-2021").rename(new.folder / "results" / "rack2-2022")
    (new.folder / "README.md").write_text("new\n")
    return old, new


def diff(*arguments: object) -> str:
    return run("compare", "--packages", *arguments).stdout


def document(*arguments: object) -> dict[str, Any]:
    """The JSON document, which keeps its published schema."""
    found = run("compare", "--packages", *arguments, "--format", "json").document
    answer_schema("compare packages").validate(found)
    return found


def test_the_same_package_has_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)
    before = snapshot(tree.folder)
    monkeypatch.chdir(tmp_path)
    outcome = run("compare", "--packages", "v1.0/ACME", "v1.0/ACME")
    assert (outcome.status, outcome.stderr) == (0, "")
    side = "v1.0/ACME (training v1.0, accepted)"
    assert outcome.stdout == f"Comparison of two packages\n\nold: {side}\nnew: {side}\n\nNo difference.\n"
    assert snapshot(tree.folder) == before


def test_what_people_read(
    two: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("compare", "--packages", *(tree.folder.relative_to(tmp_path) for tree in two))
    assert (outcome.status, outcome.stderr) == (1, "")
    text = outcome.stdout
    expected_text("diff.txt", text)
    assert all(len(line) <= 120 for line in text.splitlines())


def test_the_other_way_round_what_was_new_is_gone(two: tuple[Tree, Tree]) -> None:
    there = document(two[0].folder, two[1].folder)
    back = document(two[1].folder, two[0].folder)
    assert there["files"]["added"] == back["files"]["removed"] == ["README.md"]
    assert there["files"]["changed"] == back["files"]["changed"]
    assert {f["rule"]: (f["old"], f["new"]) for f in there["findings"]} == {
        f["rule"]: (f["new"], f["old"]) for f in back["findings"]
    }


def test_the_document(two: tuple[Tree, Tree]) -> None:
    found = document(two[0].folder, two[1].folder)
    assert (found["command"], found["schema"], found["different"]) == ("compare packages", 5, True)
    assert found["files"]["moved"][0] == [
        "results/rack2-2021/resnet/result_0.txt",
        "results/rack2-2022/resnet/result_0.txt",
    ]
    entries = {(entry["system"], entry["benchmark"]): entry for entry in found["entries"]}
    assert {key: entry["change"] for key, entry in entries.items()} == {
        ("rack1", "bert"): "changed",
        ("rack1", "resnet"): "changed",
        ("rack2-2021", "resnet"): "removed",
        ("rack2-2022", "resnet"): "added",
    }
    assert entries["rack2-2021", "resnet"]["alike"] == "rack2-2022"
    assert entries["rack1", "resnet"]["hyperparameters"] == [
        {"name": "global_batch_size", "old": "3200", "new": "6400", "note": "new: 4 of 5 runs"}
    ]
    assert entries["rack1", "bert"]["hyperparameters"] == [
        {"name": "opt_epsilon", "old": "1e-06", "new": None, "note": None}
    ]


def test_two_benchmark_folders_are_compared_whatever_their_systems_are_called(two: tuple[Tree, Tree]) -> None:
    old, new = two
    found = document(old.entry(), new.entry(system="rack2-2022"))
    (entry,) = found["entries"]
    assert entry["system"] == "rack1 -> rack2-2022"
    assert (found["findings"], found["systems"]) == ([], [])
    (system,) = document(old.entry(), new.entry())["systems"]
    assert system["system"] == "rack1"
    assert [(field["name"], field["new"]) for field in system["fields"]] == [
        ("cooling", None),
        ("framework", "other \x1b[31mframework"),
    ]


def test_markdown_escapes_what_it_would_take_for_its_own(two: tuple[Tree, Tree]) -> None:
    (two[1].folder / "a|b*.md").write_text("")
    text = diff(two[0].folder, two[1].folder, "--format", "markdown")
    assert "a\\|b\\*.md" in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows if "rack" in line and "accepted" in line}) == 1


def test_rounds_may_be_said_or_read_off(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path, "v1.0"), make_tree(tmp_path, "v1.1")
    found = document(one.folder, other.folder)
    assert (found["old"]["round"], found["new"]["round"]) == ("1.0", "1.1")
    found = document(one.folder, other.folder, "--round", "1.1")
    assert (found["old"]["round"], found["different"]) == ("1.1", False)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("gone", "cannot be checked: There is no"),
        ("file.txt", "is a file. Name a folder"),
        ("empty", "cannot be checked: There is neither a result log nor an organisation in empty"),
        ("pipe", "is a file. Name a folder"),
        ("v1.0", "is a folder of organisations"),
    ],
)
def test_what_cannot_be_compared_is_one_line(path: str, words: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for arguments in ((tmp_path / path, tree.folder), (tree.folder, tmp_path / path)):
        outcome = run("compare", "--packages", *arguments)
        assert (outcome.status, outcome.stdout) == (2, "")
        assert outcome.stderr.startswith("mlsub compare: ")
        assert outcome.stderr.count("\n") == 1
        assert words in outcome.stderr


def test_files_are_compared_by_content_and_nothing_is_followed(tmp_path: Path) -> None:
    for side, word in (("old", "a"), ("new", "b")):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "same").write_text("same")
        (folder / "same size").write_text(word)
        (folder / "link").symlink_to(f"/{word}")
        (folder / "loop").symlink_to("loop")
        os.mkfifo(folder / "pipe")
        (folder / f"from {word}").write_text("moved content")
        (folder / f"nothing {word}").write_text("")
        (folder / "mode").write_text("")
        (folder / "mode").chmod(0o755 if word == "a" else 0o644)
    found = compare_files(tmp_path / "old", tmp_path / "new")
    assert found.changed == ("link", "mode", "same size")
    assert found.moved == (("from a", "from b"),)
    assert (found.added, found.removed, found.unknown, found.same) == (("nothing b",), ("nothing a",), ("pipe",), 2)


TREES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["", "x", "y", "long text"]), max_size=6)


@settings(deadline=None, max_examples=50)
@given(TREES, TREES)
def test_every_file_is_told_once(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, str], new: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    for side, files in (("old", old), ("new", new)):
        (folder / side).mkdir()
        for name, content in files.items():
            (folder / side / name).write_text(content)
    found = compare_files(folder / "old", folder / "new")
    gone = [*found.removed, *(was for was, _ in found.moved)]
    come = [*found.added, *(now for _, now in found.moved)]
    assert sorted(gone) == sorted(old.keys() - new.keys())
    assert sorted(come) == sorted(new.keys() - old.keys())
    assert list(found.changed) == sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    assert found.same == sum(old[name] == new[name] for name in old.keys() & new.keys())
    assert all(old[was] == new[now] for was, now in found.moved)


def _runs(*values: object) -> list[Run]:
    return [msgspec.structs.replace(RunFold().finish(), hyperparameters={"x": value}) for value in values]


def test_measurements_are_no_hyperparameters() -> None:
    assert hyperparameters(_runs(1.5, 2.5, 3.5), _runs(4.5, 5.5, 6.5)) == ()
    assert hyperparameters(_runs(1, 1.0, True), _runs(1, 1, 2)) == ()
    (change,) = hyperparameters(_runs(1, 1, 2), _runs(3, 3, 3))
    assert (change.old, change.new, change.note) == ("1", "3", "old: 2 of 3 runs")


@given(st.lists(st.recursive(st.none() | st.floats() | st.text(), st.lists, max_leaves=5), max_size=4))
def test_whatever_was_logged_is_equal_to_itself(values: list[object]) -> None:
    assert hyperparameters(_runs(*values), _runs(*values)) == ()


def test_fields_of_descriptions() -> None:
    changes = fields({"a": 1, "b": "x", "c": [1]}, {"b": "y", "a": 1.0, "d": None})
    assert [(change.name, change.old, change.new) for change in changes] == [
        ("b", "x", "y"),
        ("c", "[1]", None),
        ("d", None, "null"),
    ]
    assert fields(None, {}) == ()


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
def test_two_published_rounds_of_one_organisation() -> None:
    found = document(CORPUS / "v1.0/Graphcore", CORPUS / "v1.1/Graphcore")
    changes = [entry["change"] for entry in found["entries"]]
    assert (changes.count("added"), changes.count("changed"), len(changes)) == (4, 6, 10)
    resnet = next(e for e in found["entries"] if e["system"] == "ipu-pod64-TF1")
    assert resnet["percent"] == pytest.approx(-41.29, abs=0.01)
    assert {"name": "opt_name", "old": '"sgd"', "new": '"lars"', "note": None} in resnet["hyperparameters"]


def test_the_schema_knows_every_field() -> None:
    definitions = answer_schema("compare packages").schema["$defs"]
    for kind in (Side, Change, FileChanges, SystemChange, EntryChange, FindingChange):
        assert list(definitions[kind.__name__]["properties"]) == [field.name for field in msgspec.structs.fields(kind)]
    assert set(answer_schema("compare packages").schema["properties"]) > {
        field.name for field in msgspec.structs.fields(PackageDiff)
    }


def test_names_that_could_steer_a_terminal_are_shown_as_text(tmp_path: Path) -> None:
    one = make_tree(tmp_path / "a")
    other = make_tree(tmp_path / "b")
    name = os.fsdecode(b"rack\x1b[31m\xff|")
    other.add_system(name)
    other.add_entry(system=name)
    (other.folder / "new\nline").write_text("")
    for format_ in ("text", "markdown"):
        done = call("compare", "--packages", one.folder, other.folder, "--format", format_)
        assert (done.returncode, done.stderr) == (1, "")
        assert "\x1b" not in done.stdout
        assert "new\nline" not in done.stdout
    assert document(one.folder, other.folder)["different"]


def test_a_defect_that_expects_something_else_in_each_system_is_one_line(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    for tree in (one, other):
        tree.add_system("rack2")
        tree.add_entry(system="rack2")
    for system in ("rack1", "rack2"):
        other.edit(lambda log: log.put("submission_platform", value="elsewhere"), 0, system=system)
    (finding,) = document(one.folder, other.folder)["findings"]
    assert (finding["rule"], finding["old"], finding["new"]) == ("cross.platform", 0, 2)


def test_a_factor_in_one_package_changes_the_published_minutes_and_not_the_expected_ones(tmp_path: Path) -> None:
    old, new = make_tree(tmp_path / "a", "v4.0"), make_tree(tmp_path / "b", "v4.0")
    for tree in (old, new):
        tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    (new.entry() / "scaling.json").write_text('{"scaling_factor": 1.5}')
    (entry,) = document(old.folder, new.folder)["entries"]
    values = {value["name"]: (value["old"], value["new"]) for value in entry["values"]}
    assert (values["unscaled"], values["scaling"], values["published"]) == ((12.0, 12.0), (1.0, 1.5), (12.0, 18.0))
    assert values["expected"] == (pytest.approx(12.050679), pytest.approx(12.050679))
    assert (entry["change"], entry["percent"]) == ("changed", 50.0)
    text = diff(old.folder, new.folder)
    assert "12.000000  18.000000  +50.00 %" in text
    assert "rack1 resnet: scaling 1.000000 -> 1.500000\n" in text
