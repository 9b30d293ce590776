"""What changes from one round to another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import ClassVar

import msgspec

from mlsub.commands.rules.table import (
    BenchmarkLine,
    Condition,
    benchmark_line,
    condition_of,
    describe,
    package_facts,
    parts,
)
from mlsub.convergence.curves import reference_table
from mlsub.divisions import CLOSED, DIVISIONS
from mlsub.io import MlsubError
from mlsub.present.envelope import Answer
from mlsub.rounds import Round, find_benchmark, find_round, find_usage
from mlsub.rules.clauses import changes_between
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule

#: The benchmark key's closed list says again which benchmarks a round has.
_NAMES_BENCHMARKS = "submission_benchmark"


class Fact(msgspec.Struct, frozen=True):
    """Something that is said once of a round or benchmark, before and after."""

    name: str
    old: str
    new: str


class KeyChange(msgspec.Struct, frozen=True, kw_only=True):
    """A key whose demands change. ``change`` is added, removed or changed.

    ``old`` and ``new`` are all demands before and after, ``lines`` only what is different.
    """

    key: str
    where: Condition | None
    divisions: tuple[str, ...]
    change: str
    old: str | None
    new: str | None
    lines: tuple[str, ...]


class BenchmarkDiff(msgspec.Struct, frozen=True):
    """A benchmark of both rounds: what changes beyond what changes for every log."""

    name: str
    facts: tuple[Fact, ...]
    keys: tuple[KeyChange, ...]


class ClauseChange(msgspec.Struct, frozen=True):
    """A clause of the written rules, by its document, section and first words, that is new, changed or gone."""

    change: str
    document: str
    section: str
    words: str


class RoundDiff(Answer, frozen=True, kw_only=True):
    """What changes from one round to another; ``clauses`` not where one benchmark or division was asked for."""

    SCHEMA: ClassVar[int] = 3

    usage: str
    old: str
    new: str
    divisions: tuple[str, ...]
    facts: tuple[Fact, ...]
    benchmarks_added: tuple[BenchmarkLine, ...]
    benchmarks_removed: tuple[str, ...]
    common: tuple[KeyChange, ...]
    benchmarks: tuple[BenchmarkDiff, ...]
    unchanged: tuple[str, ...]
    clauses: tuple[ClauseChange, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing changes at all."""
        added_or_removed = self.benchmarks_added or self.benchmarks_removed
        return not (self.facts or added_or_removed or self.common or self.benchmarks or self.clauses)


#: A key's rule under the condition that it hangs on.
Keyed = dict[tuple[str, Condition | None], KeyRule]


def find_rounds(
    old: str, new: str, benchmark: str | None, usage: str | None, overlay: str | None
) -> tuple[Round, Round, str | None]:
    """Return the rounds to compare, and the name that they have for the benchmark.

    Raises:
        MlsubError: an unknown name, or a benchmark that neither round has.
    """
    name = None
    if benchmark is not None:
        newest, name = find_benchmark(benchmark, None, usage, overlay)
        usage = newest.usage
    of = find_usage(usage or "training")
    before, after = find_round(of, old, overlay), find_round(of, new, overlay)
    if name is not None and name not in (*before.benchmarks, *after.benchmarks):
        raise MlsubError(f"neither {of} {before.name} nor {after.name} has {name}")
    return before, after, name


def round_diff(old: Round, new: Round, benchmark: str | None = None, division: str | None = None) -> RoundDiff:
    """Return what changes from one round to another, in all benchmarks and divisions or in the one asked for."""
    divisions = (division,) if division else tuple(DIVISIONS)
    wanted = [name for name in dict.fromkeys((*new.benchmarks, *old.benchmarks)) if benchmark in (None, name)]
    both = [name for name in wanted if name in old.benchmarks and name in new.benchmarks]
    per_division = {of: _common_changes(old, new, of) for of in divisions}
    diffs = [_benchmark_diff(old, new, name, per_division) for name in both]
    written = changes_between(old.name, new.name) if new.usage == "training" and not (benchmark or division) else ()
    return RoundDiff(
        usage=new.usage,
        old=old.name,
        new=new.name,
        divisions=divisions,
        facts=tuple(_changed_facts(package_facts(old), package_facts(new))),
        benchmarks_added=tuple(benchmark_line(new, name) for name in wanted if name not in old.benchmarks),
        benchmarks_removed=tuple(name for name in wanted if name not in new.benchmarks),
        common=merge_divisions(per_division),
        benchmarks=tuple(diff for diff in diffs if diff.facts or diff.keys),
        unchanged=tuple(diff.name for diff in diffs if not (diff.facts or diff.keys)),
        clauses=tuple(ClauseChange(how, of.document, of.section, of.clause.title()) for how, of in written),
    )


def keyed(round_: Round, division: str, benchmark: str | None) -> Keyed:
    """Return the rules of a benchmark, or those of every log, by key and condition."""
    rules = rules_for(round_.usage, round_.name, division, benchmark, round_.overlay)
    return {(rule.key, condition_of(rule)): rule for rule in rules.every}


