"""The plan of a submission: what belongs into it, what stays out, and what cannot be packed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io.folders import assemble
from mlsub.packing.plan import Plan, make_plan
from tools.support.make_tree import make_description
from tools.support.workplace import Workplace, files


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def planned(workplace: Workplace) -> Plan:
    return make_plan(workplace.manifest())


def places(plan: Plan) -> list[str]:
    return [item.to for item in plan.items if not item.to.startswith("results/")]


def told(plan: Plan) -> list[tuple[str, int | None, str | None]]:
    return [(found.rule, found.line, found.actual) for found in plan.findings]


def test_what_tools_leave_behind_stays_out_of_the_code_and_is_told(workplace: Workplace) -> None:
    code = workplace.add_code()
    for name in (".git/config", "__pycache__/train.pyc", ".train.py.swp", "train.py~", "lib/.DS_Store", "lib/util.py"):
        (code / name).parent.mkdir(exist_ok=True)
        (code / name).write_text("")
    plan = planned(workplace)
    folder = "benchmarks/resnet/implementations/mxnet"
    assert places(plan) == [f"{folder}/lib/util.py", f"{folder}/run.sh", f"{folder}/train.py", "systems/rack1.json"]
    assert sorted(Path(left.path).relative_to(code).as_posix() for left in plan.left_out) == [
        ".git",
        ".train.py.swp",
        "__pycache__",
        "lib/.DS_Store",
        "train.py~",
    ]
    assert plan.findings == ()


def test_links_within_the_code_stay_links(workplace: Workplace, tmp_path: Path) -> None:
    code = workplace.add_code()
    (code / "lib").mkdir()
    (code / "lib" / "train.py").symlink_to("../train.py")
    (code / "latest").symlink_to("lib")
    plan = planned(workplace)
    assert plan.sound
    staged = tmp_path / "staged"
    assemble(plan.items, staged)
    folder = staged / "benchmarks/resnet/implementations/mxnet"
    assert os.readlink(folder / "lib" / "train.py") == "../train.py"  # noqa: PTH115
    assert (folder / "latest" / "train.py").read_text() == "print('training')\n"


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../rack1.json", "../mxnet/train.py", "nowhere", "loop", "out/../train.py"]
)
def test_links_that_lead_out_or_nowhere_are_errors(workplace: Workplace, target: str) -> None:
    code = workplace.add_code()
    (code / "out").symlink_to(workplace.folder)
    (code / "loop").symlink_to(target)
    plan = planned(workplace)
    assert not plan.sound
    found = {actual for rule, _, actual in told(plan) if rule == "package.link-escapes"}
    assert f"{code}/loop -> {target}" in found
    assert f"{code}/out -> {workplace.folder}" in found


NOWHERE = {"benchmark": "resnet", "implementation": "x", "folder": "nowhere"}
FAULTS: dict[str, tuple[Callable[[Workplace], object], bool, str, str]] = {
    "a pipe in the code": (lambda w: os.mkfifo(w.add_code() / "pipe"), False, "not-a-file", "code/mxnet/pipe"),
    "a pipe as a log": (
        lambda w: (os.mkfifo(w.folder / "pipe"), w.entry(runs=["pipe"])), False, "not-a-file", "pipe"
    ),
    "no code": (lambda w: w.save(code=[NOWHERE]), True, "code-missing", "nowhere"),
    "no setup": (lambda w: w.entry(setup="no-setup"), True, "code-missing", "no-setup"),
    "no description": (lambda w: w.save(systems={"rack1": "rack2.json"}), False, "source-missing", "rack2.json"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "sound", "rule", "place"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_packed_is_told_and_holds_nothing_up(
    change: Callable[[Workplace], object], sound: bool, rule: str, place: str, workplace: Workplace
) -> None:
    change(workplace)
    plan = planned(workplace)
    assert plan.sound is sound
    found = [(rule, actual) for rule, _, actual in told(plan)]
    assert found == [(f"package.{rule}", f"{workplace.folder}/{place}")]


def test_setup_and_other_files_have_their_places(workplace: Workplace) -> None:
    setup = workplace.folder / "setup"
    setup.mkdir()
    (setup / "README.md").write_text("")
    (workplace.folder / "NOTES").write_text("")
    workplace.entry(setup="setup")
    workplace.save(files=[{"from": "NOTES", "to": "./README.md"}, {"from": "setup", "to": "benchmarks/resnet/docs"}])
    assert places(planned(workplace)) == [
        "README.md",
        "benchmarks/resnet/docs/README.md",
        "benchmarks/resnet/rack1/README.md",
        "systems/rack1.json",
    ]


@pytest.mark.parametrize(
    "to", ["systems/rack1.json", "systems", "systems/rack1.json/more", "results/rack1/resnet/result_0.txt"]
)
def test_a_place_has_one_source(workplace: Workplace, to: str) -> None:
    (workplace.folder / "other").write_text("")
    workplace.save(files=[{"from": "other", "to": to}])
    plan = planned(workplace)
    assert not plan.sound
    assert {rule for rule, _, _ in told(plan)} == {"package.two-sources"}


def test_one_source_may_be_named_twice_for_its_place(workplace: Workplace) -> None:
    workplace.save(files=[{"from": "rack1.json", "to": "systems/rack1.json"}])
    assert planned(workplace).sound


def test_the_division_is_that_of_the_description(workplace: Workplace) -> None:
    workplace.entry(division="open")
    [finding] = planned(workplace).findings
    assert (finding.rule, finding.expected, finding.actual) == ("package.division-differs", "open", "closed")
    assert finding.line == 6
    workplace.entry(division=None)
    assert planned(workplace).findings == ()
    (workplace.folder / "rack1.json").write_text(json.dumps(make_description("Closed")))
    workplace.entry(division="closed")
    assert planned(workplace).findings == ()


def test_a_log_belongs_to_one_entry(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    first = workplace.content["entries"][0]
    second = first | {"system": "rack2", "runs": list(first["runs"])}
    workplace.content["entries"].append(second)
    (tmp_path / "rack2.json").write_text(json.dumps(make_description(system_name="rack2")))
    workplace.save(systems={"rack1": "rack1.json", "rack2": "rack2.json"})
    assert [rule for rule, _, _ in told(planned(workplace))] == ["package.run-twice"] * 5


def test_power_measurements_follow_their_runs(workplace: Workplace, tmp_path: Path) -> None:
    for run in range(5):
        folder = workplace.folder / "power" / f"train-{run}"
        folder.mkdir(parents=True)
        (folder / "node_0.txt").write_text(f"of run {run}\n")
    workplace.entry(power="power")
    plan = planned(workplace)
    assemble(plan.items, tmp_path / "staged")
    there = files(tmp_path / "staged" / "results/rack1/resnet/power")
    # The manifest lists the last run first.
    assert there == {f"result_{n}/node_0.txt": b"of run %d\n" % (4 - n) for n in range(5)}
    (workplace.folder / "power" / "train-2" / "node_0.txt").unlink()
    assert [rule for rule, _, _ in told(planned(workplace))] == ["package.source-missing"]


def test_a_folder_of_too_many_files_is_no_code(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlsub.packing import plan
    from mlsub.submission.listing import list_tree

    code = workplace.add_code()
    for number in range(20):
        (code / f"{number}.py").write_text("")
    monkeypatch.setattr(plan, "list_tree", lambda path: list_tree(path, max_items=10))
    assert [rule for rule, _, _ in told(planned(workplace))] == ["package.not-a-file"]
