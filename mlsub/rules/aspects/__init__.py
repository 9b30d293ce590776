"""The aspects of what is demanded of a key, each a class that compiles, tests, words and explains itself."""

from __future__ import annotations

from mlsub.rules.aspects.base import Aspect, CompiledKey
from mlsub.rules.aspects.records import AnyOfAspect, CountAspect, NestingAspect, OrderAspect, RepeatedAspect, TimeAspect
from mlsub.rules.aspects.values import MetadataAspect, TargetAspect, TensorsAspect, ValueAspect
from mlsub.rules.model import KeyRule

_IN_ORDER: tuple[type[Aspect], ...] = (
    *(CountAspect, RepeatedAspect, ValueAspect, MetadataAspect, OrderAspect),
    *(NestingAspect, TimeAspect, TargetAspect, TensorsAspect, AnyOfAspect),
)
#: Every aspect by its name, the last part of the rule ids ``key.<key>.<aspect>``.
ASPECTS = {aspect.name: aspect for aspect in _IN_ORDER}


def aspects_of(rule: KeyRule) -> tuple[Aspect, ...]:
    """The aspects that a rule demands."""
    return tuple(aspect(rule) for aspect in ASPECTS.values() if aspect.is_demanded(rule))


def compile_key(rule: KeyRule, place: int = 0) -> CompiledKey:
    """Compile the rule of one key."""
    aspects, occurs = aspects_of(rule), rule.occurs
    judges_all = not rule.key.startswith("submission_")
    tests = [(aspect.of_all or judges_all, *aspect.tests()) for aspect in aspects]
    return CompiledKey(
        rule=rule,
        aspects=aspects,
        tests=tuple(test for _, test, _ in tests if test is not None),
        later_tests=tuple(test for of_all, _, test in tests if test is not None and of_all),
        place=place,
        where=rule.where,
        counted=bool(occurs.once_where or occurs.at_least > 1 or rule.tensors or rule.gathers),
    )
