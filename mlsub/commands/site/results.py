"""The results of a site with the addresses of their pages, and what pages over many of them read of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from mlsub.commands.site.page import MAX_NAME, clean, count_text, number_text
from mlsub.convergence.margin import benchmark_tested
from mlsub.divisions import CLOSED, OPEN, division_meant
from mlsub.findings import Verdict
from mlsub.io.data import group_by_key
from mlsub.rounds import Round, get_round, round_age
from mlsub.score.alike import SystemSize, system_size
from mlsub.submission.find import counted
from mlsub.submission.report import Report
from mlsub.submission.result import CPU_ONLY, Result
from mlsub.workspace import Checked

#: Where pages about what results share lie; things whose addresses are the same have one page.
BENCHMARKS, ORGANISATIONS, ACCELERATORS, SYSTEMS = "benchmarks", "organisations", "accelerators", "systems"
#: Longer names of files are cut; a hash keeps them apart.
_MAX_SLUG = 100
#: Names that slugs keep apart but for the case of letters and what stands between words; others get a hash.
_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[ _.+/(),-]+[A-Za-z0-9]+)*[ )]*")
#: Names from outside that pages show, cut where they are too long.
_NAMES = (
    *("organisation_name", "benchmark_title", "accelerator_model_name", "availability", "framework", "submitter"),
    *("system_name",),
)
#: Usages in the order in which they are shown; others come after them.
USAGES = ("training", "hpc")
#: What sections are called whose results are of a division.
DIVISIONS = {CLOSED.name: "Closed division", OPEN.name: "Open division", "other": "Results without a clear division"}
#: What legends call results whose description names no accelerator that is known.
NO_ACCELERATOR = "no known accelerator"
#: Marks what rests on benchmarks and rounds of which folders have no logs.
DAGGER = "†"


class SiteResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result with its page and those about what it shares with others, from the root of the site.

    The names of ``result`` are fit to be shown: its system and submitter are called as their folders where no
    description names them, and its division is that of its logs where no description has one. ``tested_as`` is the
    benchmark whose reference and target hold for it. ``accelerator_href`` is empty without a known accelerator.
    """

    result: Result
    tested_as: str
    href: str
    round_href: str
    benchmark_href: str
    organisation_href: str
    accelerator_href: str
    system_href: str

    @property
    def submitter(self) -> str:
        """Who submitted it, by the description or the folder."""
        return self.result.submitter or self.result.organisation

    @property
    def system_name(self) -> str:
        """The system, by the description or the folder."""
        return self.result.system_name or self.result.system

    @property
    def division_name(self) -> str:
        """``closed``, ``open``, or ``other`` where neither description nor logs say."""
        return self.result.division_name or "other"

    @property
    def benchmark(self) -> str:
        """Its benchmark, with the kind of scaling where it has one."""
        kind = self.result.scaling_type
        return f"{self.result.benchmark_title}, {kind} scaling" if kind else self.result.benchmark_title

    @property
    def score_minutes(self) -> float | None:
        """The published score; None without one, and where a clock that was set makes it 0 or less."""
        minutes = self.result.published_minutes
        return minutes if minutes is not None and minutes > 0 else None

    @property
    def train_minutes(self) -> float | None:
        """The score as minutes to train; weak scaling has none: its score is of many models at a time."""
        return None if self.result.scaling_type == "weak" else self.score_minutes

    @property
    def partial(self) -> bool:
        """Whether folders of its benchmark and round have no logs, so that the best of them all is not known."""
        return self.result.without_logs > 0

    @property
    def size(self) -> SystemSize | None:
        """Its accelerators, or its nodes where it has none; None where neither is stated."""
        return system_size(self.result.accelerators_count, self.result.number_of_nodes)

    @property
    def accelerators(self) -> str:
        """How many of which accelerator: of several nodes their number before that of the accelerators of one."""
        count, nodes, name = self.result.accelerators_count, self.result.number_of_nodes or 1, self.result.accelerator
        if not count:
            return name or "not stated"
        if name is None:
            return f"{count:,}, not named"
        return f"{nodes:,} × {count // nodes:,} {name}" if nodes > 1 and not count % nodes else f"{count:,} × {name}"

    @property
    def comparable_rounds(self) -> tuple[str, ...]:
        """The rounds that it may be compared with, its own included."""
        return self.result.compatible_rounds or (self.result.round,)

    @property
    def in_minutes(self) -> str:
        """Its time to train in words, to three digits."""
        shown = number_text(self.train_minutes, 3)
        return f"{shown} minute{'s' * (shown != '1')}"

    @property
    def holder(self) -> str:
        """Whose it is, on how many of what, or on which system where its accelerators are not known."""
        known = self.result.accelerators_count and self.result.accelerator_name
        return f"{self.result.organisation_name}, {self.accelerators if known else self.system_name}"

    def called(self, by: str) -> str:
        """Return its ``vendor`` or ``family`` as charts call it."""
        name: str | None = getattr(self.result, by)
        return name or (CPU_ONLY if self.result.accelerators_count == 0 else NO_ACCELERATOR)

    @property
    def division_title(self) -> str:
        """``Closed``, ``Open``, or what is said of results without a clear division."""
        return DIVISIONS[self.division_name].removesuffix(" division")


