"""Which field of a release's records is used for what, and which become metadata."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.mcs_bench.reader.words import load_names, plain_key, script_in
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import FIELD_OPTION, Field, JsonObject, NoFieldError, map_fields
from keju.texts import _, either

FIELDS = {role: Field(each, required=False) for role, each in load_names().roles.items()}
"""Roles of fields, and the names that a field with that role may have."""

LONGEST = 200
"""Characters of a value of metadata; a field with a longer one is a text and is ignored."""

_OPTION = re.compile(r"(?:option|choice|opt|选项|选择|答案选项)?([a-z])")
_NUMBERED_OPTION = re.compile(r"(?:option|choice|opt|选项)([1-9])")
_IMAGE = re.compile(r"(?:image|img|picture|pic|图片|图像)(?:path|name|file|url)?([1-9]\d?)")
_LIFTED = frozenset({"metadata", "meta", "metainfo", "info", "extra", "extrainfo", "attributes",
                     "元数据", "元信息", "附加信息"})  # fmt: skip


class FieldMap(NamedTuple):
    """The fields of a table.

    Attributes:
        roles: the field for each role that there is one for.
        options: the fields with an option each, in the order of their letters.
        images: the fields with a further image each, in the order of their numbers.
        metadata: the fields that become metadata, with the key that they get.
    """

    roles: Mapping[str, str]
    options: tuple[str, ...]
    images: tuple[str, ...]
    metadata: Mapping[str, str]

    def role(self, record: JsonObject, role: str) -> object:
        """The value of the field with that role; None if there is none."""
        field = self.roles.get(role)
        return None if field is None else record.get(field)


def lift_metadata(record: JsonObject) -> JsonObject:
    """A record with the fields of its metadata object as its own, without missing values.

    An object of two scripts, ``{"question": {"simplified": …, "traditional": …}}``, becomes
    ``question_simplified`` and ``question_traditional``.
    """
    found: JsonObject = {}
    for key, value in record.items():
        if isinstance(value, dict) and plain_key(key) in _LIFTED:
            for inner, said in value.items():
                found.setdefault(str(inner), said)
        elif isinstance(value, dict) and value and all(script_in(str(each)) for each in value):
            for inner, said in value.items():
                found[f"{key}_{script_in(str(inner))}"] = said
        elif not (isinstance(value, float) and math.isnan(value)):
            found[key] = value
    return found


def field_map(file: Path, records: Sequence[JsonObject], given: Mapping[str, str]) -> FieldMap:
    """Find the fields of records by their names, and write their use into the import's log.

    Raises:
        UsageError: an option maps a role that this format does not have.
        DataError: an option names a field that no record has, or no field has the question.
    """
    keys = list(dict.fromkeys(key for record in records for key in record))
    roles = map_fields(file, records, FIELDS, given)
    _prefer_given(roles, given)
    if "question" not in roles:
        raise no_field("question", keys, file)
    if "answer" not in roles and _in_swift_form(roles, keys):
        roles["answer"] = next(key for key in keys if plain_key(key) == "response")
    taken = set(roles.values())
    lettered = _in_order(_OPTION, keys, taken) or _in_order(_NUMBERED_OPTION, keys, taken)
    if len(lettered) < 2 or not _run_of(lettered):
        lettered = {}
    images = _in_order(_IMAGE, keys, taken)
    if "image" not in roles and images:
        roles["image"] = images.pop(min(images))
    taken |= set(lettered.values()) | set(images.values()) | set(roles.values())
    metadata = dict(_metadata(keys, taken, roles, records))
    found = FieldMap(roles, tuple(lettered.values()), tuple(images.values()), metadata)
    _log(found, keys)
    return found


def no_field(role: str, keys: Iterable[str], file: Path) -> NoFieldError:
    """The error of a field that is needed and that no name was recognised for."""
    names = FIELDS[role].names
    more = ", …" if len(names) > 4 else ""
    columns = ", ".join(list(keys)[:30])[:500] or _("none")
    return NoFieldError(
        "no field for the {} (expected {}{}); found the fields {}",
        role,
        either(names[:4]),
        more,
        columns,
        file=file,
        hint=_("Give its name: --option {}{}=NAME", FIELD_OPTION, role),
    )


def _prefer_given(roles: dict[str, str], given: Mapping[str, str]) -> None:
    """Give a field that an option names one role only."""
    both = {"question", "answer", "group"}
    for role, name in list(roles.items()):
        if name in given.values() and role not in given and not (both & {role, *_of(given, name)}):
            del roles[role]


def _of(given: Mapping[str, str], name: str) -> Iterator[str]:
    return (role for role, each in given.items() if each == name)


def _in_swift_form(roles: Mapping[str, str], keys: Iterable[str]) -> bool:
    """Whether ``query`` and ``response`` are question and answer, as in ms-swift's training data.

    In the authors' files a ``Response`` is a model's.
    """
    return plain_key(roles["question"]) == "query" and "response" in set(map(plain_key, keys))


def _in_order(pattern: re.Pattern[str], keys: Iterable[str], taken: set[str]) -> dict[str, str]:
    """The fields that match a pattern, by what its group finds, in order."""
    found: dict[str, str] = {}
    for key in keys:
        match = pattern.fullmatch(plain_key(key))
        if match and key not in taken:
            found.setdefault(match[1].zfill(2), key)
    return dict(sorted(found.items()))


def _run_of(lettered: Mapping[str, str]) -> bool:
    """Whether options are lettered A, B, C … or numbered 1, 2, 3 … without a gap."""
    places = [ord(each[-1]) for each in lettered]
    return places == list(range(places[0], places[0] + len(places))) and (
        next(iter(lettered)) in {"0a", "01"}
    )


def _metadata(
    keys: Iterable[str], taken: set[str], roles: Mapping[str, str], records: Sequence[JsonObject]
) -> Iterator[tuple[str, str]]:
    known = load_names()
    used: set[str] = set()
    for key in keys:
        canonical = known.metadata.get(plain_key(key))
        if key in taken and not (key == roles.get("group") and canonical):
            continue
        if plain_key(key) in known.ignored or _is_index(key) or not _short(key, records):
            continue
        name = canonical if canonical and canonical not in used else key
        if name in used:
            name = next(each for n in count(2) if (each := f"{key}_{n}") not in used)
        used.add(name)
        yield key, name


def _is_index(key: str) -> bool:
    """Whether a column has no name, as the index of a table that pandas writes."""
    return not key.strip() or re.fullmatch(r"Unnamed: \d+(_level_\d+)?", key) is not None


def _short(key: str, records: Sequence[JsonObject]) -> bool:
    """Whether a field has only short texts and numbers, and at least one."""
    values = [value for record in records if (value := record.get(key)) not in (None, "")]
    return bool(values) and all(
        isinstance(value, str | int | float) and len(str(value)) <= LONGEST for value in values
    )


def _log(found: FieldMap, keys: Iterable[str]) -> None:
    log = import_log()
    used: set[str] = set()
    for role, field in found.roles.items():
        if field not in used:
            log.used(role.replace("_", " "), field)
            used.add(field)
    for field in found.options:
        log.used("options", field)
    for field in found.images:
        log.used("image", field)
    for key in keys:
        if key in found.metadata:
            log.kept(key)
        elif key not in used | {*found.options, *found.images}:
            log.ignored(key)
