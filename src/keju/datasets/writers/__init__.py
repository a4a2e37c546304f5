"""Writers: datasets made into the forms that other programs and people read."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from keju.datasets.store import Dataset
from keju.datasets.writers import ancientdoc, mcs_bench, parquet, vlmevalkit
from keju.datasets.writers.base import Writer
from keju.errors import UsageError
from keju.local_paths import check_local

__all__ = ["FORMATS", "Writer", "export_dataset"]

FORMATS: Mapping[str, Writer] = {
    writer.name: writer
    for writer in (parquet.WRITER, mcs_bench.WRITER, ancientdoc.WRITER, vlmevalkit.WRITER)
}
"""What can be exported, by name; each can be imported again under the same name."""


def export_dataset(
    format: str,  # noqa: A002 - the name of the command's argument
    dataset: Path,
    out: Path,
) -> tuple[str, ...]:
    """Write a dataset in another form.

    Args:
        format: a name in `FORMATS`.
        dataset: the folder of the dataset.
        out: the folder to write into, new or empty.

    Returns:
        Notes for the user, one line each: above all, what the form cannot hold.

    Raises:
        UsageError: no such format or dataset, or `out` holds something.
        DataError: the dataset is damaged, or the form can hold none of its items.
    """
    writer = FORMATS.get(format)
    if writer is None:
        near = get_close_matches(format.casefold(), FORMATS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"no format {format!r} to export. {hint}Formats: {', '.join(FORMATS)}")
    source = Dataset.open(dataset)
    check_local(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out}: not an empty folder. Choose another --out")
    items = source.items()
    out.mkdir(parents=True, exist_ok=True)
    return tuple(writer.write(source, items, out))
