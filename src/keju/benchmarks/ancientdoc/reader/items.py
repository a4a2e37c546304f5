"""Items of AncientDoc from what a record says: question, answer, page and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath

from msgspec.structs import replace

from keju.benchmarks.ancientdoc.reader.strata import as_printed
from keju.datasets.readers.base import plain_name
from keju.datasets.readers.records import Place
from keju.definitions import Task, tasks
from keju.items import ImageRef, Item
from keju.texts import _

BENCHMARK = "AncientDoc"

STRATA = ("category", "book", "dynasty", "script")

_ALIASES = {
    "page_level_ocr": ("OCR", "Page OCR", "页面识别", "页级OCR", "文字识别"),
    "vernacular_translation": ("Translation", "白话文翻译", "文白翻译", "现代文翻译"),
    "reasoning_qa": ("Reasoning QA", "推理型问答", "推理类问答"),
    "knowledge_qa": ("Knowledge QA", "知识型问答", "知识类问答"),
    "linguistic_variant_qa": ("Linguistic Variants QA", "语言变体类问答", "语体问答"),
}
"""Our guesses at other spellings; the released ones are the ids' or the paper's."""


def make_item(
    task: Task, question: str, answer: str, ref: ImageRef, known: Mapping[str, str]
) -> Item:
    """An item without id.

    A question that is the task's own prompt is not stored, so that the task's forms of it can be
    asked.

    Args:
        task: the task.
        question: the prompt as released; empty for the task's own.
        answer: the reference.
        ref: the image.
        known: ``page``, its path ``CATEGORY/BOOK/PAGE``; category, book, dynasty, script, and
            other metadata.
    """
    page = PurePosixPath(known["page"])
    *__, category, book = ("", "", *page.parent.parts)
    said = {role: known.get(role, "").strip() for role in STRATA}
    category = as_printed("category", said["category"] or category)
    book = said["book"] or book
    metadata = dict(known) | {"category": category, "book": book}
    metadata |= {kind: as_printed(kind, said[kind]) for kind in ("dynasty", "script") if said[kind]}
    own = not question.strip() or question.strip() == own_prompt(task)
    return Item(
        id=metadata.pop("id", ""),
        benchmark=task.benchmark,
        task=task.id,
        images=(ref,),
        question="" if own else question,
        verbatim=not own,
        answer=answer,
        group="/".join(part for part in (category, book) if part),
        metadata={key: value for key, value in metadata.items() if value},
    )


def own_prompt(task: Task) -> str:
    """The prompt of a task that asks every page the same; empty where questions differ."""
    return "" if "{" in task.queries[0].template else task.queries[0].template


def numbered(items: Sequence[Item]) -> Iterator[Item]:
    """Items with an id each, made of page, task and number; transcriptions from the OCR answers."""
    texts = {item.images[0].sha256: item.answer for item in items if item.task == "page_level_ocr"}
    asked: Counter[tuple[str, str]] = Counter()
    for item in items:
        page = PurePosixPath(item.metadata["page"]).with_suffix("").as_posix()
        asked[page, item.task] += 1
        ref = item.images[0]
        yield replace(
            item,
            id=item.id or f"{page}#{item.task}-{asked[page, item.task]}",
            group=item.group or ref.sha256,
            transcription=texts.get(ref.sha256) or None,
        )


def task_named(name: str, place: Place) -> Task:
    """The task of that id, or of the paper's name in English or Chinese.

    Raises:
        DataError: there is none.
    """
    found = named_tasks().get(plain_name(name))
    if found is None:
        ids = ", ".join(dict.fromkeys(each.id for each in named_tasks().values()))
        raise place.error(
            _(
                "unknown task {!r}; expected one of {}, or the paper's names",
                name[:40],
                ids,
                hint="See: keju tasks",
            )
        )
    return found


@cache
def named_tasks() -> Mapping[str, Task]:
    """The five tasks by each of their names."""
    names: dict[str, Task] = {}
    for kind in tasks():
        if kind.benchmark == BENCHMARK:
            for name in (kind.id, kind.name_en, kind.name_zh, *_ALIASES.get(kind.id, ())):
                names[plain_name(name)] = kind
    return names


def is_task_name(name: object) -> bool:
    """Whether a value names one of the five tasks."""
    return isinstance(name, str) and plain_name(name) in named_tasks()
