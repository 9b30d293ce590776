"""What the logs and the system description say of one result, as far as claims ask.

The time to train has four bases. published: the olympic mean of the logs times the factor of the entry's scaling.json,
and 1 without one; as a table that the user gives has it, where that is the same. unscaled: the olympic mean of the
logs; where the logs were edited after the runs, with the edit undone. expected: the olympic mean of the logs times the
factor that the convergence test of the round gives. rcp_mean: unscaled, and normalised to the mean of the reference
convergence points where the result converged faster.

Up to v1.1 a review could end in edited logs: ``run_stop`` of every run moved away by the factor to the mean of the
reference convergence points, so that it lies at a constant multiple of the time to the last event that the training
logged. (MLCommons logging issue 210 mentions timestamps updated by hand.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.claims import Result
from mlsub.commands.audit.places import RoundFolder, chips_of, folder_of
from mlsub.commands.audit.wording import decimal, fixed, step_of
from mlsub.convergence import cut_of
from mlsub.io import MlsubError
from mlsub.log.run import Run
from mlsub.present.footnote import footnote
from mlsub.review.runs.stretch import measure_lengths, measure_stretch
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result as Entry
from mlsub.systems.description import read_content
from mlsub.systems.fields import category
from mlsub.workspace import AS_FOUND, Context, Request, check_with_logs

#: The bases in words, in the order in which they are shown.
BASES = {"published": "published", "unscaled": "unscaled", "expected": "expected", "rcp_mean": "at the RCP mean"}


class ResultFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A result; where it is not ``found``, ``reason`` says why, and what follows is unknown. Times are in minutes.

    Who, what and on what is what the claims file and the folders say: ``system`` is the folder's name, ``system_name``
    the description's, ``category`` its availability as in the results table, ``chips`` the accelerators that it counts
    (host processors, where it has none), ``id`` its MLPerf ID.

    ``rcp`` is the verdict of the convergence test, and ``rcp_factor`` takes the time to the mean of the reference.
    ``minutes`` are the time to train on each basis, ``run_minutes`` those of the runs in the order of their files, null
    for a run that counts as slowest. ``edit_factor`` is what all times were multiplied by after the runs, null where
    they were not; ``scaling_json`` the factor of that file. ``unpublished`` is the score of a table that the user gives
    where it is not that of the logs: it decides nothing. ``footnote`` is what a text that uses the result has to say.
    """

    name: str
    usage: str = "training"
    round: str
    submitter: str | None = None
    system: str | None = None
    benchmark: str | None = None
    division: str | None = None
    id: str | None = None
    found: bool = False
    reason: str | None = None
    path: str | None = None
    system_name: str | None = None
    category: str | None = None
    chips: int | None = None
    division_in_logs: tuple[str, ...] = ()
    runs: int | None = None
    converged: int | None = None
    rcp: str | None = None
    rcp_factor: Fraction | None = None
    edit_factor: Fraction | None = None
    scaling_json: Fraction | None = None
    published_source: str | None = None
    unpublished: Fraction | None = None
    minutes: dict[str, Fraction | None] = {}
    run_minutes: tuple[Fraction | None, ...] = ()
    remarks: tuple[str, ...] = ()
    footnote: str | None = None


class Facts(ResultFacts, frozen=True, kw_only=True):
    """The same with its system's description, its energy in joules and its logs."""

    energy: float | None = None
    description: Mapping[str, Any] = {}
    logs: tuple[LogReport, ...] = ()

    @property
    def shown(self) -> ResultFacts:
        """The part that is shown."""
        return msgspec.convert(self, ResultFacts, from_attributes=True)

    @property
    def converging(self) -> list[Run]:
        """The runs that reached the target."""
        return [log.run for log in self.logs if log.run.converged]


def score_words(basis: str) -> str:
    """Return a basis in words: the published score."""
    return f"score {BASES[basis]}" if basis == "rcp_mean" else f"{BASES[basis]} score"


