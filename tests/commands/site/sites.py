"""Small sites to look into."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mlsub.commands.site.results import Site, SiteRound, build_rounds
from mlsub.workspace import Checked, Settings, check_with_logs
from tools.support.make_tree import Tree, make_tree


def two_rounds(above: Path) -> list[Path]:
    """Two rounds: in v1.0 two Closed results and an Open one, in v1.1 a Closed one that is rejected."""
    tree = make_tree(above, benchmarks=["resnet", "bert"])
    tree.add_system("rack2", "open")
    tree.add_entry("resnet", "rack2", "open")
    later = make_tree(above, "v1.1", "ZETA")
    later.edit(lambda log: log.put("eval_accuracy", value=0.1), 0, 1)
    return [tree.folder.parent, later.folder.parent]


def checked(*paths: Path) -> list[Checked]:
    return check_with_logs(
        [str(path) for path in paths], Settings("1.0" if "loose" in paths[0].parts else None, jobs=1)
    )


def rounds(*paths: Path) -> tuple[SiteRound, ...]:
    return tuple(build_rounds(checked(*paths), None))


def site_of(*paths: Path) -> Site:
    """All of a site."""
    return Site(rounds(*paths))


def one_round(place: Tree | Path) -> SiteRound:
    """The results of one tree, or of a folder of runs of v1.0."""
    (found,) = rounds(place.folder if isinstance(place, Tree) else place)
    return found


def script(content: bytes) -> Any:
    """What a script of a site defines."""
    text = content.decode()
    return json.loads(text[text.index(" = ") + 3 : text.rindex(";")])


def result_rows(content: bytes) -> list[list[Any]]:
    """The values of each result in the script of all results, which has them by column and each text once."""
    columns = []
    for column in script(content)["columns"]:
        names, values = column.get("names"), column["values"]
        columns.append(values if names is None else [None if value < 0 else names[value] for value in values])
    return [list(row) for row in zip(*columns, strict=True)]


class Html(HTMLParser):
    """What a browser makes of a page: its elements, the text outside of scripts, and the data in them."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.data: list[dict[str, Any]] = []
        self._open = ""
        self.feed(content.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.data.append(json.loads(data))
        elif data.strip():
            self.text.append(data.strip())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]
