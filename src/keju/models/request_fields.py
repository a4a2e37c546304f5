"""Fields of a request's body other than decoding parameters, and declared facts of a server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from keju.errors import UsageError
from keju.models.base import Decoding, ModelOptions
from keju.texts import _

_RESERVED = frozenset({"model", "messages", "stream", "stream_options", "n"})
"""Fields that keju sets itself: model, prompt and format of the reply."""

_SECRET = re.compile(r"api[-_]?key|authorization|password|secret", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9][a-z0-9_.+-]{0,39}")
_DTYPES = {
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "f16": "fp16", "float32": "fp32",
    "f32": "fp32", "float": "fp32", "float8": "fp8",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


def parse_extra_body(given: Iterable[str]) -> dict[str, Any]:
    """Parse extra fields of the body, each spelled ``NAME=JSON``.

    Raises:
        UsageError: a field does not have that form, is given twice, is set by keju or names a
            secret.
    """
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise UsageError(
                "--extra-body {}: the form is NAME=JSON, such as "
                "'chat_template_kwargs={{\"enable_thinking\": false}}'",
                name,
            )
        if name in found:
            raise UsageError("--extra-body: {} is given twice", name)
        try:
            found[name] = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            raise UsageError(
                "--extra-body {0}: the value is not JSON. Write text in quotes: {0}='\"…\"'", name
            ) from None
    return checked_extra_body(found)


def checked_extra_body(given: Mapping[str, Any]) -> dict[str, Any]:
    """Extra fields of the body as JSON values, checked.

    Raises:
        UsageError: a field is set by keju, names a secret, or its value is not JSON.
    """
    found = {}
    for name, value in given.items():
        if name in _RESERVED:
            raise UsageError("--extra-body: keju sets {} itself, so it cannot be given here", name)
        if _SECRET.search(name):
            raise UsageError(
                "--extra-body: {} looks like a secret, which a run would store. Give keys in "
                "environment variables",
                name,
            )
        try:
            found[name] = msgspec.json.decode(msgspec.json.encode(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError("--extra-body {}: the value is not JSON: {}", name, error) from None
        for inner in _fields(found[name]):
            if _SECRET.search(inner):
                raise UsageError(
                    "--extra-body {}: {} looks like a secret, and runs are stored", name, inner
                )
    return found


def read_system_prompt(given: str) -> str:
    """A system prompt as the user gives it: the text, or ``@FILE`` with the text in UTF-8.

    Raises:
        UsageError: the file cannot be read, or there is no text in it.
    """
    if not given.startswith("@"):
        return given
    path = Path(given[1:])
    try:
        text = path.read_text("utf-8-sig").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = _("not UTF-8") if isinstance(error, UnicodeDecodeError) else error.strerror
        raise UsageError("--system-prompt {}: the file cannot be read: {}", given, why) from None
    if not text.strip():
        raise UsageError("--system-prompt {}: the file has no text", given)
    return text


def declared_dtype(given: str) -> str:
    """The number format of a served model's weights, under one name each.

    Raises:
        UsageError: it is not a short word.
    """
    word = given.strip().lower()
    if not _WORD.fullmatch(word):
        raise UsageError("--dtype {}: name a number format, such as bf16, fp8 or int4-awq", given)
    return _DTYPES.get(word, word)


def fields_of(decoding: Decoding) -> dict[str, Any]:
    """Every field that decoding adds to a request's body.

    Raises:
        UsageError: a parameter is given twice with two values.
    """
    known = decoding.common_parameters
    for name, value in decoding.extra_body.items():
        if name in known and known[name] != value:
            option = "sampling-seed" if name == "seed" else name.replace("_", "-")
            raise UsageError(
                "{} is {} by --{} or a preset, and {} by --extra-body. Give it once",
                name,
                known[name],
                option,
                msgspec.json.encode(value).decode(),
            )
    return {**known, **decoding.extra_body}


def check_no_secret(name: str, options: ModelOptions, hidden: Callable[[str], str]) -> None:
    """Check that the texts that a run stores contain no secret.

    Args:
        name: the model's name, for the error.
        options: the options of the model.
        hidden: returns a text without any secret.

    Raises:
        UsageError: the system prompt, a wording or an extra field contains a secret.
    """
    named = {"--system-prompt": options.system_prompt, **options.stored}
    named |= {
        f"--extra-body {field}": " ".join(_texts(value))
        for field, value in options.decoding.extra_body.items()
    }
    for option, text in named.items():
        if hidden(text) != text:
            raise UsageError(
                "{}: {} contains a key from the environment. The run would store it. Give keys "
                "only in environment variables",
                name,
                option,
            )


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        inside = value if isinstance(value, list) else [*value, *value.values()]
        for each in inside:
            yield from _texts(each)


def _fields(value: object) -> Iterator[str]:
    """The name of every field in a JSON value."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _fields(each)
