"""RO-Crate metadata of a bundle: a machine-readable description of its files.

Format: RO-Crate 1.1 (https://w3id.org/ro/crate/1.1). It names programs and files, never people.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from keju.bundles.manifest import BundleManifest, Member

_KINDS = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".parquet": "application/vnd.apache.parquet",
    ".toml": "application/toml",
}
_SOFTWARE = "#keju"
_DATASET = "#dataset"


def make_crate(manifest: BundleManifest, members: Mapping[str, Member]) -> dict[str, object]:
    """Make the metadata of a bundle.

    Args:
        manifest: the content of bundle.json, whose `members` may still be empty.
        members: the files to describe.
    """
    files = [_describe(name, member) for name, member in sorted(members.items())]
    data = manifest.dataset
    benchmarks = ", ".join(f"{each.name} {each.version}" for each in manifest.benchmarks)
    root: dict[str, object] = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Results of {len(manifest.models)} models on {data.name} {data.version}",
        "description": (
            f"Responses and scores of a run of keju on {manifest.items} items ({benchmarks}), with "
            "the hashes of items and images. The scores can be computed again from the responses."
        ),
        "license": (
            f"The dataset's licence is {data.licence or 'not known'}. The bundle does not state a "
            "licence of the responses."
        ),
        "hasPart": [{"@id": each["@id"]} for each in files],
        "isBasedOn": {"@id": _DATASET},
        "mentions": {"@id": _SOFTWARE},
    }
    if manifest.created:
        root["datePublished"] = manifest.created
    graph: list[dict[str, object]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            "about": {"@id": "./"},
        },
        root,
        {
            "@id": _SOFTWARE,
            "@type": "SoftwareApplication",
            "name": "keju",
            "softwareVersion": manifest.keju,
        },
        {
            "@id": _DATASET,
            "@type": "Dataset",
            "name": data.name,
            "version": data.version,
            "identifier": f"sha256:{data.hash}",
        },
        *files,
    ]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def _describe(name: str, member: Member) -> dict[str, object]:
    kind = _KINDS.get(PurePosixPath(name).suffix, "application/octet-stream")
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": kind,
        "contentSize": str(member.size),
        "sha256": member.sha256,
    }
