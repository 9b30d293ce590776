"""The page on the database: every command runs, and every answer is the real one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from tests.docs.conftest import Follow
from tests.docs.pages import REPOSITORY, Reader, steps
from tools.support.corpus import CORPUS

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A folder with the published rounds, as the page has it."""
    folder = tmp_path_factory.mktemp("reader")
    if CORPUS.is_dir():
        (folder / "rounds").symlink_to(CORPUS)
    return Reader(folder)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_the_worked_questions_have_the_answers_of_the_page(reader: Reader, follow: Follow) -> None:
    follow("docs/db.md", reader)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_answers_are_those_that_the_logs_give(reader: Reader) -> None:
    """The same figures, computed from the logs by a few lines that know nothing of mlsub."""
    page = (REPOSITORY / "docs" / "db.md").read_text()
    [build] = re.findall(r"^\$ (mlsub db build .*)$", page, re.MULTILINE)
    reader.type(build)
    questions = steps(page[page.index("## Questions of an analyst") :])
    found = entries(CORPUS)
    assert len(questions) == len(ANSWERS) == 3
    for question, answer in zip(questions, ANSWERS, strict=True):
        rows = json.loads(reader.type(f"{question.command} --format json").stdout)["rows"]
        wanted = [[list(cell) if isinstance(cell, list) else cell for cell in row] for row in answer(found)]
        assert len(rows) == len(wanted), answer.__name__
        for row, other in zip(rows, wanted, strict=True):
            for cell, figure in zip(row, other, strict=True):
                close = isinstance(figure, float) and cell == pytest.approx(figure, rel=1e-9)
                assert close or cell == figure, (answer.__name__, row, other)


#: What stands in the name of a model or a system: the accelerator, its vendor and generation.
CHIPS = {
    "MI300X": ("MI300X", "AMD", "CDNA 3"),
    "MI325X": ("MI325X", "AMD", "CDNA 3"),
    "MI350X": ("MI350X", "AMD", "CDNA 4"),
    "MI355X": ("MI355X", "AMD", "CDNA 4"),
    "GC200": ("GC200", "Graphcore", "Mk2"),
    "Bow": ("Bow IPU", "Graphcore", "Bow"),
}
MEMORY = {"MI300X": 192, "MI325X": 256, "MI350X": 288, "MI355X": 288}
TITLES = {
    **{
        "bert": "BERT",
        "resnet": "ResNet-50",
        "dlrm": "DLRM",
        "gpt3": "GPT-3 175B",
        "rnnt": "RNN-T",
        "ssd": "RetinaNet",
    },
    **{"llama2_70b_lora": "Llama 2 70B LoRA", "llama31_8b": "Llama 3.1 8B", "stable_diffusion": "Stable Diffusion"},
    **{"unet3d": "3D U-Net", "dlrm_dcnv2": "DLRM-dcnv2", "retinanet": "RetinaNet", "minigo": "Minigo"},
    **{"maskrcnn": "Mask R-CNN", "gnmt": "GNMT", "transformer": "Transformer", "rgat": "R-GAT"},
}
WANTED = re.compile('"(run|init)_(start|stop)"')


class Entry(NamedTuple):
    """An entry of Training: its score is the mean of its runs without the fastest and the slowest, times a factor.

    ``runs`` are the minutes from start to stop, infinite where a run failed.
    """

    round: str
    folder: str
    benchmark: str
    closed: bool
    chips: int
    chip: tuple[str, ...]
    scaling: float
    runs: list[float]

    @property
    def unscaled(self) -> float:
        dropped = 4 if self.benchmark == "unet3d" else 1
        return fmean(sorted(self.runs)[dropped:-dropped])

    @property
    def minutes(self) -> float:
        return self.unscaled * self.scaling

    @property
    def title(self) -> str:
        return "SSD" if self.benchmark == "ssd" and self.round < "2" else TITLES[self.benchmark]


