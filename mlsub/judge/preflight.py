"""Violations by the hyperparameters of a run that is still to come: all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from mlsub.divisions import CLOSED, division_of
from mlsub.findings import Finding
from mlsub.io.documents import Pair
from mlsub.io.show import show
from mlsub.judge.keys import (
    ALIKE,
    ELSEWHERE,
    LONGEST,
    MOST,
    alike,
    known_keys,
    meant_keys,
    missing_key,
    rules_of,
    suggest,
)
from mlsub.judge.rules import LogRules
from mlsub.log.event import PLACE, Event, before_run, step_of
from mlsub.rounds import Round
from mlsub.rules.aspects.base import Flaw
from mlsub.rules.aspects.records import AnyOfAspect
from mlsub.rules.aspects.values import MetadataAspect, ValueAspect
from mlsub.rules.catalogue import demanded_key, finding
from mlsub.rules.model import KeyRule

_EDGES = frozenset(("init_start", "init_stop"))


class Preflight(msgspec.Struct, frozen=True):
    """What is wrong, and which keys the run has to log besides before its clock starts."""

    findings: tuple[Finding, ...]
    still_to_log: tuple[str, ...]


def preflight(
    round_: Round,
    division: str,
    benchmark: str,
    given: Sequence[Pair],
    path: str,
    stated: Mapping[str, Any] | None = None,
) -> Preflight:
    """All that is certain of a run with these hyperparameters, in the order of the file, and then what it lacks.

    A misspelled key is reported as the missing key that it stands for, and its value is checked as that key's.

    Args:
        round_: whose rules hold.
        division: ``closed`` or ``open``.
        benchmark: one of the round.
        given: the hyperparameters, each key once.
        path: what findings call the file.
        stated: what the run logs besides, whatever is given.
    """
    stated = {"submission_benchmark": benchmark, "submission_division": division, **(stated or {})}
    trial = _Trial(round_, division, benchmark, path, stated)
    usable = [one for one in given if before_run(one.key) and one.key not in _EDGES]
    names = {one.key: one.key for one in usable if one.key in trial.known}
    misspelt: list[Finding] = []
    while True:
        named = {names[one.key]: one for one in usable if one.key in names}
        unknown = [one for one in usable if one.key not in names]
        judged = trial.judge(named)
        missing = {key: one for one in judged if (key := missing_key(one)) and key not in named}
        lines = {one.key: one.line for one in unknown}
        meant = meant_keys(lines, missing)
        if not meant:
            break
        # A key that is understood may bring demands of its own: those of an optimizer, by its name.
        misspelt += [suggest(missing[key], key, one, lines[one]) for key, one in meant.items()]
        names.update({one: key for key, one in meant.items()})
    found = [
        *trial.contradicted(named),
        *misspelt,
        *(_as_given(one, named) for one in judged),
        *_numbers_as_text(named, judged, path),
        *_out_of_place(given, path),
        *_unknown(unknown, trial.known - named.keys() - stated.keys(), path),
    ]
    logged = named.keys() | stated.keys()
    return Preflight(
        tuple(sorted(found, key=lambda one: (one.line is None, one.line or 0))),
        tuple(key for key in trial.required if key not in logged and not _is_hyperparameter(key)),
    )


class _Trial:
    """A log without a run, of which the beginning is judged."""

    def __init__(self, round_: Round, division: str, benchmark: str, path: str, stated: Mapping[str, Any]) -> None:
        self._of = (round_, division_of(division), benchmark)
        self._path, self._stated = path, stated
        always = (rule for rule in rules_of(round_, division, benchmark) if rule.where is None)
        required = {rule.key for rule in always if rule.occurs.least and before_run(rule.key)}
        if division == CLOSED.name and round_.seeds == "required":
            required.add("seed")
        self.known = known_keys(round_, benchmark)
        self.required = sorted(required, key=lambda key: (PLACE.get(key, len(PLACE)), key))

    def judge(self, named: Mapping[str, Pair]) -> list[Finding]:
        """The violations of a log that begins with these hyperparameters, of official rules and the user's own.

        The line of a finding is the position of a hyperparameter in ``named``.
        """
        rules = LogRules(*self._of)
        for key, value in self._stated.items():
            rules.add((Event(time_ms=0.0, key=key, value=value, metadata={}),))
        for place, (key, one) in enumerate(named.items()):
            if key not in self._stated:
                rules.add((Event(time_ms=0.0, key=key, value=one.value, metadata={}, line=place),))

        def skip(rule: KeyRule, flaw: Flaw) -> bool:
            comes = rule.key not in named and not _is_hyperparameter(rule.key)
            return comes or flaw.aspect in (AnyOfAspect.name, MetadataAspect.name)

        return list(rules.findings(self._path, frozenset(), cut_off=False, skip=skip))

    def contradicted(self, named: Mapping[str, Pair]) -> Iterator[Finding]:
        """What is given otherwise than the run states it."""
        for key, value in self._stated.items():
            if key in named and named[key].value != value:
                yield finding(
                    "preflight.cannot-log",
                    self._path,
                    f"{key} is stated as something else by the run itself",
                    line=named[key].line,
                    expected=show(value),
                    actual=show(named[key].value),
                )


def _is_hyperparameter(key: str) -> bool:
    return step_of(key) == "hyperparameters" and key not in ELSEWHERE


def _as_given(found: Finding, named: Mapping[str, Pair]) -> Finding:
    """A finding with the line of the file, and what to do about a number that is text."""
    if found.line is None:
        return found
    one = list(named.values())[found.line]
    fix = _as_number(one) if demanded_key(found.rule, ValueAspect.name) else None
    return replace(found, line=one.line, fix=fix or found.fix)


def _numbers_as_text(named: Mapping[str, Pair], judged: Sequence[Finding], path: str) -> Iterator[Finding]:
    """Numbers that are text where no rule looks at the value."""
    refused = {demanded_key(one.rule, ValueAspect.name) for one in judged}
    for key, one in named.items():
        fix = _as_number(one) if _is_hyperparameter(key) else None
        if fix is not None and key not in refused:
            message = f"{key} is a number given as text"
            yield finding("preflight.number-as-text", path, message, line=one.line, actual=show(one.value), fix=fix)


def _as_number(one: Pair) -> str | None:
    """How to write a number that is text; None for anything else."""
    text = one.value
    try:
        number = isinstance(text, str) and float(text) is not None
    except ValueError:
        number = False
    if not number:
        return None
    shown = text[:LONGEST]
    return f"YAML reads {shown} as text; write {one.meant}." if one.meant else f"Write it as a number: {shown}"


def _out_of_place(given: Sequence[Pair], path: str) -> Iterator[Finding]:
    """Keys that a run logs when it comes to them."""
    for one in given:
        if one.key in _EDGES or not before_run(one.key):
            message = f"{one.key} is not a hyperparameter: a run logs it when it comes to that point"
            yield finding("preflight.cannot-log", path, message, line=one.line, actual=show(one.key))


def _unknown(unknown: Sequence[Pair], known: frozenset[str], path: str) -> Iterator[Finding]:
    """Keys that no rule names, with the optional key that each may stand for."""
    optional = [key for key in known if before_run(key) and key not in _EDGES]
    for one in unknown[:MOST]:
        ratio, key = max(((alike(one.key, key), key) for key in optional), default=(0.0, ""))
        if ratio >= ALIKE:
            fix = f"Did you mean {key}?"
            yield finding("preflight.misspelled", path, line=one.line, actual=show(one.key), expected=key, fix=fix)
        else:
            yield finding("preflight.unknown-key", path, line=one.line, actual=show(one.key))
    if len(unknown) > MOST:
        rest = unknown[MOST:]
        yield finding("preflight.unknown-key", path, line=rest[0].line, actual=f"{len(rest)} keys from here on")
