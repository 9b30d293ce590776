"""At the border of each demand both sides give one verdict, and each demand is tried with each kind of change."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tools.oracle import aimed, compare
from tools.oracle.aimed_borders import bench, setter, turns_of
from tools.oracle.asked import METADATA, TIME, VALUE, asked, literals, paths_in, stated_in, turns
from tools.oracle.compare import assert_alike, disagrees, judge_both
from tools.oracle.generate import Combination
from tools.oracle.log import ChangedLog, generated, raw, record_line, smallest
from tools.oracle.phases import PHASES, Source, Task, generated_sources, logs_of
from tools.oracle.random_changes import spliced
from tools.oracle.random_text import SPLICES
from tools.support.effort import LONG, effort

SEED = "ci-1"
MATRIX = [
    Combination(*names)
    for names in (
        ("0.6", "minigo", "closed", None),
        ("5.1", "flux1", "closed", None),
        ("4.0", "stable_diffusion", "closed", None),
        ("6.1", "dlrmv4", "closed", None),
    )
]
#: Rounds in which few benchmarks have a formula.
WITHOUT_FORMULAS = ("0.6", "0.7", "1.0", "1.1", "hpc-1.0", "hpc-2.0", "hpc-3.0")
#: Every so many combinations is tried in ``make test``; others in another phase.
ONE_IN = 60


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where logs are written; the same one for all tests, so that the changes of a combination are made once."""
    return tmp_path_factory.mktemp("boundary") / "log.txt"


def _some(phase: int) -> Sequence[Source]:
    return generated_sources() if LONG else generated_sources()[15 * phase :: ONE_IN]


