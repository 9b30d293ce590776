"""The pages above all others: what is new and the records, the table of all results, and the page of each round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from mlsub.commands.site.charts import record_chart, round_charts
from mlsub.commands.site.page import MINUTES, OVERVIEW, RESULTS_SCRIPT, UNVERIFIED, Page, count_text, number_text
from mlsub.commands.site.results import DIVISIONS, USAGES, Results, Site, SiteResult, SiteRound, minutes_of
from mlsub.commands.site.tables import bert_words, files_table, results_table, rounds_table, with_energy
from mlsub.commands.site.views import LEADERS, SAME, View, alike, best_tables, by_round
from mlsub.divisions import CLOSED, OPEN
from mlsub.io.show import first_few
from mlsub.present.document import Chart, Section, Text
from mlsub.present.entries import BY_LOGS, REHEARSAL
from mlsub.rounds.benchmarks import published

#: Records that are named, the greatest gains first.
_NAMED = 3
#: Rounds of one usage from which on records are drawn over them.
_MANY = 3
_RECORDS = (
    "On a logarithmic axis over the rounds of the benchmark the best Closed result of each vendor of accelerators in "
    "each round. The grey line is the record; lines break where a benchmark changed, so that its results cannot be "
    "compared. At any size records say as much of the number of accelerators as of progress."
)
_FASTEST = (
    "Published scores of the results here, whatever their verdict. Rounds have different rules: records are of rounds "
    "that MLCommons calls comparable."
)
_ROUND = ("result", "plain minutes", "verdict", "organisation", "system", "accelerators")


def home_page(site: Site, title: str | None) -> Page:
    """Return the first page; ``title`` is that of the site, None for the usual one."""
    rehearsal = any(one.rules.usage == "rehearsal" for one in site.rounds)
    runs = count_text(sum(one.result.runs for one in site.results), "run")
    count = f"{count_text(len(site.results), 'result')} of {count_text(len(site.rounds), 'round')}, {runs}."
    words = (
        f"{count} Closed and Open results are never ranked together: Open results may use another model.",
        "All figures are computed from the logs and the factors beside them; none is taken from a published table.",
    )
    sentences = news(site)
    what = f"{site.results.suite} results, {site.results.period}" if site.results else "No results"
    return Page(
        title or ("Results" if rehearsal else "MLPerf results"),
        (
            *map(Text, ((REHEARSAL,) if rehearsal else ()) + sentences),
            *((Text(missing),) if (missing := site.results.closed.missing) else ()),
            *_leaders(site),
            *_records(site),
            Section("Rounds", (*map(Text, words), rounds_table(site.rounds[::-1])), anchor="rounds"),
            *_fastest(site),
        ),
        path="index.html",
        full_title=title or what,
        description=" ".join((*sentences[:2], UNVERIFIED)),
    )


def _records(site: Site) -> Iterator[Section]:
    """Yield the small charts: first the benchmarks of the newest round of each usage, then those that are no more."""
    newest = {some[-1].result.usage: some[-1].result for some in reversed(site.benchmarks)}
    rounds = Counter(one.rules.usage for one in site.rounds)
    groups: dict[str, list[Chart]] = {}
    for some in site.benchmarks:
        last = newest[some[-1].result.usage]
        is_new = some[-1].result.round == last.round
        chart = None if is_new and rounds[last.usage] < _MANY else record_chart(site, some)
        if chart is not None:
            groups.setdefault(last.rules.title if is_new else "earlier benchmarks", []).append(chart)
    for place, (name, charts) in enumerate(groups.items()):
        words = () if place else (Text(_RECORDS),)
        yield Section(f"Records: {name}", (*words, *charts), anchor=f"newest-{place}")


def _leaders(site: Site) -> Iterator[Section]:
    """Yield the best results of the newest round, which the first page of one round is about."""
    if (latest := _newest(site)) is not None and latest.results.closed:
        title = f"Fastest Closed results of {latest.rules.title}"
        yield Section(title, tuple(best_tables(latest.results, "leaders", LEADERS)), anchor="leaders")


def _fastest(site: Site) -> Iterator[Section]:
    if len(site.results.closed.rounds) > 1:
        tables = best_tables(site.results, "fastest", by_round(site.results))
        yield Section("Fastest Closed results", (Text(_FASTEST), *tables), anchor="fastest")


def results_page(site: Site, files: Iterable[str]) -> Page:
    """Return the page on which a script makes one table of all results; ``files`` are the same as files of the site."""
    without = "Scripts make the table. Without them, the pages of the rounds have all rows, and the files below."
    about = f"{count_text(len(site.results), 'result')} to filter, search, sort, and save as CSV, JSON or Parquet."
    return Page(
        "Results",
        (
            Text(MINUTES),
            Section("All results", (Text(without),), anchor="all"),
            Section("Files and rounds", (files_table(files), rounds_table(site.rounds)), anchor="files"),
        ),
        path="results.html",
        full_title=f"All {site.results.suite} results as one table",
        description=about,
        scripts=(RESULTS_SCRIPT,),
    )


# ---- One round


def round_page(site: Site, one: SiteRound) -> Page:
    """Return the page of one round: its results as charts and tables."""
    counts = " ".join(_count_words(one))
    lead = [counts, MINUTES, *bert_words(one.results)]
    if missing := one.report.without_logs:
        named = first_few((folder.path for folder in missing), 3)
        have = "has" if len(missing) == 1 else "have"
        lead.append(f"{count_text(len(missing), 'folder')} of this round {have} no logs here: {named}.")
    if one.rules.usage == "rehearsal":
        lead.append(REHEARSAL)
    size = f"{count_text(len(one.results), 'result')}, {count_text(one.organisations, 'organisation')}"
    return Page(
        one.rules.title,
        (*map(Text, lead), *_divisions(site, one)),
        path=one.href,
        full_title=f"{one.rules.title}: results of all benchmarks",
        description=f"{size}. {counts} {UNVERIFIED}",
        crumbs=OVERVIEW,
    )


def _divisions(site: Site, one: SiteRound) -> Iterator[Section]:
    """Yield the results of each division that has some."""
    for division, title in DIVISIONS.items():
        if results := one.results.of_division(division).ordered(minutes_of).ordered(_size):
            heads = (*with_energy(_ROUND, results), "unscaled", "expected", "runs", "rcp", "findings")
            table = results_table(f"{one.rules.title}, {title}: results", results, *heads, most=len(results))
            yield Section(title, (*round_charts(site, results), table), anchor=division)


def _size(one: SiteResult) -> tuple[str, str, str, int]:
    """Return what puts results of a benchmark and size together, the smallest first."""
    result = one.result
    title = result.benchmark_title.casefold()
    return title, result.benchmark_name, result.scaling_type or "", result.accelerators_count or 0


def _count_words(one: SiteRound) -> Iterator[str]:
    """Yield how many results meet the official checker, which is not a verdict on the round, and when it came out."""
    meet = "meets" if len(one.results) == 1 else "meet"
    by_logs = "" if one.rules.package_checker else f"; {BY_LOGS}"
    count = count_text(len(one.results), "result")
    yield f"{one.accepted:,} of {count} {meet} the official checker of the round{one.report.own_files}{by_logs}."
    if (out := published(one.rules.usage, one.rules.name)) is not None:
        yield f"Published {'on' if out.date else 'in'} {out.shown}."


# ---- What is new


def news(site: Site) -> tuple[str, ...]:
    """Return one or two sentences about the newest round; none where no round has results."""
    if (latest := _newest(site)) is None:
        return ()
    benchmarks = [some for some in site.benchmarks if some[-1].result.usage == latest.rules.usage]
    return tuple(filter(None, (_latest_words(latest, len(site.rounds)), _fallen(latest, benchmarks))))


def _newest(site: Site) -> SiteRound | None:
    """Return the round of a known usage that came out last, else of any usage."""
    rounds = [one for one in site.rounds if one.results]
    known = [one for one in rounds if one.rules.usage in USAGES] or rounds
    return known[-1] if known else None


def _latest_words(latest: SiteRound, rounds: int) -> str:
    came_out = published(latest.rules.usage, latest.rules.name)
    when = f", published {'on ' if came_out.date else 'in '}{came_out.shown}," if came_out else ""
    among = f"is the newest of the {rounds} rounds here" if rounds > 1 else "is the only round here"
    divisions = Counter(one.division_name for one in latest.results)
    parts = [f"{divisions[one.name]} {one.name.capitalize()}" for one in (CLOSED, OPEN) if divisions[one.name]]
    split = "all Closed" if divisions.keys() == {CLOSED.name} else " and ".join(parts) or "of no division"
    return (
        f"{latest.rules.title}{when} {among}: {count_text(len(latest.results), 'result')} from "
        f"{count_text(latest.organisations, 'organisation')}, {split}."
    )


def records_beaten(round_key: str, benchmarks: Iterable[Results]) -> list[tuple[SiteResult, SiteResult]]:
    """Return the records at one size that fell in a round, the greatest gain first: old, new.

    Records of rounds of which folders have no logs are left out: what fell there, and by how much, is not known.
    """
    chains = [chain for some in benchmarks for chain in alike(some).record_chains()]
    pairs = [pair for chain in chains for pair in pairwise(chain) if not any(one.partial for one in pair)]
    fallen = [(old, new) for old, new in pairs if new.result.round_key == round_key]
    return sorted(fallen, key=lambda one: minutes_of(one[0]) / minutes_of(one[1]), reverse=True)


def _fallen(latest: SiteRound, benchmarks: Sequence[Results]) -> str | None:
    """Return which records fell; None where no benchmark has Closed results of an earlier round to compare with."""
    round_key = latest.results[0].result.round_key
    # Benchmarks that have Closed times in this round and in one before it that may be compared with it.
    groups = [group.rounds for some in benchmarks for group in alike(some).complete.comparable()]
    count = sum(round_key in names and names[0] != round_key for names in groups)
    if not count:
        return None
    comparable = f"{'benchmark' if count == 1 else 'benchmarks'} with comparable results of that size in earlier rounds"
    fallen = records_beaten(round_key, benchmarks)
    if not fallen:
        return f"No record at one size fell: its {count} {comparable} had a faster one."
    more = f", and {len(fallen) - _NAMED} more" if len(fallen) > _NAMED else ""
    verb = "Records at one size fell" if len(fallen) > 1 else "A record at one size fell"
    named = "; ".join(
        f"{now.result.benchmark_title}{view.where} from {number_text(minutes_of(before), 3)} to {now.in_minutes}, "
        f"{view.gain(before, now)} before ({now.holder})"
        for before, now in fallen[:_NAMED]
        for view in (View(SAME, now.size),)
    )
    return f"{verb} on {f'{len(fallen)} of ' if count > 1 else ''}its {count} {comparable}: {named}{more}."
