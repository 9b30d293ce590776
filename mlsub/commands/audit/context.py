"""What else changed between two results besides the figure that a claim is about."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.facts import Facts, hyperparameters
from mlsub.commands.audit.model import Claim
from mlsub.commands.audit.names import results_in
from mlsub.commands.audit.verdict import Change
from mlsub.io.show import readable, show

#: Fields of a system description that are told where everything is asked for.
_FIELDS = (
    "system_name",
    "number_of_nodes",
    "accelerators_per_node",
    "accelerator_model_name",
    "host_processors_per_node",
    "framework",
    "other_software_stack",
)
#: Logged values that are measurements, not settings.
_MEASURED = frozenset(("throughput", "tracked_stats", "train_samples", "eval_samples", "train_checkpoint"))
_EVERYTHING = ("all",)


def changes(claim: Claim, world: World) -> tuple[Change, ...]:
    """What differs between the first two results of a claim, of the names that its context asks for."""
    named = results_in(claim.expr, world.file) if claim.expr else ()
    facts = [world.facts[name] for name in named[:2]]
    known = [one for one in facts if isinstance(one, Facts)]
    if not claim.context or len(known) < 2:
        return ()
    first, second = known
    names = tuple(_names(first, second)) if claim.context == _EVERYTHING else claim.context
    told = (Change(name=name, first=_value(first, name), second=_value(second, name)) for name in names)
    return tuple(change for change in told if change.first != change.second)


def _names(*both: Facts) -> Iterator[str]:
    yield from ("division", "epochs", *_FIELDS)
    keys = {key for facts in both for log in facts.logs for key in log.run.hyperparameters}
    yield from sorted(keys - _MEASURED)


def _value(facts: Facts, name: str) -> str:
    if name == "epochs":
        values = sorted({log.run.timeline.epochs for log in facts.logs if log.run.converged})
        return "-".join(str(value) for value in values) if any(values) else "not told"
    if name == "division":
        return facts.division or "not told"
    logged = hyperparameters(facts, name)
    if logged:
        return ", ".join(_plain(value) for value in logged[:5])
    return _plain(facts.description[name]) if name in facts.description else "not told"


def _plain(value: object) -> str:
    return readable(value) if isinstance(value, str) else show(value)