class Results(tuple[SiteResult, ...]):
    """Results in some order."""

    @cached_property
    def timed(self) -> Results:
        """Those that have a time to train."""
        return Results(one for one in self if one.train_minutes is not None)

    @cached_property
    def closed(self) -> Results:
        """The Closed ones that have a time to train."""
        return self.timed.of_division(CLOSED.name)

    @cached_property
    def complete(self) -> Results:
        """Those of benchmarks and rounds whose folders all have logs."""
        return Results(one for one in self if not one.partial)

    @property
    def rounds(self) -> list[str]:
        """The rounds that they are of, in their order."""
        return list(dict.fromkeys(one.result.round_key for one in self))

    @property
    def period(self) -> str:
        """Their round, or the first and the last one."""
        keys = self.rounds
        return keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}"

    @property
    def suite(self) -> str:
        """What they are of: ``MLPerf Training``, or several suites, the most frequent first."""
        titles = Counter(one.result.rules.title.rpartition(" v")[0].partition(" (")[0] for one in self)
        return " and ".join(title for title, _ in titles.most_common())

    @property
    def missing(self) -> str:
        """Which folders of their benchmarks and rounds have no logs, by the mark of what rests on them."""
        found = {(one.benchmark_href, one.result.round_key): one.result for one in self if one.partial}
        named = [
            f"{count_text(it.without_logs, 'folder')} of {it.benchmark_title} in {it.round_key}"
            for it in found.values()
        ]
        alone = sum(it.without_logs for it in found.values()) == 1
        return f"{DAGGER} {', '.join(named)} {'has' if alone else 'have'} no logs here." if named else ""

    def of_division(self, name: str) -> Results:
        """Return those of a division, by its name."""
        return Results(one for one in self if one.division_name == name)

    def beside(self, result: SiteResult) -> Results:
        """Return those of rounds that may be compared with that of a result."""
        return Results(one for one in self if one.comparable_rounds == result.comparable_rounds)

    def ordered(self, key: Callable[[SiteResult], Any]) -> Results:
        """Return them in the order of a key; those of equal keys stay as they are."""
        return Results(sorted(self, key=key))

    def by(self, key: Callable[[SiteResult], Hashable]) -> list[Results]:
        """Return those with the same key together, in the order in which keys come; those without one are left out."""
        found = group_by_key((value, one) for one in self if (value := key(one)))
        return list(map(Results, found.values()))

    def best(
        self, key: Callable[[SiteResult], Hashable], value: Callable[[SiteResult], float] | None = None
    ) -> Results:
        """Return the one with the least value, or time to train, of each key, as keys come; of equals the first."""
        return Results(min(some, key=value or minutes_of) for some in self.by(key))

    def comparable(self) -> list[Results]:
        """Return groups whose rounds may be compared; a round that is compatible with no other is alone."""
        return self.by(lambda one: one.comparable_rounds)

    def record_chains(self, value: Callable[[SiteResult], float] | None = None) -> list[Results]:
        """Return the records of a benchmark, oldest first, of each group of rounds that may be compared.

        A record is the Closed result of its round with the least value, which is the time to train unless another is
        given, and less than all before it. The first of several is of a round whose folders all have logs: of another
        one nobody knows how many times as fast a later one is.
        """
        chains, value = [], value or minutes_of
        for group in self.closed.comparable():
            chain: list[SiteResult] = []
            for best in group.best(lambda one: one.result.round_key, value):
                if not chain or value(best) < value(chain[-1]):
                    chain = [*([] if chain and chain[0].partial else chain), best]
            chains.append(Results(chain))
        return chains


class SiteRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round with its results."""

    rules: Round
    report: Report
    results: Results

    @property
    def href(self) -> str:
        """Its page, from the root of the site."""
        return _round_href(self.rules)

    @property
    def organisations(self) -> int:
        """How many organisations its results are of."""
        return len({one.result.organisation_name for one in self.results})

    @property
    def accepted(self) -> int:
        """How many of its results the official checker accepts."""
        return sum(one.result.accepted for one in self.results)


class Site:
    """The rounds of a site, those that came out first first, as pages over all of them read them."""

    def __init__(self, rounds: Iterable[SiteRound]) -> None:
        found = sorted(rounds, key=_came_out)
        count = Counter(result.system_href for one in found for result in one.results)
        # The page of a system that has one result is the page of that result.
        self.rounds = [
            replace(
                one,
                results=Results(
                    it if count[it.system_href] > 1 else replace(it, system_href=it.href) for it in one.results
                ),
            )
            for one in found
        ]
        #: In the order of the data of the site (see :mod:`.dataset`).
        self.results = Results(result for one in self.rounds for result in one.results)
        self._place = {result.href: place for place, result in enumerate(self.results)}

    @cached_property
    def benchmarks(self) -> list[Results]:
        """The results of each benchmark, those of most interest first: of the newest rounds, with most results."""
        return sorted(self.results.by(lambda one: one.benchmark_href), key=_interest)

    def places(self, results: Iterable[SiteResult]) -> list[int]:
        """Return the places of results in the data of the site."""
        return [self._place[result.href] for result in results]


def build_rounds(checked: Iterable[Checked]) -> list[SiteRound]:
    """Return the rounds of reports and the logs they rest on; reports that checked nothing have none."""
    rounds: list[SiteRound] = []
    taken: set[str] = set()
    for one in checked:
        report = one.report
        if report.official is Verdict.NOT_CHECKED or report.round is None:
            continue
        rules = get_round(str(report.usage), report.round, one.overlay)
        results = Results(
            SiteResult(
                result=_with_shown_names(found),
                tested_as=benchmark_tested(report, found, rules),
                href=_result_href(found, taken),
                round_href=_round_href(rules),
                benchmark_href=_href(BENCHMARKS, found.benchmark_name),
                organisation_href=_href(ORGANISATIONS, found.organisation_name),
                accelerator_href=_href(ACCELERATORS, found.accelerator_name) if found.accelerator_name else "",
                # By the name that its description gives it: rounds name folders anew.
                system_href=_href(SYSTEMS, found.organisation_name, found.system_name or found.system),
            )
            for found in one.results
        )
        rounds.append(SiteRound(rules=rules, report=report, results=results))
    return rounds


def _with_shown_names(found: Result) -> Result:
    """Return a result with the names that pages show, and its logs as people count them.

    Packages without system descriptions (v0.7 has some) are of the division where all their logs say they belong.
    """
    logged = {log.division for log in found.logs}
    division = division_meant(found.division or (logged.pop() if len(logged) == 1 else None))
    named = replace(
        found,
        submitter=found.submitter or found.organisation,
        system_name=found.system_name or found.system,
        division_name=division.name if division else None,
        logs=tuple(sorted(found.logs, key=lambda log: counted(log.path))),
    )
    return replace(named, **{name: clean(text, MAX_NAME) for name in _NAMES if (text := getattr(named, name))})


def _came_out(one: SiteRound) -> tuple[str, str, tuple[int, ...]]:
    """Return what rounds are put in order by: the day on which they came out; those without one come last."""
    day = one.results[0].result.publication_date if one.results else None
    return day.isoformat() if day else "9999", one.rules.usage, round_age(one.rules.name)


def _interest(results: Results) -> tuple[int, tuple[int, ...], int, str]:
    last = results[-1]
    usage = USAGES.index(last.result.usage) if last.result.usage in USAGES else len(USAGES)
    count = sum(one.result.round == last.result.round for one in results)
    return usage, tuple(-part for part in last.result.age), -count, last.result.benchmark_title


def minutes_of(result: SiteResult) -> float:
    """Return what puts the fastest first, and those without a time last."""
    return math.inf if result.train_minutes is None else result.train_minutes


def chip_minutes_of(result: SiteResult) -> float:
    """Return what puts the fewest chip-minutes first, and those without any last."""
    return math.inf if result.train_minutes is None else result.result.chip_minutes or math.inf


def _round_href(rules: Round) -> str:
    return f"rounds/{slug(rules.usage, rules.name)}.html"


def _result_href(found: Result, taken: set[str]) -> str:
    kind = (found.scaling_type,) if found.scaling_type else ()
    parts = (found.usage, found.round, found.organisation, found.system, *kind, found.benchmark)
    name = slug(*parts)
    if name in taken or len(name) > _MAX_SLUG:
        name = f"{name[:_MAX_SLUG]}-{_token(*parts, found.path)}"
    taken.add(name)
    return f"results/{name}.html"


def _href(folder: str, *names: str) -> str:
    name = slug(*names)
    if len(name) > _MAX_SLUG or not all(map(_PLAIN.fullmatch, names)):
        name = f"{name[:_MAX_SLUG]}-{_token(*names)}"
    return f"{folder}/{name}.html"


def _token(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:10]


def slug(*parts: str) -> str:
    """Return a name that every file system and address takes as it is: small letters, digits, and no odd dots."""
    cleaned = (re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-.") for part in parts)
    return "_".join(re.sub(r"\.{2,}", ".", part) or "x" for part in cleaned)
