"""What a result says of itself: what was found of it, its hyperparameters, and its system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from mlsub.commands.site.page import Cell, Column, Section, Table, build_table, clean, count_text, plain_table
from mlsub.commands.site.results import SiteResult
from mlsub.findings import Finding, Severity
from mlsub.io.show import show
from mlsub.present.document import Findings, lines_of
from mlsub.present.findings import MAX_PLACES, facts_of, grouped, label_of
from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.model import parted
from mlsub.rules.catalogue import catalogue
from mlsub.submission.model import LogReport
from mlsub.systems.description import read_description
from mlsub.systems.fields import fields
from mlsub.workspace import Checked

#: Rows of a table that are shown; published results stay below a hundred. What is left out is said.
MAX_ROWS = 500
_BADGES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "calm"}
#: What is said of a defect below its message, as far as it has it.
_BELOW = ("expected", "found", "source")
#: Whose findings are those of ``mlsub review``.
_FORENSIC = "inspect."
_FINDINGS = (
    "Official findings are those of the official checker in force for the round; review findings are what a careful "
    "reviewer would ask about, and never change a verdict."
)
_FORENSICS = (
    "What stands out when these runs are compared with each other and with the other runs of this site. None of it is "
    "an accusation, and none is part of a verdict: warnings are worth asking the submitter about, and notes are good "
    "to know."
)


def findings_sections(findings: Sequence[Finding], *, forgiven: bool) -> Iterator[Section]:
    """Return findings by severity, and those of forensics, if there are any, in a section of their own.

    Args:
        findings: those of one entry, or of a round.
        forgiven: the whole is accepted, so that a rejecting defect is that of a forgiven run.
    """
    ruled = [finding for finding in findings if not finding.rule.startswith(_FORENSIC)]
    forensic = [finding for finding in findings if finding.rule.startswith(_FORENSIC)]
    block = Findings(tuple(ruled), forgiven=forgiven)
    columns: tuple[Column[Sequence[Finding]], ...] = (
        Column("severity", lambda group: Cell(label_of(group[0], block), badge=_BADGES[group[0].severity])),
        Column("rule", lambda group: group[0].rule),
        Column("what was found", _found_text),
        _FIX,
        _PLACES,
    )
    words = (_counts(ruled), _FINDINGS) if ruled else ("None.",)
    yield Section(key="findings", title="Findings", words=words, tables=_tables(ruled, columns))
    if forensic:
        words = (_counts(forensic), _FORENSICS)
        yield Section(key="forensics", title="Forensics", words=words, tables=_tables(forensic, _OF_FORENSICS))


def _tables(findings: Sequence[Finding], columns: Sequence[Column[Sequence[Finding]]]) -> tuple[Table, ...]:
    """Return a table for errors, warnings and notes, as far as there are any; a row a defect, with all its places."""
    return tuple(build_table(words, groups[:MAX_ROWS], columns) for words, groups in _by_severity(findings))


def _by_severity(findings: Sequence[Finding]) -> Iterator[tuple[str, list[list[Finding]]]]:
    for severity in Severity:
        groups = grouped(finding for finding in findings if finding.severity is severity)
        if groups:
            left = f", of which the first {MAX_ROWS} are shown" if len(groups) > MAX_ROWS else ""
            yield count_text(len(groups), severity.value) + left, groups


def _counts(findings: Sequence[Finding]) -> str:
    """Return how many defects there are of each severity, the same in many places once."""
    *first, last = [words for words, _ in _by_severity(findings)]
    return f"{', '.join(first)} and {last}." if first else f"{last}."


def _found_text(group: Sequence[Finding]) -> str:
    facts = dict(facts_of(group))
    below = (f"{name}: {_lines_text(facts[name])}" for name in _BELOW if name in facts)
    return "\n".join((clean(group[0].message), *below))


def _places_cell(group: Sequence[Finding]) -> Cell:
    return Cell(_lines_text(dict(facts_of(group))["in"]), float(len(group)))


def _lines_text(cell: object) -> str:
    return "\n".join(clean("".join(span.text for span in line)) for line in lines_of(cell))  # type: ignore[arg-type]


def _title_cell(group: Sequence[Finding]) -> Cell:
    known = catalogue().get(group[0].rule)
    return Cell(known.title if known else clean(group[0].message), note=group[0].rule)


def _part(group: Sequence[Finding], place: int, without: str) -> str:
    """Return what was found in each place, or the score without it."""
    texts = dict.fromkeys(parted(finding.actual or "")[place] for finding in group)
    return "\n".join(clean(text) for text in texts if text) or without


_FIX = Column[Sequence[Finding]]("fix", lambda group: clean(group[0].fix or ""))
_PLACES = Column[Sequence[Finding]]("places", _places_cell)
_OF_FORENSICS: tuple[Column[Sequence[Finding]], ...] = (
    Column("what stands out", _title_cell),
    Column("figures", lambda group: _part(group, 0, "–")),
    Column("the score without it", lambda group: _part(group, 1, "as it is")),
    replace(_FIX, title="what would explain it"),
    _PLACES,
)


def add_forensics(checked: Sequence[Checked]) -> Iterator[Checked]:
    """Yield the reports with what ``mlsub review`` finds of each of their entries; verdicts stay what they are.

    Args:
        checked: reports of all that is compared, whose logs were read with their :class:`mlsub.log.trace.Trace`.
    """
    roots = [os.path.abspath(one.report.root) for one in checked if one.report.entries]  # noqa: PTH100  (links stay)
    above = os.path.commonpath(roots) if roots else ""

    found = observe_runs([result for one in checked for result in one.at(above).results if result.logs])
    for one in checked:
        findings = [
            replace(of.finding, path=entry.path, line=None)
            for entry in one.report.entries
            for of in found.get(one.report.path_below(above, entry.path), ())
        ]
        yield replace(one, reports=(replace(one.report, findings=(*one.report.findings, *findings)),))


# ---- Hyperparameters and the system


def run_name(log: LogReport) -> str:
    """Return how pages call a run: its file's name without the ending."""
    return clean(log.name.removesuffix(".gz").removesuffix(".txt"), 60)


