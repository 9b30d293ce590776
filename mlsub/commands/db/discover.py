"""Find the submissions in folders: rounds of organisations, one round, or one organisation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.commands.db.cells import text
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round
from mlsub.score.named import round_key
from mlsub.submission.locate import Target
from mlsub.workspace import Found, Settings, find, in_one_line, organisations


class Package(msgspec.Struct, frozen=True):
    """An organisation's folder, and what is read: the folder, or a part of it."""

    folder: Path
    found: Found

    @property
    def round(self) -> Round:
        """Its round."""
        return self.found.round

    @property
    def path(self) -> Path:
        """The path that is read."""
        return self.found.place.path

    @property
    def round_key(self) -> str:
        """The round as the database calls it: v1.0, hpc-v3.0."""
        return round_key(self.round.usage, self.round.name)

    @property
    def organisation(self) -> str:
        """The organisation's name: that of its folder."""
        return text(self.folder.name) or "."


class Discovered(msgspec.Struct, frozen=True):
    """The packages, sorted by round and name; ``passed_over`` says in words what was left out, and why."""

    packages: tuple[Package, ...]
    passed_over: tuple[str, ...]


def discover(paths: Sequence[Path], settings: Settings) -> Discovered:
    """Find the submissions.

    Args:
        paths: what :mod:`mlsub.workspace.places` takes for a path, but no single log, which is not a result.
        settings: of which round and usage all of them are, if not to be read off the folders.

    Raises:
        MlsubError: a path does not exist or holds nothing, or one submission is there twice.
    """
    found, problems = find(paths, settings)
    nothing = [problem for problem in problems if problem.finding.rule != "check.unknown-round"]
    passed = [f"{problem.place.path}: {in_one_line(problem.finding)}" for problem in problems]
    if any(problem.finding.rule == "check.no-such-path" for problem in nothing) or (nothing and not found):
        raise MlsubError(*(in_one_line(problem.finding) for problem in nothing))
    packages: dict[tuple[str, str], Package] = {}
    for one in found:
        if one.place.target is Target.LOG:
            passed.append(f"{one.place.path}: a log alone is not a result; name its folder")
            continue
        for place in organisations(one.place):
            package = Package(place.organisation or place.path, Found(place, one.round, None))
            key = (package.round_key, package.organisation)
            other = packages.setdefault(key, package)
            if other.path != package.path:
                raise MlsubError(f"{'/'.join(key)} is there twice: {other.path} and {package.path}. Name one.")
    return Discovered(tuple(packages[key] for key in sorted(packages)), tuple(passed))
