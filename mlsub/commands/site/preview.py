"""What a link to a page shows where it is shared: a title, a description, and of benchmarks and rounds a picture."""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mlsub.commands.site.page import Bar, Picture, Preview, count_text, number_text
from mlsub.commands.site.render import STATIC
from mlsub.commands.site.results import NO_ACCELERATOR, Results, Site, SiteResult, SiteRound, fast, look_of
from mlsub.io.show import first_few

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

#: Pixels of a picture, as the cards of social networks and messengers have them; its margin, and how many bars it has.
WIDTH, HEIGHT = 1200, 630
_MARGIN, _MOST = 64, 5
#: Where bars begin and end, the first one's top, and how far they are apart.
_LEFT, _RIGHT, _TOP, _STEP = 440, 1000, 288, 59
_COLOURS = 8
_UNVERIFIED = "Computed from logs by mlsub, not verified by MLCommons."


def suite_of(results: Iterable[SiteResult]) -> str:
    """Return what results are of: ``MLPerf Training``, or several suites."""
    titles = Counter(result.rules.title.rpartition(" v")[0].partition(" (")[0] for result in results)
    return " and ".join(title for title, _ in titles.most_common())


def _rounds_words(results: Results) -> str:
    keys = list(dict.fromkeys(one.round_key for one in results))
    return keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}"


def home_preview(site: Site, title: str | None, words: Sequence[str]) -> Preview:
    """Return the preview of the first page; its picture is that of the newest round."""
    newest = next((round_preview(one, "") for one in reversed(site.rounds) if one.results), None)
    what = f"{suite_of(site.results)} results, {_rounds_words(site.results)}" if site.results else "No results"
    return Preview(title or what, " ".join((*words[:2], _UNVERIFIED)), newest.picture if newest else None)


def preview_of(name: str, kind: str, results: Results) -> Preview:
    """Return the preview of the page about a thing that results share, such as a benchmark or an organisation."""
    rounds = count_text(len({one.round_key for one in results}), "round")
    about = f"{count_text(len(results), 'result')} of the {kind} {name} in {rounds} ({_rounds_words(results)})"
    title = f"{name}: {suite_of(results)} results by round"
    if kind != "benchmark":
        titles = first_few(dict.fromkeys(one.benchmark_title for one in results), 4)
        return Preview(title, f"{about}: {titles}. {_UNVERIFIED}")
    if best := results.closed.best(lambda one: one.round_key)[-1:]:
        given = " given" if best[0].partial else ""
        about += f". The fastest Closed result{given} of {best[0].round_key}: {best[0].in_minutes}, {best[0].holder}"
    return Preview(title, f"{about}. {_UNVERIFIED}", _benchmark_picture(name, results))


def _benchmark_picture(name: str, results: Results) -> Picture:
    """Return the fastest of each family in the newest round that has Closed results with a time."""
    closed = next(iter(results.closed.by(lambda one: one.round_key)[::-1]), Results())
    fastest = closed.best(lambda one: one.family or NO_ACCELERATOR).ordered(fast)
    missing = f"; {closed.missing}" if closed.missing else ""
    of = f"{closed[0].rules.title}: fastest Closed results by accelerator{missing}" if closed else suite_of(results)
    headline = fastest[0].in_minutes if fastest else count_text(len(results), "result")
    return Picture(name, of, headline, tuple(_bar(one, _chips(one), one.organisation_name) for one in fastest[:_MOST]))


def round_preview(one: SiteRound, words: str) -> Preview:
    """Return the preview of a round: its picture has the fastest Closed result of the benchmarks with most results."""
    title, organisations = one.rules.title, {result.organisation_name for result in one.results}
    groups = sorted(one.results.closed.by(lambda result: result.benchmark_title), key=lambda some: -len(some))
    fastest = Results(min(some, key=fast) for some in groups[:_MOST]).ordered(fast)
    bars = tuple(_bar(best, best.benchmark_title, f"{best.organisation_name}, {_chips(best)}") for best in fastest)
    headline = f"{count_text(len(one.results), 'result')}, {count_text(len(organisations), 'organisation')}"
    picture = Picture(title, "Fastest Closed results in minutes", headline, bars)
    return Preview(f"{title}: results of all benchmarks", f"{headline}. {words} {_UNVERIFIED}", picture)


