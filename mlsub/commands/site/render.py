"""Pages as HTML. Everything from outside is escaped, and nothing of it is ever a script, a style or an address."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.site.page import Cell, Page, Series, Table
from mlsub.io import VERSION, MlsubError, needs_extra
from mlsub.io.show import plain, readable
from mlsub.present.tables import encodable

if TYPE_CHECKING:
    from jinja2 import Template

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
#: The scripts of pages in the order in which they run; a site has them as one file.
_PARTS = (
    *("charts", "pictures", "runs", "series", "bars", "dots", "round", "explore", "cite", "downloads", "results"),
    *("search", "tables"),
)
_SCRIPT = "static/site.js"
_LIBRARIES = ("static/d3.min.js", "static/plot.umd.min.js")
#: Characters that could end the script which data stand in.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
#: What means something to HTML; most cells have nothing of it.
_SPECIAL = re.compile(r"[&<>\"']")
#: Longer texts are given the room of several lines.
_LONG = 48
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?[†×%]?( [▲▼]\d+)?|–|")


def check_libraries() -> None:
    """Find out whether pages and pictures can be made, without loading what makes them.

    Raises:
        MlsubError: Jinja2 or Pillow is not installed.
    """
    for module, what in (("jinja2", "the pages are made with Jinja2."), ("PIL", "the pictures are made with Pillow.")):
        if importlib.util.find_spec(module) is None:
            raise MlsubError(needs_extra(what, "report"))


class Frame(msgspec.Struct, frozen=True):
    """What all pages have: those that each leads to, as title and path, and where the site will be if that is known."""

    navigation: tuple[tuple[str, str], ...]
    url: str = ""


def write_page(site: Path, frame: Frame, page: Page) -> None:
    """Write a page in UTF-8.

    Args:
        site: the folder.
        frame: what all pages have.
        page: what is written.

    Raises:
        OSError: it cannot be written.
    """
    (site / page.path).parent.mkdir(exist_ok=True)
    (site / page.path).write_bytes(render_page(frame, page).encode("utf-8", "backslashreplace"))


def render_page(frame: Frame, page: Page) -> str:
    """Return the HTML of a page."""
    root = "../" * page.path.count("/")
    known = {"navigation": frame.navigation, "url": frame.url, "policy": POLICY, "version": VERSION}
    return _template().render(page=page, root=root, scripts=list(_scripts(page)), **known)


def write_static(site: Path) -> None:
    """Write what all sites have: the style sheet, the scripts, and the libraries with their licences.

    Raises:
        OSError: they cannot be written.
    """
    names = [f"{name}.js" for name in _PARTS]
    (site / "static").mkdir(parents=True)
    # Not copytree, whose error is a list.
    for file in STATIC.iterdir():
        if file.name not in names:
            shutil.copyfile(file, site / "static" / file.name)
    (site / _SCRIPT).write_bytes(b"".join((STATIC / name).read_bytes() for name in names))


def _scripts(page: Page) -> Iterator[str]:
    """Yield the scripts of a page in the order in which they run, from the root of the site."""
    charts = list(page.charts())
    yield from dict.fromkeys((*page.scripts, *(chart.script for chart in charts if chart.script)))
    yield from (*(_LIBRARIES if charts else ()), _SCRIPT)


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean_lines(value) if type(value) is str else value,
    )
    environment.filters["json"] = lambda found: Markup(safe_json(found))  # noqa: S704  (safe in a script)
    environment.globals["table"] = lambda table, root: Markup(render_table(table, root))  # noqa: S704  (escaped here)
    return environment.get_template("page.html")


def clean_lines(text: str) -> str:
    """Return text with each of its lines fit to be shown."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(plain(readable(line)) for line in text.split("\n"))


def safe_json(found: Any) -> str:
    """Return JSON for a script: nothing in it ends the script or begins markup."""
    text = msgspec.json.encode(_encodable(found)).decode("utf-8")
    for unsafe, escaped in _UNSAFE.items():
        text = text.replace(unsafe, escaped)
    return text


