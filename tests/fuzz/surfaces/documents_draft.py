"""Documents of which ``audit draft`` makes claims: plain text, Markdown and HTML, however hostile."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from mlsub.commands.audit.draft.figures import figures_in
from mlsub.commands.audit.draft.model import Draft
from mlsub.commands.audit.draft.names import About
from mlsub.commands.audit.draft.pages import LONGEST, MOST_SENTENCES, sentences_of
from mlsub.commands.audit.draft.run import draft
from mlsub.commands.audit.read import read_claims
from mlsub.io.problems import FileProblemsError
from mlsub.io.spelling import spaced
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.provider import one_in
from tests.fuzz.surfaces.documents_shared import lines_of, placed, taken

_ABOUT = About(title="")


def _reader(ending: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        file = placed(data, f"post{ending}")
        sentences = taken(lambda: sentences_of(file), data, file)
        if sentences is None:
            return
        last, lines = 1, len(lines_of(data))
        for one in sentences:
            if not (last if ending != ".html" else 1) <= one.line <= lines or not 0 < len(one.text) <= LONGEST:
                raise BrokenError(f"{one}")
            if not one.text.isprintable() or one.text.rstrip() != " ".join(one.text.split()):
                raise BrokenError(f"{one.text!r} is not one line of text")
            last = one.line
            for figure in figures_in(spaced(one.text)):
                if not 0 <= figure.start < figure.end <= len(spaced(one.text)):
                    raise BrokenError(f"{figure} in {one.text!r}")
        if len(sentences) > MOST_SENTENCES:
            raise BrokenError(f"{len(sentences)} sentences")
        if one_in(4, data):
            found: Draft | None = taken(lambda: draft(file, (), _ABOUT), data, file)
            if found is not None:
                _check(found)

    return run


def _check(found: Draft) -> None:
    """A draft is a claims file, which has each figure as a claim in the order of the document."""
    file: Path = placed(found.file.encode(), "draft.yaml")
    try:
        claims = read_claims(file)
    except FileProblemsError as error:
        raise BrokenError(f"the draft is refused: {error}: {found.file[:2000]}") from error
    if [claim.id for claim in claims.claims] != [one.id for one in found.claims]:
        raise BrokenError(f"{[one.id for one in found.claims]} are {[claim.id for claim in claims.claims]}")
    if [claim.text for claim in claims.claims] != [one.text for one in found.claims]:
        raise BrokenError(f"{[one.text for one in found.claims]} are {[claim.text for claim in claims.claims]}")
    if found.proposed + found.unmatched != len(found.claims):
        raise BrokenError(found.summary)


_TEXT = (
    "ACME on MLPerf v1.1\n\nIn MLPerf Training v1.1, ACME trains ResNet-50 in 28.3 minutes on a rack1, 1.6x faster\n"
    "than BETA in v1.0 (ID 1.1-2040). It costs $149,995 and saves up to 30% of the time.\n\n- BERT: about 20 minutes\n"
    "1) Four systems, eight results, 12,000 images/s\n"
)
_MARKDOWN = (
    f"---\ntitle: x\n---\n# MLPerf v1.1\n\n{_TEXT}\n| System | BERT | ResNet |\n|---|---|---|\n"
    "| rack1 | 20.1 min | 28 |\n\n> **1.5x** [faster](https://x.y) than `BETA`\n\n```\n9 minutes\n```\n"
    "<!-- 7 minutes -->\n"
)
_HTML = (
    "<html><head><title>v1.1</title><style>a{b:1}</style></head><body><h1>MLPerf &amp; more</h1>\n<p>ACME trains BERT"
    " in 20&nbsp;minutes,<br>2&times; faster than BETA.</p><!-- 3 x --><table><tr><th>System<th>Minutes</tr>\n<tr>"
    "<td>rack1<td>28.3</tr></table><ul><li>v1.1: 1,5 x<li>$ 5</ul><script>1 < 2</script></body></html>\n"
)
_PARTS = (
    *(
        "ACME",
        "BETA",
        "NVIDIA",
        "A100",
        "ResNet-50",
        "BERT",
        "IPU-POD16",
        "rack1",
        "MLPerf",
        "v1.1",
        "v0.7",
        "Closed",
        "Open",
    ),
    *(
        "28.3 minutes",
        "1.6x",
        "2×",
        "30%",
        "$149,995",
        "4,000 images/s",
        "12 hours",
        "half",
        "twice",
        "1.1-2040",
        "8 systems",
    ),
    *(
        "faster than",
        "up to",
        "about",
        "less than",
        "compared to",
        "per dollar",
        "and",
        "or",
        "respectively",
        "the same",
        "on",
    ),
    *(
        "9" * 400,
        "1.1.1.1",
        "1e400",
        "0x",
        "-5",
        "½",
        "٣ minutes",
        "1 000",
        "1.6x-2.0x",
        "{}",
        "{0}",
        "%s",
        "'",
        '"',
        "\\",
    ),
    *(
        ". ",
        ".\n",
        ", ",
        "; ",
        "\n\n",
        "\t",
        "\u2028",
        "\u202e",
        "\x1b[31m",
        "\x85",
        "\ufeff",
        "#",
        "|",
        "- ",
        ": ",
        "? ",
        "!",
    ),
    *(
        "<p>",
        "<td>",
        "<tr>",
        "</table>",
        "<!--",
        "-->",
        "<a href=",
        "<b",
        ">",
        "&#0;",
        "&#x110000;",
        "&amp",
        "&lt;",
        "<script>",
    ),
    *(
        "```",
        "---\n",
        "[a](b)",
        "**",
        "``",
        "![",
        "<http://x>",
        "\n| a | b |\n",
        "\n|---|\n",
        "\u200b",
        "\xa0",
        "\U0001f600",
    ),
)
_WORDS = tuple(part.encode("utf-8") for part in _PARTS)


def _generate(rng: random.Random) -> bytes:
    """Sentences of names, figures and words, with marks of every language among them."""
    gap = rng.choice((" ", " ", "", "\n"))
    return gap.join(rng.choices(_PARTS, k=rng.choice((5, 20, 60)))).encode()


def _harness(name: str, surface: str, ending: str, seed: str) -> Harness:
    seeds = (seed.encode(), seed.replace("\n", "\r\n").encode())
    return Harness(name, surface, _reader(ending), lambda: seeds, _WORDS, _generate, longest=5_000, seconds=3.0)


HARNESSES = (
    _harness("draft-text", "plain text for audit draft", ".txt", _TEXT),
    _harness("draft-markdown", "Markdown for audit draft", ".md", _MARKDOWN),
    _harness("draft-html", "HTML for audit draft", ".html", _HTML),
)
