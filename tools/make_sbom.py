"""Write the software bill of materials of keju: CycloneDX 1.6 as JSON, from docs/licences.md.

python -m tools.make_sbom [FOLDER]

Components are the packages of the lock files with version, licence and package URL. Those that keju
itself needs have the scope `required`, those of extras `optional`, and those of tests and documents
`excluded`; the property ``keju:needed-by`` names the extras. The hashes of all files of a package
are in the lock files. The same checkout gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from keju import __version__

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
_ROW = re.compile(r"^\| ([a-z0-9-]+) \| (\d\S*) \| (.+) \| ([^|]+) \|$", re.MULTILINE)
_FOR_CHANGES = frozenset({"dev", "docs", "tests"})
"""What only people need who change keju."""

Json = dict[str, object]


def bill() -> Json:
    """The bill of materials of the present version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = _ROW.findall(PAGE.read_text("utf-8"))
    urls = {name: f"pkg:pypi/{name}@{version}" for name, version, *_ in rows}
    direct = {canonicalize_name(Requirement(each).name) for each in project["dependencies"]}
    keju = f"pkg:pypi/keju@{__version__}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": keju, "name": "keju",
                "version": __version__, "description": project["description"],
                "licenses": [_licence(project["license"])], "purl": keju,
            },
        },
        "components": [_component(urls[row[0]], *row) for row in rows],
        "dependencies": [{"ref": keju, "dependsOn": sorted(urls[name] for name in direct)}],
    }  # fmt: skip


def _component(url: str, name: str, version: str, licence: str, needed_by: str) -> Json:
    return {
        "type": "library", "bom-ref": url, "name": name, "version": version,
        "scope": _scope(set(needed_by.split(", "))), "licenses": [_licence(licence)], "purl": url,
        "properties": [{"name": "keju:needed-by", "value": needed_by}],
    }  # fmt: skip


def _scope(needed_by: set[str]) -> str:
    if "keju" in needed_by:
        return "required"
    return "optional" if needed_by - _FOR_CHANGES else "excluded"


def _licence(text: str) -> Json:
    """An SPDX expression, or the name that a package's metadata uses."""
    try:
        return {"expression": str(canonicalize_license_expression(text))}
    except InvalidLicenseExpression:
        return {"license": {"name": text}}


def write(folder: Path) -> Path:
    """Write the bill into a folder; returns the file."""
    made = bill()
    project = made["metadata"]
    assert isinstance(project, dict)
    file = folder / f"keju-{project['component']['version']}.cdx.json"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return file


if __name__ == "__main__":
    sys.stdout.write(f"{write(Path(sys.argv[1] if len(sys.argv) > 1 else 'dist'))}\n")
