"""A software bill of materials, CycloneDX 1.6 in JSON: ``python -m tools.supply.sbom FILE``, or ``make supply``.

cyclonedx-py lists the whole environment; this keeps what mlsub runs with (:mod:`tools.supply.licences`), and adds the
scripts that are part of the repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import NormalizedName, canonicalize_name

from tools.supply.licences import SCRIPTS, Script, closure


def script_components(script: Script) -> list[dict[str, Any]]:
    """The libraries of a script as components."""
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
        for name, version, licence in script.libraries
    ]


def kept(bill: dict[str, Any], names: Collection[NormalizedName]) -> dict[str, Any]:
    """A bill of materials with these packages and the scripts as components, and mlsub as its subject."""
    packages = {one["bom-ref"]: one for one in bill["components"]}
    ours = canonicalize_name("mlsub")
    by_name = {canonicalize_name(one["name"]): reference for reference, one in packages.items()}
    missing = sorted({*names, ours} - by_name.keys())
    if missing:
        raise SystemExit(f"not in the environment: {', '.join(missing)}")
    # Where this copy of the source lies says nothing about mlsub.
    subject = {key: value for key, value in packages[by_name[ours]].items() if key != "externalReferences"}
    scripts = [component for script in SCRIPTS for component in script_components(script)]
    wanted = {by_name[name] for name in names}
    links = [
        {**one, "dependsOn": [reference for reference in one.get("dependsOn", ()) if reference in wanted]}
        for one in bill["dependencies"]
        if one["ref"] in wanted or one["ref"] == subject["bom-ref"]
    ]
    for one in links:
        if one["ref"] == subject["bom-ref"]:
            one["dependsOn"] += [component["bom-ref"] for component in scripts]
    links += [{"ref": component["bom-ref"]} for component in scripts]
    return bill | {
        "metadata": bill["metadata"] | {"component": subject | {"type": "application"}},
        "components": [packages[reference] for reference in sorted(wanted)] + scripts,
        "dependencies": links,
    }


def _validated(text: str) -> str:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    flaw = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if flaw is not None:
        raise SystemExit(f"not CycloneDX 1.6: {flaw}")
    return text


def main(file: Path) -> None:
    """Write the bill of materials of the environment that runs this."""
    words = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--spec-version", "1.6")
    done = subprocess.run([*words, sys.executable], capture_output=True, text=True, check=True)
    bill = kept(json.loads(done.stdout), closure())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_validated(json.dumps(bill, indent=1, sort_keys=True) + "\n"), "utf-8")
    print(f"{file}: {len(bill['components'])} components")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
