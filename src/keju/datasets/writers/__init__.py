"""Writers: export datasets to the formats of other programs."""

from __future__ import annotations

from pathlib import Path

from keju.datasets.store import MANIFEST, Dataset
from keju.datasets.writers.base import Writer
from keju.errors import UsageError
from keju.local_paths import check_local
from keju.object_stores import is_address, stage_output
from keju.registry import Registry, list_provided, list_returned

__all__ = ["FORMATS", "Writer", "export_dataset"]

FORMATS: Registry[Writer] = Registry(
    "format to export",
    "writers",
    {
        "parquet": "keju.datasets.writers.parquet:WRITER",
        "jsonl": "keju.datasets.writers.jsonl:WRITER",
        **list_provided("writers"),
        "vlmevalkit-tsv": "keju.datasets.writers.vlmevalkit:WRITER",
    },
)
"""The formats that can be exported, by name; keju's own can be imported again under the same name.
"""


def export_dataset(
    format: str,  # noqa: A002 - the name of the command's argument
    dataset: Path,
    out: Path,
) -> tuple[str, ...]:
    """Export a dataset to a format of `FORMATS`.

    The directory `out` is new or empty; for ``parquet``, which is itself a dataset, it may also be
    an address. Returns notes for the user, one line each: in particular, items that are skipped.

    Raises:
        UsageError: no such format or dataset, or `out` is not empty.
        DataError: the dataset is damaged, or the format supports none of its items.
        PluginError: the plug-in that provides the format cannot be imported or fails.
    """
    writer = FORMATS.find(format)
    source = Dataset.open(dataset)
    if is_address(out) and writer.name != "parquet":
        raise UsageError(
            "{}: only datasets (format parquet) can be written to an object store, and the "
            "format is {}. Use a local path",
            out,
            format,
        )
    with stage_output(out, MANIFEST) as folder:
        check_local(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError("{}: not an empty folder. Choose another --out", folder)
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(list_returned(writer.write, writer.write(source, folder), str))
