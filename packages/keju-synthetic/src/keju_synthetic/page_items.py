"""Items about drawn pages, with one maker for each task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

import msgspec

from keju.definitions import task
from keju.errors import DataError, unknown_name
from keju.items import Item
from keju.messages import message
from keju.text import simplified_reference
from keju_synthetic.page_images import DrawnPage
from keju_synthetic.questions import Choice, Questions
from keju_synthetic.texts import count_characters, restore_punctuation

Maker = Callable[[DrawnPage, Questions], Iterator[Item]]
"""Makes a task's items about a page."""


def _make_item(page: DrawnPage, task_id: str, number: int = 0) -> Item:
    kind = task(task_id)
    suffix = f"-{number}" if number else ""
    return Item(
        id=f"{page.id}-{task_id.casefold().replace('_', '-')}{suffix}",
        benchmark=kind.benchmark,
        task=task_id,
        images=page.images,
        group=page.passage.work,
        split=page.split,
        metadata=_make_metadata(page, kind.benchmark),
    )


def _make_metadata(page: DrawnPage, benchmark: str) -> dict[str, str]:
    """Metadata of an item; AncientDoc's also have category, dynasty and script."""
    if benchmark != "AncientDoc":
        return page.metadata
    passage = page.passage
    if not passage.category or not passage.period:
        raise DataError(
            message("synthetic.passage-without-category", passage=passage.id), item=page.id
        )
    script = "regular" if page.script == "楷书" else "cursive_or_semi_cursive"
    return page.metadata | {
        "category": passage.category,
        "book": passage.work,
        "dynasty": passage.period,
        "script": script,
    }


def _add_answer(item: Item, answer: str, **changes: object) -> Item:
    """The item with its answer, also in simplified characters (compared by `official`)."""
    return msgspec.structs.replace(
        item, answer=answer, answer_simplified=simplified_reference(answer), **changes
    )


def _build_transcription_maker(task_id: str) -> Maker:
    def make(page: DrawnPage, _: Questions) -> Iterator[Item]:
        yield _add_answer(_make_item(page, task_id), page.text, lines=page.lines)

    return make


def _check_whole_passage(page: DrawnPage, task_id: str) -> None:
    placed = sum(len(line.text) for line in page.lines if line.kind in {"main", "note"})
    if placed != count_characters(page.passage):
        problem = message(
            "synthetic.passage-not-whole",
            task=task_id,
            passage=page.passage.id,
            placed=placed,
            count=count_characters(page.passage),
        )
        raise DataError(problem, item=page.id)


def _build_translation_maker(task_id: str) -> Maker:
    def make(page: DrawnPage, questions: Questions) -> Iterator[Item]:
        for known in questions.translations:
            if known.passage == page.passage.id:
                _check_whole_passage(page, task_id)
                yield _add_answer(_make_item(page, task_id), known.text, transcription=page.text)

    return make


def _make_punctuation_items(page: DrawnPage, _: Questions) -> Iterator[Item]:
    _check_whole_passage(page, "T3")
    drawn = "".join(line.text for line in page.lines if line.kind == "main")
    yield _add_answer(
        _make_item(page, "T3"), restore_punctuation(page.passage, drawn), transcription=page.text
    )


def _make_entity_items(page: DrawnPage, questions: Questions) -> Iterator[Item]:
    drawn = page.text.replace("\n", "")
    for known in questions.entities:
        if known.passage == page.passage.id:
            absent = [name for name in known.names if name not in drawn]
            if absent:
                problem = message("synthetic.names-not-on-page", names="、".join(absent))
                raise DataError(problem, item=page.id)
            yield _add_answer(
                _make_item(page, "T4"), "、".join(known.names), transcription=page.text
            )


def _build_open_question_maker(task_id: str, section: str) -> Maker:
    questions_of = attrgetter(section)

    def make(page: DrawnPage, questions: Questions) -> Iterator[Item]:
        asked = [one for one in questions_of(questions) if one.passage == page.passage.id]
        for number, one in enumerate(asked, start=1):
            base = _make_item(page, task_id, number)
            kind = {"kind": one.kind} if one.kind else {}
            yield _add_answer(
                base,
                one.answer,
                question=one.question,
                transcription=page.text,
                metadata=base.metadata | kind,
            )

    return make


def _make_word_items(page: DrawnPage, questions: Questions) -> Iterator[Item]:
    seen = simplified_reference(page.text.replace("\n", ""))
    asked = [choice for choice in questions.words if choice.passage == page.passage.id]
    for number, choice in enumerate(asked, start=1):
        if choice.term not in seen:
            raise DataError(message("synthetic.term-not-on-page", term=choice.term), item=page.id)
        yield msgspec.structs.replace(
            _make_choice_item(page, "T5", choice, number),
            question=f"图像的文言文内容中“{choice.term}”一词的意思是？",
            fields={"term": choice.term},
        )


def _make_source_items(page: DrawnPage, questions: Questions) -> Iterator[Item]:
    for choice in questions.sources:
        if choice.passage == page.passage.id:
            yield msgspec.structs.replace(
                _make_choice_item(page, "T7", choice),
                question="这张图片中的古籍文本内容出自哪本书？",
            )


def _make_choice_item(page: DrawnPage, task_id: str, choice: Choice, number: int = 0) -> Item:
    return _add_answer(
        _make_item(page, task_id, number),
        choice.answer,
        options=choice.options,
        transcription=page.text,
    )


MAKERS: Mapping[str, Maker] = {
    "T1": _build_transcription_maker("T1"),
    "T2": _build_translation_maker("T2"),
    "T3": _make_punctuation_items,
    "T4": _make_entity_items,
    "T5": _make_word_items,
    "T6": _build_open_question_maker("T6", "comprehension"),
    "T7": _make_source_items,
    "page_level_ocr": _build_transcription_maker("page_level_ocr"),
    "vernacular_translation": _build_translation_maker("vernacular_translation"),
    "reasoning_qa": _build_open_question_maker("reasoning_qa", "reasoning"),
    "knowledge_qa": _build_open_question_maker("knowledge_qa", "knowledge"),
    "linguistic_variant_qa": _build_open_question_maker("linguistic_variant_qa", "linguistic"),
}
"""The maker of each task about a page, in the order of the items."""


def make_page_items(page: DrawnPage, questions: Questions) -> Iterator[Item]:
    """The items about a page, in the order of the makers.

    Raises:
        DataError: a task has no maker, or no question about this page.
    """
    for wanted in page.asks:
        if wanted not in MAKERS:
            raise DataError(unknown_name(wanted, MAKERS, "task"), item=page.id)
    for name, make in MAKERS.items():
        if name in page.asks:
            items = list(make(page, questions))
            if not items:
                raise DataError(message("synthetic.nothing-to-ask", task=name), item=page.id)
            yield from items
