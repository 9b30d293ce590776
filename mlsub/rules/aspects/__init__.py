"""The aspects of what is demanded of a key, each a class that compiles, tests, words and explains itself."""

from __future__ import annotations

from mlsub.rules.aspects.base import Aspect, CompiledKey
from mlsub.rules.aspects.content import Metadata, Value
from mlsub.rules.aspects.count import AnyOf, Count, Repeated
from mlsub.rules.aspects.course import Nesting, Order, Time
from mlsub.rules.aspects.quality import Target, Tensors
from mlsub.rules.model import KeyRule

#: Every aspect by its name, the last part of the rule ids ``key.<key>.<aspect>``.
ASPECTS: dict[str, type[Aspect]] = {
    aspect.name: aspect for aspect in (Count, Repeated, Value, Metadata, Order, Nesting, Time, Target, Tensors, AnyOf)
}


def aspects_of(rule: KeyRule) -> tuple[Aspect, ...]:
    """The aspects that a rule demands."""
    return tuple(aspect(rule) for aspect in ASPECTS.values() if aspect.is_demanded(rule))


def compile_key(rule: KeyRule) -> CompiledKey:
    """Compile the rule of one key."""
    aspects = aspects_of(rule)
    tests = [(aspect.of_all, test) for aspect in aspects if (test := aspect.test()) is not None]
    only_first = rule.key.startswith("submission_")
    return CompiledKey(
        rule=rule,
        aspects=aspects,
        tests=tuple(test for _, test in tests),
        later_tests=tuple(test for of_all, test in tests if of_all or not only_first),
    )
