"""Audit across logs and documents: what they say of each other, seeds used twice, and numbers nobody drew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from mlsub.divisions import CLOSED, division_of
from mlsub.findings import Finding, Severity
from mlsub.io.show import plural, readable, several, show
from mlsub.review.cadence import show_count
from mlsub.review.fingerprints import digest_log
from mlsub.rules.catalogue import finding
from mlsub.submission.find import organisation
from mlsub.submission.model import Entry, LogReport
from mlsub.submission.report import RcpResult
from mlsub.systems.fields import category, is_not_applicable, is_placeholder
from mlsub.systems.names import accelerators_in, same_accelerator, same_framework, same_processor

#: Seeds in common from which on chance is ruled out: one of many short numbers may fall twice.
LEAST_SHARED_SEEDS = 2
#: Every pair of entries is compared, so hostile logs with thousands of seeds must not count with all of them.
_SEEDS_OF_A_LOG = 16
#: Names come from whoever wrote the file.
_LONGEST_PLATFORM = 200
#: How many of something a name begins with: ``1x``, ``8 x``, ``8x8x``.
_COUNT = re.compile(r"(?<![a-z0-9])(?:\d{1,6} ?[x×] ?(?=[a-z0-9]))+")
_TRADEMARK = re.compile(r"\((?:r|tm|c)\)|[®™©]")
_WORD = re.compile(r"[a-z]+\d*[a-z]*|(?<!\d)\d++[a-z]+\d*")
_NO_WORD = "submission_platform has no word in common with the system's folder, name, accelerator or processor"
#: The key of which an empty value is asked about.
_STATUS = "submission_status"
_FRAMEWORK, _ACCELERATOR, _PROCESSOR = "framework", "accelerator_model_name", "host_processor_model_name"


def audit_entry(entry: Entry) -> Iterator[Finding]:
    """Yield disagreements of an entry's logs with the folders and the description around them."""
    if not entry.in_tree:
        return
    # The logs of an entry say much the same, which is looked at once.
    contradictions: dict[tuple[str | None, ...], list[tuple[str, str, tuple[str, ...]]]] = {}
    for log in (log for log in entry.logs if log.run.timeline.events):
        values = [log.run.stated(key)[0] for key in _CHECKS]
        logged = tuple([readable(value[:200]) if isinstance(value, str) else None for value in values])
        if logged not in contradictions:
            contradictions[logged] = []
            unfilled = any(value is not None and is_placeholder(value) for value in logged)
            for (key, check), value in zip(_CHECKS.items(), logged, strict=True):
                # A placeholder has its own finding, and a status beside it is the launcher's default.
                if value is None or is_placeholder(value) or not (value or key == _STATUS):
                    continue
                if key == _STATUS and unfilled:
                    continue
                if (contradiction := check(entry, value)) is not None:
                    contradictions[logged].append((key, value, contradiction))
        for key, value, (rule, expected, *message) in contradictions[logged]:
            # A platform is free text: one that names no accelerator is only unusual.
            severity = Severity.NOTE if message == [_NO_WORD] else None
            (_, line), actual = log.run.stated(key), show(value)
            yield finding(rule, log.path, *message, line=line, expected=expected, actual=actual, severity=severity)


def audit_samples(entry: Entry, rcp: RcpResult) -> Iterator[Finding]:
    """Yield an entry whose evaluations state another ``samples_count`` than their start and end.

    Args:
        entry: with its logs.
        rcp: its convergence test, which counts what they state.
    """
    shifts = [(log, log.run.lengths.shift) for log in entry.logs if log.run.lengths.shift is not None]
    if not shifts:
        return
    log, first = shifts[0]
    count = sum(shift.count for _, shift in shifts)
    many = f"all {plural(count, 'evaluation')} of {plural(len(shifts), 'run')}"
    actual = f"{show_count(first.stated)} in eval_accuracy, and so in {many}"
    points = [point for point in rcp.points if point is not None]
    last = {shift.last for _, shift in shifts}
    if rcp.counted == "samples_count" and points and len(shifts) == len(entry.logs) and len(last) == 1:
        mean = rcp.mean or sum(points) / len(points)
        actual += f"; the convergence test reads a mean of {show_count(mean)}, "
        actual += f"by eval_stop it is {show_count(mean + last.pop())}"
    yield finding(
        "entry.samples-count",
        log.path,
        line=first.line,
        expected=f"{show_count(first.meant)}, as in eval_start and eval_stop",
        actual=actual,
    )


