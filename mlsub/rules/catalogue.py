"""The catalogue of rules that are not demands on one key, and findings made from it.

The rules of a room stand in its ``rules.yaml``, beside the code that finds them broken.

What is not part of the official verdict runs by :func:`isolated` or :func:`reviewed`: a defect in it cannot change the
verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mlsub.findings import Blocks, Effect, Finding, Kind, Severity
from mlsub.io.data import convert, shipped

#: The folders of mlsub/ with a ``rules.yaml``, those whose rules a check needs first.
ROOMS = (
    *("log", "submission", "systems", "convergence", "score", "review", "judge", "workspace"),
    *("config", "packing", "present", "commands"),
    *(f"commands/{name}" for name in ("audit", "compare", "fix", "merge", "review", "seal")),
    "rules",
)
#: How the ids of demands on keys begin, official ones and the user's own.
_DEMANDS = ("key", "house")
_PACKAGE = str(Path(__file__).parents[1] / "__init__.py")
#: How much of an error a finding shows.
_SHOWN = 200
Result = TypeVar("Result")

#: The command that makes mechanical repairs, as remedies name it; PATH is what was checked.
FIX = "mlsub fix PATH --write"


class RuleTexts(msgspec.Struct, frozen=True, kw_only=True):
    """What explains a rule, or of an aspect every rule: there ``title`` and ``example`` have places for its words.

    ``ask`` is what a reviewer asks about it, the end of a sentence that begins with the message.
    """

    title: str
    why: str
    fix: str
    example: str
    ask: str = ""


class RuleInfo(RuleTexts, frozen=True, kw_only=True):
    """What there is to know of one rule.

    Its ``id`` is never used again for another rule. ``severity`` and ``blocks`` are the usual ones of a finding of it;
    ``message`` and ``expected`` are what the finding says where the code that finds it says nothing else, and without a
    ``message`` it says the title.
    ``explains`` are patterns of rules: their findings in the same log or entry are consequences of this one, and are
    folded under it. No rule that explains is explained by another.

    ``room`` is the folder of mlsub/ whose ``rules.yaml`` holds it; ``effects`` are what else its findings do.
    """

    id: str
    room: str
    severity: Severity
    blocks: Blocks
    source: str
    kind: Kind = Kind.OFFICIAL
    message: str = ""
    expected: str | None = None
    explains: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()

    def explains_rule(self, rule: str) -> bool:
        """Whether findings of another rule are consequences of this one."""
        return any(fnmatchcase(rule, pattern) for pattern in self.explains)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, RuleInfo]:
    """Every rule of the catalogue by its id."""
    return {rule: info for room in ROOMS for rule in _rules_of(room) if (info := find_rule(rule)) is not None}


@cache
def _rules_of(room: str) -> dict[str, dict[str, Any]]:
    return shipped(_PACKAGE, f"{room}/rules.yaml", dict[str, dict[str, Any]])


@cache
def find_rule(rule: str) -> RuleInfo | None:
    """Return what there is to know of one rule, and None for a demand on a key: a check needs a few of the hundreds."""
    if rule.partition(".")[0] in _DEMANDS:
        return None
    room = next((room for room in ROOMS if rule in _rules_of(room)), None)
    return None if room is None else convert({"id": rule, "room": room, **_rules_of(room)[rule]}, RuleInfo)


@cache
def effects_of(rule: str) -> frozenset[Effect]:
    """Return what findings of a rule do; the checker of logs enforces each demand on a key."""
    if rule.startswith("key."):
        return frozenset({Effect.LOG_CHECKER})
    info = find_rule(rule)
    return frozenset(() if info is None else info.effects)


def has_effect(found: Finding, effect: Effect) -> bool:
    """Whether a finding has an effect, by its rule."""
    return effect in effects_of(found.rule)


def demanded_key(rule: str, *aspects: str) -> str | None:
    """Return the key whose demand an id is of, official or the user's own, in one of the aspects or in any.

    None for other ids. Aspects are such as ``count`` and ``value``.
    """
    family, _, rest = rule.partition(".")
    key, _, aspect = rest.rpartition(".")
    return key if family in _DEMANDS and (not aspects or aspect in aspects) else None


def finding(
    rule: str,
    path: str,
    message: str | None = None,
    *,
    line: int | None = None,
    expected: str | None = None,
    actual: str | None = None,
    fix: str | None = None,
    severity: Severity | None = None,
    blocks: Blocks | None = None,
    source: str | None = None,
) -> Finding:
    """A finding of a rule of the catalogue; what is not given is the rule's usual.

    Raises:
        KeyError: the catalogue has no such rule.
    """
    info = find_rule(rule)
    if info is None:
        raise KeyError(rule)
    return Finding(
        rule=rule,
        severity=info.severity if severity is None else severity,
        kind=info.kind,
        blocks=info.blocks if blocks is None else blocks,
        path=path,
        line=line,
        message=message or info.message or info.title,
        expected=info.expected if expected is None else expected,
        actual=actual,
        fix=info.fix if fix is None else fix,
        source=info.source if source is None else source,
    )


def find_causes(findings: Iterable[Finding]) -> dict[Finding, Finding]:
    """Return the findings that others explain, each with its cause.

    A cause lies in the same file, in a folder above it, or in the folder that the finding is on; it is no note.
    """
    found = list(findings)
    explaining = {one.rule: info for one in found if (info := find_rule(one.rule)) is not None and info.explains}
    if not explaining:
        return {}
    on: dict[str, dict[str, Finding]] = {}
    below: dict[str, dict[str, Finding]] = {}
    for cause in found:
        if cause.rule in explaining and cause.severity is not Severity.NOTE:
            on.setdefault(cause.path, {}).setdefault(cause.rule, cause)
            for folder in folders_above(cause.path):
                below.setdefault(folder, {}).setdefault(cause.rule, cause)
    causes: dict[Finding, Finding] = {}
    for one in found:
        near = (*(on.get(path, {}) for path in (one.path, *folders_above(one.path))), below.get(one.path, {}))
        for rule, cause in (item for place in near for item in place.items()):
            if explaining[rule].explains_rule(one.rule):
                causes[one] = cause
                break
    return causes


def folders_above(path: str) -> list[str]:
    """Return the folders that a path lies in, the nearest first; the last is the root of the report."""
    parts = path.split("/")
    return [*("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)), *([] if path == "." else ["."])]


def isolated(rule: str, path: str, work: Callable[[], Result], instead: Result) -> tuple[Result, tuple[Finding, ...]]:
    """What ``work`` returns, and no finding; where it raises, ``instead`` and the finding that says so.

    Args:
        rule: the id of the rule at work, or what is computed where several rules are.
        path: what is checked, relative to the report's root.
        work: what may fail.
        instead: the result in that case.
    """
    try:
        return work(), ()
    except Exception as error:
        return instead, (review_crashed(rule, path, error),)


def reviewed(rule: str, path: str, work: Callable[..., Iterable[Finding]], *of: Any) -> tuple[Finding, ...]:
    """The findings of a review rule; of one that raises, those before that, and the finding that says so."""
    found: list[Finding] = []
    try:
        found.extend(work(*of))
    except Exception as error:
        found.append(review_crashed(rule, path, error))
    return tuple(found)


def review_crashed(rule: str, path: str, error: Exception) -> Finding:
    """The finding on a review rule that raised."""
    return finding(
        "review.crashed",
        path,
        f"The review of {rule} failed to run; the official verdict does not depend on it",
        actual=f"{type(error).__name__}: {error}"[:_SHOWN],
    )
