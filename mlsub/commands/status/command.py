"""``mlsub status``: where a submission stands, and what to do next."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mlsub.commands import Command
from mlsub.commands.opening import folder_option
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, output_options
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command("status", cls=Command, example="mlsub status submission.yaml")
@click.argument("path", default=".", metavar="[PATH]", type=click.Path(path_type=Path))
@asks(None)
@folder_option("--package", help="Look for the package of a manifest in DIR; otherwise where mlsub pack puts it.")
@output_options("status")
def command(asked: Request, path: Path, package: Path | None, target: Target) -> None:
    """Show where a submission stands: entries, missing runs, margins, what is left to fill in, and the next command.

    PATH is a manifest, a folder with submission.yaml in it, or a package; it is the current folder unless you name
    another. Nothing is written. A deadline in the manifest is counted down to in days (UTC).

    Exit status: 0 the package can be sealed, or is; 1 something is left to do; 2 PATH cannot be used.
    """
    from mlsub.commands.status import run
    from mlsub.packing.read import read_manifest

    today = datetime.now(UTC).date()
    file = run.manifest_of(path)
    if file is None and package is not None:
        raise click.UsageError(f"--package is for a manifest, and {path} is not one.")
    source = click.get_current_context().get_parameter_source
    if file is not None and ParameterSource.COMMANDLINE in (source("round"), source("usage")):
        raise click.UsageError("--round and --usage are for a package; a manifest names its own.")
    with progress_bar() as progress:
        if file is None:
            status = run.status_of_package(path, ready(asked, progress), today)
        else:
            manifest = read_manifest(file)
            status = run.status_of_manifest(manifest, package or manifest.usual_out, today, ready(asked, progress))
    target.write(status, lambda: run.document_of(status))
    sys.exit(status.exit_status)
