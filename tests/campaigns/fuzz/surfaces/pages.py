"""Documents as HTML: hostile text is text, in a page of the same elements as harmless text makes."""

from __future__ import annotations

from mlsub.io.show import plain
from mlsub.present import html
from tests.campaigns.fuzz.documents import Harmless, Maker, same
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.pagecheck import same_page, squeezed
from tests.campaigns.fuzz.seeds import DOCUMENTS, MARKUP


def _document(data: bytes) -> None:
    texts: list[str] = []

    def noted(text: str) -> str:
        texts.append(text)
        return same(text)

    page = html.render(Maker(data, noted).document())
    read = same_page(page, html.render(Maker(data, Harmless()).document()))
    shown = squeezed(read.text)
    for text in texts[:1]:
        if squeezed(plain(text)) not in shown:
            raise BrokenError(f"{text!r} is not on the page")


HARNESSES = (Harness("page-document", "documents as HTML", _document, lambda: DOCUMENTS, MARKUP, longest=3_000),)