def _check_organisation(entry: Entry, logged: str) -> tuple[str, ...] | None:
    if _has_number_behind(logged, entry.organisation):
        return "cross.submitter", entry.organisation, "submission_org has a number behind the organisation's name"
    submitter = entry.described("submitter")
    if _is_other_submitter(submitter, entry.organisation):
        # That has a finding of its own.
        if same_organisation(logged, submitter):
            return None
        submitter = ""
    for name, where in ((submitter, "the system description's submitter"), (entry.organisation, "the folder")):
        if name and not same_organisation(logged, name):
            return "cross.org", name, f"submission_org is not {where}"
    return None


def same_organisation(one: str, other: str) -> bool:
    """Return whether two names may be one organisation: one contains the other, or all its words."""
    if is_part_of_other(one, other) or organisation(one) == organisation(other):
        return True
    words, others = (set(re.findall(r"[a-z0-9]+", name.lower())) for name in (one, other))
    return len(words & others) > 1 and (words <= others or others <= words)


def _is_other_submitter(submitter: str, folder: str) -> bool:
    """Return whether a description's submitter is not the folder's organisation, or this with a number behind it."""
    if not submitter or not folder or is_placeholder(submitter):
        return False
    return _has_number_behind(submitter, folder) or not same_organisation(submitter, folder)


def _has_number_behind(name: str, folder: str) -> bool:
    """Return whether a name is the folder's with a number behind it, such as ``ACME_1``."""
    one, other = (re.sub(r"[^a-z0-9]", "", text[:200].lower()) for text in (name, folder))
    return bool(other) and one.startswith(other) and one.removeprefix(other).isdigit()


def audit_submitters(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield descriptions whose submitter is not the organisation of the folder, each once."""
    described = {entry.description.path: entry for entry in entries if entry.in_tree and entry.description is not None}
    for path, entry in described.items():
        submitter = entry.described("submitter")
        if _is_other_submitter(submitter, entry.organisation):
            yield finding("cross.submitter", path, expected=entry.organisation, actual=show(submitter))


def _check_status(entry: Entry, logged: str) -> tuple[str, ...] | None:
    stated = entry.described("status")
    # In the early rounds systems in a cloud were "available", too; a preview may stand anywhere.
    if not stated or stated.lower() in {"available", "preview"} or (known := category(stated)) is None:
        return None
    return ("cross.status", stated) if not logged or category(logged) not in (known, None) else None


def _check_division(entry: Entry, logged: str) -> tuple[str, ...] | None:
    # A division that is none has its own finding.
    known = entry.division if division_of(entry.division) is not None else None
    return ("cross.division", known) if known and logged != known else None


def _check_platform(entry: Entry, logged: str) -> tuple[str, ...] | None:
    if entry.description is None:
        return None
    accelerator = entry.described(_ACCELERATOR)
    if not accelerator or is_not_applicable(accelerator):
        accelerator = entry.described(_PROCESSOR)
    names = [entry.system, entry.described("system_name"), accelerator]
    known = tuple(dict.fromkeys(name for name in names if name))
    message = find_platform_contradiction(logged, known)
    expected = ", ".join(known) if message == _NO_WORD or not accelerator else accelerator
    return ("cross.platform", expected, message) if message else None


def _check_benchmark(entry: Entry, logged: str) -> tuple[str, ...] | None:
    return None if logged == entry.benchmark else ("cross.benchmark", entry.benchmark)


def _check_hardware(
    rule: str, field: str, same: Callable[[str, str], bool], entry: Entry, logged: str
) -> tuple[str, ...] | None:
    described = _described_name(entry, field)
    return (rule, described) if described and not same(logged, described) else None


def _described_name(entry: Entry, field: str) -> str:
    """Return what the description of an entry's system has for a name; nothing where that names none."""
    described = entry.described(field)
    return "" if is_placeholder(described) or is_not_applicable(described) else described


def audit_frameworks(entries: Iterable[Entry]) -> Iterator[Finding]:
    """Yield what the logs of an organisation name for a framework that is not their description's, all in one."""
    odd: dict[tuple[str, str], list[tuple[Entry, LogReport]]] = {}
    for entry in entries:
        described = _described_name(entry, _FRAMEWORK)
        for log in entry.logs if described else ():
            logged, _ = log.run.stated(_FRAMEWORK)
            if isinstance(logged, str) and not is_placeholder(logged) and not same_framework(logged, described):
                odd.setdefault((logged, described), []).append((entry, log))
                break
    if odd:
        shown = [
            f"{show(logged, 80)} in {several([f'{entry.system}/{entry.benchmark}' for entry, _ in found], 3)}, "
            f"where the description has {show(described, 80)}"
            for (logged, described), found in odd.items()
        ]
        _, first = next(iter(odd.values()))[0]
        yield finding("cross.framework", first.path, line=first.run.stated(_FRAMEWORK)[1], actual=several(shown, 3))


#: What contradicts the value of a key: the rule that is broken, what it expects, and a message that is not the rule's.
_CHECKS: dict[str, Callable[[Entry, str], tuple[str, ...] | None]] = {
    "submission_org": _check_organisation,
    "submission_division": _check_division,
    "submission_platform": _check_platform,
    "submission_benchmark": _check_benchmark,
    _STATUS: _check_status,
    _ACCELERATOR: partial(_check_hardware, "cross.accelerator", _ACCELERATOR, same_accelerator),
    _PROCESSOR: partial(_check_hardware, "cross.processor", _PROCESSOR, same_processor),
}


def find_platform_contradiction(platform: str, names: Iterable[str]) -> str | None:
    """Return what is wrong with a platform beside the names of its system; None where nothing is.

    A platform that names an accelerator must name one of the system's, where the system names one. Any other has to
    have a word in common with one of the names, or contain it, or be contained in it.
    """
    plain, *known = (
        _COUNT.sub(" ", _TRADEMARK.sub("", name[:_LONGEST_PLATFORM].lower())).strip() for name in (platform, *names)
    )
    named = accelerators_in(plain)
    expected = {family for name in known for family in accelerators_in(name)}
    if named and expected:
        return None if named & expected else "submission_platform names another accelerator than the system"
    if any(is_part_of_other(plain, name) or _distinct_words(plain) & _distinct_words(name) for name in known):
        return None
    return _NO_WORD


def is_part_of_other(one: str, other: str) -> bool:
    """Return whether one of two names contains the other, letters and digits only."""
    a, b = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (one, other))
    return bool(a) and bool(b) and (a in b or b in a)


