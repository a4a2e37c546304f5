"""Tables of descriptions of images, such as ``descriptions.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.sources import SourceFolder, preset
from keju.datasets.readers.base import plain_file
from keju.datasets.readers.images import image_below
from keju.datasets.readers.records import Place, map_fields, text_of
from keju.datasets.readers.tables import all_rows, find_table
from keju.texts import _

NAME = "descriptions"


class Description(NamedTuple):
    """One line: an image, its position, and its cells by role; a missing cell is empty."""

    path: Path
    place: Place
    cells: Mapping[str, str]


def table_of(place: SourceFolder, given: Path | None) -> Path | None:
    """The table of descriptions: the given one, else that in the source; None if there is none.

    Raises:
        DataError: the given one is missing, or the source has several.
    """
    return plain_file(given) if given else find_table(place.folder, NAME)


def read_descriptions(
    file: Path, place: SourceFolder, given: Path | None, columns: Mapping[str, str] | None = None
) -> Iterator[Description]:
    """The lines of a table of descriptions.

    Args:
        file: the table.
        place: the source. Images of a given table are named from its folder on, those of its own
            from the table's folder; they may also be in the folder ``images`` in it.
        given: the table of the option, if there is one.
        columns: names of columns by role.

    Raises:
        UsageError: a role is mapped that this table has not.
        DataError: a column or an image is missing, a frequency is not a whole number, or an image
            is listed twice.
    """
    rows = all_rows(file)
    roles = preset(place.source.task).fields("image", "description")
    fields = map_fields(file, [cells for _place, cells in rows], roles, columns)
    folder = place.folder if given else file.parent
    first: dict[Path, str] = {}
    for line, cells in rows:
        texts = {role: text_of(cells, fields.get(role), line).strip() for role in roles}
        image, frequency = texts["image"], texts.get("frequency", "")
        path = image_below((folder, folder / "images"), image, file=line.file, item=line.item)
        if path is None:
            hint = _("Put it there, or remove the line")
            raise line.error(_("the image {!r} is missing", image), hint)
        if path in first:
            raise line.error(_("{} is in {} too", image, first[path], hint="Keep one of them"))
        if frequency and not (frequency.isascii() and frequency.isdigit()):
            problem = _("the frequency {!r} is not a number", frequency[:20])
            raise line.error(problem, _("Write digits"))
        first[path] = line.item
        yield Description(path, line, texts)
