"""The rounds of each demand of the written rules, by their texts of all rounds, for mlsub/rules/clauses.yaml."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from tools.clauses import LONG, Known, Unit, bare, digest, pair, units

#: What part of the words of a sentence an earlier one has at least.
_ALIKE = 0.6
#: Rows that had another name in earlier texts.
RENAMED = {
    "Text to Image": "FLUX.1",
    "LLM pretraining Llama31_405B": "Large Language Model Llama31_405B",
    "LLM finetuning Llama2_70B_LoRA": "Large Language Model Llama2_70B_LoRA",
    "LLM Finetuning": "Large language model Fine Tune (LoRA)",
    "LLM finetuning": "Large language model (2)",
}


def rounds_of(known: Sequence[Known], texts: Mapping[str, Sequence[Unit]]) -> list[tuple[str, ...]]:
    """Return of each demand that is known the first round with it, and those in which its words changed.

    ``texts`` are those at the deadlines of rounds, by round, the oldest first. A row is followed by its name, a
    sentence by its first words; ``RENAMED`` rows by the name that they had.
    """
    marks: list[dict[str, str]] = [{} for _ in known]
    there, words = dict(enumerate(known)), dict[int, str]()
    for round_, text in reversed([*texts.items()]):
        pairs, left = pair(list(there.values()), text)
        places = list(there)
        found = {places[n]: unit for n, unit in pairs.items()}
        for at, one in there.items():
            if one.kind == "section":
                inside = " ".join(unit.words for unit in text if one.is_in(unit.section))
                marks[at] |= {round_: digest(inside)[:LONG]} if inside else {}
            elif unit := found.get(at) or _reworded(one, words.get(at, ""), left):
                found[at], marks[at][round_], words[at] = unit, unit.mark, unit.words
        there = {
            at: Known(found[at].section, found[at].anchor, found[at].mark, one.kind) if at in found else one
            for at, one in there.items()
            if round_ in marks[at]
        }
    return [_steps([(round_, of[round_]) for round_ in texts if round_ in of]) for of in marks]


def _reworded(one: Known, words: str, left: Sequence[Unit]) -> Unit | None:
    """Return what of an earlier text that is left over was a demand in other words and under another name.

    That is a row under the name that it had, or a sentence of its section that has most of its words.
    """
    if one.kind == "row":
        name = RENAMED.get(one.words, one.words)
        return next((unit for unit in left if unit.row and bare(unit.row) == bare(name)), None)
    near = [unit for unit in left if not unit.row and unit.section[-1:] == one.section[-1:]]
    alike = {_alike(words, unit.words): unit for unit in near}
    return alike[best] if alike and (best := max(alike)) >= _ALIKE else None


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def _steps(marks: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the first round, and those whose digest is another than before."""
    return tuple(new for (_, was), (new, now) in pairwise([("", ""), *marks]) if was != now)


def texts_at(repository: Path, document: str, deadlines: Mapping[str, str]) -> dict[str, list[Unit]]:
    """Return the text of a document at the deadline of each round, from a repository; of none before its first."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True).stdout

    found = {}
    for round_, day in deadlines.items():
        line = ("--first-parent", f"--before={day}T23:59:59Z", "-1", "HEAD", "--", f"{document}.adoc")
        if commit := git("rev-list", *line).strip():
            found[round_] = list(units(git("show", f"{commit}:{document}.adoc")))
    return found
