"""`records_of`: the records of a source as its mapping describes them, each with its cells."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from keju.datasets.readers.base import files_under, image_files, join_names, source_text
from keju.datasets.readers.mapping import Lookup, Mapping, Table, as_tuple
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import SUFFIXES, rows
from keju.errors import DataError, UsageError, shortened
from keju.files import decode_json
from keju.images import EXTENSIONS
from keju.texts import _, n_

OCCURRENCE = "occurrence"

PLACE_COLUMNS = frozenset(
    {"file", "folder", "name", "stem", "source_name", "text", "task", "number", OCCURRENCE}
)
"""Columns that keju adds: parts of a path, the name of the source's folder, the text of a record's
file, the id of the task, the number of the record among those of the task, and in an id its number
among the ids that are the same without it."""

CONVERSATION = ("messages.user", "messages.assistant", "messages.images")
"""The columns that a conversation becomes."""

SECONDS = 20.0
"""Time limit for all names that one regular expression is matched with at once."""

_DEEPEST = 5
_BATCH = 20_000
"""Records that are matched with a regular expression at once."""

_BLANK = re.compile(r"\{([^{}:]+)(?::0?([0-9]{1,2}))?\}")

# Python cannot interrupt a match, but a separate process can be ended.
_PROGRAM = """
import json, re, sys
pattern, names = json.load(sys.stdin)
try:
    expression = re.compile(pattern)
except (re.error, OverflowError, RecursionError) as error:
    json.dump({"error": str(error)}, sys.stdout)
else:
    matches = (expression.fullmatch(name) for name in names)
    found = [match and match.groupdict(default="") for match in matches]
    json.dump({"groups": list(expression.groupindex), "found": found}, sys.stdout)
