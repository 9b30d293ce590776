"""``mlsub site``, as it is called."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import pytest

from mlsub.convergence.reference import reference_file
from tests.commands.site.sites import Html, two_rounds
from tools.support.make_tree import make_tree
from tools.support.runner import call, run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_site_of_an_accepted_round(here: Path) -> None:
    make_tree(here)
    outcome = run("site", "v1.0", "-o", "site")
    assert outcome == (0, "A site of 1 result of 1 round, 5 runs, on 11 pages\n\nOpen site/index.html\n", "")
    assert Html((here / "site" / "index.html").read_bytes()).text[:1] == ["MLPerf Training results, v1.0"]


@pytest.mark.slow
def test_a_rejected_result_is_told_by_the_status_and_on_the_site(here: Path) -> None:
    two_rounds(here)
    outcome = run("site", "v1.0", "v1.1", "-o", "out/site", "--title", "Ours")
    assert outcome == (1, "A site of 4 results of 2 rounds, 25 runs, on 18 pages\n\nOpen out/site/index.html\n", "")
    assert "rejected" in Html((here / "out/site/rounds/training_1.1.html").read_bytes()).text
    assert "Ours" in Html((here / "out/site/index.html").read_bytes()).text


def test_an_empty_folder_can_be_made_a_site_from_within(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(here / "in")
    (here / "empty").mkdir()
    monkeypatch.chdir(here / "empty")
    outcome = run("site", here / "in" / "v1.0", "-o", ".")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert (here / "empty" / "index.html").is_file()
    assert sorted(path.name for path in here.iterdir()) == [".empty.mlsub-written", "empty", "in"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("none",), "mlsub site: there is no result to show, and no site was written."),
        (("v1.0/ACME/results/rack1/resnet/result_0.txt",), "mlsub site: a log alone is not a result."),
        (("v1.0", "--rules", "none.yaml"), "mlsub site: none.yaml"),
        (("v1.0", "--round", "9.9"), "mlsub site: there is no result to show"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(arguments: tuple[str, ...], told: str, here: Path) -> None:
    make_tree(here)
    outcome = run("site", *arguments, "-o", "site")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert told in outcome.stderr
    assert not (here / "site").exists()


@pytest.mark.slow
def test_a_part_that_cannot_be_checked_is_told(here: Path) -> None:
    make_tree(here)
    outcome = run("site", "v1.0", "none", "-o", "site")
    assert outcome.status == 2
    assert "none" in outcome.stderr
    assert (here / "site" / "index.html").is_file()


def test_the_first_page_is_shown_in_the_browser(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(here)
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: shown.append(url) or Path(url[7:]).is_file())
    assert run("site", "v1.0", "-o", "site", "--open").status == 0
    assert shown == [(here / "site" / "index.html").as_uri()]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("ftp://example.org/{path}", "ftp://example.org/{path} is no address of a site. It begins with https://."),
        (
            "https://example.org/",
            "--source https://example.org/: it has {path}, and of other braces {round} and {usage} alone.",
        ),
        ("https://a.org/{path}/{0.x}", "--source https://a.org/{path}/{0.x}: it has {path}, and of other braces"),
    ],
)
def test_a_pattern_of_sources_is_an_address_with_a_path(here: Path, pattern: str, told: str) -> None:
    make_tree(here)
    outcome = run("site", "v1.0", "-o", "site", "--source", pattern)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"mlsub site: {told}")
    assert not (here / "site").exists()


def test_a_result_links_to_its_folder_by_the_pattern(here: Path) -> None:
    make_tree(here)
    assert run("site", "v1.0", "-o", "site", "--source", "https://example.org/{usage}-{round}/{path}").status == 0
    page = Html((here / "site/results/training_1.0_acme_rack1_resnet.html").read_bytes())
    assert {"href": "https://example.org/training-1.0/ACME/results/rack1/resnet"} in page.of("a")
    official = "https://github.com/mlcommons/training_results_v1.0/blob/main/ACME"
    assert {"href": f"{official}/systems/rack1.json"} in page.of("a")
    assert {"href": f"{official}/benchmarks"} in page.of("a")


@pytest.mark.slow
def test_a_closed_folder_is_told(here: Path) -> None:
    tree = make_tree(here)
    outcome = call("site", tree.folder, "-o", "/proc/site")
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("mlsub site: /proc/site cannot be written: ")
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_options_of_the_convergence_test_count(here: Path) -> None:
    tree = make_tree(here, "v1.1", benchmarks=["bert"])
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 1}), *range(10), benchmark="bert")
    assert run("site", "v1.1", "-o", "by-epochs").status == 1
    assert run("site", "v1.1", "-o", "by-samples", "--rcp-bert-train-samples").status == 0
    page = "results/training_1.1_acme_rack1_bert.html"
    for site, words in (
        ("by-epochs", "BERT counted by train_samples in place of epoch_num: pass"),
        ("by-samples", "BERT counted by epoch_num in place of train_samples: fail"),
    ):
        text = " ".join(Html((here / site / page).read_bytes()).text)
        assert words in text
        assert "Convergence by epoch_num" in text and "Convergence by train_samples" in text


@pytest.mark.slow
def test_a_file_of_reference_points_counts_and_is_drawn(here: Path) -> None:
    make_tree(here)
    installed = reference_file("training", "1.0.0", "resnet")
    assert installed is not None
    records = json.loads(installed.read_bytes())
    for record in records.values():
        record["Epochs to converge"] = [3 * epochs for epochs in record["Epochs to converge"]]
    (here / "slower.json").write_text(json.dumps(records))
    assert run("site", "v1.0", "-o", "usual").status == 0
    assert run("site", "v1.0", "-o", "slower", "--rcp", "slower.json").status == 1
    page = "results/training_1.0_acme_rack1_resnet.html"
    usual, slower = (" ".join(Html((here / site / page).read_bytes()).text) for site in ("usual", "slower"))
    assert "The runs pass the convergence test." in usual
    assert "The runs fail the convergence test" in slower
    of_round = " ".join(Html((here / "slower" / "rounds" / "training_1.0.html").read_bytes()).text)
    assert "0 of 1 result meets the official checker of the round by reference points of slower.json." in of_round
    (here / "slower.json").write_text("{}")
    outcome = run("site", "v1.0", "-o", "broken", "--rcp", "slower.json")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub site: slower.json: ")
    assert not (here / "broken").exists()
