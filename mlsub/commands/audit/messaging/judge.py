"""The rules on quoting results, held against a claims file that has been judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.messaging.bridge import documents, messages
from mlsub.commands.audit.messaging.check import Judged as Checked
from mlsub.commands.audit.messaging.check import check
from mlsub.commands.audit.messaging.documents import folders_for, name_of, text_of
from mlsub.commands.audit.messaging.model import Untold
from mlsub.commands.audit.messaging.texts import AUTO
from mlsub.commands.audit.messaging.write import Written, footnotes
from mlsub.commands.audit.verdict import Judged
from mlsub.findings import Finding, Severity


class Messaging(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say of a claims file, and the footnotes they want."""

    checked: Checked
    footnotes: tuple[Written, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, those of claims first."""
        return tuple(remark.finding for remark in self.checked.remarks)

    @property
    def warns(self) -> bool:
        """Whether there is more than information."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)


def judge(judged: Sequence[Judged], world: World, *, folders: Iterable[str] = (), wanted: str = AUTO) -> Messaging:
    """Hold the claims of a file, and the documents it names, against the rules in force.

    Args:
        judged: the claims and the verdicts on their numbers.
        world: the file and the facts.
        folders: where the documents' texts lie, besides the folder of the file.
        wanted: the text to apply, by name, or ``auto`` for the one in force on each document's day.
    """
    file = world.file
    places = folders_for(file.file, folders)
    sources = {name_of(one.claim.source, one.claim.document): one.claim.source for one in judged}
    sources |= file.documents
    texts: dict[str, str] = {}
    untold = []
    for name, source in sources.items():
        text, reason = text_of(source, places)
        if text is not None:
            texts[name] = text
        elif reason is not None:
            untold.append(Untold("text", reason))
    sentences = messages(judged, world, texts)
    # A source that no claim stands in is looked at as well where its text is at hand.
    others = [document for document in documents(file, texts) if document.text is not None]
    checked = check(sentences, others, wanted=wanted, file=str(file.file))
    checked = msgspec.structs.replace(checked, untold=(*untold, *checked.untold))
    return Messaging(checked=checked, footnotes=footnotes(sentences, wanted))
