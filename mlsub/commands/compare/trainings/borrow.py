"""Check a resubmission against the rules on borrowing hyperparameters during review.

MLPerf training rules, "Hyperparameter Borrowing": once per entry, another submitter's hyperparameters of the same
benchmark replace one's own as a group; the batch size (local, global, batch normalisation span) may stay or change;
software, system and configuration stay as submitted. No file says whether it is the review period, and the first time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from mlsub.commands.compare.packages.reading import Entry, Reading
from mlsub.commands.compare.trainings.compare import compare_sides, read_timed
from mlsub.commands.compare.trainings.match import match
from mlsub.commands.compare.trainings.model import Comparison
from mlsub.commands.compare.trainings.sides import Known, know
from mlsub.divisions import CLOSED
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.log.changes import agreed_values, fields
from mlsub.review.runs.model import listed
from mlsub.rounds import get_round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import rules_for
from mlsub.submission.report import EntryResult
from mlsub.workspace import Settings

#: The batch size in its forms: what one is free to change.
FREE = frozenset(
    (
        *("global_batch_size", "train_batch_size", "local_batch_size", "micro_batch_size", "model_bn_span"),
        *("batchnorm_group_size", "gradient_accumulation_steps", "gradient_accumulation_frequency"),
    )
)
#: Logged under a benchmark's rules, but not hyperparameters of it.
_NONE = frozenset(("seed", "weights_initialization", "eval_accuracy", "eval_error", "init_checkpoint_sha256sum"))
#: Fields of a description on software, on the scale, and those that say nothing of the system.
SOFTWARE = ("framework", "other_software_stack", "operating_system")
_SCALE = ("number_of_nodes",)
_WORDS = ("submitter", "division", "system_name", "hw_notes", "sw_notes", "notes")
_SHOWN = 8


class Loan(msgspec.Struct, frozen=True):
    """One entry as submitted, its resubmission, and the entry that is borrowed from."""

    old: Known
    new: Known
    source: Known
    path: str


def check_borrowing(old: str, new: str, source: str, settings: Settings, forced: Sequence[str] = ()) -> Comparison:
    """Compare a resubmission with what was submitted, and with whom it borrows from.

    Args:
        old: the entry, or package, as it was submitted.
        new: the resubmission.
        source: the entry, or package, that hyperparameters are borrowed from.
        settings: with the round to judge all by, None for each one's own.
        forced: pairs of entries, ``A_ENTRY=B_ENTRY``.

    Raises:
        MlsubError: a side holds nothing to compare, or several entries could be the source.
    """
    before, after, lender = (read_timed(path, settings) for path in (old, new, source))
    matched = match(before, after, forced)
    pairs = matched.pairs
    findings: list[Finding] = []
    for one, other in pairs:
        if len(pairs) > 1 and _unchanged(one, other):
            continue
        lent = _source(lender, other, source)
        if lent is None:
            findings.append(_no_source(other.result))
            continue
        loan = Loan(know(one), know(other), know(lent), other.result.path)
        findings += check_loan(loan)
        findings += _scale(before, loan)
    if pairs and not findings and all(_unchanged(*pair) for pair in pairs):
        findings.append(finding("borrow.nothing", ".", "No hyperparameter differs from what was submitted"))
    found = compare_sides(before, after, matched)
    return msgspec.structs.replace(found, purpose="borrow", findings=tuple(dict.fromkeys(findings)))


def _unchanged(one: Entry, other: Entry) -> bool:
    """Whether an entry logs what it logged before; in a package most do."""
    return agreed_values(one.runs) == agreed_values(other.runs)


def _source(lender: Reading, entry: Entry, path: str) -> Entry | None:
    entries = [known for known in lender.entries if known.held.benchmark == entry.held.benchmark]
    if len(entries) > 1:
        names = ", ".join(known.name for known in entries[:5])
        several = f"--from {path} has {len(entries)} entries of {entry.result.benchmark}: {names}"
        raise MlsubError(f"{several}. Name the benchmark's folder of one.")
    return entries[0] if entries else None


def _no_source(entry: EntryResult) -> Finding:
    return finding(
        "borrow.benchmark",
        entry.path,
        "The source has no entry of this benchmark",
        expected=entry.benchmark,
        actual="none",
    )


def check_loan(loan: Loan) -> Iterator[Finding]:
    """What speaks against one resubmission, as far as logs and descriptions tell."""
    old, new, source = loan.old.side, loan.new.side, loan.source.side
    if len({(side.usage, side.benchmark_name) for side in (old, new, source)}) > 1:
        actual = f"{old.benchmark}, {new.benchmark} and {source.benchmark}"
        yield finding("borrow.benchmark", loan.path, "The entries are not of one benchmark", actual=actual)
        return
    if {side.division for side in (old, new, source)} != {CLOSED.name}:
        actual = ", ".join(str(side.division) for side in (old, new, source))
        yield finding("borrow.division", loan.path, "Not all entries are Closed", expected=CLOSED.name, actual=actual)
    if len({(side.usage, side.round) for side in (old, new, source)}) > 1:
        actual = f"v{old.round}, v{new.round} and v{source.round}"
        yield finding("borrow.round", loan.path, "The entries are not of one round", actual=actual)
    if old.organisation_name != new.organisation_name:
        actual = f"{old.organisation} and {new.organisation}"
        yield finding("borrow.submitter", loan.path, "Entry and resubmission are of two submitters", actual=actual)
    elif source.organisation_name == old.organisation_name and source.organisation:
        message = "The source is of the same submitter"
        yield finding("borrow.submitter", loan.path, message, actual=source.organisation)
    if new.official == Verdict.REJECTED.value:
        message = f"The resubmission is not accepted by the rules of v{new.round}"
        yield finding("borrow.rejected", loan.path, message)
    yield from _group(loan)
    yield from _system(loan)


def hyperparameter_keys(usage: str, round_name: str, benchmark: str, values: Mapping[str, str]) -> frozenset[str]:
    """The hyperparameters of a benchmark: what its own rules in Closed name, the batch size aside.

    Args:
        usage: the usage, such as training.
        round_name: the round.
        benchmark: the benchmark.
        values: those of the entry that is borrowed from, as JSON; of several optimizers the keys of its own count.
    """
    if benchmark not in get_round(usage, round_name).benchmarks:
        return frozenset()
    common = {rule.key for rule in rules_for(usage, round_name, CLOSED.name, None).rules}
    rules = rules_for(usage, round_name, CLOSED.name, benchmark)
    used = [variant for variant in rules.variants if values.get(variant.key) == json.dumps(variant.value)]
    every = {rule.key for rule in rules.rules}
    every |= {rule.key for variant in used or rules.variants for rule in variant.rules}
    return frozenset(every - common - _NONE - FREE)


def _group(loan: Loan) -> Iterator[Finding]:
    """Whether all hyperparameters are the source's: those that are not were kept, or changed to something else."""
    side = loan.new.side
    was, now, lent = (agreed_values(known.entry.runs) for known in (loan.old, loan.new, loan.source))
    keys = hyperparameter_keys(side.usage, side.round, side.benchmark, lent)
    other = sorted(key for key in keys if now.get(key) != lent.get(key))
    kept = [key for key in other if now.get(key) == was.get(key)]
    own = [key for key in other if now.get(key) != was.get(key)]
    replaced = [key for key in keys if now.get(key) != was.get(key)]
    if not replaced and len(kept) == len(other):
        yield finding("borrow.nothing", loan.path, "No hyperparameter differs from what was submitted")
        return
    if kept:
        message = "Hyperparameters were kept, so the group is not replaced as a whole"
        yield finding("borrow.group", loan.path, message, expected=_listed(kept, lent), actual=_listed(kept, now))
    if own:
        same = side.batch_size is not None and side.batch_size == loan.source.side.batch_size
        message = f"Hyperparameters are neither the source's nor those submitted; the batch size is {_same(same=same)}"
        yield finding("borrow.extra", loan.path, message, expected=_listed(own, lent), actual=_listed(own, now))
    if other:
        yield from _convergence(loan)


