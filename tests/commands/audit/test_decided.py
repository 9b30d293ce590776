"""Words that all results given decide, and results that may not be compared: no false or untested claim holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import Judged
from mlsub.workspace import Settings
from tools.support.corpus import CORPUS

TABLE = yaml.safe_load((Path(__file__).parent / "decided.yaml").read_text())
CASES = [tuple(case) for case in TABLE["cases"]]


def stated(text: Any) -> dict[str, Any]:
    """Return what a case states: true, a number, or a number with a wording, a unit and a reading."""
    if text is True:
        return {"value": True}
    *wording, number, unit = str(text).removesuffix(" reduction").split() if " " in str(text) else (text, None)
    found = {"value": str(number), "unit": unit, "wording": " ".join(wording) or None}
    found["reading"] = "reduction" if str(text).endswith("reduction") else None
    return {name: value for name, value in found.items() if value is not None}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """All cases at once, by their number."""
    claims = [
        {"id": f"c{at}", "text": text, "expr": expr, "stated": stated(value)}
        for at, (text, expr, value, _) in enumerate(CASES)
    ]
    file = tmp_path_factory.mktemp("decided") / "claims.yaml"
    content = {"claims_version": 1, "source": {"title": "x"}, "results": TABLE["results"], "claims": claims}
    file.write_text(yaml.safe_dump(content))
    return {one.claim.id: one for one in audit(file, [str(CORPUS)], settings=Settings(jobs=1)).claims}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
@pytest.mark.parametrize("at", range(len(CASES)), ids=[f"{case[3]}: {case[0][:50]}" for case in CASES])
def test_a_word_is_decided_or_named(at: int, judged: dict[str, Judged]) -> None:
    text, expr, _, verdict = CASES[at]
    one = judged[f"c{at}"]
    assert (one.verdict, text, expr) == (verdict, text, expr), (one.reason, one.differences, one.notes)
