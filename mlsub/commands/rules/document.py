"""The answers as JSON documents; their schema is schema.json beside this file."""

from __future__ import annotations

import json

import msgspec

from mlsub.commands.rules.diff import RoundDiff
from mlsub.commands.rules.keys import KeyList
from mlsub.commands.rules.overview import Overview, RuleIds
from mlsub.commands.rules.submission import SubmissionDiff
from mlsub.commands.rules.table import RuleTable
from mlsub.io.version import VERSION

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 1

Answer = RuleTable | RuleIds | KeyList | RoundDiff | SubmissionDiff | Overview
#: What each kind of answer is called.
KINDS: dict[type, str] = {
    Overview: "rounds",
    RuleTable: "rules",
    RuleIds: "rule-ids",
    KeyList: "keys",
    RoundDiff: "diff",
    SubmissionDiff: "submission-diff",
}


def render_json(answer: Answer) -> str:
    """The one document, plain ASCII, ending in a line feed."""
    head = {"schema": SCHEMA, "mlsub": VERSION, "kind": KINDS[type(answer)]}
    return json.dumps({**head, **msgspec.to_builtins(answer)}, indent=2, allow_nan=False) + "\n"
