"""`draft_mapping`: a mapping file for a source, drafted from its files and columns."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.listing import Listing, Record
from keju.datasets.readers.mapped.mapping import TODO
from keju.datasets.readers.mapped.records import flatten
from keju.datasets.readers.records import plain_field
from keju.errors import number_of, printable, shortened
from keju.images import EXTENSIONS

_TABULAR = ("csv", "tsv", "json", "jsonl", "ndjson", "parquet", "xlsx")
_WORDS: dict[str, tuple[str, ...]] = {
    "id": ("id", "qid", "question_id", "index", "编号", "編號", "序号", "序號", "题号", "題號"),
    "image": ("image", "images", "img", "image_path", "img_path", "image_name", "file_name",
              "filename", "imagepath", "picture", "图片", "圖片", "图像", "圖像", "图", "圖",
              "扫描", "掃描", "扫描件", "掃描件", "scan", "page_image"),
    "task": ("task", "task_id", "task_name", "type", "question_type", "任务", "任務", "题型",
             "題型", "类型", "類型", "类别", "類別"),
    "question": ("question", "prompt", "query", "instruction", "problem", "问题", "問題", "题目",
                 "題目", "题干", "題幹", "提问", "提問", "指令"),
    "options": ("options", "choices", "option", "选项", "選項"),
    "answer": ("answer", "answers", "response", "output", "gt", "ground_truth", "label", "target",
               "reference", "text", "transcription", "ocr", "答案", "正确答案", "正確答案",
               "参考答案", "參考答案", "标签", "標籤", "文本", "释文", "釋文", "录文", "錄文",
               "原文", "全文", "转录", "轉錄", "text_content", "full_text"),
    "answer_simplified": ("answer_simplified", "简体答案", "簡體答案"),
    "group": ("group", "book", "book_name", "书名", "書名", "book_id", "出处", "出處"),
}  # fmt: skip
_LETTERS = ("A", "B", "C", "D", "E", "F", "G", "H")
_SHOWN = 3
_TASKS = 40
_ROWS = 200


class _Table(NamedTuple):
    path: PurePosixPath
    rows: list[Record]
    columns: dict[str, list[str]]


def draft_mapping(listing: Listing) -> str:
    """A mapping file in TOML; unknown parts are marked TODO, observations are in comments."""
    table = _table(listing)
    lines = [
        "# Mapping file for: keju data import mapped SRC --map FILE",
        f"# Complete each {TODO}. Delete what is not needed. What each key means: docs/formats.md",
        "# Show the items that it gives: keju data detect SRC --map FILE",
        "",
        "[source]",
        *(_table_source(listing, table) if table else _image_source(listing)),
        "",
        "[fields]",
        *(_fields(table) if table else _image_fields(listing)),
        "",
        "[constants]",
        *_constants(table),
    ]
    return "\n".join(lines) + "\n"


def _table(listing: Listing) -> _Table | None:
    """Table that most likely contains the records: the one with the most columns with a role."""
    found = []
    for path in listing.ending(*_TABULAR)[:20]:
        rows = [dict(flatten(row)) for row in listing.records(path, _ROWS)]
        if by_key := _by_key(listing, path):
            rows = by_key
        if rows:
            found.append(_Table(path, rows, _columns(rows)))
    return max(found, key=lambda each: len(_roles(each)), default=None)


def _by_key(listing: Listing, path: PurePosixPath) -> list[Record]:
    """The records of an object whose keys are the names of images."""
    if path.suffix.casefold() != ".json":
        return []
    try:
        content = json.loads(listing.text(path))
    except (ValueError, RecursionError):
        return []
    if not isinstance(content, dict):
        return []
    stems = {image.stem for image in listing.images}
    if not content or sum(PurePosixPath(key).stem in stems for key in content) * 2 < len(content):
        return []
    pairs = list(content.items())[:_ROWS]
    return [
        {"key": key, **(dict(flatten(value)) if isinstance(value, dict) else {"value": value})}
        for key, value in pairs
    ]


def _columns(rows: list[Record]) -> dict[str, list[str]]:
    """Each column with its first distinct values, as text for a comment."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for key, value in row.items():
            texts = found.setdefault(key, {})
            if value not in (None, "") and len(texts) < _TASKS:
                texts[_format_value(value)] = None
    return {key: list(texts) for key, texts in found.items()}


