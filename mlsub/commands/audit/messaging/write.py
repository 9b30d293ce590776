"""The footnote that the guidelines require for a claim; what nobody has said yet is marked as missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.messaging.comparing import UNVERIFIED_BESIDE_VERIFIED, is_composite
from mlsub.commands.audit.messaging.sentences import NOT_VERIFIED
from mlsub.commands.audit.quoting import AUTO, Message, Text, Written, enumerated, text_for
from mlsub.rounds import usages
from mlsub.rules.load import benchmark


def footnotes(messages: Sequence[Message], wanted: str = AUTO) -> tuple[Written, ...]:
    """The footnote of each claim that quotes results, under the text that binds its document."""
    return tuple(
        footnote_of(message, text_for(message.document.date, wanted)) for message in messages if message.compared
    )


def footnote_of(message: Message, text: Text) -> Written:
    """The footnote of one claim under a text."""
    missing: dict[str, None] = {}
    sentences = list(_entries(message, text, missing))
    verified = [operand for operand in message.compared if operand.reviewed]
    if verified:
        retrieved = message.noted("retrieved")
        if retrieved:
            sentences.append(f"Retrieved: {retrieved[0].rstrip('.')}.")
        else:
            sentences.append("Retrieved from [source] on [date].")
            missing["source and date of retrieval"] = None
    sentences += _caveats(message, text, missing)
    sentences.append(text.legend)
    return Written(claim=message.id, rules=text.name, footnote=" ".join(sentences), missing=tuple(missing))


def _entries(message: Message, text: Text, missing: dict[str, None]) -> Iterable[str]:
    """One sentence for each benchmark of a round and division: its results, each with its ID."""
    groups: dict[tuple[str, str, str, str, bool], list[ResultFacts]] = {}
    for operand in message.compared:
        division = operand.division or "[division]"
        if operand.division is None:
            missing[f"division of {operand.name}"] = None
        key = (operand.usage, operand.round, division, operand.benchmark or operand.name, operand.reviewed)
        groups.setdefault(key, []).append(operand)
    ids = list(message.noted("ids") or ())
    unnamed = [operand for operand in message.compared if operand.reviewed and not operand.id]
    given = dict(zip((operand.name for operand in unnamed), ids, strict=True)) if len(ids) == len(unnamed) else {}
    for (usage, name, division, folder, verified), operands in groups.items():
        results = []
        for operand in operands:
            who = " ".join(part for part in (operand.submitter, operand.system_name or operand.system) if part)
            known = operand.id or given.get(operand.name)
            if verified and known is None:
                missing[f"result ID of {who} ({folder})"] = None
                known = f"[ID {name}-...]"
            results.append(f"{who}, entry {known}" if verified else who)
        start = "" if verified else "Unverified "
        suite = _suite(usage).replace("MLPerf", f"MLPerf{text.symbol}", 1)
        what = f"{division.capitalize()}, {_benchmark(usage, name, folder)}"
        yield f"{start}{suite} v{name} {what}: {'; '.join(results)}."


def _suite(usage: str) -> str:
    return {"training": "MLPerf Training", "hpc": "MLPerf HPC"}.get(usage, usage) if usage in usages() else usage


def _benchmark(usage: str, name: str, folder: str) -> str:
    try:
        return benchmark(usage, name, folder).title
    except (KeyError, ValueError):
        return folder


def _caveats(message: Message, text: Text, missing: dict[str, None]) -> Iterable[str]:
    """What a reader has to know of unreviewed, mixed, combined and derived numbers.

    The text of 2025 wants what is made of verified scores to be called unverified; the older one, not official.
    """
    unverified = not all(operand.reviewed for operand in message.compared)
    made_is_unverified = "unverified" in text.wants
    if any(is_composite(part) for part in message.parts):
        method = message.noted("composite_method")
        if not method:
            missing["how the benchmarks are combined"] = None
        yield f"Combined from several benchmarks: {method[0] if method else '[method]'}."
        unverified |= made_is_unverified
    elif message.derived:
        basis = message.noted("derived_metric_basis")
        if not basis:
            missing["what the metric rests on"] = None
        suite = enumerated(dict.fromkeys(_suite(operand.usage) for operand in message.compared))
        suite = suite.replace("MLPerf", f"MLPerf{text.symbol}")
        yield f"Derived metric, not the primary metric of {suite}; it rests on: {basis[0] if basis else '[basis]'}."
        unverified |= made_is_unverified
    if unverified:
        yield NOT_VERIFIED
    if len({operand.reviewed for operand in message.compared}) > 1 and made_is_unverified:
        yield UNVERIFIED_BESIDE_VERIFIED
