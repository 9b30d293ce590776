"""Two results side by side: what `mlsub compare` says of neighbours, and the page that a script makes of any two."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from msgspec.structs import asdict

from mlsub.commands.site.curves import median_curve
from mlsub.commands.site.page import MAX_NAME, OVERVIEW, RESULTS_SCRIPT, UNVERIFIED, Page, clean, safe_json
from mlsub.commands.site.results import Results, SiteResult
from mlsub.commands.site.views import Standing, standings
from mlsub.io.show import readable, show
from mlsub.log.changes import agreed_values
from mlsub.present.document import Chart, Section, Text
from mlsub.score.difference.measure import TIMED, measure, runs_of
from mlsub.score.difference.words import explain

#: The page, and what its script calls two results after "#".
PAGE = "compare.html"
_LEAD = (
    "Tick two results in any table of results, or on their pages, and compare them: what makes one of them faster, "
    "part by part, as mlsub compare says it, and the training curves of both. The address keeps the two."
)
_WITHOUT = "A script makes this page. Without scripts, mlsub compare A B says the same in a terminal."
#: A value that the runs of an entry do not agree on, or do not log.
_DISAGREED, _NOT_LOGGED = -2, -1
#: What scripts know of a side by the names of its fields.
_OF_SIDE = (
    *("minutes", "expected", "scaling", "accelerators", "throughput", "runs", "counted", "work", "evaluations"),
    "blocks",
)


class Neighbour(NamedTuple):
    """A result beside another: which it is, and the sentence of ``mlsub compare`` from the other one to it."""

    which: str
    result: SiteResult
    said: str


class Comparisons:
    """The results of a site as ``mlsub compare`` measures them; their logs have been read with their intervals."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._measured = {one.href: measure(one.result) for one in results}
        self._standings = standings(results)

    def beside(self, one: SiteResult) -> tuple[str, tuple[Neighbour, ...]]:
        """Return where a result stands, and the next faster and the next slower one of its size."""
        words, *near = self._standings.get(one.href, Standing(""))
        pairs = [(which, it) for which, it in zip(("next faster", "next slower"), near, strict=True) if it is not None]
        own = self._measured[one.href]
        return words, tuple(Neighbour(which, it, explain(own, self._measured[it.href]).answer) for which, it in pairs)

    def scripts(self) -> dict[str, bytes]:
        """Return the scripts with what results of a benchmark are compared by, by their paths in the site."""
        return {_script_path(some[0]): self._script(some) for some in self._results.by(_script_path)}

    def _script(self, results: Results) -> bytes:
        texts: dict[str, int] = {}
        keys: dict[str, int] = {}
        entries = {name_of(one.href): self._record(one, keys, texts) for one in results}
        shown = [clean(show(json.loads(text)), MAX_NAME) for text in texts]
        named = [clean(readable(key), 100) for key in keys]
        data = safe_json({"keys": named, "texts": shown, "entries": entries})
        return f'"use strict";\n(window.mlsubCompare ??= {{}})["{_script_path(results[0])}"] = {data};\n'.encode()

    def _record(self, one: SiteResult, keys: dict[str, int], texts: dict[str, int]) -> dict[str, Any]:
        entry, runs = self._measured[one.href], runs_of(one.result)
        side, phases = entry.side, [asdict(run) for run in entry.phases]
        logged, agreed = {key for run in runs for key in run.hyperparameters}, agreed_values(runs)
        values = {
            keys.setdefault(key, len(keys)): texts.setdefault(agreed[key], len(texts)) if key in agreed else _DISAGREED
            for key in sorted(logged)
        }
        return {
            **{name: getattr(side, name) for name in _OF_SIDE},
            **{"of": side.minutes_of, "batch": side.batch_size, "samples": entry.samples, "undivided": entry.undivided},
            **{"unit": side.convergence.unit, "rcp": side.convergence.verdict, "group": one.result.compatible_group},
            # In seconds, the mean over the runs that count; what is not logged counts nothing.
            "phases": {name: sum(run[name] or 0.0 for run in phases) / len(phases) / 1000 for name in TIMED if phases},
            "init": side.phases["init"],
            # What the logs of all runs tell apart, of which the parts are made.
            "trained": all(run.training is not None for run in entry.phases),
            "evaluated": sorted({run.evaluation is not None for run in entry.phases}),
            "values": [values.get(place, _NOT_LOGGED) for place in range(len(keys))],
            "curve": median_curve(one, entry.logs),
        }


def name_of(href: str) -> str:
    """Return what addresses and scripts call the thing of a page: its name."""
    return href.rpartition("/")[2].removesuffix(".html")


def _script_path(one: SiteResult) -> str:
    return f"data/compare-{name_of(one.benchmark_href)}.js"


def compare_page(results: Results) -> Page:
    """Return the page on which a script compares two results of its address."""
    files = {one.result.benchmark_name: _script_path(one) for one in results}
    titles = ("What makes the difference, in minutes", "Training curves over minutes", "Training curves over progress")
    charts = (Chart(kind="series", title=title, data={"files": files}) for title in titles)
    return Page(
        "Compare",
        (Text(_LEAD), Section("Two results side by side", (Text(_WITHOUT), *charts), anchor="compare")),
        path=PAGE,
        full_title="Compare two results",
        description=f"{_LEAD} {UNVERIFIED}",
        crumbs=OVERVIEW,
        scripts=(RESULTS_SCRIPT,),
    )
