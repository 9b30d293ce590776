"""System descriptions, beside the installed official checker and our schemas: one verdict of all three."""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mlperf_logging.system_desc_checker.system_desc_checker import check_system_desc

from mlsub.io.errors import MlsubError
from mlsub.rounds import Round, get_round, known_rounds, usages
from mlsub.systems.description import SystemDescription, read_description
from mlsub.systems.draft import Asked, new_from_file
from mlsub.systems.facts import facts_of
from mlsub.systems.fields import fields
from mlsub.systems.schema import schema_of
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.provider import one_in
from tests.campaigns.fuzz.surfaces.documents_grammar import ODD
from tests.campaigns.fuzz.surfaces.documents_shared import check_error, check_findings, drawn, placed, same
from tests.make_tree import make_description

#: One round of each kind: descriptions are judged by nothing else of it.
_ROUNDS: tuple[Round | None, ...] = (
    None,
    *{
        (round_.descriptions_checked, round_.statuses): round_
        for round_ in (get_round(usage, name) for usage in usages() for name in known_rounds(usage))
    }.values(),
)
#: The round whose descriptions have forms of their own.
_FIRST = get_round("training", "0.6")
#: Rounds whose checker the installed one is, or says the same as.
_OFFICIAL = tuple(get_round("training", name) for name in ("1.0", "3.1", "4.1", "5.1", "6.1"))
_VALIDATORS = {round_.name: Draft202012Validator(schema_of(round_)) for round_ in _OFFICIAL}
_ASKED = Asked(submitter="ACME", division="closed", status="Preview", framework="PyTorch", hosts=2)
#: Brackets of a document that comes near the limit of Python's recursion, where the depth of the caller counts.
_DEEP = 400


def _description(data: bytes) -> None:
    """A round gives findings and no exception; the verdict is that of the official checker."""
    file = placed(data, "rack1.json")
    found = read_description(file, "systems/rack1.json", drawn(_ROUNDS, data))
    check_findings(found.findings, data)
    _check_content(found, data)
    _check_lines(found, data)
    if one_in(2, data) and data.count(b"[") + data.count(b"{") < _DEEP:
        official = drawn(_OFFICIAL, data)
        _compare(read_description(file, "systems/rack1.json", official), official, file)
    if one_in(4, data):
        first = read_description(file, "systems/rack1.json", _FIRST)
        check_findings(first.findings, data)
        facts_of(first.content)
    if one_in(8, data):
        _made_anew(file)


def _check_content(found: SystemDescription, data: bytes) -> None:
    """The content is that of :func:`json.loads`, and its facts are bounded."""
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        content = None
    known = content if isinstance(content, dict) else None
    if (found.content or {}) and not same(found.content, known):
        raise BrokenError(f"{found.content!r:.300} is not {known!r:.300}")
    if known and not found.content:
        raise BrokenError(f"{found.findings} of {known!r:.300}")
    facts_of(found.content)


def _check_lines(found: SystemDescription, data: bytes) -> None:
    """A finding on one required field names a line on which that field stands."""
    lines = data.decode("utf-8", "replace").split("\n")
    for finding in found.findings:
        if finding.rule != "system.field-not-text" or finding.line is None:
            continue
        name = finding.message.split()[2]
        if f'"{name}"' not in lines[finding.line - 1]:
            raise BrokenError(f"{finding.message}, but line {finding.line} is {lines[finding.line - 1]!r:.200}")


def _compare(found: SystemDescription, round_: Round, file: Path) -> None:
    accepted = _official(file, round_)
    if found.accepted is not accepted:
        raise BrokenError(f"v{round_.name}: {found.findings} here, {accepted} of the official checker")
    if found.content is not None and _VALIDATORS[round_.name].is_valid(found.content) is not accepted:
        raise BrokenError(f"v{round_.name}: the schema differs from {accepted} of the official checker")


def _official(file: Path, round_: Round) -> bool:
    logging.disable(logging.CRITICAL)
    try:
        return bool(check_system_desc(str(file), round_.usage, round_.ruleset)[0])
    except Exception:
        return False  # A traceback is no acceptance.
    finally:
        logging.disable(logging.NOTSET)


def _made_anew(file: Path) -> None:
    """A new description that is made of it is JSON with every required field, or one line says why not."""
    for asked in (Asked(), _ASKED):
        try:
            made = new_from_file(file, asked).description()
        except MlsubError as error:
            check_error(error)
            continue
        if not set(fields().required) <= set(made) or not isinstance(json.loads(json.dumps(made)), dict):
            raise BrokenError(f"{made!r:.300}")


_GOOD = make_description(status="Available on-premise")
#: Values that mean something, and some that only seem to.
_VALUES = (
    *(
        "",
        "TODO",
        "N/A",
        "0",
        "8",
        "08",
        "8 ",
        "80 GB",
        "2.2 GHz",
        "closed",
        "Closed",
        "onprem",
        "Preview",
        "RDI",
        "cloud",
    ),
    *("Available on-premise", "available on-premise", "Available cloud ", "NVIDIA A100-SXM4-80GB", "AMD EPYC 7742"),
    *(8, 0, 1.0, 1e300, ["8"], {"a": "8"}, "Research, Development, or Internal (RDI)", "\ud800", "٣", "8" * 3000),
)


def _generate(rng: random.Random) -> bytes:
    content: dict[str, Any] = dict(_GOOD)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        content[rng.choice(fields().required)] = rng.choice((*_VALUES, *ODD))
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        content.pop(rng.choice(fields().required), None)
    if rng.random() < 0.2:
        content[rng.choice(("notes", "Cooling", "acclerators_per_node", "\n", "status "))] = rng.choice(
            (*_VALUES, *ODD)
        )
    if rng.random() < 0.2:
        content = dict(rng.sample(sorted(content.items()), k=rng.randrange(len(content))))
    text = json.dumps(content, indent=rng.choice((None, 0, 2)), ensure_ascii=rng.random() < 0.7)
    if rng.random() < 0.1:
        name = rng.choice(fields().required)
        text = text.replace(f'"{name}"', rng.choice((f'"{name}": 1, "{name}"', '"\\u0064ivision"', f'"{name}\\n"')), 1)
    return text.encode("utf-8", "surrogatepass")


_SEEDS = (
    b'{"submitter": "ACME", "division": "closed"}',
    json.dumps(_GOOD, indent=1).encode(),
    b"""org: {"value": "ACME"}\nentry: {"value": "{'nodes': \\"{'num_nodes': '2', 'cpu': '2x Xeon'}\\"}"}\n""",
    b'{"hardware": "rack", "nodes": [{"num_nodes": 2, "accelerator": "V100", "num_accelerators": 8}]}',
)
_WORDS = (
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"9" * 4301,
        b"null",
        b"true",
        b'""',
        b'"\\ud800"',
        b"[" * 60,
        b'{"a":' * 60,
        b"\xff",
    ),
    *(
        b"\xef\xbb\xbf",
        b"\r\n",
        b"\x00",
        b'"status": "onprem",',
        b'"cooling": 8,',
        b"},",
        b",}",
        b"\xe2\x80\xa8",
        b"\\n",
    ),
    *(f'"{name}": '.encode() for name in fields().required),
)

HARNESSES = (
    Harness(
        "system-description", "system descriptions", _description, lambda: _SEEDS, _WORDS, _generate, longest=8_000
    ),
)
