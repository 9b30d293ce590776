"""Audit of one entry: runs of one system with the same settings, of the size and in a time that it can have."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import SequenceMatcher
from math import prod
from typing import Any, NamedTuple

import msgspec

from mlsub.divisions import CLOSED, division_of
from mlsub.findings import Finding, Kind, Severity
from mlsub.io.data import group_by_key, shipped
from mlsub.io.show import plural, readable, several, show
from mlsub.log.reader import SCALE
from mlsub.review.cross import same_organisation
from mlsub.review.disclosure import KEYS, show_value
from mlsub.rules.catalogue import demanded_key, finding
from mlsub.submission.model import Entry, LogReport
from mlsub.submission.report import RcpResult
from mlsub.systems.fields import count, is_placeholder
from mlsub.systems.names import (
    Peak,
    accelerators_in,
    chip_of,
    peak_of,
    same_accelerator,
    same_framework,
    same_processor,
)

#: Bounds for a hostile entry: values of a key that are told apart, their length, and how much is named.
_MOST_VALUES, _LONGEST, _MOST_NAMED = 16, 200, 5
#: Words of two platforms as alike as this are one word in two spellings.
_ALIKE = 0.8
#: What may differ from run to run: sizes of data as each run saw them, what a disclosure has, and what is measured.
_MAY_DIFFER = {
    *({*KEYS.values()} - {KEYS["batch_size"], KEYS["accumulation"]}),
    *("seed", "train_samples", "eval_samples", *SCALE),
    "actual_selfplay_games_per_generation",
}
#: The findings that speak of several batch sizes.
_OF_BATCH_SIZE = {"rcp.batch-size", "rcp.mixed-batch-sizes"}
#: How many of what a platform begins with: ``4x``, ``8x8x``.
_COUNTS = re.compile(r"(\d{1,6}) ?[x×] ?(?:(\d{1,6}) ?[x×] ?)?(?=[a-z_])", re.IGNORECASE)


def audit_runs(entry: Entry, keys: Collection[str], reported: Collection[str]) -> Iterator[Finding]:
    """Yield what the runs of an entry state differently, and logs of a system of another size than the entry's.

    Args:
        entry: with its logs.
        keys: the hyperparameters that the rules or the reference name.
        reported: the rules of errors and warnings that the entry has already; what they speak of is not repeated.
    """
    differ = False
    for key, (rule, things, same) in _NAMED_BY_RUNS.items():
        groups = _group_by_name(entry.logs, key, same) if rule not in reported else {}
        if len(groups) > 1:
            differ = True
            actual = _describe_groups({show(name): logs for name, logs in groups.items()})
            message = f"The runs of an entry name different {things}"
            severity = Severity.WARNING if rule in _MAY_CHANGE else None
            yield _report_smallest_group("cross.runs-differ", key, groups, message, actual=actual, severity=severity)
    known = _MAY_DIFFER | ({"global_batch_size"} if _OF_BATCH_SIZE.intersection(reported) else set())
    yield from _find_different_hyperparameters(entry, set(keys) - known)
    if not differ:
        yield from _find_other_scale(entry)


def _report_smallest_group(
    rule: str, key: str, groups: dict[str, list[LogReport]], message: str | None = None, **parts: Any
) -> Finding:
    """Return the finding on a key whose values differ between groups of logs, at the first log of the smallest."""
    log = min(groups.values(), key=len)[0]
    return finding(rule, log.path, message, line=log.run.stated(key)[1], **parts)


def _group_by_name(logs: Iterable[LogReport], key: str, same: Callable[[str, str], bool]) -> dict[str, list[LogReport]]:
    """Return the logs by what they name, in its first spelling; placeholders only where nothing else is named."""
    stated = ((log.run.stated(key)[0], log) for log in logs)
    by_name = group_by_key(
        (readable(value[:_LONGEST]), log) for value, log in stated if isinstance(value, str) and value
    )
    names = [name for name in by_name if not is_placeholder(name)] or list(by_name)
    groups: dict[str, list[LogReport]] = {}
    for name in names[:_MOST_VALUES]:
        first = next((one for one in groups if same(one, name)), name)
        groups.setdefault(first, []).extend(by_name[name])
    return groups


def _describe_groups(groups: dict[str, list[LogReport]]) -> str:
    """Say which runs state what: the smaller groups first, by the names of their files, then what all others state."""
    *few, (most, many) = sorted(groups.items(), key=lambda group: len(group[1]))
    odd = [f"{value} in {several([log.name for log in logs], _MOST_NAMED)}" for value, logs in few]
    return f"{'; '.join(odd[:_MOST_NAMED])}; {most} in {plural(len(many), 'run')}"


def same_platform(one: str, other: str) -> bool:
    """Return whether two platforms differ in spelling at most; a number or an accelerator is never a spelling."""
    first, second = (re.sub(r"^1 ?[x×] ?", "", name.lower().strip()) for name in (one, other))
    if re.sub(r"[\W_]", "", first) == re.sub(r"[\W_]", "", second):
        return True
    if (accelerators := accelerators_in(first)) and (others := accelerators_in(second)) and accelerators != others:
        return False
    words, others_words = (re.findall(r"[^\W_]+", name) for name in (first, second))
    return len(words) == len(others_words) and all(
        word == other or (word.isalpha() and other.isalpha() and SequenceMatcher(None, word, other).ratio() >= _ALIKE)
        for word, other in zip(words, others_words, strict=True)
    )


#: What every run of an entry names: the rule on one that does not fit the entry, the plural, and what is the same.
_NAMED_BY_RUNS: dict[str, tuple[str, str, Callable[[str, str], bool]]] = {
    "submission_platform": ("cross.platform", "platforms", same_platform),
    "submission_benchmark": ("cross.benchmark", "benchmarks", str.__eq__),
    "submission_division": (
        "cross.division",
        "divisions",
        lambda one, other: (division_of(one) or one) == (division_of(other) or other),
    ),
    "submission_org": ("cross.org", "organisations", same_organisation),
    "accelerator_model_name": ("cross.accelerator", "accelerators", same_accelerator),
    "host_processor_model_name": ("cross.processor", "processors", same_processor),
    "framework": ("cross.framework", "frameworks", same_framework),
}
#: What runs of one system may differ in and still be comparable, so that it is only asked about.
_MAY_CHANGE = {"cross.processor", "cross.framework"}


def _find_different_hyperparameters(entry: Entry, keys: Collection[str]) -> Iterator[Finding]:
    """Yield hyperparameters that differ between runs of one benchmark, all in one finding; a warning but in Closed.

    A value that the rules do not allow has a finding of its own.
    """
    official = (found for log in entry.logs for found in log.findings if found.kind is Kind.OFFICIAL)
    refused = {demanded_key(found.rule) for found in official}
    if len({log.benchmark for log in entry.logs}) != 1:
        return
    odd: dict[str, dict[str, list[LogReport]]] = {}
    for key in sorted({*keys} - refused):
        stated = [(log.run.hyperparameters[key], log) for log in entry.logs if key in log.run.hyperparameters]
        if all(value == stated[0][0] for value, _ in stated):
            continue
        groups = group_by_key((show_value(value), log) for value, log in stated)
        if len(groups) > 1:
            odd[key] = groups
    if odd:
        actual = several([f"{name}: {_describe_groups(groups)}" for name, groups in odd.items()], _MOST_NAMED)
        severity = None if division_of(entry.division) == CLOSED else Severity.WARNING
        key, groups = next(iter(odd.items()))
        yield _report_smallest_group("entry.hyperparameters-differ", key, groups, actual=actual, severity=severity)


def _find_other_scale(entry: Entry) -> Iterator[Finding]:
    """Yield logs that state another number of nodes or accelerators than the description of their system.

    A log contradicts it where nothing that it states agrees: one source alone may mean something else by a number. What
    is one node by default, where nobody tells it, counts only where two sources say so, and is a warning.
    """
    nodes, each = entry.size
    if nodes is None or each is None or entry.scaling_type == "weak":
        return
    for log in entry.logs:
        stated = list(_stated_sizes(log, nodes, each))
        odd = [size.words for size in stated if not size.fits]
        by_default = all(size.may_be_default for size in stated)
        if odd and len(odd) == len(stated) and (len(odd) > 1 or not by_default):
            yield finding(
                "cross.scale",
                log.path,
                line=log.run.lines.get("submission_platform"),
                expected=f"{plural(nodes, 'node')} of {plural(each, 'accelerator')}, as the system description says",
                actual=", ".join(odd),
                severity=Severity.WARNING if by_default else None,
            )


class _StatedSize(NamedTuple):
    """What one source in a log states of its size, whether the description agrees, and whether it may be a default."""

    words: str
    fits: bool
    may_be_default: bool = False


def _stated_sizes(log: LogReport, nodes: int, each: int) -> Iterator[_StatedSize]:
    """Yield what a log states of its size, beside the numbers of nodes and of accelerators in each."""
    total = nodes * each
    platform = log.run.identity.get("submission_platform")
    if isinstance(platform, str) and (counts := _COUNTS.match(platform[:_LONGEST])):
        numbers = [int(number) for number in counts.groups() if number]
        # The template of a platform has the nodes before it; beside a name, it may be accelerators that are counted.
        fitting = {nodes} if is_placeholder(platform) else {nodes, each, total}
        fits = numbers[0] in fitting or (len(numbers) > 1 and prod(numbers) == total)
        yield _StatedSize(f"submission_platform {show(platform, 60)}", fits, may_be_default=numbers == [1])
    system, run = log.run.system, log.run
    for source, stated in ((":::SYSJSON", system.fields), ("the log", dict(zip(SCALE, run.scale, strict=True)))):
        of_nodes, of_each = (count(stated.get(name)) for name in SCALE)
        if of_nodes:
            fits = of_nodes * of_each == total if of_each else of_nodes == nodes
            accelerators = f" of {plural(of_each, 'accelerator')}" if of_each else ""
            words = f"{source} {plural(of_nodes, 'node')}{accelerators}"
            yield _StatedSize(words, fits, may_be_default=of_nodes == 1 and source == ":::SYSJSON")
    # Fewer processes than accelerators may log; more of them than there are, in whole nodes, are of a larger system.
    if system.ranks > 1 and (system.ranks == total or (each and system.ranks > total and not system.ranks % each)):
        yield _StatedSize(f"records of {system.ranks} processes", system.ranks == total)


class LeastWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The least arithmetic of a benchmark for one of a unit; see operations.yaml."""

    unit: str
    each: int
    multiply_adds: float
    passes: int
    source: str

    @property
    def operations(self) -> float:
        """Operations for one of the unit."""
        return 2 * self.multiply_adds * self.passes * self.each


