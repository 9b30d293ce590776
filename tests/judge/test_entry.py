"""Entries: number of runs, forgiven runs, damaged logs, divisions and scores."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

import mlsub
from mlsub.score import audit_scales
from mlsub.submission.model import Entry
from tests.review.runs.build import log_of
from tools.support.make_tree import RUNS, Log, Tree, make_log, make_tree, spoil
from tools.support.runner import check

_TARGET = "key.eval_accuracy.target"
_TOO_MANY = {_TARGET, "entry.noncompliant-runs"}


class Case(NamedTuple):
    """One change to an accepted organisation, and what must come of it."""

    benchmark: str
    change: Callable[[Tree], object]
    status: int
    errors: set[str]
    division: str = "closed"


def _write(*runs: int, content: bytes) -> Callable[[Tree], object]:
    return lambda tree: [tree.log(run).write_bytes(content) for run in runs]


def _cut(*runs: int) -> Callable[[Tree], object]:
    """The job was killed in the middle of the last record."""
    return lambda tree: [tree.log(run).write_text(tree.log(run).read_text()[:-40]) for run in runs]


def _renamed(name: str) -> Callable[[Tree], object]:
    return lambda tree: tree.log(4).rename(tree.entry() / name)


def _append(text: str, *runs: int) -> Callable[[Tree], object]:
    return lambda tree: tree.edit(lambda log: log.lines.append(text), *runs)


_BINARY = bytes(range(256)) * 64
_DEEP = ':::MLLOG {"time_ms": 1, "key": "x", "metadata": {}, "value": ' + "[" * 20_000 + "]" * 20_000 + "}"

_UNDECODABLE = {"log.record-undecodable", "seed.log-undecodable"}
_RECORD = ':::MLLOG {"key": "x", "time_ms": 1, "metadata": {}, "value": 1}'

CASES = {
    # Number of result files.
    "four results": Case("resnet", lambda t: t.log(4).unlink(), 1, {"entry.run-count"}),
    "six results": Case("resnet", lambda t: t.add_entry(runs=6), 1, {"entry.run-count"}),
    "four results in Open": Case("resnet", lambda t: t.log(4).unlink(), 1, {"entry.run-count"}, "open"),
    "a result of another name": Case("resnet", _renamed("results_4.txt"), 1, {"entry.run-count"}),
    "results of any suffix": Case("resnet", _renamed("result_4960-2405_x.txt"), 0, set()),
    "thirty-nine of unet3d": Case("unet3d", lambda t: t.log(39, "unet3d").unlink(), 1, {"entry.run-count"}),
    # Noncompliant runs.
    "one noncompliant": Case("resnet", lambda t: spoil(t, 2), 0, {_TARGET}),
    "two noncompliant": Case("resnet", lambda t: spoil(t, 2, 3), 1, _TOO_MANY),
    "one noncompliant of bert": Case("bert", lambda t: spoil(t, 2, benchmark="bert"), 0, {_TARGET}),
    "two noncompliant of bert": Case("bert", lambda t: spoil(t, 2, 3, benchmark="bert"), 1, _TOO_MANY),
    "four noncompliant of unet3d": Case("unet3d", lambda t: spoil(t, *range(4), benchmark="unet3d"), 0, {_TARGET}),
    "five noncompliant of unet3d": Case("unet3d", lambda t: spoil(t, *range(5), benchmark="unet3d"), 1, _TOO_MANY),
    "two noncompliant in Open": Case(
        *("resnet", lambda t: t.edit(lambda log: log.drop("run_stop"), 1, 2)),
        *(1, {"entry.noncompliant-runs", "key.run_stop.count"}, "open"),
    ),
    "a missed target in Open": Case("resnet", lambda t: spoil(t, 1, 2), 0, set(), "open"),
    # Damaged logs. An undecodable record fails the seed check, so Closed forgives none.
    # A log without any record has no seed either: in Closed it passes only before the first run with one.
    "the first log is empty": Case("resnet", _write(0, content=b""), 1, {"log.empty"}),
    "a later log is empty": Case("resnet", _write(3, content=b""), 1, {"log.empty"}),
    "a later log is empty in Open": Case("resnet", _write(3, content=b""), 1, {"log.empty"}, "open"),
    "an empty log and a noncompliant one in Open": Case(
        *("resnet", lambda t: (_write(3, content=b"")(t), t.edit(lambda log: log.drop("run_stop"), 1))),
        *(1, {"log.empty", "key.run_stop.count", "entry.noncompliant-runs"}, "open"),
    ),
    "two empty logs": Case("resnet", _write(0, 1, content=b""), 1, {"log.empty"}),
    "the first log is binary": Case("resnet", _write(0, content=_BINARY), 1, {"log.no-records"}),
    "a later log is binary": Case("resnet", _write(3, content=_BINARY), 1, {"log.no-records"}),
    "two binary logs in Open": Case("resnet", _write(2, 3, content=_BINARY), 1, {"log.no-records"}, "open"),
    "one truncated log": Case("resnet", _cut(3), 1, _UNDECODABLE),
    "one truncated log in Open": Case("resnet", _cut(3), 0, {"log.record-undecodable"}, "open"),
    "two truncated logs in Open": Case(
        *("resnet", _cut(2, 3), 1, {"log.record-undecodable", "entry.noncompliant-runs"}, "open")
    ),
    "a deeply nested record": Case("resnet", _append(_DEEP, 3), 1, _UNDECODABLE),
    "a record that is a list": Case("resnet", _append(":::MLLOG []", 3), 1, _UNDECODABLE),
    **{
        what: Case("resnet", _append(line, 3), 1, {rule, "seed.log-undecodable"})
        for what, line, rule in (
            ("a record without value", _RECORD.replace(', "value": 1', ""), "log.record-incomplete"),
            ("a time that is text", _RECORD.replace(': 1, "m', ': "noon", "m'), "log.record-time"),
            ("text behind a record", f"{_RECORD} 100%", "log.text-after-record"),
        )
    },
    "logs in UTF-16": Case(
        *("resnet", lambda t: [t.log(run).write_text(t.log(run).read_text(), encoding="utf-16") for run in (0, 1)]),
        *(1, {"log.wide-encoding"}),
    ),
    "the division of the log is misspelt": Case(
        *("resnet", lambda t: t.edit(lambda log: log.put("submission_division", value="Closed"), 1, 2)),
        *(1, {"key.submission_division.value", "entry.noncompliant-runs"}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_entry_gets_the_verdict_and_the_rules_of_its_defect(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    tree = make_tree(tmp_path, benchmarks=[case.benchmark], division=case.division)
    case.change(tree)
    outcome = check(tree.folder)
    official = "rejected" if case.status else "accepted"
    assert (outcome.status, outcome.official) == (case.status, official)
    assert outcome.report["entries"][0]["official"] == official
    assert outcome.errors() == case.errors
    # Of runs that fail, the mark stands where the entry may hold them and nothing else is wrong with it.
    assert ("entry.forgiven-runs" in outcome.rules()) == (case.status == 0 and case.errors != set())


@pytest.mark.parametrize("round_folder", ["v1.0", "v1.1"])
@pytest.mark.parametrize("division", ["closed", "open"])
def test_the_synthetic_entries_are_accepted_without_any_official_error(
    round_folder: str, division: str, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path, round_folder, benchmarks=["resnet", "bert", "unet3d"], division=division)
    outcome = check(tree.folder)
    assert outcome.status == 0
    # The names of all weight tensors, new in v1.1, were only warned of.
    warned = {"key.weights_initialization.count"} if (round_folder, division) == ("v1.1", "closed") else set()
    # What the release at the deadline would have said of one of them is a review finding, and no error.
    assert outcome.rules() - {"rcp.other-points"} == warned
    entries = outcome.report["entries"]
    assert {e["benchmark"]: (e["runs"], e["compliant"], e["converged"]) for e in entries} == {
        name: (RUNS[name],) * 3 for name in ("resnet", "bert", "unet3d")
    }


def test_a_forgiven_run_leaves_a_mark_and_is_counted(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0)
    outcome = check(tree.folder)
    assert outcome.status == 0
    mark = outcome.of("entry.forgiven-runs")[0]
    assert (mark["severity"], mark["kind"], mark["actual"]) == ("warning", "official", "1: result_0.txt")
    entry = outcome.report["entries"][0]
    assert (entry["runs"], entry["compliant"], entry["converged"]) == (5, 4, 5)
    # In a folder by itself, where one run too few rejects.
    tree.log(4).unlink()
    alone = mlsub.check(tree.entry().rename(tmp_path / "resnet"), round="1.0")
    assert [found.rule for found in alone.rejecting()] == ["entry.run-count"]


def test_what_is_not_named_like_a_result_is_warned_of_by_name(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.entry() / "Result_5.txt").write_text(make_log(run=5).text())
    (tree.entry() / "scaling.json").write_text("{}")
    outcome = check(tree.folder)
    assert outcome.status == 0
    mark = outcome.of("entry.stray-files")[0]
    assert (mark["severity"], mark["actual"]) == ("warning", "Result_5.txt")


def test_a_missing_result_names_the_file_that_may_be_it(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.log(4).rename(tree.entry() / "results_4.txt")
    finding = check(tree.folder).of("entry.run-count")[0]
    assert finding["expected"] == "5 files named result_*.txt"
    assert finding["actual"] == "4; also there: results_4.txt"


@pytest.mark.parametrize(
    ("round_name", "division", "crashes"), [("1.1", "closed", False), ("2.1", "closed", True), ("2.1", "open", False)]
)
def test_a_folder_for_a_factor_ends_the_checker_that_replaces_the_file_by_a_reference(
    round_name: str, division: str, crashes: bool, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path, division=division)
    (tree.entry() / "scaling.json").mkdir()
    found = check("--round", round_name, tree.folder).of("official.crash")
    assert [(one["path"], one["actual"]) for one in found] == [
        ("results/rack1/resnet/scaling.json", "a folder") for _ in range(crashes)
    ]


def test_a_factor_differs_from_the_expected_one_only_where_the_entry_counts(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.entry() / "scaling.json").write_text('{"scaling_factor": 1.5}')
    assert check(tree.folder).rules() == {"score.scaling-differs"}
    tree.log(0).unlink()
    assert check(tree.folder).rules() == {"entry.run-count"}


def test_who_has_the_factor_that_is_due_has_nothing_to_do(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    due = check("--round", "2.1", tree.folder).report["entries"][0]["rcp"]["scaling"]
    for factor, count in ((due, 0), (1.5, 1)):
        (tree.entry() / "scaling.json").write_text(f'{{"scaling_factor": {factor}}}')
        assert len(check("--round", "2.1", tree.folder).of("rcp.normalised")) == count


@pytest.mark.parametrize(
    ("round_name", "rule"), [("1.0", "cross.benchmark"), ("2.1", "cross.benchmark"), ("3.0", "rcp.batch-size")]
)
def test_a_log_of_another_benchmark_is_one_finding_beside_its_own(round_name: str, rule: str, tmp_path: Path) -> None:
    """From v3.0 the convergence checker reads the name, and rejects."""
    folder = f"v{round_name}"
    tree, other = make_tree(tmp_path / "a", folder), make_tree(tmp_path / "b", folder, benchmarks=["bert"])
    tree.log(3).write_bytes(other.log(3, "bert").read_bytes())
    rules = check(tree.folder).rules()
    assert {one for one in rules if one.startswith(("cross.", "rcp."))} == {rule}


SCALES: dict[str, tuple[list[tuple[Any, Any]], str | None]] = {
    "one scale": ([(2, 8), (4, 4), ("16", 0)], None),
    "two scales": ([(2, 8), (2, 8), (4, 8), (2, 8), (1, 16)], "16 (a0, a1, a3, …); 32 (a2)"),
    "a list": ([(2, 8), ([2], 8), (4, 8)], '"int() argument must be a string*(a1)'),
    "no scale": ([(2, 8), (None, 8), (2, None), ("x", 8)], None),
    "many scales": ([(n, 1) for n in range(1, 8)], "1 (a0); 2 (a1); 3 (a2); 4 (a3); 5 (a4)"),
}


@pytest.mark.parametrize("name", SCALES)
def test_models_of_weak_scaling_are_of_one_size(name: str) -> None:
    scales, actual = SCALES[name]
    logs = []
    for number, scale in enumerate([*scales, (99, 9)]):
        stated = zip(("number_of_nodes", "accelerators_per_node"), scale, strict=True)
        made = [
            {"time_ms": 1, "key": key, "value": value, "metadata": {}} for key, value in stated if value is not None
        ]
        logs.append(replace(log_of(made, f"a{number}"), compliant=number < len(scales)))
    weak = Entry(path="", organisation="", system="", benchmark="", folder=Path(), results=(), logs=tuple(logs))
    assert list(audit_scales(weak)) == []
    found = list(audit_scales(replace(weak, scaling_type="weak")))
    assert [one.rule for one in found] == (["official.crash"] if actual else [])
    assert all(fnmatchcase(str(one.actual), str(actual)) for one in found)
    assert all(("no number" in one.message) == (name == "a list") for one in found)


# Scores: run n takes 10 + n minutes. Which change, score of the entry in minutes.
_START = make_log().records("run_start")[0]["time_ms"]


def _stop(run: int, **changes: Any) -> Callable[[Tree], object]:
    return lambda tree: tree.edit(lambda log: log.put("run_stop", **changes), run)


SCORES: dict[str, tuple[str, Callable[[Tree], object], float | None]] = {
    "resnet": ("resnet", lambda t: None, 12.0),
    "bert": ("bert", lambda t: None, 14.5),
    "unet3d drops four and four": ("unet3d", lambda t: None, 29.5),
    "a noncompliant run counts as slowest": ("resnet", lambda t: spoil(t, 0), 13.0),
    "the slowest is noncompliant": ("resnet", lambda t: spoil(t, 4), 12.0),
    "no interval counts as slowest": ("resnet", lambda t: t.edit(lambda log: log.drop("run_start", "run_stop")), 13.0),
    "two noncompliant runs leave no score": ("resnet", lambda t: spoil(t, 0, 1), None),
    "four noncompliant runs of unet3d": ("unet3d", lambda t: spoil(t, *range(4), benchmark="unet3d"), 33.5),
    "five noncompliant runs of unet3d": ("unet3d", lambda t: spoil(t, *range(5), benchmark="unet3d"), None),
    "an aborted run counts with its time": ("resnet", _stop(4, metadata={"status": "aborted"}), 12.0),
    "milliseconds count": ("resnet", _stop(0, time_ms=_START + 13 * 60_000 + 7), (13 + 7 / 60_000 + 12 + 13) / 3),
}


@pytest.mark.parametrize("name", SCORES)
def test_the_score_is_the_olympic_mean_in_minutes(name: str, tmp_path: Path) -> None:
    benchmark_name, change, minutes = SCORES[name]
    tree = make_tree(tmp_path, benchmarks=[benchmark_name])
    change(tree)
    scored = check(tree.folder).report["entries"][0]["minutes"]
    assert scored == (minutes if minutes is None else pytest.approx(minutes, abs=1e-12))


# Divisions: what the description says, what the logs say, status, division of the entry, official errors.
DIVISIONS = {
    "both closed": ("closed", "closed", 0, set()),
    "both open": ("open", "open", 0, set()),
    # The description decides whether seeds are checked; a log is judged by the division it names itself.
    "open in the description": ("open", "closed", 0, set()),
    "open in the logs": ("closed", "open", 1, {"seed.shared"}),
    "misspelt in the description": ("close", "closed", 0, set()),
    "capital in the description": ("Closed", "closed", 0, set()),
    "a blank in the description": ("closed ", "closed", 0, set()),
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_the_division_of_an_entry_is_the_one_its_description_states(name: str, tmp_path: Path) -> None:
    described, logged, status, errors = DIVISIONS[name]
    tree = make_tree(tmp_path, division=logged)
    tree.describe(division=described)
    same = make_log().records("seed")[0]
    tree.edit(lambda log: log.put("seed", value=same["value"], metadata=same["metadata"]), 1)
    outcome = check(tree.folder)
    entry = outcome.report["entries"][0]
    assert entry["division"] == described
    if described == logged == "closed":
        status, errors = 1, {"seed.shared"}
    assert (outcome.status, outcome.errors()) == (status, errors)
    assert {log["division"] for log in outcome.report["logs"]} == {logged}
    assert ("system.division" in outcome.rules()) is (described not in ("closed", "open"))


def test_a_single_log_is_accepted_if_it_is_compliant(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 1)
    tree.log(2).write_text("")
    tree.log(3).write_bytes(_BINARY)
    assert [check(tree.log(run)).status for run in range(5)] == [0, 1, 1, 1, 0]
    # Neither the entry nor the system description is asked for.
    alone = tmp_path / "alone.log"
    alone.write_text(make_log().text())
    assert check("--round", "1.0", alone).status == 0


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("gone"), lambda path: path.symlink_to(path)])
def test_a_single_log_that_cannot_be_opened_was_not_checked(make: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "v1.0" / "result_0.txt"
    path.parent.mkdir()
    make(path)
    assert check(path).status == 2


def test_a_lone_benchmark_folder_needs_no_description(tmp_path: Path) -> None:
    folder = make_tree(tmp_path).entry().rename(tmp_path / "my-runs")
    assert check("--round", "1.0", folder).status == 0
    log = Log.read(folder / "result_0.txt")
    (folder / "result_1.txt").write_text(log.text())
    assert check("--round", "1.0", folder).errors() == {"seed.shared"}
    (folder / "result_1.txt").unlink()
    assert check("--round", "1.0", folder).errors() == {"entry.run-count"}
