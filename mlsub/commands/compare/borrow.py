"""Check a resubmission against the rules on borrowing hyperparameters during review.

MLPerf training rules, "Hyperparameter Borrowing": once per entry, another submitter's hyperparameters of the same
benchmark replace one's own as a group; the batch size (local, global, batch normalisation span) may stay or change;
software, system and configuration stay as submitted. No file says whether it is the review period, and the first time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from mlsub.commands.compare.model import Comparison, EntrySide, PairComparison
from mlsub.commands.compare.reading import Reading, entry_name, runs_of
from mlsub.commands.compare.trainings import compare_sides, match, measure, read_timed
from mlsub.commands.compare.words import short_value
from mlsub.divisions import CLOSED
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.show import first_few
from mlsub.log.changes import agreed_values
from mlsub.rounds import get_round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import rules_for
from mlsub.submission.result import Result
from mlsub.workspace import Context

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
    """One entry as submitted, its resubmission, and the entry that is borrowed from; and how the first two compare."""

    old: Result
    new: Result
    source: Result
    compared: PairComparison

    def finding(self, rule: str, message: str, expected: str | None = None, actual: str | None = None) -> Finding:
        """Return a finding on the resubmission."""
        return finding(rule, self.new.path, message, expected=expected, actual=actual)


def check_borrowing(old: str, new: str, source: str, context: Context, forced: Sequence[str] = ()) -> Comparison:
    """Compare a resubmission with what was submitted, and with whom it borrows from.

    Args:
        old: the entry, or package, as it was submitted.
        new: the resubmission.
        source: the entry, or package, that hyperparameters are borrowed from.
        context: with the round to judge all by, None for each one's own.
        forced: pairs of entries, ``A_ENTRY=B_ENTRY``.

    Raises:
        MlsubError: a side holds nothing to compare, or several entries could be the source.
    """
    before, after, lender = (read_timed(path, context) for path in (old, new, source))
    pairs = match(before, after, forced)
    found = compare_sides(before, after, pairs)
    findings: list[Finding] = []
    for (one, other), compared in zip(pairs, found.pairs, strict=True):
        if len(pairs) > 1 and _unchanged(one, other):
            continue
        lent = _source(lender, other)
        if lent is None:
            message, expected = "The source has no entry of this benchmark", other.benchmark
            findings.append(finding("borrow.benchmark", other.path, message, expected=expected, actual="none"))
            continue
        loan = Loan(one, other, lent, compared)
        findings += [*_loan(loan), *_scale(loan, before)]
    if not findings and all(_unchanged(*pair) for pair in pairs):
        findings.append(finding("borrow.nothing", ".", "No hyperparameter differs from what was submitted"))
    return msgspec.structs.replace(found, purpose="borrow", findings=tuple(dict.fromkeys(findings)))


def _unchanged(one: Result, other: Result) -> bool:
    """Whether an entry logs what it logged before; in a package most do."""
    return agreed_values(runs_of(one)) == agreed_values(runs_of(other))


def _source(lender: Reading, entry: Result) -> Result | None:
    results = [known for known in lender.results if known.benchmark_name == entry.benchmark_name]
    if len(results) > 1:
        names = ", ".join(map(entry_name, results[:5]))
        several = f"--from {lender.path} has {len(results)} entries of {entry.benchmark}: {names}"
        raise MlsubError(f"{several}. Name the benchmark's folder of one.")
    return results[0] if results else None


def _loan(loan: Loan) -> Iterator[Finding]:
    """What speaks against one resubmission, as far as logs and descriptions tell."""
    old, new, source = sides = loan.old, loan.new, loan.source
    if len({(side.usage, side.benchmark_name) for side in sides}) > 1:
        actual = f"{old.benchmark}, {new.benchmark} and {source.benchmark}"
        yield loan.finding("borrow.benchmark", "The entries are not of one benchmark", actual=actual)
        return
    if {side.division for side in sides} != {CLOSED.name}:
        actual = ", ".join(str(side.division) for side in sides)
        yield loan.finding("borrow.division", "Not all entries are Closed", CLOSED.name, actual)
    if len({(side.usage, side.round) for side in sides}) > 1:
        actual = f"v{old.round}, v{new.round} and v{source.round}"
        yield loan.finding("borrow.round", "The entries are not of one round", actual=actual)
    if old.organisation_name != new.organisation_name:
        actual = f"{old.organisation} and {new.organisation}"
        yield loan.finding("borrow.submitter", "Entry and resubmission are of two submitters", actual=actual)
    elif source.organisation_name == old.organisation_name and source.organisation:
        yield loan.finding("borrow.submitter", "The source is of the same submitter", actual=source.organisation)
    if not new.accepted:
        yield loan.finding("borrow.rejected", f"The resubmission is not accepted by the rules of v{new.round}")
    yield from _group(loan)
    yield from _system(loan)


def hyperparameter_keys(usage: str, round_name: str, benchmark: str, values: Mapping[str, str]) -> frozenset[str]:
    """Return the hyperparameters of a benchmark: what its own rules in Closed name, the batch size aside.

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
    used = [rule for rule in rules.variants if rule.where and values.get(rule.where[0]) == json.dumps(rule.where[1])]
    every = {rule.key for rule in (*rules.rules, *(used or rules.variants))}
    return frozenset(every - common - _NONE - FREE)


