"""Entries about the limit of the convergence test, and where mlsub and the official checker of their round differ.

The official checker runs in this process (official_rcp), on files in memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from mlsub.convergence.entry import Options
from mlsub.convergence.verdict import BEYOND
from mlsub.submission.params import Flags
from mlsub.submission.report import RcpResult
from tools.oracle.entry_cases import EntryCase, entry_case
from tools.oracle.official_rcp import DAYS, HOW, LATEST, Said, official_test
from tools.oracle.shared import INSTALLED_POINTS
from tools.support.entry_logs import judged, write_logs

#: Answers of mlsub that there is no verdict, which rejects.
NO_VERDICT = ("crash", "no-point", "no-batch-size", "no-reference", "no-runs")
_SIZE = re.compile(r'"key": "global_batch_size", "value": (\S+),')
_ENDLESS = re.compile(r"\d{309}")


class Both(NamedTuple):
    """An entry and what each side says of it."""

    case: EntryCase
    ours: RcpResult
    theirs: Said

    @property
    def how(self) -> str | None:
        """The word for the official message; None where the checker ended in a traceback."""
        return next((word for text, word in HOW.items() if self.theirs.message.startswith(text)), None)

    @property
    def passed(self) -> bool:
        """Whether mlsub lets the entry pass."""
        return self.ours.verdict in ("pass", "bypassed")

    @property
    def word(self) -> str:
        """How the try ended, for the figures."""
        if self.theirs.crash is not None:
            return "official crash, mlsub rejects"
        return f"{self.how}: {'passes' if self.theirs.passed else 'fails'}{' by a bypass' * self._bypassed}"

    @property
    def _bypassed(self) -> bool:
        return "bypass" in self.theirs.message

    @property
    def problem(self) -> str | None:
        """Where the sides differ without a reason that is named."""
        wrong = self._wrong()
        if wrong is None or any(known(self) for known in KNOWN.values()):
            return None
        return f"{wrong}\n  {self.case.what}\n  {self.theirs}\n  {self.ours}"

    def _wrong(self) -> str | None:
        if self.passed != self.theirs.passed:
            return f"mlsub {'passes' if self.passed else 'fails'} what the official checker does not"
        if self.theirs.crash is not None:
            return None
        if self.ours.how != self.how and self.case.logs and (self.passed or self.ours.how not in NO_VERDICT):
            return f"mlsub calls it {self.ours.how}"
        if self.passed and (self.ours.verdict == "bypassed") != self._bypassed:
            return "a bypass counts for one side only"
        expected = self.theirs.scaling if self.passed and not self._bypassed else 1.0
        if not math.isclose(self.ours.scaling, expected, rel_tol=1e-12):
            return f"the factor is {self.ours.scaling!r} for {expected!r}"
        return None


def _nan(both: Both) -> bool:
    return both.ours.how == "no-point" and any("NaN" in text for text in both.case.logs)


def _too_large(both: Both) -> bool:
    sizes = [_number(found) for text in both.case.logs for found in _SIZE.findall(text)]
    return both.ours.how == "no-batch-size" and any(abs(size) >= BEYOND for size in sizes)


def _beyond_floats(both: Both) -> bool:
    return both.ours.how == "crash" and any(_ENDLESS.search(text) for text in both.case.logs)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _too_few(both: Both) -> bool:
    cut = 4 if both.case.place.name == "unet3d" else 1
    place = both.case.place
    by_folder = DAYS.get((place.usage, place.round), LATEST).by_folder
    counted = sum('"run_stop"' in text or not by_folder for text in both.case.logs)
    return both.ours.how == "insufficient-convergence" and counted <= 2 * cut


def _other_round(both: Both) -> bool:
    return both.ours.how == "no-reference"


#: Where the answers may differ, by id in docs/deviations.yaml; in all but the last of them mlsub rejects.
KNOWN: dict[str, Callable[[Both], bool]] = {
    "nan-count": _nan,
    "endless-size": _too_large,
    "endless-count": _beyond_floats,
    "too-few-runs": _too_few,
    "other-benchmark": _other_round,
    "mean-of-zero": lambda both: not both.ours.mean and math.isinf(both.theirs.scaling),
}


def tried(case: EntryCase, above: Path) -> Both:
    """Ask both sides about an entry, in a folder for its files."""
    place, folder = case.place, above / case.place.name
    write_logs(folder, case.logs)
    reference = above / "reference.json" if case.reference is not None else None
    flags = Flags(rcp_bypass="params" if case.bypass else None, train_samples="params" if case.samples else None)
    # The official tool counts BERT by epoch_num unless it is asked not to.
    by_epochs = None if case.samples else False
    options = msgspec.structs.replace(
        INSTALLED_POINTS if reference is None else Options(reference=str(reference)), train_samples=by_epochs
    )
    ours = judged(folder, place.round, usage=place.usage, flags=flags, options=options).result
    theirs = official_test(
        folder, place.usage, place.round, bypass=case.bypass, samples=case.samples, reference=reference
    )
    return Both(case, ours, theirs)


def drawn(seed: str, number: int, above: Path) -> Both:
    """Ask both sides about the entry of a seed and a number."""
    return tried(entry_case(seed, number, above), above)
