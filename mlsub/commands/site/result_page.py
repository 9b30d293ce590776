"""The page of one result: what it is and how fast, its runs, how it converged, and how to cite it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from mlsub.commands.site.curves import curves_section
from mlsub.commands.site.facts import findings_section, hyperparameters_section, system_section
from mlsub.commands.site.page import (
    OVERVIEW,
    REHEARSAL,
    Cell,
    Page,
    Quote,
    Section,
    clean,
    count_text,
    minutes_cell,
    number_text,
)
from mlsub.commands.site.preview import result_preview
from mlsub.commands.site.results import SiteResult
from mlsub.commands.site.runs import convergence_section, runs_section
from mlsub.commands.site.tables import energy_cell, rcp_cell, verdict_cell
from mlsub.divisions import DIVISIONS, OPEN
from mlsub.findings import Verdict
from mlsub.io.show import flat
from mlsub.present.entries import BY_LOGS
from mlsub.present.footnote import DAY, footnote, repository_of
from mlsub.rounds.benchmarks import published

_OPEN = "Open results may use another model or target, and are never ranked with Closed ones."
#: What the official checker in force for the round says, in plain words.
_VERDICTS = {
    Verdict.ACCEPTED: "It meets the official checker in force for its round",
    Verdict.REJECTED: "It does not meet the official checker in force for its round: see its findings",
    Verdict.NOT_CHECKED: "It could not be checked: see its findings",
}
_CITE = "What stands in brackets is not in the logs: the ID is in the results table that MLCommons publishes."
_UNPUBLISHED = "MLCommons has not published this round, so the result may be quoted only as unverified."


def result_page(result: SiteResult, reference: str | None = None) -> Page:
    """Return the page of one result.

    ``reference`` is a file of reference points that the convergence test used in place of the installed ones.
    """
    curves = curves_section(result)
    title, score = result_title(result), _score(result)
    return Page(
        path=result.href,
        title=title,
        preview=result_preview(title, score.text, f"{(score.note or '').rstrip('.')}. {_VERDICTS[result.official]}."),
        lead=(
            *((REHEARSAL,) if result.usage == "rehearsal" else ()),
            *((_OPEN,) if result.division_name == OPEN.name else ()),
        ),
        crumbs=(*OVERVIEW, ("Results", "results.html"), (result.rules.title, result.round_href)),
        score=score,
        facts=tuple(_facts(result)),
        sections=(
            curves,
            runs_section(result, next(iter(curves.data), None)),
            convergence_section(result, reference),
            findings_section(result.findings, forgiven=result.accepted),
            citation_section(result),
            hyperparameters_section(result.logs),
            *((system_section([result]),) if result.system_href == result.href else ()),
        ),
    )


def result_title(result: SiteResult) -> str:
    """Return who, what, on what, in which division and round: ACME, BERT, rack1 (16 × GC200), Closed, v1.0."""
    kind = f" ({result.scaling_type} scaling)" if result.scaling_type else ""
    division = (result.division_title,) if result.division_name in DIVISIONS else ()
    parts = (result.submitter, result.benchmark_title + kind, _system_words(result), *division, result.round_key)
    return ", ".join(parts)


def _system_words(result: SiteResult) -> str:
    """Return the system, and what is in it unless its name says so."""
    system, count, chip = result.system_name, result.accelerators_count, result.accelerator
    if not count or not chip or (flat(chip) in flat(system) and str(count) in system):
        return system
    return f"{system} ({count:,} × {chip})"


def _score(result: SiteResult) -> Cell:
    """Return the published minutes with three digits, and what they are."""
    score = result.score
    if score.published is None:
        return Cell("No score", note=f"Of {count_text(result.runs, 'run')} too few converged for an olympic mean.")
    scaled = ", times the factor of scaling.json" if score.scaling != 1 else ""
    mean = f"the olympic mean of {count_text(result.runs, 'run')}{scaled}"
    about = f"{minutes_cell(score.published).text} minutes to train: {mean}"
    return Cell(f"{number_text(score.published, 3)} minutes", note=about)


def _facts(result: SiteResult) -> Iterator[tuple[str, Cell]]:
    rcp, notes = result.rcp, [] if result.accepted else [_VERDICTS[result.official]]
    notes += [] if result.rules.package_checker else [BY_LOGS]
    yield "Official checker", replace(verdict_cell(result.official), note="; ".join(notes) or None)
    if rcp.also is not None:
        for one in (rcp, rcp.also):
            yield f"Convergence by {one.counted}", rcp_cell(replace(one, also=None, counted=None))
    elif rcp.verdict != "not-required":
        yield "Convergence test", rcp_cell(rcp)
    yield from _minutes(result)
    yield "Benchmark", Cell(result.benchmark_title, href=result.benchmark_href)
    yield "Organisation", Cell(result.organisation_name, href=result.organisation_href)
    if result.system_href == result.href:
        yield "System", Cell(result.system_name, note=result.system)
    else:
        yield "System", Cell(result.system_name, href=result.system_href)
        yield "System description", Cell(clean(result.system), href=f"{result.system_href}#system")
    if result.accelerators_count and result.accelerator_model_name:
        model = f"{result.accelerators_count:,} × {result.accelerator_model_name}"
        yield "Accelerators", Cell(model, href=result.accelerator_href)
    yield "Round", Cell(result.rules.title, href=result.round_href)
    if (out := published(result.usage, result.round)) is not None:
        yield "Published", Cell(out.shown)
    yield "Division", Cell(clean(result.division or "not said", 40).capitalize())
    converged = f"{result.converged} converged and {result.compliant} are compliant"
    yield "Runs", Cell(f"{result.runs}, of which {converged}")
    if rcp.batch_size is not None:
        yield "Global batch size", Cell(f"{number_text(rcp.batch_size)} samples")
    for name, text in (("Framework", result.framework), ("Availability", result.availability)):
        if text:
            yield name, Cell(text)
    if result.score.instance_scale is not None:
        yield "Instance scale", Cell(number_text(result.score.instance_scale), note="accelerators that train one model")
    if result.energy is not None and result.energy.scaled is not None:
        energy = energy_cell(result)
        yield "Energy", replace(energy, text=f"{energy.text} MJ")


def _minutes(result: SiteResult) -> Iterator[tuple[str, Cell]]:
    """Yield the score on its other bases, where they differ, and per accelerator."""
    score = result.score
    if score.published is None:
        return
    if score.scaling != 1:
        unscaled = minutes_cell(score.unscaled).text
        yield "Before scaling", _short(score.unscaled, f"{unscaled} minutes, × {score.scaling:.6f} by scaling.json")
    if not score.as_expected:
        factor = f"× {score.expected_scaling:.6f} by the convergence test"
        yield "Expected", _short(score.expected, f"{minutes_cell(score.expected).text} minutes: unscaled {factor}")
    if result.chip_minutes is not None:
        yield "Accelerator-minutes", _short(result.chip_minutes)


def _short(value: float | None, note: str | None = None) -> Cell:
    return Cell(f"{number_text(value, 3)} minutes" if value is not None else "–", note=note)


# ---- How to cite it


def citation_section(result: SiteResult) -> Section:
    """Return the texts to copy: a sentence with the score, the footnote that the guidelines require, and BibTeX."""
    verified = result.publication_date is not None
    quotes = [Quote("Footnote", f"[1] {footnote(result)}")]
    if result.score_minutes is not None:
        quotes.insert(
            0, Quote("Sentence", f"{_sentence(result)} in {number_text(result.score_minutes, 3)} minutes [1].")
        )
    if verified:
        quotes.append(Quote("BibTeX", bibtex(result)))
    words = (_CITE,) if verified else (_UNPUBLISHED,)
    return Section(key="cite", title="Cite this result", words=words, quotes=tuple(quotes))


def _sentence(result: SiteResult) -> str:
    chip, count = result.accelerator, result.accelerators_count
    with_chips = f" with {count:,} {chip}" if count and chip else ""
    start = "In" if result.publication_date is not None else "Unverified: in"
    who = f"{result.submitter} {result.system_name}{with_chips}"
    return f"{start} {result.rules.title} {_division_words(result)}, {who} trained {result.benchmark_title}"


def _division_words(result: SiteResult) -> str:
    return result.division_title if result.division_name in DIVISIONS else "[division]"


#: What TeX takes for a sign of its own.
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}


def bibtex(result: SiteResult) -> str:
    """Return an entry of a bibliography."""
    name = result.href.rpartition("/")[2].removesuffix(".html")
    key = re.sub(r"[^a-z0-9]+", "-", f"mlperf-{name}").strip("-")
    title = f"{result.rules.title} {_division_words(result)}, {result.benchmark_title}: {result.system_name}"
    out, tex = result.publication_date, str.maketrans(_TEX)
    fields = {
        "title": f"{{{{{title.translate(tex)}}}}}",
        "author": f"{{{{{result.submitter.translate(tex)}}}}}",
        "year": f"{{{out.year}}}" if out else "",
        "month": f"{out:%b}".lower() if out else "",
        "publisher": "{MLCommons}",
        "url": f"{{{repository_of(result)}}}",
        "note": f"{{MLPerf result, retrieved on {DAY}}}",
    }
    lines = (f"  {name} = {value}," for name, value in fields.items() if value)
    return "\n".join((f"@misc{{{key},", *lines, "}"))
