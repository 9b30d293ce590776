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
from tools.support.make_tree import make_tree

TABLE = yaml.safe_load((Path(__file__).parent / "decided.yaml").read_text())
CASES, MADE = ([tuple(case) for case in table["cases"]] for table in (TABLE, TABLE["made"]))
#: Results of the second table, each of ResNet on rack1 -> round, organisation, division, minutes, nodes. The last
#: organisation has BERT besides, in 14.5 minutes.
RESULTS = {
    "older": ("v0.7", "ACME", "closed", 20, 1),
    "old": ("v1.0", "ACME", "closed", 16, 1),
    "new": ("v1.1", "ACME", "closed", 12, 1),
    "other": ("v1.1", "BETA", "closed", 24, 2),
    "third": ("v1.1", "GAMMA", "closed", 18, 1),
    "open": ("v1.1", "DELTA", "open", 30, 1),
    "slow": ("v1.1", "OMEGA", "open", 40, 1),
}


def stated(text: Any) -> dict[str, Any]:
    """Return what a case states: true, a number, or a number with a wording, a unit and a reading."""
    if text is True:
        return {"value": True}
    *wording, number, unit = str(text).removesuffix(" reduction").split() if " " in str(text) else (text, None)
    found = {"value": str(number), "unit": unit, "wording": " ".join(wording) or None}
    found["reading"] = "reduction" if str(text).endswith("reduction") else None
    return {name: value for name, value in found.items() if value is not None}


def judge(cases: list[tuple[Any, ...]], folder: Path, corpus: Path, **more: Any) -> list[Judged]:
    """Judge all cases at once."""
    claims = [
        {"id": f"c{at}", "text": text, "expr": expr, "stated": stated(value)}
        for at, (text, expr, value, _) in enumerate(cases)
    ]
    content = {"claims_version": 1, "source": {"title": "x"}, "claims": claims, **more}
    (folder / "claims.yaml").write_text(yaml.safe_dump(content))
    return list(audit(folder / "claims.yaml", [str(corpus)], settings=Settings(jobs=1)).claims)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    return judge(CASES, tmp_path_factory.mktemp("decided"), CORPUS, results=TABLE["results"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    folder = tmp_path_factory.mktemp("made")
    for round_, org, division, minutes, nodes in RESULTS.values():
        tree = make_tree(folder, round_, org, division=division)
        tree.describe(accelerator_model_name="NVIDIA A100", number_of_nodes=str(nodes))
        tree.edit(lambda log, minutes=minutes: log.last(minutes), *range(5))  # type: ignore[misc]
    tree.add_entry("bert", division=division)
    results = {
        name: {"round": round_, "submitter": org, "system": "rack1", "benchmark": "resnet"}
        for name, (round_, org, *_) in RESULTS.items()
    }
    results["bert"] = results["slow"] | {"benchmark": "bert"}
    source = {"title": "A post", "publisher": "ACME"}
    return judge(MADE, folder, folder, results=results, values=TABLE["made"]["values"], source=source)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
@pytest.mark.parametrize("at", range(len(CASES)), ids=[f"{case[3]}: {case[0][:50]}" for case in CASES])
def test_a_word_is_decided_or_named(at: int, published: list[Judged]) -> None:
    text, expr, _, verdict = CASES[at]
    one = published[at]
    assert (one.verdict, text, expr) == (verdict, text, expr), (one.reason, one.differences, one.notes)


@pytest.mark.parametrize("at", range(len(MADE)))
def test_a_word_is_decided_among_made_results(at: int, made: list[Judged]) -> None:
    text, expr, _, verdict = MADE[at]
    one = made[at]
    assert (one.verdict, text, expr) == (verdict, text, expr), (one.reason, one.differences, one.notes)