def result_preview(title: str, score: str, note: str) -> Preview:
    """Return the preview of one result: its score in the title."""
    return Preview(f"{title}: {score}", f"{note} {_UNVERIFIED}")


def _bar(result: SiteResult, label: str, note: str) -> Bar:
    colour = look_of(result.family or NO_ACCELERATOR)[1]
    return Bar(label, note, result.train_minutes or 0.0, colour, hollow=result.partial)


def _chips(result: SiteResult) -> str:
    count, name = result.accelerators_count, result.accelerator
    return f"{count:,} × {name}" if count and name else result.system_name


# ---- The picture


def draw_png(picture: Picture) -> bytes:
    """Return a picture as PNG with few colours; the same picture is the same bytes.

    Its font has the letters of ASCII alone: others are written without accents, or as a question mark.
    """
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH, HEIGHT), _colour("paper"))
    pen = ImageDraw.Draw(image)
    _write(pen, _MARGIN, 44, picture.title, 60, WIDTH - 2 * _MARGIN)
    _write(pen, _MARGIN, 118, picture.about, 28, WIDTH - 2 * _MARGIN, "soft")
    _write(pen, _MARGIN, 168, picture.headline, 84, WIDTH - 2 * _MARGIN)
    longest = max((bar.minutes for bar in picture.bars), default=1.0) or 1.0
    for place, bar in enumerate(picture.bars):
        top = _TOP + place * _STEP
        _write(pen, _MARGIN, top - 8, bar.label, 26, _LEFT - _MARGIN - 20)
        _write(pen, _MARGIN, top + 24, bar.note, 20, _LEFT - _MARGIN - 20, "soft")
        end = _LEFT + max(4, round((_RIGHT - _LEFT) * bar.minutes / longest))
        fill = _colour("paper" if bar.hollow else bar.colour)
        pen.rectangle((_LEFT, top, end, top + 40), fill=fill, outline=_colour(bar.colour), width=3)
        _write(pen, end + 14, top + 5, f"{number_text(bar.minutes, 3)} min", 26, WIDTH - end - 30)
    _write(pen, _MARGIN, HEIGHT - 44, _UNVERIFIED, 20, WIDTH - 2 * _MARGIN, "soft")
    found = io.BytesIO()
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(found, "PNG", optimize=True)
    return found.getvalue()


def _write(pen: ImageDraw, x: int, y: int, text: str, size: int, room: int, colour: str = "text") -> None:
    """Write a text on one line, in a smaller size or cut where it has no room."""
    plain = unicodedata.normalize("NFKD", text.replace("×", "x").replace("–", "-")).encode("ascii", "ignore").decode()
    font = _font(size)
    if (width := font.getlength(plain)) > room:
        font = _font(max(size * 2 // 3, int(size * room / width)))
    while plain and font.getlength(plain) > room:
        plain = f"{plain[:-4].rstrip()}..."
    pen.text((x, y), plain, font=font, fill=_colour(colour))


@cache
def _font(size: int) -> FreeTypeFont:
    """Return the font that Pillow has within itself, laid out in the same way on every machine."""
    from PIL import ImageFont

    found: Any = ImageFont.load_default(size)
    font: FreeTypeFont = found.font_variant(layout_engine=ImageFont.Layout.BASIC)
    return font


@cache
def _colours() -> dict[str, str]:
    """Return the colours of the light theme by the names that the style sheet has for them."""
    text = (STATIC / "site.css").read_text("utf-8")
    return dict(re.findall(r"(?<![\w-])--([\w-]{1,40}+): (?:light-dark\()?(#[0-9a-f]{6})", text)[::-1])


def _colour(name: str) -> str:
    return _colours()[name]
