"""The page of one result: what it is and how fast, its runs, how it converged, findings, and how to cite it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from mlsub.commands.site.compare_page import PAGE, Neighbour, name_of
from mlsub.commands.site.curves import curves_section, run_name
from mlsub.commands.site.page import (
    OVERVIEW,
    UNVERIFIED,
    ColumnOf,
    Page,
    build_table,
    clean,
    count_text,
    minutes_cell,
    number_text,
    plain_table,
    three_cell,
    three_text,
)
from mlsub.commands.site.results import DAGGER, Results, SiteResult
from mlsub.commands.site.runs import convergence_section, runs_section
from mlsub.commands.site.tables import energy_cell, rcp_cell
from mlsub.divisions import OPEN
from mlsub.findings import Finding, Kind, Severity, Verdict
from mlsub.io.data import group_by_key
from mlsub.io.show import first_few, flat, join_words, show
from mlsub.present.document import Cell, Code, Facts, Findings, Meaning, Section, Span, Table, Text, lines_of, text_of
from mlsub.present.entries import BY_LOGS, REHEARSAL, verdict_span
from mlsub.present.findings import MAX_PLACES, facts_of, grouped, label_of
from mlsub.present.footnote import DAY, footnote, repository_of
from mlsub.rounds.benchmarks import published
from mlsub.submission.model import LogReport
from mlsub.submission.result import CPU_ONLY, Result
from mlsub.systems.description import read_content
from mlsub.systems.fields import fields, is_empty

#: Rows of a table that are shown; published results stay below a hundred. What is left out is said.
MAX_ROWS = 500
_LOOKS: dict[Severity, Meaning] = {Severity.ERROR: "bad", Severity.WARNING: "note", Severity.NOTE: "soft"}
#: What is said of a defect below its message, as far as it has it.
_BELOW = ("expected", "found")
_REVIEW = "Review findings are what a careful reviewer would ask about, and never change a verdict."
_OPEN = "Open results may use another model or target, and are never ranked with Closed ones."
#: What the official checker in force for the round says, in plain words.
_VERDICTS = {
    Verdict.ACCEPTED: "It meets the official checker in force for its round",
    Verdict.REJECTED: "It does not meet the official checker in force for its round: see its findings",
    Verdict.NOT_CHECKED: "It could not be checked: see its findings",
}
_CITE = "What stands in brackets is not in the logs: the ID is in the results table that MLCommons publishes."
_UNPUBLISHED = "MLCommons has not published this round, so the result may be quoted only as unverified."


def result_page(
    one: SiteResult,
    rank: str = "",
    neighbours: Sequence[Neighbour] = (),
    *,
    reference: str | None = None,
    source: str = "",
) -> Page:
    """Return the page of one result.

    Args:
        one: the result.
        rank: where it stands among others.
        neighbours: those of its size beside it.
        reference: a file of reference points that the convergence test used in place of the installed ones.
        source: the pattern of addresses of folders of results; see :func:`source_href`.
    """
    result, title, (score, basis) = one.result, result_title(one), _score(one.result)
    curves = curves_section(one)
    evaluations = next((block for block in curves.blocks if isinstance(block, Table)), None)
    return Page(
        title,
        (
            *((Text(REHEARSAL),) if result.usage == "rehearsal" else ()),
            *((Text(_OPEN),) if one.division_name == OPEN.name else ()),
            Text((Span(score, "strong"), f" {basis}")),
            Facts(tuple(_facts(one, rank, source))),
            *((neighbours_section(one, neighbours),) if neighbours else ()),
            curves,
            runs_section(result, evaluations),
            convergence_section(one, reference),
            findings_section(result.findings, forgiven=result.accepted),
            citation_section(one),
            hyperparameters_section(result.logs),
            *((system_section([one]),) if one.system_href == one.href else ()),
        ),
        path=one.href,
        full_title=f"{title}: {score}",
        description=f"{basis.rstrip('.')}. {_VERDICTS[result.official]}. {UNVERIFIED}",
        crumbs=(*OVERVIEW, ("Results", "results.html"), (result.rules.title, one.round_href)),
    )


def result_title(one: SiteResult) -> str:
    """Return who, what, on what, in which division and round: ACME, BERT, rack1 (16 × GC200), Closed, v1.0."""
    result, system = one.result, one.system_name
    kind = f" ({result.scaling_type} scaling)" if result.scaling_type else ""
    count, chip = result.accelerators_count, result.accelerator
    # What is in the system, unless its name says so.
    if count and chip and not (flat(chip) in flat(system) and str(count) in system):
        system += f" ({count:,} × {chip})"
    elif count == 0:
        system += f" ({CPU_ONLY})"
    division = (one.division_title,) if result.division_name else ()
    return ", ".join((one.submitter, result.benchmark_title + kind, system, *division, result.round_key))


def _score(result: Result) -> tuple[str, str]:
    """Return the published minutes with three digits, and what they are."""
    score = result.score
    if score.published is None:
        return "No score", f"Of {count_text(result.runs, 'run')} too few converged for an olympic mean."
    scaled = ", times the factor of scaling.json" if score.scaling != 1 else ""
    mean = f"the olympic mean of {count_text(result.runs, 'run')}{scaled}"
    exact = minutes_cell(score.published).text
    return f"{three_text(score.published)} minutes", f"{exact} minutes to train: {mean}"


def _facts(one: SiteResult, rank: str, pattern: str) -> Iterator[tuple[str, Span]]:
    result, rcp = one.result, one.result.rcp
    if rank:
        among = f"Closed results of {result.round_key}", Results([one]).missing.removeprefix(f"{DAGGER} ")
        yield "Rank", Span(rank, note="; ".join(filter(None, among)))
    notes = [] if result.accepted else [_VERDICTS[result.official]]
    notes += [] if result.rules.package_checker else [BY_LOGS]
    yield "Official checker", verdict_span(result.official)._replace(note="; ".join(notes))
    if rcp.also is not None:
        for way in (rcp, rcp.also):
            yield f"Convergence by {way.counted}", rcp_cell(replace(way, also=None, counted=None))
    elif rcp.verdict != "not-required":
        yield "Convergence test", rcp_cell(rcp)
    yield from _minutes(result)
    yield "Benchmark", Span(result.benchmark_title, link=one.benchmark_href)
    yield "Organisation", Span(result.organisation_name, link=one.organisation_href)
    yield "System", Span(one.system_name, link="" if one.system_href == one.href else one.system_href)
    yield "System description", Span(clean(result.system), link=f"{one.system_href}#system")
    if result.accelerators_count and result.accelerator_model_name:
        model = f"{result.accelerators_count:,} × {result.accelerator_model_name}"
        yield "Accelerators", Span(model, link=one.accelerator_href)
    elif result.accelerators_count == 0:
        nodes = count_text(result.number_of_nodes, "node") if result.number_of_nodes else ""
        yield "Accelerators", Span(CPU_ONLY, note=nodes)
    yield "Round", Span(result.rules.title, link=one.round_href)
    if (out := published(result.usage, result.round)) is not None:
        yield "Published", Span(out.shown)
    logged = " and ".join(sorted({str(log.division) for log in result.logs if log.division}))
    stated = result.division or (f"{logged}, by its logs" if logged else "not said")
    yield "Division", Span(clean(stated, 40).capitalize())
    converged = f"{result.converged} converged and {result.compliant} are compliant"
    yield "Runs", Span(f"{result.runs}, of which {converged}")
    if rcp.batch_size is not None:
        yield "Global batch size", Span(f"{number_text(rcp.batch_size)} samples")
    for name, text in (("Framework", result.framework), ("Availability", result.availability)):
        if text:
            yield name, Span(text)
    if result.score.instance_scale is not None:
        yield "Instance scale", Span(number_text(result.score.instance_scale), note="accelerators that train one model")
    if result.energy is not None and result.energy.scaled is not None:
        energy = energy_cell(result)
        yield "Energy", energy._replace(text=f"{energy.text} MJ")
    if result.publication_date is not None and result.details_url and result.code_url:
        yield "Official details", Span(f"{clean(result.system)}.json", link=result.details_url)
        yield "Official code", Span(f"{clean(result.organisation)}/benchmarks", link=result.code_url)
    if source := source_href(result, pattern):
        yield "Results folder", Span(clean(f"{result.system}/{result.benchmark}"), link=source)


def _minutes(result: Result) -> Iterator[tuple[str, Span]]:
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
        yield "Chip-minutes", _short(result.chip_minutes)


def _short(value: float | None, note: str = "") -> Span:
    return Span(f"{three_text(value)} minutes" if value is not None else "–", note=note)


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern of ``--source``: an address with ``{path}``, ``{round}`` and ``{usage}``."""
    named = re.findall(r"\{([^{}]*)\}", text)
    return "path" in named and {*named} <= {"path", "round", "usage"}


