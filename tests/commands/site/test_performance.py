"""The performance page: an organisation's results in both divisions, and what other sources state of its systems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.commands.site.build import build_site
from mlsub.commands.site.page import Page, Section, Table
from mlsub.commands.site.performance import performance_pages
from mlsub.commands.site.records import records_sections
from mlsub.commands.site.results import Site
from mlsub.score.records import (
    Configuration,
    Document,
    Fact,
    Record,
    Records,
    Source,
    Submitted,
    System,
    read_records,
)
from mlsub.submission.ids import shipped_ids
from tests.commands.site.sites import RECORDS, Html, checked, rounds, site_of, two_rounds
from tests.differential.shared import ABSENT, folder, present

SOURCE = Source(document="page", line=7)


@pytest.fixture(scope="module")
def graphcore() -> Page:
    """The page of Graphcore, of three rounds with NVIDIA's results beside."""
    if not present():
        pytest.skip(ABSENT)
    paths = [*(folder(name) / "Graphcore" for name in ("1.0", "1.1", "2.0")), folder("1.0") / "NVIDIA"]
    (page,) = performance_pages(Site(rounds(*paths, ids=shipped_ids())), [read_records(RECORDS)])
    return page


def part(page: Page, key: str) -> Section:
    return next(section for section in page.sections if section.key == key)


def rows(table: Table) -> list[dict[str, str]]:
    return [dict(zip(table.heads, (cell.text for cell in row), strict=True)) for row in table.rows]


def live(section: Section, place: int = 0) -> dict[str, Any]:
    return section.charts[place].data


def records(*figures: Record, publisher: str = "ACME", **systems: System) -> Records:
    documents = {"page": Document(title="A page", publisher=publisher)}
    return Records(documents=documents, systems=systems, records=figures or (figure("one"),))


def figure(name: str, value: float = 2.0, unit: str = "images/s", **of: Any) -> Record:
    own = {key: of.pop(key) for key in ("batch_size", "data", "software") if key in of}
    given = {"task": "training", "model": "ResNet-50", "measure": "throughput", "stated": str(value), **of}
    return Record(
        name=name, value=value, unit=unit, configuration=Configuration(system="Box", **own), source=SOURCE, **given
    )


# ---- Whose page it is


def test_the_page_is_of_the_organisation_whose_records_are_given(tmp_path: Path) -> None:
    (page,) = performance_pages(site_of(*two_rounds(tmp_path)), [records()])
    assert (page.path, dict(page.facts)["Organisation"].text) == ("performance.html", "ACME")
    assert {row["benchmark"] for row in rows(page.sections[0].tables[0])} == {"BERT", "ResNet-50"}
    assert "ZETA" not in str(msgspec.to_builtins(page.sections))


def test_without_records_there_is_no_page(tmp_path: Path) -> None:
    assert performance_pages(site_of(*two_rounds(tmp_path)), []) == []


def test_the_page_of_a_site_of_one_organisation_takes_the_records_of_others(tmp_path: Path) -> None:
    (page,) = performance_pages(site_of(two_rounds(tmp_path)[0]), [records(publisher="Somebody")])
    assert (page.path, len(page.sections)) == ("performance.html", 5)


def test_records_of_none_of_several_organisations_stand_below_a_list_of_these(tmp_path: Path) -> None:
    (page,) = performance_pages(site_of(*two_rounds(tmp_path)), [records(publisher="Somebody")])
    hrefs = [row[0].href for row in page.sections[0].tables[0].rows]
    assert hrefs == ["organisations/acme.html", "organisations/zeta.html"]
    assert part(page, "sources").tables[0].rows[0][2].text == "Somebody"


def test_several_organisations_with_records_have_a_page_each(tmp_path: Path) -> None:
    found = site_of(*two_rounds(tmp_path))
    first, acme, zeta = performance_pages(found, [records(publisher="Zeta"), records(), records(publisher="Somebody")])
    assert [row[0].href for row in first.sections[0].tables[0].rows] == [acme.path, zeta.path]
    paths = [page.path for page in (first, acme, zeta)]
    assert paths == ["performance.html", "performance/acme.html", "performance/zeta.html"]
    assert part(first, "sources").tables[0].rows[0][2].text == "Somebody", "what is nobody's page is not lost"
    assert part(zeta, "sources").tables[0].rows[0][2].text == "Zeta"


# ---- Published results


def test_every_result_is_there_also_without_minutes_and_with_its_verdict(tmp_path: Path) -> None:
    acme, zeta = two_rounds(tmp_path)
    (page,) = performance_pages(site_of(zeta), [records()])
    assert [(row["verdict"], row["minutes"]) for row in rows(page.sections[0].tables[0])] == [("rejected", "–")]
    (page,) = performance_pages(site_of(acme), [records()])
    found = [(row["benchmark"], row["division"], row["minutes"]) for row in rows(page.sections[0].tables[0])]
    assert found == [
        ("BERT", "closed", "14.500000"),
        ("ResNet-50", "closed", "12.000000"),
        ("ResNet-50", "open", "12.000000"),
    ]


