"""mlsub rejects the system descriptions on which the result summarizer of the round ends, and no others."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mlsub.rounds import get_round, known_rounds, usages
from mlsub.systems.description import SystemDescription, read_description
from tools.oracle.generate import usage_and_round
from tools.oracle.scores import RELEASES, crash_of, summarizer_of
from tools.support.effort import effort
from tools.support.make_tree import make_description
from tools.support.sample import rows

#: Values that somebody found in descriptions, or that Python takes for what they are not.
ODD: tuple[Any, ...] = (
    *("TBD", "four", "N/A", "", " 8 ", "1_0", "4+4", "+4", "-1", "4.0", "0x10", "٣", "9" * 5000, "\ud800", "a\0b"),
    *(None, True, False, 0, 8, -8, 4.5, float("nan"), float("inf"), 10**30, -(2**70), 2**63 - 1, 2**64),
    *([], ["a"], ["TensorFlow"], ["\ud800"], {}, {"a": 1}, {"TensorFlow": 1}),
)
#: Those that strangers found to be accepted.
FOUND: tuple[tuple[str, Any], ...] = (
    ("number_of_nodes", "TBD"),
    ("number_of_nodes", "four"),
    ("accelerators_per_node", "N/A"),
    ("host_processors_per_node", ""),
    ("hw_notes", ["a"]),
)
FIELDS = (
    *("number_of_nodes", "host_processors_per_node", "accelerators_per_node", "hw_notes", "sw_notes", "division"),
    *("status", "framework", "system_name", "submitter", "host_processor_model_name", "accelerator_model_name"),
    *("host_processor_core_count", "cooling"),
)
#: From here on the installed summarizer does with a description what that of the round's day did.
TODAY = [round_id for round_id in RELEASES if round_id not in ("0.7", "1.0", "1.1", "hpc-1.0")]
#: The first rounds of summarizers that differ.
DIFFERENT = ["0.7", "1.0", "1.1", "2.0", "4.0", "6.1", "hpc-1.0", "hpc-3.0"]


def described(**changes: Any) -> dict[str, Any]:
    return {**make_description("closed", status="Available on-premise"), **changes}


def judged(folder: Path, content: dict[str, Any], round_id: str) -> SystemDescription:
    file = folder / "x.json"
    file.write_text(json.dumps(content))
    return read_description(file, "systems/x.json", get_round(*usage_and_round(round_id)))


def differing(folder: Path, round_id: str, content: dict[str, Any], crash: str | None) -> str | None:
    """How the two sides differ on a description; what the checker of descriptions rejects never gets that far."""
    rejecting = {f.rule for f in judged(folder, content, round_id).findings if f.rejects}
    if (crash is not None) is bool(rejecting) or (crash is None and "official.crash" not in rejecting):
        return None
    return f"{round_id}: {crash}, {sorted(rejecting)}"


def test_every_round_with_a_script_has_a_summarizer() -> None:
    rounds = [(usage, name) for usage in usages() for name in known_rounds(usage)]
    there = {f"hpc-{name}" if usage == "hpc" else name for usage, name in rounds if get_round(usage, name).summarizer}
    assert there == set(RELEASES)


@pytest.mark.parametrize("round_id", TODAY)
@pytest.mark.parametrize(("field", "value"), FOUND, ids=str)
def test_a_value_that_ends_the_summarizer_rejects(round_id: str, field: str, value: Any, tmp_path: Path) -> None:
    content = described(**{field: value})
    assert crash_of(tmp_path / "theirs", round_id, [content]) is not None
    description = judged(tmp_path, content, round_id)
    assert not description.accepted
    # One defect, one finding.
    (finding,) = description.findings
    assert (finding.rule, finding.actual) == ("official.crash", json.dumps(value))
    assert finding.message == f"The official result summarizer ends with a traceback on the field {field}"
    assert finding.line is not None


@pytest.mark.parametrize("field", FIELDS)
def test_the_installed_summarizer_ends_on_the_same_values(field: str, tmp_path: Path) -> None:
    problems = []
    for number, value in enumerate(rows(ODD, FIELDS.index(field))):
        content = described(**{field: value})
        crash = crash_of(tmp_path / str(number), "6.1", [content, described()])
        problems.append(differing(tmp_path, "6.1", content, crash))
    assert [problem for problem in problems if problem] == []


@pytest.mark.parametrize("round_id", DIFFERENT)
@pytest.mark.parametrize("system", ["rack1", "tpu-v3"])
def test_the_summarizer_of_the_day_ends_on_the_same_values(
    round_id: str, system: str, history: Path, tmp_path: Path
) -> None:
    module = summarizer_of(round_id, history)
    problems = []
    # One pair in 36, others of each summarizer.
    first, step = 2 * DIFFERENT.index(round_id) + (system != "rack1"), effort(36, 1)
    for number, (field, value) in enumerate(list(product(FIELDS, ODD))[first % step :: step]):
        content = described(**{"system_name": system, field: value})
        crash = crash_of(tmp_path / str(number), round_id, [content], module)
        problems.append(differing(tmp_path, round_id, content, crash))
    assert [problem for problem in problems if problem] == []


@pytest.mark.parametrize("round_id", RELEASES)
def test_the_summarizer_of_every_day_ends_on_what_was_found(round_id: str, history: Path, tmp_path: Path) -> None:
    module = summarizer_of(round_id, history)
    for number, (field, value) in enumerate(FOUND):
        content = described(**{field: value})
        crash = crash_of(tmp_path / str(number), round_id, [content], module)
        assert differing(tmp_path, round_id, content, crash) is None


def test_in_v07_a_row_without_one_of_its_fields_is_left_out(history: Path, tmp_path: Path) -> None:
    module = summarizer_of("0.7", history)
    content = described(framework=None)
    assert crash_of(tmp_path / "whole", "0.7", [content], module) is not None
    assert not judged(tmp_path, content, "0.7").accepted
    del content["submitter"]
    assert crash_of(tmp_path / "lacking", "0.7", [content], module) is None
    assert judged(tmp_path, content, "0.7").accepted