def deciding(facts: Iterable[Facts], asked: Collection[str]) -> tuple[str, ...]:
    """Return the bases that decide, in the order in which they are shown.

    Args:
        facts: those of the results in an expression.
        asked: the bases that the user or the claim asks for; none for the usual.

    The usual: published, and unscaled beside it where the logs of a result were edited.
    """
    if asked:
        return tuple(basis for basis in BASES if basis in asked)
    return ("published", "unscaled") if any(one.edit_factor is not None for one in facts) else ("published",)


def gather(
    results: Sequence[Result],
    rounds: Sequence[RoundFolder],
    context: Context = AS_FOUND,
) -> dict[str, Facts]:
    """Return what there is of each result that claims name, by its name; arguments are those of :func:`read_facts`.

    ``rounds`` is where results lie.
    """
    found: dict[str, Facts] = {}
    there: list[tuple[Result, Path]] = []
    for result in results:
        try:
            there.append((result, folder_of(result, rounds)))
        except MlsubError as error:
            found[result.name] = _missing(result, None, str(error))
    found |= {facts.name: facts for _, facts in read_facts(there, context)}
    return {result.name: found[result.name] for result in results}


def read_facts(results: Sequence[tuple[Result, Path]], context: Context = AS_FOUND) -> Iterator[tuple[Path, Facts]]:
    """Yield each result's folder and what there is in it; the logs of a round are read in one go.

    Args:
        results: each with the folder of its logs.
        context: how logs are read; round and usage are those of each result.
    """
    wanted: dict[tuple[str, str], list[tuple[Result, Path]]] = {}
    for result, folder in results:
        wanted.setdefault((result.usage, result.round), []).append((result, folder))
    for (usage, name), some in wanted.items():
        of_round = msgspec.structs.replace(context, request=Request(name, usage))
        read = check_with_logs(sorted({folder for _, folder in some}), of_round)
        entries = {entry.folder: entry for part in read for entry in part.results}
        for result, folder in some:
            entry, none = entries.get(folder), f"no result log in {folder.parent.name}/{folder.name}"
            yield folder, _of_entry(result, entry) if entry else _missing(result, folder, none)


def _named(result: Result, folder: Path | None) -> dict[str, Any]:
    """Return what the claims file and the folders say."""
    below = 3 if result.scaling else 2
    return {
        "name": result.name,
        "usage": result.usage,
        "round": result.round,
        "submitter": result.submitter or (folder.parents[below].name if folder else None),
        "system": result.system or (folder.parents[below - 2].name if folder else None),
        "benchmark": result.benchmark or (folder.name if folder else None),
        "id": result.id,
    }


def _missing(result: Result, folder: Path | None, reason: str) -> Facts:
    return Facts(**_named(result, folder), division=result.division, reason=reason)


def _of_entry(result: Result, entry: Entry) -> Facts:
    division, round_ = entry.division_name, entry.rules
    if result.division is not None and division is not None and result.division != division:
        reason = f"the file says division {result.division}, the system description {division}"
        return _missing(result, entry.folder, reason)
    file = entry.folder.parents[3 if entry.scaling_type else 2] / "systems" / f"{entry.system}.json"
    content = read_content(file, round_) or {}
    text = {name: value for name, value in content.items() if isinstance(value, str)}
    found = Facts(
        **_named(result, entry.folder),
        division=division,
        found=True,
        path=entry.path,
        system_name=text.get("system_name") or None,
        category=category(text["status"]) if "status" in text else None,
        chips=chips_of(content),
        division_in_logs=tuple(sorted({log.division for log in entry.logs if log.division})),
        runs=len(entry.logs),
        converged=entry.converged,
        rcp=entry.rcp.verdict,
        rcp_factor=_rcp_factor(entry),
        # The decimals that somebody wrote down, not what binary makes of them.
        edit_factor=Fraction(repr(stretch.factor)) if (stretch := measure_stretch(entry)) else None,
        scaling_json=exact(entry.score.scaling) if entry.score.scaling_file else None,
        published_source=result.published.source if result.published else None,
        run_minutes=tuple(_minutes(log.run.duration_ms) if log.counts_in(round_) else None for log in entry.logs),
        energy=entry.energy.scaled if entry.energy else None,
        description=content,
        logs=entry.logs,
        footnote=footnote(entry, id_=result.id, day=result.retrieved, reviewed=result.reviewed),
    )
    minutes, table = _scores(found, entry), result.published
    if table is not None:
        # Rounded, or with the digits cut off.
        off, step = (minutes["published"] or 0) - table.amount, step_of(str(table.minutes))
        if -step / 2 <= off < step:
            minutes["published"] = table.amount
        else:
            found = msgspec.structs.replace(found, unpublished=table.amount)
    return msgspec.structs.replace(found, minutes=minutes, remarks=tuple(_remarks(found)))


