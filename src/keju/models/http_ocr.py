"""``http-ocr:SERVICE``: an OCR service that accepts an image over HTTP and returns lines."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from string import Template

import msgspec
from msgspec.structs import replace

from keju.files import sha256_bytes
from keju.items import ImageRef, Line, Request
from keju.layout import order_lines, page_text
from keju.models.addresses import destinations_of
from keju.models.base import Answer, AskError, ModelOptions, status_of
from keju.models.capabilities import Capabilities
from keju.models.http_client import Wire
from keju.models.ocr_replies import bad_reply, lines_of
from keju.models.ocr_services import Service, Value, service_of
from keju.models.replies import body_of, excerpt, json_value
from keju.models.request_pixels import unsupported_page_reason
from keju.models.secrets import Secrets


class HttpOcr:
    """One OCR service; its declaration describes its requests and replies (see `Service`).

    The image is sent as it is stored, in base64, unless it is beyond the limits that the user gave;
    then the lines' positions are converted back to the stored image. The text has one row per line,
    in the service's order, or in keju's where the service has none. Secrets are read from the
    environment and are removed from all replies of the service.

    Raises:
        UsageError: no such service, or an environment variable that it needs is not set.
        DataError: its file is not valid.
    """

    def __init__(self, spec: str, options: ModelOptions) -> None:
        self._spec = spec
        self._service: Service = service_of(spec)
        self._fit = options.fit
        self._ordering = options.reading_order and not self._service.ordered
        self._filling = self._service.secrets() if options.asking else {}
        self._secrets = Secrets(self._filling.values())
        self._destinations = destinations_of(self._service.url)
        self._wire = Wire(self._service.url, options.timeout)

    @property
    def name(self) -> str:
        """``http-ocr:SERVICE``."""
        return f"http-ocr:{self._spec}"

    @property
    def identity(self) -> dict[str, str]:
        """The address and the declaration's hash, with names of variables instead of values."""
        return {
            "kind": "http-ocr",
            "endpoint": self._service.url,
            "service": sha256_bytes(msgspec.json.encode(self._service)),
            "reading_order": "keju" if self._ordering else "service",
            **self._fit.identity,
        }

    @property
    def concurrency(self) -> int:
        """The limit of the service."""
        return self._service.at_once

    @property
    def capabilities(self) -> Capabilities:
        """Only the service's host."""
        return Capabilities(destinations=self._destinations)

    def unsupported_reason(self, request: Request) -> str:
        """Supports only the transcription of images."""
        return unsupported_page_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Transcribe the images, one after the other.

        Raises:
            AskError: there is no answer; its kind is the reason.
        """
        texts: list[str] = []
        lines: list[Line] = []
        for number, (data, ref) in enumerate(zip(images, request.images, strict=True), start=1):
            prefix = f"{number}-" if len(request.images) > 1 else ""
            sent, times = await self._fitted(data, ref)
            found = lines_of(await self._post(sent), self._service.reply, prefix)
            read = tuple(_enlarged(line, times) for line in found)
            if self._ordering and all(line.polygon for line in read):
                order = order_lines(read, width=ref.width, height=ref.height)
                texts.append(page_text(order.reading))
                read = order.reading + order.marginalia
            else:
                texts.append("\n".join(line.text for line in read))
            lines += read
        text = "\n".join(filter(None, texts))
        return Answer(text=text, status=status_of(text), lines=tuple(lines))

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _fitted(self, data: bytes, ref: ImageRef) -> tuple[bytes, tuple[float, float]]:
        """The image as sent, and the factors by which the stored one is wider and higher."""
        if not self._fit.touches(ref):
            return data, (1.0, 1.0)
        small = await asyncio.to_thread(self._fit.fitted, data, ref)
        return small.data, (ref.width / small.size[0], ref.height / small.size[1])

    async def _post(self, data: bytes) -> object:
        """The decoded reply of the service for one image."""
        fields = {name: self._filled(value) for name, value in self._service.fields.items()}
        fields[self._service.image] = base64.b64encode(data).decode()
        headers = {name: str(self._filled(each)) for name, each in self._service.headers.items()}
        form: list[bytes] | dict[str, str] = _as_form(fields)
        if self._service.body == "json":
            form = [msgspec.json.encode(fields)]
            headers = {"Content-Type": "application/json", **headers}
        try:
            reply = await self._wire.post(form, headers)
            body = body_of(reply.status, reply.body, reply.headers, self._secrets)
        except AskError as error:
            failure = self._wire.through_proxy(error)
            raise failure.with_message(self._secrets.hide(str(failure))) from None
        try:
            return json_value(body)
        except ValueError:
            raise bad_reply(f"no JSON: {excerpt(body[:2000].decode('utf-8', 'replace'))}") from None

    def _filled(self, value: Value) -> Value:
        """A declared value with environment variables replaced."""
        return Template(value).safe_substitute(self._filling) if isinstance(value, str) else value


def _enlarged(line: Line, times: tuple[float, float]) -> Line:
    if times == (1.0, 1.0):
        return line
    return replace(line, polygon=tuple((x * times[0], y * times[1]) for x, y in line.polygon))


def _as_form(fields: dict[str, Value]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in fields.items()
    }
