"""Check a result of an earlier round that is to be submitted again.

MLPerf training rules, "Results Resubmission" (training_policies#559, June 2025; v5.1 is the first round after it): the
system descriptions have to be the same, and the logs have to pass the rules of the new round like any other. Before,
no rule was written; what the working group then said was usual is that benchmark, accelerator, category, availability,
software and division are the same. Submission rules: old logs do not show that what was a preview became available.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from mlsub.commands.compare.borrow import SOFTWARE
from mlsub.commands.compare.model import Comparison, Side
from mlsub.commands.compare.reading import ComparedSide, entry_name, read_side
from mlsub.commands.compare.trainings import compare_sides, match
from mlsub.findings import Effect, Finding, Verdict
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.look import content_digest
from mlsub.io.show import first_few, plural, show
from mlsub.log.changes import Change
from mlsub.review.fingerprints import digest_log, must_be_exact
from mlsub.rounds import Round, get_round, known_rounds, normalise_round
from mlsub.rounds.benchmarks import ResultsFolder
from mlsub.rules.catalogue import finding, has_effect
from mlsub.score.difference.measure import runs_of
from mlsub.score.difference.words import short_value
from mlsub.submission.find import find
from mlsub.submission.pairing import without
from mlsub.submission.result import Result
from mlsub.workspace import Context

#: Fields of a description that had to be the same before.
_NAMED = (
    *("division", "status", "accelerator_model_name", "accelerators_per_node", "number_of_nodes"),
    *SOFTWARE,
)
#: Defects of one entry that are shown; more are counted.
_MOST = 10
_SHOWN = 8


def check_resubmission(old: str, new: str, context: Context, forced: Sequence[str] = ()) -> Comparison:
    """Check a result that is to be submitted again against the rules of the new round, and against what it was.

    Args:
        old: the result in its own round.
        new: as it is to be submitted; the same path where nothing was changed yet.
        context: with the new round, None to read it off the folders above ``new``.
        forced: pairs of entries, ``A_ENTRY=B_ENTRY``.

    Raises:
        MlsubError: a side holds nothing to compare, or the round is not a later one.
    """
    before = read_side(old, replace(context, request=replace(context.request, round=None)), intervals=True)
    try:
        after = read_side(new, context, intervals=True)
    except MlsubError:
        nothing_left = _compare_without_benchmarks(before, new, context)
        if nothing_left is None:
            raise
        return nothing_left
    round_ = after.rules
    _refuse_unless_later(before, round_)
    pairs = match(before, after, forced)
    compared, gone = compare_sides(before, after, pairs), without(before.results, pairs, 0)
    findings = [found for entry in gone for found in _check_benchmark(entry, round_)]
    for (one, other), pair in zip(pairs, compared.pairs, strict=True):
        wrong = list(_check_benchmark(other if other.benchmark != one.benchmark else one, round_))
        findings += [*(wrong or _check_rules(other, round_.title)), *_check_description(other, pair.fields, round_)]
        findings += _check_logs(one, other) if before.place.path != after.place.path else ()
        findings += _check_identity(one, other)
    known = {entry.path for entry in gone}
    for entry in without(after.results, pairs, 1):
        if entry.path not in known:
            message, logs = "The entry was not in the earlier round", plural(entry.runs, "log")
            findings.append(finding("resubmit.logs", entry.path, message, actual=logs))
    return replace(compared, purpose="resubmit", findings=tuple(dict.fromkeys(findings)))


def _compare_without_benchmarks(before: ComparedSide, new: str, context: Context) -> Comparison | None:
    """The answer where the new round has none of the benchmarks, so that there is nothing to check by its rules."""
    asked = normalise_round(context.request.round) if context.request.round else find(Path(new)).round
    usage, overlay = before.rules.usage, context.request.overlay
    if asked not in known_rounds(usage, overlay):
        return None
    round_ = get_round(usage, asked, overlay)
    if any(entry.benchmark in round_.benchmarks for entry in before.results):
        return None
    _refuse_unless_later(before, round_)
    return Comparison(
        purpose="resubmit",
        old=before.side,
        new=Side(path=new, usage=usage, round=asked, official=Verdict.NOT_CHECKED.value),
        pairs=(),
        only_old=tuple(map(entry_name, before.results)),
        findings=tuple(found for entry in before.results for found in _check_benchmark(entry, round_)),
    )


def _refuse_unless_later(before: ComparedSide, round_: Round) -> None:
    """Refuse a new round that is not later than the old one.

    Raises:
        MlsubError: it is not, or is of another usage.
    """
    old = before.rules
    if old.usage != round_.usage:
        raise MlsubError(f"{before.path} is of {old.usage}, the new round of {round_.usage}.")
    rounds = known_rounds(round_.usage, round_.overlay)
    if rounds.index(round_.name) <= rounds.index(old.name):
        raise MlsubError(
            f"v{round_.name} is not later than v{old.name}, the round of {before.path}. Name the new one with --round."
        )


def _check_benchmark(old: Result, round_: Round) -> Iterator[Finding]:
    """Whether the new round has the benchmark, and under the same name."""
    name, there = old.benchmark, [ResultsFolder(round_.usage, round_.name, name) for name in round_.benchmarks]
    now = next((held.folder for held in there if held.benchmark == old.benchmark_name), None)
    if now == name:
        return
    if now is not None:
        message, expected, actual = f"{round_.title} calls the benchmark {now}", now, name
    elif name in round_.benchmarks:
        message = f"{name} is another benchmark in {round_.title}"
        expected = ResultsFolder(round_.usage, round_.name, name).title
        actual = f"{old.benchmark_title}, in v{old.round}"
    else:
        message = f"{name} is not a benchmark of {round_.title}"
        expected, actual = f"one of {', '.join(round_.benchmarks)}", name
    yield finding("resubmit.benchmark", old.path, message, expected=expected, actual=actual)


def _check_rules(entry: Result, title: str) -> Iterator[Finding]:
    """What the new round rejects; a defect of many logs once. A run that may fail does not count."""
    defects = group_by_key(((known.rule, known.message), known) for known in _deciding_findings(entry))
    for first, *others in islice(defects.values(), _MOST):
        places = f", in {len(others) + 1} places" if others else ""
        message = f"{title} rejects it: {first.message} ({first.rule}{places})"
        yield finding("resubmit.rules", first.path, message, expected=first.expected, actual=first.actual)
    if len(defects) > _MOST:
        message = f"{title} rejects it for {len(defects) - _MOST} further reasons; mlsub check has them all"
        yield finding("resubmit.rules", entry.path, message)


def _deciding_findings(entry: Result) -> Iterator[Finding]:
    """Findings for which an entry or the description of its system is rejected."""
    logs = {log.path for log in entry.logs}
    rejects = [known for known in entry.findings if known.rejects]
    too_many = any(known.path == entry.path and has_effect(known, Effect.UNFORGIVEN) for known in rejects)
    for known in rejects:
        of_run = known.path in logs and (too_many or has_effect(known, Effect.DECIDES))
        of_system = known.path == entry.description_path
        if of_system or (not entry.accepted and (of_run or known.path == entry.path)):
            yield known


def _check_description(entry: Result, changes: Sequence[Change], round_: Round) -> Iterator[Finding]:
    exact = must_be_exact(round_.usage, round_.name)
    named = [change for change in changes if exact or change.name in _NAMED]
    other = [change for change in changes if change not in named]
    for rule, found in (("resubmit.system", named), ("resubmit.description", other)):
        if found:
            yield finding(
                rule,
                entry.path,
                f"The system description differs in {first_few([change.name for change in found], _SHOWN)}",
                expected="; ".join(short_value(change.old, 80) for change in found[:_SHOWN]),
                actual="; ".join(short_value(change.new, 80) for change in found[:_SHOWN]),
            )


def _check_logs(old: Result, new: Result) -> Iterator[Finding]:
    """Whether the logs are those of the earlier round, to the byte; where not, whether the runs are."""
    ours, theirs = _log_contents(old), _log_contents(new)
    changed = [name for name, content in theirs if content is None or content not in {c for _, c in ours}]
    gone = [name for name, content in ours if content is None or content not in {c for _, c in theirs}]
    if not changed and not gone:
        return
    same = sorted(map(digest_log, old.logs)) == sorted(map(digest_log, new.logs))
    message = "The logs are not those of the earlier round"
    if same:
        message = "The logs were edited since the earlier round; times and evaluations are the same"
    parts = [f"changed or new: {first_few(changed, _SHOWN)}"] * bool(changed)
    parts += [f"only in the earlier round: {first_few(gone, _SHOWN)}"] * (bool(gone) and gone != changed)
    yield finding("resubmit.logs", new.path, message, actual="; ".join(parts))


def _log_contents(entry: Result) -> list[tuple[str, bytes | None]]:
    return [(log.path.rpartition("/")[2], content_digest(Path(entry.root, log.path))) for log in entry.logs]


def _check_identity(old: Result, new: Result) -> Iterator[Finding]:
    """What the logs call themselves, in both rounds; and the division that they are submitted to now."""
    ours, theirs = _stated_identity(old), _stated_identity(new)
    path, division = new.path, new.division
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            message = f"The logs state another {key} than in the earlier round"
            yield finding("resubmit.identity", path, message, expected=ours.get(key), actual=theirs.get(key, "-"))
    stated = theirs.get("submission_division")
    if division is not None and stated not in (None, show(division)):
        message = "The logs state another division than the system description"
        yield finding("resubmit.identity", path, message, expected=show(division), actual=stated)


def _stated_identity(entry: Result) -> dict[str, str]:
    """What most logs state of each ``submission_`` key."""
    stated = group_by_key((key[:100], show(value)) for run in runs_of(entry) for key, value in run.identity.items())
    return {key: Counter(values).most_common(1)[0][0] for key, values in stated.items()}
