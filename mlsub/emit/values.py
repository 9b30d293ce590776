"""What a training code hands over, as a log can have it."""

from __future__ import annotations

from typing import Any

from mlsub.emit.errors import EmitError
from mlsub.rounds import Round, known_rounds
from mlsub.rules.load import common_rules

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


def samples(name: str, value: Any) -> int:
    """A number of samples, 1 or more.

    Raises:
        EmitError: it is something else, such as None.
    """
    found = whole_number(name, value, "a number of samples above 0")
    if found < 1:
        raise EmitError(f"{name} is {found}: give a number of samples above 0")
    return found


def whole_number(name: str, value: Any, wanted: str = "a whole number") -> int:
    """A count or a seed.

    Args:
        name: what the caller knows it as.
        value: a whole number, also one of a numeric library.
        wanted: what is asked for where it is none.

    Raises:
        EmitError: it is something else, such as None.
    """
    found = plain_value(value)
    if isinstance(found, bool) or not isinstance(found, int):
        raise EmitError(f"{name} is {_shown(found)}: give {wanted}")
    return found


def measure(name: str, value: Any) -> float:
    """The quality that an evaluation found.

    Args:
        name: the key or the measure.
        value: a number, also one of a numeric library, or NaN where the training has diverged.

    Raises:
        EmitError: it is something else, which would never reach the target.
    """
    found = plain_value(value)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise EmitError(f"{name} is {_shown(found)}: the quality of an evaluation is a number")
    return found


def _shown(value: Any) -> str:
    return repr(value)[:80]


def must_be_status(status: str, round_: Round) -> None:
    """Refuse a submission_status that is missing or none of the round's.

    The rules of v4.1 and later no longer ask for it; the values of the last round that does are in use all the same.

    Raises:
        EmitError: it is; says which there are.
    """
    rounds = known_rounds(round_.usage, round_.overlay)
    for name in reversed(rounds[: rounds.index(round_.name) + 1]):
        rules = {rule.key: rule for rule in common_rules(round_.usage, name, None, round_.overlay).rules}
        if "submission_status" in rules:
            demand = rules["submission_status"].value[0]
            if not demand.test()(status, {}):
                what = f"{status!r} is not a submission_status" if status else "submission_status is missing"
                raise EmitError(f"{what}: give status=..., one of {', '.join(demand.operand)}")
            return
