"""``openai:MODEL``: models behind an OpenAI-compatible server, of any vendor or of one's own.

Requests are posted with aiohttp, not through the vendor's SDK, which copies and serialises each
image again (3.6 ms of CPU against 1.3) and loads 20 MB of modules.

The key is read from an environment variable and is used only in the request's header: it is removed
from all replies of a server.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from keju.errors import DataError, UsageError, number_of
from keju.items import Request, Usage
from keju.models.base import Answer, AskError, Model, ModelOptions, status_of
from keju.models.decoding import MAY_REFUSE, Parameters, as_texts, check_no_secret, fields_of
from keju.models.endpoints import Secrets, checked_url, destinations_of
from keju.models.http_client import Wire
from keju.models.images import data_urls, unsupported_image_reason
from keju.models.openai_batches import Batches
from keju.models.replies import error_of_object, excerpt, json_value, status_of_ending
from keju.text import read_content
from keju.texts import _

_PUBLIC = "https://api.openai.com/v1"
_A_URL = msgspec.Raw(b"\0")  # a placeholder for an image; JSON never contains this byte
_MOST_TOKENS = 20_000_000
"""Maximum tokens in one direction of one request: more than any context of current models."""

_LIST_SECONDS = 10.0


class OpenAICompatible(Model):
    """The model of one OpenAI-compatible server that the server knows as `model`.

    `parameters` are those that are sent now. A server with a base URL of its own may need no key.

    Raises:
        UsageError: no model is named, the base URL is not usable, or a key is missing.
    """

    concurrency = 32
    """The usual limit of servers on requests in flight; the run adapts below it."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        if not model.strip():
            raise UsageError("openai: needs a model's name after it, as in openai:gpt-4o")
        self.name = f"openai:{model}"
        self._model, self._options = model, options
        url = options.base_url or os.environ.get("OPENAI_BASE_URL") or _PUBLIC
        endpoint = checked_url(url)
        key = os.environ.get(options.api_key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                "the key in {} contains characters that a key cannot have", options.api_key_env
            )
        if options.asking and not key and endpoint == _PUBLIC:
            raise UsageError(
                "openai:{}: no key. Set the environment variable {}, or name a server of your "
                "own with --base-url",
                model,
                options.api_key_env,
            )
        self.destinations = destinations_of(endpoint)
        self.parameters = Parameters(fields=fields_of(options.decoding))
        named = {"kind": "openai", "endpoint": endpoint, "model": model}
        self.identity = {**named, **options.asked_for}
        secrets = Secrets([key])
        if key:
            check_no_secret(self.name, options, secrets)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._wire = Wire(endpoint, options.timeout, headers, secrets)

    def unsupported_reason(self, request: Request) -> str:
        """A question about a missing image, or about positions in one that was scaled down."""
        return unsupported_image_reason(request, self._options.fit)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Send the request once, and again without a parameter that the server does not support.

        Such a parameter is not sent from then on, and every answer records those that were sent.
        """
        sent = self.parameters
        body = await self.body(request, images)
        try:
            reply = await self._wire.send("POST", "/chat/completions", body)
            return read_answer(reply, sent)
        except AskError as error:
            changed = self.parameters.after(error.server_message, sent)
            if changed is None or error.kind not in MAY_REFUSE:
                raise
            self.parameters = changed
        return await self.answer(request, images)

    async def body(self, request: Request, images: Sequence[bytes]) -> list[bytes]:
        """The request as pieces of JSON: in each message the images in order, then the text.

        Raises:
            AskError: an image cannot be read.
        """
        messages: list[dict[str, object]] = []
        if system := request.system or self._options.system_prompt:
            messages.append({"role": "system", "content": system})
        content: object = request.prompt
        if request.images:
            image = {"type": "image_url", "image_url": {"url": _A_URL}}
            content = [*[image] * len(request.images), {"type": "text", "text": request.prompt}]
        messages.append({"role": "user", "content": content})
        fields = {"model": self._model, "messages": messages, **self.parameters.sent}
        pieces = msgspec.json.encode(fields).split(bytes(_A_URL))
        try:
            urls = await data_urls(request, images, self._options.fit)
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None
        for index, url in enumerate(urls):
            pieces.insert(2 * index + 1, url)
        return pieces

    async def diagnosis(self) -> str:
        """The models that the server lists (``GET /models``), if this one is not among them."""
        endpoint = self._wire.url
        for path in ("",) if endpoint.endswith("/v1") else ("", "/v1"):
            with suppress(AskError, ValueError, TypeError, TimeoutError):
                async with asyncio.timeout(_LIST_SECONDS):
                    reply = await self._wire.send("GET", f"{path}/models")
                listed = _object(json_value(reply)).get("data") or ()
                names = [name for model in listed if (name := str(_object(model).get("id", "")))]
                if names and (path or self._model not in names):
                    first_names = ", ".join(excerpt(name, 80) for name in names[:10])
                    more = f" … and {len(names) - 10:,} more" if len(names) > 10 else ""
                    place = f" at {endpoint}{path}" if path else ""
                    count = number_of(len(names), "model")
                    return f"The server{place} lists {count}: {first_names}{more}"
        return ""

    def batches(self) -> Batches:
        """The server's batch endpoints."""
        return Batches(self, self._wire, read_answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()


def read_answer(body: bytes, sent: Parameters | None = None) -> Answer:
    """Parse the reply to a request with those parameters; the content is kept as it was returned.

    Raises:
        AskError: it contains no answer: not JSON, no choice, an error instead (``bad-response`` or
            the error's own class), or a refusal by policy (``refused``).
    """
    try:
        reply = json_value(body)
    except ValueError:
        words = excerpt(body[:400].decode("utf-8", "replace"), 120)
        problem = _("the reply is not complete JSON: {!r}", words)
        raise AskError("bad-response", problem, retryable=True) from None
    completion = _object(reply)
    choices = completion.get("choices")
    choice = _object(choices[0] if choices and isinstance(choices, list) else None)
    message = _object(choice.get("message"))
    for part in (completion, choice, message):
        error = part.get("error")
        # Some servers send an error whose fields are all empty beside each answer.
        if isinstance(error, str | list) or any(_object(error).values()):
            raise error_of_object(error)
    if not isinstance(choice.get("message"), dict):
        raise error_of_object(reply)
    content = read_content(message.get("content"))
    text = content.text
    if isinstance(message.get("content"), int | float | dict) and message["content"] != {}:
        # A server that parses a model's answer as JSON returns 12345 for the text "12345".
        text = json.dumps(message["content"], ensure_ascii=False)
    if not text and (refusal := read_content(message.get("refusal")).text):
        raise AskError("refused", excerpt(refusal))
    reasoning = read_content(message.get("reasoning_content") or message.get("reasoning"))
    reason = choice.get("finish_reason") or choice.get("native_finish_reason") or ""
    reason = reason.strip() if isinstance(reason, str) else json.dumps(reason)
    counts = _object(completion.get("usage"))
    details = _object(counts.get("completion_tokens_details"))
    names = (completion.get(name) for name in ("model", "system_fingerprint"))
    served, fingerprint = (excerpt(name, 120) if isinstance(name, str) else "" for name in names)
    parameters = sent or Parameters(fields={})
    return Answer(
        text=text,
        not_text=content.not_text,
        thinking=reasoning.text or reasoning.thinking or content.thinking,
        status=status_of(text) if reason == "stop" else status_of_ending(reason, text),
        finish_reason=reason,
        usage=Usage(
            input_tokens=plausible(counts.get("prompt_tokens")),
            output_tokens=plausible(counts.get("completion_tokens")),
            thinking_tokens=plausible(details.get("reasoning_tokens"), 0),
        ),
        decoding=as_texts(parameters.sent),
        refused=parameters.refused,
        served_model=served,
        fingerprint=fingerprint,
    )


def _object(value: object) -> dict[str, Any]:
    """An object of JSON; empty where the value is something else."""
    return value if isinstance(value, dict) else {}


def plausible(count: object, least: int = 1) -> int | None:
    """A number of tokens that can be right; keju's estimate replaces others.

    Costs and limits are computed from these numbers, and a gateway may report anything.
    """
    return count if type(count) is int and least <= count <= _MOST_TOKENS else None
