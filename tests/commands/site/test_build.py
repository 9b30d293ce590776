"""A site as it is put on the disk: its pages, what they say they are, and all results as data."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.build import build_site, check_place
from mlsub.commands.site.compare_page import PAGE
from mlsub.commands.site.dataset import downloads, results_script
from mlsub.commands.site.page import POLICY, STATIC, safe_json
from mlsub.commands.site.results import Results
from mlsub.io import MlsubError
from mlsub.present.document import Series
from mlsub.present.svg import COLOURS
from mlsub.present.tables import columns
from mlsub.workspace import Context
from tests.commands.site.sites import Html, checked, result_rows, rounds, script, two_rounds
from tests.commands.test_hostile import HOSTILE
from tests.conftest import ExpectedText
from tests.present.crates import DATASET, check_folder
from tests.workspace.test_schedule import forks
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_tree, snapshot
from tools.support.runner import run

SCRIPT = "</script><script>alert(1)</script><!-- \u2028 \" onload='x'"


def built(folder: Path) -> Path:
    build_site(checked(*two_rounds(folder)), folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that nobody changes."""
    return built(tmp_path_factory.mktemp("built"))


@pytest.fixture
def own_site(tmp_path: Path) -> Path:
    return built(tmp_path)


def page(site: Path, name: str = "index.html") -> Html:
    return Html((site / name).read_bytes())


