"""The results table of published packages holds what the JSON document says; tests/differential has the scores."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from mlsub.present.tables import ColumnKind, columns
from tools.oracle import shared
from tools.support.runner import answer_schema, run

pytestmark = pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)

#: A round, and some of its organisations.
PACKAGES = {
    "5.1": ("AMD", "MiTAC", "Quanta_Cloud_Technology"),
    "4.0": ("Google", "Intel-HabanaLabs", "smc-ac-power", "tinycorp"),
    "1.0": ("Graphcore", "Habana", "PCL"),
    "hpc-3.0": ("Clemson", "TACC"),
}


def paths(name: str) -> list[Path]:
    return [shared.folder(name) / organisation for organisation in PACKAGES[name]]


@lru_cache(maxsize=8)
def document(name: str) -> dict[str, Any]:
    outcome = run("score", *paths(name), "--format", "json")
    answer_schema("score").validate(outcome.document)
    return outcome.report


@lru_cache(maxsize=8)
def table(name: str) -> tuple[dict[str, Any], ...]:
    """The CSV, with every cell in the type of its column."""
    outcome = run("score", *paths(name), "--format", "csv")
    assert outcome.stderr == "", "no status is unknown"
    types: dict[ColumnKind, Any] = {"text": str, "count": int, "number": float}
    return tuple(
        {c.name: types[c.kind](row[c.name]) if row[c.name] != "" else None for c in columns()}
        for row in csv.DictReader(io.StringIO(outcome.stdout, newline=""), strict=True)
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_the_rows_are_the_entries_of_the_document(name: str) -> None:
    entries = document(name)["entries"]
    assert len(table(name)) == len(entries) >= 2
    for row, entry in zip(table(name), entries, strict=True):
        assert row["path"] == entry["path"]
        assert row["published_minutes"] == entry["score"]["published"] == entry["minutes"]
        assert row["unscaled_minutes"] == entry["score"]["unscaled"]
        assert row["expected_minutes"] == entry["score"]["expected"]
        assert (row["scaling"], row["expected_scaling"]) == (
            entry["score"]["scaling"],
            entry["score"]["expected_scaling"],
        )
        assert (row["rcp_verdict"], row["rcp_mean"]) == (entry["rcp"]["verdict"], entry["rcp"]["mean"])
        assert (row["batch_size"], row["rcp_unit"]) == (entry["rcp"]["batch_size"], entry["rcp"]["unit"])
        assert row["energy_joules"] == (entry["energy"] or {"scaled": None})["scaled"]
        for column in ("division", "organisation", "benchmark", "scaling_type", "runs", "compliant", "converged"):
            assert row[column] == entry[column]
        assert row["verdict"] == entry["official"]


def test_one_benchmark_folder_of_a_package_has_the_scores_of_its_entry() -> None:
    folder = shared.folder("5.1") / "MiTAC"
    (whole,) = csv.DictReader(io.StringIO(run("score", folder, "--format", "csv").stdout))
    (entry,) = (folder / "results").glob("*/*")
    (alone,) = csv.DictReader(io.StringIO(run("score", entry, "--format", "csv").stdout))
    assert alone == whole
