"""``mlsub check``: options, exit status, hostile input, and that nothing is ever written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.support.make_tree import SYSTEM, make_tree, snapshot, spoil
from tools.support.runner import call, check, run


@pytest.mark.parametrize(
    ("folder", "arguments", "round_"),
    [
        *(("somewhere", ("--round", written), "1.0") for written in ("1.0", "1.0.0", "v1.0")),
        ("somewhere", ("--usage", "training", "--round", "1.0"), "1.0"),
        ("v1.0", ("--round", "1.1"), "1.1"),
    ],
)
def test_a_round_may_be_given_and_goes_before_the_folders(
    folder: str, arguments: tuple[str, ...], round_: str, tmp_path: Path
) -> None:
    outcome = check(*arguments, make_tree(tmp_path, folder).folder)
    assert outcome.status == 0
    assert [outcome.report[name] for name in ("usage", "round", "round_from")] == ["training", round_, None]


@pytest.mark.parametrize(
    ("arguments", "rule", "shown"),
    [
        ([], "check.no-round", ["1.0", "1.1"]),
        (["--round", "1.2"], "check.unknown-round", ["1.0", "1.1"]),
        (["--round", "one"], "check.unknown-round", ["1.0", "1.1"]),
        (["--usage", "trainng", "--round", "1.0"], "check.unknown-round", ["training", "rehearsal"]),
    ],
)
def test_an_unknown_round_is_exit_2_and_names_the_known_ones(
    arguments: list[str], rule: str, shown: list[str], tmp_path: Path
) -> None:
    outcome = check(*arguments, make_tree(tmp_path, "somewhere").folder)
    assert (outcome.status, outcome.official) == (2, "not-checked")
    finding = outcome.of(rule)[0]
    assert all(name in finding["expected"] for name in shown)


def test_a_misspelt_path_gets_a_did_you_mean(tmp_path: Path) -> None:
    folder = make_tree(tmp_path).folder
    outcome = check(folder.with_name("ACMF"))
    assert outcome.status == 2
    assert outcome.of("check.no-such-path")[0]["fix"] == f"Did you mean {folder}?"


# Several PATHs: how each is named, exit status, verdicts of the reports.
SEVERAL: dict[str, tuple[Callable[[Path], list[Path]], int, list[str]]] = {
    "two of one round": (lambda tmp: [_good(tmp), _good(tmp, org="Zeta")], 0, ["accepted"]),
    "two of two rounds": (lambda tmp: [_good(tmp), _good(tmp, "v1.1")], 0, ["accepted", "accepted"]),
    "one of them bad": (lambda tmp: [_good(tmp), _bad(tmp, "v1.1")], 1, ["accepted", "rejected"]),
    "both bad in one round": (lambda tmp: [_bad(tmp), _bad(tmp, org="Zeta")], 1, ["rejected"]),
    "a good one and none": (lambda tmp: [_good(tmp), tmp / "none"], 2, ["accepted", "not-checked"]),
    "none and a bad one": (lambda tmp: [tmp / "none", _bad(tmp)], 2, ["rejected", "not-checked"]),
    "none that exists": (lambda tmp: [tmp / "none", tmp / "nil"], 2, ["not-checked", "not-checked"]),
    "a log and an organisation": (lambda tmp: [make_tree(tmp).log(), _good(tmp, org="Zeta")], 0, ["accepted"]),
}


def _good(*words: Any, **names: str) -> Path:
    return make_tree(*words, **names).folder


def _bad(*words: Any, **names: str) -> Path:
    tree = make_tree(*words, **names)
    spoil(tree, 0, 1)
    return tree.folder


@pytest.mark.parametrize("name", SEVERAL)
def test_several_paths_are_one_answer(name: str, tmp_path: Path) -> None:
    paths, status, verdicts = SEVERAL[name]
    outcome = check(*paths(tmp_path))
    assert outcome.status == status
    assert [report["official"] for report in outcome.reports] == verdicts


@pytest.mark.parametrize("again", [".", "..", "results/rack1/resnet", "results/rack1"])
def test_what_is_named_twice_is_reported_once(again: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    outcome = check(tree.folder, tree.folder / again)
    assert (outcome.status, outcome.rules()) == (0, set())
    assert [len(outcome.report[name]) for name in ("entries", "logs", "systems")] == [1, 5, 1]
    outcome = check(tree.log(), tree.log())
    assert (len(outcome.report["logs"]), outcome.rules()) == (1, set())


@pytest.mark.parametrize(
    ("start", "argument"),
    [
        ("", "."),
        ("", "results"),
        ("", f"results/{SYSTEM}"),
        ("", f"./results/{SYSTEM}/resnet/"),
        ("results", ".."),
        ("results", "../../ACME"),
        (f"results/{SYSTEM}", ".."),
        (f"results/{SYSTEM}", "../.."),
        (f"results/{SYSTEM}/resnet", "."),
        (f"results/{SYSTEM}/resnet", ".."),
        (f"results/{SYSTEM}/resnet", "../../../../ACME"),
        ("systems", "../results"),
    ],
)
def test_a_relative_path_is_the_same_as_the_absolute_one(
    start: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_tree(tmp_path)
    monkeypatch.chdir(tree.folder / start)
    absolute = Path(os.path.normpath(tree.folder / start / argument))
    assert check(argument).report == check(absolute).report
    assert check(argument).report["entries"][0]["organisation"] == "ACME"


def test_select_and_ignore_choose_what_is_shown_and_never_the_verdict(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    tree.describe(cooling="TODO")
    everything = check(tree.folder)
    assert everything.rules() == {"key.eval_accuracy.target", "entry.noncompliant-runs", "system.placeholder"}
    for arguments, shown in [
        (["--select", "system"], {"system.placeholder"}),
        (["--select", "key.eval_accuracy"], {"key.eval_accuracy.target"}),
        (
            ["--select", "entry.noncompliant-runs", "--select", "system."],
            {"entry.noncompliant-runs", "system.placeholder"},
        ),
        (["--ignore", "key", "--ignore", "entry"], {"system.placeholder"}),
        (["--select", "system.place"], {"system.placeholder"}),
        (["--select", "key", "--ignore", "key.eval_accuracy"], set()),
    ]:
        outcome = check(*arguments, tree.folder)
        assert outcome.rules() == shown
        assert (outcome.status, outcome.official) == (1, "rejected")
        assert outcome.report["entries"] == everything.report["entries"]


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("written", "meant"),
    [("seed.shard", "seed.shared"), ("entry.runcount", "entry.run-count"), ("sead", None), ("", None)],
)
def test_an_unknown_rule_id_is_refused_with_a_did_you_mean(
    option: str, written: str, meant: str | None, tmp_path: Path
) -> None:
    outcome = run("check", option, written, make_tree(tmp_path).folder)
    assert outcome.status == 2
    assert repr(written) in outcome.stderr
    assert meant is None or f"Did you mean {meant}" in outcome.stderr


def test_strict_makes_audit_findings_count(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    assert check("--strict", tree.folder).status == 0
    tree.describe(cooling="TODO")
    assert check(tree.folder).status == 0
    strict = check("--strict", tree.folder)
    assert (strict.status, strict.official) == (1, "accepted")
    assert check("--strict", "--ignore", "system.placeholder", tree.folder).status == 0


def test_strict_counts_neither_nothing_checked_nor_an_official_warning(tmp_path: Path) -> None:
    assert check("--strict", tmp_path / "none").status == 2
    tree = make_tree(tmp_path)
    (tree.entry() / "notes.md").write_text("hello")
    outcome = check("--strict", tree.folder)
    assert (outcome.rules(), outcome.status) == ({"entry.stray-files"}, 0)


def test_nothing_under_the_tree_is_written(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    spoil(tree, 0, 1)
    before = snapshot(tmp_path)
    for arguments in (["check"], ["check", "--format", "json"], ["check", "--jobs", "2"], ["score"]):
        for path in (tree.folder, tree.folder.parent, tree.entry(), tree.log()):
            run(*arguments, path)
    assert snapshot(tmp_path) == before


@pytest.mark.slow
def test_the_process_itself_ends_with_the_exit_status(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    assert call("check", tree.folder).returncode == 0
    spoil(tree, 0, 1)
    rejected = call("check", "--format", "json", tree.folder)
    assert rejected.returncode == 1
    assert json.loads(rejected.stdout)["reports"][0]["official"] == "rejected"
    missing = call("check", "--format", "json", tmp_path / "none")
    assert missing.returncode == 2
    assert json.loads(missing.stdout)["reports"][0]["official"] == "not-checked"
    assert rejected.stderr == ""
    assert missing.stderr.startswith("mlsub: There is no ")


def test_no_path_at_all_is_exit_2() -> None:
    outcome = run("check")
    assert outcome.status == 2
    assert "PATH" in outcome.stderr


def test_a_log_of_another_round_is_found_by_its_own_folders(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "training_results_v1.1")
    outcome = check(tree.log())
    assert (outcome.report["round"], outcome.report["round_from"]) == ("1.1", "training_results_v1.1")
