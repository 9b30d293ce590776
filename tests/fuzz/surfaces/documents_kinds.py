"""Documents of one type each that people write in YAML: manifests, claims, records, IDs, rules of their own."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mlsub.commands.audit.claims import FORM as CLAIMS
from mlsub.commands.audit.document import entries
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.run import audit_of, read_world
from mlsub.commands.db.records import FORM as RECORDS
from mlsub.commands.db.records import read_records
from mlsub.commands.demo.run import FORM as REHEARSAL
from mlsub.commands.demo.run import read_manifest as read_rehearsal
from mlsub.commands.pack.read import FORM as MANIFESTS
from mlsub.commands.pack.read import read_manifest
from mlsub.convergence.entry import USUAL
from mlsub.io.documents import Form, read_document
from mlsub.io.problems import FileProblemsError
from mlsub.io.read import read
from mlsub.rounds import normalise_round
from mlsub.rules.overlay import overlay_schema
from mlsub.submission.ids import FORM as IDS
from mlsub.submission.ids import Ids, read_ids
from mlsub.workspace import Checked, Settings, check_with_logs
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.provider import one_in
from tests.fuzz.scratch import scratch
from tests.fuzz.surfaces.documents_grammar import Maker, as_yaml
from tests.fuzz.surfaces.documents_shared import placed, placed_anew, short, shown, taken
from tests.io import test_yaml_mutants as documents
from tests.io.mutate_yaml import KEYS, VALUES, WORDS, mutated
from tests.make_tree import make_tree

_HOME = {"HOME": "/home/x"}
#: Real documents above this length cost more than they show.
_LONGEST = 2_500


def _written_again(form: Form[Any], file: Path) -> None:
    """A document that is taken is the same when PyYAML writes it anew, and has the same type when it is read twice."""
    first = shown(read_document(file, form)[0])
    text = yaml.serialize(read(file, kind=form.kind, top=""), Dumper=yaml.SafeDumper, canonical=True, width=1 << 20)
    again = placed(text.encode(), f"again-{file.name}")
    try:
        found = shown(read_document(again, form)[0])
    except FileProblemsError as error:
        raise BrokenError(f"written by PyYAML it is refused: {error}: {text!r:.300}") from error
    if first != found:
        raise BrokenError(f"{first:.500} is read as {found:.500}")


def _reader(form: Form[Any], use: Callable[[Path], Any]) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        file = placed(data, "fuzz.yaml")
        if taken(lambda: use(file), data, file) is not None and one_in(3, data):
            _written_again(form, file)

    return run


def _manifest(file: Path) -> Any:
    """A manifest: what it takes is named by absolute paths, what it writes lies in the package, drafts are JSON."""
    manifest = read_manifest(file, _HOME)
    taken_from = [Path(run) for entry in manifest.entries for run in entry.runs]
    taken_from += [one.file for one in manifest.systems if one.file is not None]
    taken_to = [Path(one.to) for one in manifest.files]
    if not all(path.is_absolute() for path in taken_from) or any(_leaves(path) for path in taken_to):
        raise BrokenError(f"{taken_from} {taken_to}")
    for system in manifest.systems:
        if system.known is not None and not isinstance(json.loads(system.content), dict):
            raise BrokenError(f"{system}")
    return manifest


def _leaves(path: Path) -> bool:
    return path.is_absolute() or ".." in path.parts or not path.parts


@cache
def _results(process: Path) -> tuple[str, tuple[Checked, ...]]:
    """Two synthetic submissions, and what is read of them once."""
    base = process / "published"
    make_tree(base, org="BETA", division="open")
    make_tree(base)
    return str(base), tuple(check_with_logs([str(base)], Settings(jobs=1, convergence=USUAL)))


def _claims(file: Path) -> Any:
    """Claims, judged; each has its verdict, and the same one when asked again."""
    claims = read_claims(file)
    if not claims.claims:
        return claims
    folder, checked = _results(scratch("documents"))
    judged = audit_of(read_world(claims, [folder], settings=Settings(jobs=1), checked=checked))
    if len(judged.claims) != len(claims.claims) or len(entries(judged)) < len(claims.claims):
        raise BrokenError(f"{len(claims.claims)} claims, {len(judged.claims)} verdicts")
    return claims


def _table(data: bytes) -> None:
    """A table of IDs: each row's ID is that of its result."""
    file = placed(data, "fuzz.csv")
    known: Ids | None = taken(lambda: read_ids(file), data, file)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for row in csv.DictReader(io.StringIO(text, newline="")) if known is not None else ():
        cells = {str(head).strip().lower(): (cell or "").strip() for head, cell in row.items()}
        place = (cells["organisation"], cells["system"], cells.get("benchmark", ""), cells.get("division") or None)
        found = known.of(cells.get("usage") or "training", str(normalise_round(cells["round"])), *place)
        if any(cells.values()) and (found is None or found.ids != (cells["id"],)):
            raise BrokenError(f"{cells} has {found}")