def _distinct_words(name: str) -> set[str]:
    """Return the words of a name that distinguish machines."""
    return {word for word in _WORD.findall(name) if len(word) > 2}


def audit_seeds(logs: tuple[LogReport, ...], shared: frozenset[str]) -> Iterator[Finding]:
    """Yield runs of an entry that use the same seed value, whichever source line logged it.

    Args:
        logs: the entry's runs.
        shared: paths that already have a finding on a shared seed; they are passed over.
    """
    users: dict[int, LogReport] = {}
    for log in logs:
        values = dict.fromkeys(seed.value for seed in log.run.seeds if not seed.error)
        reused = next((value for value in values if value in users), None)
        # A copy has its own finding.
        if reused is not None and log.path not in shared and digest_log(log) != digest_log(users[reused]):
            line = next(seed.line for seed in log.run.seeds if seed.value == reused)
            yield finding("seed.reused", log.path, line=line, actual=f"seed {reused}, as in {users[reused].path}")
        for value in values:
            users.setdefault(value, log)


def audit_organisation_seeds(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield closed entries of an organisation that have several seeds in common with one of another system."""
    closed = [entry for entry in entries if entry.in_tree and entry.division == CLOSED.name]
    seeds = [collect_seeds(entry.logs) for entry in closed]
    for entry, values in zip(closed, seeds, strict=True):
        for other, others in zip(closed, seeds, strict=True):
            if other.system == entry.system or len(values & others) < LEAST_SHARED_SEEDS:
                continue
            common = collect_seeds(entry.logs, other.logs) & collect_seeds(other.logs, entry.logs)
            if len(common) >= LEAST_SHARED_SEEDS:
                shown = several([str(value)[:24] for value in sorted(common)], 5)
                actual = f"{len(common)} of {len(values)} seeds ({shown}) as in {other.path}"
                yield finding("seed.not-random", entry.path, actual=actual)
                break


def collect_seeds(logs: Iterable[LogReport], others: Iterable[LogReport] = ()) -> set[int]:
    """Return the seeds of an entry's runs, without logs that are copies of another entry's: that is another finding."""
    copies = set(map(digest_log, others))
    own = (log for log in logs if not copies or digest_log(log) not in copies)
    return {seed.value for log in own for seed in log.run.seeds[:_SEEDS_OF_A_LOG] if not seed.error}
