"""The verdict line says what rejects, whatever PATH is."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.support.make_tree import HOUSE, Tree, make_tree, spoil
from tools.support.runner import check, run


def _forgiven_and_short(tree: Tree) -> None:
    """Of two organisations one has a run that is forgiven, and the other one too few."""
    spoil(tree, 0)
    make_tree(tree.folder.parents[1], org="Zeta").log(4).unlink()


def _forgiven_and_shared(tree: Tree) -> None:
    spoil(tree, 0)
    tree.edit(lambda log: log.put("seed", value=1003), 2)


GOOD = "5 of 5 logs compliant, 1 of 1 system descriptions accepted"
RUN_MISSING = (
    "rejected: 1 of 1 entries rejected (entry.run-count); 4 of 4 logs compliant, 1 of 1 system descriptions accepted"
)
#: What is done to a package, what of it is checked, and the whole verdict line.
CASES: dict[str, tuple[Callable[[Tree], object], str, str]] = {
    "a clean package": (lambda tree: None, ".", f"accepted: 1 of 1 entries accepted, {GOOD}"),
    "a forgiven run": (
        lambda tree: spoil(tree, 0), ".",
        "accepted: 1 of 1 entries accepted, 4 of 5 logs compliant, 1 of 1 system descriptions accepted",
    ),
    **{
        f"a run is missing from {below}": (lambda tree: tree.log(4).unlink(), below, RUN_MISSING)
        for below in (".", "results/rack1/resnet", "results/rack1")
    },
    "the description": (
        lambda tree: tree.describe(cooling=None, framework=15), ".",
        "rejected: 1 of 1 system descriptions rejected (system.field-missing, system.field-not-text); "
        "1 of 1 entries accepted, 5 of 5 logs compliant",
    ),
    "a folder that is not a benchmark's": (
        lambda tree: tree.entry("resnet50").mkdir(), ".",
        f"rejected: 1 error in the package (tree.unknown-benchmark); 1 of 1 entries accepted, {GOOD}",
    ),
    "no description": (
        lambda tree: tree.description().unlink(), ".",
        "rejected: 1 of 1 entries rejected, 1 error in the package (tree.system-description-missing); "
        "5 of 5 logs compliant",
    ),
    "too many runs that do not comply": (
        lambda tree: spoil(tree, 0, 1), ".",
        "rejected: 1 of 1 entries rejected (key.eval_accuracy.target, entry.noncompliant-runs); "
        "3 of 5 logs compliant, 1 of 1 system descriptions accepted",
    ),
    "a forgiven run beside what rejects": (
        _forgiven_and_shared, ".",
        "rejected: 1 of 1 entries rejected (seed.shared); 4 of 5 logs compliant, 1 of 1 system descriptions accepted",
    ),
    "a log": (
        lambda tree: spoil(tree, 0), "results/rack1/resnet/result_0.txt",
        "rejected: 1 of 1 logs noncompliant (key.eval_accuracy.target)",
    ),
    "one of two organisations": (
        _forgiven_and_short, "..",
        "rejected: 1 of 2 organisations (Zeta): 1 of 2 entries rejected (entry.run-count); "
        "8 of 9 logs compliant, 2 of 2 system descriptions accepted",
    ),
    "an organisation without anything": (
        lambda tree: tree.folder.with_name("Zeta").mkdir(), "..",
        "rejected: 1 of 2 organisations (Zeta): 2 errors in the package (tree.results-missing, tree.systems-missing); "
        f"1 of 1 entries accepted, {GOOD}",
    ),
    "seven organisations without anything": (
        lambda tree: [tree.folder.with_name(f"Z{number}").mkdir() for number in range(7)], "..",
        "rejected: 7 of 8 organisations (Z0, Z1, Z2, Z3, Z4, Z5, Z6): 14 errors in the package "
        f"(tree.results-missing, tree.systems-missing); 1 of 1 entries accepted, {GOOD}",
    ),
    "no round": (
        lambda tree: tree.folder.parent.rename(tree.folder.parents[1] / "somewhere"), "../../somewhere/ACME",
        "not-checked: nothing could be checked",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_line_says_what_rejects(name: str, tmp_path: Path) -> None:
    change, below, expected = CASES[name]
    tree = make_tree(tmp_path)
    change(tree)
    folder = os.path.normpath(tree.folder / below)
    quiet, usual = run("check", "-q", folder), run("check", folder)
    assert " ".join(quiet.stdout.split()) == expected
    assert " ".join(usual.stdout.split()).endswith(f" {expected}")
    assert quiet.status == usual.status == {"accepted": 0, "rejected": 1, "not-checked": 2}[expected.partition(":")[0]]
    assert (quiet.stderr != "") is expected.startswith("not-checked")


def test_several_rounds_are_a_line_each(tmp_path: Path) -> None:
    good, bad = make_tree(tmp_path, division="open"), make_tree(tmp_path, "v1.1", division="open")
    bad.log(4).unlink()
    outcome = run("check", "--quiet", good.folder, bad.folder, tmp_path / "none")
    assert outcome.status == 2
    lines = " ".join(outcome.stdout.split()).split(" - ")
    assert [line.removeprefix("- ").split(": ")[:2] for line in lines] == [
        [str(good.folder), "accepted"], [str(bad.folder), "rejected"], [str(tmp_path), "not-checked"]
    ]  # fmt: skip
    assert "There is no" in outcome.stderr


def test_what_makes_an_accepted_package_end_with_1_is_said(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(cooling="TODO")
    rules = tmp_path / "house.yaml"
    rules.write_text('title: ours\ncommon:\n  "1.0":\n    both:\n      seed: {occurs: exactly_one, above: 1001}\n')
    end = "1 of 1 system descriptions accepted"
    for words, why in {
        ("--strict",): "; --fail-on warning counts 1 review finding",
        ("--rules", rules): "; against your own rules: 1 error",
        ("--rules", rules, "--strict"): "; against your own rules: 1 error, --fail-on warning counts 1 review finding",
        ("--rules", rules, "--ignore", "house", "--ignore", "system"): "",
        ("--strict", "--only", "official"): "",
        ("--strict", "--severity", "error"): "; --fail-on warning counts 1 review finding",
        ("--strict", "--ignore", "system.placeholder"): "",
    }.items():
        outcome = run("check", "-q", *words, tree.folder)
        assert (outcome.status, " ".join(outcome.stdout.split()).partition(end)[2]) == (int(bool(why)), why)


def test_runs_that_are_forgiven_are_not_to_be_fixed(tmp_path: Path) -> None:
    _forgiven_and_short(make_tree(tmp_path))
    text = run("check", "-v", tmp_path / "v1.0").stdout
    first, _, rest = text.partition("\nOfficial warnings: 2 findings\n")
    assert "To fix: 1 finding " in first
    assert "[key.eval_accuracy.target]" not in first
    assert "forgiven error: No eval_accuracy reaches the quality target" in rest
    # So formats of CI have it.
    results = run("check", "--format", "sarif", tmp_path / "v1.0").document["runs"][0]["results"]
    outcomes = {one["ruleId"]: one["properties"]["outcome"] for one in results}
    assert outcomes["entry.run-count"] == "counts"
    assert "counts" not in {outcomes["key.eval_accuracy.target"], outcomes["entry.forgiven-runs"]}


# A verdict that files of one's own made says so.

OWN = "accepted by reference points of r.json: 1 of 1 entries accepted"
BOTH = "accepted by reference points of r.json and rules of ours.yaml"
#: A call, and what is in each form of its answer; the settings file is above the package.
FORMS: dict[tuple[str, ...], str] = {
    **{("check", *level): OWN for level in ((), ("-q",), ("--summary",), ("-v",), ("--select", "seed"))},
    **{("check", *level, "--rules", "ours.yaml"): BOTH for level in ((), ("-q",), ("--summary",), ("-v",))},
    **{("check", *level, "--format", "markdown"): OWN for level in (("-q",), ("-v",))},
    ("check", "-q", "--format", "html"): OWN.replace("accepted", '<span class="good">accepted</span>', 1),
    ("check", "-q", "v1.0/ACME", "none"): "ACME: accepted by reference points of r.json: 1 of 1 entries",
    ("check", "v1.0/ACME", "none"): "ACME: accepted by reference points of r.json; none: not-checked",
    ("check", "--format", "junit"): "(training v1.0 by reference points of r.json)",
    (
        "check",
        "--format",
        "sarif",
        "--rules",
        "ours.yaml",
    ): "v1.0 by reference points of r.json and rules of ours.yaml)",
    ("score",): "1 of 1 system descriptions accepted; by reference points of r.json",
    ("score", "--rules", "ours.yaml"): "descriptions accepted; by reference points of r.json and rules of ours.yaml",
    ("watch", "v1.0/ACME/results/rack1/resnet/result_0.txt", "--rules", "ours.yaml"): (
        "accepted by the official rules and rules of ours.yaml: 1 of 1 logs compliant"
    ),
    ("rcp", "margin"): "1 entry compared with a reference by reference points of r.json: 1 pass",
}


@pytest.fixture
def too_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A package that only the reference points of a settings file above it accept."""
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 20}), *range(5))
    point = {"Benchmark": "resnet", "BS": 3200, "Hyperparams": {}, "Epochs to converge": [20, 20, 20, 20, 21] * 2}
    (tmp_path / "r.json").write_text(json.dumps({"own_3200": point}))
    (tmp_path / "mlsub.toml").write_text('rcp = "r.json"\n')
    (tmp_path / "ours.yaml").write_text(HOUSE.replace("acme_ticket: {occurs: exactly_one}", "seed: {occurs: any}"))
    monkeypatch.chdir(tmp_path)
    return tree


