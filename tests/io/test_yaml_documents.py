"""The documents of people that ship, and those of the docs, are taken by their readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mlsub
from mlsub.commands.audit.read import read_claims
from mlsub.commands.demo.run import read_manifest as read_rehearsal
from mlsub.packing.read import read_manifest
from mlsub.rounds import get_round, known_rounds, overlay_content, usages
from mlsub.rules.engine import plan_for
from mlsub.rules.overlay import check_overlay

REPOSITORY = Path(mlsub.__file__).parents[1]
SUBMISSIONS = REPOSITORY / "submissions"
RULES = REPOSITORY / "mlsub" / "rules"


def quoted(page: str) -> list[str]:
    """The YAML documents of a page of the docs."""
    return re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / page).read_text(), re.DOTALL)


def manifests() -> Iterator[str]:
    yield from (file.read_text() for file in sorted(SUBMISSIONS.glob("*/submission.yaml")))
    yield (
        'organisation: ACME\nround: "1.0"\ndivision: closed\n'
        "systems:\n  rack1: ${HOME:-/tmp}/rack1.json\n"
        "entries:\n  - {system: rack1, benchmark: resnet, runs: [a.txt, b], implementation: x, choose: all}\n"
        "code:\n  - {benchmark: resnet, implementation: x, folder: src}\n"
        "files:\n  - {from: README.md, to: docs/README.md}\n"
        "waivers:\n  - {rule: seed.shared, entry: rack1/resnet, reason: known to the committee, expires: 2030-01-31}\n"
    )


def claims() -> Iterator[str]:
    yield from (file.read_text() for file in sorted(SUBMISSIONS.glob("*/claims.yaml")))
    yield from (text for text in quoted("claims.md") if "claims_version:" in text)


def overlays() -> Iterator[str]:
    yield from quoted("overlay.md")
    for file in sorted(RULES.glob("*.yaml")):
        body = file.read_text().partition("\nrounds:\n")[2]
        if file.stem == "common":
            yield f"title: House rules\ncommon:\n{body}"
        for usage in usages():
            if file.stem in {name for round_ in known_rounds(usage) for name in get_round(usage, round_).benchmarks}:
                body = re.sub(r"^(?=.)", "  ", body, flags=re.MULTILINE)
                yield f"title: House rules\nusage: {usage}\nbenchmarks:\n  {file.stem}:\n{body}"
                break


def use_overlay(file: Path) -> None:
    """Check an overlay file, and put its rules together for every round and benchmark that it names."""
    overlay = check_overlay(file)
    content = overlay_content(overlay)
    usage = content.get("usage", "training")
    added = content.get("rounds") or {}
    named = [content.get("common") or {}, *(content.get("benchmarks") or {}).values(), added]
    for name in {round_ for part in named for round_ in part if round_ != "title"}:
        benchmarks = set(content.get("benchmarks") or {}) & set(get_round(usage, name, overlay).benchmarks)
        for benchmark in (None, *benchmarks):
            for division in ("closed", "open"):
                plan_for(usage, name, division, benchmark, overlay, house=name not in added)


def use_manifest(file: Path) -> None:
    read_manifest(file, {"HOME": "/home/x"})


READERS: dict[str, tuple[Callable[[], Iterator[str]], Callable[[Path], object]]] = {
    "manifest": (manifests, use_manifest),
    "claims": (claims, read_claims),
    "overlay": (overlays, use_overlay),
    "rehearsal": (lambda: iter([(SUBMISSIONS / "rehearsal" / "training.yaml").read_text()]), read_rehearsal),
}


@pytest.mark.parametrize("kind", READERS)
def test_the_documents_themselves_are_taken(kind: str, tmp_path: Path) -> None:
    make, read = READERS[kind]
    for number, text in enumerate(make()):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text, encoding="utf-8")
        read(file)
