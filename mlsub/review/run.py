"""Audit of one run: times, status, event types, progress and end, and the rules that are only written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from mlsub.findings import Finding, Severity
from mlsub.io.show import plural, several, show
from mlsub.log.event import expected_event_type
from mlsub.log.reading import usable_number
from mlsub.log.run import MAX_EVALUATIONS, Evaluation, PrivatePlaces, Run
from mlsub.review.cadence import DatedFact, audit_cadence, audit_dataset, batch_size, find_fact, show_count
from mlsub.rounds import round_age
from mlsub.rules.catalogue import finding, reviewed
from mlsub.systems.fields import MAX_TEXT, is_placeholder, placeholders_in

_STATUSES = ("success", "aborted")
#: What an e-mail address or the home folder of somebody has in it: few values do, and the search takes time to load.
_SIGNS = ("@", "/home/", "/Users/", "\\Users\\")
#: The round whose rules demand the name and the address of a contact in each log.
_NAMES_CONTACTS = "0.6"
#: Many implementations open a block as they stop; training takes longer than that.
IDLE_MS = 1_000
#: No run takes longer than a year.
LONGEST_MS = 366 * 86_400_000
#: And a share of the run: what is logged in one go may carry times that are a little off.
IDLE_SHARE = 0.005
#: A model that trains for so long between two evaluations is not evaluated in a few milliseconds; a toy may be.
BETWEEN_MS = 1_000


#: The usage and the round from which on a result file holds all that the framework writes.
WHOLE_LOGS = ("training", (6, 1))
#: Published logs of Training that are an extract of records have at most so many other lines, and others four or more.
MOST_OTHER_LINES = 2

#: The audits of one run by the rule that a defect in them is reported under.
_AUDITS: dict[str, Callable[[Run, str, str, str], Iterator[Finding]]] = {
    "run.interval-negative": lambda run, path, *_: _audit_interval(run, path),
    "run.clock-backwards": lambda *args: _audit_clock(*args),
    "run.status-unknown": lambda run, path, *_: _audit_status(run, path),
    "run.placeholder": lambda run, path, *_: _audit_placeholders(run, path),
    "run.contact": lambda run, path, _, round_: _audit_contacts(run, path, round_),
    "run.event-type": lambda run, path, *_: _audit_event_types(run, path),
    "run.eval-missing": lambda run, path, *_: audit_ending(run, path),
    "run.eval-length": lambda *args: audit_lengths(*args),
    "run.progress-backwards": lambda *args: audit_progress(*args),
    "run.eval-cadence": lambda *args: audit_cadence(*args),
    "run.train-samples": lambda *args: audit_dataset(*args),
    "run.records-only": lambda *args: audit_other_lines(*args),
}


def audit_run(run: Run, path: str, usage: str, round_: str) -> list[Finding]:
    """Return the findings on one run.

    Args:
        run: what the log shows.
        path: the log, relative to the report's root.
        usage: ``training`` or ``hpc``; the written rules are kept by usage and round.
        round_: the round whose rules apply, like ``1.0``.
    """
    args = (run, path, usage, round_)
    return [found for rule, audit in _AUDITS.items() for found in reviewed(rule, path, audit, *args)]


def _audit_event_types(run: Run, path: str) -> Iterator[Finding]:
    for key, (found, line) in sorted(run.event_types.items(), key=lambda item: item[1][1]):
        yield finding(
            "run.event-type",
            path,
            f"{key} has an event type that contradicts its name",
            line=line,
            expected=expected_event_type(key),
            actual=found[:40],
        )


def _audit_placeholders(run: Run, path: str) -> Iterator[Finding]:
    found = {place: key for values in (run.identity, run.hyperparameters) for key, place in placeholders_in(values)}
    if found:
        lines = [run.lines[key] for key in found.values() if key in run.lines]
        values = run.hyperparameters | run.identity
        shown = [f"{place} {show(values[key])}" if place == key else place for place, key in found.items()]
        yield finding("run.placeholder", path, line=min(lines, default=None), actual=several(shown, 10))


def _audit_contacts(run: Run, path: str, round_: str) -> Iterator[Finding]:
    """Yield keys whose values name a person, by key and line, and what else is private; the values are never shown."""
    found = {}
    for key, value in (*run.identity.items(), *run.hyperparameters.items()):
        text = value if isinstance(value, str) else show(value, MAX_TEXT) if isinstance(value, dict | list) else ""
        # A person has two names; an organisation or a word for nobody may stand there, too.
        person = key.endswith("_poc_name") and " " in text.strip() and not is_placeholder(text)
        if text and any(sign in text for sign in _SIGNS):
            from mlsub.log.private.places import names_somebody

            person = person or names_somebody(text[:MAX_TEXT])
        if person:
            found[key] = run.lines.get(key)
    demanded = [key for key in found if round_ == _NAMES_CONTACTS and key.startswith("submission_poc_")]
    lines = [found.pop(key) for key in demanded]
    yield from tell_private(path, [one for one in run.private if one.line not in lines], found)


def tell_private(path: str, places: Sequence[PrivatePlaces], keys: Mapping[str, int | None]) -> Iterator[Finding]:
    """Yield what is private in a file, each kind with the line where it stands first.

    Args:
        path: the file, relative to the report's root.
        places: what is private in it.
        keys: of records whose values name a person, with their lines.
    """
    shown = [f"{show(key, 60)[1:-1]}{f' in line {line}' if line else ''}" for key, line in keys.items()]
    told = [one for one in places if one.line not in keys.values()]
    shown += [
        f"{one.kind} in line {one.line}" + (f" and {one.count - 1:,} more" if one.count > 1 else "") for one in told
    ]
    if shown:
        lines = [*filter(None, keys.values()), *(one.line for one in told)]
        yield finding("run.contact", path, line=min(lines, default=None), actual=several(shown, 10))


def _audit_interval(run: Run, path: str) -> Iterator[Finding]:
    duration, stop_line = run.duration_ms, run.lines.get("run_stop")
    if duration is None:
        return
    if duration < 0:
        yield finding("run.interval-negative", path, line=stop_line, actual=f"{duration / 60_000:g} minutes")
    elif duration > LONGEST_MS:
        yield finding("run.interval-too-long", path, line=stop_line, actual=f"{duration / 60_000:,.0f} minutes")
    repeated = [line for earliest, latest, line in run.edges.values() if latest - earliest > IDLE_MS]
    if repeated:
        widest = run.edges["run_stop"][1] - run.edges["run_start"][0]
        actual = f"{duration / 60_000:.1f} minutes count, {widest / 60_000:.1f} from the first to the last of them"
        yield finding("run.interval-repeated", path, line=repeated[0], actual=actual)


def _audit_clock(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    clock = run.timeline
    if clock.steps and not is_evaluated_after_run(run, usage, round_):
        yield finding(
            "run.clock-backwards",
            path,
            line=clock.step_line,
            actual=f"{plural(clock.steps, 'step')} back, {clock.worst_step:g} ms at most",
        )


def _audit_status(run: Run, path: str) -> Iterator[Finding]:
    status: Any = run.status
    if run.status_line is None or status == "success":
        return
    expected: str | None = " or ".join(_STATUSES)
    rule, actual, fix = "run.status-unknown", show(status), None
    if status is None or status == "":
        rule = "run.status-missing"
    elif status in ("aborted", "abort"):
        rule, expected, actual = "run.status-aborted", None, status
    else:
        close = get_close_matches(show(status, 40).strip('"').lower(), _STATUSES, n=1, cutoff=0.5)
        fix = f"Did you mean {close[0]}?" if close else None
    yield finding(rule, path, line=run.status_line, expected=expected, actual=actual, fix=fix)


class EvaluatedAfterRun(DatedFact, frozen=True):
    """That a benchmark is evaluated after the run, and why."""

    reason: str


def is_evaluated_after_run(run: Run | str, usage: str, round_: str) -> bool:
    """Return whether the benchmark of a run, or of this name, is evaluated after the run, as after_run.yaml has it."""
    return find_fact(run, usage, round_, "after_run.yaml", EvaluatedAfterRun) is not None


def audit_lengths(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield a run most of whose evaluations take no time, although there is time between them."""
    lengths, duration = run.lengths, run.duration_ms
    if duration is None or 2 * lengths.short <= lengths.count or is_evaluated_after_run(run, usage, round_):
        return
    between = duration / lengths.count
    if between >= BETWEEN_MS:
        most = f"{lengths.longest_ms:g} ms or less" if lengths.longest_ms else "no time"
        actual = f"{lengths.short} of {lengths.count} evaluations take {most}, in a run of "
        actual += f"{show_count(round(duration / 1000, 1))} s"
        yield finding("run.eval-length", path, line=lengths.line, actual=actual)


