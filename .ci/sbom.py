"""The wheel's bill of materials (PEP 770): what it asks for, as CycloneDX in .dist-info/sboms/.

Made at each build from the metadata, ``constraints.txt`` and ``licences.toml``. Nothing of others
is in the wheel itself, and which versions an installer takes is not known here: a component has the
range that the metadata state, and the version that was tested. No time is in it, so that the same
files give the same wheel.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

UNUSED = {"test", "dev"}
"""Extras for those who change netcalc, not for those who use it."""


class BillOfMaterials(BuildHookInterface):
    """Write the file for the time of a build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file; hatchling calls this before it builds."""
        self.folder = TemporaryDirectory()
        file = Path(self.folder.name) / "netcalc-lab.cdx.json"
        text = json.dumps(
            bill(self.metadata.core, self.metadata.version, Path(self.root)), indent=1
        )
        file.write_text(text + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(file))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file; hatchling calls this after it has built."""
        self.folder.cleanup()


def bill(core: Any, version: str, root: Path) -> dict[str, Any]:
    """Return the document for the metadata of a build."""
    lines = (root / ".ci" / "constraints.txt").read_text(encoding="utf-8").split()
    tested = {canonicalize_name(name): number for name, number in (x.split("==") for x in lines)}
    table = tomllib.loads((root / ".ci" / "licences.toml").read_text(encoding="utf-8"))
    licences = {canonicalize_name(name): key for key, names in table.items() for name in names}
    own = f"pkg:pypi/{core.name}@{version}"
    asked: dict[str, dict[str, set[str]]] = {}
    for extra, requirements in {"": core.dependencies, **core.optional_dependencies}.items():
        for requirement in map(Requirement, requirements):
            name = canonicalize_name(requirement.name)
            if extra not in UNUSED and name != canonicalize_name(core.name):
                by_range = asked.setdefault(name, {})
                by_range.setdefault(str(requirement), set()).add(extra)
    components = [
        component(name, asked[name], licences[name], tested.get(name)) for name in sorted(asked)
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": core.name,
                "version": version,
                "description": core.description,
                "licenses": licence(core.license_expression),
                "purl": own,
            }
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [one["bom-ref"] for one in components]}],
    }


def component(
    name: str, asked: dict[str, set[str]], licence_text: str, tested: str | None
) -> dict[str, Any]:
    """Return a package that the wheel asks for, by the extras that ask for each range of it."""
    properties = [
        ("netcalc:requires" + f":{extra}" * bool(extra), text)
        for text, extras in sorted(asked.items())
        for extra in sorted(extras)
    ]
    properties += [("netcalc:tested", tested)] if tested else []
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}",
        "name": name,
        "scope": "required" if any("" in extras for extras in asked.values()) else "optional",
        "licenses": licence(licence_text),
        "purl": f"pkg:pypi/{name}",
        "properties": [{"name": key, "value": value} for key, value in properties],
    }


def licence(text: str) -> list[dict[str, Any]]:
    """Return a licence: an expression of SPDX, one of its identifiers, or another name."""
    if re.search(" (AND|OR) ", text):
        return [{"expression": text}]
    is_identifier = " " not in text and text not in {"BSD", "PSF"}
    return [{"license": {"id" if is_identifier else "name": text}}]
