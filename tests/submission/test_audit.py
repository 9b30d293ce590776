"""The audit of a tree: what is missing, what should not be there, and how often it is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from mlsub.findings import Kind
from mlsub.io.data import load_yaml
from mlsub.submission.file_tree import FileTree, Item, ItemKind, read_file_tree
from tests.submission.file_trees import ENTRY, Systems, audited, file_tree, published, systems_of, told
from tools.support.corpus import CORPUS

BERT, CODE, MIB = "benchmarks/bert", "benchmarks/bert/implementations", 1 << 20
RACKS = [f"rack{number}" for number in range(2, 7)]


def scripts(folder: str, *names: str) -> list[Item]:
    return [Item(f"{folder}/{name}", executable=True) for name in names]


#: What lies in a package, its systems with results, and what is told.
TREES: dict[str, tuple[FileTree, Systems, list[tuple[str, str, str | None]]]] = {
    "a complete package": (
        file_tree(
            "README.md", "LICENSE", "package_checker.log", "package_checker_params", "summary.csv", "submission.yaml"
        ),
        ENTRY, [],
    ),
    "no benchmarks": (file_tree(without="benchmarks/"), ENTRY, [("benchmarks-missing", "benchmarks", None)]),
    "no setup.sh": (file_tree(without="setup.sh"), ENTRY, [("files-missing", f"{BERT}/rack1", "no setup.sh")]),
    "no README.md": (file_tree(without="README"), ENTRY, [("files-missing", f"{BERT}/rack1", "no README.md")]),
    "no metadata": (
        file_tree(without="rack1_"), ENTRY, [("files-missing", f"{BERT}/rack1", "no <system>_<implementation>.json")]
    ),
    "no implementations": (
        file_tree(without="implementations"), ENTRY, [("implementations-missing", BERT, "rack1")]
    ),
    "no run script anywhere and no folder of the system": (
        file_tree("results/rack1/bert/result_0.txt", without="bert/rack1/"), ENTRY,
        [
            ("run-script-missing", BERT, None), ("system-folder-missing", BERT, "rack1"),
            ("implementation-lacking", f"{CODE}/pytorch", None),
        ],
    ),
    "what is missing everywhere is one finding a benchmark": (
        file_tree(*(
            item for rack in RACKS
            for item in scripts(f"{BERT}/{rack}", "readme.md", "setup.sh", "run_and_time.sh", f"{rack}_pytorch.json")
        )),
        {"bert": {"rack1", *RACKS}},
        [("files-missing", BERT, "no init_datasets.sh in 5: rack2, rack3, rack4, and 2 more")],
    ),
    "a folder among the implementations counts as the system's": (
        file_tree(*scripts(
            f"{CODE}/rack2", "README.md", "setup.sh", "init_datasets.sh", "run_and_time.sh", "rack2_x.json"
        )),
        {"bert": {"rack1", "rack2"}}, [],
    ),
    "no results": (FileTree(items=(Item("systems/rack1.json"),)), {}, []),
    "a folder named core is no core dump": (
        file_tree(Item(f"{BERT}/core", ItemKind.FOLDER), f"{BERT}/core/a.py"), ENTRY, []
    ),
    "a stray folder stands for all in it": (
        file_tree(*(f"{BERT}/x/__pycache__/{n} {n}.pyc" for n in range(200))), ENTRY,
        [("stray", f"{BERT}/x/__pycache__", None)],
    ),
    "what a killed command left stands for all in it": (
        file_tree(Item("systems/.mlsub-0f.part", ItemKind.FOLDER), "systems/.mlsub-0f.part/a.pyc"), ENTRY,
        [("stray", "systems/.mlsub-0f.part", None)],
    ),
    "colliding folders are told once": (
        file_tree(*(f"{BERT}/{name}/{n}.py" for name in ("Data", "data") for n in range(5))), ENTRY,
        [("name-collision", f"{BERT}/data", None)],
    ),
    "10 MiB": (file_tree(Item("benchmarks/model.bin", size=10 * MIB)), ENTRY, []),
    "more than 10 MiB": (
        file_tree(Item("benchmarks/model.bin", size=10 * MIB + 1)), ENTRY,
        [("large-code", "benchmarks/model.bin", None)],
    ),
    "50 MiB": (
        file_tree(Item("benchmarks/model.bin", size=50 * MIB)), ENTRY,
        [("large-code", "benchmarks/model.bin", None)],
    ),
    "an implementation without README, and an empty one": (
        file_tree(f"{CODE}/a/a.py", Item(f"{CODE}/b", ItemKind.FOLDER), f"{CODE}/c/run.sh", without="bert/rack1/"),
        ENTRY,
        [
            ("run-script-missing", BERT, None), ("system-folder-missing", BERT, "rack1"),
            ("implementation-lacking", BERT, "2: implementations/a, implementations/pytorch"),
            ("implementation-lacking", f"{CODE}/a", None),
            ("implementation-lacking", f"{CODE}/b", None),
        ],
    ),
    "a README above all implementations": (
        file_tree(f"{CODE}/README", without="bert/rack1/"), ENTRY,
        [("run-script-missing", BERT, None), ("system-folder-missing", BERT, "rack1")],
    ),
    "code that lies beside implementations": (
        file_tree("benchmarks/bert/nemo/train.py", without="implementations"), ENTRY,
        [("implementations-missing", f"{BERT}/nemo", "2: nemo, rack1")],
    ),
    "more than 50 MiB": (
        file_tree(Item("benchmarks/model.bin", size=50 * MIB + 1)), ENTRY, [("file-size", "benchmarks/model.bin", None)]
    ),
    "links through links": (
        file_tree(links={f"{CODE}/a": "b", f"{CODE}/b": "pytorch", f"{CODE}/c": "a/train.py", f"{CODE}/d": "a/gone"}),
        ENTRY, [("link-broken", f"{CODE}/d", None)],
    ),
    "links through a link that leads out": (
        file_tree(links={f"{CODE}/a": "b/c", f"{CODE}/b": "../../../../.."}), ENTRY,
        [("link-escapes", BERT, "2: implementations/a, implementations/b")],
    ),
    "scripts nobody can start are one finding": (
        file_tree(
            f"{BERT}/rack1/setup.sh2", f"{CODE}/pytorch/run_and_time.sh", f"{CODE}/pytorch/vendored/setup.sh",
            f"{CODE}/jax/setup.sh",
        ),
        ENTRY,
        [(
            "not-executable", "benchmarks",
            "2: bert/implementations/jax/setup.sh, bert/implementations/pytorch/run_and_time.sh",
        )],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_what_is_told_of_a_tree(name: str) -> None:
    tree, systems, expected = TREES[name]
    assert told(tree, systems) == expected


@pytest.mark.parametrize("ending", [*[".py", ".cu", ".cc", ".cpp", ".rs", ".go", ".jl", ".ipynb"], ".txt"])
def test_an_implementation_with_code_needs_a_script_that_runs_it(ending: str) -> None:
    found = told(file_tree(f"{CODE}/a/model{ending}", f"{CODE}/a/README", without="bert/rack1/"), ENTRY)
    lacking = [place for rule, place, _ in found if rule == "implementation-lacking"]
    assert (f"{CODE}/a" in lacking) is (ending != ".txt")


def test_a_system_without_a_folder_hears_of_the_one_named_almost_like_it() -> None:
    (found,) = audited(file_tree(), {"bert": {"rack1", "G492-ZD2_A100_20210517"}})
    assert found.fix is not None
    assert "almost" not in found.fix
    more = file_tree("benchmarks/bert/implementations/G492-ZD2_A100_202100517/train.py")
    (found,) = audited(more, {"bert": {"rack1", "G492-ZD2_A100_20210517"}})
    assert found.actual == "G492-ZD2_A100_20210517 (run_and_time.sh is in rack1)"
    assert found.fix == (
        "The name of the folder G492-ZD2_A100_202100517 is similar; if it is the system's folder, rename it."
    )


def test_a_benchmark_whose_code_has_another_name() -> None:
    found = audited(file_tree(), {**ENTRY, "bert_l": {"rack1"}, "unet3d": {"rack1"}})
    assert [(f.path, f.actual, f.fix) for f in found] == [
        ("benchmarks/bert_l", "benchmarks contains bert", "If benchmarks/bert contains its code, rename that folder."),
        (
            "benchmarks/unet3d",
            "benchmarks contains bert",
            "Put the benchmark's code under benchmarks/<benchmark>/implementations/<implementation>/.",
        ),
    ]


def renamed(name: str, without: str = "") -> FileTree:
    """The complete package with another name for the folder of all code."""
    kept = [item for item in file_tree(without=without).items if not item.path.startswith("benchmarks/")]
    code = [item for item in file_tree(without=without).items if item.path.startswith("benchmarks/")]
    return FileTree(items=(*kept, *(replace(item, path=name + item.path.removeprefix("benchmarks")) for item in code)))


@pytest.mark.parametrize("name", ["benchmark", "Benchmarks", "benchmarks_"])
def test_a_misspelled_benchmarks_folder_is_one_finding_and_is_read(name: str) -> None:
    (found,) = audited(renamed(name))
    assert (found.rule, found.path, found.actual, found.fix) == (
        "layout.benchmarks-missing",
        "benchmarks",
        f"a folder {name}",
        f"Rename {name} to benchmarks.",
    )
    assert told(renamed(name, without="setup.sh"))[1:] == [("files-missing", f"{name}/bert/rack1", "no setup.sh")]
    assert renamed(name).code == tuple(path.replace("benchmarks", name) for path in file_tree().code)


def test_a_folder_of_a_less_like_name_is_named_and_not_read() -> None:
    assert told(renamed("bench_marked", without="setup.sh")) == [
        ("benchmarks-missing", "benchmarks", "a folder bench_marked")
    ]
    assert renamed("bench_marked").code == ()


def test_a_rehearsal_needs_no_code() -> None:
    assert audited(file_tree("helper.sh", without="benchmarks"), usage="rehearsal") == []


#: What should not be there, by the rule that tells it.
NAMES = {
    "stray": (
        *("results/rack1/bert/.result_0.txt.swp", "results/rack1/bert/power/.nfs00000001", "systems/rack1.json~"),
        *(f"{BERT}/.DS_Store", f"{CODE}/pytorch/core.4711"),
    ),
    "name-refused": ("benchmarks/a b.py", f"{BERT}/.gitignore"),
    "name-unportable": (
        *("benchmarks/aux.py", "benchmarks/COM1", "benchmarks/notes.", "benchmarks/12:30.md", "benchmarks/back\\slash"),
        *("benchmarks/tab\there", "benchmarks/over\u202eride", "benchmarks/bytes\udcff"),
    ),
    "name-too-long": ("benchmarks/" + "deep/" * 41 + "abcde",),
    "name-collision": (f"{BERT}/rack1/readme.MD",),
    "top-level": ("test",),
    "system-unused": ("systems/rack2.json",),
}


@pytest.mark.parametrize(("path", "rule"), [(path, rule) for rule, paths in NAMES.items() for path in paths])
def test_a_name_that_should_not_be_there(path: str, rule: str) -> None:
    found = told(file_tree(path))
    assert [name for name, *_ in found] == [rule]
    assert path.startswith(found[0][1])


@pytest.mark.parametrize("path", ["core.py", "nulls.py", "confetti", "Makefile", "résumé.md", "co.m1", "x" * 204])
def test_names_that_only_look_bad(path: str) -> None:
    assert told(file_tree(f"benchmarks/bert/{path}")) == []


#: Where links of an implementation lead, by the rule that tells it.
TARGETS = {
    None: ("train.py", "./train.py", "../../rack1", "../../../../systems/rack1.json", "../../../.."),
    "link-broken": ("gone.py", "train.py/deeper", "link", "x/" * 2000),
    "link-escapes": ("/etc/passwd", "../../../../../Other", "../../../../../../../etc"),
}


@pytest.mark.parametrize(
    ("target", "rule"), [(target, rule) for rule, targets in TARGETS.items() for target in targets]
)
def test_where_links_lead(target: str, rule: str | None) -> None:
    found = told(file_tree(links={"benchmarks/bert/implementations/pytorch/link": target}))
    assert [name for name, *_ in found] == ([rule] if rule else [])


@pytest.mark.parametrize("count", [40, 41])
def test_as_many_links_are_followed_as_linux_does(count: int) -> None:
    links = {f"benchmarks/bert/{n}": str(n + 1) for n in range(1, count)} | {f"benchmarks/bert/{count}": "rack1"}
    found = [("link-broken", "benchmarks/bert/1", None)] if count > 40 else []
    assert told(file_tree(links=links)) == found


def test_a_link_to_where_nobody_looked_is_not_called_broken() -> None:
    tree = file_tree(links={"benchmarks/bert/link": "closed/file"})
    closed = FileTree(
        items=(*tree.items, Item("benchmarks/bert/closed", ItemKind.FOLDER)),
        closed={"benchmarks/bert/closed": "Permission denied"},
    )
    assert [name for name, *_ in told(closed)] == ["not-listed"]


PUBLISHED = sorted(
    f"{file.parent.name}/{file.name.removesuffix('.files.tsv')}" for file in CORPUS.glob("*/*.files.tsv")
)


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED, reason="published packages are not there")
def test_published_packages_are_told_few_things_each_once() -> None:
    for name in PUBLISHED:
        tree = published(name)
        found = audited(tree, systems_of(tree), "hpc" if name.startswith("hpc") else "training")
        assert all(finding.kind is Kind.REVIEW for finding in found)
        assert len({(f.rule, f.message, f.path) for f in found}) == len(found)
        benchmarks = len(systems_of(tree))
        assert len(found) <= 4 * benchmarks + 8, name


@pytest.mark.skipif(not PUBLISHED, reason="published packages are not there")
@pytest.mark.parametrize(("name", "expected"), load_yaml(Path(__file__).with_name("published.yaml")).items())
def test_what_is_said_of_a_published_package(name: str, expected: list[list[str | None]]) -> None:
    tree = published(name)
    assert told(tree, systems_of(tree)) == list(map(tuple, expected))


#: Names in the code, by what is told of them.
NO_CODE = {
    "compiled libraries and programs": ("lib.so", "lib.so.1.2"),
    "installation packages": ("a-1.0-py3-none-any.whl", "driver_all.deb.1"),
    "archives": ("patches.tar.gz",),
    "logs that are no results": ("slurm-17.out", "output/train.txt"),
    None: ("train.py", "layout.py", "archive.tar.md", "a.so" + ".1" * 100_000),
}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for kind, names in NO_CODE.items() for name in names])
def test_what_is_no_code_is_named_among_the_code(name: str, kind: str | None) -> None:
    found = [one for one in audited(file_tree(f"{CODE}/pytorch/{name}")) if one.rule == "layout.not-code"]
    expected = [(f"The code contains {kind}", f"{CODE}/pytorch/{name}")] if kind else []
    assert [(one.message, one.path) for one in found] == expected


@pytest.mark.parametrize(
    ("names", "severity"),
    [
        (["lib.so"], "warning"),
        (["lib.so", "lib/kernel.cu"], "note"),
        (["lib.so", "train.py"], "warning"),
        (["build/lib.so", "csrc/kernel.cu"], "note"),
        (["deep/build/lib.so", "csrc/kernel.cu"], "warning"),
        (["patches.tar.gz"], "note"),
    ],
)
def test_programs_are_asked_about_where_their_sources_are_not_beside_them(names: list[str], severity: str) -> None:
    found = audited(file_tree(*(f"{CODE}/pytorch/{name}" for name in names)))
    assert [one.severity for one in found if one.rule == "layout.not-code"] == [severity]


@pytest.mark.parametrize(("folder", "fix"), [("berts", "If benchmarks/berts contains its code, "), ("other", "Put ")])
def test_code_in_a_folder_of_a_like_name_is_asked_about_by_name(folder: str, fix: str) -> None:
    found = audited(file_tree(f"benchmarks/{folder}/implementations/pytorch/train.py", without="benchmarks/bert/"))
    [missing] = [one for one in found if one.rule == "layout.code-missing"]
    assert (missing.severity, str(missing.fix)[: len(fix)]) == ("warning", fix)


@pytest.mark.parametrize(("name", "asked"), [("train.py", True), ("prepare.sh", False)])
def test_a_script_that_runs_it_is_missed_where_there_is_a_program(name: str, asked: bool) -> None:
    tree = file_tree(f"{CODE}/pytorch/{name}", without="benchmarks/bert/")
    assert ("run-script-missing" in {rule for rule, *_ in told(tree)}) == asked


def test_a_program_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    folder = tmp_path / CODE / "pytorch"
    folder.mkdir(parents=True)
    for name, content in (("tool", b"\x7fELF\2\1"), ("tool.bin", b"\x7fELF\2"), ("Makefile", b"all:\n"), ("e", b"")):
        (folder / name).write_bytes(content)
    (folder / "link").symlink_to("tool")
    assert read_file_tree(tmp_path).programs == (f"{CODE}/pytorch/tool", f"{CODE}/pytorch/tool.bin")
