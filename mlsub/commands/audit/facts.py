"""What the logs and the system description say of one result, as far as claims ask.

The time to train has four bases. published: the score of a table that the user gives, else the olympic mean of the logs
times the factor of the entry's scaling.json, and 1 without one. unscaled: the olympic mean of the logs; where the logs
were edited after the runs, with the edit undone. expected: the olympic mean of the logs times the factor that the
convergence test of the round gives. rcp_mean: unscaled, and normalised to the mean of the reference convergence points
where the result converged faster.

Up to v1.1 a review could end in edited logs: ``run_stop`` of every run moved away by the factor to the mean of the
reference convergence points, so that it lies at a constant multiple of the time to the last event that the training
logged. (MLCommons logging issue 210 mentions timestamps updated by hand.)
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.model import Result
from mlsub.commands.audit.verdict import Rcp, ResultFacts
from mlsub.commands.audit.wording import fixed
from mlsub.convergence.entry import USUAL
from mlsub.divisions import division_name
from mlsub.io.errors import MlsubError
from mlsub.io.problems import meant
from mlsub.io.show import flat
from mlsub.log.report import LogReport
from mlsub.log.run import Run
from mlsub.review.runs.stretch import stretch_of_lengths
from mlsub.rounds import get_round
from mlsub.rules.load import benchmark
from mlsub.submission.find import is_folder, organisations
from mlsub.submission.organisations import organisation
from mlsub.submission.report import EntryResult
from mlsub.systems.description import read_description
from mlsub.systems.fields import count
from mlsub.workspace import AS_FOUND, Checked, Settings, check_with_logs, find_places, in_one_line


class RoundFolder(msgspec.Struct, frozen=True):
    """The organisations of one round, by name; ``base`` is the folder that was given."""

    usage: str
    round: str
    base: Path
    organisations: dict[str, Path]


def round_folders(paths: Sequence[str]) -> tuple[RoundFolder, ...]:
    """The rounds that lie at the paths; a part of an organisation stands for the whole.

    Raises:
        MlsubError: there is no such path, or it holds no results of a known round.
    """
    return tuple(folder for path in paths for folder in _rounds_at(path))


def _rounds_at(path: str) -> Iterator[RoundFolder]:
    found, failed = find_places([path], Settings())
    if not found:
        raise MlsubError(*(in_one_line(place.problem) for place in failed if place.problem))
    for one in found:
        inside = [place.organisation for place in organisations(one)]
        known = {folder.name: folder for folder in inside if folder is not None}
        yield RoundFolder(one.usage, one.round, Path(path), known)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if is_folder(child))
    except (OSError, ValueError):
        return []


def folder_of(result: Result, rounds: Sequence[RoundFolder]) -> Path:
    """The folder of a result's logs.

    Raises:
        MlsubError: there is none; the text says at which step it is lost.
    """
    here = _of_round(result.usage, result.round, rounds)
    if result.path is not None:
        return _by_path(result, here)
    organisation = organisation_of(result.submitter or "", here, f"v{result.round}")
    system = _step(organisation / "results", result.system or "", "system")
    if result.scaling is not None:
        system = _step(system, result.scaling, "scaling")
    return _step(system, result.benchmark or "", "benchmark")


def _of_round(usage: str, round_: str, rounds: Sequence[RoundFolder]) -> list[RoundFolder]:
    here = [one for one in rounds if (one.usage, one.round) == (usage, round_)]
    if not here:
        there = ", ".join(dict.fromkeys(f"v{one.round}" for one in rounds))
        raise MlsubError(f"no results of {usage} round v{round_}; there are those of {there}")
    return here


def organisation_of(name: str, here: Sequence[RoundFolder], shown: str) -> Path:
    """The folder of an organisation in one round.

    Raises:
        MlsubError: it has none.
    """
    for one in here:
        if name in one.organisations:
            return one.organisations[name]
    known = [other for one in here for other in one.organisations]
    raise MlsubError(f"no submitter {name!r} in {shown}{_meant(name, known)}")


def submitter_folder(round_: str, submitter: str, rounds: Sequence[RoundFolder]) -> Path:
    """The folder of an organisation in a round of training, ``1.0``.

    Raises:
        MlsubError: the round or the organisation is not there.
    """
    return organisation_of(submitter, _of_round("training", round_, rounds), f"v{round_}")


def _by_path(result: Result, here: Iterable[RoundFolder]) -> Path:
    for one in here:
        folder = one.base / (result.path or "")
        if is_folder(folder):
            return Path(os.path.abspath(folder))  # noqa: PTH100  (without "..", links keep their names)
    raise MlsubError(f"no folder {result.path} below {', '.join(dict.fromkeys(str(one.base) for one in here))}")


def _meant(name: str, known: Sequence[str]) -> str:
    """A did-you-mean: first a folder of the same name in another spelling."""
    same = next((one for one in known if _bare(one) == _bare(name)), None)
    return meant(name, known) if same is None else f". Did you mean {same}?"


def _bare(name: str) -> str:
    return flat(organisation(name)).replace(" ", "")


def _step(folder: Path, name: str, kind: str) -> Path:
    if is_folder(folder / name):
        return folder / name
    known = [child.name for child in _folders(folder)]
    hint = _meant(name, known) if known else "; the folder is empty"
    raise MlsubError(f"no {kind} {name!r} in {folder.parent.name}/{folder.name}{hint}")


#: The bases in words, in the order in which they are shown.
TITLES = {
    "published": "as published",
    "unscaled": "olympic mean of the logs, with edits undone",
    "expected": "scaled as the convergence test gives",
    "rcp_mean": "normalised to the RCP mean",
}
#: The same where there is little room.
SHORT = {"published": "published", "unscaled": "unscaled", "expected": "expected", "rcp_mean": "at the RCP mean"}


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One result as its files have it; where it is not found, there is neither description nor log."""

    result: Result
    shown: ResultFacts
    description: Mapping[str, Any] = {}
    logs: tuple[LogReport, ...] = ()

    @property
    def converged(self) -> list[Run]:
        """The runs that reached the target."""
        return [log.run for log in self.logs if log.run.converged]


