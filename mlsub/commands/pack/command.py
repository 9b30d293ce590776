"""``mlsub pack``: from loose runs to a submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlsub.commands import Command
from mlsub.commands.opening import folder_option
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, format_option
from mlsub.commands.settings import setting
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.packing.manifest import Waiver
    from mlsub.workspace.places import Request


@click.command("pack", cls=Command, example="mlsub pack submission.yaml --write")
@click.argument("manifest", default="submission.yaml", type=click.Path(path_type=Path))
@folder_option(
    *("--output", "-o"), help="Write to this folder, the organisation's; otherwise training_v5.1/ACME beside MANIFEST."
)
@click.option("--write", is_flag=True, help="Write the package; without it, show what would be written.")
@click.option("--force", is_flag=True, help="Remove files that pack wrote and the manifest no longer names.")
@click.option(
    "--scaffold", "templates", is_flag=True, help="With --write, create missing files among the sources from templates."
)
@setting("--strict/--no-strict", help="Refuse to write a package with review warnings, too.")
@click.option("--even-with-errors", is_flag=True, help="Write it although review errors are found.")
@click.option("--allow", multiple=True, metavar="RULE", help="Write it although this rule rejects; needs --reason.")
@click.option("--reason", multiple=True, metavar="TEXT", help="Say why: one for all, or one for each --allow.")
@asks(None, rounds=False)
@format_option
def command(
    manifest: Path,
    output: Path | None,
    allow: tuple[str, ...],
    reason: tuple[str, ...],
    asked: Request,
    format_: str,
    **chosen: Any,
) -> None:
    """Assemble the submission that MANIFEST describes, check it, and put it in place.

    Without --write, show the plan and check the package as it would be. A package that is rejected, or has review
    errors, is not written, unless you waive what stops it. Sources are never changed. Files of DIR that pack did not
    write, or that were changed since, are kept or named, never replaced or removed.

    Exit status: 0 written, or nothing prevents it; 1 something prevents it; 2 the manifest or DIR cannot be used.
    """
    from mlsub.commands.pack.document import document_of
    from mlsub.packing import pack, read

    waivers = _allowed(allow, reason)
    wanted = read.read_manifest(manifest)
    with progress_bar() as progress:
        options = pack.PackOptions(**chosen, waivers=waivers, context=ready(asked, progress))
        plan, packed = pack.pack(wanted, output or wanted.usual_out, options)
    Target("pack", format_).write(packed, lambda: document_of(plan, packed, wanted=options.write))
    sys.exit(1 if packed.refused else 0)


def _allowed(rules: tuple[str, ...], reasons: tuple[str, ...]) -> tuple[Waiver, ...]:
    """Return the waivers of the command line, for the whole package and this once.

    Raises:
        click.UsageError: a rule does not exist, or there is no reason.
    """
    from mlsub.packing.manifest import Waiver
    from mlsub.rules.explain import suggestion

    for rule in rules:
        if hint := suggestion(rule, whole=True):
            raise click.UsageError(f"there is {hint}")
    if len(reasons) not in {len(rules), 1 if rules else 0} or not all(text.strip() for text in reasons):
        raise click.UsageError("say why with --reason TEXT: one for all, or one for each --allow")
    if len(reasons) == 1:
        reasons *= len(rules)
    return tuple(Waiver(rule=rule, reason=text, expires="never") for rule, text in zip(rules, reasons, strict=True))
