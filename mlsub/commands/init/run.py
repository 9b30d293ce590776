"""Write a manifest, and say which files the submission rules expect."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

from mlsub.commands.init.draft import Answers, Draft, draft_from, draft_of, manifest_text
from mlsub.commands.output import write_output
from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.io.write import check_output
from mlsub.packing.plan import expected_paths
from mlsub.packing.read import read_manifest
from mlsub.present.document import Code, Column, Section, Table
from mlsub.present.terminal import put
from mlsub.rounds import get_round, normalise_round
from mlsub.submission.find import find, is_organisation


def init(file: Path, tree: Path | None, given: Mapping[str, str | None], *, force: bool, ask: bool | None) -> None:
    """Write a manifest.

    Args:
        file: where to.
        tree: start from this submission.
        given: what the options say, by their names.
        force: replace a file that is there.
        ask: ask for what no option gives; by default on a terminal.

    Raises:
        MlsubError: it cannot be written.
    """
    check_output(file, force=force)
    if tree is not None:
        draft, notes = _of_tree(tree, file, given["round"], given["usage"])
    else:
        draft, notes = draft_from(Answers(given, sys.stdin.isatty() if ask is None else ask)), []
    text = manifest_text(draft, notes)
    _check_manifest(text, file.name)
    write_output(file, text.encode(), force=force)
    _print_tree(file)


def _of_tree(tree: Path, file: Path, round_: str | None, usage: str | None) -> tuple[Draft, list[str]]:
    """Return the draft of a submission that exists, and notes on it.

    Raises:
        MlsubError: it is not a submission, or its round is not known.
    """
    if not is_organisation(tree):
        raise MlsubError(f"{tree} holds neither results nor systems. Name an organisation's folder.")
    place = find(tree)
    if round_ is None and not place.round:
        raise MlsubError("No folder above is named like a round. Say --round, such as --round 5.1.")
    name = round_ or place.round
    found = get_round(usage or place.usage or "training", normalise_round(name) or name[:40])
    return draft_of(tree, found, file.parent)


def _check_manifest(text: str, name: str) -> None:
    """Refuse a text that is no manifest, such as one with a name that no folder can have.

    Raises:
        MlsubError: it is not; says why.
    """
    with TemporaryDirectory(prefix="mlsub-") as folder:
        trial = Path(folder, name)
        trial.write_text(text, "utf-8")
        try:
            read_manifest(trial, {})
        except FileProblemsError as error:
            raise MlsubError(error.problems[0].message) from error


def _print_tree(file: Path) -> None:
    """Say what was written, and print the files that the rules expect."""
    manifest = read_manifest(file)
    entries = len(manifest.entries)
    noun = "entry" if entries == 1 else "entries"
    files = Table((Column("", when_narrow="keep"), Column("")), tuple(expected_paths(manifest).items()))
    put(
        sys.stdout,
        f"Written to {file}: {manifest.organisation}, {manifest.round.title}, {entries} {noun}.",
        Section((f"The submission rules expect in {manifest.organisation}/:", ""), (files,)),
    )
    absent = next((system for system in manifest.systems if not system.file.exists()), None)
    if absent is not None:
        put(sys.stdout, "Describe a system, on one of its machines:", Code(manifest.to_capture(absent)))
    put(sys.stdout, f"See what is there, what is missing and what comes next: mlsub status {quote(str(file))}")
