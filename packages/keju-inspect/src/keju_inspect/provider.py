"""Models of every vendor that Inspect supports, through its provider layer only.

Inspect converts a message to the vendor's format, sends it and parses the reply. keju decides how
many requests are in flight, when to retry, what it may cost, and where answers are stored. So
Inspect's own retries, cache and logs are off, and its notes of a call are discarded with the call.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version

import inspect_ai.model
import msgspec
from inspect_ai.log._transcript import Transcript, init_transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
)
from msgspec.structs import replace

from keju.errors import DataError, PrerequisiteError, UsageError
from keju.items import Request
from keju.models.base import Answer, AskError, Model, ModelOptions
from keju.models.decoding import MAY_REFUSE, Parameters, check_no_secret, fields_of
from keju.models.endpoints import Secrets, checked_url, destinations_of, find_keys
from keju.models.images import data_urls, unsupported_image_reason
from keju.texts import _
from keju_inspect.errors import error_of_provider, plain_words, without_keys
from keju_inspect.parameters import check_config, config_of, passed_on
from keju_inspect.replies import answer_of

_ON_THIS_MACHINE = frozenset({"hf", "mockllm", "nnterp", "none", "transformer_lens"})

_LOCAL_BY_DEFAULT = frozenset({"llama-cpp-python", "ollama", "sglang", "vllm", "vllm-completions"})
"""Providers that use a server of this machine unless an address is given."""

_DEFAULT_KEY = ModelOptions().api_key_env
_IN_FLIGHT = 100_000  # never reached: the run has its own limit
_INSTALLS = re.compile(r"pip install [^\]]*")


class InspectModel(Model):
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

    concurrency = 32
    """The usual limit of vendors on requests in flight; the run adapts below it."""

    def __init__(self, spec: str, options: ModelOptions) -> None:
        self.provider, slash, model = spec.partition("/")
        if not (self.provider and slash and model):
            raise UsageError(
                "inspect:{} needs a provider and a model, as in inspect:anthropic/MODEL", spec
            )
        self.name = f"inspect:{spec}"
        self._spec = spec
        self._options = options
        self._address = _address_of(spec, options)
        # A vendor's address is known to its SDK only.
        if self._address and self.provider not in _ON_THIS_MACHINE:
            self.destinations = destinations_of(self._address)
        elif self.provider not in _ON_THIS_MACHINE | _LOCAL_BY_DEFAULT:
            self.destinations = (self.provider,)
        self._model: inspect_ai.model.Model | None = None
        self._secrets = _secrets_of(options)
        self._parameters = Parameters(fields=fields_of(options.decoding))
        check_no_secret(self.name, options, self._secrets)
        check_config(self.name, self._parameters)
        if options.asking:
            self._model = self._opened()
            self._secrets = _secrets_of(options, self._model)
            check_no_secret(self.name, options, self._secrets)

    def _opened(self) -> inspect_ai.model.Model:
        """Open a model that sends a request once, without retries and without storing anything.

        The key is read by the provider itself (``ANTHROPIC_API_KEY``), unless the user names a
        variable.
        """
        key = self._options.api_key_env
        if key != _DEFAULT_KEY and not os.environ.get(key):
            raise UsageError("{}: no key. Set the environment variable {}", self.name, key)
        # A user's own server supports chat completions, but not always OpenAI's other APIs.
        own = self._spec.startswith("openai/") and self._address
        try:
            model = inspect_ai.model.get_model(
                self._spec,
                config=GenerateConfig(
                    max_retries=0,
                    attempt_timeout=math.ceil(self._options.timeout),
                    max_connections=_IN_FLIGHT,
                    cache=False,
                ),
                base_url=self._address or None,
                api_key=os.environ[key] if key != _DEFAULT_KEY else None,
                memoize=False,
                **({"responses_api": False} if own else {}),
            )
        except Exception as error:  # noqa: BLE001  every SDK has its own exceptions
            words = plain_words(error, self._secrets.hide)
            if install := _INSTALLS.search(words):
                raise PrerequisiteError(_("the model {!r}", self.name), install[0]) from None
            raise UsageError("{}: {}", self.name, words) from None
        # A reply of a wrong shape is a failure that keju reports itself.
        warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
        client = getattr(model.api, "client", None)
        if client is not None and hasattr(client, "max_retries"):
            client.max_retries = 0  # the SDKs of OpenAI, Anthropic and Groq retry by default
        return model

    @cached_property
    def identity(self) -> dict[str, str]:
        """Endpoint, model, requested parameters, limits on images, and Inspect's version."""
        elsewhere = self.provider not in _ON_THIS_MACHINE
        return {
            **({"endpoint": self._address or self.provider} if elsewhere else {}),
            "model": self._spec,
            "inspect_ai": version("inspect_ai"),
            **self._options.asked_for,
        }

    def unsupported_reason(self, request: Request) -> str:
        """A question about a missing image, or about positions in one that was scaled down."""
        return unsupported_image_reason(request, self._options.fit)

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
            shown = without_keys(msgspec.to_builtins(answer), self._secrets.hide)
            return msgspec.convert(shown, Answer)
        if failure.kind in MAY_REFUSE and (
            changed := self._parameters.after(failure.server_message, tried)
        ):
            self._parameters = changed
            return await self.answer(request, images)
        failure.replace_message(self._secrets.hide(str(failure)))
        raise failure

    async def close(self) -> None:
        """Close the connections."""
        if self._model is not None:
            await self._model.api.aclose()

    async def _generated(self, messages: list[ChatMessage], parameters: Parameters) -> Answer:
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
        """The system prompt, if any; then the images, in order, and the text."""
        try:
            urls = await data_urls(request, images, self._options.fit)
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None
        pictures = [ContentImage(image=url[1:-1].decode()) for url in urls]
        messages: list[ChatMessage] = []
        if system := request.system or self._options.system_prompt:
            messages.append(ChatMessageSystem(content=system))
        messages.append(ChatMessageUser(content=[*pictures, ContentText(text=request.prompt)]))
        return messages


def _address_of(spec: str, options: ModelOptions) -> str:
    """The server's address from the options or the environment (``MISTRAL_BASE_URL``); else empty.

    Raises:
        UsageError: it is not an address, or contains a secret.
    """
    provider, service = spec.split("/")[:2]
    service = service if provider == "openai-api" else provider
    url = options.base_url or os.environ.get(f"{service.upper().replace('-', '_')}_BASE_URL", "")
    return checked_url(url) if url else ""


def _secrets_of(options: ModelOptions, model: inspect_ai.model.Model | None = None) -> Secrets:
    """The keys that a provider may send: its own, the named variable's, and all long ones.

    Only the provider knows which variables an SDK reads; those that it names are in
    ``api_key_vars``.
    """
    keys = find_keys(os.environ)
    if options.api_key_env != _DEFAULT_KEY:
        keys.append(os.environ.get(options.api_key_env, ""))
    if model is not None:
        api = model.api
        client = getattr(api, "client", None)
        keys += [os.environ.get(name, "") for name in api.api_key_vars or ()]
        own = (api.api_key, api.initial_api_key, getattr(client, "api_key", None))
        keys += [key for key in own if isinstance(key, str)]
    return Secrets(keys)
