"""System descriptions: what makes one unacceptable, and what an auditor asks of the rest."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsub.findings import Finding, Kind
from mlsub.io.data import load_yaml
from mlsub.rounds import get_round
from mlsub.systems import description as module
from mlsub.systems.description import SystemDescription, first_lines, read_content, read_description
from mlsub.systems.fields import fields
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import SYSTEM, make_description, make_tree
from tools.support.runner import check

PATH = f"systems/{SYSTEM}.json"


def _pretty(division: str = "closed") -> str:
    return json.dumps(make_description(division), indent=2)


# The file as a whole: what is done to it, the one official error.
UNREADABLE: dict[str, tuple[str | bytes | Callable[[Path], object], str]] = {
    "a list": ("[" + _pretty() + "]", "system.not-object"),
    "an empty list": ("[]", "system.not-object"),
    "a text": ('"closed"', "system.not-object"),
    "a number": ("33", "system.not-object"),
    "null": ("null", "system.not-object"),
    "true": ("true", "system.not-object"),
    "empty": ("", "system.not-json"),
    "blank": (" \n\n", "system.not-json"),
    "truncated": (_pretty()[:-30], "system.not-json"),
    "cut in a text": (_pretty()[:60], "system.not-json"),
    "a comma too much": (_pretty()[:-2] + ",\n}", "system.not-json"),
    "two documents": (_pretty() * 2, "system.not-json"),
    "YAML": ("division: closed\n", "system.not-json"),
    "a comment": ("// hello\n" + _pretty(), "system.not-json"),
    "a byte order mark": (b"\xef\xbb\xbf" + _pretty().encode(), "system.not-json"),
    "not UTF-8": (_pretty().encode().replace(b"onprem", b"\xff\xfe\xe9"), "system.not-json"),
    "UTF-16": (_pretty().encode("utf-16"), "system.not-json"),
    "binary": (bytes(range(256)) * 10, "system.not-json"),
    "deeply nested": ("[" * 100_000 + "]" * 100_000, "system.not-json"),
    "a deeply nested field": ('{"division": ' + '{"a": ' * 50_000 + "1" + "}" * 50_001, "system.not-json"),
    "a number of 5000 digits": ('{"division": ' + "9" * 5000 + "}", "system.not-json"),
    "a dangling link": (lambda file: file.symlink_to("gone.json"), "system.unreadable"),
    "a link in a circle": (lambda file: file.symlink_to(file.name), "system.unreadable"),
    "a folder": (Path.mkdir, "system.unreadable"),
    "a pipe": (os.mkfifo, "system.unreadable"),
    "larger than 4 MiB": (_pretty() + " " * (1 << 22), "system.unreadable"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_is_no_description_rejects_with_one_finding(name: str, tmp_path: Path) -> None:
    content, rule = UNREADABLE[name]
    tree = make_tree(tmp_path)
    tree.description().unlink()
    if callable(content):
        content(tree.description())
    else:
        tree.description().write_bytes(content if isinstance(content, bytes) else content.encode())
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official) == (1, "rejected")
    assert [finding["rule"] for finding in outcome.findings] == [rule]
    assert outcome.findings[0]["path"] == PATH
    (system,) = outcome.report["systems"]
    assert (system["path"], system["organisation"], system["official"]) == (PATH, "ACME", "rejected")
    # The division is what the logs agree on; the entry cannot stand without its description.
    entry = outcome.report["entries"][0]
    assert (entry["division"], entry["official"]) == ("closed", "rejected")


@pytest.mark.parametrize("content", ["{}", '{"division": "closed"}'])
def test_every_missing_field_is_a_finding_of_its_own(content: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().write_text(content)
    outcome = check(tree.folder)
    missing = [finding["expected"] for finding in outcome.of("system.field-missing")]
    assert outcome.status == 1
    assert missing == [name for name in fields().required if name not in json.loads(content)]
    assert len(fields().required) == 33


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        *(("acclerators_per_node", "accelerators_per_node"), ("host_processor_model", "host_processor_model_name")),
        *(("accelerator_on_chip_memories", "accelerator_on-chip_memories"), ("Cooling", "cooling")),
    ],
)
def test_a_misspelt_field_gets_a_did_you_mean_and_its_line(wrong: str, right: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    text = tree.description().read_text().replace(f'"{right}"', f'"{wrong}"')
    tree.description().write_text(text)
    findings = check(tree.folder).of("system.field-missing")
    assert [finding["expected"] for finding in findings] == [right]
    assert findings[0]["fix"] == f"Rename {wrong} to {right}."
    assert f'"{wrong}"' in text.splitlines()[findings[0]["line"] - 1]


@pytest.mark.parametrize("value", [8, True, {"n": "8"}, None])
@pytest.mark.parametrize("name", fields().text)
def test_a_field_that_must_be_text_must_be_text(name: str, value: object, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps({**make_description(), name: value}, indent=2))
    description = read_description(file, "systems/x.json")
    assert not description.accepted
    finding = description.findings[0]
    assert [found for found in description.findings if found.rejects] == [finding]
    assert finding.rule == "system.field-not-text"
    assert finding.actual == json.dumps(value)
    assert finding.line is not None
    assert f'"{name}"' in file.read_text().splitlines()[finding.line - 1]


def test_other_fields_may_hold_anything(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(number_of_nodes=1, cooling=["air"], host_storage_capacity={"TB": 4}, a_field_of_our_own=0)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.rules()) == (0, set())


@pytest.mark.parametrize("more", ['"water"', '"water",\n  "cooling": "air"'])
def test_a_key_that_is_there_more_than_once_is_one_review_finding(more: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().write_text(_pretty()[:-2] + f',\n  "cooling": {json.dumps(make_description()["cooling"])}\n}}')
    assert [(one["rule"], one["severity"]) for one in check(tree.folder).findings] == [("system.duplicate-key", "note")]
    tree.description().write_text(_pretty()[:-2] + f',\n  "cooling": {more}\n}}')
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official) == (0, "accepted")
    (finding,) = outcome.findings
    assert (finding["rule"], finding["kind"], finding["blocks"]) == ("system.duplicate-key", "review", "none")
    assert finding["line"] is not None
    assert check("--strict", tree.folder).status == 1


@pytest.mark.parametrize(
    ("written", "meant"), [("close", "closed"), ("Closed", "closed"), ("opne", "open"), ("x", None)]
)
def test_a_misspelt_division_gets_a_did_you_mean(written: str, meant: str | None, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(make_description(written)))
    (finding,) = read_description(file, "x").findings
    assert finding.fix is not None
    assert (f"Write {meant}," in finding.fix) if meant else ("Write closed or open" in finding.fix)


def test_what_a_description_says_is_read_without_judging_it(tmp_path: Path) -> None:
    file = tmp_path / "rack1.json"
    assert read_content(file) is None
    file.write_text(json.dumps(make_description(division="clsoed")))
    assert read_content(file) == read_description(file, file.name).content
    file.write_text("[]")
    assert read_content(file) is None


def test_the_last_of_two_equal_keys_counts(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().write_text(_pretty("open")[:-2] + ',\n  "division": "closed"\n}')
    assert check(tree.folder).report["entries"][0]["division"] == "closed"


@pytest.mark.parametrize("name", ["x.JSON", "x.txt", ".hidden.json", "x"])
def test_other_files_in_the_systems_folder_are_no_descriptions(name: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.folder / "systems" / name).write_text("no JSON")
    outcome = check(tree.folder)
    assert outcome.status == 0
    assert len(outcome.report["systems"]) == 1


@pytest.mark.parametrize(
    ("field", "value"), [("number_of_nodes", "TBD"), ("accelerators_per_node", "N/A"), ("host_processors_per_node", "")]
)
def test_a_count_that_the_result_summarizer_cannot_read_rejects(field: str, value: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(**{field: value})
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official) == (1, "rejected")
    (finding,) = outcome.findings
    assert (finding["rule"], finding["actual"]) == ("official.crash", json.dumps(value))
    assert field in finding["message"]


def test_the_result_summarizer_reads_no_description_without_results(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spare = tree.description().with_name("spare.json")
    spare.write_text(json.dumps(make_description(number_of_nodes="four")))
    assert (check(tree.folder).status, "official.crash" in check(tree.folder).rules()) == (0, False)
    (tree.folder / "results" / "spare").mkdir()
    assert check(tree.folder).of("official.crash")[0]["path"] == "systems/spare.json"


def test_the_first_line_counts() -> None:
    found = first_lines('{\n "a": "b",\n "c\\"d": 1, "e": "\xff",\n "b": 2, "a": 3\n}\n')
    assert [found.get(name) for name in ("a", "b", "e", 'c\\"d', "f", "")] == [2, 2, 3, 3, None, None]


def test_thousands_of_fields_that_are_there_twice_are_one_pass_over_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them was looked for from the beginning: 8,000 took 2 s, 80,000 would have taken minutes."""
    tree = make_tree(tmp_path)
    file = tree.description()
    twice = "".join(f' "field {number % 8_000}": "x",\n' for number in range(16_000))
    file.write_text(file.read_text().replace("{", "{\n" + twice, 1))
    passes = []

    class Counted:
        def finditer(self, text: str) -> object:
            passes.append(len(text))
            return pattern.finditer(text)

    pattern = module._TEXT
    monkeypatch.setattr(module, "_TEXT", Counted())
    found = [f for f in read_description(file, "x.json").findings if f.rule == "system.duplicate-key"]
    assert len(found) == 8_000
    assert [f.line for f in found[:3]] == [2, 3, 4]
    assert passes == [len(file.read_text())]


