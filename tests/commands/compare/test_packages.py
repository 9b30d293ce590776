"""``mlsub compare --packages``: what is told of two packages, and what is not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.compare.packages import compare_files, renamed
from mlsub.log.changes import fields, hyperparameters
from mlsub.log.run import Run, RunFold
from mlsub.systems.fields import SystemFacts, facts_of
from tests.commands.runner import answer_schema, run
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
    assert (found["command"], found["schema"], found["different"]) == ("compare packages", 6, True)
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


def machine(accelerator: str, nodes: int = 1) -> SystemFacts:
    return SystemFacts(accelerator_model_name=accelerator, accelerators_per_node=8, number_of_nodes=nodes)


ODD = facts_of({"accelerator_model_name": ["x"], "number_of_nodes": 2})
A100, H100, SIXTEEN = machine("NVIDIA A100"), machine("NVIDIA H100"), machine("nvidia a100 ", 2)


A1, A2, B1 = "dgxa100_ngc21.05_mxnet", "dgxa100_ngc21.05_pytorch", "dgxh100_ngc21.05"
RENAMED: dict[str, tuple[dict[str, SystemFacts | None], dict[str, SystemFacts | None], dict[str, str]]] = {
    "the longest common beginning, and the same accelerator": (
        {A1: A100, A2: A100, B1: H100},
        {"dgxa100_ngc21.09_mxnet": A100, f"{A2}_2": A100, "dgxh100_ngc21.09": H100},
        {A2: f"{A2}_2", A1: "dgxa100_ngc21.09_mxnet", B1: "dgxh100_ngc21.09"},
    ),
    "another accelerator": ({"rack-2021": A100}, {"rack-2022": H100}, {}),
    "no description": ({"rack-2021": None}, {"rack-2022": A100}, {"rack-2021": "rack-2022"}),
    "as many accelerators come first": ({"rack-a": A100}, {"rack-b": SIXTEEN, "rack-c": A100}, {"rack-a": "rack-c"}),
    "names that begin differently": ({"apple": None}, {"orange": None}, {}),
    "two organisations": ({"ACME/rack1": None}, {"BETA/rack1": None}, {}),
    "one organisation": ({"ACME/rack1": None}, {"ACME/rack1-new": None}, {"ACME/rack1": "ACME/rack1-new"}),
    "odd descriptions": ({"rack-2021": ODD}, {"rack-2022": ODD}, {"rack-2021": "rack-2022"}),
    "an odd description": ({"rack-2021": ODD}, {"rack-2022": A100}, {}),
}


@pytest.mark.parametrize("name", RENAMED)
def test_which_systems_were_probably_renamed(name: str) -> None:
    gone, new, expected = RENAMED[name]
    assert renamed(gone, new) == expected | {other: one for one, other in expected.items()}


def test_a_likeness_of_the_end_does_not_beat_the_accelerator(tmp_path: Path) -> None:
    """By letters rack-8xA100 is as much like rack-8xH100 as like rack-8xA100-2022; the hardware tells them apart."""
    old, new = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    for tree, name, model in (
        (old, "rack-8xA100", "NVIDIA A100"),
        (new, "rack-8xH100", "NVIDIA H100"),
        (new, "rack-8xA100-of-the-year-2022", "NVIDIA A100"),
    ):
        tree.add_system(name, accelerator_model_name=model)
        tree.add_entry(system=name)
    document = run("compare", "--packages", old.folder, new.folder, "--format", "json").document
    alike = {one["system"]: one["alike"] for one in document["systems"]}
    assert alike == {
        "rack-8xA100": "rack-8xA100-of-the-year-2022",
        "rack-8xA100-of-the-year-2022": "rack-8xA100",
        "rack-8xH100": None,
    }
    entries = {one["system"]: one["alike"] for one in document["entries"]}
    assert entries == {**alike, "rack1": None}


MACHINES = st.dictionaries(
    st.text(alphabet="ab1-/", max_size=6), st.sampled_from([A100, H100, SIXTEEN, None]), max_size=6
)


@given(MACHINES, MACHINES)
def test_each_name_is_in_one_pair_at_most(
    old: dict[str, SystemFacts | None], new: dict[str, SystemFacts | None]
) -> None:
    gone, come = (
        {name: one for name, one in side.items() if name not in old.keys() & new.keys()} for side in (old, new)
    )
    pairs = renamed(gone, come)
    assert all(pairs[other] == one for one, other in pairs.items())
    assert all((one in gone) != (other in gone) for one, other in pairs.items())
