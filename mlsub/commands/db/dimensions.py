"""The dimensions of what a database holds: rounds, organisations, accelerators, benchmarks, groups of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlsub.commands.db.discover import Package
from mlsub.commands.db.schema import Rows
from mlsub.rounds import Round, known_rounds
from mlsub.rounds.benchmarks import benchmark_of, group_of
from mlsub.rounds.publication import published
from mlsub.score.named import round_key
from mlsub.systems.chips import all_chips

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def dimensions(connection: DuckDBPyConnection, packages: Sequence[Package]) -> Rows:
    """The rows of the dimensions, for the facts that are in a database.

    Args:
        connection: of the database, whose other tables are filled.
        packages: what these were made of, which says what rounds there are.
    """
    rounds = {package.round_key: package.round for package in packages}
    rows: Rows = {"rounds": [_round(key, one) for key, one in sorted(rounds.items())]}
    rows["organisations"] = [
        {"organisation_name": name, "folders": folders, "members": str(name).split("+")}
        for name, folders in connection.execute(
            "SELECT organisation_name, list(DISTINCT organisation ORDER BY organisation) FROM submissions "
            "GROUP BY organisation_name ORDER BY organisation_name"
        ).fetchall()
    ]
    chips = "SELECT DISTINCT accelerator_name FROM systems WHERE accelerator_name IS NOT NULL ORDER BY accelerator_name"
    rows["accelerators"] = [_accelerator(name) for (name,) in connection.execute(chips).fetchall()]
    found = connection.execute(
        "SELECT DISTINCT benchmark_name, compatible_group, round, benchmark FROM entries ORDER BY ALL"
    ).fetchall()
    benchmarks: dict[str, dict[str, Any]] = {}
    groups: dict[str, dict[str, Any]] = {}
    for name, group, key, folder in found:
        round_ = rounds[key]
        benchmark = benchmarks.setdefault(name, {**_benchmark(round_, folder), "benchmark_name": name, "folders": []})
        if folder not in benchmark["folders"]:
            benchmark["folders"].append(folder)
        names = group_of(round_.usage, folder, round_.name) or (round_.name,)
        rounds_of = [round_key(round_.usage, one) for one in names]
        groups.setdefault(group, {"compatible_group": group, "benchmark_name": name, "rounds": rounds_of})
    return rows | {"benchmarks": list(benchmarks.values()), "compatible_groups": list(groups.values())}


def _round(key: str, round_: Round) -> dict[str, Any]:
    came_out, known = published(round_.usage, round_.name), known_rounds(round_.usage)
    return {
        "round": key,
        "usage": round_.usage,
        "number": round_.name,
        "title": round_.title,
        "benchmarks": list(round_.benchmarks),
        "position": known.index(round_.name) + 1 if round_.name in known else None,
        "publication_date": came_out.around if came_out else None,
        "publication_precision": None if came_out is None else "day" if came_out.date else "month",
    }


def _benchmark(round_: Round, folder: str) -> dict[str, Any]:
    known = benchmark_of(round_.usage, round_.name, folder)
    return {"usage": round_.usage, "title": known.title if known else folder, "task": known.task if known else None}


def _accelerator(name: str) -> dict[str, Any]:
    chip = all_chips()[name]
    return {
        "accelerator_name": name,
        "vendor": chip.vendor[0],
        "vendors": list(chip.vendor),
        "line": chip.line,
        "generation": chip.generation,
        "family": chip.family,
        "memory_gb": list(chip.memory_gb),
    }
