"""Pages of a site: documents with an address, and how they become HTML.

Everything from outside is escaped, and nothing of it is ever a script, a style or an address.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from mlsub.io import VERSION
from mlsub.io.show import encodable, first_few, plain, readable, shortened
from mlsub.present import document as doc
from mlsub.present.document import Axis, Cell, Chart, Column, Document, Section, Series, Span, Table

if TYPE_CHECKING:
    from jinja2 import Template

T = TypeVar("T")
_HERE = Path(__file__).parent
STATIC = _HERE / "static"
#: What is shown of one text from outside, and of a name; texts of published systems stay below it.
MAX_TEXT, MAX_NAME = 2000, 120
#: What the word means on every page.
MINUTES = (
    "Minutes are the published score: the olympic mean of the times to train, times the factor of scaling.json, and "
    "results are ranked by it whatever their verdict. Expected minutes have the factor that the convergence test gives."
)
UNVERIFIED = "Computed from logs by mlsub, not verified by MLCommons."
#: The script with all results, which pages load as a file may load no data.
RESULTS_SCRIPT = "data/results.js"
#: What stands above a page that is not the first.
OVERVIEW = (("Overview", "index.html"),)
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
    *("charts", "views", "pictures", "runs", "series", "dots", "sizes", "round", "explore", "cite", "downloads"),
    *("selection", "results", "search", "tables", "compare"),
)
_SCRIPT = "static/site.js"
#: Kinds of charts that are drawn from what stands in their page; the data of others refer to all results.
_OF_PAGE = ("series", "runs")
_LIBRARIES = ("static/d3.min.js", "static/plot.umd.min.js")
#: The classes of the style sheet that words of a meaning have.
_LOOKS = {"good": "good", "bad": "bad", "note": "warn", "soft": "calm", "strong": "differs"}
#: Characters that could end the script which data stand in.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
#: What means something to HTML; most cells have nothing of it.
_SPECIAL = re.compile(r"[&<>\"']")
#: Longer texts are given the room of several lines.
_LONG = 48
#: Where a name of more letters than this may break in a narrow column.
_WORD, _BREAKS = 12, re.compile(r"(?<=[_+])(?=\w)")
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?[†×%]?|[–†]|")
#: A number with its decimals, to which spaces may be added; they are as wide as its point and as its digits.
_DECIMALS = re.compile(r"-?\d[\d,]*(?:\.(\d+))?(?![\d.e])")
_POINT_SPACE, _DIGIT_SPACE = "\u2008", "\u2007"


class Page(Document, frozen=True, kw_only=True):
    """A document with an address.

    ``path`` is where it lies in the site; ``full_title`` and ``description`` are what browsers, search engines and
    links to it say of it; ``crumbs`` are the pages above it, as title and path; ``scripts`` are data that it is made
    of, from the root of the site. A text that begins with strong words is the figure that a page is about.
    ``dataset`` is the results as a Dataset of schema.org, on the pages that are about all of them.
    """

    path: str
    full_title: str
    description: str
    crumbs: tuple[tuple[str, str], ...] = ()
    scripts: tuple[str, ...] = ()
    dataset: dict[str, Any] | None = None

    def charts(self) -> Iterator[Chart]:
        """Yield the charts of its sections."""
        for section in self.blocks:
            if isinstance(section, Section):
                yield from (block for block in section.blocks if isinstance(block, Chart))


class Frame(msgspec.Struct, frozen=True):
    """What all pages have: those that each leads to, as title and path, and where the site will be if that is known."""

    navigation: tuple[tuple[str, str], ...]
    url: str = ""


# ---- Cells and tables

#: What a cell can be made of: a text, a number, which sorts by its value, or nothing.
Value = Span | str | float | None
#: A column: its head, and what it shows of a thing.
ColumnOf = tuple[str, Callable[[T], Value]]


def build_table(caption: str, things: Iterable[T], columns: Sequence[ColumnOf[T]], anchor: str = "") -> Table:
    """Return a table with a row for each thing."""
    rows = ([value(thing) for _, value in columns] for thing in things)
    return plain_table(caption, [title for title, _ in columns], rows, anchor=anchor)


def plain_table(caption: str, heads: Sequence[str], rows: Iterable[Iterable[Value]], *, anchor: str = "") -> Table:
    """Return a table of values."""
    cells = tuple(tuple(map(cell_of, row)) for row in rows)
    return Table(tuple(map(Column, heads)), cells, caption=caption, anchor=anchor)


def cell_of(value: Value) -> Span:
    """Return a value as a cell, a dash for none."""
    if isinstance(value, Span):
        return value
    return Span(value or "–") if isinstance(value, str) else number_cell(value)


def number_cell(value: float | None, shown: str | None = None, link: str = "") -> Span:
    """Return a number as a cell that sorts by its value."""
    finite = value is not None and math.isfinite(value)
    return Span(number_text(value) if shown is None else shown, link=link, value=value if finite else None)


def three_cell(value: float | None, link: str = "") -> Span:
    """Return a number with three significant digits, as tables of results have it; of larger ones whole digits."""
    return number_cell(value, three_text(value), link)


def minutes_cell(value: float | None) -> Span:
    """Return minutes as the tables of mlsub print them, to the sixth decimal."""
    return number_cell(value, "–" if value is None or not math.isfinite(value) else f"{value:.6f}")


def names_cell(names: Iterable[str], most: int = 8) -> Span:
    """Return names once each, the first of them, and how many more there are."""
    found = dict.fromkeys(names)
    return Span(first_few(found, most) or "–", value=float(len(found)))


# ---- Texts


def count_text(count: int, word: str) -> str:
    """Return how many of something: 1 run, 2 runs."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def clean(value: str, limit: int = MAX_TEXT) -> str:
    """Return text from outside as a page may show it: no control characters, and not without end."""
    return shortened(plain(readable(value[: limit + 1])), limit)


