"""Write a manifest: text with comments, for people to go on with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

#: What needs no quotes, unless YAML reads it as something other than text.
_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./+@=-]*")
_SECTIONS = re.compile(r"^(?=(?:systems|entries|code|files):)", re.MULTILINE)

#: A manifest's content: plain data, as its YAML has it; a word that is None is left out.
Draft = dict[str, Any]


class _Dumper(yaml.SafeDumper):
    """Lists stand deeper than the word they belong to, and texts in double quotes where they need any."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if _PLAIN.fullmatch(text) else '"')


_Dumper.add_representer(str, _text)


def manifest_text(draft: Draft, notes: Iterable[str] = ()) -> str:
    """The manifest, ending in a line feed; notes become comments at the top."""
    head = ["What is submitted, for mlsub pack. Paths are relative to this file and may hold ${NAME:-default}.", *notes]
    text = yaml.dump(_without_none(draft), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 20)
    return "".join(f"# {' '.join(line.split())}\n" for line in head) + _SECTIONS.sub("\n", text)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    return [_without_none(each) for each in value] if isinstance(value, list | tuple) else value


def path(text: str) -> str:
    """A path that is to be taken as it is: its dollar signs begin no variable."""
    return text.replace("$", "$$")