def test_all_published_results_of_graphcore_stand_there_whatever_their_verdict(graphcore: Page) -> None:
    found = [
        (name, row["benchmark"], row["system"], row["division"], row["minutes"], row["verdict"], row.get("MLPerf ID"))
        for name in ("1-0", "1-1", "2-0")
        for row in rows(part(graphcore, f"mlperf-training-{name}").tables[0])
    ]
    assert len(found) == 6 + 10 + 11
    for expected in (
        ("1-0", "BERT", "IPU-POD64", "closed", "11.075850", "rejected", "1.0-1025 or 1.0-1027"),
        ("1-0", "BERT", "IPU-POD64", "open", "9.392079", "accepted", "1.0-1098 or 1.0-1099"),
        ("1-1", "BERT", "IPU-POD16", "closed", "32.696756", "rejected", "–"),
        ("1-1", "BERT", "IPU-POD64", "closed", "10.563702", "rejected", "–"),
    ):
        assert expected in found
    ids = {one[2]: one[6] for one in found if one[:2] == ("1-1", "ResNet-50")}
    assert ids["IPU-POD256"] == "1.1-2040, 1.1-2042, 1.1-2044 or 1.1-2045"
    assert part(graphcore, "mlperf-training-1-0").words == (
        "MLPerf Training v1.0 Results | MLPerf ID: 1.0-1025, 1.0-1026, 1.0-1027, 1.0-1028, 1.0-1098, 1.0-1099",
    )


def test_each_benchmark_and_division_has_a_chart_of_its_results(graphcore: Page) -> None:
    charts = part(graphcore, "mlperf-training-1-0").charts
    assert [(chart.kind, chart.title) for chart in charts] == [
        ("round", "BERT, Closed division"),
        ("round", "BERT, Open division"),
        ("round", "ResNet-50, Closed division"),
    ]
    assert [len(chart.data["at"]) for chart in charts] == [2, 2, 2]
    assert "A ring is a result that does not meet the official checker." in charts[0].about


# ---- Gains and prices


def test_gains_go_from_round_to_round_and_say_what_else_changed(graphcore: Page) -> None:
    section = part(graphcore, "gains")
    titles = [chart.title.partition(":")[0] for chart in section.charts]
    assert titles == ["BERT, Closed", "BERT, Open", "ResNet-50, Closed"]
    pod16 = [
        row
        for row in rows(section.tables[0])
        if row["benchmark"] == "ResNet-50" and row["accelerators"].startswith("16 ")
    ]
    assert [(row["round"], row["× the round before"], row["× the first"], row["what changed"]) for row in pod16] == [
        ("v1.0", "–", "1.00×", "–"),
        ("v1.1", "1.31×", "1.31×", "software, batch size"),
        ("v2.0", "1.44×", "1.89×", "accelerator, software, batch size"),
    ]
    data = live(section, 2)
    assert [len(line["at"]) for line in data["lines"]] == [3, 3, 2, 2], "16, 64, 128 and 256 accelerators"
    assert (data["x"], data["rounds"]) == ("round_key", ["v1.0", "v1.1", "v2.0"])


def test_prices_stand_beside_published_minutes_of_one_round_benchmark_and_division(graphcore: Page) -> None:
    found = rows(part(graphcore, "price-performance").tables[0])
    assert [(row["benchmark"], row["system"], row["trainings/h a million"], row["compared"]) for row in found] == [
        ("BERT", "IPU-POD16", "11.6", "about 1.26× DGX A100 640GB"),
        ("BERT", "DGX A100 640GB", "about 9.22", "about 0.79× IPU-POD16"),
        ("ResNet-50", "IPU-POD16", "10.8", "about 1.55× DGX A100 640GB"),
        ("ResNet-50", "DGX A100 640GB", "about 6.95", "about 0.64× IPU-POD16"),
    ]
    assert {row["division"] for row in found} == {"Closed"}
    bars = live(part(graphcore, "price-performance"))["bars"]
    assert [bar["shown"] for bar in bars] == [row["trainings/h a million"] for row in found]


def test_a_price_without_results_and_results_without_a_price_say_nothing(tmp_path: Path) -> None:
    found = site_of(*two_rounds(tmp_path))
    price = Fact(fact="list-price", value=1000.0, unit="USD", stated="$1,000", source=SOURCE)
    there = Submitted(round="1.0", organisation="ACME", system="rack1")
    nowhere = msgspec.structs.replace(there, system="rack9")
    for facts, results, shown in (
        ((price,), (there,), True),
        ((price,), (nowhere,), False),
        ((), (there,), False),
        ((msgspec.structs.replace(price, unit="EUR"),), (there,), False),
    ):
        (page,) = performance_pages(found, [records(Box=System(maker="ACME", facts=facts, results=results))])
        assert any(section.key == "price-performance" for section in page.sections) == shown


