"""Measure the pages of a site: how large they are, and how soon a browser shows them, as a table in Markdown.

    python bench/site_pages.py [CORPUS] [--times 9] [--views 5]

CORPUS is a folder of published rounds, ../shared/corpus where none is named. A site of it is made, with the records of
Graphcore, and another of as many results as TIMES corpora have: each organisation again under names of its own. Of the
pages of one kind the largest is measured. Needs Chromium and Playwright: pip install '.[browser]'.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.commands.site.browser import chromium
from tests.corpus import CORPUS

REPOSITORY = Path(__file__).resolve().parents[1]
RECORDS = REPOSITORY / "submissions" / "records" / "graphcore.yaml"
#: What the browser knows of a page: when it first showed something, and when its charts and tables were there, in ms.
_TIMES = """() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    performance.getEntriesByType("navigation")[0].loadEventEnd]"""


class Seen(NamedTuple):
    """A page: its size in kB, and the median times in ms to the first paint and to the end of its scripts."""

    name: str
    size: float
    first: float
    drawn: float


def main() -> int:
    """Make the sites, open their pages, and print the table."""
    asked = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="mlsub-site-") as place:
        above = Path(place)
        sites = [above / "once", above / "often"]
        counts = [_make(_rounds(asked.corpus), sites[0])]
        counts.append(_make(_rounds(_repeated(asked.corpus, above / "corpus", asked.times)), sites[1]))
        with chromium() as browser:
            seen = [_seen(browser, site, asked.views) for site in sites]
        print(_table(counts, seen))
        for count, site in zip(counts, sites, strict=True):
            shared = [*(site / "static").glob("*.js"), *(site / "data").glob("*.js")]
            sizes = ", ".join(f"{file.name} {_kb(file)}" for file in sorted(shared, key=_kb, reverse=True)[:4])
            print(f"\n{count}: shared scripts in kB: {sizes}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--times", type=int, default=9, help="how often each organisation is there in the larger site")
    parser.add_argument("--views", type=int, default=5, help="how often each page is opened")
    return parser


def _rounds(corpus: Path) -> list[Path]:
    return sorted(folder for folder in corpus.iterdir() if folder.is_dir())


def _repeated(corpus: Path, to: Path, times: int) -> Path:
    """A corpus with each organisation several times, its files linked."""
    for organisation in sorted(folder for round_ in _rounds(corpus) for folder in round_.iterdir() if folder.is_dir()):
        for number in range(times):
            name = f"{organisation.name}-{number + 1}" if number else organisation.name
            shutil.copytree(organisation, to / organisation.parent.name / name, copy_function=_link)
    return to


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _make(rounds: Sequence[Path], site: Path) -> str:
    """Make a site; how much is in it."""
    command = [sys.executable, "-m", "mlsub", "site", *map(str, rounds), "-o", str(site), "--records", str(RECORDS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()[0].removeprefix("A site of ")


def _pages(site: Path) -> Iterator[tuple[str, Path]]:
    """The pages by their kind: each of those at the top, and the largest of each folder."""
    for page in sorted(site.glob("*.html")):
        yield page.name, page
    for folder in sorted({page.parent for page in site.glob("*/*.html")}):
        yield f"{folder.name}/", max(folder.glob("*.html"), key=lambda page: page.stat().st_size)


def _seen(browser: Any, site: Path, views: int) -> dict[str, Seen]:
    found = {}
    for kind, page in _pages(site):
        times = [_view(browser, page) for _ in range(views)]
        first, drawn = (statistics.median(column) for column in zip(*times, strict=True))
        found[kind] = Seen(page.name, _kb(page), first, drawn)
    return found


def _view(browser: Any, page: Path) -> tuple[float, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        opened = context.new_page()
        opened.goto(page.as_uri(), wait_until="load")
        # The end of the load event is known once the event is over, and the first paint once there was one.
        opened.wait_for_timeout(300)
        first, drawn = opened.evaluate(_TIMES)
        return float(first), float(drawn)
    finally:
        context.close()


def _kb(file: Path) -> int:
    return round(file.stat().st_size / 1000)


def _table(counts: Sequence[str], seen: Sequence[dict[str, Seen]]) -> str:
    heads = [
        f"{count.partition(',')[0] if index == 0 else count.partition(' of ')[0]}" for index, count in enumerate(counts)
    ]
    lines = [
        "| page | " + " | ".join(f"kB, {head} | first view, ms | drawn, ms" for head in heads) + " |",
        "|---|" + "--:|" * (3 * len(heads)),
    ]
    for kind in dict.fromkeys(kind for found in seen for kind in found):
        cells = [
            f"{one.size} | {one.first:.0f} | {one.drawn:.0f}" if (one := found.get(kind)) else " | | " for found in seen
        ]
        lines.append(f"| `{kind}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
