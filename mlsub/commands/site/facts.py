"""What a result says of itself: its hyperparameters, its system, and what was found against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mlsub.commands.site.curves import name_of
from mlsub.commands.site.model import Cell, Row, Section, Table, cell_of, heads, text_of
from mlsub.findings import Finding, Kind, Severity
from mlsub.io.show import show
from mlsub.log.report import LogReport
from mlsub.present.document import Cell as DocumentCell
from mlsub.present.document import Findings, lines_of
from mlsub.present.findings import MAX_PLACES, facts_of, grouped, label_of
from mlsub.rounds import Round
from mlsub.submission.report import Report
from mlsub.systems.description import read_description
from mlsub.systems.fields import fields

#: Rows of a table that are shown; published results stay below a hundred. What is left out is said.
MAX_ROWS = 500
_BADGES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "calm"}
_RANKS = {Severity.ERROR: 0.0, Severity.WARNING: 1.0, Severity.INFO: 2.0}
#: What is said of a defect below its message, as far as it has it.
_SAID = ("expected", "found", "source")
#: Whose findings they are.
FINDINGS_WORDS = (
    "Official findings are those of the official checker in force for the round; review findings are what a careful "
    "reviewer would ask about, and never change a verdict."
)


def section_of_hyperparameters(logs: Sequence[LogReport]) -> Section:
    """The hyperparameters of an entry; where its runs differ, the values with the runs that have them."""
    keys = sorted({key for log in logs for key in log.run.hyperparameters})
    rows = tuple(Row((Cell(text_of(key, 100)), _value(key, logs))) for key in keys[:MAX_ROWS])
    differing = sum(row.cells[1].badge is not None for row in rows)
    words = _left_out(len(keys), "keys") if rows else ("The logs contain none.",)
    if differing:
        words = (f"{differing} of {len(rows)} keys differ between the runs.", *words)
    table = Table(caption="First value logged for each key", heads=heads("key", "value"), rows=rows)
    return Section(key="hyperparameters", title="Hyperparameters", words=words, tables=(table,) if rows else ())


def _value(key: str, logs: Sequence[LogReport]) -> Cell:
    having: dict[str, list[str]] = {}
    for log in logs:
        logged = show(log.run.hyperparameters[key], 200) if key in log.run.hyperparameters else "not logged"
        having.setdefault(text_of(logged, 250), []).append(name_of(log))
    if len(having) == 1:
        return Cell(next(iter(having)))
    values = "; ".join(f"{value} ({_few(runs)})" for value, runs in list(having.items())[:MAX_PLACES])
    more = f"; and {len(having) - MAX_PLACES} more values" if len(having) > MAX_PLACES else ""
    return Cell(values + more, badge="differs")


def _few(runs: Sequence[str]) -> str:
    return ", ".join(runs) if len(runs) <= 5 else f"{len(runs)} runs"


def section_of_system(report: Report, path: str | None, round_: Round) -> Section:
    """The system description as it lies in the package.

    Args:
        report: whose root the path is relative to.
        path: where the description lies; None outside an organisation's tree.
        round_: the round of the report.
    """
    content = read_description(Path(report.root) / path, path, round_).content if path else None
    if content is None:
        why = (
            "There is no system description that can be read."
            if path
            else "The runs do not lie in an organisation's tree."
        )
        return Section(key="system", title="System description", words=(why,))
    known = fields().fields
    names = [*(name for name in known if name in content), *(name for name in content if name not in known)]
    rows = tuple(Row((_field(name), Cell(_value_of(content[name])))) for name in names[:MAX_ROWS])
    table = Table(caption=f"Fields of {text_of(path or '', 300)}", heads=heads("field", "value"), rows=rows)
    return Section(key="system", title="System description", words=_left_out(len(names), "fields"), tables=(table,))


def _left_out(count: int, what: str) -> tuple[str, ...]:
    return (f"The first {MAX_ROWS} of {count:,} {what} are shown.",) if count > MAX_ROWS else ()


def _field(name: str) -> Cell:
    known = fields().fields.get(name)
    if known is None:
        return Cell(text_of(name, 100))
    # What the title says in other words need not be said again.
    return Cell(known.title, note=None if known.title.lower().replace(" ", "_") == name else name)


def _value_of(value: Any) -> str:
    if isinstance(value, str):
        return text_of(value) or "–"
    return text_of(show(value, 500))


_HEADS = heads("severity", "rule", "what was found", "fix", "places")


def section_of_findings(findings: Iterable[Finding], *, forgiven: bool) -> Section:
    """Findings, the same defect in many places once.

    Args:
        findings: those of one entry, or of a round.
        forgiven: the whole is accepted, so that a rejecting defect is that of a forgiven run.
    """
    block = Findings(tuple(findings), forgiven=forgiven)
    groups = grouped(block.findings)
    if not groups:
        return Section(key="findings", title="Findings", words=("None.",))
    table = findings_table(block, "Findings")
    words = (FINDINGS_WORDS, *_left_out(len(groups), "findings"))
    return Section(key="findings", title="Findings", words=words, tables=(table,))


def findings_table(block: Findings, caption: str) -> Table:
    """A row for each defect, with all its places."""
    rows = tuple(_row(group, block) for group in grouped(block.findings)[:MAX_ROWS])
    return Table(caption=caption, heads=_HEADS, rows=rows)


def places_of(group: Sequence[Finding]) -> Cell:
    """Where a defect is."""
    return Cell(_lines(dict(facts_of(group))["in"]), float(len(group)))


def _row(group: Sequence[Finding], block: Findings) -> Row:
    first = group[0]
    facts = dict(facts_of(group))
    words = [text_of(first.message), *(f"{name}: {_lines(facts[name])}" for name in _SAID if name in facts)]
    return Row(
        (
            Cell(
                label_of(first, block),
                _RANKS[first.severity] + 3 * (first.kind is Kind.REVIEW),
                badge=_BADGES[first.severity],
            ),
            Cell(first.rule),
            Cell("\n".join(words)),
            Cell(text_of(first.fix) if first.fix else "–"),
            places_of(group),
        )
    )


def _lines(cell: DocumentCell) -> str:
    return "\n".join(text_of("".join(span.text for span in line)) for line in lines_of(cell))


def count_cell(findings: Sequence[Finding]) -> Cell:
    """How many defects there are, the same in many places once."""
    return cell_of(len(grouped(findings)))
