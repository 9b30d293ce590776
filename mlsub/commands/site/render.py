"""Pages as HTML. Everything from outside is escaped, and nothing of it is ever a script, a style or an address."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.site.pages import Page
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.io.version import VERSION
from mlsub.present.chart import Chart

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
#: Should something slip through all the same, nothing on a page runs or loads but the files of the site. ``file:`` is
#: what the site is of when it is opened from a disk, where browsers differ on what 'self' means.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' data: file:; "
    "base-uri 'none'; form-action 'none'"
)
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def check_jinja() -> None:
    """Find out whether pages can be made, without loading what makes them.

    Raises:
        MlsubError: they cannot.
    """
    if importlib.util.find_spec("jinja2") is None:
        raise MlsubError(needs_extra("the pages are made with Jinja2.", "report"))


class Renderer:
    """Makes the HTML of pages; ``navigation`` are the pages that each page leads to, as title and path."""

    def __init__(self, navigation: Sequence[tuple[str, str]]) -> None:
        self._navigation = tuple(navigation)
        self._template = _environment().get_template("page.html")

    def render(self, page: Page) -> bytes:
        """One page in UTF-8."""
        text = self._template.render(
            page=page,
            root="../" * page.path.count("/"),
            navigation=self._navigation,
            policy=POLICY,
            version=VERSION,
        )
        return text.encode("utf-8", "backslashreplace")


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = _json
    return environment


def _json(chart: Chart) -> Any:
    """A chart as JSON that no parser of HTML takes for the end of the script it stands in."""
    from markupsafe import Markup

    text = msgspec.json.encode(chart).decode("utf-8")
    for unsafe, escaped in _UNSAFE.items():
        text = text.replace(unsafe, escaped)
    return Markup(text)  # noqa: S704  (the characters that mean something to HTML are escaped above)