def _overlay(data: bytes) -> None:
    """Rules of the user's own, put together for every round and benchmark that they name."""
    file = placed_anew(data, ".yaml")
    try:
        taken(lambda: documents.use_overlay(file), data, file)
    finally:
        file.unlink()


#: Names and values that mean something, by the field that they stand in, see documents_grammar.py.
_HINTS: dict[str, Mapping[str, Sequence[Any]]] = {
    "claims": {
        "*": ("acme", "beta", "price", "half", "post", "minutes"),
        "round": ("v1.0", "1.0", 1.0, "v1.1", "v9.9"),
        "submitter": ("ACME", "BETA", "acme", "Nobody"),
        "system": ("rack1", "Rack1", "rack2"),
        "benchmark": ("resnet", "bert"),
        "path": ("v1.0/ACME/results/rack1/resnet", "../x"),
        "expr": (
            *("minutes(acme)", "ratio(acme, beta)", "minutes(acme) * price / 60", "chips(acme) + runs(beta)"),
            *("best(acme, beta)", "max(price, half, 3)", "price > 95 and not half == 50", "1 / (price - 100)"),
            *("field(acme, 'cooling')", "contains(field(acme, 'system_name'), 'RACK')", "half ** 400", "9 ** 9 ** 9"),
            *(
                "minutes(acme, 'unscaled')",
                "reduction(acme, beta)",
                "speedup(acme, acme)",
                "minutes(acme) if price else 0",
            ),
        ),
        "values*": ("minutes(acme)", "half + minutes", "price * 2", "ratio(acme, beta) ** 2", "minutes"),
        "also": ("minutes(beta)", {"expr": "minutes(beta)", "label": "Open"}, ["price", "half"]),
        "nearest": ("minutes(beta)", ["chips(acme)", "field(acme, 'none')"]),
        "value": (12, "12", 1.5, "1,200", "-3", "50", True, "1e400", "0", "12.0", "9" * 60),
        "minutes": ("12.5", 12, "0"),
        "unit": ("min", "h", "x", "%", "USD", "chips", "mins", "s"),
        "wording": ("about", "over", "just over", "up to", "at least", "nearly", "abuot"),
        "plus_minus": ("10%", "5", "100%", "1e9", "200%"),
        "tolerance": ("10%", "0.5", "-1"),
        "document": ("post", "acme"),
        "claim": ("c1", "c2"),
        "id": ("c1", "c2", "c3", "c4"),
        "kind": ("price", "other"),
        "text": ("ACME trains ResNet in 12 minutes, 2x faster than BETA.", "x"),
        "date": ("2021-06-30", "2021-12-01"),
        "source": ("a list", {"title": "A post"}),
    },
    "manifest": {
        "*": ("rack1", "pod", "cooling", "notes"),
        "round": ("1.0", "v1.1", 1.0, "5.1"),
        "organisation": ("ACME",),
        "system": ("rack1", "pod"),
        "benchmark": ("resnet", "bert", "resent"),
        "from": ("ipu-pod64", "dgx-a100-640gb", "ipu-pod16", "README.md", "ipupod"),
        "runs": ("runs/*.txt", ["a.txt", "b"], "${HOME}/x", "{0..4}.txt", "${NONE:-x}", "$$"),
        "folder": ("src", "../src", "${HOME}"),
        "to": ("docs/README.md", "../x", "/etc"),
        "rule": ("seed.shared", "system.placeholder", "sed.shared"),
        "entry": ("rack1/resnet", "pod/bert", "rack1"),
        "expires": ("2030-01-31", "2021-02-31"),
        "deadline": ("2021-05-21",),
        "hosts": (1, 2, 4, 3),
    },
    "records": {
        "*": ("paper", "blog"),
        "document": ("paper", "blog"),
        "mlperf_id": ("1.1-2040",),
        "date": ("2021-06-30", "2021-12-01"),
    },
    "ids": {
        "round": ("1.0", "v1.1", "2.0"),
        "id": ("1.0-1026", "1.1-2040", "1.0-1027"),
        "ids": ("1.0-1026", "1.0-1028", "1.1-2040"),
        "organisation": ("ACME", "NVIDIA", "Graphcore"),
        "system": ("rack1", "rack2"),
        "benchmark": ("resnet", "bert", "resent"),
        "usage": ("training", "hpc", "rehearsal"),
    },
    "rehearsal": {"system": ("a", "b"), "benchmark": ("digits",), "runs": (1, 5), "organisation": ("ACME",)},
    "overlay": {
        **dict.fromkeys(("rounds:", "common:", "benchmarks*:"), ("5.1", "1.0", "7.0", "99.0", "title")),
        "benchmarks:": ("resnet", "bert", "llama31_8b", "digits", "newthing", "common_x"),
        "*": ("global_batch_size", "seed", "opt_name", "eval_accuracy", "run_stop", "variants"),
        "equals": ("value * 2", 1, "text"),
        "usage": ("training", "hpc"),
    },
}
#: A file whose claims are about the synthetic results, one of each kind of expression.
_CLAIMS = """claims_version: 1
source: {title: A post}
documents: {post: {title: Another post}}
results:
  acme: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
  beta: {round: v1.0, submitter: BETA, system: rack1, benchmark: resnet, division: open}
inputs:
  price: {value: 100, unit: USD, kind: price, source: a list, plus_minus: 10%}
  half: {value: 50, unit: USD, kind: price, source: a list}
values: {cost: minutes(acme) * price}
claims:
  - {id: c1, expr: minutes(acme), also: minutes(beta), stated: {value: 12, unit: min, wording: about}}
  - {id: c2, expr: 'price > 95 and not half == 50', stated: {value: true}, nearest: [cost]}
  - {id: c3, unverifiable: no log says so, same_quantity: [{claim: c1}, {value: 12, unit: min}]}
"""
_IDS = (
    "rounds:\n  - round: v1.0\n    source: a table\n    results:\n"
    "      - {id: 1.0-1026, organisation: ACME, system: rack1, benchmark: resnet, division: closed}\n"
    "    groups:\n      - ids: [1.0-1027, 1.0-1028]\n        results: [{organisation: ACME, system: rack2}]\n"
)
_TABLE = (
    b"id,round,organisation,system,usage,benchmark,division,more\n1.0-1,v1.0,ACME,rack1,,,,x\n"
    b'1.0-2,1.0,"A ""B"" C",rack2,training,bert,closed,\n\n2.0-7,2.0,ACME,rack1,hpc,,open,\n'
)
_ANY: tuple[bytes, ...] = tuple(
    text.encode("utf-8", "surrogatepass") for text in (*VALUES, *KEYS, *WORDS) if len(text) < 400
)