def _format_value(value: object) -> str:
    image = isinstance(value, bytes) or (isinstance(value, dict) and "bytes" in value)
    return "(an image)" if image else value if isinstance(value, str) else str(value)[:200]


def _roles(table: _Table) -> dict[str, str]:
    """The column of each role, by its name."""
    plain = {_plain(column): column for column in reversed(table.columns)}
    found: dict[str, str] = {}
    for role, words in _WORDS.items():
        named = [plain[_plain(word)] for word in words if _plain(word) in plain]
        free = [column for column in named if column not in found.values()]
        if free:
            found[role] = free[0]
    if "key" in table.columns:
        found.setdefault("id", "key")
        if "value" in table.columns:
            found.setdefault("answer", "value")
    return found


def _plain(name: str) -> str:
    return plain_field(name.rpartition(".")[2])


def _table_source(listing: Listing, table: _Table) -> Iterator[str]:
    alike = [path for path in listing.ending(*_TABULAR) if path.suffix == table.path.suffix]
    yield f"tables = {_quoted(table.path.as_posix())}   # or several: " + _quoted(
        f"*{table.path.suffix}"
    )
    if len(alike) > 1:
        yield f"# {number_of(len(alike), 'file')} end in {table.path.suffix}"
    if "key" in table.columns:
        yield 'json = "by-key"   # each key of the object is a record, in the column key'
    lists = [key for key, values in table.columns.items() if _has_objects(table, key)]
    yield from (f"# each = {_quoted(key)}   # one item per object in this list" for key in lists)
    yield from _image_path(listing, table)
    if listing.images:
        yield f"# images: {', '.join(_comment(str(path)) for path in listing.images[:_SHOWN])}"


def _has_objects(table: _Table, column: str) -> bool:
    values = [row.get(column) for row in table.rows]
    return any(isinstance(each, list) and each and isinstance(each[0], dict) for each in values)


def _image_path(listing: Listing, table: _Table) -> Iterator[str]:
    """A pattern for the images where no column contains their names."""
    files = {path.as_posix() for path in listing.images} | {path.name for path in listing.images}
    column = _roles(table).get("image")
    if not listing.images or (column and set(table.columns[column]) & files):
        return
    stems = {path.stem: path for path in listing.images}
    for key, values in table.columns.items():
        fitting = [value for value in values if PurePosixPath(value).stem in stems]
        if fitting and 2 * len(fitting) >= len(values):
            ending = "" if PurePosixPath(fitting[0]).suffix[1:].casefold() in EXTENSIONS else ".*"
            yield f"image_path = {_quoted('**/{' + key + '}' + ending)}"
            return
    yield '# image_path = "images/{COLUMN}.*"   # the image of a record, by its columns'


def _fields(table: _Table) -> Iterator[str]:
    roles = _roles(table)
    letters = [letter for letter in _LETTERS if letter in table.columns]
    for role, column in roles.items():
        if role == "options" and letters:
            continue
        yield f"{role} = {_quoted(column)}   # {_examples(table.columns[column])}"
    if len(letters) > 1:
        yield f"options = [{', '.join(_quoted(each) for each in letters)}]"
    yield from (f'# {role} = "COLUMN"' for role in _WORDS if role not in roles)
    used = {*roles.values(), *letters}
    for column, values in table.columns.items():
        if column not in used:
            yield f"# metadata: {_comment(column)} ({_examples(values)})"


