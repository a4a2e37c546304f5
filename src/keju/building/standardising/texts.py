"""Step ``standardise-texts``: Chinese punctuation, and simplified or traditional characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.standardising.punctuation import Quotes, chinese_punctuation
from keju.building.step import Settings, Step
from keju.building.step_context import StepContext
from keju.definitions import query_of
from keju.items import CODED_FORMS, AnswerForm, Item
from keju.text.scripts import in_script, simplified_reference
from keju.texts import n_

_AS_WRITTEN: frozenset[AnswerForm] = frozenset({"transcription"})
"""Answers that transcribe an image: every mark and character is part of them."""

_OF_THE_TEXT: frozenset[AnswerForm] = frozenset({"transcription", "punctuated", "entities"})
"""Answers in the characters of the text that they are about, whatever the script of the question.
"""


class TextSettings(Settings, frozen=True):
    """The target form of texts."""

    punctuation: Annotated[
        bool, Meta(description="Convert half-width punctuation in Chinese text to full-width.")
    ] = True
    quotes: Annotated[
        Quotes, Meta(description="Replacement of straight quotes: curly “” or corner 「」.")
    ] = "curly"
    simplified_answers: Annotated[
        bool,
        Meta(description="Add the simplified form of every answer that has none."),
    ] = True
    script: Annotated[
        Literal["as-is", "simplified", "traditional"],
        Meta(
            description="Script of questions, options and answers. Transcriptions, and answers in "
            "the text's own characters, are not changed."
        ),
    ] = "as-is"


class TextChange(Struct, frozen=True):
    """A part of an item that was changed: a row of the table ``changes``."""

    item: str
    part: str
    before: str
    after: str


def standardise_texts(context: StepContext, settings: TextSettings) -> None:
    """Convert every item's texts to one form; each change is a row of a table.

    Text of an image is never changed: transcriptions, lines, and answers that repeat them. Neither
    are text that is not Chinese, and known facts about an item. Verbatim questions are changed as
    others are, so that a task has one wording and Chinese marks in both scripts.
    """
    counts: Counter[str] = Counter()
    context.table("changes", _keep_standardised(context, settings, counts), TextChange)
    context.note(
        n_(
            "{n:,} text of {} items changed: tables/changes.csv",
            "{n:,} texts of {} items changed: tables/changes.csv",
            counts["texts"],
            counts["items"],
        )
    )


def _keep_standardised(
    context: StepContext, settings: TextSettings, counts: Counter[str]
) -> Iterator[TextChange]:
    """Keep every item in its new form, and yield the changes; count changed texts and items."""
    for item in context.iter_items():
        new = standardise_item(item, settings)
        changed = _list_changes(item, new)
        counts["texts"] += len(changed)
        counts["items"] += bool(changed)
        context.keep(new, note=", ".join(dict.fromkeys(change.part for change in changed)))
        yield from changed


STEP = Step(
    "standardise-texts",
    "Convert Chinese texts to full-width punctuation, and add simplified forms.",
    TextSettings,
    standardise_texts,
)


def standardise_item(item: Item, settings: TextSettings) -> Item:
    """Convert the texts of an item to the form of the settings."""
    form = query_of(item).form
    wanted = settings.script

    def marks(text: str) -> str:
        return chinese_punctuation(text, settings.quotes) if settings.punctuation else text

    def script(text: str) -> str:
        return text if wanted == "as-is" else in_script(text, wanted)

    def worded(text: str) -> str:
        return script(marks(text))

    def answered(text: str) -> str:
        if form in CODED_FORMS or form in _AS_WRITTEN:
            return text
        return marks(text) if form in _OF_THE_TEXT else worded(text)

    # A wording that was released in the script comes before a conversion.
    released = {name: marks(text) for name, text in item.question_in.items()}
    answer = answered(item.answer)
    simplified = item.answer_simplified
    if form not in CODED_FORMS and form not in _AS_WRITTEN:
        simplified = marks(simplified)
    if settings.simplified_answers and answer and not simplified:
        simplified = simplified_reference(answer)
    return replace(
        item,
        question=(wanted != "as-is" and released.get(wanted)) or worded(item.question),
        question_in=released,
        fields={blank: worded(text) for blank, text in item.fields.items()},
        options=tuple(map(worded, item.options)),
        answer=answer,
        answer_simplified=simplified,
        also_accepted=tuple(map(answered, item.also_accepted)),
    )


def _list_changes(old: Item, new: Item) -> list[TextChange]:
    found = [
        TextChange(old.id, part, getattr(old, part), getattr(new, part))
        for part in ("question", "answer", "answer_simplified")
    ]
    found += [
        TextChange(old.id, f"{part}.{name}", text, getattr(new, part)[name])
        for part in ("fields", "question_in")
        for name, text in getattr(old, part).items()
    ]
    for part, before, after in (
        ("options", old.options, new.options),
        ("also_accepted", old.also_accepted, new.also_accepted),
    ):
        found += [TextChange(old.id, part, *pair) for pair in zip(before, after, strict=True)]
    return [change for change in found if change.before != change.after]
