"""The power measurements of an entry: how they lie, the energy they come to, and what an auditor asks of them."""

from mlsub.score.energy.judge import judge_power
from mlsub.score.energy.score import Power, energy_result

__all__ = ["Power", "energy_result", "judge_power"]