# Whether what a description says means something: findings that never touch the verdict.

Shown = list[tuple[str, str | None, str | None]]


def judge(folder: Path, round_: str | None = None, division: str = "closed", **changes: Any) -> SystemDescription:
    file = folder / "x.json"
    file.write_text(json.dumps(make_description(division, **changes), indent=1))
    return read_description(file, "x.json", None if round_ is None else get_round("training", round_))


def shown(findings: tuple[Finding, ...]) -> Shown:
    return [(f.rule, f.actual, f.expected) for f in findings]


MEANING: dict[str, tuple[dict[str, Any], list[list[str | None]]]] = load_yaml(Path(__file__).with_name("meaning.yaml"))


@pytest.mark.parametrize("name", MEANING)
def test_what_there_is_to_tell_of_a_description(name: str, tmp_path: Path) -> None:
    changes, told = MEANING[name]
    description = judge(tmp_path, **changes)
    assert shown(description.findings) == list(map(tuple, told))
    assert description.accepted
    assert all(f.kind is Kind.REVIEW and f.line is not None for f in description.findings)


def test_an_open_entry_whose_notes_are_still_to_come(tmp_path: Path) -> None:
    assert shown(judge(tmp_path, division="open", notes="TBD").findings) == [("system.open-notes", '"TBD"', None)]
    assert shown(judge(tmp_path, notes="TBD").findings) == [("system.placeholder", "notes", None)]
    assert judge(tmp_path, division="open", notes="Another optimizer").findings == ()


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"submitter": "<your organisation>"}, "submitter"),
        ({"submitter": "< >", "cooling": "TBD: ask", "hw_notes": "xxx"}, "submitter, cooling, hw_notes"),
        ({"system_name": "SYSTEM_NAME_PLACEHOLDER"}, "system_name"),
        ({"submitter": "TBD.", "cooling": "[TODO]", "hw_notes": "(TBD)", "sw_notes": " tba"},
         "submitter, cooling, hw_notes, sw_notes"),
        ({"other_software_stack": {"cuda": "12.9", "nccl": "TODO", "more": [{"a": "<version>"}]}},
         "other_software_stack.nccl, other_software_stack.more.0.a"),
        ({"other_software_stack": {str(i): "TODO" for i in range(100)}},
         ", ".join(f"other_software_stack.{i}" for i in range(40)) + ", …"),
    ],
)  # fmt: skip
def test_what_is_a_placeholder(changes: dict[str, Any], places: str, tmp_path: Path) -> None:
    [found] = judge(tmp_path, **changes).findings
    assert (found.rule, found.actual, found.kind) == ("system.placeholder", places, Kind.REVIEW)
    assert found.line is not None


