"""The page of one result: what it is and how fast, its runs, how it converged, and how to cite it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.commands.site.cite import section_of_citation, submitter_of, system_of
from mlsub.commands.site.convergence import section_of_convergence
from mlsub.commands.site.curves import section_of_curves
from mlsub.commands.site.facts import section_of_hyperparameters, section_of_system
from mlsub.commands.site.found import sections_of_findings
from mlsub.commands.site.model import Cell, counted, minutes_of, number_of, text_of
from mlsub.commands.site.pages import OVERVIEW, REHEARSAL, Page
from mlsub.commands.site.places import accelerator_href, benchmark_href, organisation_href, system_href
from mlsub.commands.site.results import Result, RoundResults
from mlsub.commands.site.tables import division_of, rcp_cell, round_name
from mlsub.commands.site.timeline import section_of_runs
from mlsub.convergence.margin import benchmark_held
from mlsub.divisions import DIVISIONS, OPEN
from mlsub.findings import Verdict
from mlsub.io.spelling import flat
from mlsub.present.entries import BY_LOGS
from mlsub.rounds.publication import published

_OPEN = "Open results may use another model or target, and are never ranked with Closed ones."
#: What the official checker in force for the round says, in plain words.
_VERDICTS = {
    Verdict.ACCEPTED: Cell("accepted", badge="good", note="It meets the official checker in force for its round."),
    Verdict.REJECTED: Cell(
        "rejected", badge="bad", note="It does not meet the official checker in force for its round: see its findings."
    ),
    Verdict.NOT_CHECKED: Cell("not checked", badge="warn", note="It could not be checked: see its findings."),
}


def of_result(result: Result, parent: RoundResults, reference: str | None = None) -> Page:
    """The page of one result, which is one of the results of ``parent``.

    ``reference`` is a file of reference points that the convergence test used in place of the installed ones.
    """
    entry = result.entry
    benchmark = benchmark_held(result.report, entry, result.round)
    curves = section_of_curves(result.logs, benchmark, result.round, entry.rcp)
    sections = (
        curves,
        section_of_runs(result.logs, next(iter(curves.data), None)),
        section_of_convergence(result.report, entry, result.round, reference),
        *sections_of_findings(result.findings, forgiven=result.accepted),
        section_of_citation(result),
        section_of_hyperparameters(result.logs),
        section_of_system(result.report, result.description, result.round),
    )
    rehearsal = (REHEARSAL,) if result.round.usage == "rehearsal" else ()
    return Page(
        path=result.href,
        title=title_of(result),
        lead=(*rehearsal, *((_OPEN,) if division_of(result) == OPEN.name else ())),
        crumbs=(*OVERVIEW, ("Results", "results.html"), (result.round.title, parent.href)),
        score=_score(result),
        facts=tuple(_facts(result, parent)),
        sections=sections,
        scripts=("cite",),
    )


def title_of(result: Result) -> str:
    """Who, what, on what, in which division and round: ACME, BERT, rack1 (16 × GC200), Closed, v1.0."""
    division = division_of(result)
    benchmark = text_of(result.named.title, 60)
    return ", ".join(
        (
            submitter_of(result),
            f"{benchmark} ({text_of(result.entry.scaling_type, 20)} scaling)"
            if result.entry.scaling_type
            else benchmark,
            _on(result),
            *((division.capitalize(),) if division in DIVISIONS else ()),
            round_name(result),
        )
    )


def _on(result: Result) -> str:
    """The system, and what is in it unless its name says so."""
    system, count = system_of(result), result.row.accelerators_count
    chip = result.named.accelerator or result.row.accelerator_model_name
    if not count or not chip or (flat(chip) in flat(system) and str(count) in system):
        return system
    return f"{system} ({count:,} × {text_of(chip, 60)})"


def _score(result: Result) -> Cell:
    """The published minutes with three digits, and what they are."""
    score = result.entry.score
    if score.published is None:
        return Cell("No score", note=f"Of {counted(result.entry.runs, 'run')} too few converged for an olympic mean.")
    full = minutes_of(score.published).text
    scaled = ", times the factor of scaling.json" if score.scaling != 1 else ""
    about = f"{full} minutes to train: the olympic mean of {counted(result.entry.runs, 'run')}{scaled}"
    return Cell(f"{number_of(score.published, 3)} minutes", note=about)


def _facts(result: Result, parent: RoundResults) -> Iterator[tuple[str, Cell]]:
    entry, row, named = result.entry, result.row, result.named
    verdict = _VERDICTS[entry.official]
    if not result.round.package_checker:
        verdict = msgspec.structs.replace(verdict, note=f"{verdict.note[:-1]}; {BY_LOGS}." if verdict.note else None)
    yield "Official checker", verdict
    if entry.rcp.also is not None:
        for rcp in (entry.rcp, entry.rcp.also):
            yield f"Convergence by {rcp.counted}", rcp_cell(msgspec.structs.replace(rcp, also=None, counted=None))
    elif entry.rcp.verdict != "not-required":
        yield "Convergence test", rcp_cell(entry.rcp)
    yield from _minutes(result)
    yield "Benchmark", Cell(text_of(named.title, 100), href=benchmark_href(named))
    yield "Organisation", Cell(text_of(named.organisation, 100), href=organisation_href(named))
    yield "System", Cell(system_of(result), href=system_href(named, row), note=text_of(entry.system, 200))
    if row.accelerators_count and row.accelerator_model_name:
        count, model = f"{row.accelerators_count:,}", text_of(row.accelerator_model_name, 100)
        yield "Accelerators", Cell(f"{count} × {model}", href=accelerator_href(named))
    yield "Round", Cell(result.round.title, href=parent.href)
    if (out := published(row.usage, row.round)) is not None:
        yield "Published", Cell(out.shown)
    yield "Division", Cell(text_of(entry.division or "not said", 40).capitalize())
    if result.ids is None:
        yield "MLPerf ID", Cell("not in the logs")
    else:
        yield "MLPerf ID", Cell(result.ids.shown, note=text_of(result.ids.source, 200) if result.ids.source else None)
    yield "Runs", Cell(f"{entry.runs}, of which {entry.converged} converged and {entry.compliant} are compliant")
    if row.batch_size is not None:
        yield "Global batch size", Cell(f"{number_of(row.batch_size)} samples")
    if row.framework:
        yield "Framework", Cell(text_of(row.framework, 200))
    if row.availability:
        yield "Availability", Cell(text_of(row.availability, 60))
    if row.instance_scale is not None:
        yield "Instance scale", Cell(number_of(row.instance_scale), note="accelerators that train one model")
    if row.energy_joules is not None:
        yield "Energy", Cell(f"{number_of(row.energy_joules)} J")


def _minutes(result: Result) -> Iterator[tuple[str, Cell]]:
    """The score on its other bases, where they differ, and per accelerator."""
    score = result.entry.score
    if score.published is None:
        return
    if score.scaling != 1:
        unscaled = minutes_of(score.unscaled).text
        yield "Before scaling", _short(score.unscaled, f"{unscaled} minutes, × {score.scaling:.6f} by scaling.json")
    if not score.as_expected:
        factor = f"× {score.expected_scaling:.6f} by the convergence test"
        yield "Expected", _short(score.expected, f"{minutes_of(score.expected).text} minutes: unscaled {factor}")
    if result.named.chip_minutes is not None:
        yield "Accelerator-minutes", _short(result.named.chip_minutes, "the score times the number of accelerators")


def _short(value: float | None, note: str) -> Cell:
    return Cell(f"{number_of(value, 3)} minutes" if value is not None else "–", note=note)