def score_words(basis: str) -> str:
    """A basis in words: the published score."""
    return f"score {SHORT[basis]}" if basis == "rcp_mean" else f"{SHORT[basis]} score"


def deciding(facts: Iterable[Facts], asked: Collection[str]) -> tuple[str, ...]:
    """The bases that decide, in the order in which they are shown.

    Args:
        facts: those of the results in an expression.
        asked: the bases that the user or the claim asks for; none for the usual.

    The usual: published, and unscaled beside it where the logs of a result were edited.
    """
    if asked:
        return tuple(basis for basis in TITLES if basis in asked)
    return ("published", "unscaled") if any(one.shown.edit_factor is not None for one in facts) else ("published",)


def gather(
    results: Sequence[Result],
    rounds: Sequence[RoundFolder],
    settings: Settings = AS_FOUND,
    checked: Sequence[Checked] = (),
) -> dict[str, Facts]:
    """What there is of each result, by its name; the logs of a round are read in one go.

    Args:
        results: those that claims name.
        rounds: where results lie.
        settings: how logs are read; round and usage are those of each result.
        checked: what has been read already by the rules and reference points that ship.
    """
    found: dict[str, Facts] = {}
    missing: dict[tuple[str, str], dict[str, tuple[Result, Path]]] = {}
    for result in results:
        try:
            folder = folder_of(result, rounds)
        except MlsubError as error:
            found[result.name] = _missing(result, str(error))
            continue
        if (known := _facts(result, folder, checked)) is not None:
            found[result.name] = known
        else:
            missing.setdefault((result.usage, result.round), {})[result.name] = (result, folder)
    for (usage, name), wanted in missing.items():
        of = msgspec.structs.replace(settings, round=name, usage=usage, overlay=None, convergence=USUAL, trace=False)
        read = check_with_logs(sorted({folder for _, folder in wanted.values()}), of)
        for result, folder in wanted.values():
            none = f"no result log in {folder.parent.name}/{folder.name}"
            found[result.name] = _facts(result, folder, read) or _missing(result, none)
    return {result.name: found[result.name] for result in results}


def _named(result: Result) -> dict[str, Any]:
    return {key: getattr(result, key) for key in ("name", "round", "submitter", "system", "benchmark")}


def _missing(result: Result, reason: str) -> Facts:
    shown = ResultFacts(**_named(result), division=result.division, found=False, reason=reason)
    return Facts(result=result, shown=shown)


def _facts(result: Result, folder: Path, checked: Sequence[Checked]) -> Facts | None:
    for part in checked:
        for entry in part.report.entries:
            same = (part.report.usage, part.report.round) == (result.usage, result.round)
            if same and Path(part.report.root) / entry.path == folder:
                logs = tuple(log for log in part.logs if log.path.rpartition("/")[0] == entry.path)
                return _of_entry(result, folder, entry, logs)
    return None


def _of_entry(result: Result, folder: Path, entry: EntryResult, logs: tuple[LogReport, ...]) -> Facts:
    division = division_name(entry.division)
    if result.division is not None and division is not None and result.division != division:
        return _missing(result, f"the file says division {result.division}, the system description {division}")
    times = [None if (duration := log.run.duration_ms) is None else Fraction(duration) / 60_000 for log in logs]
    round_ = get_round(result.usage, result.round)
    minutes = tuple(time if log.counts_in(round_) else None for log, time in zip(logs, times, strict=True))
    shown = ResultFacts(
        **_named(result),
        division=division,
        found=True,
        path=entry.path,
        division_in_logs=tuple(sorted({log.division for log in logs if log.division})),
        runs=len(logs),
        converged=entry.converged,
        rcp=Rcp(entry.rcp.verdict, _rcp_factor(entry)),
        edit_factor=edit_factor([lengths_of(log.run) for log in logs]),
        scaling_json=exact(entry.score.scaling) if entry.score.scaling_file else None,
        published_source=result.published_source,
        run_minutes=minutes,
    )
    shown = msgspec.structs.replace(shown, minutes=_scores(result, entry, shown, logs))
    file = folder.parents[3 if entry.scaling_type else 2] / "systems" / f"{entry.system}.json"
    return Facts(
        result=result,
        shown=msgspec.structs.replace(shown, remarks=tuple(_remarks(shown))),
        description=read_description(file, file.name, round_).content or {},
        logs=logs,
    )