# ---- Figures of records


def test_charts_go_by_the_form_of_the_figures(tmp_path: Path) -> None:
    versus, before = Configuration(system="Other"), Configuration(system="Box", software="SDK 1")
    given = records(
        figure("ratio", 60.0, "x", versus=versus, bound="over", data="synthetic", status="preliminary"),
        figure("value", 500.0),
        figure("small", 100.0, batch_size=1, software="SDK 1"),
        figure("large", 900.0, batch_size=64, software="SDK 1"),
        figure("gain", 2.5, "x", versus=before, software="SDK 2", measure="performance"),
    )
    (page,) = performance_pages(site_of(two_rounds(tmp_path)[0]), [given])
    throughput = part(page, "training-throughput")
    forms = [(chart.title, chart.kind, chart.data["ratios"]) for chart in throughput.charts]
    assert forms == [
        ("Training: throughput, ratios (not MLPerf)", "bars", True),
        ("Training: throughput, images/s (not MLPerf)", "bars", False),
    ]
    (bar,) = live(throughput)["bars"]
    assert (bar["label"], bar["shown"]) == ("ResNet-50: Box against Other", "over 60× [*1] [*2]")
    assert [bar["label"] for bar in live(throughput, 1)["bars"]] == [
        "ResNet-50: Box",
        "ResNet-50: Box, SDK 1, batch size 1",
        "ResNet-50: Box, SDK 1, batch size 64",
    ]
    assert live(part(page, "software-releases"))["bars"][0]["label"] == "ResNet-50: SDK 2 against SDK 1"
    counts = {row["mark"]: row["figures here"] for row in rows(part(page, "footnotes").tables[0])}
    assert counts == {"[*1]": "1", "[*2]": "1", "[*3]": "4"}


def test_nothing_of_a_file_of_records_is_markup(tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    given = records(figure("one", model=hostile, at=hostile, notes=hostile), publisher=hostile)
    build_site(checked(two_rounds(tmp_path)[0]), tmp_path / "site", records=[given])
    page = Html((tmp_path / "site" / "performance.html").read_bytes())
    assert not page.of("img")
    assert page.text.count(hostile) >= 3
    assert all(
        attributes.get("src") or attributes.get("type") == "application/json" for attributes in page.of("script")
    )


def sections() -> tuple[Section, ...]:
    return tuple(records_sections([read_records(RECORDS)]))


def test_every_record_stands_in_a_table_and_in_a_chart() -> None:
    given = read_records(RECORDS).records
    notes = [row[0].note for section in sections() for table in section.tables for row in table.rows]
    assert sorted(note for note in notes if note and note in {record.name for record in given}) == sorted(
        record.name for record in given
    )
    drawn = [bar for section in sections() for chart in section.charts for bar in chart.data["bars"]]
    assert len(drawn) == len(given)


def test_bounds_footnotes_sources_and_cited_ids_are_told() -> None:
    found = {section.key: section for section in sections()}
    assert "cited" in found and found["footnotes"].tables[0].rows[0][1].text.startswith("Preliminary")
    shown = records_sections([records(figure("one", 2.5, "h", bound="under", measure="time-to-result"))])
    (row,) = next(shown).tables[0].rows
    assert (row[2].text, row[5].text) == ("under 2.5 h [*3]", "page, line 7")


@pytest.mark.parametrize(
    ("model", "value", "other"),
    [
        ("ResNet-50", "2.1×", "IPU, system not stated; Poplar SDK 1.4; measured"),
        ("BERT-Large", "1.6×", "IPU, system not stated; Poplar SDK 1.4; measured"),
        ("EfficientNet", "1.5×", "IPU, system not stated; Poplar SDK 1.4; measured"),
        ("ResNet-50 v1.5", "2.6×", "A100-SXM4-80GB; TensorFlow; mixed; batch size 256; published"),
        ("ResNet-50 v1.5", "4.6×", "A100-SXM4-80GB; TensorRT 7.2.1; int8; batch size 1 to 206; published"),
        ("BERT-Large", "3.4×", "A100-SXM4-40GB; TensorRT 7.2; int8; batch size 1, 2, 8; published"),
    ],
)
def test_the_other_side_keeps_its_software_framework_and_batch_size(model: str, value: str, other: str) -> None:
    stated = [row for section in sections() for table in section.tables for row in rows(table) if "against" in row]
    found = [row["against"] for row in stated if (row["model"], row["value"].partition(" [")[0]) == (model, value)]
    assert other in found
    assert "SDK" not in other or set(found) == {other}, "of releases there is one other side"
