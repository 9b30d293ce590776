"""The seeds of a log, as the official seed checker reads them."""

from __future__ import annotations

from typing import Any

import msgspec

from mlsub.io.data import blake2b
from mlsub.log.event import Event

#: A bound that keeps a run small on hostile input; published logs stay far below it.
MAX_SEEDS = 10_000
#: Of the seeds behind these only a digest each is kept; of those behind that nothing but their number.
MAX_SEED_DIGESTS = 1_000_000
SEED_DIGEST_BYTES = 8


class Seed(msgspec.Struct, frozen=True, array_like=True):
    """One logged seed and the source line that logged it; ``error`` says why the seed checker cannot use it."""

    line: int
    value: Any
    file: Any = None
    lineno: Any = None
    error: str | None = None


class SeedFold:
    """Keeps the seeds of a log: ``kept``, digests of ``more``, and how many are ``left_out``."""

    def __init__(self) -> None:
        self.kept: list[Seed] = []
        self.more = bytearray()
        self.left_out = 0
        self._unusable = False

    def take(self, event: Event) -> None:
        """Keep a seed, or a digest that shows whether it was logged before."""
        seed = _read_seed(event)
        # The first that cannot be used decides of the log, so it is kept wherever it stands.
        first_unusable = seed.error is not None and not self._unusable
        self._unusable = self._unusable or first_unusable
        if len(self.kept) < MAX_SEEDS or first_unusable:
            self.kept.append(seed)
        elif seed.error is None and len(self.more) < MAX_SEED_DIGESTS * SEED_DIGEST_BYTES:
            self.more += seed_digest(seed)
        else:
            self.left_out += 1


def _read_seed(event: Event) -> Seed:
    """Read a seed as the official seed checker does: an integer, and the source line that logged it."""
    metadata = event.metadata if isinstance(event.metadata, dict) else {}
    file, lineno = metadata.get("file"), metadata.get("lineno")
    error = None
    value: Any = event.value
    if "file" not in metadata or "lineno" not in metadata:
        error = "its metadata does not name file and lineno"
    else:
        try:
            value = int(event.value)
            hash((file, lineno))
        except (TypeError, ValueError, OverflowError) as problem:
            error = str(problem)
    return Seed(event.line, value, file, lineno, error)


def seed_digest(seed: Seed) -> bytes:
    """The same bytes for seeds that the official seed checker takes for equal; for others all but never."""
    parts = "\0".join(_seed_part(part) for part in (seed.file, seed.lineno, seed.value))
    return blake2b(parts.encode(errors="surrogatepass"), digest_size=SEED_DIGEST_BYTES).digest()


def _seed_part(part: Any) -> str:
    """A part of a seed's key as text, equal where Python finds the parts equal: 1, 1.0 and true are one number."""
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    return f"{part:x}" if isinstance(part, int) else repr(part)
