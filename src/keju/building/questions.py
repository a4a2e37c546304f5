"""From finished pictures to items: one maker a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase

from keju.benchmarks import task
from keju.building.plates import Plate
from keju.building.recipe import read_toml
from keju.building.texts import DATA
from keju.errors import DataError
from keju.items import Item, Record
from keju.text import official_convert


class _Choice(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    passage: str
    options: tuple[str, ...]
    answer: str
    term: str = ""


class _Scripts(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    options: tuple[str, ...]


class Questions(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known to ask about the passages."""

    words: tuple[_Choice, ...]
    sources: tuple[_Choice, ...]
    scripts: _Scripts


def load_questions(path: Path = DATA / "questions.toml") -> Questions:
    """The questions of a file.

    Raises:
        DataError: an answer is not the letter of an option.
    """
    questions = read_toml(path, Questions)
    for choice in (*questions.words, *questions.sources):
        letters = ascii_uppercase[: len(choice.options)]
        if len(choice.answer) != 1 or choice.answer not in letters:
            raise DataError(
                f"the answer {choice.answer!r} is not among the options",
                file=path,
                item=f"{choice.passage} {choice.term}".strip(),
                mend=f"One of {', '.join(letters)}",
            )
    return questions


Maker = Callable[[Plate, Questions], Iterator[Item]]
"""Makes a task's items about a plate."""


def _base(plate: Plate, task_id: str, number: int = 0) -> Item:
    suffix = f"-{number}" if number else ""
    return Item(
        id=f"{plate.id}-{task_id}{suffix}",
        benchmark=task(task_id).benchmark,
        task=task_id,
        images=plate.images,
        group=plate.passage.work,
        split=plate.split,
        metadata=plate.metadata,
    )


def _with(item: Item, **changes: object) -> Item:
    values = {name: getattr(item, name) for name in item.__struct_fields__}
    return Item(**(values | changes))


def _reading(task_id: str) -> Maker:
    def make(plate: Plate, _: Questions) -> Iterator[Item]:
        yield _with(
            _base(plate, task_id),
            answer=plate.text,
            answer_simplified=official_convert(plate.text),
            lines=plate.lines,
        )

    return make


def _words(plate: Plate, questions: Questions) -> Iterator[Item]:
    seen = official_convert(plate.text.replace("\n", ""))
    asked = [choice for choice in questions.words if choice.passage == plate.passage.id]
    for number, choice in enumerate(asked, start=1):
        if choice.term not in seen:
            raise DataError(
                f"the term {choice.term} is not on the page",
                item=plate.id,
                mend="Ask about another word, or give the page more columns",
            )
        yield _with(
            _choice(plate, "T5", choice, number),
            question=f"图像的文言文内容中“{choice.term}”一词的意思是？",
            fields={"term": choice.term},
        )


def _sources(plate: Plate, questions: Questions) -> Iterator[Item]:
    for choice in questions.sources:
        if choice.passage == plate.passage.id:
            yield _with(
                _choice(plate, "T7", choice), question="这张图片中的古籍文本内容出自哪本书？"
            )


def _choice(plate: Plate, task_id: str, choice: _Choice, number: int = 0) -> Item:
    return _with(
        _base(plate, task_id, number),
        options=choice.options,
        answer=choice.answer,
        answer_simplified=choice.answer,
        transcription=plate.text,
    )


def _scripts(plate: Plate, questions: Questions) -> Iterator[Item]:
    options = questions.scripts.options
    if plate.script not in options:
        raise DataError(f"the script {plate.script} is not among the options", item=plate.id)
    letter = ascii_uppercase[options.index(plate.script)]
    yield _with(
        _base(plate, "T13"),
        question="这幅书法使用了哪种字体？",
        options=options,
        answer=letter,
        answer_simplified=letter,
        transcription=plate.text,
    )


MAKERS: Mapping[str, Maker] = {
    "T1": _reading("T1"),
    "T5": _words,
    "T7": _sources,
    "T13": _scripts,
    "page_level_ocr": _reading("page_level_ocr"),
}
"""The tasks that a picture of this room can be asked about, in the order in which they stand."""


def items_about(plate: Plate, questions: Questions) -> Iterator[Item]:
    """The items of a plate, in the order of the makers.

    Raises:
        DataError: a plate asks for a task that has no maker, or a task finds nothing to ask.
    """
    for wanted in plate.asks:
        if wanted not in MAKERS:
            known = ", ".join(MAKERS)
            raise DataError(f"task {wanted} has no maker", item=plate.id, mend=f"One of {known}")
    for name, make in MAKERS.items():
        if name in plate.asks:
            items = list(make(plate, questions))
            if not items:
                raise DataError(f"nothing to ask for task {name}", item=plate.id)
            yield from items
