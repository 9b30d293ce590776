"""R01 and R02: whose result it is, of what, on what; and what may stand for the benchmark's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.claims.messaging.model import Case, Hit, Message, Operand, Untold
from mlsub.claims.messaging.says import noted
from mlsub.claims.messaging.texts import Text
from mlsub.claims.messaging.words import benchmark_words, enumerated, flat, mentions, names, quote, squashed


def naming_hits(case: Case, text: Text) -> Iterator[Hit | Untold]:
    """What neither the sentence nor the text around it names; the version where the text demands it."""
    message = case.message
    around = flat(f"{message.text} {message.document.text or ''}")
    missing: dict[str, None] = {}
    for operand in message.compared:
        if operand.submitter and not _named(message, "submitter", around, operand.submitter, (operand.submitter,)):
            missing[f"the submitter {operand.submitter}"] = None
        if operand.benchmark and not _named(
            message, "benchmark", around, operand.benchmark, benchmark_words(operand.benchmark)
        ):
            missing[f"the benchmark {operand.benchmark}"] = None
        if text.name != "2021-06" and not _named(
            message, "version", around, operand.round, (operand.round, f"v{operand.round}")
        ):
            missing[f"the version v{operand.round}"] = None
        system = _system_named(message, operand)
        if system is False:
            missing[f"the system {operand.system_name or operand.system}"] = None
        elif system is None:
            yield Untold("R01", "whether a system is named: say it under says: system")
    if missing:
        yield Hit(rule="R01", message=f"the text does not name {enumerated(missing, 'or')}")
    yield from _model_names(message)


def _named(message: Message, what: str, around: str, value: str, words: tuple[str, ...]) -> bool:
    said = noted(message, what)
    if said is not None and (not said or mentions(flat(" ".join(said)), (value, *words))):
        return bool(said)
    return mentions(around, words)


def _system_named(message: Message, operand: Operand) -> bool | None:
    """None where only a person can tell: folders and descriptions call systems otherwise than texts do."""
    said = noted(message, "system")
    if said is not None:
        return bool(said)
    around = squashed(f"{message.text} {message.document.text or ''}")
    known = [squashed(name) for name in (operand.system_name, (operand.system or "").split("_")[0]) if name]
    return True if any(name and name in around for name in known) else None


def _as_written(name: str, text: str) -> str:
    """A name in the letters of a text, where it stands there so."""
    found = re.search(re.escape(name), text, re.I)
    return found[0] if found else name


def _model_names(message: Message) -> Iterator[Hit]:
    said = flat(" ".join((message.text, *(noted(message, "benchmark") or ()))))
    for operand in message.compared:
        known = names().get(operand.benchmark or "")
        if operand.division != "open" or known is None or mentions(said, known.task):
            continue
        used = next((name for name in known.model if mentions(said, [name])), None)
        if used is not None:
            written = quote(_as_written(used, message.text))
            yield Hit(
                rule="R02",
                message=f"the model's name {written} stands for the benchmark's, and the result is Open",
                expected=known.task[0],
                actual=used,
            )
            return