def _encodable(found: Any) -> Any:
    """Return the same values: texts that UTF-8 can hold, and the points of series by column."""
    if isinstance(found, str):
        return encodable(clean_lines(found))
    if isinstance(found, dict):
        return {_encodable(key): _encodable(value) for key, value in found.items()}
    if isinstance(found, Series):
        return msgspec.structs.asdict(found) | {"name": _encodable(found.name), "points": columns_json(found.points)}
    return [_encodable(one) for one in found] if isinstance(found, list | tuple) else found


def columns_json(rows: Iterable[Sequence[float]]) -> msgspec.Raw:
    """Return rows of numbers by column, with six digits, as tooltips have them."""
    columns = ",".join(f"[{','.join(map(_six_digits, column))}]" for column in zip(*rows, strict=True))
    return msgspec.Raw(f"[{columns}]".encode())


def _six_digits(value: float) -> str:
    text = f"{value:.6g}"
    return text if text[-1].isdigit() else "null"


def render_table(table: Table, root: str) -> str:
    """Return a table as HTML, without end tags, and ``scope`` where its headers are plain to see.

    A site has hundreds of thousands of cells, so none of them says what its table can say for all.

    Args:
        table: what is shown.
        root: the way from the page to the root of the site.
    """
    numeric = [_is_numeric(table, place) for place in range(len(table.heads))]
    heads = "".join(f"<th>{_safe(head)}" for head in table.heads)
    name = f' id="table-{_safe(table.key)}"' if table.key else ""
    lists = " data-lists" if table.lists else ""
    body = "".join(f"<tr>{_cells(row, numeric, root)}" for row in table.rows)
    return (
        f"<div class=table>\n<table{name}{_number_classes(numeric)}{lists} data-sortable>\n"
        f"<caption>{_safe(table.caption)}</caption>\n<thead><tr>{heads}<tbody>{body}</table>\n</div>"
    )


def _is_numeric(table: Table, place: int) -> bool:
    """Return whether the cells of a column after the first are numbers or lists of numbers, or empty."""
    return place > 0 and (table.lists or all(_NUMBER.fullmatch(row[place].text) for row in table.rows))


def _number_classes(numeric: Sequence[bool]) -> str:
    """Return which columns are numeric, as the style sheet reads it."""
    if all(numeric[1:]):
        return " class=n"
    names = " ".join(f"n{place}" for place, is_number in enumerate(numeric, 1) if is_number)
    return f' class="{names}"' if names else ""


def _cells(cells: Sequence[Cell], numeric: Sequence[bool], root: str) -> str:
    return "".join(
        f"<{'td' if place else 'th'}{_attributes(cell, numeric=numeric[place])}>{_content(cell, root)}"
        for place, cell in enumerate(cells)
    )


def _attributes(cell: Cell, *, numeric: bool) -> str:
    found = "" if numeric or len(cell.text) <= _LONG else " class=long"
    if cell.sort is not None and not (numeric and _is_text_of(cell.text, cell.sort)):
        found += f" data-sort={cell.sort:.9g}"
    return f'{found} title="{_safe(cell.note)}"' if cell.note else found


def _is_text_of(text: str, value: float) -> bool:
    """Return whether a text is a number, as far as it shows it."""
    try:
        return abs(float(text.replace(",", "")) - value) <= 1e-5 * abs(value)
    except ValueError:
        return False


def _content(cell: Cell, root: str) -> str:
    text = _safe(cell.text)
    if cell.href:
        return f'<a href="{root}{_safe(cell.href)}">{text}</a>'
    return f"<span class={cell.badge}>{text}</span>" if cell.badge else text


def _safe(text: str) -> str:
    text = clean_lines(text)
    return escape(text) if _SPECIAL.search(text) else text
