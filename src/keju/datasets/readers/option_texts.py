"""Options of formats: conversion of their texts to settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import FieldInfo

from keju.datasets.readers.encodings import OPTION
from keju.errors import ProblemsError, UsageError, did_you_mean, error_text, nearest_names
from keju.local_paths import check_local
from keju.settings import (
    FAMILY,
    Settings,
    describe_error,
    get_bounds,
    list_allowed_values,
    name_option,
    unwrap_type,
)
from keju.texts import _

S = TypeVar("S", bound=Settings)

_YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_LONGEST = 9
"""Maximum number of characters of a whole number."""


def parse_options(given: Mapping[str, str], shape: type[S], form: str, *, texts: bool = False) -> S:
    """Convert options, whose values are texts, to settings.

    A path or number with an empty text has its default. A member of the family ``field.NAME`` is an
    option with a name in place of NAME.

    Args:
        given: the texts, by the names of options.
        shape: the type of the settings.
        form: the format, for errors.
        texts: whether the format has the option ``encoding`` beside its settings.

    Raises:
        UsageError: an option is unknown, missing or has a wrong value.
        ProblemsError: there are several errors.
    """
    fields = {name_option(each): each for each in msgspec.structs.fields(shape)}
    faults: list[UsageError] = []
    found: dict[str, Any] = {}
    shared = {OPTION} - fields.keys() if texts else set()
    for option, text in given.items():
        if option in shared:
            continue
        family, __, member = option.partition(".")
        try:
            if option in fields and not option.endswith(FAMILY):
                if text or unwrap_type(fields[option].type) not in {int, float, Path}:
                    found[fields[option].name] = _convert_text(option, text, fields[option])
            elif member and family + FAMILY in fields:
                found.setdefault(fields[family + FAMILY].name, {})[member] = text
            else:
                raise _report_unknown(option, [*fields, *shared], form)
        except UsageError as error:
            faults.append(error)
    faults += [
        UsageError("format {0} needs the option {1}. Give it: --option {1}=…", form, option)
        for option, field in fields.items()
        if field.required and not given.get(option) and field.name not in found
    ]
    if faults:
        raise faults[0] if len(faults) == 1 else ProblemsError(map(error_text, faults))
    try:
        return shape(**found)
    except ValueError as error:  # raised by the settings themselves
        raise ProblemsError([_("{}: {}", form, error_text(error))]) from None


def _report_unknown(option: str, known: Iterable[str], form: str) -> UsageError:
    names = list(known)
    return UsageError(
        "format {} has no option {!r}.{} Options: {}",
        form,
        option,
        did_you_mean(nearest_names(option, names)),
        ", ".join(names) or _("none"),
    )


def _convert_text(option: str, text: str, field: FieldInfo) -> object:
    """The value that a text means for a setting."""
    kind = unwrap_type(field.type)
    if kind is str:
        return text
    if kind is bool:
        if text.casefold() in _YES_OR_NO:
            return _YES_OR_NO[text.casefold()]
        raise UsageError("option {}={}: use yes or no", option, text)
    if kind is Path:
        check_local(text, option)
        return Path(text)
    if kind in {int, float}:
        return _convert_number(option, text, field)
    if allowed := list(map(str, list_allowed_values(kind))):
        if text in allowed:
            return text
        names = ", ".join(filter(None, allowed))
        raise UsageError("option {}={}: use one of {}", option, text, names)
    try:
        return msgspec.convert(text, field.type, strict=False)
    except msgspec.ValidationError as error:
        reason = describe_error(str(error), field.type).text
        raise UsageError("option {}={}: {}", option, text, reason) from None


def _convert_number(option: str, text: str, field: FieldInfo) -> float:
    whole = unwrap_type(field.type) is int
    low, high = get_bounds(field.type)
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = float("nan")
    digits = text.removeprefix("-").isdigit() and len(text) <= _LONGEST
    plain = text.isascii() and (digits or not whole)
    # A value that is not a number is outside of any limits.
    inside = (float("-inf") if low is None else low) <= value
    if plain and inside and value <= (float("inf") if high is None else high):
        return value
    raise UsageError(
        "option {}={}: use {}{}",
        option,
        text,
        _("a whole number") if whole else _("a number"),
        _describe_limits(low, high),
    )


def _describe_limits(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return _(", {} to {}", low, high)
    if low is not None:
        return _(", {} or more", low)
    return "" if high is None else _(", {} or less", high)