"""


class Record(NamedTuple):
    """One record.

    Attributes:
        place: its place, for errors.
        cells: its cells by column.
        table: the table of the mapping that it is from.
        derived: those of its columns that are not the source's own, but parts of its path.
    """

    place: Place
    cells: JsonObject
    table: Table
    derived: frozenset[str]


_PARTS = frozenset({"file", "folder", "name", "stem", "source_name"})
_IMAGES = Table(path="")
"""The table of records that are images."""


def records_of(src: Path, mapping: Mapping) -> Iterator[Record]:
    """Yield the records of the tables of a mapping; of one without tables, each image.

    Raises:
        DataError: a table is missing or not readable, a table of the source is neither mapped nor
            ignored, there are no images, or a record has not the form that the mapping says.
        UsageError: a regular expression cannot be used.
    """
    found: Iterator[Record] = _table_records(src, mapping) if mapping.tables else _images(src)
    if mapping.messages:
        found = (each._replace(cells=_with_conversation(each, mapping.messages)) for each in found)
    for column, pattern in mapping.split.items():
        found = _with_groups(found, _cell_of(column), pattern, f"split.{column}")
    for lookup in mapping.lookup:
        found = _looked_up(src, found, lookup)
    if mapping.columns:
        found = _with_columns(found, mapping)
    wanted = mapping.only.items()
    if not wanted:
        return found
    return (each for each in found if all(each.cells.get(name) == text for name, text in wanted))


def _with_columns(found: Iterable[Record], mapping: Mapping) -> Iterator[Record]:
    """The records with the columns that the mapping makes of others."""
    for record in found:
        cells = dict(record.cells)
        for name, column in mapping.columns.items():
            text = column_text(column, cells, record.place)
            cells[name] = mapping.values.get(name, {}).get(text.strip(), text)
        yield record._replace(cells=cells)


def _cell_of(column: str) -> Callable[[Record], str]:
    return lambda record: str(record.cells.get(column, ""))


def _table_records(src: Path, mapping: Mapping) -> Iterator[Record]:
    root = src if src.is_dir() else src.parent
    source_name = {"source_name": root.resolve().name}
    for table, files in _files(src, mapping):
        paths = [file.relative_to(root).as_posix() for file in files]
        groups = _groups(table.names, paths, "names of [[tables]]") if table.names else None
        for number, (file, path) in enumerate(zip(files, paths, strict=True)):
            parts: JsonObject = place_columns(PurePosixPath(path)) | source_name
            if groups is not None:
                named = groups[number]
                if named is None:
                    continue
                parts |= named
            for place, cells in rows(file, as_tuple(table.key), table.shape):
                own = flat(cells)
                derived = _PARTS - own.keys()
                if not table.each:
                    yield Record(place, parts | own, table, derived)
                    continue
                for inner_place, inner in _each(place, parts | own, table.each):
                    yield Record(inner_place, inner, table, derived)


def _files(src: Path, mapping: Mapping) -> list[tuple[Table, list[Path]]]:
    """The tables of a mapping with their files; every other table must be ignored."""
    root = src if src.is_dir() else src.parent
    every = [src] if src.is_file() else list(files_under(src, {s.lstrip(".") for s in SUFFIXES}))
    paths = {file.relative_to(root).as_posix(): file for file in every}
    found: list[tuple[Table, list[Path]]] = []
    for table in mapping.tables:
        fitting = [file for path, file in paths.items() if fnmatchcase(path, table.path)]
        if not fitting and src.is_file() and len(mapping.tables) == 1:
            fitting = [src]  # A renamed file, of a mapping for one file.
        if not fitting:
            raise DataError(
                "no table is called {}; found {}",
                table.path,
                join_names(map(shortened, paths)) or _("no tables"),
                file=src,
                hint="Correct path in [[tables]]",
            )
        found.append((table, fitting))
    used = {file for __, files in found for file in files}
    used |= {file for each in mapping.lookup for file in _lookup_files(root, each)}
    ignored = ignoring(mapping)
    left = [path for path, file in paths.items() if file not in used and not ignored(path)]
    if left and src.is_dir():
        raise DataError(
            n_(
                "{n:,} table of the source is neither mapped nor ignored: {}",
                "{n:,} tables of the source are neither mapped nor ignored: {}",
                len(left),
                join_names(map(shortened, left)),
            ),
            file=src,
            hint=_('Add [[tables]] path = "{0}", or ignored = ["{0}"]', shortened(left[0])),
        )
    return found


def ignoring(mapping: Mapping) -> Callable[[str], bool]:
    """A function that checks whether a mapping ignores a column or a table."""

    @cache
    def is_ignored(name: str) -> bool:
        return any(name == each or fnmatchcase(name, each) for each in mapping.ignored)

    return is_ignored


def _images(src: Path) -> Iterator[Record]:
    root = src if src.is_dir() else src.parent
    files = list(image_files(src)) if src.is_dir() else [src]
    if not files:
        raise DataError(
            "no images, and the mapping names no tables", file=src, hint="Add [[tables]]"
        )
    source_name = root.resolve().name
    for file in files:
        path = PurePosixPath(file.relative_to(root).as_posix())
        cells = place_columns(path) | {"source_name": source_name}
        yield Record(Place(file, path.as_posix()), cells, _IMAGES, _PARTS)


def place_columns(path: PurePosixPath) -> JsonObject:
    """The columns derived from a path: file, folder, name and stem."""
    folder = path.parent.as_posix()
    name = {"file": path.as_posix(), "name": path.name, "stem": path.stem}
    return {**name, "folder": "" if folder == "." else folder}


def flat(cells: JsonObject) -> JsonObject:
    """The cells of a record without empty ones; a field of an object in it is ``OUTER.INNER``.

    Images in Hugging Face's form, an object with bytes and path, stay whole; the path is a column
    too.
    """
    found: JsonObject = {}
    _flatten(cells, "", 0, found)
    return found


def _flatten(cells: JsonObject, prefix: str, depth: int, found: JsonObject) -> None:
    for key, value in cells.items():
        if isinstance(value, dict) and value and depth < _DEEPEST and not _is_image(value):
            _flatten(value, f"{prefix}{key}.", depth + 1, found)
        elif not (value is None or (isinstance(value, float) and math.isnan(value))):
            found[f"{prefix}{key}"] = value
            if isinstance(value, dict) and value and isinstance(value.get("path"), str):
                found[f"{prefix}{key}.path"] = value["path"]


def _is_image(value: JsonObject) -> bool:
    return {"bytes", "path"} >= set(value) and isinstance(value.get("bytes"), bytes)


def _each(place: Place, cells: JsonObject, column: str) -> Iterator[tuple[Place, JsonObject]]:
    inner = cells.get(column)
    if not (isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner)):
        raise place.error(
            _("{!r} does not contain a list of objects", column, hint="Correct each in [[tables]]")
        )
    others = {key: value for key, value in cells.items() if key != column}
    for number, record in enumerate(inner, start=1):
        within = flat({column: record})
        yield Place(place.file, f"{place.item}, {column} {number}"), {**others, **within}


def with_path_groups(
    found: Iterable[Record], path_of: Callable[[Record], str], pattern: str
) -> Iterator[Record]:
    """The records with the named groups of their images' paths; without a match they are skipped.

    Raises:
        UsageError: the expression cannot be used or matches no path, or a group has the name of a
            column.
    """
    return _with_groups(found, path_of, pattern, "names")


def _with_groups(
    found: Iterable[Record], text_of: Callable[[Record], str], pattern: str, key: str
) -> Iterator[Record]:
    records = iter(found)
    first, count, is_matched = "", 0, False
    while batch := list(islice(records, _BATCH)):
        texts = [text_of(record) for record in batch]
        matches = _groups(pattern, texts, key)
        first, count = first or texts[0], count + len(batch)
        is_matched = is_matched or any(groups is not None for groups in matches)
        for record, groups in zip(batch, matches, strict=True):
            if groups is None and key == "names":
                continue
            if again := [name for name in groups or () if name in record.cells]:
                raise UsageError(
                    "the group {!r} of {} is also a column. Rename the group", again[0], key
                )
            yield record._replace(cells={**record.cells, **(groups or {})})
    if count and not is_matched:
        what = _("paths") if key == "names" else _("texts")
        raise UsageError("{} matches none of {:,} {}, e.g. {!r}", key, count, what, first)


def _groups(pattern: str, texts: Sequence[str], key: str) -> list[dict[str, str] | None]:
    """The groups of each text; an error names the key of the mapping."""
    try:
        return named_groups(pattern, texts)[1]
    except UsageError as error:
        raise UsageError("{}: {}", key, error) from None


def named_groups(
    pattern: str, names: Sequence[str], *, seconds: float = SECONDS
) -> tuple[tuple[str, ...], list[dict[str, str] | None]]:
    """The names of the groups and, for each name, its groups, or None where it does not match.

    The expression must match the whole name.

    Raises:
        UsageError: it is not a regular expression, has no named group, or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with a program of our own
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps([pattern, list(names)]).encode(),
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(
            "the regular expression takes more than {:g} s. Write [^/]+ instead of .*, and no "
            "repetition inside a repetition, such as (a+)+",
            seconds,
        ) from None
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UsageError("the regular expression cannot be used: {}", last) from None
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise UsageError("not a regular expression: {}", answer["error"])
    if not answer["groups"]:
        raise UsageError("the regular expression has no named group, such as (?P<book>[^/]+)")
    return tuple(answer["groups"]), answer["found"]


