"""Bundles: scored runs in one file each, whose scores can be computed again from the dataset."""

from keju.bundles.index import item_hash, number_groups
from keju.bundles.manifest import (
    FORMAT,
    BundledBenchmark,
    BundledDataset,
    BundledItem,
    BundledModel,
    BundleManifest,
    Member,
)
from keju.bundles.reading import Bundle, is_bundle, open_bundle
from keju.bundles.verification import Verification, meaning_of_verified
from keju.bundles.verifying import verify_bundle, write_statement
from keju.bundles.writing import WrittenBundle, write_bundle

__all__ = [
    "FORMAT",
    "Bundle",
    "BundleManifest",
    "BundledBenchmark",
    "BundledDataset",
    "BundledItem",
    "BundledModel",
    "Member",
    "Verification",
    "WrittenBundle",
    "is_bundle",
    "item_hash",
    "meaning_of_verified",
    "number_groups",
    "open_bundle",
    "verify_bundle",
    "write_bundle",
    "write_statement",
]
