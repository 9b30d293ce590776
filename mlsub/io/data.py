"""Read the YAML files that ship with the package."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import yaml

T = TypeVar("T")
#: The loader in C where PyYAML has it: six times faster, and both build nothing but plain data.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(path: Path) -> Any:
    """The content of a YAML file as plain data."""
    with path.open("rb") as stream:
        return yaml.load(stream, Loader=_Loader)  # noqa: S506  (a safe loader, see above)


@cache
def _shipped(module: str, name: str, kind: Hashable) -> Any:
    return msgspec.convert(load_yaml(Path(module).parent / name), cast(Any, kind))


def shipped(module: str, name: str, kind: type[T]) -> T:
    """The YAML file beside a module as its type, read when first asked for.

    Args:
        module: the module's ``__file__``.
        name: the file's name, or its path from the module's folder.
        kind: what it holds, such as ``dict[str, Rule]``.
    """
    found: T = _shipped(module, name, cast(Hashable, kind))
    return found
