"""Declaration of function parameters as the fields of a record, with their checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_type_hints

import msgspec

from keju.errors import did_you_mean, nearest_names
from keju.texts import _

_P = ParamSpec("_P")
_C = TypeVar("_C")
_T = TypeVar("_T")


def called_as(make: Callable[_P, _C]) -> Callable[[Callable[[_C], _T]], Callable[_P, _T]]:
    """Replace a function's parameters by the fields of a record, which it receives."""
    signature = inspect.signature(make)

    def decorate(function: Callable[[_C], _T]) -> Callable[_P, _T]:
        @wraps(function)
        def called(*args: _P.args, **options: _P.kwargs) -> _T:
            if unknown := next((name for name in options if name not in signature.parameters), ""):
                near = did_you_mean(nearest_names(unknown, signature.parameters))
                raise TypeError(_("{}() has no option {!r}.{}", function.__name__, unknown, near))
            return function(make(*args, **options))

        returned = inspect.signature(function).return_annotation
        # For help() and notebooks.
        vars(called)["__signature__"] = signature.replace(return_annotation=returned)
        return called

    return decorate


def checked_options(
    record: msgspec.Struct,
    declared: type[msgspec.Struct],
    special: Mapping[str, Callable[[str, Any], object]] | None = None,
) -> dict[str, Any]:
    """The values of the fields that `declared` has, each with the type that it has there.

    Args:
        record: the values.
        declared: the fields and their types.
        special: checks of the fields whose types JSON does not have, by name.

    Raises:
        TypeError: a value has another type.
        ValueError: a value is not one of those that the field has.
    """
    values = {}
    for name, hint in get_type_hints(declared).items():
        value = getattr(record, name)
        if special and name in special:
            values[name] = special[name](name, value)
            continue
        try:
            values[name] = msgspec.convert(value, hint)
        except msgspec.ValidationError as error:
            kind = ValueError if str(error).startswith("Invalid") else TypeError
            raise kind(f"{name} is {value!r}. {error}") from None
    return values