def _changed_facts(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Fact]:
    """Yield the facts that differ."""
    for name in dict.fromkeys((*after, *before)):
        was, now = before.get(name, "none"), after.get(name, "none")
        if was != now:
            yield Fact(name, was, now)


def _benchmark_diff(old: Round, new: Round, name: str, common: dict[str, list[KeyChange]]) -> BenchmarkDiff:
    """Return what changes for a benchmark beyond what changes for every log."""
    changes = {}
    for division, known in common.items():
        said = {(change.key, change.old, change.new) for change in known}
        changes[division] = [
            change
            for change in key_changes(keyed(old, division, name), keyed(new, division, name), division)
            if (change.key, change.old, change.new) not in said and change.key != _NAMES_BENCHMARKS
        ]
    facts = _changed_facts(*(_benchmark_facts(round_, name, common) for round_ in (old, new)))
    return BenchmarkDiff(name, tuple(facts), merge_divisions(changes))


def _benchmark_facts(round_: Round, name: str, divisions: Collection[str]) -> dict[str, str]:
    """Return what is said of a benchmark besides its keys: runs, targets, and reference points with their limits."""
    needs, found = benchmark_line(round_, name), {}
    found["runs of an entry"], found["runs that may be noncompliant"] = str(needs.runs), str(needs.forgiven)
    found |= {f"quality target ({of})": "; ".join(needs.targets[of]) or "none" for of in divisions}
    with suppress(MlsubError):  # Some rounds and benchmarks have no reference.
        table = reference_table(round_, name)
        for row in table.rows if CLOSED.name in divisions else ():
            words = f"mean {row.mean:,.10g} {table.unit}, accepted from {row.minimum:,.10g}"
            found[f"reference point at batch size {row.batch_size:,.10g}"] = words if row.kept else f"{words}; pruned"
    return found


def key_changes(before: Keyed, after: Keyed, division: str) -> list[KeyChange]:
    """Return the keys whose demands differ: those that stay in the order of the rules, then those that go."""
    changes = []
    for key, where in dict.fromkeys((*after, *before)):
        was, now = before.get((key, where)), after.get((key, where))
        lines = tuple(_differences(was, now, division)) if was and now else ()
        if was and now and not lines:
            continue  # A target that changes is reported as a fact of the benchmark.
        old, new = ("; ".join(describe(parts(rule, division), rule.warn_only)) if rule else None for rule in (was, now))
        changes.append(
            KeyChange(
                key=key,
                where=where,
                divisions=(),
                change="changed" if was and now else "added" if now else "removed",
                old=old,
                new=new,
                lines=lines or (new or f"was: {old}",),
            )
        )
    return changes


def _differences(before: KeyRule, after: KeyRule, division: str) -> Iterator[str]:
    """Yield what is different between two rules of one key, but for its target."""
    old, new = ([part for part in parts(rule, division) if part.aspect != "target"] for rule in (before, after))
    gone, come = [part for part in old if part not in new], [part for part in new if part not in old]
    lists = [part for part in (*gone, *come) if part.options and part.aspect == "value"]
    if len(lists) == 2 and lists[0] in gone and lists[1] in come:
        fewer, more = lists
        gone.remove(fewer)
        come.remove(more)
        if added := [name for name in more.options if name not in fewer.options]:
            yield f"now also allowed: {', '.join(added)}"
        if removed := [name for name in fewer.options if name not in more.options]:
            yield f"no longer allowed: {', '.join(removed)}"
    tensors = {part.words for part in gone if part.aspect == "tensors"} & {part.words for part in come}
    if tensors:
        yield "other names of tensors"
        gone = [part for part in gone if part.words not in tensors]
        come = [part for part in come if part.words not in tensors]
    was, now = "; ".join(describe(gone)), "; ".join(describe(come))
    if was:
        yield f"was: {was}" if now else f"no longer: {was}"
    if now:
        yield f"now: {now}" if was else f"now also: {now}"
    for aspect in dict.fromkeys((*before.warn_only, *after.warn_only)):
        if aspect not in after.warn_only:
            yield f"{aspect}: an error, no longer a mere warning"
        elif aspect not in before.warn_only:
            yield f"{aspect}: only a warning"


def merge_divisions(changes: dict[str, list[KeyChange]]) -> tuple[KeyChange, ...]:
    """Return the changes of all divisions, the same one in several of them as one."""
    found: dict[KeyChange, tuple[str, ...]] = {}
    for division, some in changes.items():
        for change in some:
            found[change] = (*found.get(change, ()), division)
    return tuple(msgspec.structs.replace(change, divisions=of) for change, of in found.items())


def _common_changes(old: Round, new: Round, division: str) -> list[KeyChange]:
    """Return what changes for every log of a division."""
    before, after = keyed(old, division, None), keyed(new, division, None)
    return [
        change
        for change in key_changes(before, after, division)
        if change.key != _NAMES_BENCHMARKS or not (_all_of(before, old) and _all_of(after, new))
    ]


def _all_of(rules: Keyed, round_: Round) -> bool:
    """Whether the list of benchmarks is that of the round: its change is reported once, by the benchmarks."""
    rule = rules.get((_NAMES_BENCHMARKS, None))
    return rule is None or any(constraint.operand == list(round_.benchmarks) for constraint in rule.value)
