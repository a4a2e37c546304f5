"""Opening of Inspect's providers: address, key, settings and hidden secrets."""

from __future__ import annotations

import math
import os
import re
import warnings
from typing import TYPE_CHECKING

from keju.errors import PrerequisiteError, UsageError
from keju.models.addresses import checked_url
from keju.models.base import ModelOptions
from keju.models.inspect_errors import plain_words
from keju.models.secrets import Secrets, find_keys
from keju.texts import _

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Model

_DEFAULT_KEY = ModelOptions().api_key_env
_IN_FLIGHT = 100_000  # never reached: the run has its own limit
_INSTALLS = re.compile(r"pip install [^\]]*")


def address_of(spec: str, options: ModelOptions) -> str:
    """The server's address from the options or the environment (``MISTRAL_BASE_URL``); else empty.

    Raises:
        UsageError: it is not an address, or contains a secret.
    """
    provider, service = spec.split("/")[:2]
    service = service if provider == "openai-api" else provider
    url = options.base_url or os.environ.get(f"{service.upper().replace('-', '_')}_BASE_URL", "")
    if not url:
        return ""
    example, place = "http://localhost:8000/v1", "the provider's own variable for its key"
    return checked_url(url, what="a base URL", example=example, secret_in=place)


def opened(spec: str, address: str, options: ModelOptions) -> Model:
    """A model of Inspect that sends a request once, without retries and without storing anything.

    The key is read by the provider itself (``ANTHROPIC_API_KEY``), unless the user names a
    variable.

    Raises:
        UsageError: Inspect does not know the provider, or there is no key.
        PrerequisiteError: the provider's SDK is not installed.
    """
    from inspect_ai.model import get_model  # noqa: PLC0415

    key = options.api_key_env
    if key != _DEFAULT_KEY and not os.environ.get(key):
        raise UsageError("inspect:{}: no key. Set the environment variable {}", spec, key)
    # A user's own server supports chat completions, but not always OpenAI's other APIs.
    extra = {"responses_api": False} if spec.startswith("openai/") and address else {}
    try:
        model: Model = get_model(
            spec,
            config=_config(options),  # the parameters are given with each request
            base_url=address or None,
            api_key=os.environ[key] if key != _DEFAULT_KEY else None,
            memoize=False,
            **extra,
        )
    except Exception as error:  # noqa: BLE001  every SDK has its own exceptions
        words = plain_words(error, secrets_of(options).hide)
        if install := _INSTALLS.search(words):
            raise PrerequisiteError(_("the model inspect:{}", spec), install[0]) from None
        raise UsageError("inspect:{}: {}", spec, words) from None
    # A reply of a wrong shape is a failure that keju reports itself.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    client = getattr(model.api, "client", None)
    if client is not None and hasattr(client, "max_retries"):
        client.max_retries = 0  # the SDKs of OpenAI, Anthropic and Groq retry by default
    return model


def secrets_of(options: ModelOptions, model: Model | None = None) -> Secrets:
    """The keys that a provider may send: its own, the named variable's, and all long ones.

    Only the provider knows which variables an SDK reads; those that it names are in
    ``api_key_vars``.
    """
    keys = find_keys(os.environ)
    if options.api_key_env != _DEFAULT_KEY:
        keys.append(os.environ.get(options.api_key_env, ""))
    if model is not None:
        api = model.api
        keys += [os.environ.get(name, "") for name in api.api_key_vars or ()]
        keys += [key for key in (api.api_key, api.initial_api_key) if isinstance(key, str)]
        client = getattr(api, "client", None)
        keys += [key for key in (getattr(client, "api_key", None),) if isinstance(key, str)]
    return Secrets(keys)


def _config(options: ModelOptions) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig  # noqa: PLC0415

    return GenerateConfig(
        max_retries=0,
        attempt_timeout=math.ceil(options.timeout),
        max_connections=_IN_FLIGHT,
        cache=False,
    )
