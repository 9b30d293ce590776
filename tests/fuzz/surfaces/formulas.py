"""The formulas of rule files: text that becomes a checked tree and is computed over logged values."""

from __future__ import annotations

from typing import Any

from mlsub.rules.arithmetic import ExpressionError
from mlsub.rules.formula import MAX_BITS, UnknownValueError, parse
from tests.fuzz.harness import BrokenError, Harness

#: What a rule allows a formula to raise for the values of a log; constraints.py makes findings of them.
_ALLOWED = (UnknownValueError, ArithmeticError, ValueError, TypeError)
_VALUES: tuple[Any, ...] = (1, 0, -3, 0.5, float("inf"), float("nan"), 10**30, "text", True, None, [1], {"a": 1})


def _read(data: bytes) -> None:
    try:
        formula = parse.__wrapped__(data.decode("utf-8", "replace"))
    except ExpressionError:
        return
    for shift in range(3):
        values = {name: _VALUES[(at + shift) % len(_VALUES)] for at, name in enumerate(formula.names)}
        try:
            found = formula.compute(values)
        except _ALLOWED:
            continue
        if isinstance(found, int) and found.bit_length() > 2 * MAX_BITS:
            raise BrokenError(f"a number of {found.bit_length()} bits")
    formula.words()


_SEEDS = (
    b"global_batch_size",
    b"ceil(1_200_000 * 1152 / global_batch_size) - 8000",
    b"a if 1 < b <= 2e3 else 'text'",
    b"not (value % 2 == 0 or value // 3 != 1) and min(a, b) ** 2 > -1",
)
_WORDS = (b"ceil(", b"min(", b"max(", b"**", b"//", b"<=", b" if ", b" else ", b" and ", b"not ", b"9" * 40, b"1e400")

HARNESSES = (Harness("formulas", "formulas of rule files", _read, lambda: _SEEDS, _WORDS, longest=2_000, seconds=0.2),)