def number_text(value: float | None, digits: int = 6) -> str:
    """Return a number for people, to some significant digits, with a dash for none."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    # What can neither round up to a number with a comma nor get an exponent is what most numbers are.
    if 1e-4 <= size < min(999, 10 ** (digits - 1)):
        return f"{value:.{digits}g}"
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.{digits}g}"
    decimals = 0 if float(value).is_integer() else max(0, digits - 1 - math.floor(math.log10(size)))
    shown = f"{value:,.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if decimals else shown


def three_text(value: float | None) -> str:
    """Return a number to three significant digits, zeros at the end included: 12.0, 0.340, 1,234."""
    if value is None or not 1e-4 <= abs(value) < 999.5:
        return number_text(value, 3)
    return f"{value:#.3g}".rstrip(".")


# ---- HTML


def write_page(site: Path, frame: Frame, page: Page) -> None:
    """Write a page in UTF-8.

    Args:
        site: the folder.
        frame: what all pages have.
        page: what is written.

    Raises:
        OSError: it cannot be written.
    """
    root = "../" * page.path.count("/")
    known = {"navigation": frame.navigation, "url": frame.url, "policy": POLICY, "version": VERSION}
    text = _template().render(page=page, root=root, scripts=list(_scripts(page)), **known)
    (site / page.path).parent.mkdir(exist_ok=True)
    (site / page.path).write_bytes(text.encode("utf-8", "backslashreplace"))


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
    data = (RESULTS_SCRIPT,) if any(chart.kind not in _OF_PAGE for chart in charts) else ()
    yield from dict.fromkeys((*page.scripts, *data))
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
    environment.filters["breakable"] = lambda text: Markup(_breakable(text))  # noqa: S704  (escaped there)
    environment.filters["drawn"] = _drawn
    environment.filters["look"] = lambda span: _LOOKS.get(span.meaning, "")
    # Elsewhere leads what begins with a scheme: addresses of results that are published.
    environment.filters["address"] = lambda link, root: (
        link if link.startswith(("http://", "https://")) else root + link
    )
    environment.filters["spans"] = doc.spans
    environment.globals["table"] = lambda table, root: Markup(render_table(table, root))  # noqa: S704  (escaped here)
    for kind in (doc.Chart, doc.Facts, doc.Section, doc.Text):
        environment.tests[kind.__name__.lower()] = lambda block, kind=kind: isinstance(block, kind)
    return environment.get_template("page.html")


def clean_lines(text: str) -> str:
    """Return text with each of its lines fit to be shown."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(plain(readable(line)) for line in text.split("\n"))


