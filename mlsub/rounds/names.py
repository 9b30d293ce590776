"""Usages, rounds, benchmarks and divisions as a person types them, with a did-you-mean."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.divisions import DIVISIONS
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round, get_round, known_name, known_rounds, normalise_round, unknown_name, usages


def find_usage(text: str) -> str:
    """Return the usage.

    Raises:
        MlsubError: there is no such name.
    """
    return known_name("usage", text, usages())


def find_division(text: str) -> str:
    """Return the division, however it is capitalised.

    Raises:
        MlsubError: there is no such name.
    """
    return known_name("division", text.lower(), tuple(DIVISIONS))


def find_round(usage: str, text: str, overlay: str | None = None) -> Round:
    """Return the round; ``1.0``, ``1.0.0`` and ``v1.0`` are the same. ``overlay`` is a rule file of the user's own.

    Raises:
        MlsubError: the usage has no such round.
    """
    known = known_rounds(usage, overlay)
    return get_round(usage, known_name(f"{usage} round", normalise_round(text) or text, known), overlay)


def find_benchmark(
    benchmark: str, round_text: str | None, usage: str | None, overlay: str | None = None
) -> tuple[Round, str]:
    """Return the round and the benchmark that are meant: without a round the newest one that has it.

    Raises:
        MlsubError: no usage, round or benchmark of this name, or the round does not have it.
    """
    among = (find_usage(usage),) if usage else usages()
    name = benchmark.lower().replace("-", "_")
    having = {of: rounds for of in among if (rounds := rounds_with(of, name, overlay))}
    if not having:
        names = {known for of in among for round_ in all_rounds(of, overlay) for known in round_.benchmarks}
        where = f"benchmark of {usage}" if usage else "benchmark"
        raise MlsubError(unknown_name(where, benchmark, sorted(names)))
    if round_text is None:
        return next(iter(having.values()))[-1], name
    asked = normalise_round(round_text) or round_text
    for rounds in having.values():
        for round_ in rounds:
            if round_.name == asked:
                return round_, name
    of = next(iter(having))
    round_ = find_round(of, round_text, overlay)
    rounds = having[of]
    # A longer name is the next version of a benchmark; one that is merely similar is another benchmark.
    later = next((other for other in round_.benchmarks if other.startswith(name)), None)
    hint = f". Did you mean {later}?" if later else ""
    raise MlsubError(f"{of} {round_.name} has no {name}; it was in {span([r.name for r in rounds])}{hint}")


def all_rounds(usage: str, overlay: str | None = None) -> tuple[Round, ...]:
    """Return every round of a usage, oldest first."""
    return tuple(get_round(usage, name, overlay) for name in known_rounds(usage, overlay))


def rounds_with(usage: str, benchmark: str, overlay: str | None = None) -> list[Round]:
    """Return the rounds of a usage that have a benchmark, oldest first."""
    return [round_ for round_ in all_rounds(usage, overlay) if benchmark in round_.benchmarks]


def span(names: Iterable[str]) -> str:
    """Return names of rounds that follow each other, in short: ``1.0 to 2.1``."""
    names = list(names)
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def spans(usage: str, names: Iterable[str]) -> str:
    """Return names of rounds in short, those in a row together: ``1.0 to 2.1, 4.0``."""
    known = [round_.name for round_ in all_rounds(usage)]
    groups: list[list[str]] = []
    for name in sorted(names, key=known.index):
        if groups and known.index(name) == known.index(groups[-1][-1]) + 1:
            groups[-1].append(name)
        else:
            groups.append([name])
    return ", ".join(span(group) for group in groups)