def _looked_up(src: Path, found: Iterable[Record], lookup: Lookup) -> Iterator[Record]:
    """The records with the columns of a second table."""
    root = src if src.is_dir() else src.parent
    lines: dict[str, JsonObject] = {}
    groups = named_groups(lookup.names, [])[0] if lookup.names else ()
    nothing: JsonObject = dict.fromkeys(groups, "")
    for place, cells in _lookup_rows(root, lookup):
        whole = flat(cells)
        if lookup.key not in whole:
            problem = _("no column {!r}", lookup.key)
            raise place.error(problem, _("Columns: {}", ", ".join(list(whole)[:30])))
        key = cell_text(whole.pop(lookup.key), lookup.key, place).strip()
        if key in lines and lines[key] != whole:
            problem = _("two different lines have the {} {!r}", lookup.key, shortened(key))
            raise place.error(problem, _("Keep one of them"))
        lines[key] = whole
    is_found = False
    for record in found:
        if "{" in lookup.by:
            key = filled(lookup.by, record.cells, record.place, needed=False)
        else:
            key = cell_text(record.cells.get(lookup.by), lookup.by, record.place)
        line = lines.get(key.strip())
        is_found = is_found or bool(line)
        yield record._replace(cells={**(nothing if line is None else line), **record.cells})
    if lines and not is_found:
        raise DataError(
            "no record has its {!r} in {!r}",
            lookup.key,
            lookup.by,
            file=root / lookup.path,
            hint="Correct key and by in [[lookup]]",
        )


