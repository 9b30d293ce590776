"""All results of a site as one table of plain values: what charts, the table of results and downloads are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from mlsub.commands.site.groups import ACCELERATORS, BENCHMARKS, KINDS, ORGANISATIONS, SYSTEMS, SharedKind, groups_of
from mlsub.commands.site.page import MAX_NAME, RESULTS_SCRIPT, clean, count_text, safe_json
from mlsub.commands.site.results import Results, Site, SiteResult
from mlsub.commands.site.tables import accelerators_cell
from mlsub.io.show import encodable
from mlsub.log.reading import usable_number
from mlsub.present.dataset import CRATE, ResultSource, Variable, build_dataset, data_file, render_crate
from mlsub.present.tables import ColumnKind, Value, columns, csv_of, parquet_of
from mlsub.submission.find import known_organisations
from mlsub.systems.names import chip_spellings

#: The folder of the data.
DATA = RESULTS_SCRIPT.partition("/")[0]
#: The names that the search box finds, which is loaded when the box is used.
SEARCH_SCRIPT = f"{DATA}/search.js"
#: The digits that minutes keep; the pages of results and ``mlsub score`` have them all.
_DIGITS = 9
_LONGEST = 200


#: What pages know of a result besides: its page, its round in a word, and the folders without logs of its benchmark.
_OWN: tuple[tuple[str, str, ColumnKind, Callable[[SiteResult], Value]], ...] = (
    ("href", "Page", "text", lambda one: one.href),
    ("round_key", "Round", "text", lambda one: one.result.round_key),
    ("without_logs", "Folders without logs", "count", lambda one: one.result.without_logs),
)
#: Units of columns that have one.
_UNITS = {"batch_size": "samples", "energy_joules": "joules"} | dict.fromkeys(
    ("published_minutes", "unscaled_minutes", "expected_minutes", "chip_minutes"), "minutes"
)


def results_script(results: Results) -> bytes:
    """Return the script that defines the results: ``window.mlsubResults``, a column at a time, each text once."""
    own = [_column(key, title, kind, list(map(value, results))) for key, title, kind, value in _OWN]
    found = [column | {"own": True} for column in own]
    rows = _rows(results)
    for place, one in enumerate(columns()):
        found.append(_column(one.name, one.page_title, one.kind, [row[place] for row in rows]))
    return f'"use strict";\nwindow.mlsubResults = {safe_json({"count": len(results), "columns": found})};\n'.encode()


def _column(name: str, title: str, kind: ColumnKind, values: list[Value]) -> dict[str, Any]:
    """Return a column as scripts have it; one without a title is only in files."""
    found: dict[str, Any] = {"key": name, "title": title, "unit": _UNITS.get(name, ""), "kind": kind}
    if kind == "text":
        places = {name: place for place, name in enumerate(dict.fromkeys(one for one in values if one is not None))}
        return found | {"names": list(places), "values": [-1 if one is None else places[one] for one in values]}
    return found | {"values": values}


def downloads(results: Results) -> dict[str, bytes]:
    """Return the same results as files by their paths: CSV, and Parquet where the library is installed.

    The page of all results makes the same files of a selection, and JSON.
    """
    keys, rows = [column.name for column in columns()], _rows(results)
    found = {f"{DATA}/results.csv": csv_of(keys, rows)}
    if find_spec("pyarrow") is not None:
        found[f"{DATA}/results.parquet"] = parquet_of([(column.name, column.kind) for column in columns()], rows)
    return found


def describe_results(
    results: Results, files: Mapping[str, bytes], title: str | None, url: str
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the results as a Dataset of schema.org, and as a file the RO-Crate of the folder of their files."""
    variables = [Variable(one.name, one.meaning, _UNITS.get(one.name, "")) for one in columns()]
    sources = [
        ResultSource(each.round_key, each.publication_date, each.publication_precision, each.organisation_name)
        for each in (one.result for one in results)
    ]
    downloads = [data_file(path, content, "All results, one a row") for path, content in files.items()]
    dataset = build_dataset(sources, variables, downloads, name=title, url=url)
    ended = (usable_number(log.run.timeline.run_stop) for one in results for log in one.result.logs)
    return dataset, {f"{DATA}/{CRATE}": render_crate(dataset, ended)}


def _rows(results: Results) -> list[list[Value]]:
    """Return the values of each result, in the order of the columns."""
    rows = []
    for one in results:
        cells = one.result.columns() | {"division_name": one.division_name}
        rows.append([_plain(cells[column.name]) for column in columns()])
    return rows


def _plain(value: Any) -> Value:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    return encodable(clean(value, _LONGEST)) if isinstance(value, str) else value


def search_script(site: Site) -> bytes:
    """Return the script that defines what the search box finds: ``window.mlsubNames``.

    Each thing that has a page is its name, what it is, its page, and its further spellings.
    """
    found = []
    for kind in KINDS:
        for some in groups_of(site, kind):
            name = kind.name(some)
            spelled = sorted({clean(one, MAX_NAME) for one in _spellings(kind, some)} - {name})
            found.append((name, _hint(kind, some), kind.href(some[0]), spelled))
    return f'"use strict";\nwindow.mlsubNames = {safe_json(found)};\n'.encode()


def _spellings(kind: SharedKind, some: Results) -> Iterable[str]:
    """Return what else one thing is called: its folders, and its spellings by the tables of names."""
    name = kind.name(some)
    if kind is BENCHMARKS:
        return (text for it in some for text in (it.result.benchmark, it.result.benchmark_name, it.result.task) if text)
    if kind is ACCELERATORS:
        return (spelled for spelled, of in chip_spellings().meanings.items() if name in of)
    return known_organisations().get(name, ()) if kind is ORGANISATIONS else (one.result.system for one in some)


def _hint(kind: SharedKind, some: Results) -> str:
    if kind is SYSTEMS:
        return f"{some[-1].result.organisation_name}, {accelerators_cell(some[-1]).text}"
    return f"{kind.one}, {count_text(len(some), 'result')}"
