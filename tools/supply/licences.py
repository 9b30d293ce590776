"""The licences of all that mlsub runs with: ``python -m tools.supply.licences FILE`` writes them as a page.

What it runs with are the packages that setup.cfg names for users, those that they need, and the scripts that ship with
the site and the documentation. The names come from the installed packages (``make supply``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

REPOSITORY = Path(__file__).parents[2]
#: What users install. The adapters bring frameworks that a training has anyway, and the rest is for developers.
EXTRAS = ("dask", "db", "rehearsal", "tables")
#: Where the metadata of a package say nothing: its licence, and where it says so.
SAID_ELSEWHERE = {"pyrage": ("MIT", "the file LICENSE of its source")}
HEAD = """# Third-party software

What mlsub runs with, and under which licence; `make supply` writes this list from the metadata of the packages.
mlsub itself is under the Apache License 2.0 (LICENSE).

Frameworks that the extras `lightning`, `transformers`, `keras` and `adapters` name are not listed: a training that
mlsub records has them already. Packages that only developers install are not listed either;
CONTRIBUTING.md says what they are for.

"""


class Script(NamedTuple):
    """A script of this repository: its file, the one with its licence, and names, versions and licences from npm."""

    file: str
    text: str
    libraries: tuple[tuple[str, str, str], ...]


_STATIC, _ASSETS = "mlsub/commands/site/static", "docs/assets"
_OF_SITE = f"{_STATIC}/libraries.LICENSE.txt"
#: Parquet files of a selection, made in the browser; bundled by esbuild, as a page of a disk loads no modules.
_PARQUET = (("hyparquet-writer", "0.17.0", "MIT"), ("hyparquet", "1.31.5", "MIT"))
SCRIPTS = (
    # The charts of the site, as published on npm (why these, docs/site.md says).
    Script(f"{_STATIC}/d3.min.js", _OF_SITE, (("d3", "7.9.0", "ISC"),)),
    Script(f"{_STATIC}/plot.umd.min.js", _OF_SITE, (("@observablehq/plot", "0.6.17", "ISC"),)),
    Script(f"{_STATIC}/parquet.min.js", _OF_SITE, _PARQUET),
    # The search of the documentation without a server.
    Script(f"{_ASSETS}/iframe-worker.js", f"{_ASSETS}/iframe-worker.LICENSE.txt", (("iframe-worker", "1.0.4", "MIT"),)),
)


def declared() -> dict[NormalizedName, str]:
    """The packages that setup.cfg names for users, and who asks: ``mlsub``, or extras."""
    config = ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    found: dict[NormalizedName, list[str]] = {}
    places = {"mlsub": config["options"]["install_requires"]}
    places |= {extra: config["options.extras_require"][extra] for extra in EXTRAS}
    for name, lines in places.items():
        for line in filter(None, lines.splitlines()):
            found.setdefault(canonicalize_name(Requirement(line).name), []).append(name)
    return {name: ", ".join(askers) for name, askers in found.items()}


def closure() -> dict[NormalizedName, str]:
    """Every package that mlsub runs with on this machine, without extras of others, and who asks for it.

    Raises:
        PackageNotFoundError: one is not installed.
    """
    found = declared()
    waiting = sorted(found)
    for asker in waiting:
        for requirement in map(Requirement, requires(asker) or ()):
            name = canonicalize_name(requirement.name)
            if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
                found[name] = asker
                waiting.append(name)
    return found


def licence_of(name: str) -> str:
    """The licence that the metadata of a package state.

    Raises:
        SystemExit: they state none.
    """
    fields = metadata(name).json
    classifiers = (one.rpartition(" :: ")[2] for one in fields.get("classifier", ()) if one.startswith("License"))
    stated = fields.get("license_expression") or ", ".join(classifiers) or fields.get("license")
    licence = SAID_ELSEWHERE[name][0] if name in SAID_ELSEWHERE else str(stated or "")
    if not licence:
        raise SystemExit(f"the metadata of {name} do not say its licence; look it up for SAID_ELSEWHERE")
    return licence


def _packages(names: dict[NormalizedName, str]) -> Iterator[str]:
    for name, asker in sorted(names.items()):
        yield f"| [{name}](https://pypi.org/project/{name}/) | {licence_of(name)} | {asker} |"


def page() -> str:
    """The page, in Markdown."""
    lines = ["## Packages", "", "| package | licence | asked for by |", "|---|---|---|", *_packages(closure())]
    lines += ["", *(f"The licence of {name} is that of {where}." for name, (_, where) in SAID_ELSEWHERE.items())]
    lines += ["", "## Scripts", "", "| file | library | licence | text |", "|---|---|---|---|"]
    for script in SCRIPTS:
        names = ", ".join(f"{name} {version}" for name, version, _ in script.libraries)
        kinds = ", ".join(dict.fromkeys(kind for *_, kind in script.libraries))
        lines.append(f"| `{script.file}` | {names} | {kinds} | [{Path(script.text).name}]({script.text}) |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    try:
        Path(sys.argv[1]).write_text(page(), "utf-8")
    except PackageNotFoundError as error:
        sys.exit(f"{error}: make supply installs it")
