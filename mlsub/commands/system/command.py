"""``mlsub system``: descriptions of systems: known ones, new ones, this machine's, and whether they are in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands import LazyGroup
from mlsub.commands.options import check_rule_names, choice_options
from mlsub.commands.output import CheckCommand, Target, check_output_options, output_options, write_answer, write_output
from mlsub.commands.settings import apply_waivers_to_findings, fail_on_options, setting
from mlsub.io import MlsubError
from mlsub.io.write import cannot_write, make_folder
from mlsub.present import FORMATS
from mlsub.present.terminal import busy, put, render

if TYPE_CHECKING:
    from mlsub.findings import Severity
    from mlsub.present.document import Document
    from mlsub.submission.report import Choice, Detail
    from mlsub.systems.draft import Asked, Draft

F = TypeVar("F", bound=Callable[..., Any])


def _description_options(function: Callable[..., None]) -> Callable[..., None]:
    """--submitter, --division, --status and --set.

    The function gets them, with its --hosts and --framework, as ``asked`` (:class:`mlsub.systems.draft.Asked`).
    """

    @click.option("--submitter", metavar="NAME", help="Name your organisation, as its folder is named.")
    @click.option("--division", metavar="DIVISION", help="Choose closed or open.")
    @click.option("--status", metavar="STATUS", help="Set the status: onprem, cloud, preview or rdi.")
    @click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Set any other field.")
    @wraps(function)
    def called(division: str | None, changes: tuple[str, ...], **values: Any) -> None:
        from mlsub.commands.system.run import parse_change
        from mlsub.rounds import known_division
        from mlsub.systems.draft import Asked

        asked = Asked(
            submitter=values.pop("submitter"),
            division=None if division is None else known_division(division),
            status=values.pop("status"),
            framework=values.pop("framework", None),
            hosts=values.pop("hosts", None),
            changes=tuple(map(parse_change, changes)),
        )
        function(asked=asked, **values)

    return called


def _file_options(function: F) -> F:
    """-o and --force: the description goes to a file."""
    output = click.option(
        "-o", "--output", metavar="FILE", help="Write to FILE, and make its folder; otherwise to standard output."
    )
    force = click.option("--force", is_flag=True, help="Replace FILE; the earlier file is kept as FILE.~1~.")
    return output(force(function))


@click.group("system", cls=LazyGroup, modules={})
def command() -> None:
    """Look up known systems, write a new description, capture this machine, check descriptions.

    Exit status: 0, 1 if there is something to fix, 2 if it could not be done.
    """


@command.command("list", example="mlsub system list")
@output_options("system list")
def list_(target: Target) -> None:
    """List the systems and the accelerators that are known.

    Exit status: 0.
    """
    from mlsub.commands.system import document, run

    found = run.list_known()
    target.write(found, lambda: document.systems_document(found))


@command.command("show", example="mlsub system show ipu-pod16")
@click.argument("name", metavar="SYSTEM")
@click.option(
    "--hosts", type=click.IntRange(1, 100_000), metavar="N", help="Show the system with this number of hosts."
)
@click.option(
    "--framework", metavar="FRAMEWORK", help="Show it with this framework; otherwise the first published one."
)
@click.option("--sources", is_flag=True, help="Show the source of each value.")
@output_options("system show", (*FORMATS, "yaml"))
def show(name: str, hosts: int | None, framework: str | None, sources: bool, target: Target) -> None:
    """Show what is known of SYSTEM, a system or an accelerator, with the faults of the published files fixed.

    number_of_nodes counts hosts, each with its own processors and its share of the accelerators. A value that nobody
    has published is shown as such. yaml is the description alone; json has it with the source of each value.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.system import document, run
    from mlsub.systems.draft import Asked

    shown, draft = run.show(name, Asked(hosts=hosts, framework=framework))
    if target.format == "yaml":
        import yaml

        content = shown.description
        if sources:
            content = {field: {"value": value, "source": shown.sources[field]} for field, value in content.items()}
        target.put(str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)))
        return
    target.write(shown, lambda: document.draft_document(f"{shown.name}: {shown.title}", draft, sources=sources))


@command.command("new", example="mlsub system new --from ipu-pod16 --submitter Graphcore")
@click.option(
    "--from",
    "from_",
    required=True,
    metavar="SYSTEM|FILE",
    help="Start from a known system or accelerator, or a FILE.json.",
)
@click.option("--hosts", type=click.IntRange(1, 100_000), metavar="N", help="Set the number of hosts.")
@click.option("--framework", metavar="FRAMEWORK", help="Name a published framework, or your own with its version.")
@_description_options
@_file_options
def new(from_: str, asked: Asked, output: str | None, force: bool) -> None:
    """Write a system description with the hardware of a known system, of an accelerator, or of another description.

    mlsub system list shows the systems and accelerators. Of a FILE.json, what describes the machine is kept, and
    submitter, division, status, system name and notes on the software are left out. A field that only you can fill in
    and that no option gives holds TODO, which every check reports; these fields are listed.

    Exit status: 0, or 2 if it could not be made or written.
    """
    from mlsub.commands.system.run import make_new

    _put(make_new(from_, asked), output, force=force)


