"""The tree a submission is expected to have, path by path."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mlsub.rounds import get_round
from mlsub.rules.load import benchmark
from mlsub.submission.layout.audit import CODE_USAGES
from mlsub.submission.layout.templates import template_words


class PlannedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry to be: one benchmark on one system by one implementation.

    ``scaling_type`` is ``strong`` or ``weak`` in HPC, where it is needed, and None elsewhere. ``power`` says that
    energy is to be measured.
    """

    system: str
    benchmark: str
    implementation: str
    scaling_type: str | None = None
    power: bool = False


class ExpectedPath(msgspec.Struct, frozen=True):
    """A path relative to the organisation's folder (folders end in ``/``), and a word on what belongs there."""

    path: str
    word: str


def expected_tree(usage: str, round_: str, entries: Sequence[PlannedEntry]) -> tuple[ExpectedPath, ...]:
    """What the submission rules ask for, in the order of the tree, each path once.

    The source is the directory structure for Training and HPC in MLCommons' submission rules.

    Raises:
        mlsub.rounds.MlsubError: there is no such usage or round.
        ValueError: the round has no such benchmark; an entry of HPC does not say how it scales, or another one does.
    """
    rules = get_round(usage, round_)
    for entry in entries:
        if entry.benchmark not in rules.benchmarks:
            raise ValueError(f"{rules.title} has no benchmark {entry.benchmark}")
        if (entry.scaling_type is not None) != rules.scaling_folders:
            raise ValueError(f"{rules.title} needs {'a' if rules.scaling_folders else 'no'} scaling type")
    expected: dict[str, str] = {}
    for entry in entries:
        expected[f"systems/{entry.system}.json"] = "describes the system"
    if usage in CODE_USAGES:
        for entry in entries:
            expected |= _code(entry)
    for entry in entries:
        folder = "/".join(filter(None, ("results", entry.system, entry.scaling_type, entry.benchmark)))
        for run in range(benchmark(usage, rules.name, entry.benchmark).runs):
            expected[f"{folder}/result_{run}.txt"] = "log of a run"
            if entry.power:
                expected[f"{folder}/power/result_{run}/"] = "power of that run: node_<j>.txt, sw_<k>.txt"
    return tuple(ExpectedPath(path, word) for path, word in expected.items())


def _code(entry: PlannedEntry) -> dict[str, str]:
    folder = f"benchmarks/{entry.benchmark}"
    own = f"{folder}/{entry.system}"
    paths = {f"{folder}/implementations/{entry.implementation}/": "the code that ran"}
    paths |= {f"{own}/{name}": word for name, word in template_words().items()}
    paths[f"{own}/{entry.system}_{entry.implementation}.json"] = "how the system used the implementation"
    return paths
