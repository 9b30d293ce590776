"""Results: where they lie, and what their system description and their logs say, as far as claims ask.

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

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.claims import ClaimedResult
from mlsub.commands.audit.verdict import BASES, ShownResult
from mlsub.commands.audit.wording import decimal, fixed, step_of
from mlsub.convergence import cut_of
from mlsub.divisions import division_name
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.problems import did_you_mean
from mlsub.io.show import flat
from mlsub.log.run import Run
from mlsub.present.footnote import footnote
from mlsub.review.runs.stretch import measure_lengths, measure_stretch
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import ResultsFolder
from mlsub.submission.find import PathKind, Place, is_folder, organisation, organisations
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result
from mlsub.submission.tree import read_tree
from mlsub.systems.description import read_content
from mlsub.systems.fields import category, count
from mlsub.systems.names import Chip, chip_of
from mlsub.workspace import ANY, AS_FOUND, Context, Request, check_with_logs, find_places, in_one_line


class RoundFolder(msgspec.Struct, frozen=True):
    """The organisations of one round, by name; ``base`` is the folder that was given."""

    usage: str
    round: str
    base: Path
    organisations: dict[str, Path]


def round_folders(paths: Sequence[str]) -> tuple[RoundFolder, ...]:
    """Return the rounds that lie at the paths; a part of an organisation stands for the whole.

    Raises:
        MlsubError: there is no such path, or it holds no results of a known round.
    """
    rounds: list[RoundFolder] = []
    for path in paths:
        found, failed = find_places([path], ANY)
        if not found:
            raise MlsubError(*(in_one_line(place.problem) for place in failed if place.problem))
        for one in found:
            inside = [place.organisation for place in organisations(one)]
            known = {folder.name: folder for folder in inside if folder is not None}
            rounds.append(RoundFolder(one.usage, one.round, Path(path), known))
    return tuple(rounds)


def _folder_of(result: ClaimedResult, rounds: Sequence[RoundFolder]) -> Path:
    """Return the folder of a result's logs.

    Raises:
        MlsubError: there is none; the text says at which step it is lost.
    """
    here = [one for one in rounds if (one.usage, one.round) == (result.usage, result.round)]
    name = result.submitter or ""
    if not here:
        there = ", ".join(dict.fromkeys(f"v{one.round}" for one in rounds))
        raise MlsubError(f"no results of {result.usage} round v{result.round}; there are those of {there}")
    if result.path is not None:
        folders = [one.base / result.path for one in here]
        folder = next((folder for folder in folders if is_folder(folder)), None)
        if folder is None:
            raise MlsubError(f"no folder {result.path} below {', '.join(dict.fromkeys(str(one.base) for one in here))}")
        return Path(os.path.abspath(folder))  # noqa: PTH100  (without "..", links keep their names)
    folder = next((one.organisations[name] / "results" for one in here if name in one.organisations), None)
    if folder is None:
        known = [other for one in here for other in one.organisations]
        raise MlsubError(f"no submitter {name!r} in v{result.round}{_meant(name, known)}")
    for kind in ("system", "scaling", "benchmark"):
        if kind != "scaling" or result.scaling is not None:
            folder = _step(folder, getattr(result, kind) or "", kind)
    return folder


def _meant(name: str, known: Sequence[str]) -> str:
    """Return a did-you-mean: first a folder of the same name in another spelling."""
    bare, *others = (flat(organisation(one)).replace(" ", "") for one in (name, *known))
    same = dict(zip(reversed(others), reversed(known), strict=True)).get(bare)
    return did_you_mean(name, known) if same is None else f". Did you mean {same}?"


def _step(folder: Path, name: str, kind: str) -> Path:
    if is_folder(folder / name):
        return folder / name
    try:
        known = sorted(child.name for child in folder.iterdir() if is_folder(child))
    except (OSError, ValueError):
        known = []
    hint = _meant(name, known) if known else "; the folder is empty"
    raise MlsubError(f"no {kind} {name!r} in {folder.parent.name}/{folder.name}{hint}")


#: The fields of a system description whose product is a count.
COUNTS = {
    "chips": ("number_of_nodes", "accelerators_per_node"),
    "nodes": ("number_of_nodes",),
    "cpus": ("number_of_nodes", "host_processors_per_node"),
}


class FoundResult(ShownResult, frozen=True, kw_only=True):
    """A result that claims name (``claimed``), or one of all those given, and what is known of it.

    Of those given the ``folder`` of the logs and the ``description`` of the system are known, and the ``division`` is
    the description's. ``result`` is there once the logs are read.
    """

    claimed: ClaimedResult | None = None
    folder: Path | None = None
    description: Mapping[str, Any] = {}
    result: Result | None = None

    def described(self, description: Mapping[str, Any]) -> FoundResult:
        """Return the same with the description of its system."""
        found, status = msgspec.structs.replace(self, description=description), description.get("status")
        return msgspec.structs.replace(
            found,
            system_name=found.text("system_name") or None,
            category=category(status) if isinstance(status, str) else None,
            # Where there are no accelerators, the host processors do the computing.
            chips=found.count_of("chips") or found.count_of("cpus") or None,
        )

    @property
    def shown(self) -> ShownResult:
        """The part that is shown."""
        return msgspec.convert(self, ShownResult, from_attributes=True)

    @property
    def logs(self) -> tuple[LogReport, ...]:
        """Its logs; none where they are not read."""
        return self.result.logs if self.result else ()

    @property
    def converging(self) -> list[Run]:
        """The runs that reached the target."""
        return [log.run for log in self.logs if log.run.converged]

    @property
    def organisation(self) -> str:
        """The organisation behind the submitter's folder."""
        return organisation(self.submitter or "")

    @property
    def results_folder(self) -> ResultsFolder:
        """Its benchmark as a folder of its round, which knows what it may be compared with."""
        return ResultsFolder(self.usage, self.round, self.benchmark or "")

    @property
    def benchmark_in_round(self) -> str | None:
        """Its benchmark by the name that it has in its round."""
        return get_round(self.usage, self.round).benchmark_in(self.benchmark or "")

    @property
    def chip(self) -> Chip | None:
        """The accelerator; None where no table has it."""
        system = self.system or ""
        return chip_of(self.text("accelerator_model_name"), self.system_name or system, system)

    def text(self, field: str) -> str:
        """Return a field of the description as text; empty where it is missing or something else."""
        value = self.description.get(field)
        return value if isinstance(value, str) else ""

    def number_in(self, field: str) -> int | None:
        """Return a number of the description; None where it is not there."""
        return count(self.description.get(field))

    def count_of(self, what: str) -> int | None:
        """Return how many chips, nodes or cpus it has; None where the description does not say."""
        counts = list(map(self.number_in, COUNTS[what]))
        return None if None in counts else math.prod(one or 0 for one in counts)


