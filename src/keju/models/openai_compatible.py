"""Models behind an OpenAI-compatible server: every vendor, and vLLM, SGLang, LMDeploy, Ollama.

Requests are posted with aiohttp, not through the vendor's SDK: for a request with a 150 KB image
the SDK copies and serialises the image again and builds objects from the reply (3.6 ms of CPU
against 1.3 of bare aiohttp), and it loads 20 MB of modules. Only one POST is needed: the body is
encoded once, around images that are encoded already, the reply is parsed with msgspec, and the run
decides about retries.

The key is read from an environment variable and is used only in the request's header: it is removed
from all replies of a server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from http import HTTPStatus

import aiohttp
import msgspec
from msgspec.structs import replace

from keju.errors import UsageError
from keju.items import Request
from keju.models.base import PUBLIC_ENDPOINT, Answer, AskError, ModelOptions
from keju.models.batch_support import Result
from keju.models.capabilities import Capabilities
from keju.models.data_urls import lacks_image, picture_url
from keju.models.decoding import MAY_REFUSE, Parameters, as_texts
from keju.models.http_client import Wire, error_of_exception
from keju.models.openai_answers import answer_of
from keju.models.openai_batches import Batches
from keju.models.openai_errors import error_in_batch, error_of_reply
from keju.models.reply_json import as_utf8
from keju.models.request_fields import check_no_secret, fields_of
from keju.models.secrets import Secrets
from keju.models.served_models import diagnosis_of
from keju.models.server_addresses import checked_url, destinations_of
from keju.texts import _

_A_URL = msgspec.Raw(b"\0")  # a placeholder for an image; JSON never contains this byte


class OpenAICompatible:
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

    def __init__(self, model: str, options: ModelOptions) -> None:
        if not model.strip():
            raise UsageError("openai: needs a model's name after it, as in openai:gpt-4o")
        self._model = model
        # The data of the dataset for baselines is large, and not needed here.
        self._options = replace(options, reference=(), item_images=(), images_of=None)
        self._endpoint = _endpoint(options)
        self._destinations = destinations_of(self._endpoint)
        self._key = _key(options)
        self._secrets = Secrets([self._key])
        if options.asking and not self._key and self._endpoint == PUBLIC_ENDPOINT:
            raise UsageError(
                "openai:{}: no key. Set the environment variable {}, or name a server of your "
                "own with --base-url",
                model,
                options.api_key_env,
            )
        check_no_secret(self.name, options, self._secrets.hide_stored)
        self._parameters = Parameters(given=fields_of(options.decoding))
        self._headers = {"Content-Type": "application/json"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._wire = Wire(f"{self._endpoint}/chat/completions", options.timeout)

    @property
    def name(self) -> str:
        """``openai:MODEL``."""
        return f"openai:{self._model}"

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

    @property
    def concurrency(self) -> int:
        """The usual limit of servers on requests in flight; the run adapts below it."""
        return 32

    @property
    def capabilities(self) -> Capabilities:
        """Batches, a diagnosis of a wrong name or address, and the server's host."""
        return Capabilities(
            submitter=self, diagnosis=self.diagnosis, destinations=self._destinations
        )

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
            return self._answered(answer_of(await self._post(request, images, tried)), tried)
        except AskError as error:
            failure = error
        except (aiohttp.ClientError, OSError) as error:
            failure = error_of_exception(error)
        failure = self._wire.through_proxy(failure)
        if failure.kind in MAY_REFUSE and (changed := self._parameters.after(failure.said, tried)):
            self._parameters = changed
            return await self.answer(request, images)
        raise self._secrets.hide_in_failure(failure)

    async def diagnosis(self) -> str:
        """The server's report about its models, if none answered; empty if it has none."""
        said = await diagnosis_of(self._endpoint, self._model, self._headers)
        return self._secrets.hide(said)

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _post(
        self, request: Request, images: Sequence[bytes], parameters: Parameters
    ) -> bytes:
        body = await self._pieces(request, images, parameters)
        reply = await self._wire.post(body, self._headers)
        headers = self._secrets.hide_headers(reply.headers)
        return self._completion_in(reply.status, reply.body, headers)

    def _completion_in(self, status: int, body: bytes, headers: Mapping[str, str]) -> bytes:
        """The body of a reply as UTF-8 without keys; some gateways answer with 201 or 203."""
        body = self._secrets.hide_bytes(as_utf8(body, headers.get("content-type", "")))
        accepted = HTTPStatus.OK < status < HTTPStatus.MULTIPLE_CHOICES and b"choices" in body
        if status != HTTPStatus.OK and not accepted:
            raise error_of_reply(status, body, headers)
        return body

    @property
    def parameters(self) -> Parameters:
        """The parameters sent now; settable, to restore those that an earlier session found."""
        return self._parameters

    @parameters.setter
    def parameters(self, known: Parameters) -> None:
        self._parameters = replace(known, given=self._parameters.given)

    def batches(self) -> Batches:
        """The server's batch endpoints."""
        return Batches(self._endpoint, self._headers, self._options.timeout, self._secrets.hide)

    async def batch_line(self, name: str, request: Request, images: Sequence[bytes]) -> bytes:
        """A request as a line of a batch's file, with the caller's name for it.

        Raises:
            AskError: an image cannot be read.
        """
        body = await self._pieces(request, images, self._parameters)
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
        if result.response is None or bytes(result.response.body) == b"null":
            raise self._secrets.hide_in_failure(error_in_batch(result.error))
        try:
            body = self._completion_in(result.response.status_code, bytes(result.response.body), {})
            answer = answer_of(body)
        except AskError as error:
            raise self._secrets.hide_in_failure(error) from None
        return self._answered(answer, sent)

    async def _pieces(
        self, request: Request, images: Sequence[bytes], parameters: Parameters
    ) -> list[bytes]:
        pictures = [
            await picture_url(ref, partial(images.__getitem__, index), self._options.fit)
            for index, ref in enumerate(request.all_images)
        ]
        return self._body(request, pictures, parameters)

    def _body(
        self, request: Request, pictures: Sequence[bytes], parameters: Parameters
    ) -> list[bytes]:
        """The request as pieces of JSON: in each message the images in order, then the text."""
        messages: list[dict[str, object]] = []
        if system := request.system or self._options.system_prompt:
            messages.append({"role": "system", "content": system})
        for each in request.examples:
            messages.append(_user_message(each.prompt, len(each.images)))
            messages.append({"role": "assistant", "content": each.answer})
        messages.append(_user_message(request.prompt, len(request.images)))
        own = len(request.images)
        pictures = [*pictures[own:], *pictures[:own]]  # The examples come before the question.
        frame = msgspec.json.encode({"model": self._model, "messages": messages, **parameters.sent})
        head, *others = frame.split(bytes(_A_URL))
        pieces = [head]
        for picture, other in zip(pictures, others, strict=True):
            pieces += (picture, other)
        return pieces

    def _answered(self, answer: Answer, parameters: Parameters) -> Answer:
        """An answer with the parameters of its request."""
        return replace(answer, decoding=as_texts(parameters.sent), refused=parameters.refused)


def _user_message(prompt: str, images: int) -> dict[str, object]:
    content: object = prompt
    if images:
        content = [
            *[{"type": "image_url", "image_url": {"url": _A_URL}}] * images,
            {"type": "text", "text": prompt},
        ]
    return {"role": "user", "content": content}


def _key(options: ModelOptions) -> str:
    key = os.environ.get(options.api_key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            "the key in {} contains characters that a key cannot have", options.api_key_env
        )
    return key


def _endpoint(options: ModelOptions) -> str:
    return checked_url(
        options.base_url or os.environ.get("OPENAI_BASE_URL") or PUBLIC_ENDPOINT,
        what="a base URL",
        example="http://localhost:8000/v1",
        secret_in=f"the variable {options.api_key_env}",
    )
