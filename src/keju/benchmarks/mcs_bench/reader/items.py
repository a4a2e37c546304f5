"""From the records of a release to items: questions, letters of answers, transcriptions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from msgspec.structs import replace

from keju.benchmarks.mcs_bench.reader.choices import (
    Choice,
    first_index,
    is_index,
)
from keju.benchmarks.mcs_bench.reader.entries import Entry
from keju.datasets.readers.letters import letter_of
from keju.datasets.readers.option_lines import insert_options
from keju.definitions import Task, options_in, query_of
from keju.items import ImageRef, Item, Provenance, Script
from keju.text import in_script
from keju.texts import _

RENAMED, RENAMED_FROM = "mcs-bench", "ID in the release: "
"""Step and beginning of the note of the provenance of an item that has another ID."""

SCRIPTS: tuple[Script, ...] = ("simplified", "traditional")


def item_of(name: str, entry: Entry, images: tuple[ImageRef, ...], first: int | None) -> Item:
    """The item of a record, its question word for word.

    A question that prints its options keeps them; options in fields of their own are put under it.
    The image's hash is the group, unless a field gives another.

    Args:
        name: the item's ID.
        entry: the record.
        images: its images as the dataset has them.
        first: 0 or 1 where answers are places of options, counted from there; None: they are not.

    Raises:
        DataError: the question is empty.
    """
    kind, texts = entry.kind, entry.texts
    question = texts["question"]
    if not question.strip():
        raise entry.place.error(_("the question is empty", hint="Write the question"))
    options = options_of_entry(entry)
    if options and not options_in(question):
        question = insert_options(question, options, kind)
    simplified = texts["answer_simplified"]
    answer = texts["answer"] or texts["answer_traditional"] or simplified or texts["answer_index"]
    accepted = entry.answers
    if options:
        answer, simplified = (_letter(each, options, first, entry) for each in (answer, simplified))
        accepted = ()
    return Item(
        id=name,
        benchmark=kind.benchmark,
        task=kind.id,
        images=images,
        question=question,
        question_in=_wordings(entry, options),
        verbatim=True,
        options=options,
        answer=answer,
        answer_simplified=simplified,
        also_accepted=tuple(each for each in accepted if each != answer),
        transcription=texts["transcription"] or _known_transcription(kind, answer),
        group=texts["group"] or images[0].sha256,
        metadata=dict(entry.metadata),
        provenance=_renamed(name, entry),
    )


def _renamed(name: str, entry: Entry) -> tuple[Provenance, ...]:
    """The ID of the release, where the item has another."""
    if not entry.name or entry.name == name:
        return ()
    return (Provenance(step=RENAMED, note=f"{RENAMED_FROM}{entry.name}"),)


def options_of_entry(entry: Entry) -> tuple[str, ...]:
    """The options that the question prints, else those of fields; none where no letter is asked."""
    if entry.kind.queries[0].form != "letter":
        return ()
    return options_in(entry.texts["question"]) or entry.options


def index_origin(entries: Sequence[Entry], given: str) -> int | None:
    """Whether answers that are places of options count from 0 or 1; None where none is a place.

    Raises:
        DataError: they are, and nothing shows from where they count.
    """
    choices = [
        Choice(answer, options, entry.place)
        for entry in entries
        if (options := options_of_entry(entry))
        and (answer := entry.texts["answer"] or entry.texts["answer_index"])
    ]
    places = [choice for choice in choices if is_index(choice)]
    return first_index(places, given) if places else None


def with_transcriptions(items: Sequence[Item]) -> Iterator[Item]:
    """The items, each with the transcription that another item on the same images has."""
    texts: dict[tuple[str, ...], str] = {}
    for form in ("transcription", "punctuated", ""):
        for item in items:
            own = item.transcription
            if own and (not form or _form_of(item) == form):
                texts.setdefault(_images_of(item), own)
    for item in items:
        known = None if item.transcription else texts.get(_images_of(item))
        yield replace(item, transcription=known) if known else item


def _images_of(item: Item) -> tuple[str, ...]:
    return tuple(ref.sha256 for ref in item.images)


def _form_of(item: Item) -> str:
    return query_of(item).form


def _letter(answer: str, options: tuple[str, ...], first: int | None, entry: Entry) -> str:
    choice = Choice(answer, options, entry.place)
    if first is not None and is_index(choice):
        place = int(float(answer)) - first
        if 0 <= place < len(options):
            return ascii_uppercase[place]
    return letter_of(answer, options)


def _wordings(entry: Entry, options: tuple[str, ...]) -> dict[Script, str]:
    """The question as released in each script; none unless it was released in both.

    Options that a wording does not print are put under it: those released in its script, else the
    others, converted.
    """
    found: dict[Script, str] = {}
    for script in SCRIPTS:
        text = entry.texts[f"question_{script}"]
        if text.strip() and options and not options_in(text):
            own = entry.options_traditional if script == "traditional" else ()
            text = insert_options(
                text, own or tuple(in_script(each, script) for each in options), entry.kind
            )
        found[script] = text
    return found if all(text.strip() for text in found.values()) else {}


def _known_transcription(kind: Task, answer: str) -> str | None:
    """The text on the image if the answer has it: for punctuation it is without its marks."""
    if kind.queries[0].form == "transcription":
        return answer or None
    if kind.queries[0].form == "punctuated":
        kept = (char for char in answer if unicodedata.category(char)[0] not in "PZ")
        return "".join(kept) or None
    return None
