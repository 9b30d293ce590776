"""Sentences over published results: what of them is not the result's, and nothing else."""

from __future__ import annotations

import json
import shutil
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


@pytest.fixture
def gb200(tmp_path: Path) -> Path:
    """A Closed result of v5.1, as if NVIDIA had it on GB200."""
    published = shared.CORPUS / "v5.1" / "Quanta_Cloud_Technology"
    ours = tmp_path / "v5.1" / "NVIDIA"
    (ours / "systems").mkdir(parents=True)
    description = json.loads((published / "systems" / "D75T-7U.json").read_text())
    description |= {"submitter": "NVIDIA", "accelerator_model_name": "NVIDIA GB200", "framework": "PyTorch"}
    (ours / "systems" / "gb200.json").write_text(json.dumps(description))
    shutil.copytree(
        published / "results" / "D75T-7U" / "llama2_70b_lora", ours / "results" / "gb200" / "llama2_70b_lora"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "AMD MI355X fine-tunes Llama 2 70B in v4.0, Open",
            [
                ("vendor", "AMD", ("NVIDIA",)),
                ("accelerator", "MI355X", ("NVIDIA GB200",)),
                ("round", "v4.0", ("v5.1",)),
                ("division", "Open", ("closed",)),
            ],
        ),
        ("NVIDIA GB300 fine-tunes Llama 2 70B in v5.1", [("accelerator", "GB300", ("NVIDIA GB200",))]),
        ("NVIDIA GB200 fine-tunes Llama 2 70B in v5.1, Closed", []),
    ],
)
def test_a_claim_over_another_vendors_result_says_what_differs(
    text: str, expected: list[tuple[str, str, tuple[str, ...]]], gb200: Path
) -> None:
    result = {"round": "v5.1", "submitter": "NVIDIA", "system": "gb200", "benchmark": "llama2_70b_lora"}
    claim = {"id": "one", "text": text, "expr": "minutes(r)", "stated": {"value": 1, "unit": "min", "wording": "over"}}
    content = {"claims_version": 1, "source": {"title": "t"}, "results": {"r": result}, "claims": [claim]}
    (gb200 / "claims.yaml").write_text(yaml.safe_dump(content))
    [found] = audit(gb200 / "claims.yaml", [str(gb200)], settings=Settings(jobs=1)).claims
    assert [(one.what, one.said, one.results) for one in found.differences] == expected
    assert found.verdict == ("fails" if expected else "holds")
    assert bool(expected) == any(one.how == "words" for one in found.would_hold)
