"""FORMAT ``mcs-bench``: MCS-Bench's JSON with its images.

Of the released files only the names ``ID``, ``Task_ID``, ``Answer_Simplified`` and ``Response``
are known from print; the other names are guesses, and each can be mapped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase

from keju.benchmarks import Task, is_task_word, options_in, task_of_number, tasks_named
from keju.datasets.readers.base import Options, Reader, files_under, flag, listed
from keju.datasets.readers.json_records import objects_in
from keju.datasets.readers.records import (
    Field,
    JsonObject,
    Pictures,
    Place,
    image_roots,
    map_fields,
    text_of,
    texts_of,
)
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError
from keju.items import ImageRef, Item, Script
from keju.text import in_script

LAYOUT = """\
SRC                       a .json file, or a folder with .json files in it
  data.json               a list of objects: ID, Task_ID (1 to 45 or T1 to T45), Question,
                          Answer and/or Answer_Simplified, Image (a name or a list of names),
                          and where there are: Domain, Task_Name (they find the task where there is
                          no Task_ID, and must not contradict it), Options, Transcription, Group,
                          Question_Simplified, Question_Traditional (both are kept)
  images/...              the images, named relative to the .json file or to its images folder
Only ID, Task_ID and Answer_Simplified are known from print. Say other names with options, e.g.
--option field.question=Question_Traditional --option field.image=img_path"""

_BENCHMARK = "MCS-Bench"
SCRIPTS: tuple[Script, ...] = ("simplified", "traditional")

FIELDS = {
    "id": Field(("ID", "Question_ID")),
    "task": Field(("Task_ID", "Task"), required=False),
    "task_name": Field(("Task_Name",), required=False),
    "domain": Field(("Domain",), required=False),
    "question": Field(("Question", "Question_Simplified", "Question_Traditional", "Prompt")),
    "image": Field(("Image", "Images", "Image_Path", "Image_Paths", "Image_Name", "Img_Path")),
    "answer": Field(("Answer", "Answer_Traditional", "Answer_Simplified")),
    "answer_simplified": Field(("Answer_Simplified",), required=False),
    "question_simplified": Field(("Question_Simplified",), required=False),
    "question_traditional": Field(("Question_Traditional",), required=False),
    "options": Field(("Options", "Choices"), required=False),
    "transcription": Field(("Transcription", "OCR", "Text"), required=False),
    "group": Field(("Group", "Book"), required=False),
}

OPTIONS = {
    "field.NAME": f"the field that holds the NAME, which is one of: {', '.join(FIELDS)}",
    "images": "the folder of the images, if it is not beside the .json file",
    "skip-missing": "yes: leave out questions whose image is missing (default no)",
}

_LABEL = re.compile(r"\A\s*(?:[(（]([A-Z])[)）]|([A-Z])[、.．:：)）])\s*")
_LETTER = re.compile(r"[(（]?([A-Z])[)）]?[、.．:：。]?")


def read_mcs_bench(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Read MCS-Bench's questions word for word, with their answers and images.

    A question that prints its options keeps them; options in a field of their own are put under
    it. The image's hash is the group, unless a field gives another.

    Raises:
        UsageError: a field is mapped that this format has not, or `images` is no folder.
        DataError: no list of objects, a field or an image missing, an unknown task, a name that
            leads out of the folder.
    """
    files = [src] if src.is_file() else list(files_under(src, {"json"}))
    if not files:
        raise DataError(
            "expected a .json file, or a folder with .json files; found none",
            file=src,
            mend="See: keju data formats",
        )
    notes = []
    for file in files:
        records = objects_in(file)
        fields = _fields(file, records, options)
        pictures = Pictures(writer, image_roots(src, file, options))
        for number, record in enumerate(records, start=1):
            place = Place(file, text_of(record, fields["id"], Place(file, f"object {number}")))
            if not place.item:
                raise DataError(
                    "without an ID", file=file, item=f"object {number}", mend="Give it one"
                )
            _add(writer, record, fields, pictures, place)
        if not flag(options, "skip-missing"):
            pictures.raise_if_missing(file)
        if left_out := list(pictures.missing.values()):
            notes.append(f"left out {len(left_out)} without image: {listed(left_out)}")
    yield from notes


