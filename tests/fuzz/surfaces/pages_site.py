"""Pages of the site with any text in every place: the elements that harmless text makes, and the text itself."""

from __future__ import annotations

import json
import re
from typing import Any

from mlsub.commands.site.page import Card, Cell, Chart, Page, Quote, Section, Series, Table, clean, number_text
from mlsub.commands.site.render import render_page, safe_json, shared_series
from mlsub.commands.site.results import slug
from mlsub.present.document import Share
from tests.fuzz.documents import Change, Harmless
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.pagecheck import same_page, squeezed
from tests.fuzz.provider import Provider
from tests.fuzz.seeds import MARKUP, texts

#: What ends a script, or begins markup in one.
_UNSAFE = re.compile(r"[<>&\u2028\u2029]")
_NUMBERS = (0.0, 1.5, -3.0, 1e300, float("nan"), float("inf"), 123456.789)


class _Maker:
    """Makes a page of the bytes of an input, and notes the texts that it has to show."""

    def __init__(self, data: bytes, change: Change) -> None:
        self._said = Provider(data)
        self._change = change
        self.shown: list[str] = []
        self.data: list[Any] = []

    def page(self) -> Page:
        title = self._text()
        sections = tuple(self._section(number) for number in range(1 + self._said.below(4)))
        name = self._change(self._said.text().replace("/", ""))
        return Page(
            path=f"results/{slug('x')}.html",
            title=title,
            lead=(self._text(),),
            crumbs=((self._text(), f"organisations/{slug(name)}.html"),),
            score=self._cell(name) if self._said.below(2) else None,
            facts=((self._text(), self._cell(name)),),
            sections=sections,
        )

    def _text(self) -> str:
        """A text from outside, as all parts of the site take it."""
        # Long cells look different, so that each text here is a short one.
        text = self._change(clean(self._said.text(), 40))
        self.shown.append(text)
        return text

    def _number(self) -> float:
        return self._said.one_of(_NUMBERS)

    def _cell(self, name: str = "x") -> Cell:
        how, number = self._said.byte(), self._number()
        sort = number if how & 1 and number_text(number) != "–" else None
        href = f"organisations/{slug(name)}.html" if how & 2 else None
        note = self._change(clean(self._said.text(), 40)) or None if how & 4 else None
        return Cell(self._text(), sort, href, ("good", None)[how // 8 % 2], note)

    def _table(self) -> Table:
        heads = tuple(self._text() for _ in range(1 + self._said.below(3)))
        rows = tuple(tuple(self._cell() for _ in heads) for _ in range(self._said.below(4)))
        return Table(caption=self._text(), heads=heads, rows=rows)

    def _chart(self) -> Chart:
        data: dict[str, Any] = {self._plain(): self._plain(), "list": [self._plain()]}
        if self._said.below(2):
            self.data.append(data)
            return Chart(kind="dots", title=self._text(), about=self._text(), data=data, href="index.html")
        points = tuple((self._number(), self._number()) for _ in range(self._said.below(3)))
        series = Series(self._plain(), "line", 1, points)
        self.data.append({"x": self._plain(), "name": series.name})
        data = {"x": {"title": self.data[-1]["x"]}, "series": [series]}
        return Chart(kind="series", title=self._text(), about=self._text(), data=data)

    def _plain(self) -> str:
        """A text that only scripts read; JSON has no halves of surrogate pairs."""
        return self._change(clean(self._said.text(), 60))

    def _card(self, number: int) -> Card:
        rows = ((self._text(), (self._text(), self._text())),)
        words = {name: self._text() for name in ("id", "headline", "text")}
        return Card(key=f"claim-{number}", kind="holds", charts=(self._chart(),), first=rows, **words)

    def _section(self, number: int) -> Section:
        how = self._said.byte()
        charts = (self._chart(),) if how & 1 else ()
        # A legend is for charts alone, and each of its marks has a shape of our own.
        return Section(
            key=f"part-{number}",
            title=self._text(),
            words=(self._text(),),
            charts=charts,
            shares=(Share("holds", 3, 0),) if how & 2 else (),
            cards=(self._card(number),) if how & 4 else (),
            tables=(self._table(),) if how & 8 else (),
            data=(self._table(),) if how & 16 else (),
            small=bool(how & 32) and all(one.kind == "dots" for one in charts),
            legend=((self._text(), 1, "disc"),) if how & 64 else (),
            quotes=(Quote(self._text(), self._text()),) if how & 128 else (),
        )


def _page(data: bytes) -> None:
    maker, quiet = _Maker(data, str), _Maker(data, Harmless())
    page = render_page((("Overview", "index.html"),), maker.page())
    read = same_page(page, render_page((("Overview", "index.html"),), quiet.page()))
    shown = squeezed(read.text)
    for text in maker.shown:
        if squeezed(text) not in shown:
            raise BrokenError(f"{text!r} is not on the page")
    if len(read.data) != len(maker.data):
        raise BrokenError(f"{len(read.data)} scripts with data, not {len(maker.data)}")
    for found, said in zip(read.data, maker.data, strict=True):
        same = (
            found == said
            if "list" in said
            else (found["x"]["title"], found["series"][0]["name"]) == tuple(said.values())
        )
        if not same:
            raise BrokenError(f"{said} reads back as {found}")


def _scripts(data: bytes) -> None:
    """Any values as JSON in a script, and as a script of its own."""
    said = Provider(data)
    found = [said.text() for _ in range(1 + said.below(6))]
    content = {"names": [clean(text) for text in found], "values": [said.one_of(_NUMBERS) for _ in found]}
    text = safe_json(content)
    if _UNSAFE.search(text):
        raise BrokenError(f"it may end its script: {text!r}")
    read = json.loads(text)
    if read["names"] != content["names"]:
        raise BrokenError(f"{content} reads back as {read}")
    name, script = shared_series((Series(clean(found[0]), "marks", 1, ((1.0, 2.0),)),))
    start = f'"use strict";\n(window.mlsubShared ??= {{}})["{name}"] = '
    line = script.decode("utf-8")
    if not line.startswith(start) or json.loads(line.removeprefix(start).removesuffix(";\n"))[0]["name"] != clean(
        found[0]
    ):
        raise BrokenError(f"another script: {line!r}")


_ALL = b"\xdf"
_SEEDS = (
    texts(b"title") + b"\0\0" + texts(b"section", b"words"),
    texts(b"title") + b"\0" + _ALL + b"\0" * 8 + texts(*(b"text %d" % number for number in range(40))),
    *(texts(b"title") + b"\0" + bytes([1 << part]) + b"\1\1" + texts(*(b"text",) * 12) for part in range(8)),
)

HARNESSES = (
    Harness("page-site", "pages of the results site", _page, lambda: _SEEDS, MARKUP, longest=3_000),
    Harness(
        "page-script",
        "data of charts in scripts",
        _scripts,
        lambda: (texts(*MARKUP[:3]), b"\2" + texts(*MARKUP[20:40])),
        MARKUP,
        longest=2_000,
    ),
)
