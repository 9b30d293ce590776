"""Audit a claims file: from the file and folders of results to verdicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from mlsub.commands.audit.evaluate import EvaluationError, World
from mlsub.commands.audit.facts import gather
from mlsub.commands.audit.judge import judge
from mlsub.commands.audit.messaging.judge import Messaging
from mlsub.commands.audit.messaging.judge import judge as judge_messaging
from mlsub.commands.audit.messaging.texts import AUTO
from mlsub.commands.audit.model import Claim
from mlsub.commands.audit.names import results_in
from mlsub.commands.audit.places import round_folders
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.verdict import AGAINST, DOUBTFUL, ClaimVerdict, Judged
from mlsub.findings import Finding
from mlsub.io.yamlfile import FileProblemsError, Problem
from mlsub.judge.pool import Progress


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """A claims file, the facts it was held against, and the verdict on each claim.

    ``messaging`` is what the rules on quoting results say; they never change a verdict.
    """

    world: World
    claims: tuple[Judged, ...]
    messaging: Messaging
    asked: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the rules on quoting results."""
        return self.messaging.findings

    def exit_status(self, *, strict: bool = False) -> int:
        """0 all hold, 1 some fail, contradict or depend on the basis (strict: or are doubtful), 2 not checked."""
        verdicts = {one.verdict for one in self.claims}
        if ClaimVerdict.NOT_CHECKED in verdicts:
            return 2
        doubtful = strict and (bool(verdicts & DOUBTFUL) or self.messaging.warns)
        return int(bool(verdicts & AGAINST) or doubtful)


def audit(
    file: Path,
    folders: Sequence[str],
    *,
    bases: Collection[str] = (),
    documents: Sequence[str] = (),
    rules: str = AUTO,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Hold the claims of a file against results.

    Args:
        file: the claims file.
        folders: where results lie, see places.py.
        bases: those that decide in the place of the usual; a claim's own go before.
        documents: folders of the documents' texts, besides that of the file.
        rules: the text of the rules on quoting results, see messaging/texts.py.
        jobs: processes that read logs.
        progress: is told how far the reading has come.

    Raises:
        FileProblemsError: the file cannot be used, or an expression of it has no value.
        MlsubError: a folder holds no results.
    """
    claims = read_claims(file)
    rounds = round_folders(folders)
    used = {name for claim in claims.claims for expr in claim.expressions for name in results_in(expr, claims)}
    wanted = [result for result in claims.results.values() if result.name in used]
    world = World(claims, gather(wanted, rounds, jobs, progress), rounds)
    judged = tuple(_judged(claim, world, bases) for claim in claims.claims)
    messaging = judge_messaging(judged, world, folders=documents, wanted=rules)
    return Audit(world=world, claims=judged, messaging=messaging, asked=tuple(bases))


def _judged(claim: Claim, world: World, bases: Collection[str]) -> Judged:
    try:
        return judge(claim, world, bases)
    except EvaluationError as error:
        raise FileProblemsError((Problem(str(world.file.file), claim.line, f"{claim.id}: {error}"),)) from error
