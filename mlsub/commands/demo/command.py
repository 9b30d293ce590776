"""``mlsub demo``: train a rehearsal, and lay it out as a submission to try mlsub on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.opening import folder_option
from mlsub.io import MlsubError, needs_extra
from mlsub.io.show import message_line, plural
from mlsub.present.terminal import put

if TYPE_CHECKING:
    from mlsub.commands.demo.run import RehearsalEntry
    from mlsub.commands.demo.train import Trained


@click.command("demo", cls=Command, example="mlsub demo submissions/rehearsal/training.yaml")
@click.argument("manifest", type=click.Path(path_type=Path))
@folder_option(
    *("-o", "--output"),
    default=Path("demo"),
    show_default=True,
    help="Write rehearsal-v1.0/<organisation> into this folder.",
)
@click.option("--force", is_flag=True, help="Replace an earlier demo of the same organisation.")
def command(manifest: Path, output: Path, force: bool) -> None:
    """Train the rehearsal that MANIFEST describes, and lay it out as a submission in DIR.

    The runs are real, of a small network on 1,797 handwritten digits: a rehearsal, not an MLPerf result.

    Exit status: 0 done, 1 refused by the rules of the division, 2 could not be done.
    """
    from mlsub.commands.demo.run import read_rehearsal, rehearse
    from mlsub.emit.errors import DoomedRunError

    try:
        wanted = read_rehearsal(manifest)
        _say("Rehearsal: real training of a small network on this machine; not an MLPerf result.")
        folder = rehearse(wanted, output, force=force, progress=_progress)
    except DoomedRunError as error:
        # The recorder has findings against the runs that the manifest asks for.
        for line in str(error).splitlines():
            click.echo(message_line(line), err=True)
        sys.exit(1)
    except ImportError as error:
        raise MlsubError(needs_extra(f"rehearsing needs scikit-learn ({error}).", "rehearsal")) from error
    else:
        _say(f"Laid out in {folder}. Check it with: mlsub check {folder}")


def _say(text: str) -> None:
    """Print a line at once, for training takes long."""
    put(sys.stdout, text)
    sys.stdout.flush()


def _progress(entry: RehearsalEntry, number: int, runs: int, trained: Trained) -> None:
    ending = "reached" if trained.success else "did not reach"
    epochs = plural(trained.epochs, "epoch")
    _say(
        f"{entry.system}, {entry.benchmark} ({entry.division}) run {number} of {runs}: "
        f"{ending} the target in {epochs}, quality {trained.quality:.4f}"
    )
