"""Which score a verdict rests on.

package: the olympic mean of the logs. unscaled: the same with an edit of the logs undone. rcp_mean: unscaled, and
normalised to the mean of the reference convergence points where the result converged faster, as the rules do from v2.1
on. published: the score of a table that the user gives, or the package's by the committee's factor in scaling.json; an
olympic mean alone is never called published.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mlsub.claims.facts import Facts

#: In words, for people.
TITLES = {
    "package": "olympic mean of the logs",
    "unscaled": "with the edit of the logs undone",
    "rcp_mean": "normalised to the RCP mean",
    "published": "as published",
}


def deciding(facts: Iterable[Facts], asked: Collection[str]) -> tuple[str, ...]:
    """The bases that decide, in the order they are told in.

    Args:
        facts: those of the results in an expression.
        asked: the bases that the user or the claim asks for; none for the usual.

    The usual: published where all scores are known, else package; unscaled beside it; rcp_mean where the rules of every
    round normalise by it.
    """
    if asked:
        return tuple(basis for basis in TITLES if basis in asked)
    known = list(facts)
    first = "published" if known and all(one.score("published") is not None for one in known) else "package"
    normalised = known and all(one.normalises for one in known)
    return (first, "unscaled", *(("rcp_mean",) if normalised else ()))