def _image_source(listing: Listing) -> Iterator[str]:
    yield "# No table: each image is a record."
    yield f"# images: {', '.join(_comment(str(path)) for path in listing.images[:_SHOWN])}"
    if pattern := path_pattern(listing.images):
        yield "# The named groups of this expression become columns. It must match the whole path."
        fitting, every = _fitting(listing, pattern), len(listing.images)
        mark, note = ("", "") if fitting == every else ("# ", f"   # fits {fitting} of {every}")
        yield f"{mark}names = '{pattern}'{note}"
    if ending := _text_ending(listing):
        yield f'texts = "{{folder}}/{{stem}}{ending}"   # its text is the column text'


def _image_fields(listing: Listing) -> Iterator[str]:
    if _text_ending(listing):
        yield 'answer = "text"'
    else:
        yield '# answer = "COLUMN"   # a named group; without it the items have no answer'
    pattern = path_pattern(listing.images)
    if _fitting(listing, pattern) == len(listing.images):
        groups = re.findall(r"\(\?P<(\w+)>", pattern)
        yield f"# named groups: {', '.join(groups)}"
        yield from ['group = "folder1"'] if "folder1" in groups else []


def _fitting(listing: Listing, pattern: str) -> int:
    return sum(bool(re.fullmatch(pattern, path.as_posix())) for path in listing.images)


def _constants(table: _Table | None) -> Iterator[str]:
    column = _roles(table).get("task") if table else None
    if not (table and column):
        yield f'task = "{TODO}"   # an id of keju tasks, e.g. page_ocr or T7'
    yield '# question = "…"   # the same prompt for all items, word for word'
    if table and column:
        yield ""
        yield "[values.task]   # what each value means; ids: keju tasks"
        yield from (f'{_quoted(value)} = "{TODO}"' for value in table.columns[column])


def _text_ending(listing: Listing) -> str:
    """The suffix of the images' text files after the image's stem; empty if there are none."""
    texts = {path.as_posix() for path in listing.ending("txt")}
    for ending in (".gt.txt", ".txt"):
        if any(f"{path.with_suffix('')}{ending}" in texts for path in listing.images):
            return ending
    return ""


def path_pattern(paths: tuple[PurePosixPath, ...]) -> str:
    """A regular expression with named groups for most of the paths; empty if they differ.

    Directories become folder1, folder2 …; in the file name, numbers become number1 … and other
    parts between ``_``, ``-`` and spaces part1 … .
    """
    shapes = Counter((len(path.parts), _shape(path.stem)) for path in paths)
    if not shapes:
        return ""
    (depth, shape), _ = shapes.most_common(1)[0]
    folders = "".join(f"(?P<folder{number}>[^/]+)/" for number in range(1, depth))
    parts, numbers, names = [], 0, 0
    for piece in re.findall(r"0|x|[^0x]", shape):
        if piece == "0":
            numbers += 1
            parts.append(f"(?P<number{numbers}>[0-9]+)")
        elif piece == "x":
            names += 1
            parts.append(f"(?P<part{names}>[^/_ 0-9-]+)")
        else:
            parts.append(re.escape(piece))
    suffixes = "|".join(sorted({path.suffix.lstrip(".") for path in paths}))
    return f"{folders}{''.join(parts)}\\.(?:{suffixes})"


def _shape(stem: str) -> str:
    """A name with 0 for numbers and x for other texts between ``_``, ``-`` and spaces."""
    return re.sub(r"[^0_ -]+", "x", re.sub(r"[0-9]+", "0", stem))


def _examples(values: list[str]) -> str:
    return ", ".join(_comment(value) for value in values[:_SHOWN]) or "empty"


def _comment(text: str) -> str:
    return printable(shortened(" ".join(text.split()), 40))


def _quoted(text: str) -> str:
    """A text as a string of TOML."""
    return "".join(
        char if printable(char) == char else f"\\U{ord(char):08X}"
        for char in json.dumps(text, ensure_ascii=False)
    )
