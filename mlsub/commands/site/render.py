"""Pages as HTML. Everything from outside is escaped, and nothing of it is ever a script, a style or an address."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mlsub.commands.site.chartdata import SHARED, chart_json, safe_json, shared_series
from mlsub.commands.site.dataset import RESULTS
from mlsub.commands.site.markup import table_markup
from mlsub.commands.site.model import Drawn
from mlsub.commands.site.numberline import svg
from mlsub.commands.site.pages import Page
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.io.version import VERSION
from mlsub.present.html import bar

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
#: Should something slip through all the same, nothing on a page runs or loads but the files of the site. ``file:`` is
#: what the site is of when it is opened from a disk, where browsers differ on what 'self' means. The digest is
#: that of the one style sheet that Observable Plot puts into each chart.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: "
    "'sha256-+TfQir1nvDucAdvE6XUQBt4ayUjpAWkbw2kCdSfekHM='; img-src 'self' data: file:; "
    "base-uri 'none'; form-action 'none'"
)
#: What draws the charts of a page, before the scripts of their kinds.
_CHARTS = ("d3.min", "plot.umd.min", "charts", "pictures")


def check_jinja() -> None:
    """Find out whether pages can be made, without loading what makes them.

    Raises:
        MlsubError: they cannot.
    """
    if importlib.util.find_spec("jinja2") is None:
        raise MlsubError(needs_extra("the pages are made with Jinja2.", "report"))


def write_page(site: Path, navigation: tuple[tuple[str, str], ...], page: Page) -> None:
    """Write a page in UTF-8, and the files that it shares with others, unless these are there.

    Args:
        site: the folder.
        navigation: the pages that each page leads to, as title and path.
        page: what is written.

    Raises:
        OSError: it cannot be written.
    """
    shared = _shared(page)
    text = page_text(navigation, page, shared)
    (site / page.path).parent.mkdir(exist_ok=True)
    (site / page.path).write_bytes(text.encode("utf-8", "backslashreplace"))
    for path, script in shared.items():
        # Where two processes write one at a time, both write the same.
        if not (site / path).exists():
            (site / path).write_bytes(script)


def page_text(navigation: tuple[tuple[str, str], ...], page: Page, shared: Iterable[str] = ()) -> str:
    """The HTML of a page; ``shared`` are scripts with data that it has in common with others."""
    return _template().render(
        page=page,
        root="../" * page.path.count("/"),
        navigation=navigation,
        policy=POLICY,
        version=VERSION,
        scripts=[*shared, *_scripts(page)],
    )


def _shared(page: Page) -> dict[str, bytes]:
    """The scripts that a page shares with others, by their paths."""
    drawn = [one for part in page.sections for one in part.charts if isinstance(one, Drawn) and one.shared]
    scripts = (shared_series(one.series[: one.shared]) for one in drawn)
    return {f"{SHARED}/{name}.js": script for name, script in scripts}


def _scripts(page: Page) -> Iterator[str]:
    """The scripts of a page in the order in which they run, from the root of the site."""
    if page.whole:
        yield RESULTS
    kinds = dict.fromkeys(chart.kind for part in page.sections for chart in part.charts)
    for name in dict.fromkeys((*(_CHARTS if kinds else ()), *kinds, *page.scripts, "tables")):
        yield f"static/{name}.js"


@cache
def _template() -> Template:
    return _environment().get_template("page.html")


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = lambda chart: Markup(chart_json(chart))  # noqa: S704  (safe in a script)
    environment.filters["plain_json"] = lambda found: Markup(safe_json(found))  # noqa: S704  (safe in a script)
    environment.globals["number_line"] = lambda line: Markup(svg(line))  # noqa: S704  (escaped there)
    environment.globals["verdict_bar"] = lambda shares: Markup(bar(shares))  # noqa: S704  (numbers and plain words)
    environment.globals["table"] = lambda table, root: Markup(table_markup(table, root))  # noqa: S704  (escaped there)
    return environment