def source_href(result: Result, pattern: str = "") -> str:
    """Return where the folder of a result lies on the web; empty where that is not known.

    Args:
        result: whose folder.
        pattern: see :func:`is_pattern`; ``{path}`` is ORGANISATION/results/SYSTEM/BENCHMARK. Without one that of
            MLCommons counts, for rounds that it has published.
    """
    if result.description_path is None:
        return ""
    if not pattern and result.publication_date and result.details_url:
        pattern = f"{repository_of(result)}/tree/main/{{path}}"
    parts = filter(None, (result.organisation, "results", result.system, result.scaling_type, result.benchmark))
    path = "/".join(quote(part.encode("utf-8", "surrogatepass"), safe="") for part in parts)
    return pattern.replace("{usage}", result.usage).replace("{round}", result.round).replace("{path}", path)


def neighbours_section(one: SiteResult, neighbours: Sequence[Neighbour]) -> Section:
    """Return the next faster and the next slower result of the same size, and why they are."""
    own = name_of(one.href)
    columns: tuple[ColumnOf[Neighbour], ...] = (
        ("neighbour", lambda other: Span(other.which, link=f"{PAGE}#a={own}&b={name_of(other.result.href)}")),
        ("result", lambda other: Span(f"{other.result.holder}, {other.result.system_name}", link=other.result.href)),
        ("minutes", lambda other: three_cell(other.result.result.published_minutes)),
        ("A is this result, B the neighbour", lambda other: other.said.replace("->", "→")),
    )
    table = build_table("The neighbours of the same size, as mlsub compare says it", neighbours, columns)
    return Section("Neighbours at this size", (table,), anchor="neighbours")


