"""``mlsub merge``: parts become one package, conflicts become findings, and nothing else changes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.merge.run import describe_plan, plan_merge, read_sources
from mlsub.io import MlsubError
from mlsub.io.folders import folder_digests, write_record
from mlsub.rounds import get_round
from mlsub.workspace import AS_FOUND, package
from tests.conftest import ExpectedText
from tools.support.make_tree import Tree, make_tree, snapshot, spoil
from tools.support.runner import answer_schema, run
from tools.support.workplace import files


@pytest.fixture(name="parts")
def _parts(tmp_path: Path) -> tuple[Tree, Tree]:
    """Two teams' parts of one package; both have the code of BERT and the README."""
    one = make_tree(tmp_path / "a", benchmarks=["bert"])
    other = Tree(tmp_path / "b" / "v1.0" / "ACME")
    other.add_system("rack2")
    other.add_entry("resnet", "rack2")
    other.add_entry("bert", "rack2")
    for tree in (one, other):
        (tree.folder / "README.md").write_text("of both\n")
    return one, other


def merged(*arguments: object) -> tuple[int, list[tuple[str, str, str | None]]]:
    """Exit status, and (rule, path, found) of the conflicts."""
    outcome = run("merge", *arguments, "--format", "json")
    answer_schema("merge").validate(outcome.document)
    return outcome.status, [(f["rule"], f["path"], f["actual"]) for f in outcome.document["findings"]]


