"""A package with all kinds of files that a check looks at or reads, each of which has a part in what it says."""

from __future__ import annotations

from pathlib import Path

from mlsub.submission.templates import templates
from tools.support.make_tree import RUNS, Tree, make_tree
from tools.support.power_folders import node_log, switch_log


def make_many(above: Path, round_folder: str = "v4.0", benchmark: str = "resnet", runs: int | None = None) -> Tree:
    """An organisation with measurements, a factor, flags, a template, a link, and what lies in the wrong place.

    It is accepted in rounds whose rules on benchmark and description are those of v4.0.
    """
    tree = make_tree(above, round_folder, benchmarks=())
    entry = tree.add_entry(benchmark, runs=runs)
    for run in range(RUNS[benchmark] if runs is None else runs):
        place = entry / "power" / f"result_{run}"
        place.mkdir(parents=True)
        (place / "node_0.txt").write_text(node_log([100.0] * 3))
        (place / "sw_0.txt").write_text(switch_log(50.0))
    (entry / "scaling.json").write_text('{"scaling_factor": 1.5}')
    (entry.parent / "package_checker_params").write_text("seed-checker-bypass")
    for folder in (tree.folder, tree.folder / "results"):
        (folder / "package_checker_params").write_text("rcp-bypass\n")
    (entry / "old").mkdir()
    (entry / "old" / "result_9.txt").write_text("")
    tree.add_system("unused")
    (tree.folder / "notes.json").symlink_to("systems/rack1.json")
    (tree.folder / "benchmarks" / benchmark / "rack1" / "setup.sh").chmod(0o644)
    template = next(one for one in templates("rack1", benchmark, "pytorch") if one.path.endswith("README.md"))
    (tree.folder / template.path).write_text(template.content)
    return tree
