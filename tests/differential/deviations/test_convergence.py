"""Where mlsub and the official convergence checker differ on an entry, or on what an organisation's flags let pass."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from mlsub.convergence import Options
from mlsub.rounds import get_round
from tests.differential.test_entries import LLAMA, case_of
from tools.oracle.entries import EntryCase, Place, tried
from tools.oracle.generate import Combination
from tools.oracle.official_rcp import official_test
from tools.oracle.packages import accepted, build, official, ours, speed_up
from tools.oracle.scores import of_history
from tools.oracle.script import ScriptError, asked_by_words, words_for
from tools.support.entry_logs import judged
from tools.support.entry_logs import log_of as small_log

RETINANET = Place("training", "5.1", "retinanet")


@pytest.mark.parametrize(
    ("round_name", "benchmark", "flag"),
    [("2.0", "ssd", "rcp_bypass"), ("4.0", "ssd", "rcp_bypass"), ("5.1", "retinanet", "rcp-bypass")],
)
def test_a_bypass_of_the_organisation_counts_as_the_script_has_it(
    round_name: str, benchmark: str, flag: str, tmp_path: Path
) -> None:
    package = build(tmp_path, Combination(round_name, benchmark, "closed", None))
    speed_up(package)
    params = package.folder / "package_checker_params"
    for text, passes in (("", False), (f"{flag}\n", True), (f"{flag}\nno-option\n", False)):
        params.write_text(text)
        report = ours(package)
        assert not official(package, today=True).accepted, "the checker itself reads no file there"
        assert (accepted(report), official(package).accepted) == (passes, passes)
        assert ("official.crash" in {f.rule for f in report.findings}) is ("no-option" in text)


def test_a_pattern_that_finds_one_file_where_the_script_runs_is_not_followed(tmp_path: Path) -> None:
    """Behind an option that takes a value such a file is its value, and two are too many; here it is a word."""
    package = build(tmp_path, Combination("5.1", "retinanet", "open", None))
    (package.folder / "package_checker_params").write_text("log_output *\n")
    assert (accepted(ours(package)), official(package).accepted) == (True, True)
    with pytest.raises(ScriptError):
        words = words_for(package.folder, cwd=package.entry)
        asked_by_words(words, get_round("training", "5.1"))


#: The official release in force for a round, by commit of mlcommons/logging.
IN_FORCE = {"2.0": "065e4ce", "4.0": "a9f4839", "4.1": "96d0ace", "5.0": "44b4810", "5.1": "9592476"}


def _file(round_name: str, name: str, history: Path) -> str:
    """A file of the convergence checker in force for a round."""
    return of_history(history, IN_FORCE[round_name], f"mlperf_logging/rcp_checker/{name}")


def _checker(round_name: str, history: Path) -> ModuleType:
    """The convergence checker in force for a round."""
    module = ModuleType(f"rcp_checker_of_v{round_name}")
    exec(_file(round_name, "rcp_checker.py", history), module.__dict__)  # noqa: S102
    return module


def test_of_several_batch_sizes_the_last_by_name_counts(tmp_path: Path, history: Path) -> None:
    both = tried(case_of(Place("training", "2.0", "ssd"), [256, 256, 256, 256, 1024], [10**6] * 5), tmp_path)
    files = sorted(str(file) for file in (tmp_path / "ssd").glob("result_*.txt"))
    checker = _checker("2.0", history)
    sizes = [checker.get_submission_epochs(listed, "ssd", False)[0] for listed in (files, files[::-1])]
    assert (sizes, both.ours.batch_size) == ([1024, 256], 1024)


def test_a_reference_point_that_came_after_the_deadline_counts(tmp_path: Path, history: Path) -> None:
    both = tried(case_of(LLAMA, [16] * 10, [170_000] * 10), tmp_path)
    assert (both.ours.verdict, both.ours.how) == ("pass", "exact")
    reference = tmp_path / "reference.json"
    reference.write_text(_file("5.1", "training_5.1.0/rcps_llama31_8b.json", history))
    at_deadline = official_test(tmp_path / "llama31_8b", "training", "5.1", reference=reference)
    assert (at_deadline.passed, at_deadline.message[:11]) == (False, "Missing RCP")
    ours = judged(tmp_path / "llama31_8b", "5.1", options=Options(points="deadline")).result
    assert (ours.verdict, ours.how) == ("missing", "missing")


def test_counts_that_are_lists_are_none(tmp_path: Path) -> None:
    both = tried(case_of(LLAMA, [32] * 10, [[10**8, 10**8]] * 10), tmp_path)
    assert (both.passed, both.theirs.passed) == (False, True)


def test_a_benchmark_that_the_round_lacks_is_compared_there(tmp_path: Path) -> None:
    case = EntryCase(RETINANET, tuple(small_log("bert", 448, 10**8) for _ in range(5)), False, False, None, "bert")
    both = tried(case, tmp_path)
    assert (both.passed, both.ours.how) == (False, "no-reference")
    assert both.theirs.message == "RCP found"


@pytest.mark.parametrize("round_name", ["4.0", "4.1", "5.0"])
def test_a_benchmark_stated_as_a_list_and_then_as_a_name(round_name: str, tmp_path: Path, history: Path) -> None:
    stated = '"key": "submission_benchmark", "value": "bert"'
    case = case_of(Place("training", round_name, "bert"), [448] * 10, [10**8] * 10)
    logs = tuple(text.replace(stated, stated.replace('"bert"', '["bert"]')) + text for text in case.logs)
    both = tried(case._replace(logs=logs), tmp_path)
    assert (both.passed, both.ours.how) == (False, "crash")
    file = str(tmp_path / "bert" / "result_0.txt")
    assert _checker(round_name, history).read_submission_file(file, f"{round_name}.0", False) == (0, 10**8, 448, "bert")
