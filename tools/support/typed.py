"""Values compared with the types of all that is in them."""

from __future__ import annotations

from typing import Any

import msgspec


def deep(value: Any) -> Any:
    """A value with the type of everything in it, such that NaN is equal to NaN."""
    if isinstance(value, msgspec.Struct):
        return type(value).__name__, [deep(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return "dict", [(deep(key), deep(of)) for key, of in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [deep(of) for of in value]
    return type(value).__name__, repr(value)
