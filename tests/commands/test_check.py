"""``mlsub check``: options, exit status, hostile input, and that nothing is ever written."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tools.support.make_tree import SYSTEM, make_tree, snapshot, spoil
from tools.support.runner import answer_schema, call, check, run


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


def test_a_compressed_log_is_named_as_gzip_whatever_it_is_called(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    packed = tree.log(0).with_name("a.log.gz")
    packed.write_bytes(gzip.compress(tree.log(0).read_bytes()))
    outcome = check(packed)
    [found] = outcome.of("log.gzip")
    assert (outcome.status, found["severity"], found["path"]) == (0, "warning", "a.log.gz")
    assert found["fix"].startswith("gunzip -c < FILE > NEW")
    assert "log.gzip" in run("check", packed).stdout
    tree.log(1).write_bytes(packed.read_bytes())
    [found] = check(tree.folder).of("log.no-records")
    assert (found["message"], found["actual"]) == (
        "The log is compressed with gzip, in which no tool finds records",
        "gzip",
    )
    assert found["fix"].startswith("gunzip -c < FILE > NEW")
    for command in ("redact", "fix"):
        outcome = run(command, tree.log(1))
        assert (outcome.status, "gzip" in outcome.stdout + outcome.stderr) == (2, True), command
        outcome = run(command, tree.folder)
        assert "gzip" in outcome.stdout + outcome.stderr, command


@pytest.mark.parametrize("name", ["submission.yaml", "acme.yml"])
def test_a_manifest_is_no_log(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manifest = Path(name)
    entries = "[{system: rack1, benchmark: resnet, runs: runs}]"
    manifest.write_text(f"organisation: ACME\nround: '1.0'\nsystems: {{rack1: x.json}}\nentries: {entries}\n")
    for arguments in ([], ["--round", "1.0"]):
        outcome = check(*arguments, manifest)
        [found] = outcome.of("check.no-logs")
        assert (outcome.status, outcome.official) == (2, "not-checked")
        assert (found["message"], found["path"]) == (f"{name} is a manifest, not a log", name)
        assert outcome.stderr.count("\n") <= 1
        assert f"mlsub pack {manifest}" in found["fix"] and f"mlsub status {manifest}" in found["fix"]
    for command in ("score", "review"):
        outcome = run(command, manifest)
        assert (outcome.status, "is a manifest" in outcome.stdout + outcome.stderr) == (2, True), command


@pytest.mark.parametrize(
    ("arguments", "rule", "told", "shown"),
    [
        ([], "check.no-round", "No round was given", ["1.0", "1.1"]),
        (["--round", "1.2"], "check.unknown-round", "There are no rules for training round 1.2", ["1.0", "1.1"]),
        (["--round", "one"], "check.unknown-round", "There are no rules for training round one", ["1.0", "1.1"]),
        (
            ["--usage", "trainng", "--round", "1.0"],
            *("check.unknown-round", "There is no usage trainng", ["training", "rehearsal"]),
        ),
    ],
)
def test_an_unknown_round_is_exit_2_and_names_the_known_ones(
    arguments: list[str], rule: str, told: str, shown: list[str], tmp_path: Path
) -> None:
    outcome = check(*arguments, make_tree(tmp_path, "somewhere").folder)
    assert (outcome.status, outcome.official) == (2, "not-checked")
    finding = outcome.of(rule)[0]
    [line] = outcome.stderr.splitlines()
    assert line.startswith(f"mlsub: {told}")
    assert all(name in finding["expected"] and name in line for name in shown)


def test_what_is_meant_by_an_unknown_rule_ends_as_a_question(tmp_path: Path) -> None:
    outcome = check(make_tree(tmp_path).folder, "--select", "seed.shard")
    assert outcome.status == 2
    assert outcome.stderr.startswith("mlsub: There is no rule 'seed.shard'. Did you mean seed.shared,")
    assert outcome.stderr.endswith("? Pass a rule id, or the beginning of one.\n")


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


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("written", "meant"),
    [("seed.shard", "seed.shared"), ("entry.runcount", "entry.run-count"), ("sead", None), ("", None)],
)
def test_an_unknown_rule_id_is_refused_with_a_did_you_mean(
    option: str, written: str, meant: str | None, tmp_path: Path
) -> None:
    folder = make_tree(tmp_path).folder
    outcome = run("check", option, written, folder)
    assert (outcome.status, outcome.stdout) == (2, "")
    document = run("check", "--format", "json", option, written, folder)
    assert (document.status, document.official) == (2, "not-checked")
    answer_schema("check").validate(document.document)
    assert repr(written) in outcome.stderr
    assert meant is None or f"Did you mean {meant}" in outcome.stderr


def test_strict_counts_neither_nothing_checked_nor_an_official_warning(tmp_path: Path) -> None:
    assert check("--strict", tmp_path / "none").status == 2
    tree = make_tree(tmp_path)
    (tree.entry() / "notes.md").write_text("hello")
    outcome = check("--strict", tree.folder)
    assert (outcome.rules(), outcome.status) == ({"entry.stray-files"}, 0)


@pytest.mark.slow
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


def test_a_log_of_another_round_is_found_by_its_own_folders(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "training_results_v1.1")
    outcome = check(tree.log())
    assert (outcome.report["round"], outcome.report["round_from"]) == ("1.1", "training_results_v1.1")
