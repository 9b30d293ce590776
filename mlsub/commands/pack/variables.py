"""``${NAME}`` and ``${NAME:-default}`` in the paths of a manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mlsub.io.errors import MlsubError

_VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<default>:-[^}]*)?\}|\{)")


def expand(text: str, environment: Mapping[str, str]) -> str:
    """The text with its variables replaced; ``$$`` is a plain ``$``, and so is one before anything but a brace.

    A default, and the value of a variable, are taken as they are: nothing in them is expanded again. An empty variable
    counts as one that is not set, as ``:-`` does in a shell.

    Raises:
        MlsubError: a variable without a default is not set, or a brace does not close.
    """

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            if match[0] == "$$":
                return "$"
            raise MlsubError("'${' begins no variable; write ${NAME} or ${NAME:-default}, and $$ for a plain $")
        found = environment.get(name)
        if found:
            return found
        if match["default"] is not None:
            return match["default"][2:]
        state = "is empty" if found == "" else "is not set"
        raise MlsubError(f"the environment variable {name} {state}; set it, or write ${{{name}:-default}}")

    return _VARIABLE.sub(value, text)
