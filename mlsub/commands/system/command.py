"""``mlsub system``: descriptions of systems: known ones, new ones, this machine's, and whether they are in order."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from mlsub.commands.lazy import LazyGroup
from mlsub.commands.system.output import changes_of, division_of, put, to_json, write

if TYPE_CHECKING:
    from mlsub.systems.draft import Draft

_FORMATS = click.Choice(["text", "json", "yaml"])


@click.group("system", cls=LazyGroup, modules={"capture": "mlsub.commands.system.command_capture"})
def command() -> None:
    """System descriptions: look known systems up, write new ones, capture this machine, check.

    Exit status: 0, 1 if there is something to fix, 2 if it could not be done.
    """


@command.command("list", example="mlsub system list")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_(format_: str) -> None:
    """List the systems whose descriptions are known.

    Exit status: 0.
    """
    from mlsub.systems.catalogue import find_system, system_names

    systems = [find_system(name) for name in system_names()]
    if format_ == "json":
        import json

        import msgspec

        write(json.dumps([msgspec.to_builtins(system) for system in systems], indent=2) + "\n")
    else:
        from mlsub.commands.system.text import catalogue_text, width_of_terminal

        write(catalogue_text(systems, width_of_terminal()))


@command.command("show", example="mlsub system show ipu-pod16")
@click.argument("name")
@click.option("--hosts", type=click.IntRange(1, 100_000), metavar="N", help="On so many hosts.")
@click.option("--framework", metavar="NAME", help="As published with this framework; the first one, as a rule.")
@click.option("--sources", is_flag=True, help="Say of each value where it is from.")
@click.option("--format", "format_", type=_FORMATS, default="text", show_default=True)
def show(name: str, hosts: int | None, framework: str | None, sources: bool, format_: str) -> None:
    """Show what is known of system NAME, as it was published, with the faults of the published files mended.

    Hosts are told as they are: number_of_nodes counts hosts, each with its own processors and its share of the
    accelerators. What nobody has published says so.

    Exit status: 0, or 2 for a name that there is not.
    """
    from mlsub.systems.catalogue import find_system
    from mlsub.systems.draft import Asked, example_of

    system = find_system(name)
    draft = example_of(system, Asked(hosts=hosts, framework=framework))
    write(_rendered(f"{system.name}: {system.title}", draft, format_, sources=sources))


@command.command("new", example="mlsub system new --from ipu-pod16 --submitter Graphcore")
@click.option("--from", "from_", required=True, metavar="NAME", help="A system of mlsub system list.")
@click.option("--hosts", type=click.IntRange(1, 100_000), metavar="N", help="How many hosts.")
@click.option("--framework", metavar="F", help="A published one by its name, or yours with its version.")
@click.option("--submitter", metavar="S", help="Your organisation, as its folder is called.")
@click.option("--division", metavar="D", help="closed or open.")
@click.option("--status", metavar="S", help="onprem, cloud, preview or rdi; written as every round takes it.")
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Any other field.")
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write it there; else to standard output.")
@click.option("--force", is_flag=True, help="Replace FILE; what it held is kept as FILE.~1~.")
def new(
    from_: str,
    hosts: int | None,
    framework: str | None,
    submitter: str | None,
    division: str | None,
    status: str | None,
    changes: tuple[str, ...],
    output: str | None,
    force: bool,
) -> None:
    """Write a system description with the hardware of a known system.

    What is yours to say and was not said stands there as TODO, which every check tells, and is listed.

    Exit status: 0, or 2 where it could not be made or written.
    """
    from mlsub.systems.catalogue import find_system
    from mlsub.systems.draft import Asked, new_from

    asked = Asked(
        submitter=submitter,
        division=division_of(division),
        status=status,
        framework=framework,
        hosts=hosts,
        changes=changes_of(changes),
    )
    draft = new_from(find_system(from_), asked)
    put(draft, output, force=force)


@command.command("check", example="mlsub system check v5.1/NVIDIA/systems")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--round", "round_", metavar="ROUND", help="1.0 or v1.0; else read off the folders, else the newest.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal.")
@click.option("--strict", is_flag=True, help="Review findings count too: exit status 1 if there are any.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(files: tuple[str, ...], round_: str | None, usage: str | None, strict: bool, format_: str) -> None:
    """Check system descriptions: the official verdict, and what a careful reviewer would ask.

    FILE is a description, or a folder of them.

    Exit status: 0 accepted, 1 rejected, 2 there is nothing to check.
    """
    from mlsub.commands.system.check import check_file, exit_status, files_in

    results = [check_file(file, round_, usage) for file in files_in(files)]
    if format_ == "json":
        import json

        import msgspec

        from mlsub.io.version import VERSION

        document = {"mlsub": VERSION, "systems": [msgspec.to_builtins(checked) for checked in results]}
        write(json.dumps(document, indent=2) + "\n")
    else:
        from mlsub.commands.system.text import print_checked
        from mlsub.present.report import console

        print_checked(results, console())
    sys.exit(exit_status(results, strict=strict))


def _rendered(title: str, draft: Draft, format_: str, *, sources: bool) -> str:
    document: dict[str, Any] = draft.description()
    if format_ != "text" and sources:
        document = {name: {"value": v.value, "source": v.source} for name, v in draft.values.items()}
    if format_ == "json":
        return to_json(document)
    if format_ == "yaml":
        import yaml

        return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120))
    from mlsub.commands.system.text import draft_text, width_of_terminal

    return draft_text(title, draft, width_of_terminal(), sources=sources)
