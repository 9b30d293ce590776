"""``mlsub system capture``: describe the machine this runs on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands.lazy import Command

if TYPE_CHECKING:
    from mlsub.systems.capture.machine import Capture
    from mlsub.systems.draft import Draft


@click.command("capture", cls=Command, example="mlsub system capture --submitter NVIDIA -o node.json")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@click.option("--merge", is_flag=True, help="Join the captures FILE... instead of capturing this host.")
@click.option("--hosts", metavar="A,B", help="Capture these hosts by ssh instead; mlsub must be installed on them.")
@click.option("--submitter", metavar="S", help="Your organisation, as its folder is called.")
@click.option("--division", metavar="D", help="closed or open.")
@click.option("--status", metavar="S", help="onprem, cloud, preview or rdi.")
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Any other field.")
@click.option("--sources", is_flag=True, help="A table that says of each value where it is from.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["description", "json"]),
    default="description",
    show_default=True,
    help="json is this host's capture with sources, for --merge.",
)
@click.option("-o", "--output", metavar="FILE", help="Write it there. With {rank} in it: a capture of each process.")
@click.option("--force", is_flag=True, help="Replace FILE; what it held is kept as FILE.~1~.")
def command(
    files: tuple[str, ...],
    merge: bool,
    hosts: str | None,
    submitter: str | None,
    division: str | None,
    status: str | None,
    changes: tuple[str, ...],
    sources: bool,
    format_: str,
    output: str | None,
    force: bool,
) -> None:
    """Describe this machine, or several, by what they tell of themselves; nobody needs to be root.

    What no tool tells stands there as TODO, and is listed. Names of hosts and users are not looked at.
    Under srun or mpirun each process captures its host, and the captures are joined:

    \b
      srun --ntasks-per-node 1 mlsub system capture -o capture.{rank}.json
      mlsub system capture --merge capture.*.json -o rack1.json

    Exit status: 0, 1 where hosts differ, 2 where it could not be done.
    """
    from mlsub.commands.system.output import changes_of, division_of
    from mlsub.systems.capture.merge import merge as joined
    from mlsub.systems.draft import Asked, finish

    captures = _captures(files, merge=merge, hosts=hosts)
    if format_ == "json" or (output is not None and "{rank}" in output):
        _put_capture(captures, output, force=force)
        return
    found, findings = joined(captures)
    asked = Asked(submitter=submitter, division=division_of(division), status=status, changes=changes_of(changes))
    _put_draft(finish(found, asked), output, sources=sources, force=force)
    if findings:
        from mlsub.present.report import console, grouped, print_group

        for group in grouped(findings):
            print_group(group, console(sys.stderr))
        sys.exit(1)


def _captures(files: tuple[str, ...], *, merge: bool, hosts: str | None) -> list[tuple[str, Capture]]:
    from pathlib import Path

    from mlsub.io.errors import MlsubError
    from mlsub.systems.capture.machine import capture_here, read_capture
    from mlsub.systems.capture.remote import capture_hosts, hosts_in

    if merge and hosts is not None:
        raise MlsubError("--merge and --hosts exclude each other: the one joins captures, the other makes them.")
    if merge:
        if not files:
            raise MlsubError("--merge needs captures; name their files.")
        return [(file, read_capture(Path(file))) for file in dict.fromkeys(files)]
    if files:
        raise MlsubError(f"{files[0]}: files are joined with --merge, and written with -o.")
    return capture_hosts(hosts_in(hosts)) if hosts is not None else [("this host", capture_here())]


def _put_capture(captures: list[tuple[str, Capture]], output: str | None, *, force: bool) -> None:
    """Write this host's capture, its file named after the process that wrote it."""
    from pathlib import Path

    from mlsub.commands.options import write_output
    from mlsub.commands.system.output import write
    from mlsub.emit.ranks import Detected
    from mlsub.io.errors import MlsubError
    from mlsub.systems.capture.machine import to_json

    if len(captures) > 1:
        raise MlsubError("--format json is the capture of one host; leave it out to join several.")
    content = to_json(captures[0][1])
    if output is None:
        write(content)
    else:
        write_output(Path(output.replace("{rank}", str(Detected().rank))), content.encode(), force=force)


def _put_draft(draft: Draft, output: str | None, *, sources: bool, force: bool) -> None:
    from mlsub.commands.system.output import put, write
    from mlsub.emit.ranks import Detected
    from mlsub.io.errors import MlsubError

    if output is not None and Detected().size > 1:
        raise MlsubError(f"Every process would write {output}. Write -o capture.{{rank}}.json, and join with --merge.")
    if sources and output is None:
        from mlsub.commands.system.text import draft_text, width_of_terminal

        write(draft_text("This system, as far as it tells", draft, width_of_terminal(), sources=True))
        return
    put(draft, output, force=force)
    if sources:
        from mlsub.commands.system.text import sources_text, width_of_terminal

        write(sources_text(draft, width_of_terminal()))
