"""The columns of a system equal those of the installed official summarizer, for every published description.

Availability is not compared: the official table of aliases is no part of the installed package.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from mlsub.systems.fields import facts_of
from tests.score.reports import make_entry, make_report, make_row, make_system
from tools.oracle import shared

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.result_summarizer import result_summarizer

pytestmark = pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)

COLUMNS = (
    *("submitter", "system", "number_of_nodes", "host_processor_model_name", "host_processors_count"),
    *("accelerator_model_name", "accelerators_count", "framework", "notes"),
)
LINKS = ("details_url", "code_url")


def published() -> list[Path]:
    """The organisations of all rounds but v0.7, where descriptions without a division end the summarizer."""
    return sorted(folder.parent for folder in shared.CORPUS.glob("*/*/systems") if "v0.7" not in folder.parts)


def official_rows(organisation: Path, usage: str, name: str) -> list[dict[str, Any]]:
    """The official table, without scores: those need hours, and are compared elsewhere."""
    no_scores = (dict.fromkeys(result_summarizer.get_allowed_benchmarks(usage, f"{name}.0")), {})
    with (
        patch.object(result_summarizer, "_compute_strong_scaling_scores", lambda *args, **kwargs: no_scores),
        patch.object(result_summarizer, "_compute_weak_scaling_scores", lambda *args, **kwargs: ({}, {})),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        table = result_summarizer.summarize_results(str(organisation), usage, f"{name}.0")[0]
    rows: list[dict[str, Any]] = table.to_dict("records")
    return rows


def our_row(organisation: Path, system: str, usage: str, name: str) -> dict[str, Any]:
    content = json.loads((organisation / "systems" / f"{system}.json").read_bytes())
    description = make_system(system, facts_of(content), organisation.name)
    entry = make_entry(path=f"results/{system}/bert", system=system, organisation=organisation.name)
    row = make_row(make_report(entry, systems=(description,), usage=usage, round=name))
    return {column: row["system_name" if column == "system" else column] for column in (*COLUMNS, *LINKS)}


@pytest.mark.parametrize("organisation", published(), ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_the_columns_of_each_system_are_the_official_ones(organisation: Path) -> None:
    usage, dash, name = organisation.parent.name.rpartition("-v")
    usage, name = (usage, name) if dash else ("training", organisation.parent.name[1:])
    systems = [folder.name for folder in sorted((organisation / "results").iterdir()) if folder.is_dir()]
    ours = [our_row(organisation, system, usage, name) for system in systems]
    contents = [json.loads((organisation / "systems" / f"{system}.json").read_bytes()) for system in systems]
    theirs = official_rows(organisation, usage, name)
    assert len(theirs) == len(ours) > 0

    def sorted_by_all(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
        return sorted(tuple(_same(row[column]) for column in COLUMNS) for row in rows)

    assert sorted_by_all(ours) == sorted_by_all(theirs)
    if all(content["submitter"] == organisation.name for content in contents):
        assert sorted(row["details_url"] for row in ours) == sorted(row["details_url"] for row in theirs)


def _same(value: Any) -> str:
    """A value as text: the official table takes numbers of nodes as they are written."""
    return str(value).removesuffix(".0")
