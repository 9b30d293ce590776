"""The first page: what is new, the record of each benchmark over time, and the rounds and their fastest as tables."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.site.dots import RECORD_KEY, record_chart
from mlsub.commands.site.history import History, by_age
from mlsub.commands.site.model import Section, counted, text_of
from mlsub.commands.site.news import news
from mlsub.commands.site.pages import REHEARSAL, Page
from mlsub.commands.site.tables import bert_words, fastest_table, history_table, missing_words, rounds_table
from mlsub.commands.site.whole import Whole

_RECORDS = (
    "Minutes to train on a logarithmic axis over the day of publication: the fastest Closed result of each vendor of "
    "accelerators in each round, on systems of any size. The line is the record; it breaks where a benchmark changed, "
    "so that its results cannot be compared."
)
_FASTEST = (
    "Published scores of systems of any size, whatever their verdict; rounds have different rules, so results "
    "of different rounds cannot be compared directly."
)


def overview(whole: Whole, title: str | None) -> Page:
    """The first page; ``title`` is that of the site, None for the usual one."""
    rehearsal = any(one.round.usage == "rehearsal" for one in whole.rounds)
    sections = [*_records(whole)]
    runs = counted(sum(result.entry.runs for result in whole.results), "run")
    count = f"{counted(len(whole.results), 'result')} of {counted(len(whole.rounds), 'round')}, {runs}."
    words = (
        f"{count} Closed and Open results are never ranked together: Open results may use another model.",
        "All figures are computed from the logs and the factors beside them; none is taken from a published table.",
    )
    sections.append(
        Section(
            key="rounds", title="Rounds", words=words, tables=(rounds_table(by_age(whole.rounds, newest_first=True)),)
        )
    )
    fastest = fastest_table(by_age(whole.rounds))
    if fastest.rows:
        said = (_FASTEST, *missing_words(whole.rounds), *bert_words(whole.results))
        more = (history_table(by_age(whole.rounds)),)
        sections.append(
            Section(key="fastest", title="Fastest Closed results", words=said, tables=(fastest,), data=more)
        )
    return Page(
        path="index.html",
        title=text_of(title, 200) if title else "Results" if rehearsal else "MLPerf results",
        lead=(*((REHEARSAL,) if rehearsal else ()), *news(whole.rounds)),
        sections=tuple(sections),
        whole=True,
    )


def _records(whole: Whole) -> Iterator[Section]:
    """The small charts: first the benchmarks of the newest round of each usage, then those that are no more."""
    newest = {one.usage: one.results[-1].round for one in reversed(whole.histories)}
    groups: dict[str, list[History]] = {}
    for one in whole.histories:
        current = one.results[-1].round.name == newest[one.usage].name
        groups.setdefault(
            f"Records: {newest[one.usage].title}" if current else "Records: earlier benchmarks", []
        ).append(one)
    for place, (title, some) in enumerate(groups.items()):
        charts = [chart for one in some if (chart := record_chart(whole, one, f"{place}-{one.name}")) is not None]
        if charts:
            drawn = [result for one in some for result in one.closed]
            yield Section(
                key=f"records-{place}",
                title=title,
                words=(_RECORDS,) if place == 0 else (),
                charts=tuple(charts),
                small=True,
                legend=(*whole.keys("vendor", drawn), RECORD_KEY),
            )
