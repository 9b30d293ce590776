"""``mlsub audit draft``: a claims file to begin with."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mlsub.commands.asked import Asked, asks
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, output_options


@click.command(
    "draft",
    cls=Command,
    example="mlsub audit draft post.html --results v1.0 -o draft.yaml",
    short_help="Propose a claims file for a text, Markdown or HTML file.",
)
@click.argument("document", metavar="DOCUMENT", type=click.Path(path_type=Path))
@click.option(
    "--results",
    multiple=True,
    metavar="DIR",
    help="Look for results in DIR: a folder of rounds, a round or an organisation; repeatable.",
)
@click.option("--publisher", metavar="NAME", help="Name who published the document; otherwise whom it names most.")
@click.option("--date", "day", metavar="DAY", help="Give its date, such as 2021-06-30; otherwise the first in it.")
@click.option("--title", metavar="TEXT", help="Give its title; otherwise its first heading.")
@click.option("--round", "round_", metavar="ROUND", help="Name the round it is about; otherwise the one it names most.")
@output_options("audit draft", ("text", "json"))
@asks(None, rounds=False)
def command(
    document: Path,
    results: tuple[str, ...],
    publisher: str | None,
    day: str | None,
    title: str | None,
    round_: str | None,
    target: Target,
    asked: Asked,
) -> None:
    """Propose a claims file for DOCUMENT, a text, Markdown or HTML file.

    Each sentence with a figure becomes a claim marked proposed: true. With --results, names of organisations,
    accelerators, benchmarks, rounds, divisions and counts choose the results that a figure may be about, and a comment
    says what their logs give. What no result can decide stays as a claim that says why. Nothing is taken from the
    network, and no model is asked. Compare every claim with its line, and remove the mark to confirm it.

    Exit status: 0 a proposal for every figure, 1 some could not be matched, 2 nothing could be drafted.
    """
    from mlsub.commands.audit.draft.document import document_of
    from mlsub.commands.audit.draft.names import About, date_in
    from mlsub.commands.audit.draft.run import draft
    from mlsub.io.errors import MlsubError
    from mlsub.present.output import put
    from mlsub.present.terminal import progress_bar
    from mlsub.rounds.names import find_round

    if day is not None and date_in(day) != day:
        raise MlsubError(f"--date {day[:40]!r} is not a day; write YYYY-MM-DD, such as 2021-06-30.")
    name = None if round_ is None else find_round("training", round_).name
    given = About(title=title or "", publisher=publisher, date=day, round=name)
    with progress_bar() as progress:
        found = draft(document, results, given, settings=asked.settings(progress))
    if target.format == "json":
        target.write(found, lambda: document_of(found))
    else:
        target.put(found.file)
    if target.file is not None:
        put(sys.stdout, *document_of(found).blocks)
    sys.exit(1 if found.unmatched else 0)
