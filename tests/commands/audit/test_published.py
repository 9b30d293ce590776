"""Published scores: claims that state them hold, with any digits; the claims of submissions/claims; edited times."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.run import audit, audit_world, judge, read_world
from mlsub.commands.audit.verdict import Audit
from mlsub.commands.audit.wording import Stated, fits, fixed
from mlsub.rules.load import entry_requirements
from mlsub.score import olympic_mean
from mlsub.workspace import Context
from tests.commands.audit.claims import audited as audited_claims
from tests.commands.audit.claims import table
from tools.oracle import shared
from tools.support.make_tree import make_tree

published = pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)

ROUNDS = ("0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1")


def entries(round_: str) -> dict[str, float]:
    """The published score of each entry, as the official summarizer of the round gives it with its scaling.json."""
    known = shared.recorded_entries(round_)
    return {path: one["score"]["scaled"] for path, one in known.items() if one.get("score", {}).get("scaled")}


def sentence(round_: str, path: str, minutes: str) -> str:
    """A score in the words of a press release: who, what, on what, when, in which division."""
    organisation, _, system, name = path.split("/")
    folder = shared.folder(round_) / organisation
    description: dict[str, Any] = json.loads((folder / "systems" / f"{system}.json").read_text())
    division = str(shared.recorded_entries(round_)[path]["division"]).capitalize()
    per_node = str(description.get("accelerators_per_node") or 0)
    count = int(description["number_of_nodes"]) * int(per_node) if per_node.isdigit() else 0
    name_ = description.get("accelerator_model_name")
    on = f"{count} {name_} accelerators" if count else description["system_name"]
    title = entry_requirements("training", round_, name).title.partition(";")[0]
    who, when = description["submitter"], f"MLPerf Training v{round_}"
    return f"{who} trained {title} in {when} in {minutes} minutes on {on} ({division})"


@lru_cache(maxsize=16)
def audited(round_: str, folder: Path) -> tuple[World, Audit]:
    """A file that states the score of every entry of a round to three digits, and the audit of it."""
    content: dict[str, Any] = {"claims_version": 1, "source": {"title": "the table"}, "results": {}, "claims": []}
    for number, (path, minutes) in enumerate(entries(round_).items()):
        names = zip(("submitter", "results", "system", "benchmark"), path.split("/"), strict=True)
        result = {"round": f"v{round_}", **{name: part for name, part in names if name != "results"}}
        content["results"][f"r{number}"] = result
        text, stated = sentence(round_, path, f"{minutes:.3f}"), {"value": f"{minutes:.3f}", "unit": "min"}
        content["claims"].append({"id": f"c{number}", "text": text, "expr": f"minutes(r{number})", "stated": stated})
    file = folder / f"{round_}.yaml"
    file.write_text(yaml.safe_dump(content))
    world = read_world(read_claims(file), [str(shared.folder(round_))], context=Context(jobs=1))
    return world, audit_world(world)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published")


@pytest.mark.slow
@pytest.mark.product
@published
@pytest.mark.parametrize("round_", ROUNDS)
def test_claims_that_state_the_published_scores_hold(round_: str, folder: Path) -> None:
    _, found = audited(round_, folder)
    verdicts = {one.claim.text: one.verdict.value for one in found.claims}
    assert len(verdicts) >= 11
    # The logs of two sets were edited after the runs, which a reader has to know: published 32.697, else 29.778.
    edited = {one.name: fixed(one.edit_factor) for one in found.results if one.edit_factor}
    assert sorted(edited.values()) == (["1.098000", "1.118000"] if round_ == "1.1" else [])
    depends = {text for text, verdict in verdicts.items() if verdict == "depends-on-basis"}
    assert len(depends) == len(edited)
    assert {text: verdict for text, verdict in verdicts.items() if verdict != "holds"}.keys() == depends


@published
@pytest.mark.product
@pytest.mark.parametrize("round_", ROUNDS)
@pytest.mark.parametrize("digits", [0, 1, 2, 4, 6])
def test_they_hold_with_any_number_of_digits_and_on_the_published_basis(round_: str, digits: int, folder: Path) -> None:
    world, found = audited(round_, folder)
    for one, minutes in zip(found.claims, entries(round_).values(), strict=True):
        said = Stated(value=f"{minutes:.{digits}f}", unit="min")
        claim = type(one.claim)(
            id=one.claim.id, text="", line=1, source=one.claim.source, expr=one.claim.expr, stated=(said,)
        )
        assert judge(claim, world, ["published"]).verdict == "holds", one.claim.text


@published
@pytest.mark.parametrize("round_", ROUNDS)
def test_published_is_unscaled_times_the_factor_of_scaling_json(round_: str, folder: Path) -> None:
    for one in audited(round_, folder)[1].results:
        assert one.path is not None
        minutes = [None if value is None else float(value) for value in one.run_minutes]
        mean = olympic_mean(minutes, entry_requirements("training", round_, one.benchmark).forgiven)
        assert mean is not None
        file = shared.folder(round_) / one.path / "scaling.json"
        factor = json.loads(file.read_text())["scaling_factor"] if file.exists() else 1
        assert float(one.minutes["published"] or 0) == pytest.approx(mean * factor, rel=1e-12)
        assert one.edit_factor or float(one.minutes["unscaled"] or 0) == pytest.approx(mean, rel=1e-12)


@given(st.integers(1, 10**9), st.integers(0, 5))
def test_a_score_rounded_in_either_usual_way_is_accepted(thousandths_of_a_ms: int, digits: int) -> None:
    """Tables round halves up or to even; where a score lies exactly between two, either may stand in a text."""
    minutes = Fraction(thousandths_of_a_ms, 60_000)
    whole, rest = divmod(minutes * 10**digits, 1)
    written = [whole + (rest >= Fraction(1, 2)), Fraction(round(minutes * 10**digits))]
    for number in written:
        text = f"{Decimal(int(number)).scaleb(-digits):.{digits}f}"
        assert fits(Stated(value=text), minutes)


def test_a_gain_of_published_scores_holds_and_the_unscaled_one_is_for_comparison(tmp_path: Path) -> None:
    """Published 27.3; a reduction of 45 % as published is one of 43.6 % before scaling."""
    for round_, minutes, factor in (("v1.0", 26.428, 1.033), ("v1.1", 14.9054, 1.0)):
        tree = make_tree(tmp_path, round_)
        for number in range(5):
            tree.edit(lambda log, minutes=minutes: log.last(minutes), number)  # type: ignore[misc]
        (tree.entry() / "scaling.json").write_text(json.dumps({"scaling_factor": factor}))
    results = {
        name: {"round": round_, "submitter": "ACME", "system": "rack1", "benchmark": "resnet"}
        for name, round_ in (("old", "v1.0"), ("new", "v1.1"))
    }
    time = {"text": "It takes 27.3 minutes", "expr": "minutes(old)", "stated": {"value": "27.3", "unit": "min"}}
    gain = {"expr": "reduction(old, new)", "stated": {"value": 45, "unit": "%", "reading": "reduction"}}
    claims = [{"id": "time", **time}, {"id": "gain", **gain}]
    found = {one.claim.id: one for one in audited_claims(tmp_path, results=results, claims=claims)}
    assert {name: one.verdict.value for name, one in found.items()} == {"time": "holds", "gain": "holds"}
    outcomes = {one.basis: one for one in found["gain"].readings[0].bases}
    assert [(name, round(float(one.value), 1), one.decides) for name, one in outcomes.items()][:2] == [
        ("published", 45.4, True),
        ("unscaled", 43.6, False),
    ]


# The claims files of the repository: each claim gets the verdict that the published logs give.

FOLDER = Path(__file__).resolve().parents[3] / "submissions" / "claims"
EXPECTED: dict[str, dict[str, tuple[str, Any]]] = table("own_claims.yaml")


@lru_cache(maxsize=8)
def audited_file(name: str) -> Audit:
    return audit(FOLDER / name, [str(shared.CORPUS)], context=Context(jobs=1))


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
    [judged] = [one for one in audited_file(name).claims if one.claim.id == id_]
    assert judged.verdict.value == verdict
    if isinstance(figure, bool) or figure is None:
        assert judged.computed is (figure if figure is None else True)
    else:
        assert isinstance(judged.computed, Fraction)
        assert float(judged.computed) == pytest.approx(figure, abs=0.0006)
    assert judged.differences == ()
