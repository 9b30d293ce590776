"""Check a resubmission against the rules on borrowing hyperparameters during review.

MLPerf training rules, "Hyperparameter Borrowing": once per entry, another submitter's hyperparameters of the same
benchmark replace one's own as a group; the batch size (local, global, batch normalisation span) may stay or change;
software, system and configuration stay as submitted. No file says whether it is the review period, and the first time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from mlsub.commands.compare.model import Comparison, PairComparison
from mlsub.commands.compare.reading import ComparedSide, entry_name, read_side
from mlsub.commands.compare.trainings import compare_sides, match
from mlsub.divisions import CLOSED
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.show import first_few
from mlsub.log.changes import agreed_values
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import rules_for
from mlsub.score.difference.measure import MeasuredEntry, measure, runs_of
from mlsub.score.difference.words import short_value
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
    before, after, lender = (read_side(path, context, intervals=True) for path in (old, new, source))
    pairs = match(before, after, forced)
    found = compare_sides(before, after, pairs)
    findings: list[Finding] = []
    for (one, other), compared in zip(pairs, found.pairs, strict=True):
        if len(pairs) > 1 and _is_unchanged(one, other):
            continue
        lent = _find_source(lender, other)
        if lent is None:
            message, expected = "The source has no entry of this benchmark", other.benchmark
            findings.append(finding("borrow.benchmark", other.path, message, expected=expected, actual="none"))
            continue
        loan = Loan(one, other, lent, compared)
        findings += [*_check_loan(loan), *_check_scale(loan, before)]
    if not findings and all(_is_unchanged(*pair) for pair in pairs):
        findings.append(finding("borrow.nothing", ".", "No hyperparameter differs from what was submitted"))
    return msgspec.structs.replace(found, purpose="borrow", findings=tuple(dict.fromkeys(findings)))


def _is_unchanged(one: Result, other: Result) -> bool:
    """Whether an entry logs what it logged before; in a package most do."""
    return agreed_values(runs_of(one)) == agreed_values(runs_of(other))


def _find_source(lender: ComparedSide, entry: Result) -> Result | None:
    """The entry of the same benchmark that the source has; None where it has none.

    Raises:
        MlsubError: it has several.
    """
    results = [known for known in lender.results if known.benchmark_name == entry.benchmark_name]
    if len(results) > 1:
        names = ", ".join(map(entry_name, results[:5]))
        several = f"--from {lender.path} has {len(results)} entries of {entry.benchmark}: {names}"
        raise MlsubError(f"{several}. Name the benchmark's folder of one.")
    return results[0] if results else None


def _check_loan(loan: Loan) -> Iterator[Finding]:
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
    yield from _check_group(loan)
    yield from _check_system(loan)


def hyperparameter_keys(round_: Round, benchmark: str, values: Mapping[str, str]) -> frozenset[str]:
    """Return the hyperparameters of a benchmark: what its own rules in Closed name, the batch size aside.

    Args:
        round_: the round.
        benchmark: the benchmark.
        values: those of the entry that is borrowed from, as JSON; of several optimizers the keys of its own count.
    """
    if benchmark not in round_.benchmarks:
        return frozenset()
    common, rules = (
        rules_for(round_.usage, round_.name, CLOSED.name, name, round_.overlay) for name in (None, benchmark)
    )
    used = [rule for rule in rules.variants if rule.where and values.get(rule.where[0]) == json.dumps(rule.where[1])]
    every = {rule.key for rule in (*rules.rules, *(used or rules.variants))}
    return frozenset(every - {rule.key for rule in common.rules} - _NONE - FREE)


def _check_group(loan: Loan) -> Iterator[Finding]:
    """Whether all hyperparameters are the source's: those that are not were kept, or changed to something else."""
    new, source = loan.compared.new, measure(loan.source)
    was, now, lent = (agreed_values(runs_of(one)) for one in (loan.old, loan.new, loan.source))
    keys = hyperparameter_keys(loan.new.rules, loan.new.benchmark, lent)
    other = sorted(key for key in keys if now.get(key) != lent.get(key))
    kept = [key for key in other if now.get(key) == was.get(key)]
    own = [key for key in other if now.get(key) != was.get(key)]
    if len(kept) == len(other) and all(now.get(key) == was.get(key) for key in keys):
        yield loan.finding("borrow.nothing", "No hyperparameter differs from what was submitted")
        return
    if kept:
        message = "Hyperparameters were kept, so the group is not replaced as a whole"
        yield loan.finding("borrow.group", message, _list_values(kept, lent), _list_values(kept, now))
    if own:
        same = new.batch_size is not None and new.batch_size == source.batch_size
        size = "that of the source" if same else "another than the source's"
        message = f"Hyperparameters are neither the source's nor those submitted; the batch size is {size}"
        yield loan.finding("borrow.extra", message, _list_values(own, lent), _list_values(own, now))
    if other:
        yield from _check_convergence(loan, source)


def _check_convergence(loan: Loan, source: MeasuredEntry) -> Iterator[Finding]:
    """Whether a resubmission with changes of its own converges faster than the source at the same batch size."""
    new, theirs = loan.compared.new, source.convergence
    ours = new.convergence
    if new.batch_size != source.batch_size or ours.unit != theirs.unit or ours.mean is None or theirs.mean is None:
        return
    if ours.mean < theirs.mean:
        message = "With hyperparameters of its own the resubmission converges faster than the source"
        expected = f"at least {theirs.mean:.6g} {theirs.unit}, the mean of the source"
        yield loan.finding("borrow.convergence", message, expected, f"{ours.mean:.6g}")


def _list_values(keys: Sequence[str], values: Mapping[str, str]) -> str:
    return first_few([f"{key} {values.get(key, 'not logged')}"[:120] for key in keys], _SHOWN)


def _check_system(loan: Loan) -> Iterator[Finding]:
    """Whether the description is that of the entry as submitted, software apart from the rest."""
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


def _check_scale(loan: Loan, before: ComparedSide) -> Iterator[Finding]:
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