def audit_progress(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield evaluations whose place in training goes backwards, or is not their steps times the batch size."""
    # Evaluations made beside the training end in any order: the short ones overtake the first, which compiles.
    beside = run.lengths.beside and run.lengths.count > 0
    backwards = () if beside else [*_audit_backward_steps(run, path)]
    if backwards and not is_evaluated_after_run(run, usage, round_):
        yield from backwards
    yield from [*_audit_steps_and_samples(run, path)] or audit_whole_batches(run, path)


def _audit_backward_steps(run: Run, path: str) -> Iterator[Finding]:
    furthest: dict[str, float] = {}
    steps: list[tuple[Evaluation, str, float, float]] = []
    for evaluation in run.evaluations:
        name, place = "samples_count", evaluation.samples_count
        if place is None or (place := usable_number(place)) is None:
            name, place = "epoch_num", usable_number(evaluation.epoch_num)
            if place is None:
                continue
        before = furthest.get(name, place)
        if place < before:
            steps.append((evaluation, name, before, place))
        furthest[name] = place
    if steps:
        evaluation, name, before, place = steps[0]
        more = f" ({len(steps)} such steps)" if len(steps) > 1 else ""
        yield finding(
            "run.progress-backwards",
            path,
            f"An evaluation has a lower {name} than the one before it",
            line=evaluation.line,
            expected=f"{show_count(before)} or more",
            actual=show_count(place) + more,
        )


def _audit_steps_and_samples(run: Run, path: str) -> Iterator[Finding]:
    size = batch_size(run)
    if size is None:
        return
    for evaluation in run.evaluations:
        samples, steps = usable_number(evaluation.samples_count), usable_number(evaluation.step_num)
        # The last batch of an epoch may be smaller than the others, or padded.
        if samples is not None and steps is not None and abs(samples - steps * size) > size + samples / 100:
            yield finding(
                "run.progress-steps",
                path,
                line=evaluation.line,
                actual=f"{show_count(samples)} after {show_count(steps)} steps of {show_count(size)}",
            )
            return


def audit_whole_batches(run: Run, path: str) -> Iterator[Finding]:
    """Yield evaluations of the first epoch that are not after a whole number of batches; its last may be smaller."""
    size, epoch = batch_size(run), usable_number(run.hyperparameters.get("train_samples"))
    evaluations = run.evaluations if epoch is not None else run.evaluations[:-1]
    counts = [(one, usable_number(one.samples_count)) for one in evaluations]
    inside = [(one, count) for one, count in counts if count is not None and (epoch is None or count < epoch)]
    odd = [(one, count) for one, count in inside if size is not None and count % size]
    if odd and size is not None:
        actual = f"{show_count(odd[0][1])}, {len(odd)} of {plural(len(inside), 'evaluation')}"
        expected = f"a multiple of global_batch_size {show_count(size)}"
        yield finding("run.progress-batch", path, line=odd[0][0].line, expected=expected, actual=actual)


def audit_ending(run: Run, path: str) -> Iterator[Finding]:
    """Yield a successful run whose last block of training ends without an evaluation."""
    if not run.converged or len(run.evaluations) >= MAX_EVALUATIONS:
        return
    actual, severity = "none in the log", None
    if run.evaluations:
        last = run.evaluations[-1]
        stop, block = run.timeline.run_stop, run.last_block
        if block is None or stop is None or block[0] < last.line or any(e.time_ms >= block[1] for e in run.evaluations):
            return
        idle = stop - block[1]
        if not idle > max(IDLE_MS, IDLE_SHARE * (run.duration_ms or 0)):  # Not a number is no time either.
            return
        actual = f"the last one in line {last.line}, before a block in line {block[0]} of {idle / 1000:g} s"
        # Where that one is below the target, inspect.stops-below asks.
        severity = Severity.NOTE
    yield finding("run.eval-missing", path, line=run.status_line, actual=actual, severity=severity)


def audit_other_lines(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield a log that has nothing of the framework, where the rules ask for all that it writes."""
    (whole_usage, whole_since), other = WHOLE_LOGS, run.other_lines
    demanded = usage == whole_usage and round_age(round_) >= whole_since
    if demanded and run.timeline.events and other is not None and other <= MOST_OTHER_LINES:
        yield finding("run.records-only", path, actual=plural(other, "other line") if other else "no other line")
