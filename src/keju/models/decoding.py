"""Decoding parameters and extra fields of a request: given, refused by the server, and sent.

A server may refuse a parameter, a provider's layer may not pass one on, and the token limit has two
names. So a response records the parameters of its request, under the server's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from keju.errors import UsageError
from keju.items import Record
from keju.models.base import ENDPOINTS, PARAMETERS, Decoding, ModelOptions
from keju.models.endpoints import Secrets
from keju.texts import _

_OLD_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"

MAY_REFUSE = frozenset({"bad-request", "server"})
"""Kinds of failure in which a server may refuse a parameter; some reply to an unknown one with 500.
"""

EXTRA = "extra_body."
"""The beginning of the names of extra fields in a model's identity."""

_SPELLINGS = {
    "max_tokens": "max_tokens max_completion_tokens max_output_tokens maxTokens maxOutputTokens",
    "top_p": "top_p topP p",
    "top_k": "top_k topK k",
    "seed": "seed random_seed",
    "reasoning_effort": "reasoning_effort reasoning output_config thinking thinking_config",
}
"""Names under which servers, and those that Inspect knows, accept a parameter."""

_DROPPABLE = {
    name: re.compile(rf"(?<![a-z_]){name.replace('_', '_?')}(?![a-z_])", re.IGNORECASE)
    for name in ("temperature", "top_p", "top_k", "seed")
}
"""Parameters that may be dropped. Without any other that the user sets, such as the reasoning
effort, the request would be another experiment."""

_REFUSES = re.compile(
    r"(?:not|n't) (?:\w+ )?(?:support|allow|permit|accept|available|known)|unsupported|unknown"
    r"|unrecogni[sz]ed|unexpected|illegal|deprecated|extraneous|extra inputs|supplied|cannot both"
    r"|only \S+ is allowed|only the default|(?:may only|must) be .* when|fixed at|不支持|不支援",
    re.IGNORECASE,
)
"""Words with which servers refuse a parameter itself, not a value out of its range."""

_SENTENCE_END = re.compile(r"[.;\n](?=\s|$)|, expected ")
_NEW_LIMIT_ASKED = re.compile(rf"\buse\b.{{0,20}}{_NEW_LIMIT}", re.IGNORECASE)

_RESERVED = frozenset({"model", "messages", "stream", "stream_options", "n"})
"""Fields that keju sets itself: model, prompt and format of the reply."""

_SECRET = re.compile(r'"([^"]*(?:api[-_]?key|authorization|password|secret)[^"]*)":', re.IGNORECASE)
"""The name of a field of JSON that is that of a secret."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_WORD = re.compile(r"[a-z0-9][a-z0-9_.+-]{0,39}")
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32"}


class Parameters(Record, frozen=True, kw_only=True):
    """Requested `fields`, those `refused` by the server, and its name of the token `limit`."""

    fields: dict[str, Any]
    refused: tuple[str, ...] = ()
    limit: str = _OLD_LIMIT

    @property
    def sent(self) -> dict[str, Any]:
        """The fields of a request's body."""
        return {
            self.limit if name == _OLD_LIMIT else name: value
            for name, value in self.fields.items()
            if name not in self.refused
        }

    def after(self, message: str, tried: Parameters) -> Parameters | None:
        """The parameters for a new attempt; None if the message refuses none of those `tried`."""
        refused = refused_in(message) & tried.sent.keys()
        renames = _OLD_LIMIT in tried.sent and bool(_NEW_LIMIT_ASKED.search(message))
        if not refused and not renames:
            return None
        return Parameters(
            fields=self.fields,
            refused=tuple(sorted({*self.refused, *refused})),
            limit=_NEW_LIMIT if renames else self.limit,
        )


def refused_in(message: str) -> set[str]:
    """The droppable parameters that a server's message refuses, sentence by sentence.

    Where the temperature and top-p cannot both be sent, top-p is refused: papers and vendors state
    the temperature first (our choice).
    """
    refused: set[str] = set()
    for sentence in _SENTENCE_END.split(message):
        if _REFUSES.search(sentence):
            names = {name for name, spelled in _DROPPABLE.items() if spelled.search(sentence)}
            exclusive = {"temperature", "top_p"} <= names and "both" in sentence
            refused |= {"top_p"} if exclusive else names
    return refused


