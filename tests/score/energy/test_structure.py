"""Names and numbers of power files: what counts, whom the official checker names, and what it does not see."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.findings import Finding, Kind
from mlsub.score.energy.findings import find_faulted, judge_structure
from mlsub.score.energy.score import RunPower
from tools.support.power_folders import SECONDS, judged, make_entry, node_log, rules, switch_log

GOOD = node_log([1000 + n % 7 for n in range(SECONDS + 1)])


def runs_of(*names: str | None) -> list[RunPower]:
    """Runs with these files, by names apart by blanks; None for one without a folder."""
    return [
        RunPower(f"result_{n}", f"power/result_{n}", there=text is not None, names=tuple(sorted((text or "").split())))
        for n, text in enumerate(names)
    ]


def told(*names: str | None, checked: bool = True) -> list[tuple[str, str, str | None]]:
    return [(f.rule, f.path[-1], f.actual) for f in judge_structure(runs_of(*names), checked=checked)]


TWO = "node_0.txt node_1.txt sw_0.txt"


def test_equal_runs_have_no_fault() -> None:
    assert told(TWO, TWO, TWO) == []
    assert find_faulted(runs_of(TWO, TWO, TWO)) == frozenset()


FAULTS: dict[str, tuple[tuple[str | None, ...], list[tuple[str, str, str | None]], set[int]]] = {
    "missing": ((TWO, None, TWO), [("power.missing", "1", None)], {1}),
    "from 1": (("node_1.txt",) * 2, [("power.names", "0", "node_1.txt"), ("power.names", "1", "node_1.txt")], {0, 1}),
    "no number": ((TWO, TWO.replace("node_1", "node_x"), TWO), [("power.names", "1", "node_0.txt, node_x.txt")], {1}),
    "one node less": ((TWO, TWO, "node_0.txt sw_0.txt"), [("power.unequal", "2", "1")], {2}),
    "one switch more": ((TWO, TWO, f"{TWO} sw_1.txt"), [("power.unequal", "2", "2")], {2}),
    "the first number wins a tie": (("node_0.txt", TWO.replace(" sw_0.txt", "")), [("power.unequal", "1", "2")], {1}),
    "none has a folder": ((None, None), [("power.missing", "0", None), ("power.missing", "1", None)], {0, 1}),
    "no runs": ((), [], set()),
    "the wrong run is named": (
        (TWO, None, TWO, "node_0.txt sw_0.txt", TWO),
        [("power.missing", "1", None), ("power.unequal", "3", "1; the official checker counts result_2 for it")],
        {1, 2},
    ),
    "the missing run is named": (
        (None, "node_0.txt sw_0.txt", TWO, TWO),
        [("power.missing", "0", None), ("power.unequal", "1", "1; the official checker counts result_0 for it")],
        {0},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_counts(name: str) -> None:
    names, findings, faulted = FAULTS[name]
    assert told(*names) == findings
    assert find_faulted(runs_of(*names)) == {f"result_{n}" for n in faulted}


def found(*names: str | None, checked: bool) -> list[Finding]:
    return list(judge_structure(runs_of(*names), checked=checked))


def test_unchecked_faults_are_for_the_auditor() -> None:
    official, audit = (found(TWO, None, "node_1.txt sw_0.txt", checked=checked) for checked in (True, False))
    assert [f.rule for f in official] == [f.rule for f in audit] == ["power.missing", "power.names", "power.unequal"]
    assert [f.rejects for f in official] == [True] * 3
    assert [(f.kind, f.rejects) for f in audit] == [(Kind.REVIEW, False)] * 3


@pytest.mark.parametrize(
    ("names", "actual"),
    [
        ("node_1.txt nodes_1_to_1.png", "node_1.txt"),
        ("node_0.txt node_00.txt", "node_0.txt, node_00.txt"),
        ("node_0.txt sw_1.txt switch_0.doc", "sw_1.txt"),
    ],
)
def test_numbers_that_the_official_checker_does_not_see_are_for_the_auditor(names: str, actual: str) -> None:
    assert find_faulted(runs_of(names, names)) == frozenset()
    hidden = [f for f in found(names, names, checked=True) if f.rule == "power.names"]
    assert [(f.path[-1], f.actual, f.kind, f.rejects) for f in hidden] == [
        ("0", actual, Kind.REVIEW, False),
        ("1", actual, Kind.REVIEW, False),
    ]
    assert all("does not see it" in f.message for f in hidden)


@pytest.mark.parametrize(
    ("names", "actual"),
    [
        ("node_0.txt notes.md", "notes.md"),
        ("node_0.txt node_1.png", "node_1.png; the official checker counts 1 as measurements"),
        ("node_0.txt a b c d e f", "a, b, c, d, e, …"),
    ],
)
def test_other_files_are_told(names: str, actual: str) -> None:
    (stray,) = [f for f in found(names, checked=True) if f.rule == "power.strays"]
    assert (stray.actual, stray.kind) == (actual, Kind.REVIEW)


@pytest.mark.parametrize(("round_name", "kind", "faulted"), [("4.1", "review", 0), ("5.0", "official", 1)])
def test_structure_counts_from_v50_on(round_name: str, kind: str, faulted: int, tmp_path: Path) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [None] + [{"node_0.txt": node_log([n + 1] * 61)} for n in range(4)])
    power = judged(folder, round_name)
    (one,) = power.findings
    assert (one.rule, one.kind, one.expected) == ("power.missing", kind, "power/result_0/node_0.txt")
    assert len(power.faulted) == faulted


def test_a_file_in_place_of_the_folder_faults_every_run(tmp_path: Path) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [None] * 5)
    (folder / "power").rmdir()
    (folder / "power").write_text("")
    power = judged(folder)
    assert (rules(power), len(power.faulted)) == (["power.missing"] * 5, 5)


def test_a_file_in_place_of_the_folder_of_a_run_ends_the_official_checker(tmp_path: Path) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [{"node_0.txt": GOOD}, None])
    (folder / "power" / "result_1").write_text("")
    [found] = judged(folder).crashes
    assert (found.path, found.actual) == ("power/result_1", "It is not a folder")


@pytest.mark.parametrize("target", ["gone", "power"])
def test_a_link_that_leads_nowhere_is_told_and_faults_nothing_as_the_official_checker_has_it(
    target: str, tmp_path: Path
) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [None] * 5)
    (folder / "power").rmdir()
    (folder / "power").symlink_to(folder / target)
    power = judged(folder)
    assert (rules(power), power.faulted, power.joules) == (["power.unreadable"], frozenset(), (None,) * 5)


def test_a_measurement_of_no_result_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [{"node_0.txt": node_log([n + 1] * 61)} for n in range(5)])
    (folder / "power" / ".hidden").write_text("")
    assert rules(judged(folder)) == []
    (folder / "power" / "result_7").mkdir()
    power = judged(folder)
    assert [(f.rule, f.path, f.actual) for f in power.findings] == [("power.strays", "power", "result_7")]


def test_a_name_with_two_dots_has_two_folders_in_the_official_tools(tmp_path: Path) -> None:
    """The checker looks for ``result_0.a``, the summarizer for ``result_0``."""
    folder = tmp_path / "system" / "resnet"
    make_entry(folder, [{"node_0.txt": GOOD, "sw_0.txt": switch_log(1)}])
    (folder / "result_0.txt").rename(folder / "result_0.a.txt")
    power = judged(folder)
    assert power.faulted == {"result_0.a.txt"}
    assert power.joules[0] is not None
    (folder / "power" / "result_0").rename(folder / "power" / "result_0.a")
    power = judged(folder)
    assert (power.faulted, power.joules[0], rules(power)) == (frozenset(), None, ["power.no-energy"])
