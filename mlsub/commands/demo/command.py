"""``mlsub demo``: a submission of one's own in a minute, to try everything on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from mlsub.commands.lazy import Command

if TYPE_CHECKING:
    from mlsub.commands.demo.manifest import RehearsalEntry
    from mlsub.commands.demo.train import Result


@click.command("demo", cls=Command, example="mlsub demo submissions/rehearsal/submission.yaml -o build/demo")
@click.argument("manifest", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("demo"), show_default=True)
@click.option("--replace", is_flag=True, help="Replace an earlier rehearsal of the same organisation.")
def command(manifest: Path, output: Path, replace: bool) -> None:
    """Train the rehearsal that MANIFEST describes, and lay it out as a submission under the output folder.

    Real runs on this machine, but of small networks on 1,797 digits and on some old poems: a rehearsal, not an
    MLPerf result.

    Exit status: 0 done, 1 refused by the rules of the division, 2 could not be done.
    """
    from mlsub.commands.demo.manifest import read_manifest
    from mlsub.commands.demo.rehearse import rehearse
    from mlsub.emit.errors import DoomedRunError
    from mlsub.io.errors import MlsubError

    try:
        wanted = read_manifest(manifest)
        click.echo("Rehearsal: real training of a small network on this machine; not an MLPerf result.")
        folder = rehearse(wanted, output, replace=replace, progress=_tell)
    except DoomedRunError as error:
        _refuse(error)
    except ImportError as error:
        install = "Install it with: pip install 'mlsub[rehearsal]'"
        raise MlsubError(f"rehearsing needs scikit-learn ({error}). {install}") from error
    else:
        click.echo(f"Laid out in {folder}. Check it with: mlsub check {folder}")


def _tell(entry: RehearsalEntry, number: int, runs: int, result: Result) -> None:
    ending = "reached" if result.success else "did not reach"
    epochs = f"{result.epochs:g} epoch{'s' if result.epochs != 1 else ''}"
    click.echo(
        f"  {entry.system}, {entry.benchmark} ({entry.division}) run {number} of {runs}: "
        f"{ending} the target in {epochs}, quality {result.quality:.4f}"
    )


def _refuse(error: Exception) -> NoReturn:
    """End with status 1: the recorder has findings against the runs that the manifest asks for."""
    from mlsub.io.plain import plain

    for line in str(error).splitlines():
        click.echo(plain(line), err=True)
    sys.exit(1)