def _drawn(chart: Chart) -> dict[str, Any]:
    """Return what the script that draws a chart gets."""
    return {**({"x": chart.x, "y": chart.y, "series": chart.series} if chart.series else {}), **chart.data}


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
    if isinstance(found, Axis):
        return _encodable(msgspec.structs.asdict(found))
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
    rows = [list(map(_one_span, row)) for row in table.rows]
    # Cells of a column after the first that are numbers or lists of numbers, or empty.
    numeric = [
        place > 0 and (table.lists or all(_NUMBER.fullmatch(row[place].text) for row in rows))
        for place in range(len(table.columns))
    ]
    heads = "".join(f"<th>{_safe(column.name)}" for column in table.columns)
    name = f' id="table-{_safe(table.anchor)}"' if table.anchor else ""
    lists = " data-lists" if table.lists else ""
    aligned = [is_number and not table.lists for is_number in numeric]
    columns = [_paddings([row[place].text if aligned[place] else "" for row in rows]) for place in range(len(numeric))]
    body = "".join(
        f"<tr>{_cells(row, numeric, behind, root)}"
        for row, behind in zip(rows, zip(*columns, strict=True), strict=True)
    )
    return (
        f"<div class=table>\n<table{name}{_number_classes(numeric)}{lists} data-sortable>\n"
        f"<caption>{_safe(table.caption)}</caption>\n<thead><tr>{heads}<tbody>{body}</table>\n</div>"
    )


def _paddings(texts: Sequence[str]) -> list[str]:
    """Return the spaces behind each number of a column, so that decimal points stand below each other."""
    found = [_DECIMALS.match(text) for text in texts]
    decimals = [len(one[1] or "") if one else 0 for one in found]
    most = max(decimals, default=0)
    points = [_POINT_SPACE * (most > 0 and not count) for count in decimals]
    return [f"{point}{_DIGIT_SPACE * (most - count)}" for point, count in zip(points, decimals, strict=True)]


def _one_span(cell: Cell) -> Span:
    """Return a cell that looks one way as it is, the text of another."""
    return cell if isinstance(cell, Span) else Span("\n".join(map(doc.text_of, doc.lines_of(cell))))


def _number_classes(numeric: Sequence[bool]) -> str:
    """Return which columns are numeric, as the style sheet reads it."""
    if all(numeric[1:]):
        return " class=n"
    names = " ".join(f"n{place}" for place, is_number in enumerate(numeric, 1) if is_number)
    return f' class="{names}"' if names else ""


def _cells(cells: Sequence[Span], numeric: Sequence[bool], behind: Sequence[str], root: str) -> str:
    return "".join(
        f"<{'td' if place else 'th'}{_attributes(cell, numeric=numeric[place])}>{_content(cell, root)}{behind[place]}"
        for place, cell in enumerate(cells)
    )


def _attributes(cell: Span, *, numeric: bool) -> str:
    found = "" if numeric or len(cell.text) <= _LONG else " class=long"
    if cell.value is not None and not (numeric and _is_text_of(cell.text, cell.value)):
        found += f" data-sort={cell.value:.9g}"
    return f'{found} title="{_safe(cell.note)}"' if cell.note else found


def _is_text_of(text: str, value: float) -> bool:
    """Return whether a text is a number, as far as it shows it."""
    try:
        return abs(float(text.replace(",", "")) - value) <= 1e-5 * abs(value)
    except ValueError:
        return False


def _content(cell: Span, root: str) -> str:
    text, look = _breakable(cell.text), _LOOKS.get(cell.meaning)
    if cell.link:
        return f'<a href="{root}{_safe(cell.link)}">{text}</a>'
    return f"<span class={look}>{_safe(cell.text)}</span>" if look else text


def _safe(text: str) -> str:
    text = clean_lines(text)
    return escape(text) if _SPECIAL.search(text) else text


def _breakable(text: str) -> str:
    """Return a text as HTML; a long name may break behind underscores and plus signs, which it has for blanks."""
    return _BREAKS.sub("<wbr>", _safe(text)) if len(text) > _WORD and " " not in text else _safe(text)
