"""Models of a small package in which marks stand for text from outside, and the same models with other text there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import Audit
from mlsub.commands.compare.model import Comparison, PackageDiff
from mlsub.commands.compare.packages import compare as compare_packages
from mlsub.commands.compare.trainings import compare as compare_trainings
from mlsub.commands.inspect.gather import sides_of
from mlsub.commands.inspect.run import Inspection, inspection_of
from mlsub.workspace import Checked, Settings, check_with_logs
from tests.make_tree import Tree, make_tree

#: What stands in the package: names of folders, then what descriptions, logs and claims say.
ORGANISATION, SYSTEM = "ZORGZ", "zsysz"
NAME, FRAMEWORK, CHIP, NOTES = "znamez", "zframez", "zchipz", "znotesz"
STATUS, VALUE, CLAIM = "zstatz", "zvaluez", "zclaimz"
NAMES = (ORGANISATION, SYSTEM)
TEXTS = (NAME, FRAMEWORK, CHIP, NOTES, STATUS, VALUE, CLAIM)

_CLAIMS = f"""claims_version: 1
source: {{title: {CLAIM} a, publisher: {CLAIM} b, date: 2021-07-01}}
results:
  one: {{round: v1.0, submitter: {ORGANISATION}, system: {SYSTEM}, benchmark: resnet, division: closed}}
  two: {{round: v1.0, submitter: {ORGANISATION}, system: rack1, benchmark: resnet, division: closed}}
claims:
  - {{id: a, kind: speedup, text: {CLAIM} c, expr: minutes(one) / minutes(two), stated: {{value: 1.5, unit: x}}}}
  - id: b
    kind: system_configuration
    text: {CLAIM} d
    expr: contains(field(one, 'framework'), '{CLAIM}')
    stated: {{value: true}}
"""


class Models(NamedTuple):
    """What commands and pages are made of: reports with their logs, and the answers of commands that compare."""

    checked: tuple[Checked, ...]
    packages: PackageDiff
    trainings: Comparison
    inspection: Inspection
    audit: Audit


def _lay_out(above: Path) -> list[str]:
    """A package of two systems, the same in the next round with other values, and a file of claims beside them."""
    trees = []
    for name in ("v1.0", "v1.1"):
        tree = make_tree(above, name, ORGANISATION)
        tree.add_system(SYSTEM)
        tree.add_entry("resnet", SYSTEM)
        tree.describe(SYSTEM, system_name=NAME, framework=FRAMEWORK, accelerator_model_name=CHIP, hw_notes=NOTES)
        trees.append(tree)
    later = trees[1]
    for key in ("submission_platform", "opt_name"):
        _log(later, key, value=VALUE)
    later.edit(lambda log: log.put("run_stop", metadata={"status": STATUS}), 2, system=SYSTEM)
    (above / "claims.yaml").write_text(_CLAIMS)
    return [str(tree.folder) for tree in trees]


def _log(tree: Tree, key: str, **parts: Any) -> None:
    tree.edit(lambda log: log.put(key, **parts), 0, 1, system=SYSTEM)


@cache
def models() -> Models:
    """The models with their marks, read once."""
    settings = Settings(jobs=1)
    with tempfile.TemporaryDirectory() as above:
        old, new = _lay_out(Path(above))
        return Models(
            checked=tuple(check_with_logs([old, new], settings)),
            packages=compare_packages(old, new, settings),
            trainings=compare_trainings(old, new, settings),
            inspection=inspection_of(sides_of([old, new], settings), settings),
            audit=audit(Path(above) / "claims.yaml", [above], settings=settings),
        )


@cache
def _marked() -> frozenset[int]:
    """The objects in which there is a mark, by their identities: the models live as long as the process."""
    found: set[int] = set()

    def look(one: Any) -> bool:
        if isinstance(one, str):
            return any(mark in one for mark in (*TEXTS, *NAMES))
        parts: Iterable[Any] = ()
        if isinstance(one, msgspec.Struct):
            parts = (getattr(one, name) for name in one.__struct_fields__)
        elif isinstance(one, dict):
            parts = (*one, *one.values())
        elif isinstance(one, tuple | list):
            parts = one
        # Each part is looked at, whatever the ones before have.
        if sum(map(look, parts)):
            found.add(id(one))
            return True
        return False

    for model in models():
        look(model)
    return frozenset(found)


class Filled:
    """Puts other texts where the marks are."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, found: Any) -> Any:
        """The same model with these texts; what has no mark in it is the same object."""
        if isinstance(found, str):
            return self._text(found)
        if id(found) not in _marked():
            return found
        if isinstance(found, msgspec.Struct):
            return self._struct(found)
        if isinstance(found, tuple | list):
            parts = [self(part) for part in found]
            if all(new is old for new, old in zip(parts, found, strict=True)):
                return found
            return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
        if isinstance(found, dict):
            return {self(key): self(value) for key, value in found.items()}
        return found

    def _text(self, text: str) -> str:
        if type(text) is not str:
            return text
        for mark, other in self._texts.items():
            text = text.replace(mark, other)
        return text

    def _struct(self, found: msgspec.Struct) -> msgspec.Struct:
        changed = {}
        for name in found.__struct_fields__:
            value = getattr(found, name)
            new = self(value)
            if new is not value:
                changed[name] = new
        return msgspec.structs.replace(found, **changed) if changed else found
