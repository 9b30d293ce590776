"""The results of a site: one for each entry of each round, with all that its page shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.score.named import Named, named
from mlsub.score.table import Row, description_path, rows_of
from mlsub.submission.ids import Ids, ResultIds
from mlsub.submission.locate import counted
from mlsub.submission.report import EntryResult, Report
from mlsub.workspace import Checked

#: Longer names of files are cut; a hash keeps them apart.
_MAX_SLUG = 100


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, as the pages need it; ``slug`` is the name of its page without the ending, ``named`` its names."""

    slug: str
    report: Report
    round: Round
    entry: EntryResult
    row: Row
    named: Named
    logs: tuple[LogReport, ...]
    findings: tuple[Finding, ...]
    ids: ResultIds | None = None

    @property
    def id(self) -> str | None:
        """Its ID in the official tables, or those of which one is its own; None where no list has it."""
        return self.ids.shown if self.ids else None

    @property
    def accepted(self) -> bool:
        """Whether the official checker takes it."""
        return self.entry.official is Verdict.ACCEPTED

    @property
    def minutes(self) -> float | None:
        """The published score in minutes; None without one, and where a clock that was set makes it 0 or less."""
        minutes = self.row.published_minutes
        return minutes if minutes is not None and minutes > 0 else None

    @property
    def missing(self) -> int:
        """How many folders of its benchmark and round have no logs, so that a faster result may not be here."""
        return sum(folder.benchmark == self.entry.benchmark for folder in self.report.without_logs)

    @property
    def description(self) -> str | None:
        """Where its system description lies, relative to the report's root; None outside a tree."""
        return description_path(self.entry)

    @property
    def href(self) -> str:
        """Its page, from the root of the site."""
        return f"results/{self.slug}.html"


class RoundResults(msgspec.Struct, frozen=True, kw_only=True):
    """A round with its results; ``rest`` are the findings that are about none of them."""

    report: Report
    round: Round
    results: tuple[Result, ...]
    rest: tuple[Finding, ...]

    @property
    def href(self) -> str:
        """Its page, from the root of the site."""
        return f"rounds/{slug_of(self.round.usage, self.round.name)}.html"


def rounds_of(checked: Sequence[Checked], rounds: Callable[[Report], Round], ids: Ids) -> tuple[RoundResults, ...]:
    """The rounds by age, each with its results; reports that checked nothing have none.

    Args:
        checked: reports and the logs they rest on.
        rounds: the round of a report.
        ids: the identifiers of results in the official tables.
    """
    taken: set[str] = set()
    found = [
        _round(one, rounds(one.report), ids, taken)
        for one in checked
        if one.report.official is not Verdict.NOT_CHECKED and one.report.round is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.round.usage, age_of(one.round.name))))


def age_of(name: str) -> tuple[int, ...]:
    """What rounds are put in order by: 4.1 before 10.0."""
    return tuple(int(part) for part in re.findall(r"\d+", name))


def logs_of(one: Checked) -> dict[str, list[LogReport]]:
    """The logs of a report by the path of their entry, in the order in which people count."""
    logs: dict[str, list[LogReport]] = {}
    for log in sorted(one.logs, key=lambda log: counted(log.path)):
        logs.setdefault(log.path.rpartition("/")[0] or ".", []).append(log)
    return logs


def _round(one: Checked, round_: Round, ids: Ids, taken: set[str]) -> RoundResults:
    report = one.report
    logs = logs_of(one)
    owned, rest = _findings(report)
    results = [
        Result(
            slug=_slug(round_, entry, taken),
            report=report,
            round=round_,
            entry=entry,
            row=row,
            named=named(row),
            logs=tuple(logs.get(entry.path, ())),
            findings=tuple(owned[entry.path]),
            ids=ids.of(row.usage, row.round, row.organisation, row.system_folder, row.benchmark, row.division),
        )
        for entry, row in zip(report.entries, rows_of([report]), strict=True)
    ]
    return RoundResults(report=report, round=round_, results=tuple(results), rest=tuple(rest))


def _findings(report: Report) -> tuple[dict[str, list[Finding]], list[Finding]]:
    """The findings by the path of the entry they are about, those on its system included, and all others."""
    owned: dict[str, list[Finding]] = {entry.path: [] for entry in report.entries}
    systems: dict[str, list[str]] = {}
    for entry in report.entries:
        systems.setdefault(description_path(entry) or "", []).append(entry.path)
    rest = []
    for finding in report.findings:
        about = [path for path in _upwards(finding.path) if path in owned][:1] or systems.get(finding.path, [])
        for path in about:
            owned[path].append(finding)
        if not about:
            rest.append(finding)
    return owned, rest


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield "."


def _slug(round_: Round, entry: EntryResult, taken: set[str]) -> str:
    kind = (entry.scaling_type,) if entry.scaling_type else ()
    parts = (round_.usage, round_.name, entry.organisation, entry.system, *kind, entry.benchmark)
    slug = slug_of(*parts)
    if slug in taken or len(slug) > _MAX_SLUG:
        token = sha256("\0".join((*parts, entry.path)).encode("utf-8", "surrogatepass")).hexdigest()[:10]
        slug = f"{slug[:_MAX_SLUG]}-{token}"
    taken.add(slug)
    return slug


def slug_of(*parts: str) -> str:
    """A name for a file that every file system and address takes as it is: small letters, digits, and no odd dots."""
    cleaned = (re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-.") for part in parts)
    return "_".join(re.sub(r"\.{2,}", ".", part) or "x" for part in cleaned)
