"""Keys that a log or a list of hyperparameters has in place of those that the rules name."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice

from msgspec.structs import replace

from mlsub.convergence.reference import hyperparameters_of, reference_file
from mlsub.divisions import DIVISIONS
from mlsub.findings import Finding, Severity
from mlsub.io import MlsubError
from mlsub.io.show import show
from mlsub.log.event import before_run, step_of
from mlsub.log.run import Run
from mlsub.review.cadence import is_closed
from mlsub.rounds import Round
from mlsub.rules.aspects.records import CountAspect
from mlsub.rules.catalogue import demanded_key, finding
from mlsub.rules.load import key_descriptions, rules_for
from mlsub.rules.model import KeyRule
from mlsub.submission.model import LogReport

#: What a run logs before the clock beside its hyperparameters, once it knows it.
ELSEWHERE = frozenset(("seed", "train_samples", "eval_samples"))
#: Names as alike as this mean one key: momentum is opt_momentum, learning_rate is opt_base_learning_rate.
ALIKE = 0.7
#: In a log, other keys have meanings of their own.
_NEARLY = 0.92
#: Bounds for a hostile file: keys that are compared with those of the rules or reported as unknown, and their length.
MOST, LONGEST = 200, 80
_DIGITS = re.compile(r"\d+")


def suggest_keys(
    found: Sequence[Finding],
    unknown: Mapping[str, int | None],
    logged: Container[str] = (),
    least: float = ALIKE,
) -> list[Finding]:
    """Return findings, those of missing keys with the unknown key that stands for each.

    Args:
        found: what the rules say.
        unknown: the lines of keys that no rule names, None without a file.
        logged: keys that are not missing, whatever is wrong with them.
        least: how much alike two keys are that mean the same.
    """
    missing = {key: one for one in found if (key := missing_key(one)) and key not in logged}
    meant = meant_keys(unknown, missing, least)
    return [
        suggest(one, key, meant[key], unknown[meant[key]]) if (key := missing_key(one)) in meant else one
        for one in found
    ]


def suggest_keys_of(run: Run, found: Sequence[Finding], round_: Round, benchmark: str) -> list[Finding]:
    """Findings on a log, those of missing keys with the misspelt record that stands for each."""
    if not any(missing_key(one) for one in found):
        return list(found)
    return suggest_keys(found, _unknown(run, known_keys(round_, benchmark)), run.lines, _NEARLY)


def audit_keys(logs: Sequence[LogReport], round_: Round, benchmark: str) -> Iterator[Finding]:
    """Yield each key that an entry's logs have in place of an optional one that it nearly is."""
    known = known_keys(round_, benchmark)
    seen: set[str] = set()
    for log in logs:
        missing = {missing_key(one) for one in log.findings}
        for given, line in _unknown(log.run, known).items():
            close = [(_nearly(given, key), key) for key in known - log.run.lines.keys() - missing if before_run(key)]
            best, key = max(close, default=(0.0, ""))
            if best >= _NEARLY and given not in seen:
                seen.add(given)
                actual = f"{show(given)}: {show(log.run.hyperparameters.get(given))}"
                fix = f"If {key} is meant, rename the key."
                # Open may log what it likes.
                severity = None if is_closed(log.run) else Severity.NOTE
                yield finding(
                    "run.misspelt-key", log.path, line=line, expected=key, actual=actual, fix=fix, severity=severity
                )


def _unknown(run: Run, known: Collection[str]) -> dict[str, int]:
    """The keys of a run that no benchmark and no round has, with the lines of their first records."""
    keys = [key for key in run.lines if key not in known and key not in key_descriptions()]
    return {key: run.lines[key] for key in keys[:MOST]}


def known_keys(round_: Round, benchmark: str) -> frozenset[str]:
    """The keys that the rules of a benchmark name: what one division demands is a key in the other one too."""
    return ELSEWHERE.union(rule.key for name in DIVISIONS for rule in rules_of(round_, name, benchmark))


def hyperparameter_keys(round_: Round, benchmark: str) -> frozenset[str]:
    """Return the hyperparameters that the rules of a benchmark name, or its reference at the largest batch size."""
    file = reference_file(round_.usage, round_.ruleset, benchmark)
    try:
        stated = hyperparameters_of(file, math.inf)[1] if file is not None else {}
    except MlsubError:
        stated = {}
    return frozenset(key for key in known_keys(round_, benchmark).union(stated) if step_of(key) == "hyperparameters")


def rules_of(round_: Round, division: str, benchmark: str) -> Iterator[KeyRule]:
    """The official rules and the user's own."""
    for house in (False, True) if round_.overlay else (False,):
        yield from rules_for(round_.usage, round_.name, division, benchmark, round_.overlay, house=house).every


def missing_key(found: Finding) -> str | None:
    """The key that a finding says is missing, if it says so."""
    return demanded_key(found.rule, CountAspect.name)


def meant_keys(
    unknown: Mapping[str, int | None], missing: Mapping[str, Finding], least: float = ALIKE
) -> dict[str, str]:
    """Return the unknown key that stands for each missing one, the most alike first."""
    pairs = [(alike(given, key), key, given) for given in islice(unknown, MOST) for key in missing]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for ratio, key, given in sorted(pairs, key=lambda pair: -pair[0]):
        if ratio >= least and key not in found and given not in taken:
            found[key] = given
            taken.add(given)
    return found


def alike(given: str, key: str) -> float:
    """Return how much alike two keys are, from 0 to 1."""
    return SequenceMatcher(None, given[:LONGEST].lower().replace("-", "_"), key).ratio()


@lru_cache(maxsize=4096)
def _nearly(given: str, key: str) -> float:
    """How alike two keys are; those with different numbers are not."""
    return alike(given, key) if _DIGITS.findall(given[:LONGEST]) == _DIGITS.findall(key) else 0.0


def suggest(lacking: Finding, key: str, given: str, line: int | None) -> Finding:
    """Return the finding that a key is missing, with the one that stands for it."""
    return replace(lacking, line=line, actual=show(given), fix=f"Did you mean {key}? Rename the key.")
