"""Small sites to look into, and rounds of results in a few words each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from msgspec.structs import replace

from mlsub.commands.site.page import Page
from mlsub.commands.site.results import Site, SiteResult, SiteRound, build_rounds
from mlsub.findings import Verdict
from mlsub.present.document import Block, Chart, Code, Facts, Section, Span, Table, Text, text_of
from mlsub.submission.report import EmptyFolder, Report
from mlsub.workspace import Checked, Context, Request, check_with_logs
from tools.support.make_tree import Tree, make_tree


def two_rounds(above: Path) -> list[Path]:
    """Two rounds: in v1.0 two Closed results and an Open one, in v1.1 a Closed one that is rejected."""
    tree = make_tree(above, benchmarks=["resnet", "bert"])
    tree.add_system("rack2", "open")
    tree.add_entry("resnet", "rack2", "open")
    later = make_tree(above, "v1.1", "ZETA")
    later.edit(lambda log: log.put("eval_accuracy", value=0.1), 0, 1)
    return [tree.folder.parent, later.folder.parent]


def checked(*paths: Path) -> list[Checked]:
    asked = Request("1.0" if "loose" in paths[0].parts else None, intervals=True)
    return check_with_logs([str(path) for path in paths], Context(asked, jobs=1))


def rounds(*paths: Path) -> tuple[SiteRound, ...]:
    return tuple(build_rounds(checked(*paths)))


def site_of(*paths: Path) -> Site:
    """All of a site."""
    return Site(rounds(*paths))


def one_round(place: Tree | Path) -> SiteRound:
    """The results of one tree, or of a folder of runs of v1.0."""
    (found,) = rounds(place.folder if isinstance(place, Tree) else place)
    return found


def script(content: bytes) -> Any:
    """What a script of a site defines."""
    text = content.decode()
    return json.loads(text[text.index(" = ") + 3 : text.rindex(";")])


def result_rows(content: bytes) -> list[dict[str, Any]]:
    """The values of each result in the script of all results, which has them by column and each text once."""
    columns, keys = [], []
    for column in script(content)["columns"]:
        names, values = column.get("names"), column["values"]
        columns.append(values if names is None else [None if value < 0 else names[value] for value in values])
        keys.append(column["key"])
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


B = TypeVar("B", bound=Block)


def blocks_of(part: Page | Section, kind: type[B]) -> tuple[B, ...]:
    """The blocks of one kind of a page or a section, in their order."""
    return tuple(block for block in part.blocks if isinstance(block, kind))


def sections_of(page: Page) -> dict[str, Section]:
    """The sections of a page by their names in its address."""
    return {str(section.anchor): section for section in blocks_of(page, Section)}


def charts_of(part: Page | Section) -> tuple[Chart, ...]:
    return tuple(part.charts()) if isinstance(part, Page) else blocks_of(part, Chart)


def view_of(chart: Chart, name: str = "same-size") -> dict[str, Any]:
    """The data of a chart in one of its views."""
    return {**chart.data, **chart.data["views"][name]}


def tables_of(section: Section) -> tuple[Table, ...]:
    return blocks_of(section, Table)


def words_of(part: Page | Section) -> tuple[str, ...]:
    """The paragraphs of a page before its sections, or those of a section."""
    return tuple(text_of(block.words) for block in blocks_of(part, Text))


def quotes_of(section: Section) -> list[str]:
    """The texts to copy."""
    return [code.text for quote in blocks_of(section, Section) for code in blocks_of(quote, Code)]


def facts_of(page: Page) -> dict[str, Span]:
    (facts,) = blocks_of(page, Facts)
    return {name: cell for name, cell in facts.facts if isinstance(cell, Span)}


def heads_of(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def changed(of: SiteResult, **facts: Any) -> SiteResult:
    """The same with other facts of its result."""
    return replace(of, result=replace(of.result, **facts))


class Html(HTMLParser):
    """What a browser makes of a page: its elements, the text outside of scripts, and the data in them.

    ``datasets`` is what the page says of itself to search engines.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.data: list[dict[str, Any]] = []
        self.datasets: list[dict[str, Any]] = []
        self._open = ""
        self.feed(content.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            (self.datasets if self.elements[-1][1]["type"] == "application/ld+json" else self.data).append(
                json.loads(data)
            )
        elif data.strip():
            self.text.append(data.strip())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


#: Round, benchmark folder, organisation, accelerator, number, minutes, and where it is not Closed the division.
Words = Sequence[Any]


@lru_cache(maxsize=1)
def _any() -> Report:
    with TemporaryDirectory() as above:
        return one_round(make_tree(Path(above))).report


def rounds_of(cases: dict[str, Iterable[Words]], partial: Iterable[str] = ()) -> list[SiteRound]:
    """Rounds by their names, each with the words of its results; those of ``partial`` have a folder without logs."""
    numbers = count()
    checked = []
    for round_name, words in cases.items():
        usage = "hpc" if str(round_name).startswith("hpc ") else "training"
        made = [_made(next(numbers), one) for one in words]
        report = replace(
            _any(), usage=usage, round=str(round_name).removeprefix("hpc "), findings=(),
            entries=tuple(entry for entry, _ in made), systems=tuple(system for _, system in made),
            without_logs=tuple(
                EmptyFolder(path=f"results/absent/{name}", organisation="ACME", system="absent", benchmark=name)
                for name in {entry.benchmark for entry, _ in made}
                if str(round_name) in partial
            ),
        )  # fmt: skip
        checked.append(Checked((report,)))
    return build_rounds(checked)


def _made(number: int, words: Words) -> tuple[Any, Any]:
    benchmark, organisation, model, accelerators, minutes, *rest = words
    report, division, system = _any(), rest[0] if rest else "closed", f"rack{number}"
    (entry,), (described,) = report.entries, report.systems
    facts = replace(
        described.facts, submitter=organisation, accelerator_model_name=model, number_of_nodes=1,
        accelerators_per_node=accelerators, system_name=f"{accelerators} {model}",
    )  # fmt: skip
    score = replace(entry.score, published=minutes)
    made = replace(
        entry, benchmark=benchmark, organisation=organisation, division=division, score=score, system=system,
        path=f"results/{system}/{benchmark}",
    )  # fmt: skip
    return made, replace(described, path=f"systems/{system}.json", facts=facts)


def result(round_name: str, words: Words) -> SiteResult:
    """A result in the words of a case."""
    (one,) = rounds_of({round_name: [words]})
    return one.results[0]


def made_of(cases: dict[str, Iterable[Words]], partial: Iterable[str] = ()) -> Site:
    """All of a site."""
    return Site(rounds_of(cases, partial))


def rejected(of: SiteResult) -> SiteResult:
    """The same result, rejected."""
    return changed(of, official=Verdict.REJECTED)
