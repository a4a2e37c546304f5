"""`Settings`: typed settings of commands, build steps, sources and readers.

A declaration is a class with one annotated field per setting. Its options, their help, defaults and
validation are derived from it. `convert_settings` converts a table of a recipe and reports
all errors at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo

from keju.errors import (
    KejuError,
    ProblemsError,
    error_text,
    shortened,
    unknown_name,
)
from keju.local_paths import check_local
from keju.texts import Text, _, either


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a step, source or reader; each field is a key and an option of a command.

    Fields are declared ``Annotated[int, Meta(description="…", ge=1)]`` with a default wherever one
    is sensible; the description is the option's help.
    """


S = TypeVar("S", bound=Struct)

_ENUM = re.compile(r"Invalid enum value '?(?P<name>.*?)'?")
_EXPECTED = re.compile(
    r"Expected `(?P<kinds>[^`]*)`(?P<length> of length)?(?: (?P<limit>[<>]=? \S+))?"
    r"(?:, got `(?P<actual>[^`]*)`)?"
)


@contextmanager
def collect_errors(faults: list[str], place: str = "") -> Iterator[None]:
    """Collect errors raised inside, each with its place, and continue after it."""
    try:
        yield
    except ProblemsError as error:
        faults += [_("{}: {}", place, line) if place else line for line in error.lines]
    except KejuError as error:
        faults.append(_("{}: {}", place, error) if place else error_text(error))


def convert_settings(
    table: Mapping[str, object],
    shape: type[S],
    *,
    place: str,
    base: Path | None = None,
    spelled: bool = False,
    derived: Mapping[str, object] | None = None,
    more_keys: Iterable[str] = (),
) -> S:
    """Convert a table of names and values to settings; keys may be spelled with hyphens.

    Args:
        table: the values.
        shape: the type of the settings.
        place: the prefix of errors, e.g. ``recipe.toml: step 2 (dedup-images)``.
        base: the directory of relative paths.
        spelled: numbers may be given as text, as options of a command are.
        derived: the values of fields that are not keys of the table.
        more_keys: keys that an error suggests in addition to the fields.

    Raises:
        ProblemsError: all errors.
    """
    values = dict(derived or {})
    fields = {
        declared.name: declared
        for declared in msgspec.structs.fields(shape)
        if declared.name not in values
    }
    raw_values = {key.replace("-", "_"): value for key, value in table.items()}
    # Options are written with hyphens.
    labels = {
        name: name.replace("_", "-") if spelled else name for name in {**fields, **raw_values}
    }
    field_names = sorted({*more_keys, *(labels[name] for name in fields)})
    faults = [
        unknown_name(labels[key], field_names, "key") for key in raw_values if key not in fields
    ]
    doubled = [key for key in table if key not in raw_values and key.replace("-", "_") in table]
    faults += (_("{} is there in two spellings", key) for key in doubled)

    def decode(kind: type, value: object) -> object:
        if kind is Path and isinstance(value, str):
            check_local(value)
            return Path(value) if base is None else base / value
        # In msgspec's wording, so that one place rewrites both.
        raise TypeError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")

    for name, field in fields.items():
        if name not in raw_values:
            if field.required:
                text = get_description(field.type)
                faults.append(_("it needs {} = …{}", labels[name], f" ({text})" if text else ""))
            continue
        kind, value = without_none(field.type), raw_values[name]
        try:
            values[name] = msgspec.convert(value, kind, strict=not spelled, dec_hook=decode)
        except msgspec.ValidationError as error:
            # An option's value is shown, since every one is text: "got text" would say nothing.
            option_value = shortened(value) if spelled and isinstance(value, str) else None
            faults.append(_describe_error(labels[name], str(error), field.type, option_value))
        except KejuError as error:
            faults.append(_("{}: {}", labels[name], error_text(error)))
    if not faults:
        try:
            return shape(**values)
        except ValueError as error:  # raised by the settings themselves
            faults.append(error_text(error))
    raise ProblemsError([_("{}: {}", place, fault) if place else fault for fault in faults])


def _describe_error(name: str, text: str, kind: object, option_value: str | None) -> Text:
    """Describe the parser's error about a setting without its notation of places and types.

    `option_value` is the value of an option, which is shown; None for a value of a table.
    """
    what, __, place = text.partition(" - at ")
    where = name + place.rpartition("$")[2].strip("`").replace("[...]", "")
    problem: str = f"{what[0].lower()}{what[1:]}"
    if wrong := _ENUM.fullmatch(what):
        problem = unknown_name(wrong["name"], sorted(map(str, list_allowed_values(kind))), "value")
    elif wrong := _EXPECTED.fullmatch(what):
        expected, limit = _name_types(wrong["kinds"]), (wrong["limit"] or "").split()
        if wrong["actual"]:
            actual = _name_types(wrong["actual"]) if option_value is None else repr(option_value)
            problem = _("expected {}, got {}", expected, actual)
        elif wrong["length"]:
            problem = _("expected {} of length {} {}", expected, *limit)
        elif limit:
            problem = _("expected {} {} {}", expected, *limit)
            if option_value is not None:
                problem = _("{}, got {!r}", problem, option_value)
    return _("{}: {}", where, problem)


def _name_types(kinds: str) -> str:
    """Name the parser's types, such as ``int | null``, as a writer of a recipe knows them."""
    names = {
        "str": _("text"),
        "int": _("a whole number"),
        "float": _("a number"),
        "bool": _("true or false"),
        "array": _("a list"),
        "object": _("a table"),
        "Path": _("a path"),
    }
    return either(names.get(kind, kind) for kind in kinds.split(" | ") if kind != "null")


def list_allowed_values(kind: object) -> list[object]:
    """List the values that a type names literally, at any depth."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for part in get_args(kind) for value in list_allowed_values(part)]


def without_none(kind: Any) -> Any:  # noqa: ANN401 - an annotation
    """An annotated type without None: msgspec takes no limits of a number that may be None."""
    if get_origin(kind) is not Annotated:
        return kind
    inner, *metadata = get_args(kind)
    return Annotated[(unwrap_type(inner), *metadata)]


def get_description(kind: object) -> str:
    """Return the description in a setting's annotation, on one line; empty if it has none."""
    metas = [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, Meta)]
    return " ".join(meta.description for meta in metas if meta.description)


FAMILY = ".NAME"
"""The end of the option of a setting that is a table of texts: ``field.NAME``."""


def list_options(shape: type[Struct]) -> dict[str, str]:
    """The options of a class of settings, in its order, each with its help.

    ``skip_missing`` is the option ``skip-missing``; a table ``field`` is the family ``field.NAME``.
    """
    return {name_option(each): get_description(each.type) for each in msgspec.structs.fields(shape)}


def name_option(field: FieldInfo) -> str:
    """The name of a setting as an option."""
    if field.encode_name != field.name:
        return field.encode_name
    family = FAMILY if is_table(field) else ""
    return f"{field.name.replace('_', '-')}{family}"


def is_table(field: FieldInfo) -> bool:
    """Whether a setting is a table of names and texts."""
    return get_origin(unwrap_type(field.type)) is dict


def unwrap_type(kind: object) -> object:
    """A type without annotation and without None: ``int`` of ``Annotated[int | None, …]``."""
    if get_origin(kind) is Annotated:
        return unwrap_type(get_args(kind)[0])
    parts = [part for part in get_args(kind) if part is not NoneType]
    alone = len(parts) == 1 and get_origin(kind) in {Union, UnionType}
    return unwrap_type(parts[0]) if alone else kind
