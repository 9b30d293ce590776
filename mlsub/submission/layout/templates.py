"""Templates of the files beside a benchmark's code: they say what is to be filled in, and that nobody has yet."""

from __future__ import annotations

import json

import msgspec

#: While a file holds this, it is a template; the audit looks for it.
MARKER = "mlsub-template"
#: The names of templates besides <system>_<implementation>.json.
TEMPLATE_NAMES = ("README.md", "setup.sh", "init_datasets.sh", "run_and_time.sh")

_README = """\
<!-- {marker}: fill in every TODO, then remove this line. -->

# {benchmark} on {system}

## Setup

TODO: the machine, the container or the packages with their versions. `./setup.sh` does it.

## Data

TODO: which data set, from where, with which checksums, how it is prepared and in which order it is read.
`./init_datasets.sh` does it.

## Run

TODO: the command line with every flag and variable. `./run_and_time.sh` runs once and writes one result log.

## What was run

TODO: the implementation ({implementation}), its commit, model, initialisation, optimizer, hyperparameters, and how and
when it evaluates.
"""

_SCRIPT = """\
#!/bin/bash
# {marker}: fill this in, then remove this line and the two that refuse to run.
# {what}
set -euo pipefail

echo "$0 is a template that nobody has filled in." >&2
exit 1
"""

_WHAT = {
    "setup.sh": "Configures {system} for {benchmark}, once: containers, packages, settings of the system.",
    "init_datasets.sh": "Gets and prepares the data of {benchmark}, once: download, checksums, conversion.",
    "run_and_time.sh": "Runs {benchmark} on {system} once, by ../implementations/{implementation}, and logs it.",
}

#: The metadata that the submission rules ask for of an implementation on a system, and what each is.
_METADATA = {
    "starting_weights_filename": "TODO: name or address of the checkpoint the training starts from, or none",
    "weight_transformations": "TODO: no, or what is done to the weights of the checkpoint",
    "weight_data_types": "TODO: such as fp32, bf16, fp8",
    "input_data_types": "TODO: such as fp32, uint8",
    "retraining": "TODO: no, or what was trained beforehand",
    "notes": "TODO: anything a reviewer should know, or nothing",
}


class Template(msgspec.Struct, frozen=True):
    """A file to begin with: its path relative to the organisation's folder, its content, whether it is a script."""

    path: str
    content: str
    executable: bool


def templates(system: str, benchmark: str, implementation: str) -> tuple[Template, ...]:
    """The files of ``benchmarks/<benchmark>/<system>/``, each marked as not filled in; its scripts refuse to run.

    The fields of the JSON file are the metadata that MLCommons' submission rules list for an implementation on a
    system, spelled as the Inference checker spells them: no tool of Training reads the file.
    """
    names = {"system": system, "benchmark": benchmark, "implementation": implementation, "marker": MARKER}
    folder = f"benchmarks/{benchmark}/{system}"
    found = [Template(f"{folder}/README.md", _README.format(**names), executable=False)]
    for name, what in _WHAT.items():
        content = _SCRIPT.format(what=what.format(**names), **names)
        found.append(Template(f"{folder}/{name}", content, executable=True))
    metadata = {MARKER: "fill in every TODO, then remove this field", **_METADATA}
    content = json.dumps(metadata, indent=2) + "\n"
    found.append(Template(f"{folder}/{system}_{implementation}.json", content, executable=False))
    return tuple(found)


def is_unfilled(content: bytes) -> bool:
    """Whether a file, or its first few lines, is a template that nobody has filled in."""
    return MARKER.encode() in content