def audit_peak(entry: Entry, benchmark: str, rcp: RcpResult) -> Iterator[Finding]:
    """Yield a Closed entry with runs that took less time than its accelerators need at their peak.

    Args:
        entry: with its logs and its description.
        benchmark: as the rules call it.
        rcp: its convergence test, which reads how far each run had come.
    """
    work = shipped(__file__, "operations.yaml", dict[str, LeastWork]).get(benchmark)
    counted = work is not None and (work.unit, None, None) == (rcp.unit, rcp.logs_unit, rcp.logs_benchmark)
    number, peak, name = _accelerators_of(entry)
    if work is None or not counted or not number or peak is None or division_of(entry.division) != CLOSED:
        return
    least = work.operations / (number * peak.teraflops * 1e12) / 60
    pairs = zip(entry.logs, rcp.points, strict=False)
    odd = [(log, point) for log, point in pairs if point and log.minutes and 0 < log.minutes < point * least]
    if odd:
        log, point = min(odd, key=lambda one: one[0].minutes or 0)
        yield finding(
            "entry.faster-than-peak",
            log.path,
            line=log.run.lines.get("run_stop"),
            expected=f"{point * least:.3g} minutes or more",
            actual=f"{log.minutes:.3g} minutes, for {point:,g} {work.unit} ({point * work.operations:.2g} operations) "
            f"on {number} {name} of {peak.teraflops:,g} teraflops ({peak.precision})"
            + (f"; {len(odd)} of {plural(len(entry.logs), 'run')} are too fast" if len(odd) > 1 else ""),
            source=f"{work.source}; {peak.source}",
        )


def _accelerators_of(entry: Entry) -> tuple[int, Peak | None, str]:
    """Return how many accelerators the description states, their peak and their name; None for an unknown peak."""
    chip = chip_of(entry.described("accelerator_model_name"), entry.described("system_name"), entry.system)
    return prod(one or 0 for one in entry.size), peak_of(chip) if chip else None, chip.name if chip else ""