def _group(loan: Loan) -> Iterator[Finding]:
    """Whether all hyperparameters are the source's: those that are not were kept, or changed to something else."""
    side, source = loan.compared.new, measure(loan.source).side
    was, now, lent = (agreed_values(runs_of(one)) for one in (loan.old, loan.new, loan.source))
    keys = hyperparameter_keys(side.usage, side.round, side.benchmark, lent)
    other = sorted(key for key in keys if now.get(key) != lent.get(key))
    kept = [key for key in other if now.get(key) == was.get(key)]
    own = [key for key in other if now.get(key) != was.get(key)]
    if len(kept) == len(other) and all(now.get(key) == was.get(key) for key in keys):
        yield loan.finding("borrow.nothing", "No hyperparameter differs from what was submitted")
        return
    if kept:
        message = "Hyperparameters were kept, so the group is not replaced as a whole"
        yield loan.finding("borrow.group", message, _listed(kept, lent), _listed(kept, now))
    if own:
        same = side.batch_size is not None and side.batch_size == source.batch_size
        size = "that of the source" if same else "another than the source's"
        message = f"Hyperparameters are neither the source's nor those submitted; the batch size is {size}"
        yield loan.finding("borrow.extra", message, _listed(own, lent), _listed(own, now))
    if other:
        yield from _convergence(loan, source)


def _convergence(loan: Loan, source: EntrySide) -> Iterator[Finding]:
    """Who changes more than is borrowed may come as near as the source converges, not nearer."""
    new, one = loan.compared.new, source.convergence
    other = new.convergence
    if new.batch_size != source.batch_size or one.unit != other.unit or one.mean is None or other.mean is None:
        return
    if other.mean < one.mean:
        message = "With hyperparameters of its own the resubmission converges faster than the source"
        expected = f"at least {one.mean:.6g} {one.unit}, the mean of the source"
        yield loan.finding("borrow.convergence", message, expected, f"{other.mean:.6g}")


def _listed(keys: Sequence[str], values: Mapping[str, str]) -> str:
    return first_few([f"{key} {values.get(key, 'not logged')}"[:120] for key in keys], _SHOWN)


def _system(loan: Loan) -> Iterator[Finding]:
    changes = loan.compared.fields
    software = [change for change in changes if change.name in SOFTWARE]
    system = [change for change in changes if change.name not in (*SOFTWARE, *_SCALE, *_WORDS)]
    for rule, found, what in (("borrow.system", system, "system"), ("borrow.software", software, "software")):
        if found:
            shown = (
                first_few([f"{one.name}: {short_value(getattr(one, side), 80)}" for one in found], _SHOWN)
                for side in ("old", "new")
            )
            yield loan.finding(rule, f"The {what} is not that of the entry as submitted", *shown)


def _scale(loan: Loan, before: Reading) -> Iterator[Finding]:
    """Another number of nodes: allowed to the largest entry of a system alone, up to the largest scale it showed."""
    old, new = loan.compared.old.accelerators, loan.compared.new.accelerators
    if old is None or new is None or old == new:
        return
    same = [one for one in before.results if one.accelerator_model_name == loan.old.accelerator_model_name]
    shown = [(one.benchmark, one.accelerators_count) for one in same if one.accelerators_count]
    times = loan.compared.old.minutes, loan.compared.new.minutes
    reasons = []
    if new < old and not (times[0] and times[1] and times[1] < times[0]):
        reasons.append("The new scale is neither larger nor faster")
    if any(count > old for name, count in shown if name == loan.old.benchmark):
        reasons.append("The entry is not the largest of its system and benchmark, so its scale is fixed")
    if new > max(count for _, count in shown):
        reasons.append("No entry as submitted shows the system at this scale")
    for reason in reasons:
        yield loan.finding("borrow.scale", reason, f"{old} accelerators", str(new))
