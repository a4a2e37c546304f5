"""``http-ocr:SERVICE``: an OCR service that takes an image over HTTP and gives lines back."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from http import HTTPStatus
from string import Template

import aiohttp
import msgspec

from keju.files import sha256_bytes
from keju.items import Line, Request
from keju.layout import order_lines, page_text
from keju.models.base import Answer, ModelOptions
from keju.models.ocr_replies import bad_reply, lines_of
from keju.models.ocr_services import Service, Value, service_of
from keju.models.openai_errors import error_of_exception, error_of_reply, excerpt
from keju.models.pictures import no_page

MOST_BYTES = 64 << 20
"""A longer reply is no page's text."""

_CONNECT_SECONDS = 30.0
_HIDDEN = b"***"
_SECRET_LENGTH = 8  # shorter ones are words of the language


class HttpOcr:
    """One OCR service; its declaration says what it takes and gives (see `Service`).

    The image travels as it is stored, in base64. A line a row, in the service's order, or in
    keju's where the service has none. Secrets are read from the environment and are taken out of
    whatever the service sends back.

    Raises:
        UsageError: no such service, or an environment variable that it needs is not set.
        DataError: its file is not what it must be.
    """

    def __init__(self, spec: str, options: ModelOptions) -> None:
        self._spec = spec
        self._service: Service = service_of(spec)
        self._timeout = options.timeout
        self._ordering = options.reading_order and not self._service.ordered
        self._secrets = self._service.secrets() if options.asking else {}
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """``http-ocr:SERVICE``."""
        return f"http-ocr:{self._spec}"

    @property
    def identity(self) -> dict[str, str]:
        """The address and the declaration's hash, in which variables stand by their names."""
        return {
            "kind": "http-ocr",
            "endpoint": self._service.url,
            "service": sha256_bytes(msgspec.json.encode(self._service)),
            "reading_order": "keju" if self._ordering else "service",
        }

    @property
    def concurrency(self) -> int:
        """What the service allows."""
        return self._service.at_once

    def declines(self, request: Request) -> str:
        """Everything but a transcription of images."""
        return no_page(request, "an OCR service")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Have the images transcribed, one after the other.

        Raises:
            AskError: no answer came; its kind says why.
        """
        texts: list[str] = []
        lines: list[Line] = []
        for number, (data, ref) in enumerate(zip(images, request.images, strict=True), start=1):
            prefix = f"{number}-" if len(request.images) > 1 else ""
            read = tuple(lines_of(await self._post(data), self._service.reply, prefix))
            if self._ordering and all(line.polygon for line in read):
                order = order_lines(read, width=ref.width, height=ref.height)
                texts.append(page_text(order.reading))
                read = order.reading + order.asides
            else:
                texts.append("\n".join(line.text for line in read))
            lines += read
        text = "\n".join(filter(None, texts))
        return Answer(text=text, status="answered" if text else "empty", lines=tuple(lines))

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(self, data: bytes) -> object:
        """What the service says of one image, decoded."""
        fields = {name: self._filled(value) for name, value in self._service.fields.items()}
        fields[self._service.image] = base64.b64encode(data).decode()
        headers = {name: str(self._filled(each)) for name, each in self._service.headers.items()}
        as_json = self._service.body == "json"
        try:
            # A redirection would carry the image and the secrets elsewhere.
            async with self._connected().post(
                self._service.url,
                headers=headers,
                allow_redirects=False,
                json=fields if as_json else None,
                data=None if as_json else _as_form(fields),
            ) as reply:
                body = self._scrubbed(await _whole(reply))
        except (aiohttp.ClientError, OSError) as error:
            raise error_of_exception(error) from None
        if reply.status != HTTPStatus.OK:
            raise error_of_reply(reply.status, body, reply.headers)
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise bad_reply(f"no JSON: {excerpt(body[:2000].decode('utf-8', 'replace'))}") from None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT_SECONDS)
            self._session = aiohttp.ClientSession(timeout=timeout)
        return self._session

    def _filled(self, value: Value) -> Value:
        """A declared value with the environment's in place of its variables."""
        return Template(value).safe_substitute(self._secrets) if isinstance(value, str) else value

    def _scrubbed(self, body: bytes) -> bytes:
        for secret in self._secrets.values():
            if len(secret) >= _SECRET_LENGTH:
                body = body.replace(secret.encode(), _HIDDEN)
        return body


async def _whole(reply: aiohttp.ClientResponse) -> bytes:
    """The body of a reply that is no longer than `MOST_BYTES`."""
    body = bytearray()
    async for part in reply.content.iter_any():
        body += part
        if len(body) > MOST_BYTES:
            raise bad_reply(f"longer than {MOST_BYTES >> 20} MB")
    return bytes(body)


def _as_form(fields: dict[str, Value]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in fields.items()
    }
