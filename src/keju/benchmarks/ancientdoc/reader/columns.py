"""The columns of AncientDoc's wide table, in which a row is a page and each task has columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from keju.datasets.readers.records import FIELD_OPTION, Field
from keju.errors import UsageError
from keju.text import normalise

WIDE_FIELDS = {
    "image": Field(("name", "image", "image_name", "image_path", "file_name", "filename", "file",
                    "page", "img", "图片", "图像", "文件名")),
    "category": Field(("type", "category", "class", "类别", "分类"), required=False),
    "book": Field(("book", "title", "书名"), required=False),
    "dynasty": Field(("dynasty", "period", "朝代", "时代"), required=False),
    "script": Field(("script", "style", "书体", "字体"), required=False),
}  # fmt: skip
"""``type`` and ``name`` were seen in code that reads the release, the others are assumed."""

TEXT_TASKS = ("page_level_ocr", "vernacular_translation")
QA_TASKS = ("reasoning_qa", "knowledge_qa", "linguistic_variant_qa")

_TASKS = {
    "page_level_ocr": ("pagelevelocr", "pageocr", "ocr文本", "ocrtext", "ocr", "transcription",
                       "整页识别", "页面识别", "文字识别", "原文"),
    "vernacular_translation": ("vernaculartranslation", "translation", "vernacular", "白话文翻译",
                               "现代文翻译", "现代汉语翻译", "白话翻译", "文白翻译", "白话文",
                               "现代文", "译文", "翻译", "白话"),
    "reasoning_qa": ("reasoningbasedqa", "reasoningqa", "reasoning", "推理型问答", "推理类问答",
                     "推理问答", "推理"),
    "knowledge_qa": ("knowledgebasedqa", "knowledgeqa", "knowledge", "知识型问答", "知识类问答",
                     "知识问答", "知识"),
    "linguistic_variant_qa": ("linguisticvariantsqa", "linguisticvariantqa", "linguisticvariants",
                              "linguisticvariant",
                              "linguisticqa", "linguistic", "variantqa", "variants", "variant",
                              "语言变体类问答", "语言变体问答", "语言变体", "语体问答", "语体"),
}  # fmt: skip
"""Of each task what its columns may be called. ``OCR`` was seen in code that reads the release; no
public code reads the columns of the other tasks, so their names are assumed."""

_KINDS = {
    "question": ("question", "ques", "q", "问题", "提问", "问"),
    "answer": ("answer", "ans", "a", "response", "答案", "回答", "答"),
}


_LONGEST = 80
"""Characters of a column's name that can state a task."""


class TaskColumns(NamedTuple):
    """The columns of one question of a task: of its text, and of its answer.

    `question` is empty where the task has a prompt of its own. Where `question` and `answer` are
    the same column, its cells contain both.
    """

    task: str
    question: str
    answer: str


class WideColumns(NamedTuple):
    """The meaning of the columns of a wide table."""

    asked: tuple[TaskColumns, ...]
    others: tuple[str, ...]
    """Columns that no task has."""


def wide_columns(
    columns: Iterable[str], given: Mapping[str, str] | None = None
) -> WideColumns | None:
    """The meaning of the columns of a wide table; None if none belongs to a task.

    Args:
        columns: the names of the columns.
        given: names of columns from options: ``TASK`` for a task's answer, ``TASK_question_1`` and
            ``TASK_answer_1`` for those of its questions.

    Raises:
        UsageError: an option names a column that does not exist.
    """
    names = list(columns)
    roles: dict[str, tuple[str, str, str]] = {}
    for column in names:
        if role := _role(column):
            roles[column] = role
    for name, column in (given or {}).items():
        role = _role(name)
        if role is None:
            continue
        if column not in names:
            raise UsageError("option {}={}: no such column", f"{FIELD_OPTION}{name}", column)
        roles = {each: known for each, known in roles.items() if known != role} | {column: role}
    asked = tuple(_task_columns(roles))
    used = {column for each in asked for column in each[1:]}
    return WideColumns(asked, tuple(each for each in names if each not in used)) if asked else None


def without_task_columns(given: Mapping[str, str]) -> dict[str, str]:
    """The given names of columns without those of tasks."""
    return {name: column for name, column in given.items() if not _role(name)}


def _task_columns(roles: Mapping[str, tuple[str, str, str]]) -> Iterable[TaskColumns]:
    places = {role: column for column, role in roles.items()}
    for task in TEXT_TASKS:
        answer = places.get((task, "", "")) or places.get((task, "answer", ""))
        if answer:
            yield TaskColumns(task, places.get((task, "question", ""), ""), answer)
    for task in QA_TASKS:
        numbers = sorted({role[2] for role in places if role[0] == task}, key=lambda n: (len(n), n))
        for number in numbers:
            question, answer = (places.get((task, kind, number)) for kind in _KINDS)
            if question and answer:
                yield TaskColumns(task, question, answer)
            elif both := places.get((task, "", number)):
                yield TaskColumns(task, both, both)


def _role(column: str) -> tuple[str, str, str] | None:
    """The task, ``question`` or ``answer`` or neither, and the number that a name states."""
    if len(column) > _LONGEST:
        return None
    plain = "".join(char for char in normalise(column).casefold() if char.isalnum())
    numbers = re.findall(r"[0-9]+", plain)
    role = _roles().get(re.sub(r"[0-9]+", "", plain))
    if role is None or len(numbers) > 1:
        return None
    return *role, (numbers[0].lstrip("0") or "0") if numbers else ""


@cache
def _roles() -> Mapping[str, tuple[str, str]]:
    """The task and ``question``, ``answer`` or neither, by name without numbers and signs."""
    found: dict[str, tuple[str, str]] = {}
    for task, words in _TASKS.items():
        for word in map(normalise, words):
            found.setdefault(word, (task, ""))
            for kind, endings in _KINDS.items():
                for ending in map(normalise, endings):
                    found.setdefault(word + ending, (task, kind))
                    found.setdefault(ending + word, (task, kind))
    return found
