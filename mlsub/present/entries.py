"""The results table: its columns, each defined once, and what it leaves unsaid of the convergence test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from mlsub.findings import Verdict
from mlsub.io.show import rounded, shortened
from mlsub.present.document import Cell, Column, Meaning, Span, Table, Text, table_of
from mlsub.submission.report import EntryResult, LogResult, RcpResult

COMPLIANT = "compliant"
#: How a verdict on a log, an entry or a package is coloured.
MEANINGS: dict[str, Meaning] = {
    **{Verdict.ACCEPTED: "good", Verdict.REJECTED: "bad", Verdict.NOT_CHECKED: "note"},
    **{COMPLIANT: "good", "noncompliant": "bad"},
}
_RCP_MEANINGS: dict[str, Meaning] = {"pass": "good", "fail": "bad", "missing": "bad", "bypassed": "note"}
_NONE = "-"
#: Characters shown of a benchmark or a division, which may be any text; no real one is longer.
_LONGEST = 20


def verdict_span(official: str) -> Span:
    """Return a verdict in its colour."""
    return Span(str(official), MEANINGS[official])


class EntryColumn(Column, frozen=True, kw_only=True):
    """A column of the results table.

    ``value`` gives what it has of an entry, which is an :class:`EntryResult` or what a command has in place of one; a
    number is shown with so many ``decimals``. An ``optional`` column is left out where it has nothing of any entry.
    """

    value: Callable[[Any], Cell | float | None]
    decimals: int = 0
    optional: bool = False

    def cell(self, entry: Any) -> Cell:
        """Return the cell of an entry: here numbers get their digits."""
        value = self.value(entry)
        if value is None:
            return _NONE
        return rounded(value, self.decimals) if isinstance(value, int | float) else value


def _benchmark(entry: EntryResult) -> Cell:
    return _bounded(entry.benchmark) + (f" ({entry.scaling_type})" if entry.scaling_type else "")


def _bounded(text: str | None) -> str:
    return shortened(text or _NONE, _LONGEST)


def _count(value: float | None) -> Cell | None:
    """A number of epochs or samples, or a batch size: three decimals at most, none where it is large."""
    if value is None:
        return None
    return rounded(value, 3).rstrip("0").rstrip(".") if abs(value) < 1e5 else rounded(value, 0)


def _rcp(entry: EntryResult) -> Cell | None:
    if entry.rcp.verdict == "not-required":
        return None
    return Span(rcp_words(entry.rcp), _RCP_MEANINGS.get(entry.rcp.verdict, "plain"))


def _scaling(entry: EntryResult) -> float | None:
    return None if entry.score.scaling == 1 else entry.score.scaling


def _expected(entry: EntryResult) -> Cell | float | None:
    return "" if entry.score.as_expected else entry.score.expected


def _megajoules(entry: EntryResult) -> float | None:
    scaled = entry.energy.scaled if entry.energy else None
    return None if scaled is None else scaled / 1e6


def _to_the_limit(entry: Any) -> Cell | None:
    """How far a margin or a status lies above the limit of the convergence test."""
    return None if entry.percent is None else f"{entry.percent:+.2f} %"


_COLUMNS = (
    EntryColumn("organisation", when_narrow="shorten", value=lambda entry: entry.organisation),
    EntryColumn("system", when_narrow="shorten", value=lambda entry: entry.system),
    EntryColumn("benchmark", when_narrow="keep", value=_benchmark),
    EntryColumn("division", when_narrow="keep", leave_out=3, value=lambda entry: _bounded(entry.division)),
    EntryColumn("compliant", number=True, leave_out=4, value=lambda entry: f"{entry.compliant} of {entry.runs}"),
    EntryColumn("converged", number=True, leave_out=5, value=lambda entry: f"{entry.converged} of {entry.runs}"),
    EntryColumn("batch", number=True, optional=True, value=lambda entry: _count(entry.rcp.batch_size)),
    EntryColumn("convergence", number=True, optional=True, value=lambda entry: _count(entry.rcp.mean)),
    EntryColumn("RCP", when_narrow="keep", optional=True, value=_rcp),
    EntryColumn("scaling", number=True, leave_out=2, optional=True, decimals=4, value=_scaling),
    EntryColumn("minutes", number=True, decimals=3, value=lambda entry: entry.minutes),
    EntryColumn("expected", number=True, leave_out=1, optional=True, decimals=3, value=_expected),
    EntryColumn("scale", number=True, optional=True, value=lambda entry: entry.score.instance_scale),
    EntryColumn("MJ", number=True, optional=True, decimals=3, value=_megajoules),
    EntryColumn("to the limit", number=True, value=_to_the_limit),
    EntryColumn("verdict", when_narrow="keep", value=lambda entry: entry.official and verdict_span(entry.official)),
)
#: The columns of the results table by their names: each command picks those that it shows.
COLUMNS = {column.name: column for column in _COLUMNS}
#: What check, merge and pack show of an entry.
_JUDGED = (
    *("organisation", "system", "benchmark", "division", "compliant", "converged"),
    *("minutes", "scaling", "expected", "RCP", "verdict"),
)


def results_table(
    entries: Sequence[Any],
    columns: Iterable[str | EntryColumn] = _JUDGED,
    *,
    organisations: bool = False,
    whole: bool = False,
) -> Table:
    """Return the results table: one row an entry.

    Args:
        entries: what its rows are of.
        columns: names of ``COLUMNS``, and columns of the command's own.
        organisations: name the organisation even if it is the same of all entries.
        whole: no column is left out and no text shortened on a narrow terminal.
    """
    shown: list[tuple[Column, Sequence[Cell]]] = []
    for column in (COLUMNS[one] if isinstance(one, str) else one for one in columns):
        cells = [column.cell(entry) for entry in entries]
        if column.name == "organisation" and not organisations and len(set(cells)) < 2:
            continue
        if column.optional and all(cell in ("", _NONE) for cell in cells):
            continue
        if whole:
            column = replace(column, leave_out=0, when_narrow="keep" if column.keeps else "fold")
        shown.append((column, cells))
    return table_of(shown, "system")


def logs_table(logs: Sequence[LogResult]) -> Table:
    """Return one row a log: what it says it is, and what came of it."""
    columns = (
        EntryColumn("log", when_narrow="shorten", value=lambda log: Span(log.path, "path")),
        EntryColumn("benchmark", when_narrow="keep", value=lambda log: _bounded(log.benchmark)),
        "division",
        EntryColumn("status", when_narrow="keep", leave_out=1, value=lambda log: _bounded(log.status)),
        *("minutes", "verdict"),
    )
    return results_table(logs, columns)


def rcp_words(rcp: RcpResult) -> str:
    """The verdict of the convergence test, by which count of BERT it is, and what of the logs does not fit."""
    if rcp.verdict == "not-required":
        return "-"
    by = " by train_samples" if rcp.counted == "train_samples" else ""
    units = ", not comparable" if rcp.logs_unit is not None else ""
    logs = ", other logs" if rcp.logs_benchmark is not None else ""
    return f"{rcp.verdict}{by}{units}{logs}{'*' if rcp.otherwise is not None else ''}"


def notes_on_rcp(entries: Iterable[EntryResult]) -> Iterator[Text]:
    """What :func:`rcp_words` leaves unsaid of some entries."""
    tested = [(entry.benchmark, entry.rcp) for entry in entries]
    counts = dict.fromkeys((rcp.also.counted, rcp.also.verdict) for _, rcp in tested if rcp.also and rcp.otherwise)
    if counts:
        yield Text(f"* {'; '.join(f'{verdict} if BERT is counted by {by}' for by, verdict in counts)}")
    names: dict[str, dict[str, None]] = {}
    for name, rcp in tested:
        if rcp.incomparable is not None:
            names.setdefault(rcp.incomparable, {})[name] = None
    for why, benchmarks in names.items():
        yield Text(f"{', '.join(benchmarks)}: {why}")
    for name, logs in dict.fromkeys((name, rcp.logs_benchmark) for name, rcp in tested if rcp.logs_benchmark):
        yield Text(f"{name}, other logs: they name {logs[:20]}, so that their RCP verdict says nothing of {name}")
