"""Answers that compare packages, or check claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.golden.answer import Answer
from tests.golden.figures import Facts, finding_facts, flat, rounded, shortened, sketch, values


def comparison(answer: Answer) -> Facts:
    """What is different about pairs of trainings, and by how much."""
    document = answer.document
    facts: Facts = {
        "passed": document["passed"],
        "old": values(document["old"], "usage", "round", "official"),
        "new": values(document["new"], "usage", "round", "official"),
        "only old": document["only_old"],
        "only new": document["only_new"],
        **finding_facts(document["findings"]),
    }
    for pair in document["pairs"]:
        name = " / ".join(pair[side]["path"] for side in ("old", "new"))
        for side in ("old", "new"):
            facts[f"pair {name} {side}"] = _training(pair[side])
            phases = pair[side]["phases"].items()
            facts[f"pair {name} {side} phases"] = [[part, rounded(seconds)] for part, seconds in phases]
        facts[f"pair {name}"] = values(pair, "ratio", "reduction", "undivided", "same")
        facts[f"pair {name} parts"] = [values(part, "name", "old", "new", "unit", "minutes") for part in pair["parts"]]
        for part in ("hyperparameters", "fields"):
            facts[f"pair {name} {part}"] = shortened([values(row, "name", "old", "new") for row in pair[part]])
    return facts


def _training(side: Mapping[str, Any]) -> list[Any]:
    names = (
        "official", "runs", "counted", "minutes_of", "unscaled", "scaling", "minutes", "expected_scaling", "expected",
        "accelerator", "accelerators", "accelerator_minutes", "work", "throughput", "batch_size",
    )  # fmt: skip
    convergence = ("unit", "runs", "minimum", "mean", "maximum", "verdict", "scaling", "minimum_accepted")
    return [*(values(side, *names) or ()), values(side["convergence"], *convergence)]


def package_difference(answer: Answer) -> Facts:
    """What changed between two packages."""
    document = answer.document
    facts: Facts = {
        "different": document["different"],
        "old": values(document["old"], "usage", "round", "official"),
        "new": values(document["new"], "usage", "round", "official"),
        "files same": document["files"]["same"],
    }
    for part in ("added", "removed", "changed", "moved", "unknown"):
        facts[f"files {part}"] = shortened(document["files"][part])
    for system in document["systems"]:
        changed = [values(row, "name", "old", "new") for row in system["fields"]]
        facts[f"system {system['system']}"] = [system["change"], shortened(changed)]
    for entry in document["entries"]:
        name = f"entry {entry['system']}/{entry['benchmark']}"
        facts[name] = values(entry, "change", "percent")
        facts |= {f"{name} {row['name']}": values(row, "old", "new") for row in entry["values"]}
        facts[f"{name} hyperparameters"] = shortened(
            [values(row, "name", "old", "new") for row in entry["hyperparameters"]]
        )
    for found in document["findings"]:
        facts[f"finding {found['rule']} {found['kind']} {found['severity']}"] = values(found, "old", "new", "place")
    return facts


def claims(answer: Answer) -> Facts:
    """The verdict on each claim, and the figures that decide it."""
    document = answer.document
    facts: Facts = {"verdicts": sorted(document["verdicts"].items())}
    for result in document["results"]:
        minutes = {basis: value and value["exact"] for basis, value in result["minutes"].items()}
        facts[f"result {result['name']}"] = [
            *(values(result, "found", "path", "runs", "converged") or ()),
            sketch(minutes),
        ]
    for claim in document["claims"]:
        name = f"claim {claim['claim']['id']}"
        verdict = values(claim, "verdict", "only_for", "basis", "computed")
        facts[name] = [*(verdict or ()), *(values(claim["claim"], "line") or ())]
        readings = [_reading(reading) for reading in claim["readings"]]
        if readings:
            facts[f"{name} readings"] = readings
        for part in ("break_even", "nearest", "changed"):
            if claim[part]:
                facts[f"{name} {part.replace('_', ' ')}"] = [len(claim[part]), sketch(sorted(flat(claim[part])))]
    return facts


def _reading(reading: Mapping[str, Any]) -> list[Any]:
    bases = [values(basis, "basis", "value", "holds", "decides") for basis in reading["bases"]]
    return [*(values(reading, "decides", "holds", "fragile") or ()), sketch(bases)]
