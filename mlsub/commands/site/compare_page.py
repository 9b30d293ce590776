"""Two results side by side: what `mlsub compare` says of neighbours, and the page that a script makes of any two."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict

from mlsub.commands.site.curves import median_curve
from mlsub.commands.site.page import MAX_NAME, OVERVIEW, RESULTS_SCRIPT, UNVERIFIED, Page, clean, safe_json
from mlsub.commands.site.ranks import Standing, standings
from mlsub.commands.site.results import Results, SiteResult
from mlsub.io.show import readable, show
from mlsub.log.changes import agreed_values
from mlsub.present.document import Chart, Section, Text
from mlsub.score.difference.measure import TIMED, MeasuredEntry, measure, runs_of
from mlsub.score.difference.words import explain

#: The page, and what its script calls two results after "#".
PAGE = "compare.html"
_LEAD = (
    "Tick two results in any table, or on their pages, and compare them: what makes one of them faster, part by part, "
    "as mlsub compare says it, and the training curves of both. The address keeps the two."
)
_WITHOUT = "A script makes this page. Without scripts, mlsub compare A B says the same in a terminal."
#: A value that the runs of an entry do not agree on, or do not log.
_DISAGREED, _NOT_LOGGED = -2, -1


class Neighbour(NamedTuple):
    """A result beside another: which it is, and the sentence of ``mlsub compare`` from the other one to it."""

    which: str
    holder: str
    href: str
    minutes: float | None
    said: str


class Comparisons:
    """The results of a site as ``mlsub compare`` measures them; their logs have been read with their intervals."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._measured = [measure(one.result) for one in results]
        self._standings = standings([one.result for one in results])

    def beside(self, at: int) -> tuple[Standing | None, tuple[Neighbour, ...]]:
        """Return where a result stands, and the next faster and the next slower one of its size."""
        standing = self._standings[at]
        if standing is None:
            return None, ()
        near = (("next faster", standing.faster), ("next slower", standing.slower))
        return standing, tuple(self._neighbour(which, at, other) for which, other in near if other is not None)

    def _neighbour(self, which: str, at: int, other: int) -> Neighbour:
        one = self._results[other]
        said = explain(self._measured[at], self._measured[other]).answer
        return Neighbour(which, f"{one.holder}, {one.system_name}", one.href, one.result.published_minutes, said)

    def scripts(self) -> dict[str, bytes]:
        """Return the scripts with what results of a benchmark are compared by, by their paths in the site."""
        found: dict[str, list[int]] = {}
        for at, one in enumerate(self._results):
            found.setdefault(_script_path(one), []).append(at)
        return {path: self._script(path, places) for path, places in found.items()}

    def _script(self, path: str, places: Sequence[int]) -> bytes:
        texts: dict[str, int] = {}
        keys: dict[str, int] = {}
        entries = {name_of(self._results[at].href): self._record(at, keys, texts) for at in places}
        shown = [clean(show(json.loads(text)), MAX_NAME) for text in texts]
        named = [clean(readable(key), 100) for key in keys]
        data = safe_json({"keys": named, "texts": shown, "entries": entries})
        return f'"use strict";\n(window.mlsubCompare ??= {{}})["{path}"] = {data};\n'.encode()

    def _record(self, at: int, keys: dict[str, int], texts: dict[str, int]) -> dict[str, Any]:
        entry, side = self._measured[at], self._measured[at].side
        logged = {key for run in runs_of(entry.result) for key in run.hyperparameters}
        agreed = agreed_values(runs_of(entry.result))
        values = {
            keys.setdefault(key, len(keys)): texts.setdefault(agreed[key], len(texts)) if key in agreed else _DISAGREED
            for key in sorted(logged)
        }
        return {
            **{name: getattr(side, name) for name in ("minutes", "expected", "scaling", "accelerators", "throughput")},
            **{"runs": side.runs, "counted": side.counted, "of": side.minutes_of, "batch": side.batch_size},
            **{"work": side.work, "unit": side.convergence.unit, "samples": entry.samples},
            **{"rcp": side.convergence.verdict, "undivided": entry.undivided},
            "group": entry.result.compatible_group,
            "phases": _mean_phases(entry),
            **{"init": side.phases["init"], "evaluations": side.evaluations, "blocks": side.blocks},
            # What the logs of all runs tell apart, of which the parts are made.
            "trained": all(run.training is not None for run in entry.phases),
            "evaluated": sorted({run.evaluation is not None for run in entry.phases}),
            "values": [values.get(place, _NOT_LOGGED) for place in range(len(keys))],
            "curve": median_curve(self._results[at], entry.logs),
        }


def _mean_phases(entry: MeasuredEntry) -> Mapping[str, float]:
    """Return the phases in seconds, the mean over the runs that count; what is not logged counts nothing."""
    runs = [asdict(run) for run in entry.phases]
    return {name: sum(run[name] or 0.0 for run in runs) / len(runs) / 1000 for name in TIMED if runs}


def name_of(href: str) -> str:
    """Return what addresses and scripts call the thing of a page: its name."""
    return href.rpartition("/")[2].removesuffix(".html")


def compare_href(one: str, other: str) -> str:
    """Return the address that compares two results, by the names of their pages."""
    return f"{PAGE}#a={one}&b={other}"


def _script_path(one: SiteResult) -> str:
    return f"data/compare-{name_of(one.benchmark_href)}.js"


def compare_page(results: Results) -> Page:
    """Return the page on which a script compares two results of its address."""
    empty = {"x": {"title": ""}, "y": {"title": ""}, "series": ()}
    files = {one.result.benchmark_name: _script_path(one) for one in results}
    titles = ("What makes the difference, in minutes", "Training curves over minutes", "Training curves over progress")
    charts = (Chart(kind="series", title=title, data=empty | {"files": files}) for title in titles)
    return Page(
        "Compare",
        (Text(_LEAD), Section("Two results side by side", (Text(_WITHOUT), *charts), anchor="compare")),
        path=PAGE,
        full_title="Compare two results",
        description=f"{_LEAD} {UNVERIFIED}",
        crumbs=OVERVIEW,
        scripts=(RESULTS_SCRIPT,),
    )
