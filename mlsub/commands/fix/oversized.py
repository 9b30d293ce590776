"""Logs too large to submit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from mlsub.commands.options import tell

if TYPE_CHECKING:
    from mlsub.commands.fix.truncate import Shortened

_MIB = 1 << 20


def truncate_logs(paths: Sequence[str], limit: int, format_: str, *, write: bool) -> NoReturn:
    """Leave framework output out of the middle of logs above a size in MiB, and end the command.

    Head and tail stay, and every line with a record; one line says what was left out. Nothing is written unless the
    records are the same, byte by byte.
    """
    from mlsub.commands.fix.logs import find_logs
    from mlsub.commands.fix.truncate import truncate
    from mlsub.io.errors import MlsubError

    files = find_logs(paths)
    done: list[Shortened] = []
    failed = 0
    for file in files:
        try:
            answer = truncate(file, limit * _MIB, write=write)
        except MlsubError as error:
            tell(f"{error}", "fix")
            failed += 1
            continue
        if answer is not None:
            done.append(answer)
    if failed < len(files):
        _print(done, len(files) - failed, limit, written=write, format_=format_)
    sys.exit(2 if failed else 1 if done and not write else 0)


def _print(done: list[Shortened], read: int, limit: int, *, written: bool, format_: str) -> None:
    import json

    from mlsub.io.plain import plain
    from mlsub.present.report import console

    if format_ == "json":
        logs = [
            {
                "path": str(answer.file),
                "size": answer.size,
                "size_after": answer.size_after,
                "lines_left_out": answer.lines_left_out,
                "bytes_left_out": answer.bytes_left_out,
                "records": answer.records,
            }
            for answer in done
        ]
        sys.stdout.write(json.dumps({"written": written, "limit": limit * _MIB, "logs": logs}, indent=2) + "\n")
        return
    out = console()
    for answer in done:
        out.print(plain(str(answer.file)))
        out.print(
            f"  {answer.size / _MIB:.1f} MiB, {'now' if written else 'would be'} {answer.size_after / _MIB:.1f} MiB: "
            f"{answer.lines_left_out} lines of framework output left out, all {answer.records} records kept"
        )
    below = f"{read - len(done)} of {read} logs are no larger than {limit} MiB and stay as they are"
    out.print(below + (". To truncate the others: --write" if done and not written else ""))
