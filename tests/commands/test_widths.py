"""Every command that prints, on a terminal of 60, 80 and 120 columns: no line is too long, every name can be read."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from rich.cells import cell_len

from mlsub.cli import main
from mlsub.present import text as present_text
from mlsub.present.document import Column
from mlsub.present.width import LEAST, LEAST_NAME, Layout, cells, layout, shorten
from tests.commands.tree import leaves
from tests.golden import places
from tests.golden.ask import line_of
from tools.support.corpus import CORPUS, REPOSITORY

WIDTHS = (60, 80, 120)
#: So wide that nothing has to give way.
WIDE = 200
TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("widths.yaml").read_text("utf-8"))
#: Colours and weights of a terminal, which take no room.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SHORTENED = re.compile(r"(\S*)…(\S*)")


class Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return COLOUR.sub("", self.buffer.getvalue().decode("utf-8"))


def cases() -> list[dict[str, Any]]:
    """The cases of the table, and of each command that is not in it the first of tests/golden."""
    tried = {of(case["words"]) for case in TABLE["cases"]} | set(TABLE["for_programs"])
    found = list(TABLE["cases"])
    for command in sorted(set(leaves()) - tried):
        case, words = line_of(command)
        before = [step.replace(": ", " ", 1) for step in case.before]
        found.append({"words": words, "place": case.place or "", "before": before, "again": True})
    return found


def of(words: str) -> str:
    """The command that a command line calls."""
    first, second = words.split()[:2]
    return f"{first} {second}" if isinstance(main.get_command(click.Context(main), first), click.Group) else first


def called(words: str, width: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal of that width shows; ``folder`` stands for {tmp}."""
    terminal = Terminal()
    filled = words.format(corpus=CORPUS, submissions=REPOSITORY / "submissions", tmp=folder)
    with monkeypatch.context() as here:
        here.chdir(folder)
        here.setenv("COLUMNS", str(width))
        here.setenv("TERM", "xterm")
        here.delenv("NO_COLOR", raising=False)
        here.setattr(sys, "stdout", terminal)
        here.setattr(sys, "stderr", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(filled))
        assert ended.value.code in (0, 1), sys.stderr.getvalue()  # type: ignore[attr-defined]
    return terminal.shown()


class Tables:
    """What became of the columns of each table that was laid out."""

    def __init__(self) -> None:
        self.narrow: list[str] = []

    def layout(self, columns: Sequence[Column], texts: Sequence[Sequence[str]], key: int, width: int) -> Layout | None:
        fits = layout(columns, texts, key, width)
        for at, given in zip(fits.shown, fits.widths, strict=True) if fits else ():
            column, natural = columns[at], max(map(cells, texts[at]), default=0)
            named = column.when_narrow == "shorten" and not column.number
            if not column.number and given < min(natural, LEAST_NAME if named else LEAST):
                self.narrow.append(f"{column.name or at}: {given}")
            if named and len({shorten(one, given) for one in texts[at]}) < len(set(texts[at])):
                self.narrow.append(f"{column.name or at}: names are not distinct")
        return fits


def names(words: str, folder: Path) -> set[str]:
    """The names of organisations, systems and benchmarks that a command line leads to."""
    found: set[str] = set()
    for word in words.replace("{corpus}", str(CORPUS)).replace("{tmp}", str(folder)).split():
        place = Path(word)
        if place.is_dir() and place.is_absolute():
            for results in place.rglob("results"):
                systems = [path for path in results.iterdir() if path.is_dir()]
                found |= {results.parent.name} | {path.name for path in systems}
                found |= {path.name for system in systems for path in system.iterdir() if path.is_dir()}
    return found


def readable(name: str, text: str, others: set[str]) -> bool:
    """A name is there whole, or shortened so that it is no other."""
    if name in text:
        return True
    for begin, end in SHORTENED.findall(text):
        alike = {one for one in others if one.startswith(begin) and one.endswith(end)}
        if alike == {name} and cell_len(begin + end) + 1 >= LEAST_NAME:
            return True
    return False


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if case["words"].startswith("demo ") else ()) for case in cases()],
    ids=lambda case: re.sub(r"\{\w+\}/", "", case["words"])[:50],
)
def test_at_every_width(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if case["words"].startswith("demo "):
        request.getfixturevalue("scikit_learn")
    lines = [*case.get("before", ()), case["words"]]
    if "{corpus}" in " ".join(lines) and not CORPUS.is_dir():
        pytest.skip(f"published packages are not at {CORPUS}")
    tables = Tables()
    monkeypatch.setattr(present_text, "layout", tables.layout)
    shown: dict[int, str] = {}
    for width in (WIDE, *WIDTHS):
        folder = tmp_path / str(width if case.get("again") else "all")
        if not folder.is_dir():
            folder.mkdir()
            getattr(places, case.get("place", ""), lambda _: None)(folder)
            for words in case.get("before", ()):
                called(words, WIDE, folder, monkeypatch)
        shown[width] = called(case["words"], width, folder, monkeypatch)
    assert shown[WIDE].strip()
    known = names(case["words"], tmp_path / "all")
    wrong = [(width, list(_wrong(shown[width], width, shown[WIDE], known))) for width in WIDTHS]
    told = [
        f"at {width}: {text}" for width, found in wrong for text in (found if len(found) < 4 else [*found[:3], "..."])
    ]
    if told or tables.narrow:
        pytest.fail("\n".join([*told, *tables.narrow]), pytrace=False)


def _wrong(text: str, width: int, wide: str, known: set[str]) -> Iterator[str]:
    for line in text.splitlines():
        if cell_len(line) > width:
            yield f"a line of {cell_len(line)} columns: {line}"
        if not all(character.isprintable() for character in line):
            yield f"a line that steers the terminal: {line!r}"
    for name in sorted(known):
        if name in wide and not readable(name, text, known):
            yield f"{name} cannot be read"