def _fields(file: Path, records: Sequence[JsonObject], options: Options) -> dict[str, str]:
    """The fields of the records; the task needs a number or a name.

    Raises:
        UsageError: a field is mapped that this format has not.
        DataError: a field is missing.
    """
    fields = map_fields(file, records, FIELDS, options)
    if not {"task", "task_name"} & set(fields):
        map_fields(file, records, {"task": Field(FIELDS["task"].names)}, {})
    return fields


READER = Reader(
    "mcs-bench", "MCS-Bench's questions in JSON, with images", LAYOUT, read_mcs_bench, OPTIONS
)


def _add(
    writer: DatasetWriter,
    record: JsonObject,
    fields: dict[str, str],
    pictures: Pictures,
    place: Place,
) -> None:
    names = texts_of(record, fields["image"], place)
    if not names:
        raise DataError("without an image", file=place.file, item=place.item, mend="Name its image")
    images = tuple(ref for name in names if (ref := pictures.store(name, place)))
    if len(images) == len(names):
        writer.add(_item(record, fields, images, place))


def _item(
    record: JsonObject, fields: dict[str, str], images: tuple[ImageRef, ...], place: Place
) -> Item:
    kind = _task(record, fields, place)
    question = text_of(record, fields["question"], place)
    if not question.strip():
        raise DataError(
            "the question is empty", file=place.file, item=place.item, mend="Write the question"
        )
    options: tuple[str, ...] = ()
    if kind.queries[0].form == "letter":
        printed = options_in(question)
        options = printed or _options(record, fields.get("options"), place)
        question = question if printed else with_options(question, options, kind)
    simplified = text_of(record, fields.get("answer_simplified"), place)
    answer = text_of(record, fields["answer"], place) or simplified
    transcription = text_of(record, fields.get("transcription"), place)
    return Item(
        id=place.item,
        benchmark=kind.benchmark,
        task=kind.id,
        images=images,
        question=question,
        question_in=_wordings(record, fields, options, kind, place),
        verbatim=True,
        options=options,
        answer=_letter(answer, options) if options else answer,
        answer_simplified=simplified,
        transcription=transcription or _known_transcription(kind, answer),
        group=text_of(record, fields.get("group"), place) or images[0].sha256,
        metadata=_unlike_catalogue(kind, record, fields, place),
    )


def _wordings(
    record: JsonObject,
    fields: dict[str, str],
    options: tuple[str, ...],
    kind: Task,
    place: Place,
) -> dict[Script, str]:
    """The question as released in each script; none unless it was released in both.

    Options that a wording does not print are put under it, converted into its script.
    """
    found: dict[Script, str] = {}
    for script in SCRIPTS:
        text = text_of(record, fields.get(f"question_{script}"), place)
        if text.strip() and options and not options_in(text):
            text = with_options(text, tuple(in_script(each, script) for each in options), kind)
        found[script] = text
    return found if all(text.strip() for text in found.values()) else {}


def _task(record: JsonObject, fields: dict[str, str], place: Place) -> Task:
    """The task of a record: by its number, else by its name and domain.

    Raises:
        DataError: there is no such task, several tasks have the name, or number, name and domain
            contradict each other.
    """
    value = text_of(record, fields.get("task"), place)
    name, domain = (text_of(record, fields.get(role), place) for role in ("task_name", "domain"))
    named = [each for each in tasks_named(name, domain) if each.benchmark == _BENCHMARK]
    if not value.strip() and len(named) == 1:
        return named[0]
    if not value.strip() and name.strip():
        several = listed(each.id for each in named) or "no task"
        raise DataError(
            f"expected the name of one task; {name[:20]!r} names {several}",
            file=place.file,
            item=place.item,
            mend="Give Task_ID, or Domain too. See: keju tasks",
        )
    kind = _numbered(value, place)
    for said, of in ((name, (kind.name_zh, kind.name_en)), (domain, (kind.domain_zh, kind.domain))):
        if is_task_word(said) and said.strip() not in of:
            raise DataError(
                f"Task_ID {value.strip()[:20]} is {' '.join(of)}, but the record names {said[:20]}",
                file=place.file,
                item=place.item,
                mend="Correct one of them",
            )
    return kind


