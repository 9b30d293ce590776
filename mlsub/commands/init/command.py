"""``mlsub init``: a manifest to begin with."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.lazy import Command

if TYPE_CHECKING:
    from mlsub.commands.init.draft import Draft


@click.command("init", cls=Command, example="mlsub init --from v5.1/ACME")
@click.argument("file", metavar="[FILE]", default="submission.yaml", type=click.Path(path_type=Path))
@click.option("--from", "tree", metavar="TREE", type=click.Path(path_type=Path), help="Start from this submission.")
@click.option("--organisation", metavar="NAME", help="Name the submitter.")
@click.option("--usage", metavar="USAGE", help="Set training, hpc or rehearsal.")
@click.option("--round", metavar="ROUND", help="Name the round, as 5.1, 5.1.0 or v5.1.")
@click.option("--division", type=click.Choice(["closed", "open"]), help="Set the division of all entries.")
@click.option("--system", metavar="NAME", multiple=True, help="Add a system; repeatable.")
@click.option("--benchmark", metavar="BENCHMARK", multiple=True, help="Add a benchmark; repeatable.")
@click.option("--scaling", type=click.Choice(["strong", "weak"]), help="Set the scaling of all entries (HPC).")
@click.option("--implementation", metavar="NAME", help="Name the folder of the code.")
@click.option(
    "--runs", metavar="DIR", default="runs", show_default=True, help="Take the logs from DIR/<system>/<benchmark>."
)
@click.option("--deadline", metavar="DAY", help="Name the last day to submit, such as 2026-12-31.")
@click.option("--force", is_flag=True, help="Replace FILE; the earlier file is kept as FILE.~1~.")
@click.option("--ask/--no-ask", default=None, help="Ask for what no option gives; the default on a terminal.")
def command(
    file: Path, tree: Path | None, runs: str, force: bool, ask: bool | None, **flags: str | tuple[str, ...] | None
) -> None:
    """Write the manifest of a submission: from options, answers to questions, or an existing submission.

    It also prints the files that the submission rules expect. FILE is submission.yaml unless you name another.

    Exit status: 0 written, 2 could not be written.
    """
    from mlsub.io.errors import MlsubError
    from mlsub.io.write import check_output

    given = {name: ",".join(said) if isinstance(said, tuple) else said for name, said in flags.items()}
    try:
        check_output(file, force=force)
        if tree is not None:
            draft, notes = _of_tree(tree, file, given["round"], given["usage"])
        else:
            from mlsub.commands.init.draft import draft_from

            draft, notes = draft_from(given, runs, ask=sys.stdin.isatty() if ask is None else ask), []
        first = {word: draft[word] for word in ("organisation", "usage", "round")}
        draft = {**first, "deadline": given["deadline"], **draft}
        _write(draft, notes, file, force=force)
    except ValueError as error:
        raise MlsubError(str(error)) from error
    _print_tree(file)


def _of_tree(tree: Path, file: Path, round_: str | None, usage: str | None) -> tuple[Draft, list[str]]:
    """Return the draft of a submission that exists, and notes on it.

    Raises:
        ValueError: it is not a submission, or its round is not known.
    """
    from mlsub.commands.init.draft import draft_of
    from mlsub.rounds import get_round, normalise_round
    from mlsub.submission.find import find, is_organisation

    if not is_organisation(tree):
        raise ValueError(f"{tree} holds neither results nor systems. Name an organisation's folder.")
    place = find(tree)
    if round_ is None and not place.round:
        raise ValueError("No folder above is named like a round. Say --round, such as --round 5.1.")
    name = round_ or place.round
    found = get_round(usage or place.usage or "training", normalise_round(name) or name[:40])
    return draft_of(tree, found, file.parent)


def _write(draft: Draft, notes: Iterable[str], file: Path, *, force: bool) -> None:
    """Write the draft, unless it is not a manifest (a name in it that no folder can have).

    Raises:
        ValueError: it is not; says why.
    """
    from tempfile import TemporaryDirectory

    from mlsub.commands.init.draft import manifest_text
    from mlsub.commands.output import write_output
    from mlsub.io.problems import FileProblemsError
    from mlsub.packing.read import read_manifest

    text = manifest_text(draft, notes)
    with TemporaryDirectory(prefix="mlsub-") as folder:
        trial = Path(folder, file.name)
        trial.write_text(text, "utf-8")
        try:
            read_manifest(trial, {})
        except FileProblemsError as error:
            raise ValueError(error.problems[0].message) from error
    write_output(file, text.encode(), force=force)


def _print_tree(file: Path) -> None:
    """Say what was written, and print the files that the rules expect."""
    from shlex import quote

    from mlsub.packing.plan import expected_paths
    from mlsub.packing.read import read_manifest
    from mlsub.present.document import Code, Column, Section, Table, Text
    from mlsub.present.terminal import put

    manifest = read_manifest(file)
    entries = len(manifest.entries)
    noun = "entry" if entries == 1 else "entries"
    files = Table((Column("", when_narrow="keep"), Column("")), tuple(expected_paths(manifest).items()))
    put(
        sys.stdout,
        Text(f"Written to {file}: {manifest.organisation}, {manifest.round.title}, {entries} {noun}."),
        Section((f"The submission rules expect in {manifest.organisation}/:", ""), (files,)),
    )
    absent = next((system for system in manifest.systems if not system.file.exists()), None)
    if absent is not None:
        put(sys.stdout, Text("Describe a system, on one of its machines:"), Code(manifest.to_capture(absent)))
    put(sys.stdout, Text(f"See what is there, what is missing and what comes next: mlsub status {quote(str(file))}"))