@pytest.mark.parametrize("words", FORMS, ids=" ".join)
def test_a_verdict_by_files_of_ones_own_says_so(words: tuple[str, ...], too_fast: Tree) -> None:
    paths = () if any("v1.0" in word for word in words) else ("v1.0/ACME",)
    assert run("check", "-q", "--isolated", "v1.0/ACME").stdout.startswith(
        "rejected: 1 of 1 entries rejected (rcp.too-fast)"
    )
    said = run(*words, *paths)
    assert " ".join(FORMS[words].split()) in " ".join(said.stdout.split()), said.stdout


def test_machines_read_which_files_of_ones_own_count(too_fast: Tree) -> None:
    for command in ("check", "score"):
        usual, own, both = (
            run(command, "v1.0/ACME", "--format", "json", *words).document["reports"][0]
            for words in (("--isolated",), (), ("--rules", "ours.yaml"))
        )
        files = [(one["official"], one["rcp_file"], one["rules_file"]) for one in (usual, own, both)]
        accepted = "accepted"
        assert files == [("rejected", None, None), (accepted, "r.json", None), (accepted, "r.json", "ours.yaml")]


def test_reference_points_of_another_benchmark_are_not_named(too_fast: Tree) -> None:
    Path("ssd.json").write_text(Path("r.json").read_text().replace("resnet", "ssd"))
    Path("mlsub.toml").write_text('rcp = "ssd.json"\n')
    assert run("check", "-q", "v1.0/ACME").stdout.startswith("rejected: 1 of 1 entries rejected (rcp.too-fast)")
    outcome = run("check", "-q", "v1.0/ACME", "--rules", "ours.yaml").stdout
    assert outcome.startswith("rejected by the official rules and rules of ours.yaml: ")


