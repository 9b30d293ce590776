"""Make mlsub/review/published_runs.json: digests of published runs, which ``entry.resubmitted`` compares with.

``python -m tools.published_runs --from DIR`` reads the rounds in DIR: folders such as ``v5.0`` and ``hpc-v3.0``, with
those of organisations in them. Entries that it finds take the place of those in the file, and all others stay. There
may be several DIR; without any, what ``../shared`` has is read. It says how many runs of each round the file has then.
"""

from __future__ import annotations

import argparse
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.review.fingerprints import FILE, SIZE, digest_description, digest_times
from mlsub.submission.result import Result
from mlsub.systems.description import read_description
from mlsub.workspace import Context, Request, check_with_logs
from tools.support.corpus import CORPUS, SHARED

#: The digests of each entry, the first of its description, by its path below the round.
Rounds = dict[str, dict[str, bytes]]
PUBLISHED = (CORPUS, SHARED / "cases", SHARED / "v6.0-sample")
#: The round of a folder whose name does not say it.
_ROUNDS = {"v6.0-sample": "6.0"}


def digest_rounds(folders: Sequence[Path]) -> Rounds:
    """Return the digests of all entries below some folders of rounds."""
    found: Rounds = {}
    requests = [(folder, Context(Request(_ROUNDS.get(folder.name)))) for folder in folders]
    for checked in (one for folder, context in requests for one in check_with_logs([folder], context)):
        for result in checked.results:
            if digests := b"".join(_digest_result(result)):
                path = f"{result.organisation}/{result.path.partition('results/')[2]}"
                found.setdefault(f"{result.usage} {result.round}", {})[path] = digests
    return found


def _digest_result(result: Result) -> Iterator[bytes]:
    """Yield the digest of the description of an entry, and those of its runs; none where it has no run."""
    runs = [digest for log in result.logs if (digest := digest_times(log.run)) is not None]
    if runs:
        file = result.description_file
        yield from (digest_description(read_description(file, "", result.rules) if file else None), *runs)


def read_rounds() -> Rounds:
    """Return what the file has."""
    return msgspec.json.decode(FILE.read_bytes(), type=Rounds) if FILE.exists() else {}


def write_rounds(rounds: Rounds) -> None:
    """Write the file: rounds in their order, an entry a line."""

    def order(name: str) -> tuple[str, list[int]]:
        usage, _, number = name.partition(" ")
        return usage, [int(part) for part in number.split(".")]

    text = {
        name: {path: b64encode(digests).decode() for path, digests in sorted(rounds[name].items())}
        for name in sorted(rounds, key=order)
    }
    FILE.write_text(json.dumps(text, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Bring the file up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folders", metavar="DIR", type=Path, action="append")
    rounds = read_rounds()
    for name, entries in digest_rounds(parser.parse_args().folders or PUBLISHED).items():
        rounds[name] = rounds.get(name, {}) | entries
    write_rounds(rounds)
    for name, entries in read_rounds().items():
        runs = sum(len(digests) // SIZE - 1 for digests in entries.values())
        print(f"{name}: {runs} runs of {len(entries)} entries")


if __name__ == "__main__":
    main()
