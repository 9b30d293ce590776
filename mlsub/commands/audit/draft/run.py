"""Draft a claims file: from a document, and folders of results if there are any, to its text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from mlsub.commands.audit.draft.candidates import entries_of
from mlsub.commands.audit.draft.model import Draft, Proposal
from mlsub.commands.audit.draft.names import About, about, rounds_of
from mlsub.commands.audit.draft.pages import sentences_of
from mlsub.commands.audit.draft.propose import Proposer
from mlsub.commands.audit.draft.write import Plan, plan_of, text_of
from mlsub.commands.audit.places import RoundFolder, round_folders
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.run import audit_of, read_world
from mlsub.commands.audit.words import entries
from mlsub.io.errors import MlsubError
from mlsub.io.write import temporary_folder
from mlsub.workspace import AS_FOUND, Settings


def draft(document: Path, folders: Sequence[str], given: About, *, settings: Settings = AS_FOUND) -> Draft:
    """Propose a claims file.

    Args:
        document: a text, Markdown or HTML file.
        folders: where results lie, see places.py; none for a draft that only says what results to look for.
        given: what is known of the document, which goes before what is read from it.
        settings: how logs are read.

    Raises:
        FileProblemsError: the document cannot be read.
        MlsubError: it states no figure, or a folder holds no results.
    """
    rounds = round_folders(folders)
    sentences = sentences_of(document)
    known = about(sentences, document.name, given)
    named = {known.round} if known.round else set()
    named |= {value for one in sentences for value in rounds_of(one.text)}
    # A claim may be about the round before one that is named.
    found = entries_of(rounds, _with_earlier(named, rounds)) if folders else None
    guesses = tuple(Proposer(sentences, known, found).guesses())
    if not guesses:
        raise MlsubError(f"{document} has no sentence with a figure that a claim could be made of.")
    plan = plan_of(guesses, given=bool(folders))
    proposals = tuple(one for one, _ in plan.proposals)
    if folders:
        proposals = _checked(plan, known, document, folders, settings)
    notes = {one.id: one.figures for one in proposals}
    return Draft(
        document=str(document),
        sentences=len({id(guess.sentence) for _, guess in plan.proposals}),
        proposed=sum(one.matched for one in proposals),
        unmatched=sum(not one.matched for one in proposals),
        claims=proposals,
        file=text_of(plan, known, document.name, notes),
    )


def _with_earlier(named: set[str], rounds: Sequence[RoundFolder]) -> set[str]:
    names = sorted({one.round for one in rounds}, key=lambda name: tuple(map(int, name.split("."))))
    return named | {before for before, name in pairwise(names) if name in named}


def _checked(
    plan: Plan, known: About, document: Path, folders: Sequence[str], settings: Settings
) -> tuple[Proposal, ...]:
    """The proposals with what the logs give for them."""
    with temporary_folder() as folder:
        file = folder / "claims.yaml"
        file.write_text(text_of(plan, known, document.name, {}), "utf-8")
        found = audit_of(read_world(read_claims(file), folders, settings=settings))
    given = {entry.id: entry for entry in entries(found)}
    made = []
    for one, _ in plan.proposals:
        entry, shown = given[one.id], one
        rows = [f"{label}: {text}" for label, text in entry.rows if label in ("computed", "differs", "why")]
        if one.expr is not None:
            shown = msgspec.structs.replace(
                one, verdict=str(entry.verdict), figures=(f"logs: {entry.headline.removesuffix(', proposed')}", *rows)
            )
        made.append(shown)
    return tuple(made)
