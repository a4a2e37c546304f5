"""The table ``descriptions`` of a source: what its images show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.sources import SourceFolder, preset
from keju.datasets.readers.images import image_below
from keju.datasets.readers.records import Place, map_fields, text_of
from keju.datasets.readers.tables import all_rows, find_table
from keju.texts import _

NAME = "descriptions"


class Description(NamedTuple):
    """One line: its position, and its cells by role; a missing cell is empty."""

    place: Place
    cells: Mapping[str, str]


def read_descriptions(place: SourceFolder) -> dict[Path, Description] | None:
    """The lines of the table in a source by their image; None if it has no such table.

    Images are named from the source's folder on, or from the folder ``images`` in it.

    Raises:
        DataError: the source has several tables, a column or an image is missing, a frequency is
            not a whole number, or an image is listed twice.
    """
    file = find_table(place.folder, NAME)
    if file is None:
        return None
    rows = all_rows(file)
    roles = preset(place.source.task).fields("image", "description")
    fields = map_fields(file, [cells for _place, cells in rows], roles)
    folders = (place.folder, place.folder / "images")
    described: dict[Path, Description] = {}
    for line, cells in rows:
        texts = {role: text_of(cells, fields.get(role), line).strip() for role in roles}
        image, frequency = texts["image"], texts.get("frequency", "")
        path = image_below(folders, image, file=line.file, item=line.item)
        if path is None:
            hint = _("Put it there, or remove the line")
            raise line.error(_("the image {!r} is missing", image), hint)
        if path in described:
            first = described[path].place.item
            raise line.error(_("{} is in {} too", image, first, hint="Keep one of them"))
        if frequency and not (frequency.isascii() and frequency.isdigit()):
            problem = _("the frequency {!r} is not a number", frequency[:20])
            raise line.error(problem, _("Write digits"))
        described[path] = Description(line, texts)
    return described
