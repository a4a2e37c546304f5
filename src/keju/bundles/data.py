"""Data in a bundle: the check of its licence, and the images of its items."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from keju.bundles.manifest import IMAGES
from keju.datasets.licences import list_restricted
from keju.datasets.store import Dataset
from keju.errors import DataError, KejuError
from keju.files import write_atomic
from keju.items import ImageRef
from keju.runs import RunFolder

_ENDING = re.compile(r"\.[a-z0-9]{1,5}")


def find_dataset(run: RunFolder) -> Dataset | None:
    """The dataset of a run; None where it is not at the place that the run recorded."""
    try:
        return run.dataset()
    except (KejuError, OSError):
        return None


def check_allowed(dataset: Dataset, run: RunFolder) -> None:
    """Check that the licences of a dataset and of a run's items allow copies.

    Raises:
        DataError: a licence is unknown or does not allow them.
    """
    for licence, why in list_restricted(dataset.manifest.licence, run.iter_items()):
        raise DataError(
            "--include-data is refused: the licence {} does not allow copies, or this is not "
            "known ({})",
            licence,
            why,
            file=dataset.path,
            hint=(
                "Omit --include-data. Anyone who has the dataset can verify a bundle without data"
            ),
        )


def write_images(dataset: Dataset, run: RunFolder, folder: Path) -> None:
    """Write the images of a run's items to `folder`/images, each once, named by its SHA-256.

    Raises:
        DataError: an image is missing or is not the one of its item.
    """
    written: set[str] = set()
    for item in run.iter_items():
        for ref in item.images:
            if ref.sha256 not in written:
                written.add(ref.sha256)
                write_atomic(folder / image_member(ref), dataset.image_bytes(ref))


def image_member(ref: ImageRef) -> str:
    """The member of an image: its SHA-256, with the ending of its file in the dataset."""
    ending = PurePosixPath(ref.path).suffix.lower()
    return f"{IMAGES}/{ref.sha256}{ending if _ENDING.fullmatch(ending) else ''}"
