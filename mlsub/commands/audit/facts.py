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

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import msgspec

from mlsub.commands.audit.claims import ClaimedResult
from mlsub.commands.audit.places import FoundResult, RoundFolder, folder_of
from mlsub.commands.audit.wording import decimal, fixed, step_of
from mlsub.convergence import cut_of
from mlsub.io import MlsubError
from mlsub.present.footnote import footnote
from mlsub.review.runs.stretch import measure_lengths, measure_stretch
from mlsub.submission.result import Result
from mlsub.systems.description import read_content
from mlsub.workspace import AS_FOUND, Context, Request, check_with_logs

#: The bases in words, in the order in which they are shown.
BASES = {"published": "published", "unscaled": "unscaled", "expected": "expected", "rcp_mean": "at the RCP mean"}


def score_words(basis: str) -> str:
    """Return a basis in words: the published score."""
    return f"score {BASES[basis]}" if basis == "rcp_mean" else f"{BASES[basis]} score"


def deciding(results: Iterable[FoundResult], asked: Collection[str]) -> tuple[str, ...]:
    """Return the bases that decide, in the order in which they are shown.

    Args:
        results: those in an expression.
        asked: the bases that the user or the claim asks for; none for the usual.

    The usual: published, and unscaled beside it where the logs of a result were edited.
    """
    if asked:
        return tuple(basis for basis in BASES if basis in asked)
    return ("published", "unscaled") if any(one.edit_factor is not None for one in results) else ("published",)


def find_results(
    claimed: Sequence[ClaimedResult],
    rounds: Sequence[RoundFolder],
    context: Context = AS_FOUND,
) -> dict[str, FoundResult]:
    """Return each result that claims name, by its name, with its logs read.

    Args:
        claimed: the results.
        rounds: where they lie.
        context: how logs are read; round and usage are those of each result.
    """
    found: dict[str, FoundResult] = {}
    for one in claimed:
        names = {name: getattr(one, name) for name in ("name", "usage", "round", "division", "id")}
        submitter, system, benchmark, reason, folder = one.submitter, one.system, one.benchmark, None, None
        try:
            folder = folder_of(one, rounds)
        except MlsubError as error:
            reason = str(error)
        else:
            of_system = folder.parent.parent if one.scaling else folder.parent
            submitter, system = submitter or of_system.parent.parent.name, system or of_system.name
            benchmark = benchmark or folder.name
        found[one.name] = FoundResult(
            **names, submitter=submitter, system=system, benchmark=benchmark, reason=reason, folder=folder, claimed=one
        )
    there = [(name, one) for name, one in found.items() if one.folder is not None]
    read = read_logs([one for _, one in there], context)
    return found | {name: one for (name, _), one in zip(there, read, strict=True)}


def read_logs(results: Sequence[FoundResult], context: Context = AS_FOUND) -> list[FoundResult]:
    """Return results with what is in their folders, in their order; the logs of a round are read in one go.

    Args:
        results: each with the folder of its logs.
        context: how logs are read; round and usage are those of each result.
    """
    folders: dict[tuple[str, str], set[Path]] = {}
    for one in results:
        if one.folder is not None:
            folders.setdefault((one.usage, one.round), set()).add(one.folder)
    entries: dict[Path, Result] = {}
    for (usage, name), some in folders.items():
        read = check_with_logs(sorted(some), msgspec.structs.replace(context, request=Request(name, usage)))
        entries |= {entry.folder: entry for part in read for entry in part.results}
    return [_with_logs(one, entries.get(one.folder) if one.folder else None) for one in results]


