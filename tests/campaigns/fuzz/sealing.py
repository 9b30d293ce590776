"""Keys for sealing in tests, whose work is small, and what another program opens with them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyrage
import pyrage.passphrase

from mlsub.commands.seal.forms import Identities, Passphrase, Recipients

#: The least work that scrypt can be asked for.
PASSPHRASE = Passphrase(b"correct horse battery staple", work_factor=1)
#: The 32 bytes from 0 to 31: no secret, so that inputs of a corpus can be opened by anyone.
_SECRET = "AGE-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SWRYDWG"  # noqa: S105


@cache
def identity() -> Any:
    return pyrage.x25519.Identity.from_str(_SECRET)


@cache
def recipient() -> tuple[Recipients, Identities]:
    """A public key, and the secret one."""
    return Recipients((str(identity().to_public()),)), Identities(_SECRET.encode())


def opened_by_pyrage(sealed: bytes, *, passphrase: bool) -> bytes | None:
    """What the library takes out of an age file; None where it refuses it."""
    try:
        if passphrase:
            return pyrage.passphrase.decrypt(sealed, PASSPHRASE.secret.decode())
        return pyrage.decrypt(sealed, [identity()])
    except (pyrage.DecryptError, OSError):
        return None
