"""A software bill of materials, CycloneDX 1.6 in JSON: ``python -m tools.supply.sbom FILE``, or ``make supply``.

cyclonedx-py lists the whole environment; this keeps what mlsub runs with (:mod:`tools.supply.licences`), and adds the
scripts that are part of the repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import NormalizedName, canonicalize_name

from tools.supply.licences import SCRIPTS, closure


def _components() -> list[dict[str, Any]]:
    """The libraries of scripts as components."""
    return [
        {
            "type": "library",
            "bom-ref": f"{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:npm/{quote(name)}@{version}",
            "licenses": [{"license": {"id": licence}}],
            "properties": [{"name": "mlsub:file", "value": script.file}],
        }
        for script in SCRIPTS
        for name, version, licence in script.libraries
    ]


def kept(bill: dict[str, Any], names: Collection[NormalizedName]) -> dict[str, Any]:
    """A bill of materials with these packages and the scripts as components, and mlsub as its subject."""
    packages = {canonicalize_name(one["name"]): one for one in bill["components"]}
    ours = canonicalize_name("mlsub")
    if missing := sorted({*names, ours} - packages.keys()):
        raise SystemExit(f"not in the environment: {', '.join(missing)}")
    # Where this copy of the source lies says nothing about mlsub.
    subject = {key: value for key, value in packages[ours].items() if key != "externalReferences"}
    scripts = _components()
    wanted = sorted(packages[name]["bom-ref"] for name in names)
    links = []
    for one in bill["dependencies"]:
        if one["ref"] in (*wanted, subject["bom-ref"]):
            needed = [reference for reference in one.get("dependsOn", ()) if reference in wanted]
            needed += [script["bom-ref"] for script in scripts if one["ref"] == subject["bom-ref"]]
            links.append({**one, "dependsOn": needed})
    return bill | {
        "metadata": bill["metadata"] | {"component": subject | {"type": "application"}},
        "components": sorted((packages[name] for name in names), key=itemgetter("bom-ref")) + scripts,
        "dependencies": links + [{"ref": script["bom-ref"]} for script in scripts],
    }


def main(file: Path) -> None:
    """Write the bill of materials of the environment that runs this."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    words = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--spec-version", "1.6")
    done = subprocess.run([*words, sys.executable], capture_output=True, text=True, check=True)
    bill = kept(json.loads(done.stdout), closure())
    text = json.dumps(bill, indent=1, sort_keys=True) + "\n"
    flaw = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if flaw is not None:
        raise SystemExit(f"not CycloneDX 1.6: {flaw}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    print(f"{file}: {len(bill['components'])} components")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
