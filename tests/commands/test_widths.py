"""Every command that prints, on a terminal of 60, 80 and 120 columns: no line is too long, every name can be read."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from mlsub.cli import main
from mlsub.io.show import cells, shorten
from mlsub.present import text as present_text
from mlsub.present.document import Column
from mlsub.present.text import LEAST, LEAST_NAME, Layout, layout
from tests.commands.calls import Case, calls, cases, filled
from tests.commands.tree import leaves
from tests.golden import places
from tools.support.corpus import CORPUS

WIDTHS = (60, 80, 120)
#: So wide that nothing has to give way.
WIDE = 200
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


#: What these print is for programs or for a file, not to be read at a terminal: a schema, a script, a description.
FOR_PROGRAMS = {"schema", "completion", "system new", "system capture"}


def shown_cases() -> list[Case]:
    """The cases that say so, and of each command without one the first."""
    found = {name: [case for case in cases().values() if calls()[case.call].name == name] for name in leaves()}
    return [
        case
        for name, asked in found.items()
        if name not in FOR_PROGRAMS
        for case in [one for one in asked if one.shown] or asked[:1]
    ]


def called(words: str, width: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal of that width shows; ``folder`` stands for {tmp}."""
    terminal = Terminal()
    with monkeypatch.context() as here:
        here.chdir(folder)
        here.setenv("COLUMNS", str(width))
        here.setenv("TERM", "xterm")
        here.delenv("NO_COLOR", raising=False)
        here.setattr(sys, "stdout", terminal)
        here.setattr(sys, "stderr", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            main(filled(words, tmp=folder))
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
    """A name is there whole, folded behind its signs, or shortened so that it is no other."""
    folded = "".join(re.escape(sign) + (r"(?:[^\n]*\n[^\n]*?)?" if sign in "/_,=-" else "") for sign in name)
    if re.search(folded, text):
        return True
    for begin, end in SHORTENED.findall(text):
        alike = {one for one in others if one.startswith(begin) and one.endswith(end)}
        if alike == {name} and cell_len(begin + end) + 1 >= LEAST_NAME:
            return True
    return False


@pytest.mark.parametrize("case", shown_cases(), ids=lambda case: case.name)
def test_at_every_width(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.needs_corpus and not CORPUS.is_dir():
        pytest.skip(f"published packages are not at {CORPUS}")
    tables = Tables()
    monkeypatch.setattr(present_text, "layout", tables.layout)
    words = f"{case.call} {case.of}"
    shown: dict[int, str] = {}
    for width in (WIDE, *WIDTHS):
        folder = tmp_path / (str(width) if case.written else "all")
        if not folder.is_dir():
            folder.mkdir()
            getattr(places, case.place or "", lambda _: None)(folder)
            for step in case.before:
                called(step, WIDE, folder, monkeypatch)
        shown[width] = called(words, width, folder, monkeypatch)
    assert shown[WIDE].strip()
    known = names(words, folder)
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