@pytest.mark.product
@pytest.mark.parametrize(
    ("phase", "source"),
    [(phase.name, source) for place, phase in enumerate(PHASES[:4]) for source in _some(place)],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_a_log_of_the_long_search_gets_one_verdict(phase: str, source: Source, file: Path) -> None:
    wanted = effort(8, 150)
    logs = assert_alike(logs_of(Task(phase, source, 0, wanted), SEED, file), source.combination.round, file)
    assert logs > wanted // 2 or (phase == "dependent" and source.combination.round in WITHOUT_FORMULAS)


@pytest.mark.parametrize("combination", MATRIX, ids=str)
def test_the_smallest_log_is_compliant_and_smaller(combination: Combination, file: Path) -> None:
    small = smallest(combination).content()
    both = judge_both(ChangedLog("unchanged", small), combination.round, file)
    assert both.ours.compliant and both.theirs.compliant, both.describe()
    assert both.warning in ([], ["key.weights_initialization.tensors"])
    assert len(small) < len(generated(combination).content())


@pytest.mark.parametrize(
    ("combination", "masked"),
    [
        (Combination("5.1", "flux1", "closed", None), ()),
        (Combination("hpc-3.0", "openfold", "closed", None), ()),
        # What is in bounds may miss the target, and other rates follow from these.
        (MATRIX[-1], ("eval_accuracy", "global_batch_size", "opt_base_learning_rate")),
    ],
    ids=str,
)
def test_a_border_of_the_official_checker_decides_the_verdict(
    combination: Combination, masked: tuple[str, ...], file: Path
) -> None:
    """Of two neighbouring floats one is accepted, and nothing else in the log hides it."""
    at = bench(combination, file)
    sides: dict[str, dict[float, bool]] = {}
    for question in at.asked.questions:
        if VALUE in paths_in(question.code) and question.key not in sides:
            sides[question.key] = {}
            for place in turns_of(question, VALUE, question.constants()):
                changed = setter(at, question.key, VALUE, place, "every")(at.log)
                both = judge_both(ChangedLog(f"{question.key} {place!r}", changed.content()), combination.round, file)
                assert not disagrees(both), both.describe()
                sides[question.key][place] = both.theirs.compliant
    neighbours = [
        (key, some[one], some[other])
        for key, some in sides.items()
        for one, other in pairwise(sorted(some))
        if math.nextafter(one, math.inf) == other
    ]
    assert len(neighbours) > 10
    assert {key for key, one, other in neighbours if one is other} == set(masked)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("combination", "judged_as", "key"),
    [
        (Combination("1.0", "bert", "closed", None), "0.7", "eval_accuracy"),
        (Combination("1.0", "bert", "closed", None), "0.7", "global_batch_size"),
        (Combination("2.1", "maskrcnn", "closed", None), "1.1", "weights_initialization"),
        (Combination("6.1", "llama31_8b", "closed", None), "6.0", "lowest_numerical_precision_in_linear"),
    ],
    ids=str,
)
def test_the_search_finds_a_rule_that_is_not_the_official_one(
    combination: Combination, judged_as: str, key: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With rules of another round, which differ slightly: an oracle that cannot fail would find nothing."""
    monkeypatch.setattr(compare, "usage_and_round", lambda _: ("training", judged_as))
    log = smallest(combination)
    assert not disagrees(judge_both(ChangedLog("unchanged", log.content()), combination.round, file))
    edits = [edit for edit in aimed.in_order("borders", combination, SEED, file) if edit.key == key]
    made = (aimed.mutant(log, [edit], "x") for edit in edits)
    assert any(disagrees(judge_both(found, combination.round, file)) for found in made if found is not None)


def test_the_checker_is_asked_every_expression_with_its_state(file: Path) -> None:
    combination = Combination("6.1", "dlrmv4", "closed", None)
    file.write_bytes(smallest(combination).content())
    questions, configs = asked(file, "6.1")
    assert configs[-1] == "training_6.1.0/closed_dlrmv4.yaml"
    sparse = [question for question in questions if question.key == "opt_sparse_base_learning_rate"]
    assert [question.code for question in sparse] == ["v['value'] == s['opt_base_learning_rate']"]
    assert sparse[0].constants() == [2e-6]
    assert sparse[0].at(VALUE) == 2e-6
    assert [sparse[0].holds(VALUE, value) for value in (2e-6, 3e-6, "x", None)] == [True, False, False, False]
    late = [question for question in questions if question.key == "init_stop" and TIME in paths_in(question.code)]
    assert [question.holds(TIME, question.timestamp + ms) for question in late for ms in (0, 1e9)] == [True, False]


@pytest.mark.parametrize(
    ("code", "paths", "numbers", "stated"),
    [
        ("v['value']['FID'] <= 90.0", {VALUE, ("value", "FID")}, (90.0,), set()),
        ("'epoch_num' in v['metadata']", {METADATA, ("metadata", "epoch_num")}, (), set()),
        ("is_integer(10 * (v['value'][1] / 50.0 - 1))", {VALUE, ("value", 1)}, (1, 10, 50.0), set()),
        ("ll.timestamp - s['first'] < 20*60", {TIME}, (20, 60), {"first"}),
        (" not python", set(), (), set()),
    ],
)
def test_what_an_expression_reads(code: str, paths: set[object], numbers: tuple[object, ...], stated: set[str]) -> None:
    assert set(paths_in(code.strip())) == paths
    assert sorted(literals(code.strip())) == sorted(numbers)
    assert stated_in(code.strip()) == stated


def test_a_turn_is_found_to_the_last_bit() -> None:
    assert turns(lambda value: value < 0.72, [0.5]) == [0.7199999999999999, 0.72]
    assert turns(lambda value: 20 <= value <= 1e9, [25]) == [19.999999999999996, 20.0, 1e9, 1000000000.0000001]
    assert turns(lambda value: True, [1, 2, "x", None, float("nan"), 10**400]) == []


@pytest.mark.slow
def test_a_beginning_of_the_search_has_each_cell_before_any_twice(file: Path) -> None:
    combination = MATRIX[0]
    some, again, other = (aimed.in_order("borders", combination, seed, file) for seed in (SEED, SEED, "other"))
    cells = [(edit.key, edit.aim) for edit in some]
    first = len(set(cells))
    assert len(set(cells[:first])) == first < len(cells)
    assert [edit.words for edit in again] == [edit.words for edit in some]
    assert [edit.words for edit in other] != [edit.words for edit in some]


def test_a_raw_value_stands_unquoted_in_its_line() -> None:
    record = {"time_ms": 1, "key": "seed", "value": raw(2), "metadata": {"again": raw(2)}}
    text = record_line(record).text
    assert text == ':::MLLOG {"time_ms": 1, "key": "seed", "value": 1e400, "metadata": {"again": 1e400}}'
    assert json.loads(text[9:])["value"] == float("inf")


def _parts() -> Iterator[ChangedLog]:
    for letter in "ab":
        lines = (f':::MLLOG {{"key": "{k}", "from": "{letter}"}}\n' for k in ("init_start", "run_start", "run_stop"))
        yield ChangedLog(letter, "".join(lines).encode())


@pytest.mark.parametrize("splice", SPLICES)
def test_each_splice_makes_another_log_of_parts_of_both(splice: str) -> None:
    one, other = (part.content.splitlines(keepends=True) for part in _parts())
    made = {b"".join(SPLICES[splice][1](random.Random(seed), one, other)) for seed in range(60)}
    assert len(made) > 1
    assert all(set(found) <= set(b"".join((*one, *other)) + b"\r\x00 [],<>:|01stdnode") for found in made)


def test_the_same_seed_gives_the_same_splice() -> None:
    one, other = _parts()
    some = [[spliced(random.Random(seed), one, other, "x") for seed in range(30)] for _ in range(2)]
    assert some[0] == some[1]
    assert len({mutant.content for mutant in some[0]}) > 15
