"""A capture: everything one host reports of itself, and its document."""

from __future__ import annotations

import hashlib
import json
import secrets
from pathlib import Path

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.io.version import VERSION
from mlsub.systems.capture.accelerators import find_accelerators
from mlsub.systems.capture.hardware import find_memory, find_processor, find_storage
from mlsub.systems.capture.network import find_network
from mlsub.systems.capture.software import find_software
from mlsub.systems.capture.tools import Found, read_text, unknown
from mlsub.systems.fields import fields

#: A capture is below 10 KiB.
MAX_BYTES = 1 << 20
_LONGEST = 2000


class Captured(msgspec.Struct, frozen=True):
    """A value as the document of a capture has it."""

    value: str
    source: str


class Capture(msgspec.Struct, frozen=True, kw_only=True):
    """What one host reports. ``host`` distinguishes hosts without naming them: a digest of the kernel's boot id."""

    mlsub: str
    host: str
    values: dict[str, Captured]


def capture_here(root: Path = Path("/")) -> Capture:
    """Describe this host. Nothing is written, nothing asks for root, and no name of host or user is looked at.

    Args:
        root: where /proc, /sys and /etc lie.
    """
    accelerators = find_accelerators(root)
    driver = accelerators.pop("driver", None)
    found: Found = {
        **find_processor(),
        **find_memory(root),
        **find_storage(),
        **find_network(root),
        **accelerators,
        **find_software(root, driver),
        "system_name": unknown("yours to choose; the name of the host is not looked at"),
        "cooling": unknown("no tool reports it"),
    }
    values = {name: Captured(str(found[name].value)[:_LONGEST], found[name].source) for name in found}
    return Capture(mlsub=VERSION, host=_digest(root), values=values)


def _digest(root: Path) -> str:
    """What distinguishes this host without naming it; one that has nothing of the kind is new each time."""
    for place in ("proc/sys/kernel/random/boot_id", "etc/machine-id"):
        text = (read_text(root / place) or "").strip()
        if text:
            return hashlib.sha256(f"mlsub {text}".encode()).hexdigest()[:16]
    return secrets.token_hex(8)


def to_json(capture: Capture) -> str:
    """The document of a capture, plain ASCII."""
    return json.dumps(msgspec.to_builtins(capture), indent=2) + "\n"


def from_json(raw: bytes, where: str) -> Capture:
    """A capture from its document.

    Raises:
        MlsubError: it is not one; ``where`` says whose it is.
    """
    if len(raw) > MAX_BYTES:
        raise MlsubError(f"{where} is larger than 1 MiB, which no capture is.")
    try:
        capture = msgspec.json.decode(raw, type=Capture)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise MlsubError(
            f"{where} is not a capture ({error}). Make one with mlsub system capture --format json."
        ) from None
    unknown_names = [name for name in capture.values if name not in fields().fields]
    if unknown_names or any(len(each.value) > _LONGEST for each in capture.values.values()):
        what = f"it has a field {unknown_names[0][:40]!r}" if unknown_names else "a value is too long"
        raise MlsubError(f"{where} is not a capture ({what}). Make one with mlsub system capture --format json.")
    return capture


def read_capture(file: Path) -> Capture:
    """A capture from a file.

    Raises:
        MlsubError: it cannot be read, or is not a capture.
    """
    try:
        if not file.is_file():
            raise MlsubError(f"{file} is not a file." if file.exists() else f"There is no {file}.")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, MlsubError):
            raise
        raise MlsubError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return from_json(raw, str(file))
