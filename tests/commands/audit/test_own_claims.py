"""The claims files of the repository on v2.0 to v5.1: each claim gets the verdict that the published logs give."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import Audit
from mlsub.workspace import Settings
from tests.differential import shared

FOLDER = Path(__file__).resolve().parents[3] / "submissions" / "claims"
EXPECTED: dict[str, dict[str, tuple[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("own_claims.yaml").read_text()
)
published = pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)


@lru_cache(maxsize=8)
def audited(name: str) -> Audit:
    return audit(FOLDER / name, [str(shared.CORPUS)], settings=Settings(jobs=1))


def test_every_file_and_claim_is_expected() -> None:
    found = {file.name: [one.id for one in read_claims(file).claims] for file in FOLDER.glob("*.yaml")}
    assert found == {name: list(claims) for name, claims in EXPECTED.items()}
    assert sum(map(len, found.values())) >= 12


@pytest.mark.parametrize("name", EXPECTED)
def test_every_claim_names_its_source(name: str) -> None:
    for one in read_claims(FOLDER / name).claims:
        assert one.source.title and one.source.publisher and one.source.date, one.id
        assert not one.proposed


@published
@pytest.mark.parametrize(("name", "id_"), [(name, id_) for name, claims in EXPECTED.items() for id_ in claims])
def test_a_verdict_and_its_figure(name: str, id_: str) -> None:
    verdict, figure = EXPECTED[name][id_]
    [judged] = [one for one in audited(name).claims if one.claim.id == id_]
    assert judged.verdict.value == verdict
    if isinstance(figure, bool) or figure is None:
        assert judged.computed is (figure if figure is None else True)
    else:
        assert isinstance(judged.computed, Fraction)
        assert float(judged.computed) == pytest.approx(figure, abs=0.0006)
    assert judged.differences == ()


@published
def test_some_fail_and_some_hold_on_one_basis_only() -> None:
    verdicts = {one.verdict.value for name in EXPECTED for one in audited(name).claims}
    assert {"holds", "fails", "holds-only-for", "depends-on-basis", "not-verifiable"} <= verdicts
