"""The JSON document is a contract: its schema holds for every situation, and its numbers mean what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import ValidationError

import mlsub
from mlsub.rules.explain import rule_ids
from tools.support.make_tree import SYSTEM, Log, Tree, make_log, make_tree, spoil
from tools.support.runner import answer_schema, check, run

TOP_LEVEL = {"schema", "mlsub", "command", "reports", "settings"}
REPORT = {"usage", "round", "root", "official", "logs", "entries", "systems", "findings", "hidden"}


def _good(tmp: Path, *words: str, **names: str) -> Path:
    return make_tree(tmp, *words, **names).folder


def _bad(tmp: Path, *words: str, **names: str) -> Path:
    tree = make_tree(tmp, *words, **names)
    spoil(tree, 0, 1)
    return tree.folder


def _hostile(tmp_path: Path) -> list[Path]:
    tree = make_tree(tmp_path)
    tree.log().write_bytes(bytes(range(256)) * 50)
    tree.log(1).write_text(':::MLLOG {"key": "run_start"}\n:::MLLOG ' + "[" * 5000 + "\n")
    tree.edit(lambda log: log.put("run_stop", metadata={"status": ["no", "text"]}, time_ms=1e308), 2)
    tree.edit(lambda log: log.put("submission_benchmark", value={"not": "text"}), 3)
    tree.edit(lambda log: log.put("eval_accuracy", value=float("nan")), 4)
    tree.description().write_text('{"division": 3, "submitter": NaN}')
    return [tree.folder]


SITUATIONS: dict[str, tuple[Callable[[Path], list[Any]], int, str]] = {
    # name: (arguments, exit status, the verdict of each report)
    "accepted": (lambda tmp: [_good(tmp)], 0, "accepted"),
    "open": (lambda tmp: [make_tree(tmp, division="open").folder], 0, "accepted"),
    "rehearsal": (lambda tmp: [make_tree(tmp, "rehearsal-v1.0", benchmarks=["digits"]).folder], 0, "accepted"),
    "single log": (lambda tmp: [make_tree(tmp).log()], 0, "accepted"),
    "system folder": (lambda tmp: [make_tree(tmp).entry().parent], 0, "accepted"),
    "benchmark folder": (lambda tmp: [make_tree(tmp).entry()], 0, "accepted"),
    "folder of organisations": (lambda tmp: [make_tree(tmp).folder.parent], 0, "accepted"),
    "two of one round": (lambda tmp: [_good(tmp), _good(tmp, org="Zeta")], 0, "accepted"),
    "a log and an organisation": (lambda tmp: [make_tree(tmp).log(), _good(tmp, org="Zeta")], 0, "accepted"),
    "two rounds": (lambda tmp: [_good(tmp), _good(tmp, "v1.1")], 0, "accepted accepted"),
    "hostile": (_hostile, 1, "rejected"),
    "one of two bad": (lambda tmp: [_good(tmp), _bad(tmp, "v1.1")], 1, "accepted rejected"),
    "both bad in one round": (lambda tmp: [_bad(tmp), _bad(tmp, org="Zeta")], 1, "rejected"),
    "good and missing": (lambda tmp: [_good(tmp), tmp / "none"], 2, "accepted not-checked"),
    "missing and bad": (lambda tmp: [tmp / "none", _bad(tmp)], 2, "rejected not-checked"),
    "no such path": (lambda tmp: [tmp / "none"], 2, "not-checked"),
    "two missing paths": (lambda tmp: [tmp / "none", tmp / "nothing"], 2, "not-checked not-checked"),
    "empty folder": (lambda tmp: [tmp], 2, "not-checked"),
    "round that is no round": (lambda tmp: [_good(tmp), "--round", "\x1b[31mred"], 2, "not-checked"),
    "round of a folder that is unknown": (lambda tmp: [make_tree(tmp, "v5.1").folder], 2, "not-checked"),
    "hpc": (lambda tmp: [make_tree(tmp, "hpc_results_v3.0").folder], 2, "not-checked"),
    "only an unknown benchmark": (
        lambda tmp: [make_tree(tmp).entry().rename(tmp / "v1.0/ACME/results/rack1/x")],
        2,
        "not-checked",
    ),
    "selected": (lambda tmp: [_good(tmp), "--select", "seed"], 0, "accepted"),
    "not selected and not checked": (lambda tmp: [tmp / "none", "--ignore", "check"], 2, "not-checked"),
    "strict": (lambda tmp: [_good(tmp), "--strict"], 0, "accepted"),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_stdout_is_exactly_one_document_of_the_schema_in_every_situation(situation: str, tmp_path: Path) -> None:
    arguments, status, verdicts = SITUATIONS[situation]
    outcome = check(*arguments(tmp_path))
    assert outcome.status == status
    assert [report["official"] for report in outcome.reports] == verdicts.split()
    assert set(outcome.document) == TOP_LEVEL
    assert all(set(report) >= REPORT for report in outcome.reports)
    unchecked = any(report["official"] == "not-checked" for report in outcome.reports)
    assert bool(outcome.stderr) is unchecked
    assert all(line.startswith("mlsub: ") for line in outcome.stderr.splitlines())


def test_score_writes_the_same_document(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    scored = run("score", "--format", "json", tree.folder)
    answer_schema("score").validate(scored.document)
    assert scored.document == {**check(tree.folder).document, "command": "score"}


def test_the_document_is_plain_ascii_and_ends_in_a_line_feed(tmp_path: Path) -> None:
    text = run("check", "--format", "json", make_tree(tmp_path, org="Møller\udcff\x1b[31m").folder).stdout
    assert text.isascii()
    assert text.endswith("}\n")
    assert all(character.isprintable() or character == "\n" for character in text)


def test_python_gives_the_same_fields_as_typed_attributes(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 1, 2)
    report = mlsub.check(tree.folder, round="1.0")
    document = check("--round", "1.0", tree.folder).report
    assert json.loads(json.dumps(msgspec.to_builtins(report))) == document
    assert report.official == "rejected"
    assert report.entries[0].system == SYSTEM
    assert report.logs[0].minutes == 10.0
    assert report.findings[0].line is not None


def test_paths_are_relative_to_the_root_and_sorted_out_by_organisation(tmp_path: Path) -> None:
    one, two = make_tree(tmp_path), make_tree(tmp_path, org="Zeta")
    document = check(one.folder.parent).report
    assert document["root"] == str(one.folder.parent)
    assert [entry["path"] for entry in document["entries"]] == [
        f"ACME/results/{SYSTEM}/resnet",
        f"Zeta/results/{SYSTEM}/resnet",
    ]
    assert {(system["path"], system["organisation"]) for system in document["systems"]} == {
        (f"ACME/systems/{SYSTEM}.json", "ACME"),
        (f"Zeta/systems/{SYSTEM}.json", "Zeta"),
    }
    alone = check(two.folder).report
    assert alone["root"] == str(two.folder)
    assert alone["logs"][0]["path"] == f"results/{SYSTEM}/resnet/result_0.txt"
    assert alone["logs"][0]["organisation"] == "Zeta"


def test_the_root_of_a_single_log_is_its_folder(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    document = check(tree.log(3)).report
    assert document["root"] == str(tree.entry())
    assert [log["path"] for log in document["logs"]] == ["result_3.txt"]
    assert document["entries"] == document["systems"] == []


def test_every_finding_has_a_known_rule_and_a_path_below_the_root(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    tree.describe(cooling=None, framework="TODO")
    findings = check(tree.folder).findings
    assert len(findings) > 3
    assert all((tree.folder / finding["path"]).exists() for finding in findings)
    assert {finding["rule"] for finding in findings} <= set(rule_ids())


def test_a_log_says_what_it_said_itself(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, division="open")
    tree.edit(lambda log: log.put("run_stop", metadata={"status": "aborted"}))
    log = check(tree.folder).report["logs"][0]
    assert (log["benchmark"], log["division"], log["status"]) == ("resnet", "open", "aborted")
    assert log["official"] == "compliant"


def test_minutes_are_unrounded_doubles(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    start = make_log().records("run_start")[0]["time_ms"]
    tree.edit(lambda log: log.put("run_stop", time_ms=start + 1_234_567))
    assert check(tree.log()).report["logs"][0]["minutes"] == 1_234_567 / 60_000


def test_a_log_without_a_run_interval_has_no_minutes(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.drop("run_stop"))
    document = check(tree.folder).report
    assert document["logs"][0]["minutes"] is None
    assert document["logs"][0]["status"] is None
    # The run counts as slowest; dropped with the fastest (11 minutes) it leaves 12, 13 and 14.
    assert document["entries"][0]["minutes"] == 13.0


def _shape(document: dict[str, Any], *where: Any, value: Any) -> dict[str, Any]:
    copy = json.loads(json.dumps(document))
    inner = copy
    for step in where[:-1]:
        inner = inner[step]
    if value is _GONE:
        del inner[where[-1]]
    else:
        inner[where[-1]] = value
    return copy


_GONE = object()
ONLY = ("reports", 0)
BROKEN: dict[str, tuple[Any, ...]] = {
    "a top-level field gone": (*ONLY, "findings", _GONE),
    "a verdict of its own": (*ONLY, "official", "fine"),
    "accepted without logs": (*ONLY, "logs", []),
    "a round of a longer form": (*ONLY, "round", "v1.0"),
    "a verdict without round": (*ONLY, "round", None),
    "a log's field gone": (*ONLY, "logs", 0, "status", _GONE),
    "a log with the verdict of an entry": (*ONLY, "logs", 0, "official", "accepted"),
    "minutes as text": (*ONLY, "logs", 0, "minutes", "10.0"),
    "an entry's field gone": (*ONLY, "entries", 0, "scaling_type", _GONE),
    "an unknown scaling type": (*ONLY, "entries", 0, "scaling_type", "medium"),
    "a negative count": (*ONLY, "entries", 0, "runs", -1),
    "a system's field gone": (*ONLY, "systems", 0, "organisation", _GONE),
    "an absolute path": (*ONLY, "systems", 0, "path", "/etc/passwd"),
    "a line counted from 0": (*ONLY, "findings", 0, "line", 0),
    "a finding's field gone": (*ONLY, "findings", 0, "fix", _GONE),
    "an unknown severity": (*ONLY, "findings", 0, "severity", "fatal"),
    "a review finding that blocks": (*ONLY, "findings", 0, "blocks", "both"),
    "a field of the envelope gone": ("mlsub", _GONE),
    "the number of another schema": ("schema", 0),
    "a report without a list": ("reports", {}),
    "no report": ("reports", []),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_schema_refuses_what_breaks_the_contract(name: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(cooling="TODO")
    document = check(tree.folder).document
    *where, value = BROKEN[name]
    with pytest.raises(ValidationError):
        answer_schema("check").validate(_shape(document, *where, value=value))


def test_the_schema_allows_fields_that_come_later(tmp_path: Path) -> None:
    document = check(make_tree(tmp_path).folder).document
    answer_schema("check").validate({**document, "cost": 1})
    answer_schema("check").validate(_shape(document, *ONLY, "entries", 0, "samples", value=5))


def test_a_lone_benchmark_folder_is_its_own_root(tmp_path: Path) -> None:
    folder = Tree(tmp_path / "v1.0" / "ACME").add_entry().rename(tmp_path / "resnet")
    document = check("--round", "1.0", folder).report
    assert document["root"] == str(folder)
    assert document["entries"][0]["path"] == "."
    assert document["entries"][0]["division"] == "closed"
    assert Log.read(folder / document["logs"][0]["path"]).records("run_stop")
