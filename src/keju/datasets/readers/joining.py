"""Ids of records, which must differ, and the transcriptions that items on one image share."""

from __future__ import annotations

from msgspec.structs import replace

from keju.datasets.readers.records import Place, place_words
from keju.definitions import query_of
from keju.errors import DataError, shortened
from keju.items import Item
from keju.texts import _


def same_id(item: Item, place: Place, other: Place) -> DataError:
    """The error of a record that gives the same id as another one."""
    where = place_words(
        other.item if other.file == place.file else f"{other.file.name}, {other.item}"
    )
    return place.error(
        _(
            "the id {!r} is also that of {}",
            shortened(item.id),
            where,
            hint='Make it of several columns: id = "{COLUMN}-{COLUMN}", or omit id; put both '
            "scripts of a question into one record",
        )
    )


class Transcriptions:
    """The transcriptions of images, for items on the same images that have none of their own.

    Of several, a whole transcription counts before one without its punctuation.
    """

    def __init__(self) -> None:
        self._texts: dict[str, dict[tuple[str, ...], str]] = {
            "transcription": {}, "punctuated": {}, "": {},
        }  # fmt: skip

    def learn(self, item: Item) -> None:
        """Remember the transcription of an item's images."""
        if item.transcription and item.images:  # Without images nothing says that pages are one.
            form = query_of(item).form
            of_form = self._texts[form if form in self._texts else ""]
            of_form.setdefault(tuple(ref.sha256 for ref in item.images), item.transcription)

    def complete(self, item: Item) -> Item:
        """The item with the transcription of its images, if it has none."""
        if item.transcription:
            return item
        images = tuple(ref.sha256 for ref in item.images)
        transcriptions = (texts[images] for texts in self._texts.values() if images in texts)
        return replace(item, transcription=next(transcriptions, None))
