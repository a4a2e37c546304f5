"""Items of several records: records of two scripts are one item, transcriptions are shared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from keju.datasets.readers.records import Place
from keju.definitions import query_of
from keju.errors import DataError, shortened
from keju.items import Item
from keju.text import in_script
from keju.texts import _


class Made(NamedTuple):
    """An item of a record, with the script of the record's table, and the record's place."""

    item: Item
    script: str
    place: Place


def same_id(made: Made, other: Place) -> DataError:
    """The error of a record that gives the same id as another one."""
    where = other.item if other.file == made.place.file else f"{other.file.name}, {other.item}"
    return made.place.error(
        _(
            "the id {!r} is also that of {}",
            shortened(made.item.id),
            where,
            hint='Make it of several columns: id = "{COLUMN}-{COLUMN}", or omit id',
        )
    )


def both_scripts(made: Iterable[Made]) -> Iterator[Made]:
    """The items, of which two of one task and id in two scripts are one.

    Raises:
        DataError: the two differ in more than the script.
    """
    groups: dict[tuple[str, str], list[Made]] = {}
    for each in made:
        groups.setdefault((each.item.task, each.item.id), []).append(each)
    for group in groups.values():
        if len(group) == 2 and {each.script for each in group} == {"simplified", "traditional"}:
            yield _one_item(*sorted(group, key=lambda each: each.script))
        else:
            yield from group


def _one_item(simplified: Made, traditional: Made) -> Made:
    one, other = simplified.item, traditional.item
    _check_same(simplified, traditional)
    answer = other.answer or one.answer
    accepted = dict.fromkeys((*other.also_accepted, *one.also_accepted))
    item = replace(
        one,
        question_in={"simplified": one.question, "traditional": other.question},
        images=one.images or other.images,
        answer=answer,
        answer_simplified=one.answer,
        also_accepted=tuple(each for each in accepted if each != answer),
        transcription=other.transcription or one.transcription,
        metadata={**other.metadata, **one.metadata},
    )
    return simplified._replace(item=item)


def _check_same(simplified: Made, traditional: Made) -> None:
    """Refuse two records of one task and id that are not the same item."""
    one, other = simplified.item, traditional.item
    problem = ""
    if one.images and other.images and one.images != other.images:
        problem = _("other images")
    first, second = (
        tuple(in_script(each, "simplified") for each in item.options) for item in (one, other)
    )
    if first != second and sorted(first) == sorted(second):
        problem = _("their options in another order")
    if one.options and one.answer and other.answer and one.answer != other.answer:
        problem = problem or _("another right option")
    if problem:
        raise simplified.place.error(
            _(
                "the records of both scripts with this task and ID have {}; the traditional one is "
                "in {}",
                problem,
                traditional.place.file.name,
                hint="Number the items of both files alike, or import each file alone",
            )
        )


Transcriptions = dict[tuple[str, ...], str]
"""Transcriptions by the hashes of the images that they are of."""


def transcriptions_of(every: Iterable[Made]) -> Transcriptions:
    """The transcriptions of items, by their images.

    Of several, a whole transcription counts before one without its punctuation.
    """
    texts: dict[str, Transcriptions] = {"transcription": {}, "punctuated": {}, "": {}}
    for item, *_others in every:
        if item.transcription and item.images:  # Without images nothing says that pages are one.
            form = query_of(item).form
            of_form = texts[form if form in texts else ""]
            of_form.setdefault(tuple(ref.sha256 for ref in item.images), item.transcription)
    return texts[""] | texts["punctuated"] | texts["transcription"]


def with_transcription(item: Item, known: Transcriptions) -> Item:
    """An item with the transcription of another one on the same images, if it has none."""
    if item.transcription or not known:
        return item
    text = known.get(tuple(ref.sha256 for ref in item.images))
    return replace(item, transcription=text) if text else item
