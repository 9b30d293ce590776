"""Each oracle of the harnesses of documents can fail: a defect that is put into mlsub is found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import msgspec
import pytest

from mlsub.findings import Verdict
from mlsub.io.problems import FileProblemsError, Problem
from mlsub.io.read import Tree
from tests.fuzz.harness import BrokenError, harnesses
from tests.fuzz.surfaces import (
    documents_json,
    documents_kinds,
    documents_power,
    documents_systems,
    documents_toml,
    documents_yaml,
)

NAMES = sorted(
    harness.name
    for module in (
        *(documents_json, documents_kinds, documents_power),
        *(documents_systems, documents_toml, documents_yaml),
    )
    for harness in module.HARNESSES
)
_NUMBERS = count()
#: Takes what a function gives, and spoils it.
Spoil = Callable[[Any], Any]


def replaced(**changes: Any) -> Spoil:
    return lambda found: msgspec.structs.replace(found, **changes)


def refused(message: str, line: int = 1) -> Spoil:
    def spoil(found: Any) -> Any:
        raise FileProblemsError((Problem("fuzz.yaml", line, message),))

    return spoil


def without_last(name: str) -> Spoil:
    return lambda found: msgspec.structs.replace(found, **{name: getattr(found, name)[:-1]})


def another(found: str) -> str:
    """A text that is never the same twice."""
    return f"{found}{next(_NUMBERS)}"


def leaving(found: Any) -> Any:
    """A manifest that writes a file outside of the package."""
    return replaced(files=tuple(replaced(to="../x")(one) for one in found.files))(found)


_CLAIMS = documents_kinds._CLAIMS.encode()
_STATUS = documents_systems._SEEDS[1].replace(b"Available on-premise", b"onprem")
_BASELINE = documents_json._SEEDS["baseline"][0]
_ONE_POINT = documents_json._SEEDS["reference-points"][1].replace(b"[40, ", b"[39, ")
#: Harness, where a function is looked up and its name, what a defect makes of its answer, an input that shows it.
DEFECTS: tuple[tuple[str, Any, str, Spoil, bytes], ...] = (
    ("yaml", Tree, "content", lambda found: {**found, "a": True}, b"a: 1\n"),
    ("yaml", Tree, "content", lambda found: {**found, "a": "\n"}, b"a: 'x'\n"),
    ("yaml", documents_yaml, "read_tree", refused("not YAML: no"), b"a: 1\n"),
    ("yaml", documents_yaml, "read_tree", refused("aliases (*name) are not allowed", 9), b"a: 1\n"),
    ("manifest", documents_kinds, "read_manifest", leaving, b""),
    ("claims", documents_kinds, "audit_of", without_last("claims"), _CLAIMS),
    ("records", documents_kinds, "shown", another, b""),
    ("ids", documents_kinds, "shown", another, b""),
    ("ids-table", documents_kinds.Ids, "of", lambda found: None, b""),
    ("rehearsal", documents_kinds, "shown", another, b""),
    ("overlay", documents_kinds.documents, "use_overlay", refused("", 1), b"title: x\n"),
    ("pairs", documents_json, "read_pairs", lambda found: tuple(replaced(line=1)(one) for one in found), b'{\n"a": 1}'),
    (
        "pairs",
        documents_json,
        "read_pairs",
        lambda found: tuple(replaced(value=1.0)(one) for one in found),
        b'{"a": 1}',
    ),
    ("pairs", documents_json, "read_pairs", refused("not JSON"), b'{"a": 1}'),
    ("scaling", documents_json, "read_scaling", lambda found: replaced(factor=1.5)(found), b'{"scaling_factor": 1.25}'),
    ("scaling", documents_json, "read_scaling", lambda found: replaced(factor=None)(found), b'{"scaling_factor": 1}'),
    ("reference-points", documents_json, "points_of", lambda found: found[:-1], _ONE_POINT),
    (
        "reference-points",
        documents_json,
        "points_of",
        lambda found: [replaced(mean=41.0)(one) for one in found],
        _ONE_POINT,
    ),
    ("capture", documents_json, "to_json", lambda found: found.replace("EPYC", "EPIC"), documents_json._CAPTURE),
    ("baseline", documents_json.Baseline, "content", lambda found: found.replace(b'"a"', b'"b"'), _BASELINE),
    ("checker-params", documents_json, "read_flags", lambda found: replaced(rcp_bypass="x")(found), b"rcp-bypass\n"),
    ("toml", documents_toml, "read_toml", lambda found: {"a": 2}, b"a = 1\n"),
    ("toml", documents_toml, "read_toml", refused("not TOML: no"), b"a = 1\n"),
    (
        *("config", documents_toml, "weigh", lambda found: [replaced(official=Verdict.ACCEPTED)(one) for one in found]),
        b'round = "5.1"\n',
    ),
    ("system-description", documents_systems, "read_description", lambda found: replaced(findings=())(found), b"{}"),
    ("system-description", documents_systems, "read_description", lambda found: replaced(findings=())(found), _STATUS),
    ("system-description", documents_systems, "read_description", lambda found: replaced(content={})(found), _STATUS),
    ("power", documents_power, "run_joules", lambda found: 1.01 * found, b""),
)


def asked(data: bytes) -> Iterator[bytes]:
    """The document with line feeds behind it; what an oracle asks of one input in several, it asks of one of these."""
    yield from (data + b"\n" * number for number in range(60))


def found_in(run: Callable[[bytes], None], data: bytes) -> bool:
    """Whether any of the spellings of a document is a finding."""
    for one in asked(data):
        try:
            run(one)
        except BrokenError:
            return True
    return False


@pytest.mark.parametrize(("name", "place", "function", "spoil", "data"), DEFECTS, ids=range(len(DEFECTS)))
def test_a_defect_is_found(
    name: str, place: Any, function: str, spoil: Spoil, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = harnesses()[name]
    data = data or [*harness.seeds()][-1]
    real = getattr(place, function)
    monkeypatch.setattr(place, function, lambda *of, **more: spoil(real(*of, **more)))
    assert found_in(harness.run, data)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_and_what_it_begins_with_are_no_findings(name: str) -> None:
    harness, rng = harnesses()[name], random.Random(f"documents {name}")
    drawn = [harness.generate(rng) for _ in range(10)] if harness.generate is not None else []
    for data in (*harness.seeds(), *drawn):
        harness.run(data[: harness.longest])


def test_every_harness_has_a_defect_that_it_finds() -> None:
    assert sorted({name for name, *_ in DEFECTS}) == NAMES
