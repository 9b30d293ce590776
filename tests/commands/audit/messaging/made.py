"""Sentences, results and documents for the tests of the rules on quoting results."""

from __future__ import annotations

from datetime import date
from typing import Any

from mlsub.commands.audit.claims import Input
from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.messaging import check
from mlsub.commands.audit.quoting import Document, Message, Quoting

DAY_2021 = date(2021, 12, 1)
DAY_2025 = date(2025, 11, 12)
LEGEND_2021 = (
    "The MLPerf name and logo are trademarks of MLCommons Association in the United States and other countries. All "
    "rights reserved. Unauthorized use strictly prohibited. See www.mlcommons.org for more information."
)
LEGEND_2025 = LEGEND_2021.replace("are trademarks", "are registered and unregistered trademarks")
#: A footnote with everything in it, for results of v1.1 of Acme and of Ucme.
NOTE_2021 = (
    "[1] MLPerf™ v1.1 Training Closed ResNet-50. Retrieved from mlcommons.org on 1 December 2021, "
    f"entries 1.1-2001, 1.1-2002. {LEGEND_2021}"
)


def operand(name: str = "ours", **given: Any) -> ResultFacts:
    usual: dict[str, Any] = {
        "round": "1.1",
        "submitter": "Acme",
        "system": "acme8",
        "benchmark": "resnet",
        "division": "closed",
        "category": "Available on-premise",
        "chips": 8,
        "power": False,
    }
    return ResultFacts(name=name, **{**usual, **given})


TEXT = "Acme's acme8 and Ucme's ucme8 train ResNet-50"


def figure(name: str, kind: str = "other", unit: str | None = None, source: str = "a list") -> Input:
    return Input(name=name, kind=kind, unit=unit, value="1", source=source)


def theirs(**given: Any) -> ResultFacts:
    return operand("theirs", **{"submitter": "Ucme", "system": "ucme8", **given})


def document(**given: Any) -> Document:
    return Document(**{"name": "post.txt", "publisher": "Acme", "date": DAY_2021, "footnote": NOTE_2021, **given})


def message(
    *operands: ResultFacts, text: str = "Acme's acme8 and Ucme's ucme8 train ResNet-50", **given: Any
) -> Message:
    operands = operands or (operand(),)
    usual: dict[str, Any] = {
        "id": "one",
        "line": 7,
        "document": document(),
        "operands": operands,
        "scored": tuple(one.name for one in operands),
    }
    return Message(text=text, **{**usual, **given})


def judged(*messages: Message, documents: tuple[Document, ...] = (), wanted: str = "auto") -> Quoting:
    return check(messages, documents, wanted=wanted, file="claims.yaml")


def found(*messages: Message, documents: tuple[Document, ...] = (), wanted: str = "auto") -> list[tuple[str, str]]:
    """(rule, message) of every remark."""
    remarks = judged(*messages, documents=documents, wanted=wanted).findings
    return [(remark.rule.removeprefix("claim.").upper(), remark.message) for remark in remarks]


def rules(*messages: Message, documents: tuple[Document, ...] = (), wanted: str = "auto") -> list[str]:
    return [rule for rule, _ in found(*messages, documents=documents, wanted=wanted)]


PRICE = figure("dollars", "price", "USD")
