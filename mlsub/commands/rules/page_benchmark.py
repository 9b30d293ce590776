"""The page of one benchmark: its rounds, what holds, and what each round changed."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.rules.history import History, Period, history
from mlsub.commands.rules.markdown import cell, code, link, prose, table
from mlsub.commands.rules.page_changes import change_table, row_cells
from mlsub.commands.rules.table import RuleTable
from mlsub.rounds.names import spans


def benchmark_page(usage: str, name: str) -> Iterator[str]:
    """The lines of the page."""
    of = history(usage, name)
    newest = of.rounds[-1]
    yield from (f"# {name}", "", f"{prose(of.title)}.", "")
    links = [link(round_.name, f"../rounds/{usage}-{round_.name}.md") for round_ in of.rounds]
    yield from (f"Rounds: {usage} {', '.join(links)}.", "")
    yield from table(
        ["rounds", "runs", "may fail", "quality target, Closed", "quality target, Open"],
        [_period(usage, period) for period in of.periods],
    )
    for answer in of.newest:
        yield from ("", f"## {answer.division.capitalize()}, {newest.name}", "")
        yield from _demands(of, answer)
    yield ""
    every = f"../rounds/{usage}-{newest.name}.md#every-log"
    yield f"Beside this, what {link('every log', every)} of {newest.name} must hold."
    if of.steps:
        yield from ("", "## What changed")
    for step in of.steps:
        yield from ("", f"### {step.round.name}", "")
        yield from change_table(step.facts, step.keys, ("closed", "open"))


def _period(usage: str, period: Period) -> list[str]:
    needs = period.needs
    return [
        spans(usage, [round_.name for round_ in period.rounds]),
        str(needs.runs),
        str(needs.forgiven),
        *(cell(words) or "none" for words in needs.targets.values()),
    ]


def _demands(of: History, answer: RuleTable) -> Iterator[str]:
    if not answer.sections:
        yield "Nothing beyond what every log must hold."
    for section in answer.sections:
        where = section.where.words() if section.where else ""
        if section.where:
            yield from ("", f"Where {code(section.where.key)} is {code(section.where.value)}:", "")
        yield from table(
            ["key", "occurs", "constraint", "since"],
            [[*row_cells(row), of.since[(answer.division, where, row.key)]] for row in section.rows],
        )