def _same(*, same: bool) -> str:
    return "that of the source" if same else "another than the source's"


def _convergence(loan: Loan) -> Iterator[Finding]:
    """Who changes more than is borrowed may come as near as the source converges, not nearer."""
    new, source = loan.new.side, loan.source.side
    one, other = source.convergence, new.convergence
    if new.batch_size != source.batch_size or one.unit != other.unit or one.mean is None or other.mean is None:
        return
    if other.mean < one.mean:
        yield finding(
            "borrow.convergence",
            loan.path,
            "With hyperparameters of its own the resubmission converges faster than the source",
            expected=f"at least {one.mean:.6g} {one.unit}, the mean of the source",
            actual=f"{other.mean:.6g}",
        )


def _listed(keys: Sequence[str], values: Mapping[str, str]) -> str:
    return listed([f"{key} {values.get(key, 'not logged')}"[:120] for key in keys], _SHOWN)


def _system(loan: Loan) -> Iterator[Finding]:
    changes = fields(loan.old.entry.description, loan.new.entry.description)
    software = [change for change in changes if change.name in SOFTWARE]
    system = [change for change in changes if change.name not in (*SOFTWARE, *_SCALE, *_WORDS)]
    for rule, found, what in (("borrow.system", system, "system"), ("borrow.software", software, "software")):
        if found:
            yield finding(
                rule,
                loan.path,
                f"The {what} is not that of the entry as submitted",
                expected=_fields([(change.name, change.old) for change in found]),
                actual=_fields([(change.name, change.new) for change in found]),
            )


def _fields(values: Sequence[tuple[str, Any]]) -> str:
    return listed([f"{name}: {'-' if value is None else str(value)[:80]}" for name, value in values], _SHOWN)


def _scale(before: Reading, loan: Loan) -> Iterator[Finding]:
    """Another number of nodes: allowed to the largest entry of a system alone, up to the largest scale it showed."""
    old, new = loan.old.side.accelerators, loan.new.side.accelerators
    if old is None or new is None or old == new:
        return
    kind, benchmark = loan.old.side.accelerator, loan.old.side.benchmark
    same = [entry for entry in before.entries if entry.facts and entry.facts.accelerator_model_name == kind]
    shown = [(entry.result.benchmark, count) for entry in same if (count := entry.accelerators) is not None]
    times = loan.old.side.minutes, loan.new.side.minutes
    reasons = []
    if new < old and not (times[0] and times[1] and times[1] < times[0]):
        reasons.append("The new scale is neither larger nor faster")
    if any(count > old for name, count in shown if name == benchmark):
        reasons.append("The entry is not the largest of its system and benchmark, so its scale is fixed")
    if new > max(count for _, count in shown):
        reasons.append("No entry as submitted shows the system at this scale")
    for reason in reasons:
        yield finding("borrow.scale", loan.path, reason, expected=f"{old} accelerators", actual=str(new))
