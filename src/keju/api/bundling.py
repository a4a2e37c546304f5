"""`bundle` and `verify`: pack a scored run into one file, and compute its scores again."""

from __future__ import annotations

from pathlib import Path

from keju import bundles
from keju.api.inputs import AnyPath, dataset_path_of, path_of
from keju.bundles import Verification
from keju.datasets import mini


def bundle(run: AnyPath, path: AnyPath, *, include_data: bool = False) -> Path:
    """Pack a scored run into one file, as ``keju bundle`` does; returns its path.

    Args:
        run: a scored run, or its path.
        path: the file, whose name ends in ``.zip``; an existing one is replaced.
        include_data: also pack the items with their references, and the images.

    Raises:
        TypeError: a path has another type.
        KejuError: the run must be scored, a response contains a secret or a local path, or the
            licence of the dataset does not allow copies.
    """
    return bundles.write_bundle(path_of(run), path_of(path), include_data=include_data).path


def verify(path: AnyPath, dataset: AnyPath | None = None, *, verified_by: str = "") -> Verification:
    """Compute the scores of a bundle again and compare them, as ``keju verify`` does.

    The result has `result` (``verified``, ``incomplete`` or ``differs``), `checks`, `differences`,
    `not_verified` and `audit`. Verified means that the scores follow from the stored responses, not
    that the named model produced them. Values of encoders are not verified here.

    Args:
        path: the bundle, which is untrusted.
        dataset: the dataset of the run, ``mini`` or its folder; by default the bundle's own data.
        verified_by: the name of a person or group to record.

    Raises:
        TypeError: a path has another type.
        KejuError: the file is not a bundle that can be read, or there is no such dataset.
    """
    data = None if dataset is None else mini.dataset_path(dataset_path_of(dataset))
    return bundles.verify_bundle(path_of(path), data, verified_by=verified_by)