def entries(corpus: Path) -> list[Entry]:
    """Every entry of Training that has a score."""
    found = (_entry(folder) for folder in sorted(corpus.glob("v*/*/results/*/*")) if any(folder.glob("result_*.txt")))
    return [entry for entry in found if math.isfinite(entry.unscaled)]


def _entry(folder: Path) -> Entry:
    organisation, factor = folder.parents[2], folder / "scaling.json"
    described: dict[str, Any] = json.loads((organisation / "systems" / f"{folder.parent.name}.json").read_bytes())
    names = f"{described['accelerator_model_name']} {folder.parent.name}"
    return Entry(
        round=organisation.parent.name.removeprefix("v"),
        folder=organisation.name,
        benchmark=folder.name,
        closed=described.get("division") in ("closed", "close"),
        chips=int(described["number_of_nodes"]) * int(described["accelerators_per_node"] or 0),
        chip=next((chip for said, chip in CHIPS.items() if re.search(said, names, re.IGNORECASE)), ()),
        scaling=json.loads(factor.read_bytes())["scaling_factor"] if factor.exists() else 1.0,
        runs=[_minutes(log) for log in sorted(folder.glob("result_*.txt"))],
    )


def _minutes(log: Path) -> float:
    first: dict[str, dict[str, Any]] = {}
    last: dict[str, dict[str, Any]] = {}
    for event in _events(log):
        first.setdefault(event["key"], event)
        last[event["key"]] = event
    init = _between(first.get("init_start"), first.get("init_stop"))
    stop = last.get("run_stop")
    failed = stop is None or stop["metadata"].get("status") != "success" or (init or 0) > 30
    return math.inf if failed else _between(first["run_start"], stop) or 0.0


def _events(log: Path) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    with log.open(encoding="latin-1") as lines:
        for line in lines:
            at = line.find(":::MLL")
            if at >= 0 and WANTED.search(line):
                yield decoder.raw_decode(line, line.index("{", at))[0]


def _between(start: dict[str, Any] | None, stop: dict[str, Any] | None) -> float | None:
    return None if start is None or stop is None else (float(stop["time_ms"]) - float(start["time_ms"])) / 60_000


def grouped(found: list[Entry], *names: str) -> list[tuple[tuple[Any, ...], list[Entry]]]:
    """Entries that are alike in some fields, sorted by them; rounds by age."""

    def key(entry: Entry) -> tuple[Any, ...]:
        return tuple(getattr(entry, name) for name in names)

    return [(values, list(members)) for values, members in groupby(sorted(found, key=key), key)]


def pod16(found: list[Entry]) -> list[tuple[Any, ...]]:
    own = [one for one in found if one.folder == "Graphcore" and one.closed and one.chips == 16]
    rows = []
    for _, members in grouped(own, "benchmark"):
        best = [min(some, key=lambda one: one.minutes) for _, some in grouped(members, "round")]
        rows += [(one.title, one.round, one.chip[0], one.minutes, best[0].minutes / one.minutes) for one in best]
    return rows


def instincts(found: list[Entry]) -> list[tuple[Any, ...]]:
    own = [one for one in found if one.benchmark == "llama2_70b_lora" and one.round == "5.1" and one.chips == 8]
    own = [one for one in own if one.chip[1:2] == ("AMD",)]
    best = {chip: (min(one.minutes for one in members), len(members)) for (chip,), members in grouped(own, "chip")}
    slowest = max(minutes for minutes, _ in best.values())
    rows = [(c[0], c[2], MEMORY[c[0]], minutes, slowest / minutes, count) for c, (minutes, count) in best.items()]
    return sorted(rows, key=lambda row: -row[3])


def scaled(found: list[Entry]) -> list[tuple[Any, ...]]:
    rows = []
    for (title,), members in grouped(found, "title"):
        some = [one for one in members if one.scaling != 1]
        if some:
            most = max(one.minutes - one.unscaled for one in members)
            rows.append((title, len(members), len(some), max(one.scaling for one in members), most))
    return sorted(rows, key=lambda row: (-row[2], row[0]))


#: In the order of the page.
ANSWERS = (pod16, instincts, scaled)
