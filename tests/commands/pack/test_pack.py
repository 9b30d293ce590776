"""Packing: planned first, refused for what rejects unless it is waived, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from mlsub import check
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from mlsub.io.folders import assemble
from mlsub.packing.manifest import Waiver
from mlsub.packing.pack import deciding, waiver_of
from mlsub.packing.plan import make_plan
from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_description, make_tree, snapshot, spoil
from tools.support.workplace import TODAY, Workplace, files, rules

TOO_FAST = {"rule": "rcp.too-fast", "entry": "rack1/resnet", "reason": "The committee knows of it."}


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def test_what_was_planned_is_written_and_accepted_and_a_second_run_changes_nothing(workplace: Workplace) -> None:
    workplace.add_code()
    before = snapshot(workplace.folder)
    planned = workplace.pack(write=False)
    assert snapshot(workplace.folder) == before
    sources = workplace.sources()
    written = workplace.pack()
    assert [(one.written, one.refused) for one in (planned, written)] == [(False, False), (True, False)]
    assert planned.report is not None and written.report is not None
    assert planned.report.official is written.report.official is Verdict.ACCEPTED
    assert planned.report.findings == written.report.findings
    assert check(workplace.out).official is Verdict.ACCEPTED
    code = "benchmarks/resnet/implementations/mxnet"
    logs = [f"results/rack1/resnet/result_{n}.txt" for n in range(5)]
    assert sorted(files(workplace.out)) == [f"{code}/run.sh", f"{code}/train.py", *logs, "systems/rack1.json"]
    assert [os.access(workplace.out / code / name, os.X_OK) for name in ("run.sh", "train.py")] == [True, False]
    before = snapshot(workplace.out)
    again = workplace.pack()
    assert again.difference.none and not again.written and not again.refused
    assert (snapshot(workplace.out), workplace.sources()) == (before, sources)


def test_a_rejected_package_leaves_what_was_there(workplace: Workplace) -> None:
    workplace.pack()
    before = snapshot(workplace.out.parent)
    workplace.make_too_fast()
    refused = workplace.pack()
    assert refused.refused
    assert not refused.written
    assert [found.rule for found in refused.blocking] == ["rcp.too-fast"]
    # The time of the folder above may change, for a folder was made beside; the names in it do not.
    above = os.fsencode(workplace.out.parent)
    assert snapshot(workplace.out.parent) | {above: None} == before | {above: None}


def test_a_rejected_package_leaves_no_folder_where_there_was_none(workplace: Workplace) -> None:
    workplace.make_too_fast()
    before = set(workplace.folder.rglob("*"))
    assert workplace.pack().refused
    assert set(workplace.folder.rglob("*")) == before


@pytest.mark.parametrize(("days", "written"), [(None, True), (0, True), (-1, False)])
def test_a_waiver_lets_it_be_written_while_it_holds(workplace: Workplace, days: int | None, written: bool) -> None:
    workplace.make_too_fast()
    workplace.save(waivers=[TOO_FAST | {"expires": "never" if days is None else str(TODAY + timedelta(days))}])
    packed = workplace.pack()
    assert (packed.written, packed.refused) == (written, not written)
    assert packed.report is not None and packed.report.official is Verdict.REJECTED
    assert ("package.waiver-expired" in rules(packed)) is not written
    assert not written or check(workplace.out).official is Verdict.REJECTED


def test_a_waiver_of_another_rule_or_entry_helps_nothing_and_is_told(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path, "resnet", "bert")
    workplace.make_too_fast()
    waiver = TOO_FAST | {"expires": "never"}
    workplace.save(waivers=[waiver | {"entry": "rack1/bert"}, waiver | {"rule": "seed.shared"}])
    packed = workplace.pack()
    assert not packed.written
    assert rules(packed) == ["package.waiver-unused", "package.waiver-unused"]


def test_more_rejections_than_are_waived_still_reject(workplace: Workplace) -> None:
    workplace.make_too_fast()
    description = make_description(system_name=None)
    (workplace.folder / "rack1.json").write_text(json.dumps(description))
    workplace.save(waivers=[TOO_FAST | {"expires": "never"}])
    packed = workplace.pack()
    assert not packed.written
    assert [found.rule for found in packed.blocking] == ["system.field-missing"]


def test_files_that_are_not_in_the_manifest_do_not_go_unasked(workplace: Workplace) -> None:
    workplace.pack()
    note = workplace.out / "notes.txt"
    note.write_text("my only copy")
    kept = workplace.pack()
    assert rules(kept) == ["package.out-has-more"]
    assert kept.refused
    assert note.exists()
    refused = workplace.pack(force=True)
    assert rules(refused) == ["package.out-changed"]
    assert refused.difference.extra == refused.difference.foreign == ("notes.txt",)
    assert note.read_text() == "my only copy"


def test_sources_in_the_output_are_never_replaced(workplace: Workplace) -> None:
    workplace.pack()
    inside = [f"out/v1.0/ACME/results/rack1/resnet/result_{n}.txt" for n in range(5)]
    workplace.entry(runs=inside[::-1])
    packed = workplace.pack(force=True)
    assert rules(packed) == ["package.source-in-out"]
    assert not packed.written
    workplace.entry(runs=inside)
    assert workplace.pack().difference.none


def test_an_output_in_a_folder_that_is_packed_is_refused(workplace: Workplace) -> None:
    workplace.save(files=[{"from": ".", "to": "all"}])
    assert "package.out-in-source" in rules(workplace.pack())
    assert not workplace.out.exists()


@pytest.mark.parametrize(
    "make",
    [
        lambda out, _: out.write_text(""),
        lambda out, folder: out.symlink_to(folder),
        lambda out, _: (out.mkdir(), (out / "thesis.tex").write_text("")),
    ],
    ids=["file", "link", "other"],
)
def test_an_output_that_is_no_submission_is_refused(workplace: Workplace, make: Callable[..., object]) -> None:
    workplace.out.parent.mkdir(parents=True)
    make(workplace.out, workplace.folder)
    before = snapshot(workplace.folder)
    with pytest.raises(MlsubError, match=str(workplace.out)):
        workplace.pack()
    assert snapshot(workplace.folder) == before


def test_an_empty_output_is_filled(workplace: Workplace) -> None:
    workplace.out.mkdir(parents=True)
    assert workplace.pack().written


def test_a_log_that_grows_while_it_is_copied_is_an_error(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlsub.io import folders as module

    copy = module.shutil.copyfileobj

    def growing(source: BinaryIO, target: BinaryIO, size: int) -> None:
        copy(source, target, size)
        for log in (workplace.folder / "runs" / "resnet").iterdir():
            with log.open("a") as stream:
                stream.write("one more line\n")

    monkeypatch.setattr(module.shutil, "copyfileobj", growing)
    with pytest.raises(MlsubError, match="was written while it was copied"):
        workplace.pack()
    assert not workplace.out.parent.exists()


def test_a_source_that_goes_away_between_plan_and_copy_is_an_error(workplace: Workplace, tmp_path: Path) -> None:
    plan = make_plan(workplace.manifest())
    (workplace.folder / "runs/resnet/train-0.txt").unlink()
    with pytest.raises(MlsubError, match=r"train-0\.txt cannot be copied: No such file"):
        assemble(plan.pieces, tmp_path / "staging")


def test_templates_are_made_beside_the_manifest_and_are_packed_when_filled_in(workplace: Workplace) -> None:
    workplace.add_code()
    planned = workplace.pack(write=False, templates=True)
    folder = workplace.folder / "setup/resnet/rack1"
    assert not folder.exists()
    made = workplace.pack(templates=True)
    names = ["README.md", "init_datasets.sh", "rack1_mxnet.json", "run_and_time.sh", "setup.sh"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert sorted(planned.templates) == sorted(made.templates) == [str(folder / name) for name in names]
    assert os.access(folder / "setup.sh", os.X_OK)
    # What nobody has filled in is no part of the package.
    assert made.written and not (workplace.out / "benchmarks/resnet/rack1").exists()
    again = workplace.pack(templates=True)
    assert again.difference.none and again.templates == ()
    assert sorted(left.path for left in again.left_out) == [str(folder / name) for name in names]
    (folder / "README.md").write_text("How to run it.\n")
    assert workplace.pack(templates=True).difference.new == ("benchmarks/resnet/rack1/README.md",)
    assert (folder / "README.md").read_text() == "How to run it.\n"


def test_templates_are_made_although_runs_are_missing_and_in_the_folder_of_the_entry(workplace: Workplace) -> None:
    workplace.entry(runs="runs/none", setup="how/resnet")
    made = workplace.pack(templates=True)
    assert made.refused and made.report is None
    assert sorted(path.name for path in (workplace.folder / "how/resnet").iterdir())[0] == "README.md"


def test_templates_are_never_made_in_what_is_replaced(workplace: Workplace) -> None:
    workplace.entry(setup="out/v1.0/ACME/benchmarks/resnet/rack1")
    workplace.out.mkdir(parents=True)
    with pytest.raises(MlsubError, match="which is replaced as a whole"):
        workplace.pack(templates=True)
    assert list(workplace.out.iterdir()) == []


def test_strict_refuses_for_review_findings_unless_they_are_waived(workplace: Workplace) -> None:
    assert workplace.pack(write=False).refused is False
    refused = workplace.pack(strict=True)
    assert [found.rule for found in refused.blocking] == ["layout.benchmarks-missing"]
    assert refused.refused and not refused.written and not workplace.out.exists()
    waiver = Waiver(rule="layout.benchmarks-missing", reason="the code follows", expires="never")
    assert workplace.pack(strict=True, waivers=(waiver,)).written


def test_copies_of_runs_as_those_of_another_system_are_refused(workplace: Workplace) -> None:
    copies = workplace.folder / "copies"
    copies.mkdir()
    for file in (workplace.folder / "runs/resnet").iterdir():
        (copies / file.name).write_bytes(file.read_bytes())
    workplace.content["systems"]["rack2"] = "rack1.json"
    workplace.content["entries"].append({"system": "rack2", "benchmark": "resnet", "runs": "copies/train-*.txt"})
    workplace.save()
    refused = workplace.pack()
    assert refused.refused and not refused.written
    assert {found.rule for found in refused.blocking} == {"entry.same-log-twice"}
    assert len(refused.blocking) == 1
    waiver = Waiver(rule="entry.same-log-twice", entry="rack2", reason="one cluster under two names", expires="never")
    assert workplace.pack(waivers=(waiver,)).written


def test_review_errors_stop_it_unless_asked(workplace: Workplace) -> None:
    description = workplace.folder / "rack1.json"
    description.write_text(json.dumps({**json.loads(description.read_text()), "cooling": "TODO"}))
    refused = workplace.pack()
    assert [found.rule for found in refused.blocking] == ["system.placeholder"]
    assert refused.refused and not refused.written
    assert workplace.pack(even_with_errors=True).written


@pytest.mark.parametrize(
    ("folder", "differs"), [("v1.0", []), ("training_v1.1", ["package.round-differs"]), ("out", [])]
)
def test_a_folder_named_like_another_round_is_reported(workplace: Workplace, folder: str, differs: list[str]) -> None:
    workplace.out = workplace.folder / folder / "ACME"
    packed = workplace.pack()
    assert packed.written and rules(packed) == differs


def test_a_description_that_does_not_state_its_division_yet_is_said_to(workplace: Workplace) -> None:
    workplace.entry(division="closed")
    (workplace.folder / "rack1.json").write_text(json.dumps(make_description(division="TODO")))
    packed = workplace.pack()
    assert packed.refused and rules(packed) == ["package.division-differs"]
    assert packed.findings[0].message == "The description of rack1 does not state its division yet"


def same_seed(tree: Tree) -> None:
    tree.edit(lambda log: log.put("seed", value=7, metadata={"lineno": 1}), 0, 1)


def undecodable(tree: Tree) -> None:
    with tree.log().open("a") as stream:
        stream.write(':::MLLOG {"key": broken}\n')


REJECTING: dict[str, tuple[Callable[[Tree], object], set[str]]] = {
    "nothing": (lambda tree: None, set()),
    "one forgiven run": (lambda tree: spoil(tree, 0), set()),
    "two noncompliant runs": (lambda tree: spoil(tree, 0, 1), {"entry.noncompliant-runs"}),
    "an empty log": (lambda tree: tree.log().write_text(""), {"log.empty"}),
    "a seed twice": (same_seed, {"seed.shared"}),
    "a seed twice, and a forgiven run": (
        lambda tree: (same_seed(tree), tree.edit(lambda log: log.drop("run_stop"), 4)), {"seed.shared"}
    ),
    "a record that cannot be read": (undecodable, {"seed.log-undecodable"}),
    "no description": (lambda tree: tree.description().unlink(), {"tree.system-description-missing"}),
    "a broken description": (lambda tree: tree.description().write_text("{"), {"system.not-json"}),
    "a folder of no benchmark": (
        lambda tree: tree.entry().rename(tree.entry("resnet50")), {"tree.unknown-benchmark"}
    ),
    "too few runs": (lambda tree: tree.log(4).unlink(), {"entry.run-count"}),
}  # fmt: skip


@pytest.mark.parametrize(("change", "rules"), REJECTING.values(), ids=REJECTING)
def test_what_rejects_is_found(change: Callable[[Tree], object], rules: set[str], tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    change(tree)
    report = check(tree.folder, round="1.0")
    found = {finding.rule for finding in deciding(report)}
    assert found == rules
    assert (report.official is Verdict.ACCEPTED) is (not found)
    waivers = [Waiver(rule=rule, reason="It is known to all.", expires="never") for rule in found]
    assert all(waiver_of(finding, waivers) for finding in deciding(report))
    for left in found:
        others = [waiver for waiver in waivers if waiver.rule != left]
        assert {finding.rule for finding in deciding(report) if not waiver_of(finding, others)} == {left}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
@pytest.mark.parametrize("tree", [p for p in sorted(CORPUS.glob("v[14].[01]/*")) if p.is_dir()], ids=lambda p: p.name)
def test_of_published_packages_the_rejected_ones_have_a_reason_and_the_others_none(tree: Path) -> None:
    report = check(tree)
    assert bool(deciding(report)) is (report.official is not Verdict.ACCEPTED)


#: What a waiver names, and whether it covers too few runs of rack1/resnet.
COVERS = {None: True, "rack1": True, "rack1/resnet": True, "rack1/bert": False, "rack2": False, "resnet": False}


def test_a_waiver_covers_the_entry_or_system_it_names(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.log(4).unlink()
    [finding] = deciding(check(tree.folder))
    for entry, covered in COVERS.items():
        waiver = Waiver(rule="entry.run-count", entry=entry, reason="It is known to all.", expires="never")
        assert (waiver_of(finding, [waiver]) is waiver) is covered, entry
