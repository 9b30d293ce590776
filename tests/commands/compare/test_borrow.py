"""``mlsub compare --borrow``: a resubmission, what was submitted, and whom it borrows from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.compare.borrow import FREE, hyperparameter_keys
from mlsub.rounds import get_round
from tests.commands.compare.asked import findings
from tools.support.make_tree import Log, Tree, make_tree
from tools.support.runner import run

_KEYS = ("lars_opt_base_learning_rate", "lars_opt_weight_decay", "lars_opt_learning_rate_decay_steps")
OWN = dict(zip(_KEYS, (10.5, 0.0001, 14000), strict=True))
LENT = dict(zip(_KEYS, (12.5, 0.0002, 9000), strict=True))


class Case:
    """An entry as submitted, its resubmission, and another submitter's entry."""

    def __init__(self, folder: Path) -> None:
        self.old = make_tree(folder / "old")
        self.source = make_tree(folder / "source", org="Zeta")
        self.put(self.source, **LENT)
        self.new = Tree(folder / "new" / "v1.0" / "ACME")
        shutil.copytree(self.old.folder, self.new.folder)
        self.put(self.new, **LENT)

    @staticmethod
    def put(tree: Tree, **values: object) -> None:
        def change(log: Log) -> None:
            for key, value in values.items():
                log.put(key, value=value)

        tree.edit(change, *range(5))

    def found(self) -> list[dict[str, Any]]:
        found = findings("borrow", self.old.folder, self.new.folder, "--from", self.source.folder)
        assert all("training rules" in finding["source"] for finding in found)
        return found


@pytest.fixture(name="case")
def _case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_the_whole_group_may_be_borrowed_and_the_batch_size_changed(case: Case) -> None:
    assert case.found() == []
    case.put(case.new, global_batch_size=1600, gradient_accumulation_steps=2)
    assert case.found() == []
    outcome = run("compare", "--trainings", case.old.folder, case.new.folder, "--borrow", "--from", case.source.folder)
    assert "Nothing speaks against borrowing, as far as files can tell.\n" in outcome.stdout


def epochs(case: Case, tree: Tree, last: int) -> None:
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": last}), *range(5))


def open_source(case: Case) -> None:
    case.source.describe(division="open")
    case.source.edit(lambda log: log.put("submission_division", value="open"), *range(5))


def other_source(case: Case) -> None:
    shutil.rmtree(case.source.entry())
    case.source.add_entry("bert")


SPOILED: dict[str, tuple[Callable[[Case], object], set[str]]] = {
    "picked": (lambda c: c.put(c.new, lars_opt_weight_decay=0.0001), {"borrow.group"}),
    "own value": (lambda c: c.put(c.new, lars_opt_base_learning_rate=11.0), {"borrow.extra"}),
    "nothing": (lambda c: c.put(c.new, **OWN), {"borrow.nothing"}),
    "nothing, from Open": (
        lambda c: (c.put(c.new, **OWN), open_source(c)),
        {"borrow.nothing", "borrow.division"},
    ),
    "faster than the source": (
        lambda c: (c.put(c.new, lars_opt_base_learning_rate=11.0), epochs(c, c.source, 44)),
        {"borrow.extra", "borrow.convergence"},
    ),
    "system": (lambda c: c.new.describe(host_memory_capacity="2 TB"), {"borrow.system"}),
    "software": (lambda c: c.new.describe(framework="newer"), {"borrow.software"}),
    "notes": (lambda c: c.new.describe(hw_notes="resubmitted"), set()),
    "larger": (lambda c: c.new.describe(number_of_nodes="2"), {"borrow.scale"}),
    "own system": (lambda c: c.source.folder.rename(c.source.folder.parent / "ACME"), {"borrow.submitter"}),
    "open": (open_source, {"borrow.division"}),
    "other benchmark": (other_source, {"borrow.benchmark"}),
    "rejected": (lambda c: c.new.edit(lambda log: log.drop("cache_clear"), *range(5)), {"borrow.rejected"}),
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_speaks_against_it(name: str, case: Case) -> None:
    spoil, expected = SPOILED[name]
    spoil(case)
    if name == "own system":
        case.source = Tree(case.source.folder.parent / "ACME")
    assert {finding["rule"] for finding in case.found()} == expected


def test_a_finding_names_keys_and_values(case: Case) -> None:
    case.put(case.new, lars_opt_weight_decay=0.0001)
    (finding,) = case.found()
    assert (finding["expected"], finding["actual"]) == ("lars_opt_weight_decay 0.0002", "lars_opt_weight_decay 0.0001")
    assert finding["path"] == "results/rack1/resnet"


def test_the_scale_may_grow_up_to_what_the_system_showed(case: Case) -> None:
    for tree in (case.old, case.new):
        tree.add_system("rack4", number_of_nodes="4")
        tree.add_entry("bert", "rack4")
    assert case.found() == []
    case.new.describe(number_of_nodes="4")
    assert case.found() == []
    case.new.describe(number_of_nodes="8")
    (finding,) = case.found()
    assert finding["message"] == "No entry as submitted shows the system at this scale"
    # Of a benchmark the largest entry alone may change its scale.
    for tree in (case.old, case.new):
        tree.add_entry("resnet", "rack4")
    case.new.describe(number_of_nodes="2")
    (finding,) = case.found()
    assert "not the largest" in finding["message"]


def test_entries_that_were_not_resubmitted_are_passed_over(case: Case) -> None:
    for tree in (case.old, case.new):
        tree.add_entry("bert")
    assert case.found() == []


def test_a_source_of_several_entries_is_asked_about(case: Case) -> None:
    case.source.add_system("rack2")
    case.source.add_entry(system="rack2")
    outcome = run("compare", "--trainings", case.old.folder, case.new.folder, "--borrow", "--from", case.source.folder)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert (
        "has 2 entries of resnet: Zeta/rack1/resnet, Zeta/rack2/resnet. Name the benchmark's folder of one."
        in outcome.stderr
    )
    folder = case.source.entry()
    assert run("compare", "--trainings", case.old.folder, case.new.folder, "--borrow", "--from", folder).status == 0


def test_rounds_must_be_one(case: Case) -> None:
    folder = case.source.folder.parent
    folder.rename(folder.parent / "v1.1")
    case.source = Tree(folder.parent / "v1.1" / "Zeta")
    assert "borrow.round" in {finding["rule"] for finding in case.found()}


def test_the_hyperparameters_are_those_of_the_optimizer_in_use() -> None:
    round_ = get_round("training", "1.0")
    lars = hyperparameter_keys(round_, "resnet", {"opt_name": '"lars"'})
    assert {"opt_name", "lars_opt_momentum"} <= lars
    assert not any(key.startswith("sgd_") for key in lars)
    assert not lars & {*FREE, "train_samples", "eval_accuracy", "seed", "submission_org", "tensor_parallelism"}
    assert any(key.startswith("sgd_") for key in hyperparameter_keys(round_, "resnet", {}))
    assert hyperparameter_keys(round_, "no such benchmark", {}) == frozenset()
