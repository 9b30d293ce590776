"""How far a campaign has come: a file for each harness, which is whole at any time."""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mlsub.io.write import replace_whole
from tests.campaigns.fuzz.finding import Finding
from tests.campaigns.fuzz.search import Kept


class StateError(Exception):
    """The state cannot be used."""


class Progress(msgspec.Struct):
    """What is known of a harness.

    Attributes:
        seed: of the search.
        inputs: how many were run by the search of our own; the next one has this number.
        guided: how many were run under Atheris.
        seconds: by the clock.
        cpu: seconds of CPU time.
        source: the digest of mlsub in which ``reached`` was measured.
        reached: steps, see ``reach.py``.
        kept: inputs that reached something new.
        findings: that are open.
        crashes: how often the process of the harness has died without an input to blame.
    """

    seed: str
    inputs: int = 0
    guided: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    source: str = ""
    reached: list[int] = []
    kept: list[Kept] = []
    findings: list[Finding] = []
    crashes: int = 0

    @property
    def total(self) -> int:
        """Inputs of both engines."""
        return self.inputs + self.guided


class State:
    """A folder with a file ``NAME.json`` for each harness, and the inputs of findings.

    Raises:
        StateError: the state belongs to another seed, or cannot be read.
    """

    def __init__(self, folder: Path, seed: str) -> None:
        self.folder = folder
        self.seed = seed

    def load(self, name: str) -> Progress:
        """What is known of a harness; nothing, where there is no file."""
        file = self.folder / f"{name}.json"
        if not file.exists():
            return Progress(self.seed)
        try:
            progress = msgspec.json.decode(file.read_bytes(), type=Progress)
        except (OSError, msgspec.DecodeError) as error:
            raise StateError(f"{file} cannot be read: {error}. Remove it to begin anew") from error
        if progress.seed != self.seed:
            raise StateError(
                f"{file} is of seed {progress.seed!r}: give that seed, another --state, or remove the folder"
            )
        return progress

    def save(self, name: str, progress: Progress) -> None:
        """Replace the file in one step, after the inputs of findings were written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for finding in progress.findings:
            file = self.file_of(name, finding)
            if not file.exists() or file.read_bytes() != finding.data:
                file.parent.mkdir(parents=True, exist_ok=True)
                replace_whole(file, finding.data)
        replace_whole(self.folder / f"{name}.json", msgspec.json.encode(progress))

    def file_of(self, name: str, finding: Finding) -> Path:
        """Where the input of a finding is."""
        digest = hashlib.sha256(finding.failure.signature.encode()).hexdigest()[:8]
        kind = "".join(sign if sign.isalnum() else "-" for sign in finding.failure.kind)
        return self.folder / "findings" / name / f"{kind}-{digest}.bin"

    def forget(self, name: str, progress: Progress, finding: Finding) -> None:
        """Drop a finding that is fixed."""
        progress.findings.remove(finding)
        self.save(name, progress)
        self.file_of(name, finding).unlink(missing_ok=True)

    @contextmanager
    def locked(self, patience: float = 10.0) -> Iterator[None]:
        """Keep other campaigns away from the folder as long as this process and its forks live.

        Raises:
            StateError: another campaign has it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("wb") as lock:
            until = time.monotonic() + patience
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if time.monotonic() > until:
                        raise StateError(f"another campaign is at work in {self.folder}") from error
                    time.sleep(0.1)
            yield
