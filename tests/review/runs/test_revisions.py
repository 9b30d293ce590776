"""Runs of one entry that different code made: what is found, and what one code explains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mlsub.review.runs.revisions import find_revisions
from tests.review.runs.build import Change, Record, entry, every, the_one

_KEYS = ("init_start", "seed", "opt_name", "run_start", "eval_accuracy", "train_samples", "run_stop")


def move(by: int, *keys: str, file: str = "train.py") -> Change:
    """Log some keys, or all, in other lines of the code."""

    def change(made: list[Record]) -> None:
        for record in made:
            if record["key"] in keys or not keys:
                record["metadata"] |= {"file": f"/home/{by}/{file}", "lineno": 7 + by}

    return change


def spread(made: list[Record]) -> None:
    """Log each key in a line of its own, one of them in two."""
    for place, record in enumerate(made):
        line = _KEYS.index(record["key"]) * 10 + 10 if record["key"] in _KEYS else 5
        record["metadata"] |= {"lineno": line + (record["key"] == "eval_accuracy" and place % 2)}


def shift(by: int, after: int = 0, without: tuple[str, ...] = ()) -> Change:
    """The same with lines inserted above one, and without the records of some keys."""

    def change(made: list[Record]) -> None:
        spread(made)
        for record in made:
            record["metadata"]["lineno"] += by * (record["metadata"]["lineno"] > after)
        made[:] = [record for record in made if record["key"] not in without]

    return change


#: The changes of some runs, and what is said of them.
REVISIONS: dict[str, tuple[dict[int, Change], str | None]] = {
    "one code": (every(spread), None),
    "folders of several users": ({2: move(0)}, None),
    "one key that depends on the end": ({3: move(20, "run_stop")}, None),
    "two keys that do": ({3: move(20, "run_stop", "eval_accuracy")}, None),
    "keys that a run lacks": (every(spread) | {3: shift(0, without=_KEYS[:5])}, None),
    "a key in two lines, of which one is equal": (every(spread) | {1: shift(1, after=45)}, None),
    "lines inserted at the top": (
        every(spread) | {8: shift(4), 9: shift(4)},
        "result_8.txt, result_9.txt (2 of 10 runs): block_start in train.py:9, not in train.py:5; so 18 of 18 keys",
    ),
    "lines inserted in the middle": (
        every(spread) | {0: shift(2, after=45)},
        "result_0.txt (1 of 10 runs): eval_accuracy in train.py:52, not in train.py:50; so 3 of 18 keys",
    ),
    "another file": (
        {5: move(0, file="main.py")},
        "result_5.txt (1 of 10 runs): block_start in main.py:7, not in train.py:7; so 18 of 18 keys",
    ),
    "three revisions": (
        every(spread) | {4: shift(4), 5: shift(4), 6: shift(9)},
        "result_4.txt, result_5.txt (2 of 10 runs): block_start in train.py:9, not in train.py:5; so 18 of 18 keys; "
        "result_6.txt (1 of 10 runs): block_start in train.py:14, not in train.py:5; so 18 of 18 keys",
    ),
    "a run that breaks off before all others": (
        every(spread) | {0: shift(0, without=_KEYS[3:]), 9: shift(4)},
        "result_9.txt (1 of 10 runs): block_start in train.py:9, not in train.py:5; so 18 of 18 keys",
    ),
}


@pytest.mark.parametrize("name", REVISIONS)
def test_runs_of_different_code_are_one_question(name: str) -> None:
    changes, actual = REVISIONS[name]
    found = [(one.finding.rule, one.finding.actual) for one in find_revisions(entry(changes))]
    assert found == ([("inspect.code-differs", actual)] if actual else [])


def test_the_numbers_of_an_observation() -> None:
    found = the_one("inspect.code-differs", entry(every(spread) | {8: shift(4), 9: shift(4)}))
    path = "v1.1/ACME/results/rack1/bert"
    assert found.numbers == {"runs": [[f"{path}/result_8.txt", f"{path}/result_9.txt"]]}
    assert found.finding.path == path


def test_each_run_of_a_code_of_its_own() -> None:
    (found,) = find_revisions(entry({run: shift(run + 1) for run in range(70)}, runs=70))
    assert len(found.numbers["runs"]) == 59, "the bound on hostile input"


@pytest.mark.parametrize("metadata", [None, [], {}, {"file": 7, "lineno": "x"}])
def test_records_that_name_no_code(metadata: Any) -> None:
    def forget(made: list[Record]) -> None:
        for record in made:
            record["metadata"] = metadata

    forgetful: Callable[..., Any] = forget
    assert list(find_revisions(entry({0: forgetful, 1: shift(3)}, runs=3))) != []
    assert list(find_revisions(entry(every(forgetful)))) == []