# What a folder above is called never changes what is tested of the logs below it.


@pytest.mark.parametrize("bad", [0, 1, 2])
@pytest.mark.parametrize("inside", ["{}/rack1/resnet", "{}/resnet", "{}"])
def test_loose_logs_are_tested_alike_in_results_and_elsewhere(inside: str, bad: int, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "source")
    spoil(tree, *range(bad))
    answers = []
    for name in ("runs", "results"):
        folder = tmp_path / inside.format(name)
        shutil.copytree(tree.entry(), folder)
        outcome = check(folder, "--round", "1.0")
        [entry] = outcome.report["entries"]
        assert entry["division"] == "closed"
        facts = {key: entry[key] for key in ("official", "runs", "compliant", "converged", "rcp", "minutes")}
        answers.append((outcome.status, outcome.official, facts, outcome.rules()))
    assert answers[0] == answers[1]
    assert answers[0][0] == int(bad > 1)


def test_below_an_organisation_they_are_a_part_of_it(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    outcome = check(tree.entry())
    assert (outcome.status, outcome.errors()) == (1, {"tree.system-description-missing"})
    assert outcome.report["entries"][0]["division"] == "closed"


def test_a_folder_of_figures_beside_the_logs_hides_none(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "source")
    folder = tmp_path / "runs" / "resnet"
    shutil.copytree(tree.entry(), folder)
    (folder / "results").mkdir()
    assert len(check(folder, "--round", "1.0").report["logs"]) == 5