def test_the_plan_writes_nothing(
    parts: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    before = snapshot(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = run("merge", *(tree.folder.relative_to(tmp_path) for tree in parts), "-o", "out/ACME")
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text("plan.txt", outcome.stdout)
    assert snapshot(tmp_path) == before


def test_parts_become_one_package(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    one, other = (tree.folder for tree in parts)
    (one / "benchmarks" / "bert" / "rack1" / "link").symlink_to("README.md")
    before = snapshot(one), snapshot(other)
    out = tmp_path / "out" / "ACME"
    outcome = run("merge", one, other, "-o", out, "--write", "--format", "json")
    answer_schema("merge").validate(outcome.document)
    assert (outcome.status, outcome.document["written"]) == (0, True)
    assert outcome.document["report"]["official"] == "accepted"
    assert outcome.document["report"]["root"] == str(out)
    assert [f["rule"] for f in outcome.document["report"]["findings"] if f["rule"].startswith("cross.")] == []
    assert files(out) == files(one) | files(other)
    assert (out / "benchmarks/bert/rack1/link").readlink() == Path("README.md")
    assert os.access(out / "benchmarks/bert/rack1/setup.sh", os.X_OK)
    assert not os.access(out / "README.md", os.X_OK)
    # The result shares no file with its sources.
    (out / "README.md").write_text("changed\n")
    assert (snapshot(one), snapshot(other)) == before
    assert sorted(path.name for path in out.parent.iterdir()) == [".ACME.mlsub-written", "ACME"]
    assert run("check", out, "--round", "1.0").status == 0


def broken_entry(one: Tree, other: Tree) -> None:
    other.add_entry("bert")
    spoil(other, 3, benchmark="bert")


def folder_for_file(one: Tree, other: Tree) -> None:
    (other.folder / "README.md").unlink()
    (other.folder / "README.md").mkdir()


#: What is done to the parts A and B, and the one conflict: its rule, its path, what was found.
CONFLICTS: dict[str, tuple[Callable[[Tree, Tree], object], str, str, str]] = {
    "another README": (
        lambda one, other: (other.folder / "README.md").write_text("of one!\n"), "file", "README.md", "A and B"
    ),
    "a folder in the place of a file": (folder_for_file, "file", "README.md", "A and B"),
    "another description": (
        lambda one, other: other.add_system("rack1", cooling="water", framework="other"),
        *("system", "systems/rack1.json", "A and B: cooling, framework"),
    ),
    "a description that is laid out in another way": (
        lambda one, other: other.description("rack1").write_text(one.description().read_text() + "\n"),
        *("system", "systems/rack1.json", "A and B: layout alone"),
    ),
    "the same entry with a run that differs": (
        broken_entry, "entry", "results/rack1/bert", "A has 10 logs, B has 10; 1 of 10 logs of the same name differ"
    ),
    "the same entry with further runs": (
        lambda one, other: other.add_entry("bert", runs=2, named="result_1{}.txt"),
        *("entry", "results/rack1/bert", "A has 10 logs, B has 2; other logs"),
    ),
    "a link that leads out": (lambda one, other: (other.folder / "data").symlink_to("/etc"), "link", "data", "B"),
    "a pipe": (lambda one, other: os.mkfifo(one.folder / "pipe"), "special-file", "pipe", "A"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONFLICTS)
def test_a_conflict_is_one_finding_and_nothing_is_written(
    case: str, parts: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil_parts, *expected = CONFLICTS[case]
    spoil_parts(*parts)
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    status, [(rule, path, actual)] = merged("a/v1.0/ACME", "b/v1.0/ACME", "-o", "out/ACME", "--write")
    words = (actual or "").replace("a/v1.0/ACME", "A").replace("b/v1.0/ACME", "B")
    assert (status, [rule.removeprefix("merge."), path, words]) == (1, expected)
    assert snapshot(tmp_path) == before


def test_what_people_read_of_conflicts(
    parts: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    other = parts[1]
    other.add_system("rack1", cooling="\x1b[31mwater")
    (other.folder / "README.md").write_text("")
    monkeypatch.chdir(tmp_path)
    outcome = run("merge", *(tree.folder.relative_to(tmp_path) for tree in parts), "-o", "ACME")
    expected_text("conflicts.txt", "".join(outcome.stdout.splitlines(keepends=True)[7:]))


def test_an_entry_that_both_have_alike_is_joined(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    one, other = parts
    shutil.copytree(one.entry("bert"), other.entry("bert", "rack1"))
    shutil.copy(one.description(), other.description("rack1"))
    (other.entry("bert", "rack1") / "scaling.json").write_text('{"scaling_factor": 1.0}')
    assert merged(one.folder, other.folder, "-o", tmp_path / "ACME") == (0, [])


def test_a_merge_of_hpc_knows_its_deeper_folders(tmp_path: Path) -> None:
    for side in "ab":
        folder = tmp_path / side / "hpc-v3.0" / "ACME" / "results" / "rack1" / "strong" / "oc20"
        folder.mkdir(parents=True)
        (folder / "result_0.txt").write_text(side)
    found = merged(tmp_path / "a/hpc-v3.0/ACME", tmp_path / "b/hpc-v3.0/ACME", "-o", tmp_path / "ACME")[1]
    assert [(rule, path) for rule, path, _ in found] == [("merge.entry", "results/rack1/strong/oc20")]


def test_several_organisations_are_a_conflict(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    other = make_tree(tmp_path / "c", org="Zeta").folder
    status, found = merged(parts[0].folder, other, "-o", tmp_path / "ACME")
    assert (status, found[0]) == (1, ("merge.organisation", ".", "ACME, Zeta"))


@pytest.fixture(name="numbered")
def _numbered(tmp_path: Path) -> list[Path]:
    """Two teams' packages, uploaded under the organisation's name with a number behind it."""
    trees = [make_tree(tmp_path / "up", "v1.0", f"ACME_{number}", [name]) for number, name in NUMBERED]
    system = trees[1]
    system.description().rename(system.description("rack2"))
    for place in ("results/rack1", "benchmarks/resnet/rack1"):
        (system.folder / place).rename((system.folder / place).with_name("rack2"))
    return [tree.folder for tree in trees]


NUMBERED = [(1, "bert"), (2, "resnet")]


def test_packages_with_a_number_behind_the_name_are_one_organisation(numbered: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out" / "v1.0" / "ACME"
    outcome = run("merge", *numbered, "-o", out, "--write", "--format", "json")
    answer_schema("merge").validate(outcome.document)
    assert (outcome.status, outcome.document["written"], outcome.document["organisation"]) == (0, True, "ACME")
    asked = {
        (f["rule"], f["path"].rpartition("/")[2], f["actual"], f["expected"], f["severity"])
        for f in outcome.document["report"]["findings"]
        if f["rule"].startswith("cross.")
    }
    logs = {(f"result_{run}.txt", '"ACME_1"') for run in range(10)} | {
        (f"result_{run}.txt", '"ACME_2"') for run in range(5)
    }
    files = {("rack1.json", '"ACME_1"'), ("rack2.json", '"ACME_2"')}
    assert asked == {("cross.submitter", name, actual, "ACME", "warning") for name, actual in logs | files}
    assert {f["rule"] for f in run("check", out, "--format", "json").document["reports"][0]["findings"]} >= {
        "cross.submitter"
    }


def test_a_merge_shows_which_names_still_have_the_number(
    numbered: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("merge", *(path.relative_to(tmp_path) for path in numbered), "-o", "out/v1.0/ACME", "--write")
    assert outcome.status == 0
    expected_text("numbered.txt", outcome.stdout)


def test_numbers_belong_to_the_name_of_the_output(numbered: list[Path], tmp_path: Path) -> None:
    other = make_tree(tmp_path / "up", org="ACME_x").folder
    assert merged(*numbered, "-o", tmp_path / "ACME")[0] == 0
    status, found = merged(*numbered, "-o", tmp_path / "ACME_1")
    assert (status, found[0]) == (1, ("merge.organisation", ".", "ACME_1, ACME_2"))
    status, found = merged(numbered[0], other, "-o", tmp_path / "ACME")
    assert (status, found[0]) == (1, ("merge.organisation", ".", "ACME_1, ACME_x"))
    refused = run("merge", *numbered, "-o", tmp_path / "merged")
    assert (refused.status, refused.stderr.endswith(f"name it {tmp_path / 'merged' / 'ACME'}\n")) == (2, True)


def test_folders_of_caches_are_left_out_and_told(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    cache = parts[0].folder / "benchmarks" / "bert" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").write_text("")
    out = tmp_path / "out" / "ACME"
    outcome = run("merge", *(tree.folder for tree in parts), "-o", out, "--write")
    assert "left out, as caches, version control or unfinished: benchmarks/bert/__pycache__\n" in outcome.stdout
    assert not (out / "benchmarks" / "bert" / "__pycache__").exists()


def test_what_a_killed_command_left_is_left_out_and_told_once(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    for number, tree in enumerate(parts):
        begun = tree.folder / "systems" / ".mlsub-0123456789abcdef.part"
        begun.mkdir()
        (begun / "rack1.json").write_text(f"{number}")
    (parts[0].folder / ".mlsub-fedc.part").write_text("a file")
    out = tmp_path / "out" / "ACME"
    outcome = run("merge", *(tree.folder for tree in parts), "-o", out, "--write")
    told = ".mlsub-fedc.part, systems/.mlsub-0123456789abcdef.part"
    assert f"left out, as caches, version control or unfinished: {told}\n" in outcome.stdout
    assert outcome.stdout.count(".mlsub-") == 2
    assert not [path for path in out.rglob("*") if path.name.startswith(".mlsub-")]


def test_a_rejected_result_is_not_put_in_place_unasked(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    spoil(parts[0], 0, 1, 2, benchmark="bert")
    out = tmp_path / "out" / "ACME"
    outcome = run("merge", *(tree.folder for tree in parts), "-o", out, "--write")
    assert outcome.status == 1
    assert outcome.stdout.endswith("Rejected, so nothing was written. Fix it, or add --even-rejected.\n")
    assert not out.parent.exists()
    outcome = run("merge", *(tree.folder for tree in parts), "-o", out, "--write", "--even-rejected")
    assert (outcome.status, outcome.stdout.splitlines()[-1]) == (1, f"Written: {out}")
    assert (out / "README.md").exists()


def foreign_log(one: Tree) -> None:
    one.edit(lambda log: log.put("submission_org", value="Globex"), benchmark="bert")


def test_what_pack_refuses_for_review_errors_is_not_written_either(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    foreign_log(parts[0])
    out, paths = tmp_path / "out" / "ACME", [tree.folder for tree in parts]
    outcome = run("merge", *paths, "-o", out, "--write")
    assert (outcome.status, out.exists()) == (1, False)
    assert "[cross.org]" in outcome.stdout
    last = "A reviewer will raise errors (cross.org), so nothing was written. Fix them, or add --even-with-errors.\n"
    assert outcome.stdout.endswith(last)
    assert run("merge", *paths, "-o", out, "--write", "--even-with-errors").status == 0
    assert out.exists()


def test_strict_refuses_review_warnings_as_pack_does(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    parts[0].describe(submitter="Globex")
    parts[0].edit(lambda log: log.put("submission_org", value="Globex"), *range(10), benchmark="bert")
    out, paths = tmp_path / "out" / "ACME", [tree.folder for tree in parts]
    outcome = run("merge", *paths, "-o", out, "--write", "--strict")
    last = "--strict refuses review warnings (cross.submitter"
    assert (outcome.status, out.exists(), last in outcome.stdout) == (1, False, True)
    assert run("merge", *paths, "-o", out, "--write").status == 0


def waive(tree: Tree, **words: str) -> Path:
    """Write a manifest beside a part, with one waiver: nothing that it names has to be there."""
    waiver = {"rule": "entry.run-count", "reason": "The committee knows of it.", "expires": "never"} | words
    entries = [{"system": "rack1", "benchmark": "bert", "runs": "${RUNS}/bert"}]
    content = {"organisation": "ACME", "round": "1.0", "systems": {"rack1": "x.json"}, "entries": entries}
    file = tree.folder.parent.parent / "submission.yaml"
    file.write_text(yaml.safe_dump(content | {"waivers": [waiver]}))
    return file


def fewer_runs(tree: Tree, benchmark: str, system: str) -> None:
    for number in (3, 4):
        tree.log(number, benchmark, system).unlink()


def test_the_waivers_of_a_part_hold_for_what_it_brings(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    fewer_runs(parts[0], "bert", "rack1")
    waive(parts[0])
    out, paths = tmp_path / "out" / "ACME", [tree.folder for tree in parts]
    outcome = run("merge", *paths, "-o", out, "--write", "--format", "json")
    answer_schema("merge").validate(outcome.document)
    assert (outcome.status, outcome.document["written"], outcome.document["blocking"]) == (0, True, [])
    assert outcome.document["report"]["official"] == "rejected"
    waived = {"rule": "entry.run-count", "path": "results/rack1/bert", "reason": "The committee knows of it."}
    assert outcome.document["waived"] == [waived | {"expires": "never"}]
    text = run("merge", *paths, "-o", out, "--write", "--force").stdout
    assert "waived without an end: entry.run-count of results/rack1/bert: The committee knows of it.\n" in text
    assert text.endswith(f"Written: {out}\n")


def test_the_waivers_of_a_part_do_not_hold_for_another(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    fewer_runs(parts[1], "resnet", "rack2")
    file = waive(parts[0])
    outcome = run("merge", *(tree.folder for tree in parts), "-o", tmp_path / "ACME", "--write", "--format", "json")
    assert (outcome.status, outcome.document["written"]) == (1, False)
    assert {f["path"] for f in outcome.document["blocking"]} == {"results/rack2/resnet"}
    assert [(f["rule"], f["path"], f["line"]) for f in outcome.document["notes"]] == [
        ("package.waiver-unused", str(file), 10)
    ]


def test_a_waiver_that_has_expired_holds_no_longer(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    fewer_runs(parts[0], "bert", "rack1")
    waive(parts[0], expires="2021-01-01")
    outcome = run("merge", *(tree.folder for tree in parts), "-o", tmp_path / "ACME", "--write", "--format", "json")
    assert (outcome.status, outcome.document["written"]) == (1, False)
    assert [f["rule"] for f in outcome.document["notes"]] == ["package.waiver-expired"]


def test_an_older_result_is_replaced_only_when_asked(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    out = older(tmp_path)
    paths = [tree.folder for tree in parts]
    refused = run("merge", *paths, "-o", out, "--write")
    assert (refused.status, refused.stderr) == (2, f"mlsub merge: {out} exists; add --force to replace it\n")
    assert (out / "old.txt").exists()
    assert run("merge", *paths, "-o", out, "--write", "--force").status == 0
    assert files(out) == files(paths[0]) | files(paths[1])


def older(tmp_path: Path) -> Path:
    """A package in the place of the result, as mlsub would have put it there."""
    out = make_tree(tmp_path / "out", "here").folder
    (out / "old.txt").write_text("")
    write_record(out, folder_digests(out))
    return out


@pytest.mark.parametrize("moment", ["check_paths", "assemble", "replace_folder"])
def test_whatever_stops_it_leaves_the_old_package(
    moment: str, parts: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = older(tmp_path)
    before = files(out)

    def stop(*arguments: object) -> None:
        raise MlsubError("the disk is full")

    monkeypatch.setattr(package, moment, stop)
    outcome = run("merge", *(tree.folder for tree in parts), "-o", out, "--write", "--force")
    assert (outcome.status, outcome.stderr) == (2, "mlsub merge: the disk is full\n")
    assert files(out) == before
    assert sorted(path.name for path in out.parent.iterdir()) == [".ACME.mlsub-written", "ACME"]


def test_a_file_that_changes_meanwhile_stops_it(parts: tuple[Tree, Tree], tmp_path: Path) -> None:
    sources = read_sources([str(tree.folder) for tree in parts])
    plan = plan_merge(sources, get_round("training", "1.0"), "ACME")
    (parts[0].folder / "systems" / "rack1.json").unlink()
    (parts[0].folder / "systems" / "rack1.json").symlink_to("/etc/passwd")
    with pytest.raises(MlsubError, match=r"rack1\.json cannot be copied"):
        package.write_package(plan.pieces, "ACME", tmp_path / "out" / "ACME", AS_FOUND, wanted=lambda _: True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A", "-o", "ACME"], "a merge needs two packages or more"),
        (["A", "A", "-o", "ACME"], "A and A are the same folder"),
        (["A", "link", "-o", "ACME"], "A and link are the same folder"),
        (["A", "gone", "-o", "ACME"], "gone is not an organisation's tree"),
        (["A", "file", "-o", "ACME"], "file is not an organisation's tree"),
        (["A", "B", "-o", "merged"], "merged is to be the organisation's folder; name it merged/ACME"),
        (["A", "B", "-o", "A/x/ACME"], "lie in each other"),
        (["A", "B", "-o", "A", "--force"], "lie in each other"),
        (["A", "B", "-o", "taken/ACME", "--force"], "taken/ACME holds something other than a submission"),
        (["A", "B", "-o", "taken/link/ACME"], "taken/link/ACME is not a folder of its own"),
        (["A", "B", "-o", "ACME", "--round", "1.7"], "1.7"),
        (["A", "B", "-o", "ACME", "--usage", "cooking"], "cooking"),
        (["A", "newer/v1.1/ACME", "-o", "ACME"], "The packages lie in 2 rounds. Name those of one, or say --round."),
        (["nowhere/ACME", "nowhere2/ACME", "-o", "ACME"], "No folder above the packages is named like a round"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    arguments: list[str], words: str, parts: tuple[Tree, Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    Path("taken/ACME/precious").mkdir(parents=True)
    Path("taken/link").mkdir()
    Path("taken/link/ACME").symlink_to("../ACME")
    Path("A").symlink_to("a/v1.0/ACME")
    Path("link").symlink_to("a/v1.0/ACME")
    for place in ("newer/v1.1", "nowhere", "nowhere2"):
        shutil.copytree(parts[1].folder, Path(place) / "ACME")
    real = {"A": "a/v1.0/ACME", "B": "b/v1.0/ACME", "A/x/ACME": "a/v1.0/ACME/x/ACME"}
    before = snapshot(tmp_path)
    outcome = run("merge", *(real.get(argument, argument) for argument in arguments), "--write")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub merge: ")
    assert outcome.stderr.count("\n") == 1
    assert words in outcome.stderr.replace("a/v1.0/ACME", "A").replace("b/v1.0/ACME", "B")
    assert snapshot(tmp_path) == before


@given(data=st.data())
def test_any_parts_of_a_tree_give_the_tree_whatever_their_order(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    above = tmp_path_factory.mktemp("split")
    whole = {f"systems/rack{number}.json": f"{number}" for number in range(3)}
    whole |= {f"results/rack{number}/bert/{kind}": kind for number in range(3) for kind in ("power/a", "notes.md")}
    owners = {path: data.draw(st.sampled_from(["a", "b", "ab"]), path) for path in whole}
    for path, content in whole.items():
        for owner in owners[path]:
            file = above / owner / "ACME" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    for owner in "ab":
        (above / owner / "ACME" / "systems").mkdir(parents=True, exist_ok=True)
    sides = [str(above / owner / "ACME") for owner in "ab"]
    for order in (sides, sides[::-1]):
        sources, round_ = read_sources(order), get_round("training", "1.0")
        plan = plan_merge(sources, round_, "ACME")
        assert plan.findings == ()
        assert {piece.to for piece in plan.pieces} == set(whole)
        assert describe_plan(plan, sources, round_, Path("out/ACME")).joined == sum(
            owner == "ab" for owner in owners.values()
        )
