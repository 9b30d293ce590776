"""Whether what a description says means something: findings that never touch the verdict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mlsub.findings import Finding, Kind
from mlsub.io.data import load_yaml
from mlsub.rounds import get_round
from mlsub.systems.description import SystemDescription, read_description
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_description

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