def _harness(
    kind: str,
    surface: str,
    run: Callable[[bytes], None],
    schema: Callable[[], dict[str, Any]],
    texts: Callable[[], Iterable[str]],
    often: Iterable[str] = (),
) -> Harness:
    """A harness whose inputs are damaged documents, and documents drawn from their schema."""
    hints = _HINTS[kind]

    @cache
    def seeds() -> tuple[bytes, ...]:
        return tuple(short(texts(), _LONGEST))

    @cache
    def maker() -> Maker:
        return Maker(schema(), hints)

    @cache
    def bases() -> tuple[Any, ...]:
        # The one that is about what there is, is changed more often.
        return tuple(yaml.safe_load(seed) for seed in (*[text.encode() for text in often] * 3, *seeds()[:3]))

    def generate(rng: random.Random) -> bytes:
        way = rng.random()
        if way < 0.3:
            found = [seed.decode() for seed in seeds()]
            return mutated(rng.choice(found[:6]), found, rng).encode("utf-8", "surrogatepass")
        if way < 0.5:
            return as_yaml(maker().make(rng), rng)
        content = rng.choice(bases())
        for _ in range(rng.choice((1, 1, 2, 3))):
            content = maker().change(content, rng)
        return as_yaml(content, rng)

    words = (*_ANY, *(f"{key}: ".encode() for key in hints if key.isalpha()))
    return Harness(kind, surface, run, seeds, words, generate, longest=5_000, seconds=3.0)


HARNESSES = (
    _harness("manifest", "manifests of pack", _reader(MANIFESTS, _manifest), MANIFESTS.schema, documents.manifests),
    _harness(
        "claims",
        "claims of audit, judged",
        _reader(CLAIMS, _claims),
        CLAIMS.schema,
        lambda: (_CLAIMS, *documents.claims()),
        often=(_CLAIMS,),
    ),
    _harness("records", "benchmark records of db", _reader(RECORDS, read_records), RECORDS.schema, documents.records),
    _harness("ids", "lists of result IDs", _reader(IDS, read_ids), IDS.schema, lambda: (_IDS,)),
    Harness(
        "ids-table", "tables of result IDs in CSV", _table, lambda: (_TABLE,), (*_TABLE.split(), b'"', b"\x0b", b"\r")
    ),
    _harness(
        "rehearsal",
        "manifests of demo",
        _reader(REHEARSAL, read_rehearsal),
        REHEARSAL.schema,
        documents.READERS["rehearsal"][0],
    ),
    _harness("overlay", "rules of the user's own", _overlay, overlay_schema, documents.overlays),
)
