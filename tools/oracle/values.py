"""Values for logs: some that hold a constraint, many that do not, and those just beside the border."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from mlsub.rules.constraints import Constraint
from mlsub.rules.formula import Values, is_formula, parse
from mlsub.rules.model import KeyRule, MetadataEntry, Reach

#: What a log may hold instead of a sensible value; JSON texts that json.dumps cannot write are RAW_VALUES.
NASTY: tuple[Any, ...] = (
    *(None, "", True, False, 0, -1, 1, 2, 0.0001, 1e-9, 0.5, 1.0, 0.999, 1e308),
    *(math.nan, math.inf, -math.inf, "text", "0.9", "NaN", " ", "None"),
    *([], [1], [40, 50], [None], {}, {"BBOX": 0.4, "SEGM": 0.4}, {"BBOX": "x"}, {"value": 1}, [[1, 2], [3]]),
    *(2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**20),
)

_PATHS = ("../training_1.0.0/closed", "../training_1.1.0/open", "closed/../open", "/closed", "..", ".", "{}", "{0}")
#: What keys may say that choose rules, or by which records are told apart, and what looks like it.
CHOICES: dict[str, tuple[Any, ...]] = {
    "submission_division": (
        *("closed", "open", "Closed", "OPEN", "closed ", "", "network", None, 1, ["closed"], {"closed": 1}, True),
        *("common", *_PATHS),
    ),
    "submission_benchmark": (
        *("resnet", "ssd", "maskrcnn", "bert", "dlrm", "rnnt", "unet3d", "minigo", "gpt3", "stable_diffusion", "gnn"),
        *("llama2_70b_lora", "llama31_8b", "rgat", "retinanet", "dlrm_dcnv2", "deepcam", "openfold", "transformer"),
        *("flux1", "common", "resnet_sgd", "RESNET", "bert ", "", None, 1, ["bert"], "digits", *_PATHS),
    ),
    "submission_status": (
        *("cloud", "onprem", "preview", "research", "available", "Cloud", "on-prem", "", None, ["cloud"], 0, 1),
    ),
    "submission_org": ("Example", "example", "", None, 1, ["Example"]),
    "submission_platform": ("Example", "example", "", None, 1, {"a": 1}),
    "opt_name": (
        *("sgd", "lars", "lamb", "LAMB", "AdamW", "adamw", "adam", "SGD", "", None, ["sgd"], {"sgd": 1}, 1, True),
    ),
}
#: Where a run passes from one phase to the next.
PHASES = (
    *("init_start", "init_stop", "run_start", "run_stop", "epoch_start"),
    *("eval_start", "eval_accuracy", "eval_error", "eval_stop"),
)

#: JSON texts, valid and not, that only differ in how they are written, or that parsers take differently.
RAW_VALUES: tuple[str, ...] = (
    *("1" * 5000, "-" + "9" * 4300, "1e400", "-1e400", "1E0", "-0", "-0.0", "01", "+1", "1.", ".5", "1e", "0x10"),
    *("nan", "inf", "True", "None", "'text'", "undefined", "", "-", "-NaN", "- 1"),
    *(r'"\ud800"', r'"\udc00\ud800"', '"a\tb"', '"a\x00b"', r'"\x41"', r'"\u12"', '"\x7f\x80\xff"', '"\xc3\xa9"'),
    *(r'"\u0063losed"', '"unfinished', "[1,]", '{"a":1,}', '{"BBOX":0.4,"BBOX":"x","SEGM":0.4}', "[1 2]"),
    *("[" * 5000 + "]" * 5000, "[" * 200 + "]" * 200, "[" * 20_000, '{"a":' * 150 + "1" + "}" * 150),
    *("/* x */ 1", "1 // x", "\xa01", "1\xa0", "\x0c1", "1\x85", '"\u00e9\u00a0"', "18446744073709551616.0"),
)


def resolved(constraint: Constraint, values: Values) -> Constraint:
    """The constraint with its formulas computed from what a log has stated; as it is where that cannot be."""
    try:
        return Constraint(constraint.operator, _resolved(constraint.operator, constraint.operand, values))
    except (LookupError, TypeError, ArithmeticError):
        return constraint


def _resolved(operator: str, operand: Any, values: Values) -> Any:
    if operator == "satisfies":
        equation = re.sub("[a-z_]{6,}", lambda match: str(values.get(match[0], match[0])), operand["equation"])
        return {"equation": equation, "value": operand["value"], "now": parse(operand["value"]).compute(values)}
    if is_formula(operand):
        return parse(operand[1:]).compute(values)
    if isinstance(operand, dict):
        return {name: _resolved(name, part, values) for name, part in operand.items()}
    return operand


def good_value(constraints: Sequence[Constraint]) -> Any:
    """A value that holds all constraints of a key."""
    value: Any = 1
    for constraint in constraints:
        build = _GOOD.get(constraint.operator)
        if build is not None:
            value = build(constraint.operand)
    bounds = {c.operator: c.operand for c in constraints if isinstance(c.operand, int | float)}
    if "at_least" in bounds and "at_most" in bounds:
        value = (bounds["at_least"] + bounds["at_most"]) / 2
    return value


def item_step(operand: dict[str, Any]) -> int:
    """The least whole number that an item may be, whatever the operators that demand it."""
    tests = [Constraint(name, value).test() for name, value in operand.items() if name != "index"]
    return next(number for number in range(1, 10_000) if all(test(number, {}) for test in tests))


_GOOD: dict[str, Callable[[Any], Any]] = {
    "equals": lambda x: x,
    "not_equal": lambda x: "Example" if x == "" else None,
    "one_of": lambda x: x[0],
    "above": lambda x: x + 1,
    "at_least": lambda x: x,
    "at_most": lambda x: x,
    "multiple_of": lambda x: 3 * x,
    "power_of_two_multiple_of": lambda x: 2 * x,
    "divides": lambda x: x / 2,
    "divisible_by": lambda x: 3 * x,
    "close_to": lambda x: x,
    "near": lambda x: x["value"],
    "any_of": lambda x: good_value([Constraint(name, value) for name, value in x[0].items() if name != "where"]),
    "satisfies": lambda x: x.get("now", 1),
    "boolean": lambda x: True,
    "truthy": lambda x: True,
    "whole": lambda x: 1,
    "length": lambda x: list(range(1, (x if isinstance(x, int) else 2) + 1)),
    "integer": lambda x: 6,
    "item": lambda x: [item_step(x)] * (int(x["index"]) + 1),
}


def reaching(reaches: tuple[Reach, ...]) -> Any:
    """A measure that meets a quality target, on its border."""
    return _measure(reaches, _reaching)


def missing_by_far(reaches: tuple[Reach, ...]) -> Any:
    """A measure that misses a quality target."""
    return _measure(reaches, _missing)


def _measure(reaches: tuple[Reach, ...], one: Callable[[tuple[Constraint, ...]], float]) -> Any:
    if any(reach.field for reach in reaches):
        return {reach.field: one(reach.constraints) for reach in reaches}
    return one(reaches[0].constraints) if reaches else 0.5


def _reaching(constraints: tuple[Constraint, ...]) -> float:
    bounds = {constraint.operator: float(constraint.operand) for constraint in constraints}
    if "above" in bounds and "at_most" not in bounds:
        return bounds["above"] + 0.01
    return bounds.get("at_least", bounds.get("at_most", bounds.get("below", 1.0) / 2))


def _missing(constraints: tuple[Constraint, ...]) -> float:
    bounds = {constraint.operator: float(constraint.operand) for constraint in constraints}
    if bounds.get("at_least"):
        return bounds["at_least"] / 2
    if "above" in bounds and "at_most" not in bounds:
        return bounds["above"] / 2
    return bounds.get("at_most", bounds.get("below", 1.0)) * 2


def near_misses(constraint: Constraint) -> list[Any]:
    """Values on the border of a constraint, just over it, and right ones of a wrong type."""
    build = _NEAR.get(constraint.operator)
    return build(constraint.operand) if build is not None else []


def resolved_operand(operand: Any, values: Values) -> Any:
    """An operand with its formula computed."""
    return parse(operand[1:]).compute(values) if is_formula(operand) else operand


def resolved_rule(rule: KeyRule, values: Values) -> KeyRule:
    """The rule with every formula computed from what a log states."""

    def entries(found: tuple[MetadataEntry, ...]) -> tuple[MetadataEntry, ...]:
        return tuple(replace(e, constraints=tuple(resolved(c, values) for c in e.constraints)) for e in found)

    return replace(
        rule,
        value=tuple(resolved(c, values) for c in rule.value),
        reaches=tuple(replace(r, constraints=tuple(resolved(c, values) for c in r.constraints)) for r in rule.reaches),
        metadata=entries(rule.metadata),
        first_metadata=entries(rule.first_metadata),
    )


def near_misses_of(rule: KeyRule) -> list[Any]:
    """Border values of everything a rule says of the value: its constraints and its quality target."""
    found = [value for constraint in rule.value for value in near_misses(constraint)]
    for reach in rule.reaches:
        for constraint in reach.constraints:
            for value in near_misses(constraint):
                found.append(value if reach.field is None else {**reaching(rule.reaches), reach.field: value})
    return found


def _around(x: Any) -> list[Any]:
    if isinstance(x, bool) or not isinstance(x, int | float):
        return [x, f"{x} ", str(x).upper(), [x], {str(x): x}]
    inside = [] if math.isinf(x) else [math.nextafter(x, -math.inf), math.nextafter(x, math.inf), x + 1, -x]
    return [x, float(x), *inside, str(x), [x], bool(x)]


def _near_multiple(x: float) -> list[Any]:
    fine = [x * (1 + sign * e * 1e-6) for e in (9.5, 9.9, 10.1, 10.5) for sign in (1, -1)]
    return [x, -x, 0, 7 * x, x * 1.5, x / 2, *fine, str(x), [x], True, 1e300 * x, -0.0]


def _near_power(x: float) -> list[Any]:
    fine = [x * (1 + sign * e * 1e-6) for e in (6.8, 6.9, 7.0, 7.1) for sign in (1, -1)]
    return [x, 2 * x, x / 1024, 2**200 * x, 3 * x, -x, 0, *fine, str(x), [x], True, 5e-324]


def _near_length(x: int) -> list[Any]:
    return [[1] * max(0, x - 1), [1] * x, [1] * (x + 1), "a" * x, "a" * (x + 1), {"a": 1, "b": 2}, x, [], None]


def _near_item(operand: dict[str, Any]) -> list[Any]:
    index, step = int(operand["index"]), item_step(operand)
    whole = [10 * step] * index
    last = [step, 0, -step, 2.5 * step, step + 1, step * (1 + 9.9e-6), step * (1 + 1.01e-5), str(step), None, [step]]
    return [*([*whole, value] for value in last), whole, [*whole, step, "x"], {"1": step}, "45", str(step)]


def _near_all(tests: dict[str, Any]) -> list[Any]:
    return [value for name, operand in tests.items() if name in _NEAR for value in _NEAR[name](operand)]


_NEAR: dict[str, Callable[[Any], list[Any]]] = {
    "equals": _around,
    "not_equal": lambda x: [x, f"{x} ", [x], [], None, 0],
    "one_of": lambda x: [value for item in x for value in _around(item)],
    "above": _around,
    "at_least": _around,
    "below": _around,
    "at_most": _around,
    "multiple_of": _near_multiple,
    "power_of_two_multiple_of": _near_power,
    "length": lambda x: _near_length(x if isinstance(x, int) else min(x.values())),
    "divides": lambda x: [x, x / 2, x / 3, x / 2.5, 2 * x, 0, x / 7 * 1.00001, str(x)],
    "divisible_by": lambda x: [x, 2 * x, x - 1, x + 1, x / 2, 0, -x, float(x), str(x), [x], True],
    "close_to": lambda x: [x, x * (1 + 9e-10), x * (1 + 1.1e-9), x * 2, 0, -x, str(x), [x]],
    "near": lambda x: [*_around(x["value"]), *(x["value"] + n * x["within"] for n in (0.9, 1.1, -0.9, -1.1))],
    "any_of": lambda x: [value for part in x for value in _near_all(part)],
    "satisfies": lambda x: _around(x["now"]) if "now" in x else [],
    "whole": lambda x: [1.5, 0.5, 2.000009, 2.00002, 1.0, "1", None, [1], -1, 0],
    "boolean": lambda x: [True, False, 1, 0, "true"],
    "truthy": lambda x: [True, False, 1, 0, "", "x", [], [0]],
    "whole_part": lambda x: _near_all(x),
    "integer": lambda x: [7, 7.0, 7.5, True, "7", 10**20, 2**64, [7], -7],
    "fields": lambda x: [{name: 0.9} for name in x] + [" ".join(x), x, dict.fromkeys(x, 0.5), dict.fromkeys(x), {}],
    "item": _near_item,
}
