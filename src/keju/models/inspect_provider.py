"""Models of every vendor that Inspect supports, through its provider layer only.

Inspect converts a message to the vendor's format, sends it and parses the reply. keju decides how
many requests are in flight, when to retry, what it may cost, and where answers are stored. So
Inspect's own retries, cache and logs are off, and its notes of a call are discarded with the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keju.errors import UsageError
from keju.items import Request
from keju.models.base import Answer, AskError, ModelOptions
from keju.models.capabilities import Capabilities
from keju.models.data_urls import lacks_image, picture_url
from keju.models.decoding import MAY_REFUSE, Parameters
from keju.models.inspect_answers import answer_of
from keju.models.inspect_errors import error_of_provider
from keju.models.inspect_opening import address_of, opened, secrets_of
from keju.models.inspect_requests import check_config, config_of, passed_on
from keju.models.request_fields import check_no_secret, fields_of
from keju.models.server_addresses import destinations_of
from keju.texts import _

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model

_ON_THIS_MACHINE = frozenset({"hf", "mockllm", "nnterp", "none", "transformer_lens"})

_LOCAL_BY_DEFAULT = frozenset({"llama-cpp-python", "ollama", "sglang", "vllm", "vllm-completions"})
"""Providers that use a server of this machine unless an address is given."""


class InspectModel:
    """``inspect:PROVIDER/MODEL``.

    Args:
        spec: the model as Inspect names it, such as ``anthropic/claude-opus-4-5``.
        options: ``base_url`` (else the environment's, by the provider's own name for it),
            ``api_key_env`` where it is not the default (else the provider's own), ``decoding``,
            ``timeout`` and ``fit`` are used.

    Raises:
        UsageError: no provider or model is named, or the provider has no key.
        PrerequisiteError: the provider's SDK is not installed.
    """

    def __init__(self, spec: str, options: ModelOptions) -> None:
        self.provider, slash, model = spec.partition("/")
        if not (self.provider and slash and model):
            raise UsageError(
                "inspect:{} needs a provider and a model, as in inspect:anthropic/MODEL", spec
            )
        self._spec = spec
        # The data of the dataset for baselines is large, and not needed here.
        self._options = replace(options, reference=(), item_images=(), images_of=None)
        self._address = address_of(spec, options)
        self._destinations = _destinations(self.provider, self._address)
        self._model: Model | None = None
        self._secrets = secrets_of(options)
        check_no_secret(self.name, options, self._secrets.hide_stored)
        provider = "" if self._address else self.provider
        fields = fields_of(options.decoding, self._address, provider)
        self._parameters = Parameters(given=fields)
        check_config(self.name, self._parameters)
        if options.asking:
            self._model = opened(spec, self._address, self._options)
            self._secrets = secrets_of(options, self._model)
            check_no_secret(self.name, options, self._secrets.hide_stored)

    @property
    def name(self) -> str:
        """``inspect:PROVIDER/MODEL``."""
        return f"inspect:{self._spec}"

    @cached_property
    def identity(self) -> dict[str, str]:
        """Endpoint, model, requested parameters, limits on images, and Inspect's version."""
        elsewhere = self.provider not in _ON_THIS_MACHINE
        return {
            "kind": "inspect",
            **({"endpoint": self._address or self.provider} if elsewhere else {}),
            "model": self._spec,
            "inspect_ai": version("inspect_ai"),
            **self._options.asked_for,
            **self._options.fit.identity,
        }

    @property
    def concurrency(self) -> int:
        """The usual limit of vendors on requests in flight; the run adapts below it."""
        return 32

    @property
    def capabilities(self) -> Capabilities:
        """Where the requests go."""
        return Capabilities(destinations=self._destinations)

    def unsupported_reason(self, request: Request) -> str:
        """A question about a missing image, or about positions in one that was scaled down."""
        if lacks_image(request):
            return _("there is no image to show")
        return self._options.fit.unsupported_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Send the request once, and again without a parameter that the server does not support.

        Raises:
            AskError: there is no answer; its kind is the reason.
        """
        messages = await self._messages(request, images)
        tried = self._parameters
        try:
            answer = await self._generated(messages, tried)
        except AskError as error:
            failure = error
        except Exception as error:  # noqa: BLE001  every SDK has its own exceptions
            failure = error_of_provider(error, self._secrets.hide)
        else:
            return self._secrets.hide_in(answer)
        if failure.kind in MAY_REFUSE and (changed := self._parameters.after(failure.said, tried)):
            self._parameters = changed
            return await self.answer(request, images)
        raise AskError(
            failure.kind,
            self._secrets.hide(str(failure)),
            retryable=failure.retryable,
            retry_after=failure.retry_after,
            overloaded=failure.overloaded,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._model is not None:
            await self._model.api.aclose()

    async def _generated(self, messages: list[ChatMessage], parameters: Parameters) -> Answer:
        from inspect_ai.log._transcript import Transcript, init_transcript  # noqa: PLC0415

        if self._model is None:
            raise AskError(
                "engine", _("{} was opened only to make a plan and cannot answer", self.name)
            )
        # Inspect's notes of each call, including its images, would otherwise stay until the process
        # ends.
        noted = Transcript()
        init_transcript(noted)
        config = config_of(parameters, self._options.decoding.extra_body)
        answer = answer_of(await self._model.generate(messages, config=config), self._secrets.hide)
        return replace(answer, decoding=passed_on(noted), refused=parameters.refused)

    async def _messages(self, request: Request, images: Sequence[bytes]) -> list[ChatMessage]:
        """The system prompt and the examples, if any; then the images, in order, and the text."""
        from inspect_ai.model import (  # noqa: PLC0415
            ChatMessageAssistant,
            ChatMessageSystem,
            ChatMessageUser,
            ContentImage,
            ContentText,
        )

        urls = [
            await picture_url(ref, partial(images.__getitem__, place), self._options.fit)
            for place, ref in enumerate(request.all_images)
        ]
        pictures = iter([ContentImage(image=url[1:-1].decode()) for url in urls])
        own = list(islice(pictures, len(request.images)))
        messages: list[ChatMessage] = []
        if system := request.system or self._options.system_prompt:
            messages.append(ChatMessageSystem(content=system))
        for each in request.examples:
            shown = islice(pictures, len(each.images))
            content = [*shown, ContentText(text=each.prompt)]
            messages.append(ChatMessageUser(content=content))
            messages.append(ChatMessageAssistant(content=each.answer))
        messages.append(ChatMessageUser(content=[*own, ContentText(text=request.prompt)]))
        return messages


def _destinations(provider: str, address: str) -> tuple[str, ...]:
    """Where requests go: the address's host, or a vendor whose address only its SDK knows."""
    if provider in _ON_THIS_MACHINE:
        return ()
    if address:
        return destinations_of(address)
    return () if provider in _LOCAL_BY_DEFAULT else (provider,)
