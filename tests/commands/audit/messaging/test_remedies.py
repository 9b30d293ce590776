"""Every remedy that a rule on quoting results names can be followed: the words, options and files exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mlsub
from mlsub.commands.audit.claims import SAYS
from mlsub.commands.audit.command import command
from mlsub.commands.audit.quoting import names_of, noted_as
from mlsub.rules.catalogue import catalogue
from tests.commands.audit.messaging.made import document, judged, message, operand, theirs

WORDS = set(SAYS)
REPOSITORY = Path(mlsub.__file__).parents[1]
_UNDER_SAYS = re.compile(r"under says: ((?:\w+, )*\w+(?: or \w+)?)")


def words_named(text: str) -> set[str]:
    return {word for listed in _UNDER_SAYS.findall(text) for word in re.split(r", | or ", listed)} - {"and"}


def test_what_could_not_be_looked_at_is_noted_under_words_of_the_format() -> None:
    """A sentence in a document whose text is not at hand, on results of two divisions: everything has to be noted."""
    bare = operand(benchmark="bert")
    sentences = (
        message(bare, text="It is fast", id="one", document=document(text=None, publisher="Nobody")),
        message(theirs(division="open"), text="So is this", id="two", document=document(text=None)),
    )
    for wanted in ("2021-06", "2025-07"):
        undivided = judged(*sentences, wanted=wanted).not_looked_at
        named = {word for one in undivided for word in words_named(one.reason)}
        assert {"submitter", "benchmark", "system", "division"} <= named
        assert named <= WORDS
        if wanted == "2025-07":
            assert "round" in named


@pytest.mark.parametrize("what", ["version", "division", "submitter", "benchmark", "system"])
def test_each_thing_has_a_word(what: str) -> None:
    assert noted_as(what) in WORDS
    assert noted_as(what) in names_of(what)


def test_the_fixes_of_the_rules_name_words_options_and_files_that_exist() -> None:
    seen = set()
    for rule, info in catalogue().items():
        if not rule.startswith("claim."):
            continue
        named = words_named(info.fix)
        seen |= named
        assert named <= WORDS, rule
        assert ("says" in info.fix) == bool(named), rule
        for option in re.findall(r"--[a-z-]+", info.fix):
            assert any(option in parameter.opts for parameter in command.params), rule
        for file in re.findall(r"mlsub/\S+\.yaml", info.fix):
            assert (REPOSITORY / file).is_file(), rule
    assert {"discloses", "open_difference", "composite_method", "round"} <= seen


def test_the_page_on_messaging_names_words_of_the_format() -> None:
    page = (REPOSITORY / "docs" / "messaging.md").read_text()
    found = re.findall(r"says: \{([^}]*)\}", page)
    assert found
    for inside in found:
        plain = re.sub(r"\[[^\]]*\]", "[]", inside)
        assert {part.split(":")[0].strip() for part in plain.split(",")} <= WORDS, inside
