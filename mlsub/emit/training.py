"""What a callback has to know of a training, the same for every framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from mlsub.emit.errors import EmitError
from mlsub.emit.values import samples

#: Hyperparameters by their keys in a log, or a function of the framework's trainer or model that makes them.
Hyperparameters = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
#: The metric that is the quality; for several measures their metrics by name; or a function of all metrics.
Quality = str | Mapping[str, str] | Callable[[Mapping[str, Any]], Any]
_MOST_NAMES = 20


class Position(NamedTuple):
    """How far a training has come: epochs (a whole number at the end of one), samples seen, optimizer steps."""

    epoch: float
    samples: int
    step: int


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """The description of one training, from which a callback records it.

    Args:
        hyperparameters: by their keys in the log, or a function of the framework's object that makes them: Lightning's
            trainer, the Hugging Face training arguments, the Keras model.
        quality: the name of the metric as the framework logs it, such as ``val_accuracy``; where a benchmark has
            several measures, a mapping from measure to metric; or a function of all metrics.
        train_samples: of the training data set.
        evaluation_samples: of the data set that is evaluated.
        batch_size: samples of one optimizer step in all processes together.
        seed: of the run; None to draw one.
        done: whether a quality is good enough to stop; by default it is where the target of the rules is reached.
        progress: makes the metadata of a position, where the rules' own words will not do.

    Raises:
        EmitError: a number of samples is not a whole number above 0.
    """

    hyperparameters: Hyperparameters
    quality: Quality
    train_samples: int
    evaluation_samples: int
    batch_size: int
    seed: int | None = None
    done: Callable[[Any], bool] | None = None
    progress: Callable[[Position], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        for name in ("train_samples", "evaluation_samples", "batch_size"):
            msgspec.structs.force_setattr(self, name, samples(name, getattr(self, name)))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that make up the quality; none are known where a function finds it."""
        if isinstance(self.quality, Mapping):
            return tuple(self.quality.values())
        return (self.quality,) if isinstance(self.quality, str) else ()

    def quality_of(self, found: Mapping[str, Any]) -> Any:
        """The quality among the metrics of an evaluation: a number, or the measures by name.

        Raises:
            EmitError: it is not among them.
        """
        if not isinstance(self.quality, (str, Mapping)):
            return self.quality(found)
        lacking = [name for name in self.metrics if name not in found]
        if lacking:
            raise no_metric(lacking[:1], found)
        if isinstance(self.quality, str):
            return found[self.quality]
        return {measure: found[name] for measure, name in self.quality.items()}


def no_metric(wanted: Iterable[str], found: Iterable[Any]) -> EmitError:
    """The error for an evaluation that lacks a metric, with those that it has."""
    every = sorted(set(map(str, found)))
    shown = ", ".join(every[:_MOST_NAMES]) or "none"
    more = f" and {len(every) - _MOST_NAMES} more" if len(every) > _MOST_NAMES else ""
    return EmitError(f"no metric is called {' or '.join(map(repr, wanted))}; the evaluation has {shown}{more}")
