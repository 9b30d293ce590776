"""What a result says of itself: what was found of it, its hyperparameters, and its system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mlsub.commands.site.page import Cell, Column, Section, Table, build_table, clean, count_text, plain_table
from mlsub.commands.site.results import SiteResult
from mlsub.findings import Finding, Kind, Severity
from mlsub.io.show import show
from mlsub.present.document import Findings, lines_of
from mlsub.present.findings import MAX_PLACES, facts_of, grouped, label_of
from mlsub.submission.model import LogReport
from mlsub.systems.description import read_description
from mlsub.systems.fields import fields, is_empty

#: Rows of a table that are shown; published results stay below a hundred. What is left out is said.
MAX_ROWS = 500
_BADGES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "calm"}
#: What is said of a defect below its message, as far as it has it.
_BELOW = ("expected", "found")
_FINDINGS = "Review findings are what a careful reviewer would ask about, and never change a verdict."


def findings_section(findings: Sequence[Finding], *, forgiven: bool) -> Section:
    """Return the findings of an entry, by severity; notes of reviewers are counted.

    Args:
        findings: those of the entry.
        forgiven: the whole is accepted, so that a rejecting defect is that of a forgiven run.
    """
    told = [one for one in findings if one.severity is not Severity.NOTE or one.kind is not Kind.REVIEW]
    block = Findings(tuple(told), forgiven=forgiven)
    columns: tuple[Column[Sequence[Finding]], ...] = (
        Column("severity", lambda group: Cell(label_of(group[0], block), badge=_BADGES[group[0].severity])),
        Column("rule", lambda group: group[0].rule),
        Column("what was found", _found_text),
        Column("places", _places_cell),
    )
    by_severity = list(_by_severity(told))
    # A row a defect, with all its places.
    tables = tuple(build_table(words, groups[:MAX_ROWS], columns) for words, groups in by_severity)
    *first, last = [words for words, _ in by_severity] or ["None"]
    notes = len(grouped(one for one in findings if one not in told))
    counts = f"{', '.join(first)} and {last}" if first else last
    counts += f", and {count_text(notes, 'review note')} (mlsub check)." if notes else "."
    return Section(key="findings", title="Findings", words=(counts, _FINDINGS) if told else (counts,), tables=tables)


def _by_severity(findings: Sequence[Finding]) -> Iterator[tuple[str, list[list[Finding]]]]:
    for severity in Severity:
        groups = grouped(finding for finding in findings if finding.severity is severity)
        if groups:
            left = f", of which the first {MAX_ROWS} are shown" if len(groups) > MAX_ROWS else ""
            yield count_text(len(groups), severity.value) + left, groups


def _found_text(group: Sequence[Finding]) -> str:
    facts = dict(facts_of(group))
    below = (f"{name}: {_lines_text(facts[name])}" for name in _BELOW if name in facts)
    return "\n".join((clean(group[0].message), *below))


def _places_cell(group: Sequence[Finding]) -> Cell:
    return Cell(_lines_text(dict(facts_of(group))["in"]), float(len(group)))


def _lines_text(cell: object) -> str:
    return "\n".join(clean("".join(span.text for span in line)) for line in lines_of(cell))  # type: ignore[arg-type]


# ---- Hyperparameters and the system


def run_name(log: LogReport) -> str:
    """Return how pages call a run: its file's name without the ending."""
    return clean(log.name.removesuffix(".gz").removesuffix(".txt"), 60)


def hyperparameters_section(logs: Sequence[LogReport]) -> Section:
    """Return the hyperparameters of an entry; where its runs differ, the values with the runs that have them."""
    keys = sorted({key for log in logs for key in log.run.hyperparameters})
    rows = [(clean(key, 100), _value_cell(key, logs)) for key in keys[:MAX_ROWS]]
    differing = sum(value.badge is not None for _, value in rows)
    words = (f"The first {MAX_ROWS} of {len(keys):,} keys are shown.",) if len(keys) > MAX_ROWS else ()
    words = words if rows else ("The logs contain none.",)
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


def system_section(results: Iterable[SiteResult]) -> Section:
    """Return the system descriptions of results as they lie in their packages, each once."""
    files = {(one.root, one.description_path): one for one in results}
    tables = tuple(table for one in files.values() if (table := _description_table(one)) is not None)
    words = () if tables else ("There is no system description that can be read.",)
    return Section(key="system", title="System description", words=words, tables=tables)


def _description_table(result: SiteResult) -> Table | None:
    """Return the fields of the description of a result, those without a value in the last row."""
    path = result.description_path
    content = read_description(Path(result.root, path), path, result.rules).content if path is not None else None
    if path is None or content is None:
        return None
    known = fields().fields
    names = [*(name for name in known if name in content), *(name for name in content if name not in known)][:MAX_ROWS]
    titles = {name: known[name].title if name in known else clean(name, 100) for name in names}
    empty = ", ".join(titles[name] for name in names if is_empty(content[name]))
    rows = [(titles[name], _text_of(content[name])) for name in names if not is_empty(content[name])]
    left = f": the first {MAX_ROWS} of {len(content):,} fields" if len(content) > MAX_ROWS else ""
    caption = f"{result.round_key}, {clean(path, 300)}{left}"
    return plain_table(caption, ("field", "value"), [*rows, *([("Empty", empty)] if empty else [])])


def _text_of(value: object) -> str:
    return clean(value) if isinstance(value, str) else show(value, 500)
