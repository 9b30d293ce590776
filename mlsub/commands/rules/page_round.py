"""The page of one round: benchmarks, whole packages, what changed, and what every log must hold."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.commands.rules.diff import round_diff
from mlsub.commands.rules.markdown import cell, code, link, prose, table
from mlsub.commands.rules.overview import round_line
from mlsub.commands.rules.package import package_facts
from mlsub.commands.rules.page_changes import benchmark_link, diff_body, row_cells
from mlsub.commands.rules.table import Row, common_table
from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks
from mlsub.rounds import Round
from mlsub.rounds.names import all_rounds


def round_page(round_: Round) -> Iterator[str]:
    """The lines of the page."""
    line = round_line(round_)
    yield from (f"# {round_.title}", "")
    yield from (f"Official rules: {code(round_.checker)}.{_neighbours(round_)}", "")
    yield from (f"- {name}: {prose(words)}" for name, words in package_facts(round_).items())
    yield from ("", "## Benchmarks", "")
    yield from table(
        ["benchmark", "runs", "may fail", "quality target, Closed", "quality target, Open"],
        [
            [
                benchmark_link(of.name),
                str(of.runs),
                str(of.forgiven),
                *(cell(words) or "none" for words in of.targets.values()),
            ]
            for of in line.benchmarks
        ],
    )
    before = _beside(round_, -1)
    if before is not None:
        yield from ("", f"## What changed since {before.name}", "")
        yield from diff_body(round_diff(before, round_))
    yield from ("", "## Every log", "")
    yield from table(["key", "occurs", "constraint", "division"], _common(round_))
    groups = common_table(round_, "closed").at_least_one_of
    if groups:
        yield from ("", f"One of each must appear: {', '.join(' or '.join(map(code, group)) for group in groups)}.")


def _neighbours(round_: Round) -> str:
    said = []
    for step, word in ((-1, "Before"), (1, "Next")):
        other = _beside(round_, step)
        if other is not None:
            said.append(f" {word}: {link(other.name, f'{other.usage}-{other.name}.md')}.")
    return "".join(said)


def _beside(round_: Round, step: int) -> Round | None:
    rounds = all_rounds(round_.usage)
    place = [other.name for other in rounds].index(round_.name) + step
    return rounds[place] if 0 <= place < len(rounds) else None


def _common(round_: Round) -> Iterator[list[str]]:
    """The common rows, those of both divisions once."""
    found: dict[Row, list[str]] = {}
    for division in DIVISIONS:
        for row in common_table(round_, division).rows:
            bare = msgspec.structs.replace(row, source="", blocks=Blocks.NONE, rules=())
            found.setdefault(bare, []).append(division)
    order = list(dict.fromkeys(row.key for row in found))
    for row, divisions in sorted(found.items(), key=lambda item: order.index(item[0].key)):
        yield [*row_cells(row), "both" if len(divisions) == len(DIVISIONS) else prose(divisions[0])]