def hyperparameters_section(logs: Sequence[LogReport]) -> Section:
    """Return the hyperparameters of an entry; where its runs differ, the values with the runs that have them."""
    keys = sorted({key for log in logs for key in log.run.hyperparameters})
    rows = [(clean(key, 100), _value_cell(key, logs)) for key in keys[:MAX_ROWS]]
    differing = sum(value.badge is not None for _, value in rows)
    words = _left_out(len(keys), "keys") if rows else ("The logs contain none.",)
    if differing:
        words = (f"{differing} of {len(rows)} keys differ between the runs.", *words)
    tables = (plain_table("First value logged for each key", ("key", "value"), rows),) if rows else ()
    return Section(key="hyperparameters", title="Hyperparameters", words=words, tables=tables)


def _value_cell(key: str, logs: Sequence[LogReport]) -> Cell:
    having: dict[str, list[str]] = {}
    for log in logs:
        logged = show(log.run.hyperparameters[key], 200) if key in log.run.hyperparameters else "not logged"
        having.setdefault(logged, []).append(run_name(log))
    if len(having) == 1:
        return Cell(next(iter(having)))
    runs = (", ".join(names) if len(names) <= 5 else f"{len(names)} runs" for names in having.values())
    values = [f"{value} ({names})" for value, names in zip(having, runs, strict=True)]
    more = [f"and {len(values) - MAX_PLACES} more values"] if len(values) > MAX_PLACES else []
    return Cell("; ".join([*values[:MAX_PLACES], *more]), badge="differs")


def system_section(result: SiteResult) -> Section:
    """Return the system description of a result as it lies in the package."""
    title, path = "System description", result.description_path
    if path is None:
        return Section(key="system", title=title, words=("The runs do not lie in an organisation's tree.",))
    content = read_description(Path(result.root, path), path, result.rules).content
    if content is None:
        return Section(key="system", title=title, words=("There is no system description that can be read.",))
    known = fields().fields
    names = [*(name for name in known if name in content), *(name for name in content if name not in known)]
    rows = ((_field_cell(name), _text_of(content[name])) for name in names[:MAX_ROWS])
    table = plain_table(f"Fields of {clean(path, 300)}", ("field", "value"), rows)
    return Section(key="system", title=title, words=_left_out(len(names), "fields"), tables=(table,))


def _left_out(count: int, what: str) -> tuple[str, ...]:
    return (f"The first {MAX_ROWS} of {count:,} {what} are shown.",) if count > MAX_ROWS else ()


def _field_cell(name: str) -> Cell:
    known = fields().fields.get(name)
    if known is None:
        return Cell(clean(name, 100))
    # What the title says in other words need not be said again.
    return Cell(known.title, note=None if known.title.lower().replace(" ", "_") == name else name)


def _text_of(value: object) -> str:
    return clean(value) if isinstance(value, str) else show(value, 500)