# ---- How to cite it


def citation_section(one: SiteResult) -> Section:
    """Return the texts to copy: a sentence with the score, the footnote that the guidelines require, and BibTeX."""
    verified = one.result.publication_date is not None
    quotes = [("Footnote", f"[1] {footnote(one.result)}")]
    if one.score_minutes is not None:
        sentence = f"{_sentence(one)} in {three_text(one.score_minutes)} minutes [1]."
        quotes.insert(0, ("Sentence", sentence))
    if verified:
        quotes.append(("BibTeX", bibtex(one)))
    texts = (Section(title, (Code(text),)) for title, text in quotes)
    return Section("Cite this result", (Text(_CITE if verified else _UNPUBLISHED), *texts), anchor="cite")


def _sentence(one: SiteResult) -> str:
    chip, count = one.result.accelerator, one.result.accelerators_count
    with_chips = f" with {count:,} {chip}" if count and chip else ""
    start = "In" if one.result.publication_date is not None else "Unverified: in"
    who = f"{one.submitter} {one.system_name}{with_chips}"
    return f"{start} {one.result.rules.title} {_division_words(one)}, {who} trained {one.result.benchmark_title}"


def _division_words(one: SiteResult) -> str:
    return one.division_title if one.result.division_name else "[division]"


#: What TeX takes for a sign of its own.
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}


def bibtex(one: SiteResult) -> str:
    """Return an entry of a bibliography."""
    result, name = one.result, one.href.rpartition("/")[2].removesuffix(".html")
    key = re.sub(r"[^a-z0-9]+", "-", f"mlperf-{name}").strip("-")
    title = f"{result.rules.title} {_division_words(one)}, {result.benchmark_title}: {one.system_name}"
    out, tex = result.publication_date, str.maketrans(_TEX)
    fields = {
        "title": f"{{{{{title.translate(tex)}}}}}",
        "author": f"{{{{{one.submitter.translate(tex)}}}}}",
        "year": f"{{{out.year}}}" if out else "",
        "month": f"{out:%b}".lower() if out else "",
        "publisher": "{MLCommons}",
        "url": f"{{{repository_of(result)}}}",
        "note": f"{{MLPerf result, retrieved on {DAY}}}",
    }
    lines = (f"  {name} = {value}," for name, value in fields.items() if value)
    return "\n".join((f"@misc{{{key},", *lines, "}"))


# ---- Findings


def findings_section(findings: Sequence[Finding], *, forgiven: bool) -> Section:
    """Return the findings of an entry, by severity, and how many there are; notes of reviewers are counted alone.

    Args:
        findings: those of the entry.
        forgiven: the whole is accepted, so that a rejecting defect is that of a forgiven run.
    """
    told = [one for one in findings if one.severity is not Severity.NOTE or one.kind is not Kind.REVIEW]
    block = Findings(tuple(told), forgiven=forgiven)
    columns: tuple[ColumnOf[Sequence[Finding]], ...] = (
        ("severity", lambda group: Span(label_of(group[0], block), _LOOKS[group[0].severity])),
        ("rule", lambda group: group[0].rule),
        ("what was found", _found_text),
        ("places", lambda group: Span(_lines_text(dict(facts_of(group))["in"]), value=float(len(group)))),
    )
    counts, tables = [], []
    for severity in Severity:
        # A row a defect, with all its places.
        groups = grouped(one for one in told if one.severity is severity)
        if groups:
            counts.append(count_text(len(groups), severity.value))
            places = sum(map(len, groups))
            among = f" in {count_text(places, 'place')}" if places > len(groups) else ""
            left = f", of which the first {MAX_ROWS} are shown" if len(groups) > MAX_ROWS else ""
            tables.append(build_table(f"{counts[-1]}{among}{left}", groups[:MAX_ROWS], columns))
    if notes := len(grouped(one for one in findings if one not in told)):
        counts.append(f"{count_text(notes, 'review note')} that mlsub check names")
    said = f"{count_text(len(grouped(findings)), 'finding')}: {join_words(counts)}." if counts else "None."
    words = (said, _REVIEW) if any(one.kind is Kind.REVIEW for one in told) else (said,)
    return Section("Findings", (*map(Text, words), *tables), anchor="findings")


