"""Which logs to watch: those that are named, and those in folders that are, as they appear."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from mlsub.commands.watch.run import WatchedRun
from mlsub.commands.watch.source import FileSource, PipeSource
from mlsub.io.errors import MlsubError
from mlsub.judge.log import LogTask
from mlsub.rounds import Round
from mlsub.submission.locate import is_folder
from mlsub.workspace.places import Settings
from mlsub.workspace.runs import round_of

#: Logs watched at once, and names of one folder that are looked at.
MAX_LOGS = 256
_MAX_NAMES = 20_000
PIPE = "-"
_PATTERN = "result_*.txt"


class Logs:
    """The logs that are watched; :meth:`discover` adds those that have appeared.

    ``full`` says that there are more than can be watched at once.
    """

    def __init__(self, names: Sequence[str], asked: Settings, standard_input: int) -> None:
        """Watch paths, or ``-`` for standard input; ``asked`` says by which rules.

        Raises:
            MlsubError: something named does not grow like a log.
            MlsubError: the round is not given, or not known.
        """
        self.runs: list[WatchedRun] = []
        self.full = False
        self._asked = asked
        self._known: dict[Path, WatchedRun] = {}
        # Without following links: people know their logs by the names they gave.
        paths = dict.fromkeys(Path(os.path.abspath(name)) for name in names if name != PIPE)  # noqa: PTH100
        self._rounds = {path: _round_of(path, asked) for path in paths}
        parents = [path if is_folder(path) else path.parent for path in paths]
        self._root = Path(os.path.commonpath(parents)) if parents else Path()
        self._pipe = self._of_pipe(standard_input) if PIPE in names else None

    def discover(self) -> Iterator[WatchedRun]:
        """The runs that are new since the last call."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            self.runs.append(pipe)
            yield pipe
        for path, round_ in self._rounds.items():
            if not is_folder(path):
                yield from self._add(path, round_)
                continue
            waiting = self._known.pop(path, None)
            if waiting is not None:
                self.runs.remove(waiting)  # It was taken for a log to come, and came as a folder.
            for found in _results(path):
                yield from self._add(found, round_)

    def _add(self, path: Path, round_: Round) -> Iterator[WatchedRun]:
        if path in self._known:
            return
        if len(self.runs) >= MAX_LOGS:
            self.full = True
            return
        task = LogTask(str(path), self._label(path), round_.usage, round_.name, self._asked.overlay)
        run = self._known[path] = WatchedRun(FileSource(str(path)), task, round_, self._asked.cache)
        self.runs.append(run)
        yield run

    def _of_pipe(self, descriptor: int) -> WatchedRun:
        round_ = round_of([], self._asked)
        task = LogTask(PIPE, PIPE, round_.usage, round_.name, self._asked.overlay)
        return WatchedRun(PipeSource(descriptor), task, round_)

    def _label(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path != self._root else path.name


def _round_of(path: Path, asked: Settings) -> Round:
    """The round of a log, or of the logs of a folder."""
    if path.suffix == ".gz":
        raise MlsubError(f"{path} is compressed, so it cannot be followed. Use mlsub check.")
    try:
        mode = path.stat().st_mode
    except ValueError as error:
        raise MlsubError(f"Such a path cannot exist: {error}") from error
    except OSError:
        mode = stat.S_IFREG  # It may still come.
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise MlsubError(f"{path} is neither a file nor a folder. Give a pipe as standard input: mlsub watch - < PIPE.")
    return round_of([path / "result_0.txt" if stat.S_ISDIR(mode) else path], asked)


def _results(folder: Path) -> list[Path]:
    """The logs in a folder now; none where it cannot be read."""
    try:
        with os.scandir(folder) as names:
            found = [entry.name for entry in islice(names, _MAX_NAMES) if fnmatchcase(entry.name, _PATTERN)]
    except OSError:
        return []
    return [folder / name for name in sorted(found)]
