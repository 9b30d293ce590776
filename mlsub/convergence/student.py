"""Student's t distribution without scipy, whose import costs more than a whole check.

The distribution function through the regularised incomplete beta function, by its continued fraction (modified Lentz);
Numerical Recipes, section 6.4, has the method. The tests hold it against scipy.
"""

from __future__ import annotations

import math

_ROUNDS = 500
_SMALL = 1e-300
_PRECISION = 1e-16


def t_distribution(t: float, degrees: float) -> float:
    """The probability that Student's t with so many degrees of freedom is at most ``t``.

    Raises:
        ValueError: degrees of freedom that are not above zero.
    """
    if not degrees > 0:
        raise ValueError(f"degrees of freedom must be above zero, not {degrees:g}")
    if math.isinf(t):
        return 0.0 if t < 0 else 1.0
    tail = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
    return tail if t < 0 else 1 - tail


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for ``a`` and ``b`` above zero and ``x`` from 0 to 1."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The fraction converges fast below the mean of the distribution; above it the other tail is computed.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1))
    d = 1 / d
    result = d
    for m in range(1, _ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        result *= d * c
        if abs(d * c - 1) < _PRECISION:
            break
    return result


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL
