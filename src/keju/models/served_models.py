"""`served_models`: the models that an OpenAI-compatible server lists (``GET /models``)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import aiohttp
import msgspec
from msgspec import Struct

from keju.errors import printable, shortened
from keju.models.base import AskError
from keju.models.http_client import Wire

_SECONDS = 10.0
_MOST_BYTES = 4 << 20
_SHOWN = 10
_LONGEST_NAME = 80


class _Model(Struct):
    id: str


class _List(Struct):
    data: list[_Model]


async def served_models(endpoint: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The names of a server's models; empty where it lists none within ten seconds.

    Args:
        endpoint: the base URL.
        headers: of the request, with the key.
    """
    wire = Wire(f"{endpoint}/models", _SECONDS)
    try:
        reply = await wire.exchange("GET", "", headers=headers, most=_MOST_BYTES)
        if reply.status != HTTPStatus.OK:
            return ()
        return tuple(each.id for each in msgspec.json.decode(reply.body, type=_List).data)
    except (AskError, aiohttp.ClientError, OSError, msgspec.DecodeError, ValueError):
        return ()
    except RecursionError:
        return ()
    finally:
        await wire.close()


async def diagnosis_of(endpoint: str, model: str, headers: Mapping[str, str]) -> str:
    """The fault in a model's name or a base URL, by the models that the server lists.

    Returns:
        One line; empty where the server lists the model, or lists nothing.
    """
    if names := await served_models(endpoint, headers):
        return "" if model in names else f"The server lists {_listed(names)}"
    if not endpoint.endswith("/v1") and (names := await served_models(f"{endpoint}/v1", headers)):
        return f"The server answers at {endpoint}/v1 and lists {_listed(names)}"
    return ""


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(printable(shortened(name, _LONGEST_NAME)) for name in names[:_SHOWN])
    more = len(names) - _SHOWN
    count = "the model" if len(names) == 1 else f"{len(names):,} models:"
    return f"{count} {shown}{f' … and {more:,} more' if more > 0 else ''}"
