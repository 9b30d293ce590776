"""Which score a verdict rests on.

published: the score of a table that the user gives, else the olympic mean of the logs times the factor of the entry's
scaling.json, and 1 without one. unscaled: the olympic mean of the logs; where the logs were edited after the runs, with
the edit undone. expected: the olympic mean of the logs times the factor that the convergence test of the round gives.
rcp_mean: unscaled, and normalised to the mean of the reference convergence points where the result converged faster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mlsub.commands.audit.facts import Facts

#: In words, for people.
TITLES = {
    "published": "as published",
    "unscaled": "olympic mean of the logs, with edits undone",
    "expected": "scaled as the convergence test gives",
    "rcp_mean": "normalised to the RCP mean",
}


def deciding(facts: Iterable[Facts], asked: Collection[str]) -> tuple[str, ...]:
    """The bases that decide, in the order in which they are shown.

    Args:
        facts: those of the results in an expression.
        asked: the bases that the user or the claim asks for; none for the usual.

    The usual: published, and unscaled beside it where the logs of a result were edited.
    """
    if asked:
        return tuple(basis for basis in TITLES if basis in asked)
    return ("published", "unscaled") if any(one.edit is not None for one in facts) else ("published",)
