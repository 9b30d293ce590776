"""Rule files of the user's own, as a user meets them: house rules, and a round that does not exist yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlsub.divisions import CLOSED
from mlsub.io.problems import FileProblemsError
from mlsub.log.event import Event
from mlsub.rounds import get_round
from mlsub.rules.engine import Judge, LogOutcome, compiled_rules, excused, findings_of
from mlsub.rules.load import entry_requirements, rules_for
from mlsub.rules.overlay import check_overlay
from tests.counted import growth
from tools.oracle.generate import Combination
from tools.oracle.log import generated
from tools.support.make_tree import make_description, make_tree
from tools.support.runner import run

HOUSE, NEXT = (Path(__file__).with_name(name) for name in ("house.yaml", "next.yaml"))


def test_house_rules_bind_beside_the_official_ones_and_leave_the_verdict(tmp_path: Path) -> None:
    tree = make_tree(tmp_path).folder
    before = run("check", str(tree), "--format", "json").report
    answer = run("check", str(tree), "--rules", HOUSE, "--format", "json")
    report = answer.report
    assert answer.status == 1
    assert report["official"] == before["official"] == "accepted"
    own = [finding for finding in report["findings"] if finding["kind"] == "house"]
    assert {finding["rule"] for finding in own} >= {"house.acme_ticket.count", "house.acme_second.count"}
    assert {finding["blocks"] for finding in own} == {"none"}
    assert {finding["source"].split(",")[0] for finding in own} == {"House rules of ACME"}
    assert [f for f in report["findings"] if f["kind"] != "house"] == before["findings"]


def test_house_rules_are_inherited_changed_and_lifted() -> None:
    overlay = check_overlay(HOUSE)

    def keys(round_name: str, name: str) -> set[str]:
        return {rule.key for rule in rules_for("training", round_name, "closed", name, overlay, house=True).rules}

    assert keys("0.6", "resnet") == set()
    assert keys("0.7", "resnet") == {"acme_ticket"}
    assert keys("1.1", "resnet") == {"acme_ticket", "acme_second", "global_batch_size"}
    assert keys("2.1", "bert") == {"acme_second"}
    assert keys("6.1", "llama31_8b") == {"acme_second"}


def test_a_round_to_come_inherits_and_changes() -> None:
    overlay = check_overlay(NEXT)
    round_ = get_round("training", "99.0", overlay)
    last = get_round("training", "6.1")
    assert (round_.benchmarks, round_.seeds) == (("bert", "newthing"), "optional")
    assert round_.empty_folder_ignored == last.empty_folder_ignored
    assert entry_requirements("training", "99.0", "newthing", overlay).runs == 3
    assert entry_requirements("training", "99.1", "newthing", overlay).runs == 4
    assert entry_requirements("training", "99.0", "bert", overlay).runs == 10
    keys = {rule.key: rule for rule in rules_for("training", "99.1", "closed", "newthing", overlay).rules}
    assert {"power_cap_watts", "micro_batch_size", "run_start"} <= set(keys)
    assert keys["eval_accuracy"].reaches[0].words() == "at least 0.5"
    assert "power_cap_watts" not in {rule.key for rule in rules_for("training", "6.1", "closed", "flux1").rules}


def tree_of_the_round_to_come(folder: Path) -> Path:
    """An organisation with a Closed entry of the new benchmark: logs as of 6.1, with what 99.0 adds."""
    organisation = folder / "results_of_next" / "ACME"
    entry = organisation / "results" / "rack1" / "newthing"
    entry.mkdir(parents=True)
    (organisation / "systems").mkdir()
    description = make_description("closed", system_name="rack1", status="Preview")
    (organisation / "systems" / "rack1.json").write_text(json.dumps(description))
    log = generated(Combination("6.1", "dlrmv4", "closed", None))
    for key, value in (("submission_benchmark", "newthing"), ("global_batch_size", 64)):
        log = log.altered(log.places(key), value=value)
    for key, value in (("power_cap_watts", 700), ("seed", 1)):
        log = log.inserted(8, log.like(0, key=key, value=value))
    for number in range(3):
        own_seed = b'"value": %d,' % (number + 1)
        (entry / f"result_{number}.txt").write_bytes(log.content().replace(b'"value": 1,', own_seed))
    return organisation


def test_a_made_up_round_is_judged_by_data_alone(tmp_path: Path) -> None:
    tree = tree_of_the_round_to_come(tmp_path)
    answer = run("check", str(tree), "--round", "99.0", "--rules", NEXT, "--format", "json")
    document = answer.report
    assert (answer.status, document["official"], document["round"]) == (0, "accepted", "99.0"), answer.stdout
    log = tree / "results" / "rack1" / "newthing" / "result_0.txt"
    log.write_text(log.read_text().replace("power_cap_watts", "power_cap"))
    answer = run("check", str(log), "--round", "99.0", "--rules", NEXT, "--format", "json")
    found = [f for f in answer.report["findings"] if f["severity"] == "error"]
    assert [(f["rule"], f["kind"], f["source"]) for f in found] == [
        ("key.power_cap_watts.count", "official", "draft/common.yaml, power_cap_watts")
    ]
    assert answer.status == 1


def test_a_made_up_round_does_not_exist_without_its_file(tmp_path: Path) -> None:
    answer = run("check", str(tree_of_the_round_to_come(tmp_path)), "--round", "99.0")
    assert answer.status == 2
    assert "There are no rules for training round 99.0" in answer.stdout


SLIP = 'common:\n  "1.0": {both: {a: {at_leest: 1}}}'
SLIPPED = "yaml:3: common.1.0.both.a.at_leest: unknown word. Did you mean at_least?"
BROKEN = [
    (SLIP, SLIPPED),
    ('common:\n  "1.7": {both: {a: any}}', "yaml:3: common.1.7: unknown round. Did you mean 1.1?"),
    ("usage: trainig", "yaml:2: usage: unknown value 'trainig'. Did you mean training?"),
    (
        'common:\n  "5.1":\n    closed:\n      variants: {opt_name: {}}',
        "yaml:5: common.5.1.closed.variants: only a benchmark has variants; put them under benchmarks",
    ),
    ("benchmarks:\n  resnit: {}", "yaml:3: benchmarks.resnit: unknown benchmark. Did you mean resnet?"),
    (
        'rounds:\n  "1.0": {ruleset: 1.0.0}',
        "yaml:3: rounds.1.0: round 1.0 exists; rules for it go under common or benchmarks",
    ),
    ('rounds:\n  "9.0": {rulset: 9.0.0}', "yaml:3: rounds.9.0.rulset: unknown word. Did you mean ruleset?"),
    ('rounds:\n  "9.0": {benchmarks: [new]}', "yaml:1: round 9.0, benchmark new: "),
    ("commmon: {}", "yaml:2: commmon: unknown word. Did you mean common?"),
    ("title: again", "yaml:2: 'title' is given twice, first on line 1"),
]


@pytest.mark.parametrize(("lines", "message"), BROKEN)
def test_a_broken_file_is_refused_with_line_and_what_was_meant(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(f"title: x\n{lines}\n")
    with pytest.raises(FileProblemsError) as error:
        check_overlay(path)
    assert f"file.{message}" in str(error.value)


@pytest.mark.parametrize("words", ["check", "rules list", "rules show bert", "rules diff 1.0 1.1", "rules keys bert"])
def test_every_command_refuses_a_broken_file_with_its_line(words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(f"title: x\n{SLIP}\n")
    tree = [make_tree(tmp_path).folder] if words == "check" else []
    refused, missing = (run(*words.split(), *tree, "--rules", file) for file in (path, tmp_path / "none.yaml"))
    assert refused.status == missing.status == 2
    if tree:  # A report says it.
        assert "bad.yaml:3" in refused.stdout and SLIPPED.partition(": ")[2] in refused.stdout
        assert "cannot be read: No such file" in missing.stdout
    else:
        assert refused.stdout == missing.stdout == ""
        assert f"bad.{SLIPPED}" in refused.stderr and "cannot be read: No such file" in missing.stderr


def test_a_round_to_come_can_be_looked_up_and_compared() -> None:
    for words, told in (("show newthing", "Something new"), ("diff 6.1 99.0", "newthing")):
        shown = run("rules", *words.split(), "--rules", NEXT)
        assert shown.status == 0
        assert told in shown.stdout and "power_cap_watts" in shown.stdout
    assert "power_cap_watts" in run("rules", "keys", "bert", "--round", "99.0", "--rules", NEXT).stdout
    assert "99.1" in run("rules", "list", "--rules", NEXT).stdout


def test_house_rules_are_shown_with_their_source() -> None:
    shown = run("rules", "show", "resnet", "--round", "1.1", "--rules", HOUSE).stdout
    assert "House rules of ACME" in shown
    assert "acme_second" in shown
    assert "acme_second" not in run("rules", "show", "resnet", "--round", "1.1").stdout


#: Rules of as many keys, and whether a log has records of them: what each key must be is said by the one after it.
MANY = {
    "keys that are missing": ("{{occurs: at_least_one}}", False),
    "keys that need the key after them": ("{{occurs: at_least_one, above: '=k{next}'}}", True),
    "keys that need each other": ("{{above: '=k{other}'}}", True),
    "variants of one key": ("", True),
}


def _judged(folder: Path, what: str, count: int) -> LogOutcome:
    """What the rules of a file with so many keys say of a log that breaks them all."""
    demand, logged = MANY[what]
    (file := folder / f"{count}.yaml").write_text(
        "title: x\ncommon:\n  '1.0':\n    both:\n"
        + "".join(f"      k{at}: {demand.format(next=at + 1, other=at ^ 1)}\n" for at in range(count))
        if demand
        else "title: x\nbenchmarks:\n  resnet:\n    '1.0':\n      both:\n        variants:\n          opt_name:\n"
        + "".join(f"            o{at}: {{a: {{above: {at}}}}}\n" for at in range(count))
    )
    judge = Judge(compiled_rules("training", "1.0", CLOSED.name, "resnet", check_overlay(file), house=True))
    for at in range(count if logged else 0):
        for key, value in ((f"k{at}", -(at & -2)),) if demand else (("opt_name", f"o{at}"), ("a", -1)):
            if (handle := judge.handler(key)) is not None:
                handle(Event(line=at, time_ms=0.0, key=key, value=value, metadata={}))
    return judge.finish()


@pytest.mark.parametrize("what", MANY)
def test_the_work_and_the_memory_for_rules_of_ones_own_grow_with_their_number(what: str, tmp_path: Path) -> None:
    outcomes = {count: _judged(tmp_path, what, count) for count in (100, 400)}
    assert len(outcomes[400].keys) == 400

    def judge(count: int) -> None:
        assert list(findings_of(outcomes[count], "log", frozenset(), cut_off=False))

    assert growth(judge, *outcomes) < 4.4
    excuses = excused(outcomes[400].keys, outcomes[400].required.difference(outcomes[400].seen))
    assert sum(map(len, excuses)) <= 2 * 400