def results_in(rounds: Sequence[RoundFolder], usage: str, names: Collection[str]) -> tuple[FoundResult, ...]:
    """Return all results of some rounds; no log is read."""
    here = [one for one in rounds if one.usage == usage and one.round in names]
    folders = [(folder, place.round) for place in here for folder in place.organisations.values()]
    return tuple(one for folder, name in folders for one in _list_results(folder, usage, name))


@lru_cache(maxsize=1024)
def _list_results(folder: Path, usage: str, round_: str) -> tuple[FoundResult, ...]:
    """Return the results of an organisation in a round."""
    of, found = get_round(usage, round_), []
    for entry in read_tree(Place(folder, PathKind.ORGANISATION), f"{folder.name}/", of).entries:
        if entry.results:
            description = read_content(folder / "systems" / f"{entry.system}.json", of) or {}
            division = description.get("division")
            one = FoundResult(
                name="",
                round=round_,
                usage=usage,
                submitter=folder.name,
                system=entry.system,
                benchmark=entry.benchmark,
                division=division_name(division if isinstance(division, str) else None),
                folder=Path(os.path.abspath(entry.folder)),  # noqa: PTH100  (links keep their names)
            )
            found.append(one.described(description))
    return tuple(found)


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
            folder = _folder_of(one, rounds)
        except MlsubError as error:
            reason = str(error)
        else:
            of_system = folder.parent.parent if one.scaling else folder.parent
            submitter, system = submitter or of_system.parent.parent.name, system or of_system.name
            benchmark = benchmark or folder.name
        found[one.name] = FoundResult(
            **names, submitter=submitter, system=system, benchmark=benchmark, reason=reason, folder=folder, claimed=one
        )
    return dict(zip(found, read_logs(list(found.values()), context), strict=True))


def read_logs(results: Sequence[FoundResult], context: Context = AS_FOUND) -> list[FoundResult]:
    """Return results with what is in their folders, in their order; the logs of a round are read in one go.

    Args:
        results: each with the folder of its logs, or the reason why it has none.
        context: how logs are read; round and usage are those of each result.
    """
    folders = group_by_key(((one.usage, one.round), one.folder) for one in results if one.folder is not None)
    entries: dict[Path | None, Result] = {}
    for (usage, name), some in folders.items():
        read = check_with_logs(sorted({*some}), msgspec.structs.replace(context, request=Request(name, usage)))
        entries |= {entry.folder: entry for part in read for entry in part.results}
    return [_with_logs(one, entries.get(one.folder)) for one in results]


def _with_logs(one: FoundResult, result: Result | None) -> FoundResult:
    """Return a result with its logs, description and scores, or with the reason why it has none."""
    if one.folder is None:
        return one
    if result is None:
        return msgspec.structs.replace(one, reason=f"no result log in {one.folder.parent.name}/{one.folder.name}")
    division, round_ = result.division_name, result.rules
    if one.division is not None and division is not None and one.division != division:
        reason = f"the file says division {one.division}, the system description {division}"
        return msgspec.structs.replace(one, reason=reason)
    file = result.description_file
    description = read_content(file, round_) if file is not None else None
    stretch, claimed = measure_stretch(result), one.claimed or ClaimedResult(round=one.round)
    found = msgspec.structs.replace(
        one.described(description or {}),
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