def _minutes(milliseconds: float | None) -> Fraction | None:
    return None if milliseconds is None else Fraction(milliseconds) / 60_000


def _scores(facts: Facts, entry: Entry) -> dict[str, Fraction | None]:
    """Return the time to train on each basis; None where there is none."""
    mean = _olympic_mean(entry, facts.run_minutes)
    if mean is None:
        return dict.fromkeys(BASES)
    unscaled = mean
    if facts.edit_factor is not None:
        lengths = [measure_lengths(log) if log.counts_in(entry.rules) else None for log in entry.logs]
        unscaled = _olympic_mean(entry, [_minutes(of and of[1]) for of in lengths]) or mean
    # Both of these scale the times as they stand in the logs, edited or not: so do the official tools.
    as_published = mean * (facts.scaling_json or 1)
    scores = as_published, unscaled, mean * exact(entry.score.expected_scaling), unscaled * (facts.rcp_factor or 1)
    return dict(zip(BASES, scores, strict=True))


def _olympic_mean(entry: Entry, minutes: Sequence[Fraction | None]) -> Fraction | None:
    """Return the olympic mean as the official tool has it, but exact."""
    unscaled, cut = entry.score.unscaled, cut_of(entry.benchmark)
    if unscaled is None or entry.scaling_type == "weak":
        return None if unscaled is None else exact(unscaled)
    kept = sorted(value for value in minutes if value is not None)[cut : len(minutes) - cut]
    return sum(kept, Fraction(0)) / len(kept) if kept else None


def _rcp_factor(entry: Entry) -> Fraction | None:
    """The factor to the reference's mean; BERT by the count that decided, or by the other where that one rejects it."""
    answers = (entry.rcp, entry.rcp.also) if entry.rcp.verdict == "pass" else (entry.rcp.also, entry.rcp)
    for one in answers:
        if one is not None and one.mean and one.reference_mean:
            return max(Fraction(1), exact(one.reference_mean) / exact(one.mean))
    return None


def _remarks(facts: Facts) -> Iterator[str]:
    """Yield what a reader of its figures should know of a result."""
    if facts.edit_factor is not None:
        yield f"all its times were multiplied by {fixed(facts.edit_factor)} after the runs"
    if facts.rcp == "fail":
        factor = "" if facts.rcp_factor is None else f", factor to the mean {fixed(facts.rcp_factor)}"
        yield f"converges faster than its reference allows{factor}"
    if (facts.converged or 0) < (facts.runs or 0):
        yield f"{facts.converged} of {facts.runs} runs converged"
    if facts.unpublished is not None:
        yield f"{decimal(facts.unpublished)} minutes ({facts.published_source}) is not the score of its logs"
    elif facts.published_source is not None:
        yield f"published: {facts.published_source}"
    elif facts.scaling_json is not None:
        yield f"published with the factor {fixed(facts.scaling_json)} of scaling.json"
    if facts.division is not None and facts.division_in_logs and facts.division_in_logs != (facts.division,):
        yield f"the logs say division {', '.join(facts.division_in_logs)}"


def exact(value: float) -> Fraction:
    """Return the fraction a double stands for: the simplest one within its precision, or else its own bits.

    A mean of whole numbers comes out as that mean and 14.1 as 141/10.

    Raises:
        ValueError, OverflowError: it is not finite.
    """
    bits = Fraction(value)
    near = bits.limit_denominator(1_000_000)
    return near if float(near) == value else bits