def _found_text(group: Sequence[Finding]) -> str:
    facts = dict(facts_of(group))
    below = (f"{name}: {_lines_text(facts[name])}" for name in _BELOW if name in facts)
    return "\n".join((clean(group[0].message), *below))


def _lines_text(cell: Cell) -> str:
    return "\n".join(clean(text_of(line)) for line in lines_of(cell))


# ---- Hyperparameters and the system


def hyperparameters_section(logs: Sequence[LogReport]) -> Section:
    """Return the hyperparameters of an entry; where its runs differ, the values with the runs that have them."""
    keys = sorted({key for log in logs for key in log.run.hyperparameters})
    named = [(run_name(log), log.run.hyperparameters) for log in logs]
    rows = [(clean(key, 100), _value_cell(_logged(key, named), "runs")) for key in keys[:MAX_ROWS]]
    differing = sum(value.meaning != "plain" for _, value in rows)
    words = (f"The first {MAX_ROWS} of {len(keys):,} keys are shown.",) if len(keys) > MAX_ROWS else ()
    words = words if rows else ("The logs contain none.",)
    if differing:
        words = (f"{differing} of {len(rows)} keys differ between the runs.", *words)
    tables = (plain_table("First value logged for each key", ("key", "value"), rows),) if rows else ()
    return Section("Hyperparameters", (*map(Text, words), *tables), anchor="hyperparameters")


def _logged(key: str, runs: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    """Yield what each run logs of a key, by its name."""
    for name, values in runs:
        yield name, show(values[key], 200) if key in values else "not logged"


def _value_cell(values: Iterable[tuple[str, str]], kind: str) -> Span:
    """Return what several things of a kind say, each with its name: once where it is the same, else by value."""
    having = group_by_key((value, name) for name, value in values)
    if len(having) == 1:
        return Span(next(iter(having)))
    names = (", ".join(some) if len(some) <= 5 else f"{len(some)} {kind}" for some in having.values())
    shown = [f"{value} ({some})" for value, some in zip(having, names, strict=True)]
    more = [f"and {len(shown) - MAX_PLACES} more values"] if len(shown) > MAX_PLACES else []
    return Span("; ".join([*shown[:MAX_PLACES], *more]), "strong")


def system_section(results: Iterable[SiteResult]) -> Section:
    """Return the system descriptions of results as they lie in their packages; where they differ, with their names."""
    files = {(one.result.root, one.result.description_path): one.result for one in results}
    found = [described for result in files.values() for described in _description(result)]
    title, anchor = "System description", "system"
    if not found:
        return Section(title, (Text("There is no system description that can be read."),), anchor=anchor)
    known = fields().fields
    stated = dict.fromkeys(name for _, content in found for name in content)
    names = [*(name for name in known if name in stated), *(name for name in stated if name not in known)][:MAX_ROWS]
    empty = [name for name in names if all(is_empty(content.get(name)) for _, content in found)]
    titles = {name: known[name].title if name in known else clean(name, 100) for name in names}
    said = {name: [(of, _text_of(content.get(name))) for of, content in found] for name in names}
    rows = [(titles[name], _value_cell(said[name], "descriptions")) for name in names if name not in empty]
    if empty:
        rows.append(("Empty", Span(", ".join(titles[name] for name in empty))))
    left = (f"The first {MAX_ROWS} of {len(stated):,} fields are shown.",) if len(stated) > MAX_ROWS else ()
    caption = f"Fields of {first_few((name for name, _ in found), 8)}"
    return Section(title, (*map(Text, left), plain_table(caption, ("field", "value"), rows)), anchor=anchor)


def _description(result: Result) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of the description of a result, by round and folder, and what it says; nothing of none."""
    file = result.description_file
    content = read_content(file, result.rules) if file is not None else None
    if file is not None and content is not None:
        yield f"{result.round_key} {clean(file.name, 300)}", content


def _text_of(value: object) -> str:
    return clean(value) or "–" if isinstance(value, str) else "–" if value is None else show(value, 500)