@command.command("check", cls=CheckCommand, example="mlsub system check v5.1/ACME/systems")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@setting(
    "--round",
    "round_",
    metavar="ROUND",
    help="Set the round, such as 1.0; otherwise taken from the folders, or the newest.",
)
@setting("--usage", metavar="USAGE", help="Set training, hpc or rehearsal.")
@fail_on_options
@choice_options
@check_output_options("system check")
def check(
    files: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    fail_on: Severity | None,
    choice: Choice,
    detail: Detail | None,
    target: Target,
) -> None:
    """Check system descriptions: the official verdict, and what a careful reviewer would ask.

    FILE is a description, or a folder of them. What is shown in full, and what a hidden finding counts for, is as in
    mlsub check.

    Exit status: 0 accepted, 1 rejected, 2 nothing to check.
    """
    from mlsub.commands.system import document, run
    from mlsub.present.findings import shown_of

    with target.or_refused():
        check_rule_names((*choice.select, *choice.ignore))
        checked = [run.check_file(file, round_, usage) for file in run.files_in(files)]
    checked = [one.with_findings(apply_waivers_to_findings(one.findings, ".")) for one in checked]
    chosen = tuple(one.with_findings(tuple(filter(choice.wants, one.findings))) for one in checked)

    def build(*, page: bool) -> Document:
        return document.checks_document(checked, shown_of(choice, detail, fail_on=fail_on, page=page))

    target.write(
        run.Checks(systems=chosen),
        lambda: build(page=False),
        page=lambda _: build(page=True),
        results=lambda: document.results_of(chosen, fail_on=fail_on),
    )
    sys.exit(max(run.report_of([one]).exit_status(fail_on=fail_on) for one in chosen))


@command.command("capture", example="mlsub system capture --submitter ACME -o node.json")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@click.option("--merge", is_flag=True, help="Join the captures FILE... instead of capturing this host.")
@_description_options
@click.option("--sources", is_flag=True, help="Show a table with the source of each value.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["description", "json"]),
    default="description",
    show_default=True,
    help="Set the output format; json is the capture with sources, for --merge.",
)
@_file_options
def capture_command(
    files: tuple[str, ...],
    merge: bool,
    asked: Asked,
    sources: bool,
    format_: str,
    output: str | None,
    force: bool,
) -> None:
    """Describe this machine from what its tools report, or join captures of several; nobody needs to be root.

    A field that no tool reports holds TODO, and is listed. Names of hosts and users are not read.
    Under srun or mpirun each process captures its host ({rank} in FILE is its number), and the captures are joined:

    \b
      srun --ntasks-per-node 1 mlsub system capture -o capture.{rank}.json
      mlsub system capture --merge capture.*.json -o rack1.json

    Exit status: 0, 1 if hosts differ, 2 if it could not be done.
    """
    from mlsub.commands.system import document, run
    from mlsub.emit.ranks import DetectedRanks
    from mlsub.present.document import Findings
    from mlsub.systems.capture import merge_captures, to_json
    from mlsub.systems.draft import finish

    with busy("asking the tools of this host"):
        captures = run.find_captures(files, merge=merge)
    process = DetectedRanks()
    if format_ == "json" or (output is not None and "{rank}" in output):
        if len(captures) > 1:
            raise MlsubError("--format json is the capture of one host; leave it out to join several.")
        _write(to_json(captures[0][1]), output and output.replace("{rank}", str(process.rank)), force=force)
        return
    found, differences = merge_captures(captures)
    draft = finish(found, asked)
    if output is not None and process.size > 1:
        raise MlsubError(f"Every process would write {output}. Write -o capture.{{rank}}.json, and join with --merge.")
    if output is not None or not sources:
        _put(draft, output, force=force)
    if sources:
        shown = document.draft_document("This system, as its tools report it", draft, sources=True)
        write_answer(render(shown, "text", sys.stdout))
    if differences:
        put(sys.stderr, Findings(differences))
        sys.exit(1)


def _put(draft: Draft, output: str | None, *, force: bool) -> None:
    """Write a description to a file or to standard output, and list what it leaves open where the description is not.

    Raises:
        MlsubError: the file cannot be written.
    """
    from mlsub.commands.system.document import open_ends

    _write(json.dumps(draft.description(), indent=2, ensure_ascii=True) + "\n", output, force=force)
    put(sys.stderr if output is None else sys.stdout, *open_ends(draft))


def _write(content: str, output: str | None, *, force: bool) -> None:
    """Write a description or a capture to standard output, or a file; a folder that is not there yet is made.

    Raises:
        MlsubError: the file or its folder cannot be written.
    """
    if output is None:
        write_answer(content)
        return
    file = Path(output)
    try:
        make_folder(file.parent)
    except (OSError, ValueError) as error:
        raise cannot_write(file.parent, error) from error
    write_output(file, content.encode(), force=force)
