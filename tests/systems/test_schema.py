"""The JSON Schemas of system descriptions say what the checker says."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mlperf_logging.system_desc_checker.system_desc_checker import check_system_desc

from mlsub.rounds import Round, get_round, known_rounds, usages
from mlsub.systems.description import read_description
from mlsub.systems.fields import fields
from mlsub.systems.schema import schema_of
from tools.oracle.scores import crash_of
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_description

ROUNDS = [(usage, name) for usage in usages() for name in known_rounds(usage)]
_VALUES = [
    "", " ", "TODO", "N/A", "not published", "0", "8", "08", "8 ", "x", "80 GB", "80", "2.2 GHz", "closed", "Closed",
    "onprem", "ONPREM", "Available on-premise", "available on-premise", "Preview", "preview", "x onprem", "RDI",
    "iNTERNAL", 0, 1, 8, 1.0, 1.5, True, None, [], {}, ["8"], "<your organisation>", "TBD: later",
    "SUBMITTER_PLACEHOLDER",
    {"cuda": "tbd\n"}, [{"a": ["<version>"]}], {"driver": "570 <beta>", "path": "<path-1>"}, "TODO" + " " * 200,
]  # fmt: skip


@pytest.mark.parametrize(("usage", "name"), ROUNDS)
def test_each_round_has_a_sound_schema(usage: str, name: str) -> None:
    schema = schema_of(get_round(usage, name))
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert list(schema["properties"]) == list(fields().required)
    for of in schema["properties"].values():
        assert of["title"] and of["description"].endswith(".")
    checked = get_round(usage, name).descriptions_checked
    assert ("required" in schema) is checked


def _agree(content: Any, round_: Round, folder: Path) -> None:
    file = folder / "x.json"
    file.write_text(json.dumps(content))
    description = read_description(file, "x.json", round_)
    assert Draft202012Validator(schema_of(round_)).is_valid(content) is description.accepted


@given(data=st.data())
def test_schema_and_checker_agree_on_spoilt_descriptions(data: st.DataObject, tmp_path: Path) -> None:
    names = st.sampled_from([*fields().required, "notes"])
    content = make_description()
    content |= data.draw(st.dictionaries(names, st.sampled_from(_VALUES), max_size=3))
    for name in data.draw(st.sets(names, max_size=1)):
        content.pop(name, None)
    for usage, name in (*(("training", name) for name in ("0.7", "1.0", "4.0", "5.1")), ("hpc", "3.0")):
        _agree(content, get_round(usage, name), tmp_path)


@pytest.mark.parametrize("content", [[], "x", 3, None, True, {}])
def test_what_is_no_description(content: Any, tmp_path: Path) -> None:
    _agree(content, get_round("training", "5.1"), tmp_path)


@pytest.mark.slow
@given(data=st.data())
def test_the_schema_agrees_with_the_live_official_checker(data: st.DataObject, tmp_path: Path) -> None:
    content = make_description(status="Available on-premise")
    content |= data.draw(st.dictionaries(st.sampled_from(fields().required), st.sampled_from(_VALUES), max_size=2))
    for name in data.draw(st.sets(st.sampled_from(fields().required), max_size=1)):
        content.pop(name, None)
    file = tmp_path / "x.json"
    file.write_text(json.dumps(content))
    for name in ("2.0", "3.1", "4.1", "5.1", "6.1"):
        assert Draft202012Validator(schema_of(get_round("training", name))).is_valid(content) is _official(file, name)


def _official(file: Path, name: str) -> bool:
    """Whether the checker takes it and the summarizer does not end with a traceback."""
    logging.disable(logging.CRITICAL)
    try:
        if not check_system_desc(str(file), "training", f"{name}.0")[0]:
            return False
        with tempfile.TemporaryDirectory() as above:
            return crash_of(Path(above), name, [json.loads(file.read_text())]) is None
    except TypeError:
        return False  # A traceback is no acceptance.
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_schema_and_checker_agree_on_every_published_description(tmp_path: Path) -> None:
    files = sorted(CORPUS.glob("*/*/systems/*.json"))
    assert len(files) == 185
    for file in files:
        usage, _, name = file.relative_to(CORPUS).parts[0].rpartition("v")
        _agree(json.loads(file.read_text()), get_round("hpc" if usage else "training", name), tmp_path)
