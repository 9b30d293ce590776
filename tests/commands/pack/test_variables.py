"""Variables in the paths of a manifest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.init.draft import manifest_text, path
from mlsub.io.errors import MlsubError
from mlsub.packing.read import expand

ENVIRONMENT = {"RUNS": "/data/runs", "EMPTY": "", "NESTED": "${RUNS}", "_x1": "y"}
CASES = {
    "plain": "plain",
    "${RUNS}/a": "/data/runs/a",
    "${RUNS:-elsewhere}/a": "/data/runs/a",
    "${MISSING:-../shared}/a": "../shared/a",
    "${MISSING:-}/a": "/a",
    "${EMPTY:-default}": "default",
    "${NESTED}": "${RUNS}",
    "${MISSING:-${RUNS}}": "${RUNS}",
    "${_x1}${_x1}": "yy",
    "$RUNS": "$RUNS",
    "cost: 5$": "cost: 5$",
    "$${RUNS}": "${RUNS}",
    "$$$${RUNS}": "$${RUNS}",
}
BROKEN = {
    "${MISSING}": r"MISSING is not set; set it, or write \$\{MISSING:-default\}",
    "${EMPTY}": "EMPTY is empty",
    "${RUNS": "begins no variable",
    "${1}": "begins no variable",
    "${RUNS-x}": "begins no variable",
    "${}": "begins no variable",
}


@pytest.mark.parametrize(("text", "expanded"), CASES.items())
def test_variables_are_replaced(text: str, expanded: str) -> None:
    assert expand(text, ENVIRONMENT) == expanded


@pytest.mark.parametrize(("text", "message"), BROKEN.items())
def test_what_cannot_be_replaced_is_an_error(text: str, message: str) -> None:
    with pytest.raises(MlsubError, match=message):
        expand(text, ENVIRONMENT)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_path_that_is_written_into_a_manifest_is_read_back_as_it_was(text: str) -> None:
    import yaml

    assert expand(yaml.safe_load(manifest_text({"setup": path(text)}))["setup"], ENVIRONMENT) == text