def files(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_site_has_a_page_for_each_round_and_result(site: Path, expected_text: ExpectedText) -> None:
    expected_text("files.txt", "".join(f"{name}\n" for name in files(site)))
    libraries = {"d3.min.js", "libraries.LICENSE.txt", "parquet.min.js", "plot.umd.min.js"}
    script = (site / "static/site.js").read_text()
    parts = {file for file in STATIC.glob("*.js") if file.name not in {"theme.js", *libraries}}
    assert parts and all(script.count(file.read_text()) == 1 for file in parts)


def test_every_link_and_file_of_every_page_is_there(site: Path) -> None:
    for file in site.rglob("*.html"):
        found = Html(file.read_bytes())
        named = [element.get("href") or element.get("src") for _, element in found.elements]
        for name in filter(None, named):
            if name == "data:,":
                continue
            if name.startswith("https://"):
                assert name.startswith("https://github.com/mlcommons/training_results_v1."), name
                continue
            place, _, anchor = name.partition("#")
            target = (file.parent / place) if place else file
            assert target.is_file(), f"{file.name} leads to {name}"
            if "=" in anchor:
                names = re.fullmatch(r"a=([a-z0-9._-]+)&b=([a-z0-9._-]+)", anchor)
                assert names and all((site / f"results/{one}.html").is_file() for one in names.groups())
                continue
            there = Html(target.read_bytes()).elements if anchor else []
            assert not anchor or any(element.get("id") == anchor for _, element in there), f"{file.name}: {name}"
        ids = [element["id"] for _, element in found.elements if "id" in element]
        assert len(ids) == len(set(ids)), f"{file.name} has an id twice"


def test_tables_and_charts_can_be_read_without_seeing_them(site: Path) -> None:
    for file in site.rglob("*.html"):
        found = Html(file.read_bytes())
        tables = len(found.of("table"))
        assert len(found.of("caption")) == tables
        assert len(found.of("thead")) == len(found.of("tbody")) == tables
        assert len(found.of("figcaption")) == len(found.of("figure"))
        # Which two are compared, a script alone knows.
        assert not found.of("figure") or tables or file.name == PAGE, "what is drawn is there as a table too"
        assert [element["lang"] for element in found.of("html")] == ["en"]
        assert any("trademarks of MLCommons" in line for line in found.text)
        assert any("not verified by MLCommons" in line for line in found.text)


def test_pages_may_run_and_load_nothing_but_their_own_files(site: Path) -> None:
    for file in site.rglob("*.html"):
        found = Html(file.read_bytes())
        assert str(site.parent).encode() not in file.read_bytes(), "nothing of the machine is on a page"
        policies = [meta["content"] for meta in found.of("meta") if meta.get("http-equiv")]
        assert policies == [POLICY]
        assert "unsafe" not in POLICY
        for one in found.of("script"):
            assert one.get("src") or one.get("type") in {"application/json", "application/ld+json"}
        assert not any(name.startswith("on") or name == "style" for _, element in found.elements for name in element)
    libraries = {"d3.min.js", "plot.umd.min.js", "parquet.min.js"}
    own = [file for file in STATIC.iterdir() if file.suffix in {".js", ".css"} and file.name not in libraries]
    code = "".join(file.read_text() for file in own).replace('"http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|innerHTML|\beval\b|@import|url\(", code)


@pytest.mark.parametrize("text", [*HOSTILE.values(), SCRIPT], ids=[*HOSTILE, "script"])
def test_text_from_outside_is_text_on_every_page(tmp_path: Path, text: str) -> None:
    tree = make_tree(tmp_path)
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    tree.describe(system_name=shown, accelerator_model_name=shown, framework=shown)
    name = text.replace("/", "_")
    tree.edit(lambda log: log.put("opt_name", value=text), *range(5))
    tree.log().rename(tree.log().with_name(f"result_{name}.txt"))
    tree.entry().parent.rename(tree.folder / "results" / name)
    tree.description().rename(tree.folder / "systems" / f"{name}.json")
    build_site(checked(tree.folder), tmp_path / "site", title=text.encode("utf-8", "replace").decode())
    for file in (tmp_path / "site").rglob("*.html"):
        content = file.read_bytes()
        found = Html(content)
        loaded = [script["src"] for script in found.of("script") if "src" in script]
        assert all(re.fullmatch(r"(\.\./)?(static|data)/[a-z0-9._-]+\.js", str(name)) for name in loaded)
        assert len(found.of("script")) == len(loaded) + len(found.data) + len(found.datasets)
        assert len(found.data) == len(found.of("figure"))
        assert b"<!--" not in content
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", content.decode("utf-8"))


@pytest.mark.slow
def test_a_rehearsal_is_never_called_an_mlperf_result(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "rehearsal-v1.0", benchmarks=["digits"])
    build_site(checked(tree.folder.parent), tmp_path / "site")
    words = "A rehearsal: real training, but not an MLPerf result."
    assert page(tmp_path / "site").text[0] == "mlsub rehearsal results, rehearsal-v1.0"
    shared = ("benchmarks/digits.html", "organisations/acme.html")
    for name in ("index.html", "rounds/rehearsal_1.0.html", "results/rehearsal_1.0_acme_rack1_digits.html", *shared):
        assert words in page(tmp_path / "site", name).text


@pytest.mark.parametrize(
    ("name", "words", "digest"),
    [
        ("d3", b"d3js.org v7.9.0", "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"),
        ("plot.umd", b"observablehq/plot v0.6.17", "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb"),
    ],
)
def test_the_chart_libraries_are_those_that_were_published(name: str, words: bytes, digest: str) -> None:
    library = (STATIC / f"{name}.min.js").read_bytes()
    assert (sha256(library).hexdigest(), len(library) < 300_000, words in library[:60]) == (digest, True, True)
    assert "Permission to use, copy, modify" in (STATIC / "libraries.LICENSE.txt").read_text()


def test_what_is_read_is_left_as_it_is(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "in")
    before = snapshot(tree.folder)
    build_site(checked(tree.folder), tmp_path / "out" / "site")
    assert snapshot(tree.folder) == before
    beside = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert beside == [".site.mlsub-written", "site"], "nothing else is left beside it"


@pytest.mark.slow
def test_a_site_is_replaced_as_a_whole(own_site: Path, tmp_path: Path) -> None:
    build_site(checked(tmp_path / "v1.1"), own_site)
    assert "results/training_1.0_acme_rack1_bert.html" not in files(own_site)
    assert "results/training_1.1_zeta_rack1_resnet.html" in files(own_site)


@pytest.mark.slow
def test_two_processes_write_what_one_does(tmp_path: Path) -> None:
    found = checked(*two_rounds(tmp_path))
    seen: list[tuple[int, int]] = []
    for jobs in (1, 2):
        build_site(found, tmp_path / str(jobs), Context(jobs=jobs, progress=lambda *count: seen.append(count)))
    one, two = ({file: (tmp_path / name / file).read_bytes() for file in files(tmp_path / name)} for name in "12")
    assert one == two
    half = len(seen) // 2
    assert seen[:half] == seen[half:] and seen[-1] == (18, 18)


def fill_disk(patch: pytest.MonkeyPatch, folder: str = "") -> None:
    """Let writing fail, in folders of a name or in all."""
    write = Path.write_bytes

    def full(self: Path, content: bytes) -> int:
        if folder in ("", self.parent.name):
            raise OSError(28, "No space left on device")
        return write(self, content)

    patch.setattr(Path, "write_bytes", full)


@pytest.mark.slow
def test_a_page_that_another_process_cannot_write_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = checked(*two_rounds(tmp_path))
    forks(monkeypatch)
    fill_disk(monkeypatch, "results")
    with pytest.raises(MlsubError, match="site cannot be written: No space left on device"):
        build_site(found, tmp_path / "site", Context(jobs=2))
    assert not (tmp_path / "site").exists()


@pytest.mark.slow
def test_a_build_that_fails_leaves_the_old_site(
    own_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(own_site)
    fill_disk(monkeypatch)
    with pytest.raises(MlsubError, match="No space left on device"):
        build_site(checked(tmp_path / "v1.1"), own_site)
    monkeypatch.undo()
    assert snapshot(own_site) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [".site.mlsub-written"]


def test_what_is_no_site_is_never_replaced(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "in")
    mine, file, link = tmp_path / "mine", tmp_path / "file", tmp_path / "link"
    mine.mkdir()
    check_place(mine, [], force=False)
    (mine / "thesis.txt").write_text("")
    file.write_text("")
    link.symlink_to(mine)
    os.mkfifo(tmp_path / "pipe")
    for output, read, why in (
        (mine, (), "contains something other than a site"),
        (file, (), "is not a folder of its own"),
        (link, (), "is not a folder of its own"),
        (tmp_path / "pipe", (), "is not a folder of its own"),
        (file / "below", (), "file is not a folder. Name another."),
        (tmp_path / "x\0", (), "cannot be written"),
        (tmp_path / "in", (tree.folder,), "contains something other than a site"),
        (tree.folder, (tree.folder,), "contains something other than a site"),
        (tree.folder / "site", (tree.folder,), "is only read. Name a folder outside of it"),
    ):
        with pytest.raises(MlsubError, match=why):
            check_place(output, [str(path) for path in read], force=True)


@pytest.mark.slow
def test_logs_within_an_old_site_are_not_replaced_with_it(own_site: Path) -> None:
    tree = make_tree(own_site)
    with pytest.raises(MlsubError, match="which is to be read"):
        check_place(own_site, [str(tree.folder)], force=True)


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.long
def test_all_published_rounds_make_one_site_that_is_not_large(tmp_path: Path) -> None:
    paths = [path for path in sorted(CORPUS.iterdir()) if path.is_dir()]
    built = build_site(checked(*paths), tmp_path / "site")
    assert (built.rounds, built.results) == (12, 242)
    size = sum(path.stat().st_size for path in (tmp_path / "site").rglob("*") if path.is_file())
    assert size < 12e6


@pytest.mark.slow
def test_names_of_folders_that_are_not_utf8_are_shown(tmp_path: Path) -> None:
    """A single folder whose name is not text kept the whole site from being built; scripts find pages by names."""
    for organisation in ("ACME\udcff", "Beta\x9b"):
        tree = make_tree(tmp_path, "v1.0", organisation)
        tree.add_system("rack\udcfe2")
        tree.add_entry("resnet", "rack\udcfe2")
    site = tmp_path / "site"
    built = build_site(checked(tree.folder.parent), site)
    assert built.results == 4
    charts = [one for page in site.rglob("*.html") for one in Html(page.read_bytes()).data]
    assert any("ACME\\\\udcff" in str(one) for one in charts)
    [data] = [one for one in charts if "explore" in one]
    columns = {one["key"]: one for one in script((site / "data" / "results.js").read_bytes())["columns"]}
    assert set(columns["organisation_name"]["names"]) == set(data["explore"]["pages"]["organisation"])
    series = Series("a\udcff", "line", 1, ((1.0, 2.0),))
    assert '"name":"a\\\\udcff"' in safe_json(series)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    above = tmp_path_factory.mktemp("shared")
    build_site(checked(*two_rounds(above)), above / "site", url="https://example.org/results/")
    return above / "site"


@pytest.mark.parametrize("name", ["index", "benchmarks/resnet", "organisations/acme", "rounds/training_1.0", "results"])
def test_each_page_says_what_it_is(shared: Path, name: str, expected_text: ExpectedText) -> None:
    page = Html((shared / f"{name}.html").read_bytes())
    said = {one.get("name") or one.get("property"): one.get("content") or "" for one in page.of("meta")}
    title = page.text[0]
    expected_text(f"{name.rpartition('/')[2]}.txt", f"{title}\n{said['description']}\n")
    assert (said["og:title"], said["og:description"]) == (title, said["description"])
    assert said["og:url"] == f"https://example.org/results/{name}.html"
    assert "og:image" not in said


def test_pages_about_all_results_say_what_the_data_are(shared: Path) -> None:
    [found] = Html((shared / "index.html").read_bytes()).datasets
    DATASET.validate(found)
    entities = check_folder(shared / "data")
    assert (found["url"], entities["./"]["url"]) == ("https://example.org/results/",) * 2
    for one in found["distribution"]:
        content = (shared / one["contentUrl"].removeprefix(found["url"])).read_bytes()
        assert (one["contentSize"], one["sha256"]) == (str(len(content)), sha256(content).hexdigest())
    assert [one["name"] for one in found["variableMeasured"]] == [column.name for column in columns()]
    assert not any(one["description"] == "" for one in found["variableMeasured"])
    having = {page.name for page in shared.rglob("*.html") if Html(page.read_bytes()).datasets == [found]}
    assert having == {"index.html", "results.html"}
    assert sum(page.read_text().count("ld+json") for page in shared.rglob("*.html")) == 2


def test_titles_are_those_of_one_page_each(shared: Path) -> None:
    titles = [(shared / page).read_text().partition("<title>")[2].partition("<")[0] for page in shared.rglob("*.html")]
    assert len(set(titles)) == len(titles)


def test_without_an_address_pages_do_not_say_theirs(site: Path) -> None:
    assert "og:url" not in (site / "benchmarks" / "bert.html").read_text()


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    outcome = run("site", "v1.0", "-o", str(tmp_path / "site"), "--url", "example.org")
    said = "mlsub site: example.org is no address of a site. It begins with https://.\n"
    assert (outcome.status, outcome.stderr) == (2, said)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(result for one in rounds(*two_rounds(tmp_path)) for result in one.results)


def rows_of(results: Results) -> list[dict[str, Any]]:
    """The rows of the script, which has them by column."""
    content, keys = results_script(results), [column.name for column in columns()]
    found = script(content)
    assert found["count"] == len(results)
    assert [column["key"] for column in found["columns"] if not column.get("own")] == keys
    return result_rows(content)


def test_the_script_and_the_files_have_the_same_values(results: Results) -> None:
    files, rows = downloads(results), rows_of(results)
    assert list(files) == ["data/results.csv", "data/results.parquet"]
    assert [row["href"] for row in rows] == [result.href for result in results]
    assert [row["published_minutes"] for row in rows] == [14.5, 12.0, 12.0, None]
    rows = [{name: value for name, value in row.items() if name not in _OWN} for row in rows]
    lines = list(csv.reader(io.StringIO(files["data/results.csv"].decode())))
    assert lines[0] == [column.name for column in columns()]
    assert lines[1:] == [list(map(_shown, row.values())) for row in rows]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(io.BytesIO(files["data/results.parquet"])).to_pylist() == rows


#: What pages know of a result, and files do not say.
_OWN = ("href", "round_key", "without_logs")


def _shown(value: str | float | None) -> str:
    return "" if value is None else str(int(value) if isinstance(value, float) and value.is_integer() else value)


def test_every_value_is_of_the_kind_of_its_column(results: Results) -> None:
    types = {"text": str, "count": int, "number": (int, float)}
    for row in rows_of(results):
        for column in columns():
            assert row[column.name] is None or isinstance(row[column.name], types[column.kind]), column.name


def test_text_that_a_spreadsheet_would_calculate_with_is_text_in_csv(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(system_name="=1+1", framework="\N{FULLWIDTH PLUS SIGN}x")
    found = Results(result for one in rounds(tree.folder) for result in one.results)
    (row,) = csv.DictReader(io.StringIO(downloads(found)["data/results.csv"].decode()))
    assert (row["system_name"], row["framework"]) == ("'=1+1", "'\N{FULLWIDTH PLUS SIGN}x")


def test_a_full_disk_at_the_files_of_all_sites_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr("mlsub.commands.site.page.shutil.copyfile", full)
    done = run("site", make_tree(tmp_path).folder, "-o", tmp_path / "site")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == f"mlsub site: {tmp_path / 'site'} cannot be written: No space left on device\n"


def test_pages_and_pictures_have_the_same_colours() -> None:
    style = (STATIC / "site.css").read_text("utf-8")
    assert tuple(re.findall(r"--c\d: light-dark\((#\w+), (#\w+)\);", style)) == COLOURS