def _unlike_catalogue(
    kind: Task, record: JsonObject, fields: dict[str, str], place: Place
) -> dict[str, str]:
    """Task name and domain of a record where they are worded otherwise than in the catalogue."""
    own = {"Domain": ("domain", kind.domain_zh), "Task_Name": ("task_name", kind.name_zh)}
    said = {key: text_of(record, fields.get(role), place) for key, (role, _) in own.items()}
    return {key: text for key, text in said.items() if text and text != own[key][1]}


def _numbered(value: str, place: Place) -> Task:
    digits = value.strip().upper().removeprefix("T").removesuffix(".0")
    if digits.isascii() and digits.isdigit():
        try:
            return task_of_number(int(digits))
        except (UsageError, ValueError):
            pass
    raise DataError(
        f"expected a task from 1 to 45; found {value[:20]!r}",
        file=place.file,
        item=place.item,
        mend="See: keju tasks",
    )


def _options(record: JsonObject, key: str | None, place: Place) -> tuple[str, ...]:
    """Options as a list, as an object by letter, or printed in one text."""
    value = None if key is None else record.get(key)
    if isinstance(value, dict):
        letters = sorted(value)
        if "".join(letters) != ascii_uppercase[: len(letters)]:
            raise DataError(
                f"expected options A, B, C …; found {listed(letters)}",
                file=place.file,
                item=place.item,
                mend="Letter them from A on",
            )
        return tuple(text_of(value, letter, place) for letter in letters)
    texts = texts_of(record, key, place)
    return options_in(texts[0]) if len(texts) == 1 else _unlettered(texts)


def _unlettered(options: list[str]) -> tuple[str, ...]:
    """Options without letters of their own, where every one of them bears its own."""
    labels = [_LABEL.match(option) for option in options]
    letters = "".join((label[1] or label[2]) if label else "?" for label in labels)
    if letters != ascii_uppercase[: len(options)]:
        return tuple(options)
    return tuple(_LABEL.sub("", option) for option in options)


def with_options(question: str, options: tuple[str, ...], kind: Task) -> str:
    """A question whose options came apart, as the paper prints it: options, then requirement."""
    lettered = " ".join(
        f"{letter}、{text}" for letter, text in zip(ascii_uppercase, options, strict=False)
    )
    requirement = kind.queries[0].requirement
    stem, mark, tail = question.partition("要求：")
    if mark:
        return f"{stem.rstrip()}\n{lettered}\n{mark}{tail}"
    return "\n".join(part for part in (question.rstrip(), lettered, requirement) if part)


def _letter(answer: str, options: tuple[str, ...]) -> str:
    """The letter that an answer means: alone, before its text, or as the text of one option."""
    text = answer.strip()
    if match := _LETTER.fullmatch(text):
        return match[1]
    for letter, option in zip(ascii_uppercase, options, strict=False):
        if option and text in {option, f"{letter}{option}", f"{letter}、{option}"}:
            return letter
    return text


def _known_transcription(kind: Task, answer: str) -> str | None:
    """What an answer says of the text: of OCR it is the text, of punctuation without its marks."""
    if kind.queries[0].form == "transcription":
        return answer or None
    if kind.queries[0].form == "punctuated":
        kept = (char for char in answer if unicodedata.category(char)[0] not in "PZ")
        return "".join(kept) or None
    return None
