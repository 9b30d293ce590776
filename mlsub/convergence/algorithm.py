"""How the RCP test of a round's day computes."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

from mlsub.io.data import shipped
from mlsub.log.reading import Manner
from mlsub.rounds import Round, known_rounds


class Algorithm(msgspec.Struct, frozen=True):
    """The variant of the test; the fields are told in algorithms.yaml."""

    stdev: Literal["trimmed", "full"]
    pruning: Literal["none", "minimum", "mean"]
    normalise: bool
    name: Literal["folder", "logs"]
    unstopped: Literal["left_out", "counted"]
    earlier: tuple[tuple[str, float], ...] = ()
    evaluations: Literal["accuracy", "error_first", "either"] = "either"
    stop: Literal["text", "key"] = "key"
    samples: tuple[str, ...] = ()
    step: str = "samples_count"

    @property
    def manner(self) -> Manner:
        """How the checker of the round reads a log."""
        return Manner(self.evaluations, self.stop, self.name == "logs", frozenset(self.samples), self.step)


@lru_cache(maxsize=32)
def algorithm_of(usage: str, round_name: str, overlay: str | None = None) -> Algorithm | None:
    """The variant of a round, be it one that an overlay file adds; None where the round had no such test."""
    table = _table().get(usage) or {}
    rounds = known_rounds(usage, overlay)
    earlier = [name for name in rounds[: rounds.index(round_name) + 1] if name in table]
    return table[earlier[-1]] if earlier else None


@lru_cache(maxsize=32)
def manner_of(usage: str, round_name: str, overlay: str | None = None) -> Manner:
    """How the checker of a round reads a log; as that of the newest round does where the round had no such test."""
    return (algorithm_of(usage, round_name, overlay) or newest_algorithm()).manner


def newest_algorithm() -> Algorithm:
    """The variant of the newest round."""
    return list((_table()["training"] or {}).values())[-1]


def _table() -> dict[str, dict[str, Algorithm] | None]:
    return shipped(__file__, "algorithms.yaml", dict[str, dict[str, Algorithm] | None])


#: Benchmarks whose evaluations are counted in samples; all others count epochs. Source: the official rcp_checker.
_IN_SAMPLES = frozenset(
    (
        *("llama2_70b_lora", "flux1", "llama31_405b", "llama31_8b", "gpt_oss_20b", "deepseekv3_671b"),
        *("qwen35_397b_grpo", "dlrmv4"),
        "verses",
    )
)
#: Minigo makes its own data, and was never held against a reference.
_NEVER_TESTED = frozenset(("minigo",))


def unit_of(benchmark: str) -> str:
    """The metadata of an evaluation that says how far the training has come."""
    return "samples_count" if benchmark in _IN_SAMPLES else "epoch_num"


def unit_words(benchmark: str, round_: Round) -> str:
    """What the reference points of a benchmark count in a round, in words: epochs, samples, steps or tokens."""
    since = shipped(__file__, "units.yaml", dict[str, dict[str, str] | None]).get(benchmark) or {}
    rounds = known_rounds(round_.usage, round_.overlay)
    earlier = [name for name in rounds[: rounds.index(round_.name) + 1] if name in since]
    return since[earlier[-1]] if earlier else "epochs"


def is_tested(benchmark: str) -> bool:
    """Whether Closed entries of the benchmark are held against a reference."""
    return benchmark not in _NEVER_TESTED
