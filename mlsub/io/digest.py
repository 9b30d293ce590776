"""BLAKE2b from where hashlib has it: hashlib itself loads OpenSSL first, which takes as long as reading ten logs."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # Another Python than CPython.
    from hashlib import blake2b

__all__ = ["blake2b"]
