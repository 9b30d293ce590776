"""What the convergence test says of an entry, in findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mlsub.convergence import Cutoff
from mlsub.convergence.reference import cutoff_day, merged_between, parse_cutoff
from mlsub.convergence.verdict import Progress
from mlsub.findings import Finding, Severity
from mlsub.io.data import group_by_key, shipped
from mlsub.io.show import several, show
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import suggest_benchmark
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry
from mlsub.submission.report import RcpResult

_CRASH_FIX = (
    "Leave global_batch_size, submission_benchmark, eval_accuracy, eval_error, train_samples and run_stop out of the "
    "keys, values and metadata of all other records, and give those six what the checker reads: a value, epoch_num or "
    "samples_count as a number, a status."
)

_FAILS = "The official convergence test rejects the entry, but compares different units"


def passes(result: RcpResult) -> bool:
    """Whether a result is accepted without a bypass."""
    return result.verdict == "pass"


def report_result(
    entry: Entry, rcp: RcpResult, progress: Progress, doubt: str | None = None, *, forced: bool = False
) -> Iterator[Finding]:
    """What is wrong with an entry's convergence, or what it does to the score.

    Args:
        entry: with its judged logs.
        rcp: the result of the test.
        progress: how far its runs had to train.
        doubt: why ``train_samples`` of BERT are not the samples to converge, None where they are.
        forced: an option asks for BERT by ``epoch_num``.
    """
    if any(log.without_run for log in entry.logs):
        return  # The missing run has its own finding, and the entry is rejected for it.
    names = [log.name for log in entry.logs]
    for crash in progress.crashes:
        yield finding(
            "official.crash",
            entry.logs[crash.run].path,
            "The official convergence checker ends with a traceback at this record, so the package cannot be checked",
            line=crash.line,
            expected="a record that it can read, in every run, even a forgiven one",
            actual=crash.error,
            fix=_CRASH_FIX,
        )
    for number, what in progress.overflow:
        yield finding("rcp.no-point", entry.logs[number].path, expected=f"at most {what}")
    for number in progress.unknown:
        yield finding(
            "rcp.no-point",
            entry.logs[number].path,
            "The run says success, but no evaluation before run_stop shows where it converged",
            expected=f"{rcp.counted}, a number",
        )
    if rcp.how == "no-batch-size" and not progress.crashes:
        yield _report_disagreement(entry, names)
    elif rcp.how == "insufficient-convergence":
        failed = [name for name, point in zip(names, rcp.points, strict=True) if point is None]
        if failed:
            actual = f"{len(failed)} of {len(names)} did not converge: {several(failed, 10)}"
            yield finding("rcp.insufficient-convergence", entry.path, actual=actual)
        else:
            message = "There are too few runs for a convergence test"
            fix = "Submit as many runs as the benchmark requires."
            yield finding("rcp.insufficient-convergence", entry.path, message, actual=str(len(names)), fix=fix)
    elif rcp.bypass is None and rcp.how not in ("no-point", "crash"):
        yield from _report_comparison(entry, rcp, doubt, forced=forced)


def _report_comparison(entry: Entry, rcp: RcpResult, doubt: str | None, *, forced: bool) -> Iterator[Finding]:
    if rcp.verdict in ("missing", "fail"):
        yield finding(
            "rcp.missing" if rcp.verdict == "missing" else "rcp.too-fast",
            entry.path,
            None if rcp.logs_unit is None or rcp.minimum is None else _FAILS,
            expected=_wanted(rcp),
            actual=_measured(rcp),
            fix=_fix_of_count(rcp, doubt, forced=forced) or _fix_of_units(rcp),
        )
    elif rcp.scaling != 1:
        yield finding(
            "rcp.normalised",
            entry.path,
            expected=f"a mean of {format_number(rcp.reference_mean)} {rcp.unit} or more, for no scaling",
            actual=f"{format_number(rcp.mean)} {rcp.unit}: factor {rcp.scaling:.6f}",
        )


def _fix_of_count(rcp: RcpResult, doubt: str | None, *, forced: bool) -> str | None:
    if rcp.also is None or rcp.also.verdict != "pass":
        return None
    passes = f"Counted by {rcp.also.counted} it passes ({_mean(rcp.also)})"
    if rcp.counted == "train_samples":
        return f"{passes}: leave out --rcp-bert-train-samples, and the flag of this name in package_checker_params."
    leave_out = "leave out --no-rcp-bert-train-samples"
    if doubt is None:
        return f"{passes}: {leave_out}."
    more = f", and {leave_out}" if forced else ""
    return f"{passes}, but {doubt}: log the samples to converge as train_samples in every run{more}."


def _fix_of_units(rcp: RcpResult) -> str | None:
    if rcp.logs_unit is None:
        return None
    return f"Log {rcp.counted} in {rcp.unit}, as the reference counts in this round."


def _mean(rcp: RcpResult) -> str:
    """The mean in its unit, or why there is none to compare."""
    return rcp.incomparable or f"{format_number(rcp.mean)} {rcp.unit}"


def _wanted(rcp: RcpResult) -> str:
    if rcp.minimum is None:
        return "a reference point at this batch size or a larger one"
    against = load_wording("against")[str(rcp.how)].format(format_number(rcp.batch_size))
    return f"a mean of {format_number(rcp.minimum)} {rcp.unit} or more ({against})"


def _measured(rcp: RcpResult) -> str:
    words = f"{_mean(rcp)} at batch size {format_number(rcp.batch_size)}" if rcp.logs_unit is None else _mean(rcp)
    if rcp.minimum and rcp.mean is not None and rcp.mean < rcp.minimum:
        words += f", {100 * (1 - rcp.mean / rcp.minimum):.2f} % below"
    return words


def _report_disagreement(entry: Entry, names: Sequence[str]) -> Finding:
    counts = [log.run.reading for log in entry.logs]
    sizes = [next(iter(count.sizes), None) for count in counts]
    called = [next(iter(count.names), None) for count in counts]
    other_benchmarks = are_of_several_benchmarks(entry)
    key, values = ("submission_benchmark", called) if other_benchmarks else ("global_batch_size", sizes)
    stated_by = zip(values, names, strict=True)
    users = group_by_key(("none" if value is None else show(value), name) for value, name in stated_by)
    stated = "; ".join(f"{value} in {several(some, 3)}" for value, some in users.items())
    fix = None
    if other_benchmarks:
        own = show(entry.benchmark)
        strangers = {value: some for value, some in users.items() if value != own}
        moves = "; ".join(f"{several(some, 3)} to the folder of {value}" for value, some in strangers.items())
        fix = f"These logs are of another benchmark. Move {moves}, and put runs of {own} in their place."[:400]
    return finding(
        "rcp.batch-size",
        entry.path,
        "The logs are of several benchmarks" if other_benchmarks else "The runs do not agree on one batch size",
        expected=f"one {key} in all runs, a number" if key == "global_batch_size" else f"one {key} in all runs",
        actual=stated[:400],
        fix=fix,
    )


def _differ(values: Sequence[Any]) -> bool:
    return any(value != values[0] for value in values)


def are_of_several_benchmarks(entry: Entry) -> bool:
    """Whether each log of an entry has a run, and not all name the same benchmark first."""
    called = [next(iter(log.run.reading.names), None) for log in entry.logs]
    return not any(log.without_run for log in entry.logs) and _differ(called)


def report_train_samples(entry: Entry, rcp: RcpResult, asked: str | None) -> Iterator[Finding]:
    """BERT is counted otherwise than usual: who asked for it, or that only this count is accepted."""
    if asked is not None:
        yield finding("rcp.train-samples", entry.path, actual=f"requested by {asked}")
    elif rcp.also is not None:
        yield finding(
            "rcp.train-samples",
            entry.path,
            "The convergence of BERT is counted in train_samples, as epoch_num would be rejected",
            actual=f"train_samples: {_measured(rcp)}; epoch_num: {_measured(rcp.also)}",
        )
        if rcp.also.logs_unit is None:
            actual = f"train_samples: {_mean(rcp)}; epoch_num: {_mean(rcp.also)}"
            # Counts that differ from run to run are those of the batches behind the last evaluation.
            severity = Severity.NOTE if _differ(rcp.points) else None
            yield finding("rcp.two-counts", entry.path, expected=_wanted(rcp), actual=actual, severity=severity)


def report_not_comparable(entry: Entry, rcp: RcpResult) -> Iterator[Finding]:
    """The test passes, though the logs count another unit than the reference; a test that fails says so itself."""
    if rcp.logs_unit is not None and rcp.verdict == "pass":
        yield finding("rcp.not-comparable", entry.path, actual=rcp.incomparable, fix=_fix_of_units(rcp))


def report_bypass(entry: Entry, rcp: RcpResult, file: str) -> Finding:
    """A bypass, which is reported whether or not it was needed."""
    if rcp.bypass is None:
        idle = "the test passes" if rcp.verdict == "pass" else "the test fails for another reason"
        message = f"{file} requests a bypass that has no effect: {idle}"
        return finding("rcp.bypass", entry.path, message, actual=file, severity=Severity.NOTE)
    return finding(
        "rcp.bypass",
        entry.path,
        f"The convergence test fails, and {file} lets it pass",
        expected=_wanted(rcp),
        actual=_measured(rcp),
    )


def report_no_reference(entry: Entry, name: str, round_: Round, why: str) -> Finding:
    """There is no reference for an entry."""
    return finding(
        "rcp.no-reference",
        entry.path,
        f"There is no reference to compare {show(name)} with in {round_.title}",
        actual=why,
        fix=None if name in round_.benchmarks else suggest_benchmark(name, round_),
    )


def report_hull(entry: Entry, rcp: RcpResult, result: RcpResult, by_hull: RcpResult) -> Finding:
    """The lower hull of the written rules and the official pruning do not agree."""
    verb = "decide" if passes(by_hull) != passes(result) else "scale"
    return finding(
        "rcp.hull",
        entry.path,
        f"The lower hull of the written rules would {verb} differently from the official pruning",
        expected=f"by the hull: {_decision(by_hull)}",
        actual=f"{_mean(rcp)}; official: {_decision(result)}",
    )


#: The points of each day in words.
_POINTS: dict[Cutoff, str] = {
    "published": "the reference points at publication",
    "deadline": "the reference points at the deadline",
    "newest": "the newest reference points",
}


def report_other_points(
    entry: Entry, rcp: RcpResult, name: str, results: tuple[RcpResult, RcpResult], other: Cutoff, round_: Round
) -> Finding:
    """The points of another day would give another answer: ``results`` are the one that counts, and the other."""
    counts = parse_cutoff(rcp.reference_points)
    return finding(
        "rcp.other-points",
        entry.path,
        f"With {_POINTS[other]} the convergence test would give another answer",
        expected=f"{_decision(results[1])}; merged: {name} {merged_between(name, round_, counts, other)}",
        actual=f"{_measured(rcp)}; with {_POINTS[counts]}, which count here: {_decision(results[0])}",
    )


def report_deadline_points(entry: Entry, name: str, round_: Round) -> Finding:
    """The points at the deadline count, and what was merged since."""
    day, later = cutoff_day("deadline", round_), merged_between(name, round_, "deadline", "newest")
    if day is None:
        known = f"the deadline of {round_.title} is not known, so all points count"
    else:
        known = f"merged after {day}: {name} {later}" if later else f"none of {name} was merged after {day}"
    return finding("rcp.deadline-points", entry.path, actual=known)


def report_mixed_sizes(
    entry: Entry, rcp: RcpResult, answers: Sequence[tuple[str, Sequence[str], RcpResult]], counts: str
) -> Finding:
    """The runs state several batch sizes: the answer with each, and the runs that state it."""
    differ = len({(passes(result), result.scaling) for _, _, result in answers}) > 1
    stated = [
        f"{size} in {several(runs, 3)}{' (counts here)' if size == counts else ''}: {_decision(result)}"
        for size, runs, result in answers
    ]
    return finding(
        "rcp.mixed-batch-sizes",
        entry.path,
        "The runs have several batch sizes, and "
        + ("the official answer depends on which log is read last" if differ else "the answer is the same with each"),
        actual=f"{_mean(rcp)}; " + "; ".join(stated),
    )


def _decision(result: RcpResult) -> str:
    if result.minimum is None:
        return "no reference covers the batch size"
    if not passes(result):
        return f"fails: only a mean of {format_number(result.minimum)} {result.unit} or more is accepted"
    scaled = f", scaled by {result.scaling:.6f}" if result.scaling != 1 else ""
    return f"passes from {format_number(result.minimum)} {result.unit} on{scaled}"


def load_wording(what: str) -> dict[str, str]:
    """A table of words.yaml, by the value of ``how`` in a result."""
    return shipped(__file__, "words.yaml", dict[str, dict[str, str]])[what]


def format_number(value: float | None) -> str:
    """A mean or a batch size in a sentence."""
    if value is None:
        return "-"
    if abs(value) >= 1e4:
        return f"{value:.0f}"
    return f"{value:.4f}".rstrip("0").rstrip(".")
