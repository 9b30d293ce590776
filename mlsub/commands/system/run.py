"""The answers about system descriptions, and the check of each by the rules of its round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.io import MlsubError
from mlsub.present.envelope import Answer
from mlsub.rounds import Round, find_round, find_usage, get_round, known_rounds
from mlsub.submission.find import PathKind, Place, infer_round
from mlsub.submission.report import Report, SystemResult
from mlsub.systems import capture
from mlsub.systems.capture import Capture
from mlsub.systems.catalogue import Accelerator, KnownSystem, accelerators, find_known, find_system, system_names
from mlsub.systems.description import read_description
from mlsub.systems.draft import Asked, Draft, check_field, draft

_How = Literal["given", "folder", "newest"]


class KnownSystems(Answer, frozen=True, kw_only=True):
    """The systems whose descriptions are known, and the accelerators of which something is known."""

    SCHEMA: ClassVar[int] = 2

    systems: tuple[KnownSystem, ...]
    accelerators: tuple[Accelerator, ...]


class Shown(Answer, frozen=True, kw_only=True):
    """What is known of a system: its description as MLPerf's file, and the source of each field.

    Of an accelerator it is its fields alone.

    ``to_fill_in`` are fields whose answer is yours, ``not_published`` those of which nobody has published a value.
    """

    SCHEMA: ClassVar[int] = 1

    name: str
    title: str
    description: dict[str, Any]
    sources: dict[str, str]
    to_fill_in: tuple[str, ...]
    not_published: tuple[str, ...]


class CheckedDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One description: the round by which it was checked, how that is known, the verdict and the findings.

    ``round_from`` is the folder that the round was read off, null where it was not.
    """

    path: str
    usage: str
    round: str
    how: _How
    round_from: str | None
    official: Verdict
    findings: tuple[Finding, ...]

    def with_findings(self, findings: tuple[Finding, ...]) -> CheckedDescription:
        """The same with other findings."""
        return msgspec.structs.replace(self, findings=findings)


def report_of(checked: Sequence[CheckedDescription]) -> Report:
    """Return the report on descriptions that were checked by the rules of one round, at least one."""
    rejected = any(one.official is Verdict.REJECTED for one in checked)
    return Report(
        usage=checked[0].usage,
        round=checked[0].round,
        root=".",
        official=Verdict.REJECTED if rejected else Verdict.ACCEPTED,
        systems=tuple(SystemResult(path=one.path, organisation="", official=one.official) for one in checked),
        findings=tuple(finding for one in checked for finding in one.findings),
    )


class Checks(Answer, frozen=True, kw_only=True):
    """The verdict on each description."""

    SCHEMA: ClassVar[int] = 3

    systems: tuple[CheckedDescription, ...]


def parse_change(text: str) -> tuple[str, str]:
    """Return the field and the value of ``FIELD=VALUE``, as --set has it.

    Raises:
        MlsubError: there is no such field, or no equals sign.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise MlsubError(f"--set {text[:60]!r} has no equals sign; write --set FIELD=VALUE.")
    check_field(name)
    return name, value


def list_known() -> KnownSystems:
    """Return all there is in the catalogue."""
    return KnownSystems(systems=tuple(map(find_system, system_names())), accelerators=accelerators())


def show(name: str, asked: Asked) -> tuple[Shown, Draft]:
    """Return what is known of a system or an accelerator, and its description as far as it is known.

    Raises:
        MlsubError: there is none of that name, or not with so many hosts or this framework.
    """
    found = find_known(name)
    if isinstance(found, Accelerator) and (asked.hosts or asked.framework):
        raise MlsubError(f"{found.name} is an accelerator; --hosts and --framework choose among published systems.")
    known = draft(found, asked, published=True)
    shown = Shown(
        name=found.name,
        title=found.title if isinstance(found, KnownSystem) else found.model,
        description=known.description(),
        sources={field: value.source for field, value in known.values.items()},
        to_fill_in=tuple(known.to_fill_in()),
        not_published=tuple(known.not_published()),
    )
    return shown, known


def make_new(source: str, asked: Asked) -> Draft:
    """Return a new description from a system, an accelerator or a description's file.

    Raises:
        MlsubError: there is none of that name, or it cannot be read.
    """
    is_file = source.endswith(".json") or "/" in source
    return draft(Path(source) if is_file else find_known(source), asked)


def find_captures(files: Sequence[str], *, merge: bool) -> list[tuple[str, Capture]]:
    """Return captures, each with its file: those to merge, or this host's.

    Raises:
        MlsubError: files are named without --merge, or none with it, or one cannot be read.
    """
    if merge:
        if not files:
            raise MlsubError("--merge needs captures; name their files.")
        return [(file, capture.read_capture(Path(file))) for file in dict.fromkeys(files)]
    if files:
        raise MlsubError(f"{files[0]}: files are joined with --merge, and written with -o.")
    return [("this host", capture.capture_here())]


def files_in(paths: Iterable[str]) -> list[Path]:
    """Return the descriptions that are meant: files as they are, of a folder every ``*.json`` in it.

    Raises:
        MlsubError: a path is not there, or a folder holds none.
    """
    files: list[Path] = []
    for text in paths:
        path = Path(text)
        try:
            if not path.is_dir():
                path.lstat()
                files.append(path)
                continue
            inside = sorted(child for child in path.glob("*.json") if not child.name.startswith("."))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise MlsubError(f"{text}: {reason}. Name a system description, or a folder of them.") from error
        if not inside:
            raise MlsubError(f"{text} holds no system description (*.json).")
        files.extend(inside)
    return list(dict.fromkeys(files))


def check_file(file: Path, round_text: str | None = None, usage: str | None = None) -> CheckedDescription:
    """Check one description; bad input never raises.

    Without a round it is the one that a folder above is named after, and without such a folder the newest, which
    asks most.

    Raises:
        MlsubError: there is no such round or usage.
    """
    round_, how, folder = _round_of(file, round_text, usage)
    description = read_description(file, str(file), round_)
    return CheckedDescription(
        path=str(file),
        usage=round_.usage,
        round=round_.name,
        how=how,
        round_from=folder,
        official=Verdict.ACCEPTED if description.accepted else Verdict.REJECTED,
        findings=description.findings,
    )


def _round_of(file: Path, text: str | None, usage: str | None) -> tuple[Round, _How, str | None]:
    of = find_usage(usage) if usage is not None else None
    if text is not None:
        return find_round(of or "training", text), "given", None
    inferred = infer_round(Place(file.absolute(), PathKind.LOG))
    if inferred.round and of in (None, inferred.usage) and inferred.round in known_rounds(inferred.usage):
        return get_round(inferred.usage, inferred.round), "folder", inferred.round_from
    newest = of or "training"
    return get_round(newest, known_rounds(newest)[-1]), "newest", None