NO_PLACEHOLDERS = [
    "a <b>", "<a> <b>", "<path-1>", "<env>", "placeholders", "TODOs", "no TODO", "<" * 500, f"<{'a' * 500}>",
    "<a@b.org>", "<none>", "< N/A >", "< 5 ms >", "(TBD) is what we call it", "TODO. Done",
]  # fmt: skip


@pytest.mark.parametrize("value", NO_PLACEHOLDERS)
def test_what_is_no_placeholder(value: str, tmp_path: Path) -> None:
    assert judge(tmp_path, hw_notes=value, other_software_stack={"a": [value]}).findings == ()


def test_a_status_is_one_finding_official_or_audit(tmp_path: Path) -> None:
    assert [f.rule for f in judge(tmp_path, "3.1", status="on prem").findings] == ["system.unknown-status"]
    assert [f.rule for f in judge(tmp_path, "4.1", status="on prem").findings] == ["system.status"]
    assert judge(tmp_path, "3.1", status="Available in cloud").findings == ()


@pytest.mark.parametrize("value", ["", 0, -1, 1e400, float("nan"), 10**400, [], {}, None, "9" * 5000, "\x00", "\ud800"])
def test_no_value_raises(value: Any, tmp_path: Path) -> None:
    for name in make_description():
        judge(tmp_path, **{name: value})


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_the_published_descriptions() -> None:
    """Every finding on them was looked at; a further one is a false alarm until somebody has."""
    counts: Counter[str] = Counter()
    for file in sorted(CORPUS.glob("*/*/systems/*.json")):
        usage, _, name = file.relative_to(CORPUS).parts[0].rpartition("v")
        description = read_description(file, file.name, get_round("hpc" if usage else "training", name))
        assert description.accepted
        counts.update(f.rule.removeprefix("system.") for f in description.findings)
    assert counts == {
        "division": 3, "duplicate-key": 13, "empty-value": 157, "figure": 1, "host-count": 7,
        "no-unit": 9, "open-notes": 4, "placeholder": 33, "slip": 48, "spelling": 3,
        "core-count": 29, "name-form": 120, "name-unknown": 1,
    }  # fmt: skip
