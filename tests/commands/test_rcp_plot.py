"""``mlsub rcp plot`` and the files it writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands.rcp.test_plot import series, texts
from tests.commands.runner import Outcome, run
from tests.commands.test_hostile import HOSTILE
from tests.convergence.logs import log_of, write_logs
from tests.differential.shared import ABSENT, folder, present
from tests.make_tree import make_tree, snapshot

pytest.importorskip("matplotlib")


def plot(*arguments: object) -> Outcome:
    return run("rcp", "plot", *arguments)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def resnet(above: Path, *points: Any, size: Any = 4096, name: str = "resnet") -> Path:
    entry = above / name
    write_logs(entry, [log_of("resnet", size, point) for point in points])
    return entry


@pytest.mark.parametrize(("file", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG\r\n"), ("a.pdf", b"%PDF-")])
def test_the_ending_of_the_file_says_what_it_is(file: str, start: bytes, here: Path) -> None:
    found = plot("resnet", "--round", "4.0", "-o", file)
    assert (found.status, found.stderr) == (0, "")
    assert found.stdout == f"{file}: resnet, MLPerf Training v4.0: 10 reference points\n"
    assert (here / file).read_bytes().startswith(start)
    assert [child.name for child in here.iterdir()] == [file], "nothing is left beside it"


def test_the_runs_of_a_folder_are_in_the_picture(here: Path) -> None:
    entry = resnet(here, 39, 40, 41, 40, 43)
    found = plot(entry, "--round", "1.0", "-o", "a.svg")
    assert found.stdout == "a.svg: resnet, MLPerf Training v1.0: 9 reference points, 1 entry of 5 runs\n"
    drawn = (here / "a.svg").read_bytes()
    assert {"mean-1", "runs-1"} <= set(series(drawn))
    assert any("mean 40.3333, limit +3.67 %" in line for line in texts(drawn))


def test_too_fast_and_too_few_runs_are_told_apart(here: Path) -> None:
    resnet(here / "fast", 30, 31, 32, 30, 33)
    resnet(here / "early", 39, 40, 41)
    found = plot("fast/resnet", "early/resnet", "--round", "1.0", "-o", "a.svg")
    assert "2 entries of 8 runs" in found.stdout
    found_texts = texts((here / "a.svg").read_bytes())
    assert [line.partition(": ")[2] for line in found_texts if line[:3] in ("1  ", "2  ")] == [
        "so far, runs are lacking",
        "fails",
    ]


def test_a_tree_is_read_and_left_as_it_is(here: Path) -> None:
    tree = make_tree(here, benchmarks=["resnet", "bert"])
    tree.add_system("rack2", "open")
    tree.add_entry("resnet", "rack2", "open")
    before = snapshot(tree.folder)
    found = plot("resnet", tree.folder, "-o", "a.svg")
    assert (found.status, found.stderr) == (0, "")
    assert found.stdout.splitlines() == [
        "a.svg: resnet, MLPerf Training v1.0: 9 reference points, 1 entry of 5 runs",
        "  not drawn: results/rack2/resnet: the Open division has no convergence test",
    ]
    assert plot(tree.folder, "--benchmark", "bert", "-o", "b.svg").status == 0
    assert snapshot(tree.folder) == before


def test_several_benchmarks_go_on_pages_or_have_to_be_chosen_from(here: Path) -> None:
    tree = make_tree(here, benchmarks=["resnet", "bert"])
    found = plot(tree.folder, "-o", "a.svg")
    assert (found.status, found.stdout) == (2, "")
    assert found.stderr == (
        "mlsub rcp plot: there are 2 pictures to draw (bert v1.0, resnet v1.0). "
        "Choose one with --benchmark and --round, or write them all into one .pdf.\n"
    )
    found = plot(tree.folder, "-o", "a.pdf")
    assert [line.split(":")[1].strip() for line in found.stdout.splitlines()] == [
        "bert, MLPerf Training v1.0",
        "resnet, MLPerf Training v1.0",
    ]
    assert (here / "a.pdf").read_bytes().count(b"/Type /Page\n") + (here / "a.pdf").read_bytes().count(
        b"/Type /Page "
    ) == 2
    assert plot("bert", "resnet", "--round", "4.0", "-o", "two.pdf").stdout.count("reference points") == 2


def test_a_benchmark_without_an_entry_to_draw_is_not_passed_over(here: Path) -> None:
    tree = make_tree(here)
    tree.add_system("rack2", "open")
    tree.add_entry("bert", "rack2", "open")
    found = plot(tree.folder, "-o", "a.svg")
    assert found.status == 0
    assert found.stderr == (
        "mlsub rcp plot: not drawn: results/rack2/bert: the Open division has no convergence test\n"
    )


def test_a_name_is_a_benchmark_and_with_a_dot_before_it_a_folder(here: Path) -> None:
    resnet(here, 39, 40, 41, 40, 43)
    assert "entry" not in plot("resnet", "--round", "1.0", "-o", "a.svg").stdout
    assert "1 entry" in plot("./resnet", "--round", "1.0", "-o", "b.svg").stdout
    resnet(here, 39, 40, 41, 40, 43, name="mine")
    assert "1 entry" in plot("mine", "--round", "1.0", "-o", "c.svg").stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("resnet", "-o", "a.gif"), "a.gif cannot be a picture. Name a file that ends in .svg, .png or .pdf."),
        (("resnet", "-o", "-"), "- cannot be a picture"),
        (("resnet", "-o", "none/a.svg"), "There is no folder none"),
        (("resnt", "-o", "a.svg"), "no benchmark 'resnt'. Did you mean resnet"),
        (("resnet", "--round", "6.1", "-o", "a.svg"), "training 6.1 has no resnet; it was in"),
        (("minigo", "-o", "a.svg"), "minigo is not compared with a reference in any round"),
        (("bert", "--round", "0.7", "-o", "a.svg"), "MLPerf Training v0.7 had no convergence test"),
        (("resnet", "--usage", "nonsense", "-o", "a.svg"), "no usage 'nonsense'"),
        (("mine", "--round", "1.0", "--benchmark", "bert", "-o", "a.svg"), "there is no entry of bert, but of resnet"),
        (("mine", "--round", "1.0", "--benchmark", "brt", "-o", "a.svg"), "no benchmark 'brt'"),
        (("mine", "--round", "0.7", "-o", "a.svg"), "had no convergence test"),
        (("mine", "--round", "1.0", "--rules", "none.yaml", "-o", "a.svg"), "none.yaml"),
        (("resnet", "--rcp", "broken.json", "-o", "a.svg"), "broken.json: not JSON"),
        (("\x1b[31m", "-o", "\x1b[31m.svg"), "no benchmark"),
    ],
)
def test_where_nothing_is_drawn_one_line_says_why(arguments: tuple[str, ...], line: str, here: Path) -> None:
    resnet(here, 39, 40, 41, 40, 43, name="mine")
    (here / "broken.json").write_text("{")
    found = plot(*arguments)
    assert (found.status, found.stdout) == (2, "")
    assert line in found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert all(character.isprintable() or character == "\n" for character in found.stderr)
    assert not list(here.glob("*.svg"))


def test_a_path_that_is_not_there_is_told(here: Path) -> None:
    found = plot("./nowhere", "-o", "a.svg")
    assert found.status == 2
    assert "There is no " in found.stderr and "there is no entry to draw" in found.stderr


def test_without_matplotlib_one_line_says_how_to_mend_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = plot("resnet", "-o", "a.svg")
    assert (found.status, found.stdout) == (2, "")
    assert (
        found.stderr
        == "mlsub rcp plot: matplotlib is needed to draw. Install it from a copy of the source: pip install '.[plot]'\n"
    )


def test_reference_points_of_ones_own_are_drawn(here: Path) -> None:
    records = {
        f"bert_ref_{size}": {"Benchmark": "bert", "BS": size, "Epochs to converge": [mean - 1, mean, mean, mean + 1]}
        for size, mean in ((64, 100), (128, 110))
    }
    (here / "mine.json").write_bytes(msgspec.json.encode(records))
    found = plot("bert", "--round", "4.0", "--rcp", "mine.json", "-o", "a.svg")
    assert found.stdout == "a.svg: bert, MLPerf Training v4.0: 2 reference points\n"
    assert any(line.startswith("Reference points: mine.json.") for line in texts((here / "a.svg").read_bytes()))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_reach_neither_terminal_nor_picture(name: str, here: Path) -> None:
    tree = make_tree(here)
    tree.entry().parent.rename(tree.folder / "results" / HOSTILE[name])
    tree.description().rename(tree.folder / "systems" / f"{HOSTILE[name]}.json")
    target = tree.folder.rename(tree.folder.with_name(HOSTILE[name]))
    found = plot(target, "-o", "a.svg")
    assert found.status == 0
    content = (here / "a.svg").read_text("utf-8")
    assert all(character.isprintable() or character == "\n" for character in found.stdout + found.stderr + content)


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_a_published_round_is_drawn_in_full(here: Path) -> None:
    found = plot(folder("1.0"), "--benchmark", "bert", "-o", "a.svg")
    assert found.status == 0
    assert found.stdout.startswith("a.svg: bert, MLPerf Training v1.0: 8 reference points, 8 entries of 80 runs\n")
    drawn = (here / "a.svg").read_bytes()
    assert {f"mean-{number}" for number in range(1, 9)} <= set(series(drawn))
