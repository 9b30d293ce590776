"""The power measurements of an entry: their files, the energy they give, and what an auditor asks about them."""

from mlsub.score.energy.judge import judge_power
from mlsub.score.energy.score import Power, energy_result

__all__ = ["Power", "energy_result", "judge_power"]