def _lookup_files(root: Path, lookup: Lookup) -> list[Path]:
    """The files of a second table: the one of its path, or all that fit its pattern."""
    if not {"*", "?", "["} & set(lookup.path):
        return [root / lookup.path]
    suffix = PurePosixPath(lookup.path).suffix.lstrip(".")
    every = files_under(root, {suffix})
    return [e for e in every if fnmatchcase(e.relative_to(root).as_posix(), lookup.path)]


def _lookup_rows(root: Path, lookup: Lookup) -> Iterator[tuple[Place, JsonObject]]:
    for file in _lookup_files(root, lookup):
        groups: JsonObject = {}
        if lookup.names:
            matched = named_groups(lookup.names, [file.relative_to(root).as_posix()])[1][0]
            if matched is None:
                continue
            groups = dict(matched)
        if file.suffix.casefold() != ".txt":
            for place, cells in rows(file, as_tuple(lookup.key_of), lookup.shape):
                yield place, cells | groups
            continue
        for number, line in enumerate(source_text(file).split("\n"), start=1):
            if line.strip():
                listed = PurePosixPath(line.strip().replace("\\", "/"))
                cells = place_columns(listed)
                if listed.suffix.casefold().lstrip(".") not in {*EXTENSIONS, "txt"}:
                    cells["stem"] = listed.name
                named = {lookup.key: cells[lookup.key]} if lookup.key in cells else {}
                yield Place(file, f"line {number}"), named | groups


def first_filled(templates: Sequence[str], cells: JsonObject, place: Place) -> str:
    """The first template whose blanks all have values, filled.

    Raises:
        DataError: as `filled` of the last one, if none has.
    """
    fitting = (each for each in templates if has_blanks(each, cells))
    return filled(next(fitting, templates[-1]), cells, place)


def has_blanks(template: str, cells: JsonObject) -> bool:
    """Whether a record has a value for every blank of a template."""
    return all(str(cells.get(blank, "")).strip() for blank in blanks_of(template))


def column_text(column: str, cells: JsonObject, place: Place) -> str:
    """The text of a column, or of a template, whose blanks may be empty.

    Raises:
        DataError: a cell is not a text or number.
    """
    if blanks_of(column):
        return filled(column, cells, place, needed=False)
    return cell_text(cells.get(column), column, place)


def filled(template: str, cells: JsonObject, place: Place, *, needed: bool = True) -> str:
    """A template with its blanks ``{COLUMN}`` filled from a record; ``{COLUMN:04}`` adds zeros.

    Raises:
        DataError: the record has no value for a blank, and it is `needed`, or the value is not a
            text or number.
    """

    def value(blank: re.Match[str]) -> str:
        text = cell_text(cells.get(blank[1]), blank[1], place).strip()
        if not text and needed and blank[1] != "folder":
            raise place.error(
                _(
                    "no value in the column {!r} for {!r}",
                    blank[1],
                    template,
                    hint=_("Columns: {}", ", ".join(list(cells)[:30])),
                )
            )
        return text.zfill(int(blank[2])) if blank[2] else text

    text = _BLANK.sub(value, template)
    if not needed and text == _BLANK.sub("", template):
        return ""  # No blank has a value, so the text around them says nothing.
    return text.removeprefix("/") if template.startswith("{folder}/") else text


