"""What a training code must log and may log, in the order of a run, and whether a file of hyperparameters fits it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import yaml

from mlsub.commands.rules.table import Condition, OfBenchmark, benchmark_fields, describe, occurs_words, parts
from mlsub.convergence.curves import plan_of
from mlsub.convergence.reference import hyperparameters_of, reference_file, runs_of
from mlsub.divisions import CLOSED, DIVISIONS
from mlsub.findings import Finding, Severity, Verdict
from mlsub.io import MlsubError
from mlsub.io.documents import Pair, read_pairs
from mlsub.io.show import show
from mlsub.judge.keys import ELSEWHERE
from mlsub.judge.preflight import preflight
from mlsub.log.event import PLACE, STEPS, event_type, step_of
from mlsub.log.reading import usable_number
from mlsub.present.ci import CiReport, Outcome, part
from mlsub.rounds import Round
from mlsub.rules.aspects.base import DemandPart
from mlsub.rules.catalogue import finding
from mlsub.rules.formula import is_formula
from mlsub.rules.load import key_descriptions, rules_for
from mlsub.rules.model import KeyRule, RuleSet

_SEED_METADATA = ("file", "lineno")
_ONCE_A_SEED = "must be in every run of the entry that sorts after one with a seed"


class KeyLine(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a log.

    ``need`` is must or may, ``where`` the condition under which it is asked for, ``when`` how often; ``event_type``
    is as the event logger calls it; ``value`` and ``metadata`` say what must stand there; ``virtual`` means that no
    record has this key: it is put together from those of another one.
    """

    key: str
    step: str
    need: str
    where: str | None
    when: str
    event_type: str
    value: tuple[str, ...]
    metadata: tuple[str, ...]
    description: str
    source: str
    virtual: bool = False


class KeyList(OfBenchmark, frozen=True, kw_only=True):
    """Everything a training code of one benchmark logs."""

    SCHEMA: ClassVar[int] = 3

    log_format: str
    keys: tuple[KeyLine, ...]


def key_list(round_: Round, division: str, name: str) -> KeyList:
    """Return the keys of one benchmark's logs.

    Raises:
        KeyError: the round has no such benchmark.
    """
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay)
    lines = [_key_line(rule, rules, division) for rule in rules.every]
    lines += _seed_line(round_, division, {rule.key for rule in rules.rules})
    steps, conditions = list(STEPS), list(dict.fromkeys([None, *(line.where for line in lines)]))
    lines.sort(key=lambda line: (steps.index(line.step), conditions.index(line.where), PLACE.get(line.key, 0)))
    return KeyList(**benchmark_fields(round_, division, name), log_format=round_.log_format, keys=tuple(lines))


def _key_line(rule: KeyRule, rules: RuleSet, division: str) -> KeyLine:
    demands = parts(rule, division)
    # What this one benchmark and division must say, where the rule lists all of them.
    name = {"submission_benchmark": rules.benchmark, "submission_division": rules.division}.get(rule.key)
    if name:
        demands = tuple(DemandPart("value", f'exactly "{name}"') if one.options else one for one in demands)
    others = [key for group in rules.alternatives if rule.key in group for key in group if key != rule.key]
    need = "must" if rule.occurs.is_required else "may"
    if others and need == "may":
        need = f"must, unless {' and '.join(others)} {'are' if len(others) > 1 else 'is'} logged"
    once = rule.occurs.once_where
    hangs_on = once or rule.where
    return KeyLine(
        key=rule.key,
        step=step_of(rule.key),
        need=need,
        where=Condition(*hangs_on).words() if hangs_on else None,
        when="exactly once" if once else occurs_words(rule.occurs) if rule.occurs.is_required else "any number",
        event_type=event_type(rule.key),
        value=tuple(describe(part for part in demands if part.aspect not in ("count", "metadata"))),
        metadata=tuple(part.words for part in demands if part.aspect == "metadata"),
        description=key_descriptions().get(rule.key, ""),
        source=rule.origin,
        virtual=rule.gathers is not None,
    )


def _seed_line(round_: Round, division: str, known: set[str]) -> Iterator[KeyLine]:
    """Yield the seed of a Closed run: not a demand on one log, but on the runs of an entry together."""
    if round_.seeds == "unchecked" or not DIVISIONS[division].seeds or "seed" in known:
        return
    required = round_.seeds == "required"
    yield KeyLine(
        key="seed",
        step="hyperparameters",
        need="must" if required else "may",
        where=None,
        when="at least once" if required else "any number",
        event_type=event_type("seed"),
        value=("a whole number, another one in each run", *(() if required else (_ONCE_A_SEED,))),
        metadata=_SEED_METADATA,
        description=key_descriptions()["seed"],
        source="seed checker",
    )


