"""Names, seeds and values beside each other: platforms and systems, seeds in common, and what a logged count is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from mlsub.log.reading import LARGEST_COUNT, usable_number
from mlsub.review.cadence import all_numbers
from mlsub.review.cross import find_platform_contradiction
from mlsub.review.fingerprints import encode_json
from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import check

RULE = "seed.not-random"


def two_systems(above: Path, seeds: list[int], division: str = "closed") -> Tree:
    """Two systems; the runs of the first have the seeds 1000, 1001, ..., those of the second these."""
    tree = make_tree(above, division=division)
    tree.add_system("rack2", division=division)
    tree.add_entry(system="rack2", division=division)
    for run, seed in enumerate(seeds):
        tree.edit(lambda log, seed=seed: log.put("seed", value=seed), run, system="rack2")
    return tree


@pytest.mark.parametrize(
    ("seeds", "common"),
    [
        ([1000, 1001, 1002, 1003, 1004], "5 of 5 seeds (1000, 1001, 1002, 1003, 1004)"),
        ([7, 1001, 8, 1003, 9], "2 of 5 seeds (1001, 1003)"),
        ([7, 8, 1003, 9, 10], None),
        ([7, 8, 9, 10, 11], None),
    ],
)
def test_one_seed_in_common_is_chance_and_two_are_not(seeds: list[int], common: str | None, tmp_path: Path) -> None:
    outcome = check(two_systems(tmp_path, seeds).folder)
    assert outcome.status == 0
    findings = {finding["path"]: finding["actual"] for finding in outcome.of(RULE)}
    entries = sorted(path.rpartition("results/")[2] for path in findings)
    assert entries == (["rack1/resnet", "rack2/resnet"] if common else [])
    assert all(common is not None and actual.startswith(common) for actual in findings.values())


def test_open_may_use_any_seeds(tmp_path: Path) -> None:
    assert check(two_systems(tmp_path, [1000, 1001, 1002], "open").folder).of(RULE) == []


def test_entries_of_one_system_are_not_compared(tmp_path: Path) -> None:
    assert check(make_tree(tmp_path, benchmarks=["resnet", "bert"]).folder).of(RULE) == []


def organisations(above: Path, *names: str) -> Path:
    """A round's folder in which every organisation has the same logs."""
    first, *others = [above / "v1.0" / name for name in names]
    make_tree(above, org=first.name)
    for other in others:
        shutil.copytree(first, other)
    return above / "v1.0"


@pytest.mark.parametrize(
    ("names", "severity", "message"),
    [
        (("ACME", "Umbrella"), "error", "The log records the same run as another log"),
        (("IEI", "Inspur"), "note", "The runs are published under two names of one organisation"),
    ],
)
def test_logs_of_another_organisation_are_one_finding(
    names: tuple[str, str], severity: str, message: str, tmp_path: Path
) -> None:
    [found] = check(organisations(tmp_path, *names)).of("entry.same-log-twice")
    assert (found["severity"], found["message"]) == (severity, message)
    assert found["path"] == f"{names[1]}/results/rack1/resnet"
    assert found["actual"] == (
        f"number and times of all records of 5 logs as in {names[0]}/results/rack1/resnet: "
        "result_0.txt, result_1.txt, result_2.txt and 2 more"
    )


def test_one_log_of_another_system_is_named(tmp_path: Path) -> None:
    tree = two_systems(tmp_path, [7, 8, 9])
    tree.log(2, system="rack2").write_bytes(tree.log(1).read_bytes())
    [found] = check(tree.folder).of("entry.same-log-twice")
    assert found["path"].endswith("results/rack2/resnet/result_2.txt")
    assert found["actual"].endswith("as in results/rack1/resnet/result_1.txt")


@pytest.mark.skipif(not (CORPUS.parent / "cases").is_dir(), reason="published results are not there")
def test_three_names_of_one_organisation_publish_the_same_runs(tmp_path: Path) -> None:
    for folder in (CORPUS / "v4.0" / "smc-ac-power", CORPUS.parent / "cases" / "v4.0"):
        shutil.copytree(folder, tmp_path / "v4.0" / ("" if folder.name == "v4.0" else folder.name), dirs_exist_ok=True)
    found = check(tmp_path / "v4.0").of("entry.same-log-twice")
    assert [one["path"] for one in found] == [
        "smc-ac-power/results/8xSMC-H100-SXM-80GB/resnet",
        "smc-dc-power/results/1xSMC-H100-SXM-80GB/resnet",
        "smc-dc-power/results/8xSMC-H100-SXM-80GB/resnet",
    ]
    assert {one["severity"] for one in found} == {"note"}


PAIRS: dict[str, dict[str, list[list[str]]]] = yaml.safe_load(Path(__file__).with_name("platforms.yaml").read_text())


@pytest.mark.parametrize(
    ("verdict", "said", "names"),
    [
        (verdict, said, tuple(names))
        for verdict, rounds in PAIRS.items()
        for pairs in rounds.values()
        for said, *names in pairs
    ],
)
def test_a_platform_is_judged_as_by_hand(verdict: str, said: str, names: tuple[str, ...]) -> None:
    assert (find_platform_contradiction(said, names) is None) is (verdict == "right")


@pytest.mark.parametrize(
    ("said", "words"), [("tpu-v5p", "names another accelerator"), ("X86", "has no word in common")]
)
def test_the_message_says_what_is_wrong(said: str, words: str) -> None:
    assert words in str(find_platform_contradiction(said, ("cloud-tpu-trillium-1024", "TPU-trillium")))


@pytest.mark.long
@pytest.mark.skipif(not (CORPUS / "v5.1").is_dir(), reason="published results are not there")
def test_every_finding_of_a_published_round_is_in_the_table() -> None:
    found = {(f["actual"].strip('"'), f["expected"]) for f in check(CORPUS / "v5.1").of("cross.platform")}
    assert found == {(said, " / ".join(names)) for said, *names in PAIRS["wrong"]["v5.1"]}


_values = st.integers() | st.floats() | st.booleans() | st.none() | st.text(max_size=2) | st.just([1])


@given(st.lists(st.integers(-10, 10**16) | st.floats()) | st.lists(_values))
@example([])
@example([10**400, 1.0])
@example([1, float("nan")])
@example([float("nan"), 1])
@example([LARGEST_COUNT, 1])
@example([-LARGEST_COUNT])
@example([True])
def test_all_are_numbers_where_each_is(values: list[Any]) -> None:
    assert all_numbers(values) == all(usable_number(value) is not None for value in values)


@pytest.mark.parametrize("value", ["\ud800", 2**70, [float("inf")], {"a": ["\udfff"]}])
def test_any_value_has_a_text_of_its_own(value: Any) -> None:
    texts = {encode_json(one, 1000) for one in (value, [value], "a", 1, 1.0, "1", True, [])}
    assert len(texts) == 8
    assert encode_json([value] * 1000, 10) == encode_json([value] * 2000, 10)
