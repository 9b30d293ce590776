"""What a result says of itself: what was found of it, its hyperparameters, and its system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mlsub.commands.site.page import Cell, Column, Section, build_table, clean, count_text, plain_table
from mlsub.commands.site.results import SiteResult
from mlsub.findings import Finding, Kind, Severity
from mlsub.io.show import first_few, show
from mlsub.present.document import Findings, lines_of
from mlsub.present.findings import MAX_PLACES, facts_of, grouped, label_of
from mlsub.submission.model import LogReport
from mlsub.systems.description import read_content
from mlsub.systems.fields import fields, is_empty

#: Rows of a table that are shown; published results stay below a hundred. What is left out is said.
MAX_ROWS = 500
_BADGES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "calm"}
#: What is said of a defect below its message, as far as it has it.
_BELOW = ("expected", "found")
_REVIEW = "Review findings are what a careful reviewer would ask about, and never change a verdict."


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
    words = (counts, _REVIEW) if any(one.kind is Kind.REVIEW for one in told) else (counts,)
    return Section(key="findings", title="Findings", words=words, tables=tables)


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
    named = [(run_name(log), log.run.hyperparameters) for log in logs]
    rows = [(clean(key, 100), _value_cell(_logged(key, named), "runs")) for key in keys[:MAX_ROWS]]
    differing = sum(value.badge is not None for _, value in rows)
    words = (f"The first {MAX_ROWS} of {len(keys):,} keys are shown.",) if len(keys) > MAX_ROWS else ()
    words = words if rows else ("The logs contain none.",)
    if differing:
        words = (f"{differing} of {len(rows)} keys differ between the runs.", *words)
    tables = (plain_table("First value logged for each key", ("key", "value"), rows),) if rows else ()
    return Section(key="hyperparameters", title="Hyperparameters", words=words, tables=tables)


def _logged(key: str, runs: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    """Yield what each run logs of a key, by its name."""
    for name, values in runs:
        yield name, show(values[key], 200) if key in values else "not logged"


def _value_cell(values: Iterable[tuple[str, str]], kind: str) -> Cell:
    """Return what several things of a kind say, each with its name: once where it is the same, else by value."""
    having: dict[str, list[str]] = {}
    for name, value in values:
        having.setdefault(value, []).append(name)
    if len(having) == 1:
        return Cell(next(iter(having)))
    names = (", ".join(some) if len(some) <= 5 else f"{len(some)} {kind}" for some in having.values())
    shown = [f"{value} ({some})" for value, some in zip(having, names, strict=True)]
    more = [f"and {len(shown) - MAX_PLACES} more values"] if len(shown) > MAX_PLACES else []
    return Cell("; ".join([*shown[:MAX_PLACES], *more]), badge="differs")


def system_section(results: Iterable[SiteResult]) -> Section:
    """Return the system descriptions of results as they lie in their packages; where they differ, with their names."""
    files = {(one.root, one.description_path): one for one in results}
    found = [described for one in files.values() for described in _description(one)]
    section = Section(key="system", title="System description")
    if not found:
        return replace(section, words=("There is no system description that can be read.",))
    known = fields().fields
    stated = dict.fromkeys(name for _, content in found for name in content)
    names = [*(name for name in known if name in stated), *(name for name in stated if name not in known)][:MAX_ROWS]
    empty = [name for name in names if all(is_empty(content.get(name)) for _, content in found)]
    titles = {name: known[name].title if name in known else clean(name, 100) for name in names}
    said = {name: [(of, _text_of(content.get(name))) for of, content in found] for name in names}
    rows = [(titles[name], _value_cell(said[name], "descriptions")) for name in names if name not in empty]
    if empty:
        rows.append(("Empty", Cell(", ".join(titles[name] for name in empty))))
    left = (f"The first {MAX_ROWS} of {len(stated):,} fields are shown.",) if len(stated) > MAX_ROWS else ()
    caption = f"Fields of {first_few((name for name, _ in found), 8)}"
    return replace(section, words=left, tables=(plain_table(caption, ("field", "value"), rows),))


def _description(result: SiteResult) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of the description of a result, by round and folder, and what it says; nothing of none."""
    path = result.description_path
    content = read_content(Path(result.root, path), result.rules) if path is not None else None
    if path is not None and content is not None:
        yield f"{result.round_key} {clean(path.rpartition('/')[2], 300)}", content


def _text_of(value: object) -> str:
    return clean(value) or "–" if isinstance(value, str) else "–" if value is None else show(value, 500)