class KeyCheck(OfBenchmark, frozen=True, kw_only=True):
    """The violations by the hyperparameters of a file.

    ``keys`` is how many the file has; ``still_to_log`` are the keys that the run has to log besides before its clock
    starts.
    """

    SCHEMA: ClassVar[int] = 2

    file: str
    keys: int
    findings: tuple[Finding, ...]
    still_to_log: tuple[str, ...]

    @property
    def errors(self) -> int:
        """The number of findings for which a run would be rejected."""
        return sum(one.severity is Severity.ERROR for one in self.findings)


def key_check(round_: Round, division: str, name: str, file: Path) -> KeyCheck:
    """Check a file of hyperparameters, YAML or JSON; a key without a value is missing.

    Raises:
        FileProblemsError: the file cannot be read.
    """
    pairs = read_pairs(file, kind="files of hyperparameters", top="the keys of a log and their values")
    pairs = tuple(one for one in pairs if one.value is not None)
    found = preflight(round_, division, name, pairs, str(file))
    sizes = [one for one in pairs if one.key == "global_batch_size" and division == CLOSED.name]
    return KeyCheck(
        **benchmark_fields(round_, division, name),
        file=str(file),
        keys=len(pairs),
        findings=(*found.findings, *(new for one in sizes for new in _uncovered(round_, name, one, str(file)))),
        still_to_log=found.still_to_log,
    )


def _uncovered(round_: Round, name: str, size: Pair, file: str) -> Iterator[Finding]:
    """Yield a batch size for which ``mlsub rcp plan`` asks for a new reference point."""
    with suppress(MlsubError):  # Nothing is compared where there is no reference.
        if (number := usable_number(size.value)) and plan_of(round_, name, number).how == "missing":
            expected, actual = "a reference point at this batch size or a larger one", f"{size.key} {show(number)}"
            yield finding("rcp.missing", file, line=size.line, expected=expected, actual=actual)


def template_of(round_: Round, division: str, name: str) -> str:
    """Return a file of hyperparameters to fill in, as YAML, with what rules and reference say of each in comments.

    A value that the rules fix is filled in; what only some runs log stands in a comment.
    """
    rules = rules_for(round_.usage, round_.name, division, name, round_.overlay).rules
    equal = [(rule.key, one.operand) for rule in rules for one in rule.value if one.operator == "equals"]
    fixed = {key: value for key, value in equal if not is_formula(value)}
    met = (None, *(Condition(key, value).words() for key, value in fixed.items()))
    file = reference_file(round_.usage, round_.ruleset, name)
    reference = {one.batch_size: hyperparameters_of(file, one.batch_size)[1] for one in runs_of(file)} if file else {}
    lines = [
        f"# Hyperparameters of {name}, {round_.title}, {division} division. Fill in the empty ones, then run",
        f"# mlsub rules keys {name} --round {round_.name} --division {division} --check FILE",
    ]
    after = {rule.key: set(rule.after) for rule in rules}
    left = [
        line
        for line in key_list(round_, division, name).keys
        if line.step == "hyperparameters" and line.key not in ELSEWHERE
    ]
    while left:
        # A file is read from the top: a key that has to come after another one waits for it.
        line = next(one for one in left if not {other.key for other in left} & after.get(one.key, set()))
        left.remove(line)
        must = line.need == "must" and line.where in met
        stated = {size: _as_yaml(of[line.key]) for size, of in reference.items() if line.key in of}
        by_size = [f"{value} at {size:.10g}" for size, value in stated.items()]
        values = by_size if len({*stated.values()}) > 1 else [*stated.values()][:1]
        need = "" if must else line.where or line.need.replace("may", "optional")
        about = [one for one in (need, *line.value, f"reference: {', '.join(values)}" if values else "") if one]
        value = f" {_as_yaml(fixed[line.key])}" if line.key in fixed else ""
        lines.append(f"{'' if must else '# '}{line.key}:{value}  # {'; '.join(about) or line.description}")
    return "\n".join(lines) + "\n"


def _as_yaml(value: Any) -> str:
    """Return a value as YAML in one line: 1.0e-06, where 1e-06 would be read as text."""
    return yaml.safe_dump(value, default_flow_style=True, width=1_000_000).removesuffix("...\n").strip()


def results_of(checked: KeyCheck) -> CiReport:
    """Return the same for CI: what a run would be rejected for counts."""
    of_file = part(
        f"{checked.file} ({checked.usage} v{checked.round} {checked.benchmark}, {checked.division})",
        checked.findings,
        lambda one: Outcome.COUNTS if one.severity is Severity.ERROR else Outcome.BESIDE,
        verdict=Verdict.REJECTED if checked.errors else Verdict.ACCEPTED,
        checked=[checked.file],
    )
    return CiReport("rules keys", (of_file,))
