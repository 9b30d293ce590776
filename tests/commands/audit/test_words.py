"""Sentences over published results: what of them is not the result's, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import Judged
from mlsub.workspace import Settings
from tests.differential import shared

pytestmark = pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)

TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text())
CASES: list[dict[str, Any]] = TABLE["cases"]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Judged, ...]:
    content = {
        "claims_version": 1,
        "source": {"title": "words"},
        "results": TABLE["results"],
        "claims": [
            {
                "id": f"c{at}",
                "text": case["says"],
                "expr": f"minutes({case['of']})",
                "stated": {"value": 1, "unit": "min", "wording": "at least"},
            }
            for at, case in enumerate(CASES)
        ],
    }
    file = tmp_path_factory.mktemp("words") / "claims.yaml"
    file.write_text(yaml.safe_dump(content))
    return audit(file, [str(shared.CORPUS)], settings=Settings(jobs=1)).claims


@pytest.mark.parametrize("at", range(len(CASES)), ids=[f"{one['of']}: {one['says'][:60]}" for one in CASES])
def test_a_sentence_differs_in_what_is_not_the_results(at: int, judged: tuple[Judged, ...]) -> None:
    expected = CASES[at].get("differs", {})
    found = judged[at]
    assert {one.said: one.what for one in found.differences} == expected
    assert found.verdict == ("fails" if expected else "holds")
    assert all(one.results for one in found.differences)
