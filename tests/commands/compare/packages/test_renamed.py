"""Which old name of a system goes with which new one."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.compare.packages.renamed import renamed
from mlsub.systems.facts import SystemFacts, facts_of
from tests.commands.runner import run
from tests.make_tree import make_tree


def machine(accelerator: str, nodes: int = 1) -> SystemFacts:
    return SystemFacts(accelerator_model_name=accelerator, accelerators_per_node=8, number_of_nodes=nodes)


A100, H100, SIXTEEN = machine("NVIDIA A100"), machine("NVIDIA H100"), machine("nvidia a100 ", 2)


def test_the_longest_common_beginning_with_the_same_accelerator_goes_together() -> None:
    before = {"dgxa100_ngc21.05_mxnet": A100, "dgxa100_ngc21.05_pytorch": A100, "dgxh100_ngc21.05": H100}
    after = {"dgxa100_ngc21.09_mxnet": A100, "dgxa100_ngc21.05_pytorch_2": A100, "dgxh100_ngc21.09": H100}
    assert renamed(before, after, before, after) == {
        "dgxa100_ngc21.05_pytorch": "dgxa100_ngc21.05_pytorch_2",
        "dgxa100_ngc21.05_mxnet": "dgxa100_ngc21.09_mxnet",
        "dgxh100_ngc21.05": "dgxh100_ngc21.09",
    }


def test_another_accelerator_is_another_system() -> None:
    assert renamed(["rack-2021"], ["rack-2022"], {"rack-2021": A100}, {"rack-2022": H100}) == {}
    assert renamed(["rack-2021"], ["rack-2022"], {"rack-2021": A100}, {"rack-2022": A100}) == {"rack-2021": "rack-2022"}
    # Without a description nobody knows better than the name.
    assert renamed(["rack-2021"], ["rack-2022"], {}, {"rack-2022": A100}) == {"rack-2021": "rack-2022"}


def test_of_names_as_much_alike_the_one_with_as_many_accelerators_comes_first() -> None:
    after = {"rack-b": SIXTEEN, "rack-c": A100}
    assert renamed(["rack-a"], after, {"rack-a": A100}, after) == {"rack-a": "rack-c"}


def test_names_that_begin_differently_or_are_of_two_organisations_do_not_go_together() -> None:
    assert renamed(["apple"], ["orange"], {}, {}) == {}
    assert renamed(["ACME/rack1"], ["BETA/rack1"], {}, {}) == {}
    assert renamed(["ACME/rack1"], ["ACME/rack1-new"], {}, {}) == {"ACME/rack1": "ACME/rack1-new"}


def test_a_likeness_of_the_end_does_not_beat_the_accelerator(tmp_path: Path) -> None:
    """By letters rack-8xA100 is as much like rack-8xH100 as like rack-8xA100-2022; the hardware tells them apart."""
    old, new = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    for tree, name, model in (
        (old, "rack-8xA100", "NVIDIA A100"),
        (new, "rack-8xH100", "NVIDIA H100"),
        (new, "rack-8xA100-of-the-year-2022", "NVIDIA A100"),
    ):
        tree.add_system(name, accelerator_model_name=model)
        tree.add_entry(system=name)
    document = run("compare", "--packages", old.folder, new.folder, "--format", "json").document
    alike = {one["system"]: one["alike"] for one in document["systems"]}
    assert alike == {
        "rack-8xA100": "rack-8xA100-of-the-year-2022",
        "rack-8xA100-of-the-year-2022": "rack-8xA100",
        "rack-8xH100": None,
    }
    entries = {one["system"]: one["alike"] for one in document["entries"]}
    assert entries == {**alike, "rack1": None}


NAMES = st.sets(st.text(alphabet="ab1-/", max_size=6), max_size=6)


@given(
    NAMES, NAMES, st.dictionaries(st.text(alphabet="ab1-/", max_size=6), st.sampled_from([A100, H100, SIXTEEN, None]))
)
def test_each_name_is_in_one_pair_at_most(
    old: set[str], new: set[str], machines: dict[str, SystemFacts | None]
) -> None:
    pairs = renamed(old, new, machines, machines)
    assert pairs.keys() <= old
    assert set(pairs.values()) <= new
    assert len(set(pairs.values())) == len(pairs)


def test_hardware_may_be_anything() -> None:
    odd = facts_of({"accelerator_model_name": ["x"], "number_of_nodes": 2})
    assert renamed(["rack-2021"], ["rack-2022"], {"rack-2021": odd}, {"rack-2022": odd}) == {"rack-2021": "rack-2022"}
    assert renamed(["rack-2021"], ["rack-2022"], {"rack-2021": odd}, {"rack-2022": A100}) == {}
