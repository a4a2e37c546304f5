"""Records of JSON files: a list of objects, an object with such a list, or one object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

import msgspec

from keju.datasets.readers.base import MOST_TEXT, join_names, source_text
from keju.datasets.readers.records import JsonObject
from keju.errors import DataError
from keju.files import decode_json

T = TypeVar("T")

_LIST = re.compile(r"\s*\[\s*\{")
_NEXT = re.compile(r"\s*,\s*\{")
_CLOSE = re.compile(r"\s*\]\s*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def objects_in(file: Path) -> list[JsonObject]:
    """The objects of a JSON file: of its list, or of the one list of objects in its object.

    A file with one object per line is read too, although it does not have the suffix of JSON lines.

    Raises:
        DataError: it is not readable, has no list of objects or several; a lone surrogate is
            reported with the object that contains it.
    """
    text = source_text(file)
    try:
        content: object = decode_json(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if seem_lines(text):
            return _lines(file, text)
        raise _half_character(file, text) or DataError(
            "not readable as JSON: {}", error, file=file, hint="Fetch the file again"
        ) from None
    if isinstance(content, dict):
        content = _list_within(file, content)
    if not isinstance(content, list):
        raise _no_list(file, "something else")
    for number, record in enumerate(content, start=1):
        if not isinstance(record, dict):
            raise DataError(
                "expected an object; found {}",
                type(record).__name__,
                file=file,
                item=f"object {number}",
                hint="Write {…}, or remove it",
            )
    if not content:
        raise DataError("the list is empty", file=file, hint="Fetch the file again")
    return content


def lines_in(file: Path) -> list[JsonObject]:
    """The objects of a JSON-lines file; blank lines are skipped.

    A file with one list of objects is read too, although it has the suffix of JSON lines.

    Raises:
        DataError: it is not readable, or a line is not an object; a lone surrogate is reported with
            its line.
    """
    text = source_text(file)
    return objects_in(file) if begins_with_list(text) else _lines(file, text)


def json_in(file: Path, shape: type[T]) -> T:
    """The content of a JSON file as `shape`, in any encoding.

    Raises:
        DataError: it is not readable, or has another shape.
    """
    text = source_text(file)
    try:
        return decode_json(text, shape)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _half_character(file, text) or DataError(
            "not readable as JSON: {}", error, file=file, hint="Fetch the file again"
        ) from None


def begins_with_list(text: str) -> bool:
    """Whether a text begins like a list of objects."""
    return bool(_LIST.match(text))


def _lines(file: Path, text: str) -> list[JsonObject]:
    return list(iter_lines(file, text.split("\n")))


def iter_list(pieces: Iterable[str]) -> Iterator[JsonObject]:
    """Yield the objects of a JSON list, from pieces of its text; one object is in memory.

    Raises:
        ValueError: it is not a list of objects, or one has more than `MOST_TEXT` characters.
            `objects_in` finds the place in a text that is not too large.
    """
    scan = json.JSONDecoder(strict=False).raw_decode
    waiting, size, wanted = [""], 0, 0
    before, closed = _LIST, False
    for piece in chain(pieces, [""]):
        waiting.append(piece)
        size += len(piece)
        if piece and size < wanted:
            continue
        text, start = "".join(waiting), 0
        while not closed and (found := before.match(text, start)):
            try:
                end = scan(text, found.end() - 1)[1]
            except (ValueError, RecursionError):
                break  # The text may end within an object.
            yield _decoded(text[found.end() - 1 : end])
            before, start = _NEXT, end
        if before is _NEXT and not closed and (found := _CLOSE.match(text, start)):
            start, closed = found.end(), True
        waiting, size = [text[start:]], len(text) - start
        if size > MOST_TEXT:
            raise ValueError("a part of the list has too many characters")
        wanted = 2 * size  # A long object is not scanned again for each piece.
    if not closed or "".join(waiting).strip():
        raise ValueError("the list is cut off, or its next part is not an object")


def _decoded(text: str) -> JsonObject:
    try:
        return decode_json(text, dict[str, object])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None


def iter_lines(file: Path, lines: Iterable[str]) -> Iterator[JsonObject]:
    """Yield the objects of JSON lines; blank lines are skipped.

    Raises:
        DataError: a line is not an object.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield decode_json(line, dict[str, object])
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            place = f"line {number}"
            raise _half_character(file, line, [place]) or DataError(
                "not readable: {}",
                error,
                file=file,
                item=place,
                hint="Correct the line, or remove it",
            ) from None


def seem_lines(text: str) -> bool:
    """Whether a text begins with a line that is an object by itself."""
    first, _, rest = text.strip().partition("\n")
    try:
        decode_json(first, dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return bool(rest)


def _list_within(file: Path, content: dict[str, object]) -> object:
    """The one list of objects that a JSON object contains."""
    lists = {
        key: value
        for key, value in content.items()
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    }
    if len(lists) > 1:
        raise DataError(
            "several lists of objects: {}",
            join_names(lists),
            file=file,
            hint="Save the list to import as a separate file",
        )
    if not lists:
        raise _no_list(file, f"an object with {join_names(content) or 'nothing'}")
    return next(iter(lists.values()))


def _no_list(file: Path, found: str) -> DataError:
    return DataError(
        "expected a list of objects; found {}", found, file=file, hint="Write [{…}, {…}]"
    )


def _half_character(file: Path, text: str, places: Sequence[str] = ()) -> DataError | None:
    """The error for JSON with a lone surrogate, or None."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for number, record in enumerate(content if isinstance(content, list) else [content], start=1):
        for key, value in _texts(record):
            if half := _SURROGATE.search(key + value):
                name = record.get("ID", record.get("id", "")) if isinstance(record, dict) else ""
                place = places[number - 1] if places else f"object {number}"
                return DataError(
                    "{!r} contains half of a character (the lone surrogate {})",
                    key,
                    ascii(half[0])[1:-1],
                    file=file,
                    item=place + (f" ({name})" if name else ""),
                    hint="Replace it by \\ufffd",
                )
    return None


def _texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text inside a JSON value, each with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
