"""Capture this machine, or read captures of several and join them."""

from __future__ import annotations

from pathlib import Path

from mlsub.emit.ranks import DetectedRanks
from mlsub.io import MlsubError
from mlsub.present.document import Findings
from mlsub.systems import capture
from mlsub.systems.capture import Capture
from mlsub.systems.draft import Asked, Draft, finish


def find_captures(files: tuple[str, ...], *, merge: bool) -> list[tuple[str, Capture]]:
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


def as_json(captures: list[tuple[str, Capture]]) -> str:
    """Return the capture of one host with its sources, for --merge.

    Raises:
        MlsubError: there are several.
    """
    if len(captures) > 1:
        raise MlsubError("--format json is the capture of one host; leave it out to join several.")
    return capture.to_json(captures[0][1])


def own_file(output: str | None) -> str | None:
    """Return the file of this process: ``{rank}`` in the name is its number under a launcher."""
    return None if output is None else output.replace("{rank}", str(DetectedRanks().rank))


def join(captures: list[tuple[str, Capture]], asked: Asked) -> tuple[Draft, Findings | None]:
    """Return the description of the captured hosts, and where they differ, None where they do not."""
    found, findings = capture.merge_captures(captures)
    return finish(found, asked), Findings(findings) if findings else None


def check_alone(output: str | None) -> None:
    """Refuse a file that every process under a launcher would write.

    Raises:
        MlsubError: there are several processes.
    """
    if output is not None and DetectedRanks().size > 1:
        raise MlsubError(f"Every process would write {output}. Write -o capture.{{rank}}.json, and join with --merge.")
