"""``openai:MODEL``: models behind an OpenAI-compatible server, of any vendor or of one's own.

Requests are posted with aiohttp, not through the vendor's SDK: for a request with a 150 KB image
the SDK copies and serialises the image again and builds objects from the reply (3.6 ms of CPU
against 1.3 of bare aiohttp), and it loads 20 MB of modules. Only one POST is needed: the body is
encoded once, around images that are encoded already, the reply is parsed with msgspec, and the run
decides about retries.

The key is read from an environment variable and is used only in the request's header: it is removed
from all replies of a server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from keju.errors import DataError, UsageError, printable, shortened
from keju.items import Request, Usage
from keju.models.addresses import checked_url, destinations_of
from keju.models.base import PUBLIC_ENDPOINT, Answer, AskError, Model, ModelOptions
from keju.models.batch_support import Result
from keju.models.decoding import MAY_REFUSE, Parameters, as_texts, check_no_secret, fields_of
from keju.models.http_client import Wire
from keju.models.images import DATA_URLS, lacks_image
from keju.models.openai_batches import Batches
from keju.models.replies import (
    body_of,
    error_in_batch,
    error_of_object,
    error_of_status,
    excerpt,
    json_value,
    message_of,
    reason_word,
    states_error,
    status_of_ending,
    streams,
)
from keju.models.secrets import Secrets
from keju.text import read_content
from keju.texts import _

_A_URL = msgspec.Raw(b"\0")  # a placeholder for an image; JSON never contains this byte
_LONGEST_NAME = 120
_MOST_TOKENS = 20_000_000
"""Maximum tokens in one direction of one request: more than any context of current models."""

_LIST_SECONDS = 10.0
_LISTED = 10


class OpenAICompatible(Model):
    """One model of one OpenAI-compatible server.

    Args:
        model: the model's name, as the server knows it.
        options: ``base_url`` (else the environment's OPENAI_BASE_URL, else the public endpoint),
            ``api_key_env``, ``decoding`` and ``timeout`` are used. A server with a base URL of
            its own may need no key.

    Raises:
        UsageError: no model is named, the base URL is not usable, or the public endpoint would be
            asked without a key.
    """

    concurrency = 32
    """The usual limit of servers on requests in flight; the run adapts below it."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        if not model.strip():
            raise UsageError("openai: needs a model's name after it, as in openai:gpt-4o")
        self.name = f"openai:{model}"
        self._model = model
        self._options = options
        self._endpoint = checked_url(
            options.base_url or os.environ.get("OPENAI_BASE_URL") or PUBLIC_ENDPOINT,
            what="a base URL",
            example="http://localhost:8000/v1",
            secret_in=f"the variable {options.api_key_env}",
        )
        self.destinations = destinations_of(self._endpoint)
        key = os.environ.get(options.api_key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                "the key in {} contains characters that a key cannot have", options.api_key_env
            )
        if options.asking and not key and self._endpoint == PUBLIC_ENDPOINT:
            raise UsageError(
                "openai:{}: no key. Set the environment variable {}, or name a server of your "
                "own with --base-url",
                model,
                options.api_key_env,
            )
        self._secrets = Secrets([key])
        check_no_secret(self.name, options, self._secrets)
        self._parameters = Parameters(given=fields_of(options.decoding))
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._wire = Wire(f"{self._endpoint}/chat/completions", options.timeout)

    @cached_property
    def identity(self) -> dict[str, str]:
        """Endpoint, model, requested parameters, system prompt and declared dtype."""
        return {
            "kind": "openai",
            "endpoint": self._endpoint,
            "model": self._model,
            **self._options.asked_for,
            **self._options.fit.identity,
        }

    def unsupported_reason(self, request: Request) -> str:
        """A question about a missing image, or about positions in one that was scaled down."""
        if lacks_image(request):
            return _("there is no image to show")
        return self._options.fit.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Send the request once, and again without a parameter that the server does not support.

        A decoding parameter that the server does not accept is not sent from then on, and every
        answer records the parameters that were actually sent: vendors differ, and a run should not
        fail because of that.

        Raises:
            AskError: there is no answer; its kind is the reason.
        """
        tried = self._parameters
        try:
            body = await self._body(request, images, tried)
            reply = await self._wire.post(body, self._headers)
            return self._answer_in(reply.status, reply.body, reply.headers, tried)
        except AskError as error:
            failure = self._wire.through_proxy(error)
        if failure.kind in MAY_REFUSE and (changed := self._parameters.after(failure.said, tried)):
            self._parameters = changed
            return await self.answer(request, images)
        raise failure.with_message(self._secrets.hide(str(failure)))

    async def diagnosis(self) -> str:
        """The models that the server lists (``GET /models``), if this one is not among them."""
        if names := await self._listed(self._endpoint):
            return "" if self._model in names else f"The server lists {_joined(names)}"
        longer = f"{self._endpoint}/v1"
        if not self._endpoint.endswith("/v1") and (names := await self._listed(longer)):
            return f"The server answers at {longer} and lists {_joined(names)}"
        return ""

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    @property
    def parameters(self) -> Parameters:
        """The parameters sent now; settable, to restore those that an earlier session found."""
        return self._parameters

    @parameters.setter
    def parameters(self, known: Parameters) -> None:
        self._parameters = replace(known, given=self._parameters.given)

    def batches(self) -> Batches:
        """The server's batch endpoints."""
        return Batches(self, self._endpoint, self._headers, self._options.timeout, self._secrets)

    async def batch_line(self, name: str, request: Request, images: Sequence[bytes]) -> bytes:
        """A request as a line of a batch's file, with the caller's name for it.

        Raises:
            AskError: an image cannot be read.
        """
        body = await self._body(request, images, self._parameters)
        about = msgspec.json.encode(
            {"custom_id": name, "method": "POST", "url": "/v1/chat/completions"}
        )
        return b"".join((about[:-1], b',"body":', *body, b"}\n"))

    def batch_answer(self, result: Result, sent: Parameters) -> Answer:
        """The answer in a line of a batch's results.

        Args:
            result: the line.
            sent: the parameters with which the batch was submitted.

        Raises:
            AskError: it contains none.
        """
        reply = result.response
        try:
            if reply is None or bytes(reply.body) == b"null":
                raise error_in_batch(result.error)
            return self._answer_in(reply.status_code, bytes(reply.body), {}, sent)
        except AskError as error:
            raise error.with_message(self._secrets.hide(str(error))) from None

    async def _body(
        self, request: Request, images: Sequence[bytes], parameters: Parameters
    ) -> list[bytes]:
        """The request as pieces of JSON: in each message the images in order, then the text."""
        messages: list[dict[str, object]] = []
        if system := request.system or self._options.system_prompt:
            messages.append({"role": "system", "content": system})
        for example in request.examples:
            messages.append(_user_message(example.prompt, len(example.images)))
            messages.append({"role": "assistant", "content": example.answer})
        messages.append(_user_message(request.prompt, len(request.images)))
        frame = msgspec.json.encode({"model": self._model, "messages": messages, **parameters.sent})
        try:
            urls = [
                await DATA_URLS.get(ref, partial(images.__getitem__, index), self._options.fit)
                for index, ref in enumerate(request.all_images)
            ]
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None
        own = len(request.images)
        urls = [*urls[own:], *urls[:own]]  # The examples come before the question.
        head, *others = frame.split(bytes(_A_URL))
        pieces = [head]
        for url, other in zip(urls, others, strict=True):
            pieces += (url, other)
        return pieces

    def _answer_in(
        self, status: int, body: bytes, headers: Mapping[str, str], sent: Parameters
    ) -> Answer:
        """The answer in a reply; some gateways answer with 201 or 203."""
        body = body_of(status, body, headers, self._secrets)
        if status != HTTPStatus.OK and b"choices" not in body:
            raise error_of_status(status, body.decode("utf-8", "replace"), {})
        return replace(read_answer(body), decoding=as_texts(sent.sent), refused=sent.refused)

    async def _listed(self, endpoint: str) -> list[str]:
        """The names of a server's models; empty where it lists none within ten seconds."""
        wire = Wire(f"{endpoint}/models", _LIST_SECONDS)
        try:
            reply = await wire.exchange("GET", "", headers=self._headers)
            body = body_of(reply.status, reply.body, reply.headers, self._secrets)
            return [model.id for model in msgspec.convert(json_value(body), _Models).data]
        except (AskError, ValueError):
            return []
        finally:
            await wire.close()


class _ListedModel(Struct):
    id: str


class _Models(Struct):
    data: list[_ListedModel]


def _joined(names: Sequence[str]) -> str:
    shown = ", ".join(printable(shortened(name, 80)) for name in names[:_LISTED])
    more = len(names) - _LISTED
    count = "the model" if len(names) == 1 else f"{len(names):,} models:"
    return f"{count} {shown}{f' … and {more:,} more' if more > 0 else ''}"


def _user_message(prompt: str, images: int) -> dict[str, object]:
    content: object = prompt
    if images:
        content = [
            *[{"type": "image_url", "image_url": {"url": _A_URL}}] * images,
            {"type": "text", "text": prompt},
        ]
    return {"role": "user", "content": content}


class _Message(Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    error: Any = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: Any = None
    native_finish_reason: Any = None
    error: Any = None
    delta: Any = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    model: Any = None
    system_fingerprint: Any = None


_DECODER = msgspec.json.Decoder(_Completion)


def read_answer(body: bytes) -> Answer:
    """Parse the body of a chat completion; the content is kept as it was returned.

    `thinking` is only the content of a separate field (``reasoning_content`` or ``reasoning``).

    Raises:
        AskError: it contains no answer: not JSON, no choice, an error instead (``bad-response`` or
            the error's own class), or a refusal by policy (``refused``).
    """
    completion = _decode(body)
    choice = completion.choices[0] if completion.choices else _Choice()
    message = choice.message
    for error in (completion.error, choice.error, message and message.error):
        if states_error(error):
            raise error_of_object(error)
    if message is None:
        raise streams() if choice.delta is not None else _without_choice(body)
    reason = reason_word(choice.finish_reason) or reason_word(choice.native_finish_reason)
    content, refusal = read_content(message.content), _text_of(message.refusal)
    text = content.text
    if isinstance(message.content, int | float | dict) and message.content != {}:
        # A server that parses a model's answer as JSON returns 12345 for the text "12345".
        text = json.dumps(message.content, ensure_ascii=False)
    if refusal and not text:
        raise AskError("refused", excerpt(refusal))
    thinking = _text_of(message.reasoning_content) or _text_of(message.reasoning)
    counts = completion.usage if isinstance(completion.usage, dict) else {}
    details = counts.get("completion_tokens_details")
    usage, ignored = checked_usage(
        counts.get("prompt_tokens"),
        counts.get("completion_tokens"),
        details.get("reasoning_tokens") if isinstance(details, dict) else None,
        text,
    )
    if completion.usage is not None and not isinstance(completion.usage, dict):
        ignored = f"usage {excerpt(str(completion.usage), 40)}"
    return Answer(
        text=text,
        not_text=content.not_text,
        thinking=thinking or content.thinking,
        status=status_of_ending(reason, text),
        finish_reason=reason,
        usage=usage,
        ignored_usage=ignored,
        served_model=_name(completion.model),
        fingerprint=_name(completion.system_fingerprint),
    )


def _decode(body: bytes) -> _Completion:
    try:
        return _DECODER.decode(body)
    except (ValueError, RecursionError):
        pass
    try:
        return msgspec.convert(json_value(body), _Completion)
    except msgspec.ValidationError as error:
        raise _bad(_("the reply is not a chat completion ({})", error), body) from None
    except ValueError:
        start = body[:200].lstrip().lower()
        page = start.startswith((b"<!doctype html", b"<html"))
        what = _("an HTML page") if page else _("incomplete JSON")
        raise _bad(_("the reply is {}", what), body) from None


def _without_choice(body: bytes) -> AskError:
    """The error of a reply without an answer, in the server's words where it has any."""
    value = json_value(body)
    return (
        error_of_object(value) if message_of(value) else _bad(_("the reply has no choices"), body)
    )


def _bad(problem: str, body: bytes) -> AskError:
    words = excerpt(body[:400].decode("utf-8", "replace"), 120)
    return AskError("bad-response", f"{problem}: {words!r}", retryable=True)


def _text_of(value: object) -> str:
    """A text, or the joined texts of a list of parts; anything else is empty."""
    content = read_content(value)
    return content.text or content.thinking


def _name(value: object) -> str:
    """A name that the server reports, as one short line; empty where it is not a text."""
    return shortened(printable(value.strip()), _LONGEST_NAME) if isinstance(value, str) else ""


def checked_usage(
    prompt: object, completion: object, reasoning: object, text: str
) -> tuple[Usage, str]:
    """The plausible token counts of a reply, and the others as ``name value``, joined by commas.

    Costs and limits are computed from these numbers, and a gateway may report anything. A count
    that is not a whole number from 0 to 20 million is not used, nor is 0 for a prompt or for a text
    that exist; keju's own estimate then replaces it.

    Args:
        prompt: tokens of the prompt; None where the server reports none.
        completion: tokens of the answer, reasoning included.
        reasoning: tokens of the reasoning.
        text: the answer.
    """
    ignored: list[str] = []

    def count(name: str, value: object, least: int) -> int | None:
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if type(whole) is int and least <= whole <= _MOST_TOKENS:
            return whole
        if value is not None:
            # The digits of a huge number are not written out.
            huge = type(whole) is int and abs(whole) > 10**18
            ignored.append(f"{name} {'more than 10^18' if huge else excerpt(str(value), 40)}")
        return None

    usage = Usage(
        input_tokens=count("prompt_tokens", prompt, 1),
        output_tokens=count("completion_tokens", completion, 1 if text.strip() else 0),
        thinking_tokens=count("reasoning_tokens", reasoning, 0),
    )
    return usage, ", ".join(ignored)
