"""How far a training has come, in the words that benchmark and round ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlsub.emit.errors import EmitError
from mlsub.rules.model import Gathers, KeyRule, RuleSet

#: What a training code calls it, and the metadata that says it at a point in time.
NAMES = {"epoch": "epoch_num", "samples": "samples_count", "step": "step_num"}
#: The other way round.
WORDS = {name: word for word, name in NAMES.items()}
#: The words of a block, which has a place and a size, beside those that would leave open which is meant.
BLOCK_WORDS = {"epoch": "first_epoch", "samples": "samples_so_far", "step": "steps_so_far"}
# epochs= counts only beside first_epoch=, and has a default.
_BLOCK_NAMES = {
    "first_epoch_num": "first_epoch",
    "epoch_count": "first_epoch",
    "samples_count": "samples_so_far",
    "step_num": "steps_so_far",
}


class Units:
    """The metadata of a rule set's keys.

    Args:
        rules: those of round, division and benchmark.
    """

    def __init__(self, rules: RuleSet) -> None:
        every = [*rules.rules, *(rule for variant in rules.variants for rule in variant.rules)]
        self._rules: dict[str, KeyRule] = {rule.key: rule for rule in every}

    def demanded(self, key: str) -> tuple[tuple[str, ...], ...]:
        """The metadata a key must have, whatever else it has: one of each group of names."""
        rule = self._rules.get(key)
        entries = rule.metadata if rule else ()
        return tuple(entry.names for entry in entries if not entry.optional and entry.when is None)

    @property
    def target(self) -> KeyRule | None:
        """The rule of the quality target, None without one."""
        return next((rule for rule in self._rules.values() if rule.reaches), None)

    @property
    def gathers(self) -> Gathers | None:
        """How the measures of the target are put together where each has a record of its own."""
        return self.target.gathers if self.target is not None else None

    @property
    def quality_key(self) -> str:
        """The key under which the quality of an evaluation is logged."""
        rule = self.gathers or self.target
        return rule.key if rule is not None else "eval_accuracy"

    def metadata(self, key: str, found: Mapping[str, Any]) -> dict[str, Any]:
        """The metadata of one record, by the words of a training code or by their names in a log.

        Args:
            key: of the record.
            found: ``epoch``, ``samples`` and ``step`` become what the log calls them; None is left out.

        Raises:
            EmitError: the rules ask for what was not given.
        """
        found = {NAMES.get(name, name): value for name, value in found.items() if value is not None}
        for names in self.demanded(key):
            if not any(name in found for name in names):
                words = _BLOCK_NAMES if key.startswith("block_") else WORDS
                how = " or ".join(f"give {words.get(name, name)}=..." for name in names)
                raise EmitError(f"{key} has to say {' or '.join(names)}: {how}")
        return dict(found)


def only_words(interval: str, metadata: Mapping[str, Any], clear: Mapping[str, str]) -> None:
    """Refuse the words that leave open whether the beginning of an interval or its size is meant.

    Raises:
        EmitError: one of them was given.
    """
    for word in clear.keys() & metadata.keys():
        raise EmitError(
            f"{interval}({word}=...) leaves open whether a position or a size is meant: the log holds the position at "
            f"which the {interval} begins, so give {clear[word]}=..."
        )
