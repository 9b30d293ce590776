"""``mlsub compare --packages``: what is told of two packages, and what is not."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.compare.packages import compare_files
from mlsub.log.changes import changed_fields, changed_hyperparameters
from mlsub.log.run import Run, RunFold
from mlsub.submission.find import organisation
from tests.commands.compare.asked import packages
from tests.conftest import ExpectedText
from tools.support.corpus import CORPUS
from tools.support.effort import effort
from tools.support.make_tree import Log, Tree, make_tree, snapshot, spoil
from tools.support.runner import run


def six_minutes_longer(log: Log) -> None:
    log.records("run_stop")[0]["time_ms"] += 360_000


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
    there = packages(two[0].folder, two[1].folder)
    back = packages(two[1].folder, two[0].folder)
    assert there["files"]["added"] == back["files"]["removed"] == ["README.md"]
    assert there["files"]["changed"] == back["files"]["changed"]
    assert {f["rule"]: (f["old"], f["new"]) for f in there["findings"]} == {
        f["rule"]: (f["new"], f["old"]) for f in back["findings"]
    }


def test_the_document(two: tuple[Tree, Tree]) -> None:
    found = packages(two[0].folder, two[1].folder)
    assert (found["command"], found["schema"], found["different"]) == ("compare packages", 7, True)
    assert found["files"]["moved"][0] == [
        "results/rack2-2021/resnet/result_0.txt",
        "results/rack2-2022/resnet/result_0.txt",
    ]
    entries = {(entry["system"], entry["benchmark"]): entry for entry in found["entries"]}
    assert {key: entry["change"] for key, entry in entries.items()} == {
        ("rack1", "bert"): "changed",
        ("rack1", "resnet"): "changed",
        ("rack2-2022", "resnet"): "changed",
    }
    assert entries["rack2-2022", "resnet"]["was"] == "rack2-2021"
    assert entries["rack1", "resnet"]["hyperparameters"] == [
        {"name": "global_batch_size", "old": "3200", "new": "6400", "note": "new: 4 of 5 runs"}
    ]
    assert entries["rack1", "bert"]["hyperparameters"] == [
        {"name": "opt_epsilon", "old": "1e-06", "new": None, "note": None}
    ]


def test_two_benchmark_folders_are_compared_whatever_their_systems_are_called(two: tuple[Tree, Tree]) -> None:
    old, new = two
    found = packages(old.entry(), new.entry(system="rack2-2022"))
    (entry,) = found["entries"]
    assert (entry["was"], entry["system"]) == ("rack1", "rack2-2022")
    assert found["findings"] == []
    assert [(one["was"], one["system"]) for one in found["systems"]] == [("rack1", "rack2-2022")]
    (system,) = packages(old.entry(), new.entry())["systems"]
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
    assert changed_hyperparameters(_runs(1.5, 2.5, 3.5), _runs(4.5, 5.5, 6.5)) == ()
    assert changed_hyperparameters(_runs(1, 1.0, True), _runs(1, 1, 2)) == ()
    (change,) = changed_hyperparameters(_runs(1, 1, 2), _runs(3, 3, 3))
    assert (change.old, change.new, change.note) == ("1", "3", "old: 2 of 3 runs")


@given(st.lists(st.recursive(st.none() | st.floats() | st.text(), st.lists, max_leaves=5), max_size=4))
def test_whatever_was_logged_is_equal_to_itself(values: list[object]) -> None:
    assert changed_hyperparameters(_runs(*values), _runs(*values)) == ()


def test_fields_of_descriptions() -> None:
    changes = changed_fields({"a": 1, "b": "x", "c": [1]}, {"b": "y", "a": 1.0, "d": None})
    assert [(change.name, change.old, change.new) for change in changes] == [
        ("b", "x", "y"),
        ("c", "[1]", None),
        ("d", None, "null"),
    ]
    assert changed_fields(None, {}) == ()


def test_a_defect_that_expects_something_else_in_each_system_is_one_line(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    for tree in (one, other):
        tree.add_system("rack2")
        tree.add_entry(system="rack2")
    for system in ("rack1", "rack2"):
        other.edit(lambda log: log.put("submission_platform", value="elsewhere"), 0, system=system)
    findings = packages(one.folder, other.folder)["findings"]
    changed = {finding["rule"]: (finding["old"], finding["new"]) for finding in findings}
    assert changed == {"cross.platform": (0, 2), "cross.runs-differ": (0, 2)}


def test_a_factor_in_one_package_changes_the_published_minutes_and_not_the_expected_ones(tmp_path: Path) -> None:
    old, new = make_tree(tmp_path / "a", "v4.0"), make_tree(tmp_path / "b", "v4.0")
    for tree in (old, new):
        tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    (new.entry() / "scaling.json").write_text('{"scaling_factor": 1.5}')
    (entry,) = packages(old.folder, new.folder)["entries"]
    values = {value["name"]: (value["old"], value["new"]) for value in entry["values"]}
    assert (values["unscaled"], values["scaling"], values["published"]) == ((12.0, 12.0), (1.0, 1.5), (12.0, 18.0))
    assert values["expected"] == (pytest.approx(12.050679), pytest.approx(12.050679))
    assert (entry["change"], entry["percent"]) == ("changed", 50.0)
    text = diff(old.folder, new.folder, "-v")
    assert "12.000000  18.000000  +50.00 %" in text
    assert "rack1 resnet: scaling 1.000000 -> 1.500000\n" in text


A1, A2, B1 = "dgxa100_ngc21.05_mxnet", "dgxa100_ngc21.05_pytorch", "dgxh100_ngc21.05"
A100, H100, SIXTEEN = ("NVIDIA A100", 1), ("NVIDIA H100", 1), ("NVIDIA A100", 2)
Machines = dict[str, tuple[str, int]]
#: The systems of one side with their accelerator and nodes, those of the other, and what each of these was called.
PAIRS: dict[str, tuple[Machines, Machines, dict[str, str | None]]] = {
    "versions of containers": (
        {A1: A100, A2: A100, B1: H100},
        {"dgxa100_ngc21.09_mxnet": A100, f"{A2}_2": A100, "dgxh100_ngc21.09": H100},
        {"dgxa100_ngc21.09_mxnet": A1, f"{A2}_2": A2, "dgxh100_ngc21.09": B1},
    ),
    "the only one with so many accelerators": ({"apple": A100}, {"orange": A100}, {"orange": "apple"}),
    "another accelerator": ({"apple": A100}, {"orange": H100}, {"orange": None}),
    "more accelerators": ({"rack-2021": A100}, {"rack-2022": SIXTEEN}, {"rack-2022": None}),
    "the nearest name first, and each in one pair": (
        {"rack": A100}, {"orange": A100, "rack-2022": A100}, {"orange": None, "rack-2022": "rack"},
    ),
    "two that nothing tells apart": ({"apple": A100}, {"orange": A100, "pear": A100}, {"orange": None, "pear": None}),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_which_entries_belong_together(name: str, tmp_path: Path) -> None:
    *sides, expected = PAIRS[name]
    trees = [Tree(tmp_path / round_ / "ACME") for round_ in ("v1.0", "v1.1")]
    for tree, systems in zip(trees, sides, strict=True):
        for system, (model, nodes) in systems.items():
            tree.add_system(system, accelerator_model_name=model, accelerators_per_node="8", number_of_nodes=str(nodes))
            tree.add_entry(system=system)
    found = packages(*(tree.folder for tree in trees))
    for part in ("entries", "systems"):
        assert {one["system"]: one["was"] for one in found[part] if one["change"] != "removed"} == expected


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
@pytest.mark.parametrize(
    ("rounds", "name"), [(("v1.0", "v1.1"), "NVIDIA"), (("v1.1", "v2.0"), "Graphcore"), (("v4.0", "v4.1"), "Google")]
)
def test_two_rounds_in_sixty_lines(
    rounds: tuple[str, str], name: str, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    monkeypatch.chdir(CORPUS)
    sides = [f"{round_}/{name}" for round_ in rounds]
    text = diff(*sides)
    expected_text(f"rounds-{name}.txt", text)
    assert text.count("\n") <= 60
    assert diff(*sides, "-v").count("\n") > 60


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
@pytest.mark.parametrize("columns", ["80", "120"])
def test_no_two_rounds_take_more_than_sixty_lines(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rounds: dict[str, list[Path]] = {}
    for folder in sorted(CORPUS.glob("v*/*/")):
        rounds.setdefault(organisation(folder.name), []).append(folder)
    every = [two for folders in rounds.values() for two in itertools.pairwise(folders)]
    for old, new in every[:: effort(5, 1)]:
        assert diff(old, new).count("\n") <= 60, (old, new)