def _with_logs(one: FoundResult, result: Result | None) -> FoundResult:
    """Return a result with its logs, description and scores, or with the reason why it has none."""
    if result is None:
        place = f"{one.folder.parent.name}/{one.folder.name}" if one.folder else "the results"
        return msgspec.structs.replace(one, reason=f"no result log in {place}")
    division, round_ = result.division_name, result.rules
    if one.division is not None and division is not None and one.division != division:
        reason = f"the file says division {one.division}, the system description {division}"
        return msgspec.structs.replace(one, reason=reason)
    organisation = result.folder.parents[3 if result.scaling_type else 2]
    stretch, claimed = measure_stretch(result), one.claimed or ClaimedResult(round=one.round)
    found = msgspec.structs.replace(
        one.described(read_content(organisation / "systems" / f"{result.system}.json", round_) or {}),
        division=division,
        found=True,
        result=result,
        path=result.path,
        division_in_logs=tuple(sorted({log.division for log in result.logs if log.division})),
        runs=len(result.logs),
        converged=result.converged,
        rcp=result.rcp.verdict,
        rcp_factor=_rcp_factor(result),
        # The decimals that somebody wrote down, not what binary makes of them.
        edit_factor=Fraction(repr(stretch.factor)) if stretch else None,
        scaling_json=exact(result.score.scaling) if result.score.scaling_file else None,
        published_source=claimed.published.source if claimed.published else None,
        run_minutes=tuple(_minutes(log.run.duration_ms) if log.counts_in(round_) else None for log in result.logs),
        footnote=footnote(result, id_=claimed.id, day=claimed.retrieved, reviewed=claimed.reviewed),
    )
    minutes, table = _scores(found, result), claimed.published
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


def _scores(of: FoundResult, result: Result) -> dict[str, Fraction | None]:
    """Return the time to train on each basis; None where there is none."""
    mean = _olympic_mean(result, of.run_minutes)
    if mean is None:
        return dict.fromkeys(BASES)
    unscaled = mean
    if of.edit_factor is not None:
        lengths = [measure_lengths(log) if log.counts_in(result.rules) else None for log in result.logs]
        unscaled = _olympic_mean(result, [_minutes(length and length[1]) for length in lengths]) or mean
    # Both of these scale the times as they stand in the logs, edited or not: so do the official tools.
    as_published, expected = mean * (of.scaling_json or 1), mean * exact(result.score.expected_scaling)
    return dict(zip(BASES, (as_published, unscaled, expected, unscaled * (of.rcp_factor or 1)), strict=True))


def _olympic_mean(result: Result, minutes: Sequence[Fraction | None]) -> Fraction | None:
    """Return the olympic mean as the official tool has it, but exact."""
    unscaled, cut = result.score.unscaled, cut_of(result.benchmark)
    if unscaled is None or result.scaling_type == "weak":
        return None if unscaled is None else exact(unscaled)
    kept = sorted(value for value in minutes if value is not None)[cut : len(minutes) - cut]
    return sum(kept, Fraction(0)) / len(kept) if kept else None


def _rcp_factor(result: Result) -> Fraction | None:
    """Return the factor to the reference's mean, 1 where the result is not faster; None where nothing is compared.

    Of BERT by the count that decided, or by the other where that one rejects it.
    """
    answers = (result.rcp, result.rcp.also) if result.rcp.verdict == "pass" else (result.rcp.also, result.rcp)
    for one in answers:
        if one is not None and one.mean and one.reference_mean:
            return max(Fraction(1), exact(one.reference_mean) / exact(one.mean))
    return None


def _remarks(of: FoundResult) -> Iterator[str]:
    """Yield what a reader of its figures should know of a result."""
    if of.edit_factor is not None:
        yield f"all its times were multiplied by {fixed(of.edit_factor)} after the runs"
    if of.rcp == "fail":
        factor = "" if of.rcp_factor is None else f", factor to the mean {fixed(of.rcp_factor)}"
        yield f"converges faster than its reference allows{factor}"
    if (of.converged or 0) < (of.runs or 0):
        yield f"{of.converged} of {of.runs} runs converged"
    if of.unpublished is not None:
        yield f"{decimal(of.unpublished)} minutes ({of.published_source}) is not the score of its logs"
    elif of.published_source is not None:
        yield f"published: {of.published_source}"
    elif of.scaling_json is not None:
        yield f"published with the factor {fixed(of.scaling_json)} of scaling.json"
    if of.division is not None and of.division_in_logs and of.division_in_logs != (of.division,):
        yield f"the logs say division {', '.join(of.division_in_logs)}"


def exact(value: float) -> Fraction:
    """Return the fraction a double stands for: the simplest one within its precision, or else its own bits.

    A mean of whole numbers comes out as that mean and 14.1 as 141/10.

    Raises:
        ValueError, OverflowError: it is not finite.
    """
    bits = Fraction(value)
    near = bits.limit_denominator(1_000_000)
    return near if float(near) == value else bits
