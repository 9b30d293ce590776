"""Results as a Dataset of schema.org and as an RO-Crate, against schemas made of the specifications."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError

from mlsub.present.dataset import (
    ResultSource,
    Variable,
    build_dataset,
    data_file,
    render_crate,
)
from tests.present.crates import DATASET, check_crate

JUNE, NOVEMBER = datetime.date(2021, 6, 30), datetime.date(2022, 11, 15)
OLD = ResultSource("v1.0", JUNE, "day", "ACME")
NEW = ResultSource("v2.1", NOVEMBER, "month", "Bolt+ACME")
NEXT = ResultSource("v9.0", None, None, "ACME")
COLUMNS = (Variable("minutes", "The score", "minutes"), Variable("verdict", "What the checker says"))
FILES = (data_file("data/results.csv", b"minutes\n", "All results"),)


def dataset(*sources: ResultSource, **more: Any) -> dict[str, Any]:
    return build_dataset(sources, COLUMNS, FILES, **more)


def test_a_dataset_to_the_letter() -> None:
    assert dataset(NEW, OLD, OLD, url="https://example.org/") == {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": "Results of training benchmarks, v1.0 to v2.1",
        "description": (
            "3 results of training benchmarks by 2 organisations in 2 rounds (v1.0 to v2.1): scores, verdicts, "
            "convergence and systems. Computed from logs by mlsub, not verified by MLCommons."
        ),
        "url": "https://example.org/",
        "version": dataset(NEW)["version"],
        "datePublished": "2022-11",
        "temporalCoverage": "2021-06-30/2022-11",
        "creator": [{"@type": "Organization", "name": name} for name in ("ACME", "Bolt")],
        "variableMeasured": [
            {"@type": "PropertyValue", "name": "minutes", "description": "The score", "unitText": "minutes"},
            {"@type": "PropertyValue", "name": "verdict", "description": "What the checker says"},
        ],
        "distribution": [
            {
                "@type": "DataDownload",
                "name": "results.csv",
                "description": "All results",
                "contentUrl": "https://example.org/data/results.csv",
                "encodingFormat": "text/csv",
                "contentSize": "8",
                "sha256": "7078f4e21e0a27924c80403062ea50cbff7f171f8d579c622524db45f72b6ce3",
            }
        ],
    }


#: What is known of results, and what the dataset says of when they came out, and of its round.
KNOWN: dict[str, tuple[tuple[ResultSource, ...], str | None, str | None, str]] = {
    "a day": ((OLD,), "2021-06-30", "2021-06-30", "v1.0, mlsub "),
    "a month": ((NEW,), "2022-11", "2022-11", "v2.1, mlsub "),
    "one that is not published is the last": ((NEXT, OLD), "2021-06-30", "2021-06-30", "v9.0, mlsub "),
    "none is published": ((NEXT,), None, None, "v9.0, mlsub "),
}


@pytest.mark.parametrize(("sources", "published", "coverage", "version"), KNOWN.values(), ids=KNOWN)
def test_it_says_only_what_is_known(
    sources: tuple[ResultSource, ...], published: str | None, coverage: str | None, version: str
) -> None:
    found = dataset(*sources)
    DATASET.validate(found)
    assert (found.get("datePublished"), found.get("temporalCoverage")) == (published, coverage)
    assert found["version"].startswith(version)
    assert not found.keys() & {"license", "url"}
    assert found["distribution"][0]["contentUrl"] == "data/results.csv"


def test_what_lacks_a_part_is_told_by_the_schemas() -> None:
    """The schemas can fail."""
    whole = dataset(OLD)
    for part in ("name", "description", "creator", "variableMeasured", "distribution"):
        with pytest.raises(ValidationError):
            DATASET.validate({name: value for name, value in whole.items() if name != part})
    with pytest.raises(ValidationError):
        check_crate(render_crate(dataset(NEXT), ()))


def test_a_crate_has_the_parts_of_the_dataset_by_name() -> None:
    entities = check_crate(render_crate(dataset(OLD, NEW), ()))
    assert list(entities) == [
        *("ro-crate-metadata.json", "./", "#licence", "results.csv", "#organisation-1", "#organisation-2"),
        *("#minutes", "#verdict"),
    ]
    assert entities["results.csv"]["@type"] == "File"
    assert entities["./"]["datePublished"] == "2022-11"


#: When runs ended, and the day on which a crate of unpublished results says that it is published.
ENDED: dict[str, tuple[tuple[float | None, ...], str]] = {
    "the last": ((1.6e12, 1.7e12, None), "2023-11-14"),
    "not what no calendar has": ((1.6e12, 1e300, float("inf"), float("nan")), "2020-09-13"),
}


@pytest.mark.parametrize(("ended", "day"), ENDED.values(), ids=ENDED)
def test_a_crate_of_unpublished_results_has_the_day_of_their_last_run(
    ended: tuple[float | None, ...], day: str
) -> None:
    assert check_crate(render_crate(dataset(NEXT), ended))["./"]["datePublished"] == day


@given(st.lists(st.text(min_size=1).filter(lambda text: text.strip("+")), min_size=1), st.text(min_size=1))
def test_names_from_outside_make_no_other_dataset(names: list[str], title: str) -> None:
    found = dataset(*(ResultSource("v1.0", JUNE, "day", name) for name in names), name=title)
    DATASET.validate(found)
    assert check_crate(render_crate(found, ()))["./"]["name"] == found["name"]
    assert all(one["name"].isprintable() for one in (found, *found["creator"]))
    again = dataset(*(ResultSource("v1.0", JUNE, "day", name) for name in reversed(names)), name=title)
    assert again == found


def test_a_name_that_is_no_text_is_escaped() -> None:
    assert check_crate(render_crate(dataset(ResultSource("v1.0", JUNE, "day", "ACME\udcff")), ()))
