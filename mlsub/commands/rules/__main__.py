"""``python -m mlsub.commands.rules [FOLDER]``: write the reference pages, and schema.json (``make docs``)."""

from __future__ import annotations

import sys
from pathlib import Path

from mlsub.commands.rules.pages import write
from mlsub.commands.rules.schema import FILE, schema_text


def main(arguments: list[str]) -> None:
    """Bring the pages below a folder (docs) up to date."""
    docs = Path(arguments[0] if arguments else "docs")
    FILE.write_text(schema_text(), "utf-8")
    written, gone = write(docs)
    sys.stdout.write(f"{docs}: {written} pages written, {gone} taken away\n")


if __name__ == "__main__":
    main(sys.argv[1:])
