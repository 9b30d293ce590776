"""The search of this repository's own: inputs by number, steered by what they reach."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable

import msgspec

from tests.campaigns.fuzz.harness import Harness
from tests.campaigns.fuzz.mutate import mutated

#: One input in so many is measured, more as long as that finds something, and all children of the newest inputs.
_SAMPLE, _OFTEN = 32, 8
_NEWEST, _YOUNG, _RECENT = 8, 300, 3_000
#: The corpus holds no more inputs, nor bytes.
_MOST, _MOST_BYTES = 600, 2_000_000


class Kept(msgspec.Struct, frozen=True):
    """An input that reached something new; ``born`` is its number."""

    data: bytes
    born: int


class Search:
    """Draws input after input: the seeds first, then generated and mutated ones.

    Each depends on the seed of the search, its number, and the inputs kept before; so the same search draws the same
    inputs, also where it goes on in another process.

    Args:
        harness: what is attacked.
        seed: of the search.
        seeds: inputs to begin with.
        kept: inputs that reached something new, in order.
        reached: the steps that were reached.
    """

    def __init__(
        self,
        harness: Harness,
        seed: str,
        seeds: Iterable[bytes],
        kept: Iterable[Kept] = (),
        reached: Iterable[int] = (),
    ) -> None:
        self.harness = harness
        self.seed = seed
        self.seeds = tuple(seeds)
        self.kept = list(kept)
        self.reached = set(reached)

    def draw(self, number: int) -> tuple[bytes, bool]:
        """The input of a number, and whether what it reaches is to be measured."""
        if number < len(self.seeds):
            return self.seeds[number], True
        rng = random.Random(f"{self.seed}/{self.harness.name}/{number}")
        recent = bool(self.kept) and number - self.kept[-1].born < _RECENT
        sampled = number % (_OFTEN if recent else _SAMPLE) == 0
        if self.harness.generate is not None and rng.random() < 0.4:
            data = self.harness.generate(rng)[: self.harness.longest]
            return (self._mutated(data, rng) if rng.random() < 0.3 else data), sampled
        chance = rng.random()
        if self.kept and chance < 0.4:
            newest = rng.choice(self.kept[-_NEWEST:])
            return self._mutated(newest.data, rng), sampled or number - newest.born < _YOUNG
        if self.kept and chance < 0.85:
            return self._mutated(rng.choice(self.kept).data, rng), sampled
        return self._mutated(rng.choice(self.seeds), rng), sampled

    def _mutated(self, data: bytes, rng: random.Random) -> bytes:
        other = rng.choice(self.kept).data if self.kept else rng.choice(self.seeds)
        return mutated(data, self.harness.words, self.harness.longest, rng, other)

    def learn(self, data: bytes, number: int, steps: Collection[int]) -> None:
        """Keep an input that took steps which none before took."""
        if self.reached.issuperset(steps):
            return
        self.reached.update(steps)
        if number >= len(self.seeds):
            self.keep(data, number, steps)

    def keep(self, data: bytes, number: int, steps: Collection[int]) -> None:
        """Keep an input, whatever it reaches."""
        self.reached.update(steps)
        self.kept.append(Kept(data, number))
        while len(self.kept) > _MOST or sum(len(kept.data) for kept in self.kept) > _MOST_BYTES:
            older = range(len(self.kept) // 2 + 1)
            del self.kept[max(older, key=lambda at: len(self.kept[at].data))]
