"""Two organisations of a round, and two runs of an entry: compared as trainings, and nothing is old or new of them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import pytest

from tests.commands.compare.asked import document
from tests.conftest import ExpectedText
from tools.support.corpus import CORPUS
from tools.support.make_tree import Log, Tree, make_tree
from tools.support.runner import run

#: Systems by organisation: accelerators, and the minutes of the entry.
SYSTEMS = {
    "Dell": {"XE9680_8": (8, 85.03), "XE9680_64": (64, 12.0), "only_here": (16, 50.0)},
    "Lenovo": {"SR680_8": (8, 85.30), "SR680_8_slow": (8, 99.0), "SR680_64": (64, 11.0)},
}


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> tuple[Path, Path]:
    for organisation, systems in SYSTEMS.items():
        tree = Tree(tmp_path / "v1.0" / organisation)
        for name, (count, minutes) in systems.items():
            tree.add_system(name, number_of_nodes=str(count // 8), accelerator_model_name="NVIDIA B200-SXM-180GB")
            tree.add_entry(system=name)

            def last(log: Log, minutes: float = minutes) -> None:
                log.last(minutes)

            tree.edit(last, *range(5), system=name)
    return tmp_path / "v1.0" / "Dell", tmp_path / "v1.0" / "Lenovo"


def test_entries_are_paired_by_benchmark_and_size(two: tuple[Path, Path]) -> None:
    found = document(*two)
    assert found["command"] == "compare"
    pairs = {pair["old"]["system"]: (pair["new"]["system"], pair["new"]["accelerators"]) for pair in found["pairs"]}
    assert pairs == {"XE9680_8": ("SR680_8", 8), "XE9680_64": ("SR680_64", 64)}
    assert [(round(p["old"]["minutes"], 2), round(p["new"]["minutes"], 2)) for p in found["pairs"]] == [
        (85.03, 85.3),
        (12.0, 11.0),
    ]
    assert found["only_old"] == ["Dell/only_here/resnet"]
    assert found["only_new"] == ["Lenovo/SR680_8_slow/resnet"]


def test_entries_of_one_accelerator_are_paired_first(tmp_path: Path) -> None:
    systems = {"AMD": {"a355": ("MI355X", 10.0), "a300": ("MI300X", 28.0)}, "Krai": {"k300": ("MI300X", 28.6)}}
    for organisation, own in systems.items():
        tree = Tree(tmp_path / "v1.0" / organisation)
        for name, (chip, minutes) in own.items():
            tree.add_system(name, accelerator_model_name=f"AMD Instinct {chip}")
            tree.add_entry(system=name)
            tree.edit(partial(Log.last, minutes=minutes), *range(5), system=name)
    found = document(tmp_path / "v1.0" / "AMD", tmp_path / "v1.0" / "Krai")
    assert [(pair["old"]["system"], pair["new"]["system"]) for pair in found["pairs"]] == [("a300", "k300")]
    assert found["only_old"] == ["AMD/a355/resnet"]


def test_none_of_the_two_is_old_or_new(
    two: tuple[Path, Path], expected_text: ExpectedText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two[0].parents[1])
    outcome = run("compare", *(folder.relative_to(two[0].parents[1]) for folder in two))
    assert (outcome.status, outcome.stderr) == (0, "")
    assert not re.findall(r"\b(old|new|gone|renamed|added|removed)\b", outcome.stdout)
    expected_text("rivals.txt", outcome.stdout)


def test_states_of_one_organisation_are_packages(two: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "later" / "v1.0" / "Dell"
    other.parent.mkdir(parents=True)
    two[0].rename(other)
    tree = Tree(two[0])
    tree.add_system("XE9680_8")
    tree.add_entry(system="XE9680_8")
    assert document(other, two[0])["command"] == "compare packages"
    assert document("--packages", other, two[1])["command"] == "compare packages"
    assert document(other, make_tree(tmp_path, "v1.1", "HPE").folder)["command"] == "compare packages", "of two rounds"


def longer(log: Log) -> None:
    """One evaluation and block more, a later target, and a longer initialisation."""
    stop = log.at("eval_stop")
    log.lines[stop:stop] = [
        {**log.lines[at], "time_ms": log.lines[stop]["time_ms"] + 1000 * number}  # type: ignore[dict-item, index]
        for number, at in enumerate((log.at("block_start"), log.at("block_stop"), log.at("eval_accuracy")))
    ]
    log.put("eval_accuracy", metadata={"epoch_num": 48})
    log.put("init_start", time_ms=log.records("init_start")[0]["time_ms"] - 30_000)


def test_two_runs_say_why_one_is_slower(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(longer, 3)
    found = document(tree.log(0), tree.log(3))
    (pair,) = found["pairs"]
    sides = [pair[side] for side in ("old", "new")]
    assert [side["run"] for side in sides] == ["result_0.txt", "result_3.txt"]
    assert [(side["minutes"], side["runs"], side["minutes_of"]) for side in sides] == [(10, 1, "mean"), (13, 1, "mean")]
    assert [(side["evaluations"], side["blocks"], side["work"]) for side in sides] == [(10, 1, 40), (11, 2, 48)]
    assert sum(part["minutes"] for part in pair["parts"]) == pytest.approx(3)
    assert "more epochs 40 -> 48" in pair["answer"]
    assert "A run has 10 -> 11 evaluations, 1 -> 2 blocks, 60 -> 90 seconds of initialisation" in pair["answer"]
    text = run("compare", tree.log(0), tree.log(3)).stdout
    assert "rack1 resnet result_0.txt (training v1.0, closed) -> rack1 resnet result_3.txt" in " ".join(text.split())
    assert "convergence test" not in text and "has no score" not in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("systems/rack1.json", "is a file. Name a folder, or a result file in a benchmark's folder."),
        ("results/rack1/resnet/notes.txt", "is no run of the entry in its folder. Name a result file, or a folder."),
    ],
)
def test_what_is_no_run_of_an_entry_is_told(name: str, words: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    file = tree.folder / name
    file.touch()
    outcome = run("compare", file, tree.log(0))
    assert (outcome.status, outcome.stderr) == (2, f"mlsub compare: {file} {words}\n")


def test_the_picture_has_the_parts_and_the_curves(two: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "why.svg"
    assert run("compare", two[0] / "results/XE9680_8/resnet", two[1] / "results/SR680_8/resnet", "-o", file).status == 0
    titles = [one.text for one in ET.parse(file).iter("{http://www.w3.org/2000/svg}title")]  # noqa: S314
    assert titles == ["Minutes by part", "Quality over minutes since run_start"]
    outcome = run("compare", "--packages", *two, "--format", "svg")
    assert (outcome.status, outcome.stderr.startswith("mlsub compare: This answer has no chart.")) == (2, True)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
def test_a_published_run_was_slower_for_an_evaluation_more() -> None:
    entry = CORPUS / "v5.1/AMD/results/MI355X_EPYC_9575F_pytorch/llama2_70b_lora"
    (pair,) = document(entry / "result_3.txt", entry / "result_0.txt")["pairs"]
    assert pair["answer"].startswith(
        "B is 13.1 % longer (0.88x, 9.82 -> 11.1 min): more samples 3,072 -> 3,456 (+1.10 min), "
        "evaluation 61.2 s -> 73.1 s (+0.20 min), all else -0.01 min. A run has 5 -> 6 evaluations, 5 -> 6 blocks, "
    )


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
def test_the_bars_of_the_parts_end_where_together_does(tmp_path: Path) -> None:
    file = tmp_path / "why.svg"
    one = CORPUS / "v5.1/AMD/results/MI355X_EPYC_9575F_pytorch/llama2_70b_lora"
    other = CORPUS / "v5.1/Krai/results/PowerEdge-XE9680-MI300X-192GB_n1_v5.1/llama2_70b_lora"
    assert run("compare", one, other, "-o", file).status == 0
    (chart, *_) = ET.parse(file).findall("{http://www.w3.org/2000/svg}svg")  # noqa: S314
    names = [one.text for one in chart.iter("{http://www.w3.org/2000/svg}text") if one.get("text-anchor") == "end"]
    assert names[:5] == ["samples", "training per sample", "evaluation", "all else", "together"]