def blanks_of(template: str) -> list[str]:
    """The columns that a template names; none of a column's name."""
    return [blank[1] for blank in _BLANK.finditer(template)]


def cell_text(value: object, column: str, place: Place) -> str:
    """A cell as text: of a list of texts its lines, of a whole number its digits.

    Raises:
        DataError: it is an object, bytes, or a list of anything but texts.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    raise not_text(value, column, place)


def not_text(value: object, column: str, place: Place) -> DataError:
    """The error of a cell that is not a text."""
    return place.error(
        _(
            "expected text in {!r}; found {}",
            column,
            type(value).__name__,
            hint="Write it as a text, or name a column inside it: OUTER.INNER",
        )
    )


# ---- conversations: OpenAI's messages, LLaVA's conversations, ShareGPT, Qwen-VL's <img>

_SPEAKERS = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
    "model": "assistant", "bot": "assistant", "system": "system",
}  # fmt: skip
_IN_TEXT = re.compile(r"(?:Picture \d{1,3}: ?)?<img>([^<]{1,1000})</img>\n?")
_MARK = re.compile(r"<\|?image(?:_\d{1,3}|_pad)?\|?>\n?|<ImageHere>\n?")
_IMAGE_KEYS = ("image_url", "image", "input_image", "url", "path", "source", "file", "data")


def _with_conversation(record: Record, column: str) -> JsonObject:
    """The cells with the columns of `CONVERSATION` in place of the one with the conversation."""
    place = record.place
    said: dict[str, list[str]] = {"user": [], "assistant": [], "system": []}
    images: list[object] = []
    for message in _messages(record.cells.get(column), place):
        text, shown = _content(message.get("content", message.get("value")), place)
        images += shown
        speaker = _SPEAKERS.get(str(message.get("role", message.get("from", ""))).casefold())
        if speaker is None:
            raise place.error(_("a message without its role", hint="Write user or assistant"))
        said[speaker].append(text)
    if len(said["user"]) != 1 or len(said["assistant"]) > 1:
        raise place.error(
            _(
                "{} and {} in a conversation",
                n_("{n:,} question", "{n:,} questions", len(said["user"])),
                n_("{n:,} answer", "{n:,} answers", len(said["assistant"])),
                hint="Write one question and its answer",
            )
        )
    values = (said["user"][0], "".join(said["assistant"]), images)
    cells = {name: value for name, value in record.cells.items() if name != column}
    return cells | {name: value for name, value in zip(CONVERSATION, values, strict=True) if value}


def _messages(value: object, place: Place) -> list[JsonObject]:
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            value = None
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return value
    raise place.error(_("the conversation is not a list of messages", hint="Write [{…}, {…}]"))


def _content(content: object, place: Place) -> tuple[str, list[object]]:
    """The text of a message, and its images as names, data URLs or objects."""
    images: list[object] = []
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text, image = part.get("text"), _image_of(part)
            if isinstance(text, str):
                texts.append(text)
            elif image is not None:
                images.append(image)
        elif part is not None:
            raise place.error(_("a message that is not text", hint="Write a text or parts"))
    text = "\n".join(texts)
    images += _IN_TEXT.findall(text)
    return _MARK.sub("", _IN_TEXT.sub("", text)).strip(), images


def _image_of(part: JsonObject) -> object:
    for key in _IMAGE_KEYS:
        value = part.get(key)
        if isinstance(value, dict):
            value = _image_of(value)
        if value:
            return value
    return None
