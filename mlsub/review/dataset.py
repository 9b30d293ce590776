"""Audit of data set sizes: do train_samples and eval_samples fit the benchmark's data set?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log.reading import usable_number
from mlsub.log.run import Run
from mlsub.review.facts import batch_size, fact_of, grouped, is_closed
from mlsub.rules.catalogue import finding

_KEYS = ("train_samples", "eval_samples")


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sizes that are right, others that have a known reason, or why nothing is said."""

    sizes: list[int] = []
    also: dict[int, str] = {}
    silent: str | None = None


class DataSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark's data set from a round on; dataset.yaml says what each field means."""

    since: str
    source: str
    train_samples: Size
    eval_samples: Size
    counts_batches: str | None = None


def _data_sets() -> dict[str, dict[str, list[DataSet]]]:
    return shipped(__file__, "dataset.yaml", dict[str, dict[str, list[DataSet]]])


def audit_dataset(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield logged sizes that are not the data set's. Open may train on other data, but is evaluated on the same."""
    data = fact_of(run, usage, round_, _data_sets)
    if data is None:
        return
    for key in _KEYS if is_closed(run) else _KEYS[1:]:
        size: Size = getattr(data, key)
        value = usable_number(run.hyperparameters.get(key))
        if value is None or size.silent is not None or not size.sizes:
            continue
        if value not in size.also and not any(_fits(key, value, n, run, data) for n in size.sizes):
            yield finding(
                f"run.{key.replace('_', '-')}",
                path,
                f"{key} is not the size of the benchmark's data set",
                line=run.lines.get(key),
                expected=_sizes(size),
                actual=grouped(value),
                source=data.source,
            )


def _fits(key: str, value: float, size: int, run: Run, data: DataSet) -> bool:
    """Equal, or rounded to whole batches: either way in training, and only up in evaluation."""
    batch: Any = batch_size(run)
    if value == size or batch is None:
        return value == size
    least = size - batch if key == "train_samples" else size
    if least < value < size + batch:
        return True
    batches = size / batch
    return data.counts_batches is not None and value in (math.floor(batches), math.ceil(batches))


def _sizes(size: Size) -> str:
    return " or ".join(grouped(n) for n in size.sizes)