def _scores(
    result: Result, entry: EntryResult, shown: ResultFacts, logs: Sequence[LogReport]
) -> dict[str, Fraction | None]:
    """The time to train on each basis; None where there is none."""
    mean = _olympic_mean(result, entry, shown.run_minutes)
    if mean is None:
        return {**dict.fromkeys(TITLES), "published": result.published}
    unscaled = mean
    if shown.edit_factor is not None:
        round_ = get_round(result.usage, result.round)
        before = [Fraction(lengths_of(log.run)[1]) / 60_000 if log.counts_in(round_) else None for log in logs]
        unscaled = _olympic_mean(result, entry, before) or mean
    # Both of these scale the times as they stand in the logs, edited or not: so do the official tools.
    published = result.published if result.published is not None else mean * (shown.scaling_json or 1)
    factor = shown.rcp.factor if shown.rcp else None
    scores = published, unscaled, mean * exact(entry.score.expected_scaling), unscaled * (factor or 1)
    return dict(zip(TITLES, scores, strict=True))


def _olympic_mean(result: Result, entry: EntryResult, minutes: Sequence[Fraction | None]) -> Fraction | None:
    """The olympic mean as the official tool has it, but exact."""
    if entry.score.unscaled is None:
        return None
    try:
        dropped = benchmark(result.usage, result.round, entry.benchmark).forgiven
    except KeyError:
        return exact(entry.score.unscaled)
    if entry.scaling_type == "weak":
        return exact(entry.score.unscaled)
    known = sorted(value for value in minutes if value is not None)
    kept = known[dropped : len(minutes) - dropped]
    return sum(kept, Fraction(0)) / len(kept) if kept else None


def edit_factor(lengths: Sequence[tuple[float, float]]) -> Fraction | None:
    """The factor that all runs of these lengths were multiplied by, as ``mlsub inspect`` finds it, or None."""
    stretch = stretch_of_lengths(lengths)
    # The decimals that somebody wrote down, not what binary makes of them.
    return None if stretch is None else Fraction(repr(stretch.factor))


def lengths_of(run: Run) -> tuple[float, float]:
    """Time (ms) from run_start to run_stop, and to the last event before that; 0 where the log does not say."""
    start, stop, last = run.timeline.run_start, run.timeline.run_stop, run.latest_ms
    if start is None or stop is None or last is None or not last > start:
        return 0.0, 0.0
    return stop - start, last - start


def _rcp_factor(entry: EntryResult) -> Fraction | None:
    """The factor to the reference's mean; BERT by the count that decided, or by the other where that one rejects it."""
    answers = (entry.rcp, entry.rcp.also) if entry.rcp.verdict == "pass" else (entry.rcp.also, entry.rcp)
    for one in answers:
        if one is not None and one.mean and one.reference_mean:
            return max(Fraction(1), exact(one.reference_mean) / exact(one.mean))
    return None


def _remarks(shown: ResultFacts) -> Iterator[str]:
    """What a reader of its figures should know of a result."""
    if shown.edit_factor is not None:
        yield f"all its times were multiplied by {fixed(shown.edit_factor)} after the runs"
    if shown.rcp and shown.rcp.verdict == "fail":
        factor = "" if shown.rcp.factor is None else f", factor to the mean {fixed(shown.rcp.factor)}"
        yield f"converges faster than its reference allows{factor}"
    if (shown.converged or 0) < (shown.runs or 0):
        yield f"{shown.converged} of {shown.runs} runs converged"
    if shown.published_source is not None:
        yield f"published: {shown.published_source}"
    elif shown.scaling_json is not None:
        yield f"published with the factor {fixed(shown.scaling_json)} of scaling.json"
    if shown.division is not None and shown.division_in_logs and shown.division_in_logs != (shown.division,):
        yield f"the logs say division {', '.join(shown.division_in_logs)}"


def exact(value: float) -> Fraction:
    """The fraction a double stands for: the simplest one within its precision, or else its own bits.

    A mean of whole numbers comes out as that mean and 14.1 as 141/10.

    Raises:
        ValueError: it is not finite.
    """
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    bits = Fraction(value)
    near = bits.limit_denominator(1_000_000)
    return near if float(near) == value else bits


def hyperparameters(facts: Facts, name: str) -> tuple[Any, ...]:
    """The distinct values of a logged hyperparameter over the runs, in the order of the runs."""
    distinct: dict[str, Any] = {}
    for log in facts.logs:
        if name in log.run.hyperparameters:
            value = log.run.hyperparameters[name]
            distinct.setdefault(repr(value)[:1000], value)
    return tuple(distinct.values())


def product(description: Mapping[str, Any], *fields: str) -> int | None:
    """The product of counts of a system description; None where one is not there."""
    counts = [count(description.get(field)) for field in fields]
    return None if None in counts else math.prod(one or 0 for one in counts)
