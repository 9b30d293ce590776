"""Results as a Dataset of schema.org, for search engines, and as an RO-Crate, for archives: deposits need no typing.

See https://schema.org/Dataset and https://w3id.org/ro/crate/1.2. All is made of results, so the same results make the
same bytes.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from mlsub.io import VERSION
from mlsub.io.show import encodable, plain, plural, readable, shortened, utc

#: The name that an RO-Crate's description must have, beside the files that it describes.
CRATE = "ro-crate-metadata.json"
_MEDIA_TYPES = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}
#: An RO-Crate must have a licence, be it in words.
_LICENCE = {
    "@id": "#licence",
    "@type": "CreativeWork",
    "name": "No licence is stated",
    "description": "The organisations named as creators say how their results may be used.",
}
_MAX_NAME = 200


class Variable(msgspec.Struct, frozen=True):
    """A column: its name, what it means, and its unit if it has one."""

    name: str
    meaning: str
    unit: str = ""


class DataFile(msgspec.Struct, frozen=True):
    """A file of a dataset: its path from the page or folder that describes it, its bytes and digest, what it holds."""

    path: str
    size: int
    sha256: str
    meaning: str


class ResultSource(msgspec.Struct, frozen=True):
    """Where a result is from: its round as people write it, when that came out, whose it is.

    ``published`` is a day or, with the precision ``month``, one in the month, None where that is not known.
    """

    round: str
    published: datetime.date | None
    precision: str | None
    organisation: str

    @property
    def date(self) -> str | None:
        """When the round came out, in ISO 8601."""
        return None if self.published is None else self.published.isoformat()[: 7 if self.precision == "month" else 10]


def data_file(path: str, content: bytes, meaning: str) -> DataFile:
    """Return a file by its content."""
    return DataFile(path, len(content), hashlib.sha256(content).hexdigest(), meaning)


def build_dataset(
    sources: Sequence[ResultSource],
    variables: Iterable[Variable],
    files: Iterable[DataFile],
    *,
    name: str | None = None,
    url: str = "",
) -> dict[str, Any]:
    """Return results as a Dataset in JSON-LD; it says nothing of a licence, for none is known.

    Args:
        sources: one for each result.
        variables: the columns of its files.
        files: what can be downloaded.
        name: what it is called; None for its rounds.
        url: where it will be, with a slash at its end, if that is known.
    """
    dates = {one.round: one.date for one in sources}
    rounds = sorted(dates, key=lambda key: (dates[key] or "9", key))
    known = sorted(filter(None, dates.values()))
    period = " to ".join(dict.fromkeys((rounds[0], rounds[-1]))) if rounds else "no round"
    creators = sorted({part for one in sources for part in one.organisation.split("+") if part}, key=str.casefold)
    about = (
        f"{plural(len(sources), 'result')} of training benchmarks by {plural(len(creators), 'organisation')} in "
        f"{plural(len(rounds), 'round')} ({period}): scores, verdicts, convergence and systems. Computed from logs by "
        "mlsub, not verified by MLCommons."
    )
    dataset = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": _text(name or f"Results of training benchmarks, {period}"),
        "description": about,
        "url": url,
        "version": f"{rounds[-1]}, mlsub {VERSION}" if rounds else f"mlsub {VERSION}",
        "datePublished": known[-1] if known else "",
        "temporalCoverage": "/".join(dict.fromkeys((known[0], known[-1]))) if known else "",
        "creator": [{"@type": "Organization", "name": _text(name)} for name in creators],
        "variableMeasured": [
            {"@type": "PropertyValue", "name": one.name, "description": one.meaning}
            | ({"unitText": one.unit} if one.unit else {})
            for one in variables
        ],
        "distribution": [
            {
                "@type": "DataDownload",
                "name": PurePosixPath(one.path).name,
                "description": one.meaning,
                "contentUrl": f"{url}{one.path}",
                "encodingFormat": _MEDIA_TYPES[PurePosixPath(one.path).suffix],
                "contentSize": str(one.size),
                "sha256": one.sha256,
            }
            for one in files
        ],
    }
    return {key: value for key, value in dataset.items() if value}


def render_crate(dataset: Mapping[str, Any], ended: Iterable[float | None]) -> bytes:
    """Return a Dataset as the description of an RO-Crate: the folder that its files lie in.

    Args:
        dataset: what :func:`build_dataset` returns.
        ended: when runs ended, in milliseconds since 1970. A crate must have a day of publication, and results that
            are not published have none: then it is that of the last run.
    """
    root = {"@id": "./", **{key: value for key, value in dataset.items() if key not in ("@context", "distribution")}}
    if "datePublished" not in root:
        root["datePublished"] = max((time.date().isoformat() for time in map(utc, ended) if time), default="")
    root["license"] = {"@id": _LICENCE["@id"]}
    files = [{"@id": one["name"], **one, "@type": "File"} for one in dataset.get("distribution", ())]
    creators = [{"@id": f"#organisation-{at}", **one} for at, one in enumerate(dataset.get("creator", ()), 1)]
    variables = [{"@id": f"#{one['name']}", **one} for one in dataset["variableMeasured"]]
    for key, parts in (("creator", creators), ("variableMeasured", variables), ("hasPart", files)):
        root[key] = [{"@id": part["@id"]} for part in parts]
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"},
        "about": {"@id": "./"},
    }
    graph = [
        {key: value for key, value in one.items() if value and key != "contentUrl"}
        for one in (descriptor, root, _LICENCE, *files, *creators, *variables)
    ]
    crate = {"@context": "https://w3id.org/ro/crate/1.2/context", "@graph": graph}
    return msgspec.json.format(msgspec.json.encode(crate), indent=1) + b"\n"


def _text(text: str) -> str:
    return encodable(plain(readable(shortened(text, _MAX_NAME))))
