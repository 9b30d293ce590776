"""``mlsub compare --resubmit``: a result of an earlier round in a new one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.compare.asked import findings
from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_tree, spoil
from tools.support.runner import REPOSITORY, run

published = pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> tuple[Tree, Tree]:
    """An entry of v1.0, and the same below v1.1."""
    old = make_tree(tmp_path, "v1.0", benchmarks=["bert"])
    new = Tree(tmp_path / "v1.1" / "ACME")
    shutil.copytree(old.folder, new.folder)
    return old, new


def test_an_unchanged_result_that_passes_the_new_rules(two: tuple[Tree, Tree]) -> None:
    assert findings("resubmit", two[0].folder, two[1].folder) == []
    assert findings("resubmit", two[0].folder, "--round", "1.1") == []
    text = run("compare", "--trainings", two[0].folder, two[1].folder, "--resubmit").stdout
    assert "Nothing speaks against submitting it again, as far as files can tell.\n" in text


def edit(tree: Tree, key: str, value: object) -> None:
    tree.edit(lambda log: log.put(key, value=value), *range(10), benchmark="bert")


CHANGED: dict[str, tuple[Callable[[Tree], object], set[str]]] = {
    "software": (lambda t: t.describe(framework="newer"), {"resubmit.system"}),
    "availability": (lambda t: t.describe(status="preview"), {"resubmit.system"}),
    "memory": (lambda t: t.describe(host_memory_capacity="2 TB"), {"resubmit.description"}),
    "one log": (lambda t: spoil(t, 3, benchmark="bert"), {"resubmit.logs"}),
    "a log is gone": (lambda t: t.log(9, "bert").unlink(), {"resubmit.logs", "resubmit.rules"}),
    "division": (lambda t: edit(t, "submission_division", "open"), {"resubmit.logs", "resubmit.identity"}),
    "platform": (lambda t: edit(t, "submission_platform", "rack9"), {"resubmit.logs", "resubmit.identity"}),
    "another entry": (lambda t: t.add_entry("resnet"), {"resubmit.logs"}),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_speaks_against_it(name: str, two: tuple[Tree, Tree]) -> None:
    change, expected = CHANGED[name]
    change(two[1])
    assert (
        expected
        <= {finding["rule"] for finding in findings("resubmit", two[0].folder, two[1].folder)}
        <= expected | {"resubmit.rules"}
    )


def test_fields_are_named(two: tuple[Tree, Tree]) -> None:
    two[1].describe(framework="newer", operating_system="other")
    (finding,) = findings("resubmit", two[0].folder, two[1].folder)
    assert finding["message"] == "The system description differs in framework, operating_system"
    assert (finding["expected"], finding["actual"]) == ("some framework; some operating system", "newer; other")


@pytest.mark.parametrize(("field", "value"), [("host_memory_capacity", "2 TB"), ("sw_notes", "x"), ("new_field", 1)])
def test_from_v5_1_on_the_system_description_must_match_exactly(field: str, value: object, tmp_path: Path) -> None:
    """The rules ask for it since June 2025, and v5.1 is the first round with a deadline after that."""
    old = tmp_path / "v5.0" / "ACME"
    shutil.copytree(REPOSITORY / "examples/rejected/v5.1/ACME", old)
    new = tmp_path / "v5.1" / "ACME"
    shutil.copytree(old, new)
    described = {"resubmit.system", "resubmit.description"}
    assert described.isdisjoint(finding["rule"] for finding in findings("resubmit", old, new))
    change(new, field, value)
    [found] = [finding for finding in findings("resubmit", old, new) if finding["rule"] in described]
    assert (found["rule"], found["severity"]) == ("resubmit.system", "error")
    assert found["message"] == f"The system description differs in {field}"


def change(tree: Path, field: str, value: object) -> None:
    file = tree / "systems" / "rack1.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), field: value}))


def test_the_issue_that_nobody_can_see_in_files_is_named(two: tuple[Tree, Tree], tmp_path: Path) -> None:
    old = tmp_path / "v5.0" / "ACME"
    shutil.copytree(REPOSITORY / "examples/rejected/v5.1/ACME", old)
    issue = "Open an issue in the submission repository before the first review meeting"
    text = run("compare", "--trainings", old, "--resubmit", "--round", "5.1").stdout
    assert issue in " ".join(text.split())
    assert issue not in " ".join(
        run("compare", "--trainings", two[0].folder, two[1].folder, "--resubmit").stdout.split()
    )


def test_a_benchmark_that_is_gone(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.0")
    (finding,) = findings("resubmit", tree.folder, "--round", "5.0")
    assert finding["message"] == "resnet is not a benchmark of MLPerf Training v5.0"
    tree.add_entry("bert")
    found = findings("resubmit", tree.folder, "--round", "5.0")
    assert {finding["rule"] for finding in found} == {"resubmit.benchmark", "resubmit.rules"}
    assert [finding["path"] for finding in found if finding["rule"] == "resubmit.benchmark"] == ["results/rack1/resnet"]
    # A description whose status is none of the new round's is told once, by its own path.
    assert "systems/rack1.json" in {finding["path"] for finding in found}


def test_a_forgiven_run_is_no_reason(two: tuple[Tree, Tree]) -> None:
    for tree in two:
        spoil(tree, 3, benchmark="bert")
    assert findings("resubmit", two[0].folder, two[1].folder) == []
    for tree in two:
        spoil(tree, 4, benchmark="bert")
    found = findings("resubmit", two[0].folder, two[1].folder)
    assert {finding["rule"] for finding in found} == {"resubmit.rules"}
    assert any("in 2 places" in finding["message"] for finding in found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--round", "1.0"], "v1.0 is not later than v1.0"),
        (["--round", "0.7"], "v0.7 is not later than v1.0"),
        (["--round", "9.9"], "There are no rules for training round 9.9"),
        ([], "--resubmit needs the new round"),
    ],
)
def test_what_cannot_be_asked(arguments: list[str], words: str, tmp_path: Path) -> None:
    outcome = run("compare", "--trainings", make_tree(tmp_path).folder, "--resubmit", *arguments)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert words in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_edited_logs_are_told_from_other_runs(two: tuple[Tree, Tree]) -> None:
    edit(two[1], "submission_platform", "rack9")
    logs = next(f for f in findings("resubmit", two[0].folder, two[1].folder) if f["rule"] == "resubmit.logs")
    assert logs["message"].startswith(
        "The logs were edited since the earlier round; times and evaluations are the same"
    )
    assert logs["actual"].startswith("changed or new: result_0.txt, ")
    two[1].edit(lambda log: log.put("run_stop", time_ms=1), 3, benchmark="bert")
    logs = next(f for f in findings("resubmit", two[0].folder, two[1].folder) if f["rule"] == "resubmit.logs")
    assert logs["message"] == "The logs are not those of the earlier round"


def test_runs_forgiven_in_an_entry_that_is_rejected_for_something_else(two: tuple[Tree, Tree]) -> None:
    for tree in two:
        spoil(tree, 3, benchmark="bert")
        tree.log(9, "bert").unlink()
    (finding,) = findings("resubmit", two[0].folder, two[1].folder)
    assert "entry.run-count" in finding["message"]


@published
def test_a_result_that_was_submitted_again() -> None:
    """One submitter's bert runs of v4.1 came again in v5.0, with a placeholder in each log filled in."""
    found = findings("resubmit", CORPUS / "v4.1/Krai", CORPUS / "v5.0/krai")
    assert {finding["rule"] for finding in found} == {"resubmit.description", "resubmit.logs", "resubmit.identity"}
    assert {finding["message"] for finding in found if finding["rule"] == "resubmit.logs"} == {
        "The logs were edited since the earlier round; times and evaluations are the same"
    }
    stated = {finding["message"] for finding in found if finding["rule"] == "resubmit.identity"}
    assert stated == {"The logs state another submission_platform than in the earlier round"}


@published
def test_published_logs_in_the_next_round() -> None:
    """v1.1 is the first round to ask what weights_initialization is about; the resnet logs of v1.0 do not say."""
    found = findings("resubmit", CORPUS / "v1.0/Graphcore/results/ipu-pod16-TF1", "--round", "1.1")
    assert {finding["rule"] for finding in found} == {"resubmit.rules"}
    assert any("key.weights_initialization.metadata, in 5 places" in finding["message"] for finding in found)
