"""mlsub rejects the system descriptions on which the result summarizer of the round ends, and no others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import mlsub
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.systems.description import SystemDescription, read_description
from tools.oracle.generate import Combination, usage_and_round
from tools.oracle.packages import accepted, build, ours, rejecting
from tools.oracle.scores import RELEASES, crash_of, of_history, summarizer_of
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


#: What a system's privateid.json may hold, and whether the summarizers of v6.0 and v6.1 end on it.
IDS: dict[bytes, bool] = {
    **dict.fromkeys((b'{"private_id": "five-words"}', b"{}", b'{"id": 1}', b'{"private_id": ""}'), False),
    **{b'{"private_id": %b}' % value: False for value in (b"1", b"null", b"true", b"NaN", b"1e999", b"9" * 400)},
    **{b'{"private_id": %b}' % value: False for value in (b'["a"]', b'{"a": []}', b'["\\ud800"]', b'"a\\u0000b"')},
    **dict.fromkeys((b'{"private_id": 1, "private_id": "b"}', b'{"\\ud800": "\\ud800"}', '{"a": "é"}'.encode()), False),
    **dict.fromkeys((b'{"private_id": "\\ud800"}', b'{"private_id": "\xe9"}', b'{"a": "\t"}'), True),
    **dict.fromkeys((b"[]", b'["private_id"]', b'"private_id"', b'"x"', b"0", b"null", b"true", b"NaN"), True),
    **dict.fromkeys((b"", b"{", b'{"a": 1,}', b"{} {}", b"{'a': 1}", b'\xef\xbb\xbf{"private_id": "a"}'), True),
    **dict.fromkeys(('{"private_id": "a"}'.encode("utf-16"), b'{"a": %b}' % (b"9" * 5000), b"[" * 100_000), True),
}
#: What may lie in the folder of a system, and whether the summarizers of v6.0 and v6.1 end on it.
IN_A_SYSTEM: dict[str, tuple[Callable[[Path], object], bool]] = {
    "an ID that is a folder": (lambda system: (system / "privateid.json").mkdir(), True),
    "an ID that is a link to nothing": (lambda system: (system / "privateid.json").symlink_to("gone"), False),
    "an ID that is a link to itself": (lambda system: (system / "privateid.json").symlink_to("privateid.json"), False),
    "an ID of another name": (lambda system: (system / "private_id.json").write_text("["), False),
    "a hidden folder": (lambda system: (system / ".ipynb_checkpoints").mkdir(), True),
    "a link to a folder": (lambda system: (system / ".old").symlink_to(system.parent), True),
    "a hidden link to nothing": (lambda system: (system / ".old").symlink_to("gone"), False),
    "a hidden file": (lambda system: (system / ".DS_Store").touch(), False),
    "a hidden folder in a benchmark": (lambda system: (system / "llama2_70b_lora/.old").mkdir(parents=True), False),
}


def _in_the_system(change: Callable[[Path], object], organisation: Path) -> None:
    change(organisation / "results/rack0")


def _with_id(content: bytes) -> Callable[[Path], object]:
    return lambda organisation: (organisation / "results/rack0/privateid.json").write_bytes(content)


def _without_description(organisation: Path) -> None:
    (organisation / "systems/rack0.json").unlink()
    (organisation / "results/rack0/privateid.json").write_text("[]")


def _hidden_system(organisation: Path) -> None:
    (organisation / "results/.old/logs").mkdir(parents=True)
    (organisation / "systems/.old.json").write_text((organisation / "systems/rack0.json").read_text())


def _not_utf_8(organisation: Path) -> None:
    name = os.fsdecode(b"rack\xff")
    (organisation / "results/rack0").rename(organisation / "results" / name)
    (organisation / "systems/rack0.json").rename(organisation / "systems" / f"{name}.json")


def crashes(
    above: Path, change: Callable[[Path], object], module: Any = None, round_id: str = "6.1"
) -> tuple[str, ...]:
    """Who says that the summarizer ends on an organisation of one system: the summarizer, mlsub, both or nobody."""
    asked = {"module": module} if module is not None else {}
    crash = crash_of(above, round_id, [described()], change=change, as_then=True, **asked)
    usage, name = usage_and_round(round_id)
    report = mlsub.check(above / "ACME", usage=usage, round=name, jobs=1)
    found = {f.rule for f in report.findings if f.rejects} & {"official.crash"}
    return (*(["summarizer"] if crash is not None else []), *(["mlsub"] if found else []))


BOTH = ("summarizer", "mlsub")


@pytest.mark.parametrize("content", IDS, ids=lambda content: ascii(content[:40]))
def test_a_private_id_that_ends_the_summarizer_rejects(content: bytes, tmp_path: Path) -> None:
    assert crashes(tmp_path, _with_id(content)) == (BOTH if IDS[content] else ())


@pytest.mark.parametrize("name", IN_A_SYSTEM)
def test_what_ends_the_summarizer_in_the_folder_of_a_system_rejects(name: str, tmp_path: Path) -> None:
    change, ends = IN_A_SYSTEM[name]
    assert crashes(tmp_path, partial(_in_the_system, change)) == (BOTH if ends else ())


def test_the_summarizer_passes_over_a_system_without_a_description(tmp_path: Path) -> None:
    assert crashes(tmp_path / "none", _without_description) == ()
    assert crashes(tmp_path / "hidden", _hidden_system) == BOTH


def test_the_name_of_a_system_that_is_not_utf_8_rejects(tmp_path: Path) -> None:
    assert crashes(tmp_path, _not_utf_8) == BOTH


@pytest.mark.slow
@pytest.mark.parametrize("round_id", ["4.1", "5.0", "5.1", "6.0", "6.1"])
def test_the_summarizer_of_the_day_ends_on_the_same_folders(round_id: str, history: Path, tmp_path: Path) -> None:
    module = summarizer_of(round_id, history)
    assert crashes(tmp_path / "name", _not_utf_8, module, round_id) == (BOTH if round_id >= "5.0" else ())
    for number, (content, ends) in enumerate(IDS.items()):
        found = crashes(tmp_path / str(number), _with_id(content), module, round_id)
        assert found == (BOTH if ends and round_id >= "6.0" else ()), content
    for name, (change, ends) in IN_A_SYSTEM.items():
        found = crashes(tmp_path / name, partial(_in_the_system, change), module, round_id)
        assert found == (BOTH if ends and round_id >= "6.0" else ()), name


@pytest.mark.parametrize("round_id", [round_id for round_id in RELEASES if not round_id.startswith("6.")])
def test_a_hidden_folder_that_ended_an_earlier_summarizer_is_accepted(
    round_id: str, history: Path, tmp_path: Path
) -> None:
    inside = "strong/.old" if round_id.startswith("hpc") else ".old"
    module = summarizer_of(round_id, history)
    found = crashes(tmp_path, lambda o: (o / "results/rack0" / inside).mkdir(parents=True), module, round_id)
    assert found == (() if round_id in ("3.1", "4.0", "4.1", "5.0", "5.1", "hpc-3.0") else ("summarizer",))


def test_a_package_with_a_private_id_is_accepted_where_it_can_be_used(tmp_path: Path) -> None:
    package = build(tmp_path, Combination("6.1", "llama2_70b_lora", "closed", None))
    file = package.system / "privateid.json"
    file.write_text('{"private_id": "five-words"}')
    assert accepted(ours(package))
    file.write_text('{"private_id": "five-words",}')
    (package.system / ".ipynb_checkpoints").mkdir()
    report = ours(package)
    assert (accepted(report), rejecting(report)) == (False, {"official.crash"})
    found = {f.path: f.message for f in report.findings if f.rejects}
    assert found == {
        "results/rack1/privateid.json": "The official result summarizer ends with a traceback on this file",
        "results/rack1/.ipynb_checkpoints": "The official result summarizer ends with a traceback on a folder of a "
        "system that is not a benchmark's",
    }


def _described_as(content: bytes | None, organisation: Path) -> None:
    """Put other content into the description of the system, or take it away."""
    (file,) = (organisation / "systems").iterdir()
    file.unlink()
    if content is not None:
        file.write_bytes(content)


#: A description of v0.7 in another form, and whether its summarizer ends on it; it passes over the others.
FORMS: dict[bytes | None, bool] = {
    **dict.fromkeys((None, b"", b"{", b'{"submitter": "ACME",}', b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000), False),
    **dict.fromkeys((b"{}", b"[]", b'[{"submitter": "ACME"}]', b'""', b'"system_name"'), False),
    **dict.fromkeys((b"null", b"0", b"1.5", b"true", b"NaN", b'["submitter"]', b'"the submitter"'), True),
}


@pytest.mark.parametrize("content", FORMS, ids=lambda content: ascii(content and content[:30]))
def test_in_v07_a_description_rejects_where_it_ends_the_summarizer(
    content: bytes | None, history: Path, tmp_path: Path
) -> None:
    change = partial(_described_as, content)
    module = summarizer_of("0.7", history)
    assert crashes(tmp_path / "theirs", change, module, "0.7") == (BOTH if FORMS[content] else ())
    package = build(tmp_path, Combination("0.7", "ssd", "open", None))
    change(package.folder)
    report = ours(package)
    assert rejecting(report) == ({"official.crash"} if FORMS[content] else set())
    assert accepted(report) is not FORMS[content]
    if content not in (b"{}", *(name for name, ends in FORMS.items() if ends)):
        wrong = {f.rule for f in report.review_errors()}
        assert wrong & {"tree.system-description-missing", "system.not-json", "system.not-object"}


def test_the_package_checker_of_v07_reads_no_description(history: Path) -> None:
    assert "systems" not in of_history(history, RELEASES["0.7"], "mlperf_logging/package_checker/package_checker.py")
    assert "systems" in of_history(history, RELEASES["1.0"], "mlperf_logging/package_checker/package_checker.py")
