"""What a training code hands over, as a log can have it: values, and metadata in the words of benchmark and round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlsub.emit.errors import EmitError
from mlsub.rounds import Round, known_rounds
from mlsub.rules.load import rules_for
from mlsub.rules.model import Gathers, KeyRule, RuleSet

#: Lists and mappings within each other, and digits of a whole number, that the official parser reads for certain.
MOST_LEVELS, MOST_DIGITS = 100, 4000
_TOO_LARGE = 10**MOST_DIGITS


def plain_value(value: Any, level: int = 0) -> Any:
    """A value as JSON has it: numbers and arrays of numeric libraries become plain ones.

    Args:
        value: the value.
        level: in how many lists and mappings it stands.

    Raises:
        EmitError: it is nothing a log can hold.
    """
    if level > MOST_LEVELS:
        raise EmitError(f"a value in more than {MOST_LEVELS} lists and mappings cannot be logged: log what is in them")
    if isinstance(value, int) and not -_TOO_LARGE < value < _TOO_LARGE:
        raise EmitError(f"a number of more than {MOST_DIGITS} digits cannot be logged, as no parser reads it")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain_value(item, level + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item, level + 1) for item in value]
    for name in ("tolist", "item"):
        convert = getattr(value, name, None)
        if callable(convert):
            return plain_value(convert(), level + 1)
    raise EmitError(f"{type(value).__name__} cannot be logged: log a number, a text, or a list or mapping of them")


def check_samples(name: str, value: Any) -> int:
    """A number of samples, 1 or more.

    Raises:
        EmitError: it is something else, such as None.
    """
    found = check_whole(name, value, "a number of samples above 0")
    if found < 1:
        raise EmitError(f"{name} is {found}: give a number of samples above 0")
    return found


def check_whole(name: str, value: Any, wanted: str = "a whole number") -> int:
    """A count or a seed.

    Args:
        name: what the caller knows it as.
        value: a whole number, also one of a numeric library.
        wanted: what is asked for where it is none.

    Raises:
        EmitError: it is something else, such as None.
    """
    found: int = _number(name, value, int, f"give {wanted}")
    return found


def check_measure(name: str, value: Any) -> float:
    """The quality that an evaluation found.

    Args:
        name: the key or the measure.
        value: a number, also one of a numeric library, or NaN where the training has diverged.

    Raises:
        EmitError: it is something else, which would never reach the target.
    """
    found: float = _number(name, value, (int, float), "the quality of an evaluation is a number")
    return found


def _number(name: str, value: Any, kinds: type | tuple[type, ...], wanted: str) -> Any:
    found = plain_value(value)
    if isinstance(found, bool) or not isinstance(found, kinds):
        raise EmitError(f"{name} is {repr(found)[:80]}: {wanted}")
    return found


def check_status(status: str, round_: Round) -> None:
    """Refuse a submission_status that is missing or none of the round's.

    The rules of v4.1 and later no longer ask for it; the values of the last round that does are in use all the same.

    Raises:
        EmitError: it is; says which there are.
    """
    rounds = known_rounds(round_.usage, round_.overlay)
    for name in reversed(rounds[: rounds.index(round_.name) + 1]):
        rules = {rule.key: rule for rule in rules_for(round_.usage, name, None, None, round_.overlay).rules}
        if "submission_status" in rules:
            demand = rules["submission_status"].value[0]
            if not demand.test()(status, {}):
                what = f"{status!r} is not a submission_status" if status else "submission_status is missing"
                raise EmitError(f"{what}: give status=..., one of {', '.join(demand.operand)}")
            return


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


class MetadataRules:
    """The metadata of a rule set's keys.

    Args:
        rules: those of round, division and benchmark.
    """

    def __init__(self, rules: RuleSet) -> None:
        self._rules: dict[str, KeyRule] = {rule.key: rule for rule in rules.every}

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
            EmitError: the rules ask for what was not given, or a time is.
        """
        found = {NAMES.get(name, name): value for name, value in found.items() if value is not None}
        if "time_ms" in found:
            raise EmitError(f"{key} takes no time_ms: only an evaluation and run.stop() do")
        for names in self.demanded(key):
            if not any(name in found for name in names):
                words = _BLOCK_NAMES if key.startswith("block_") else WORDS
                how = " or ".join(f"give {words.get(name, name)}=..." for name in names)
                raise EmitError(f"{key} has to say {' or '.join(names)}: {how}")
        return dict(found)


def check_words(interval: str, metadata: Mapping[str, Any], clear: Mapping[str, str]) -> None:
    """Refuse the words that leave open whether the beginning of an interval or its size is meant.

    Raises:
        EmitError: one of them was given.
    """
    for word in clear.keys() & metadata.keys():
        raise EmitError(
            f"{interval}({word}=...) leaves open whether a position or a size is meant: the log holds the position at "
            f"which the {interval} begins, so give {clear[word]}=..."
        )