def as_texts(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields of a request as they are recorded: text as it is, other values as JSON."""
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in fields.items()
    }


def requested_in(identity: Mapping[str, str]) -> list[str]:
    """The entries of a model's identity that request a parameter, as they are named there."""
    return [name for name in identity if name in PARAMETERS or name.startswith(EXTRA)]


def not_sent(identity: Mapping[str, str], decoding: Mapping[str, str] | None) -> tuple[str, ...]:
    """The parameters of a model's identity that a request did not have; none if it is not known."""
    if decoding is None or identity.get("kind") not in ENDPOINTS:
        return ()
    return tuple(
        name
        for name in requested_in(identity)
        if decoding.keys().isdisjoint(_SPELLINGS.get(name, name.removeprefix(EXTRA)).split())
    )


def fields_of(decoding: Decoding) -> dict[str, Any]:
    """Every field that decoding adds to a request's body, as JSON values.

    Raises:
        UsageError: an extra field is set by keju, is a parameter with another value, names a
            secret, or is not JSON.
    """
    common, extra = decoding.common_parameters, decoding.extra_body
    if reserved := sorted(_RESERVED & extra.keys()):
        raise UsageError("--extra-body: keju sets {} itself, so it cannot be given", reserved[0])
    try:
        text = msgspec.json.encode(extra).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError("--extra-body: a value is not JSON: {}", error) from None
    if secret := _SECRET.search(text):
        raise UsageError(
            "--extra-body: {} looks like a secret, which a run would store. Give keys in "
            "environment variables",
            secret[1],
        )
    for name, value in extra.items():
        if common.get(name, value) != value:
            option = "sampling-seed" if name == "seed" else name.replace("_", "-")
            raise UsageError(
                "{} is {} by --{} or a preset, and {} by --extra-body. Give it once",
                name,
                common[name],
                option,
                msgspec.json.encode(value).decode(),
            )
    return {**common, **msgspec.json.decode(text)}


def parse_extra_body(fields: Iterable[str]) -> dict[str, Any]:
    """Parse extra fields of the body, each spelled ``NAME=JSON``.

    Raises:
        UsageError: a field does not have that form, or is given twice.
    """
    values: dict[str, Any] = {}
    for field in fields:
        name, __, value = field.partition("=")
        try:
            right = _NAME.fullmatch(name) and name not in values
            values[name] = msgspec.json.decode(value if right else "")
        except (msgspec.DecodeError, RecursionError):
            raise UsageError(
                "--extra-body {0}: the form is NAME=JSON, each name once. Write text in quotes: "
                "{0}='\"…\"'",
                name,
            ) from None
    return values


def read_system_prompt(value: str) -> str:
    """A system prompt as the user gives it: the text, or ``@FILE`` with the text in UTF-8.

    Raises:
        UsageError: the file cannot be read, or there is no text in it.
    """
    if not value.startswith("@"):
        return value
    try:
        text = Path(value[1:]).read_text("utf-8-sig").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = _("not UTF-8") if isinstance(error, UnicodeDecodeError) else error.strerror
        raise UsageError("--system-prompt {}: the file cannot be read: {}", value, reason) from None
    if not text.strip():
        raise UsageError("--system-prompt {}: the file has no text", value)
    return text


def declared_dtype(dtype: str) -> str:
    """The number format of a served model's weights, under one name each.

    Raises:
        UsageError: it is not a short word.
    """
    word = dtype.strip().lower()
    if not _WORD.fullmatch(word):
        raise UsageError("--dtype {}: name a number format, such as bf16, fp8 or int4-awq", dtype)
    return _DTYPES.get(word, word)


def check_no_secret(name: str, options: ModelOptions, secrets: Secrets) -> None:
    """Check that the system prompt, wordings and extra fields, which a run stores, have no secret.

    Raises:
        UsageError: one of them contains a secret.
    """
    texts = {"--system-prompt": options.system_prompt, **options.stored}
    for field, value in as_texts(options.decoding.extra_body).items():
        texts[f"--extra-body {field}"] = value
    for option, text in texts.items():
        if secrets.hide(text) != text:
            raise UsageError(
                "{}: {} contains a key from the environment. The run would store it. Give keys "
                "only in environment variables",
                name,
                option,
            )
