"""`Engine`: the base class of OCR engines, which read images one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from keju.errors import KejuError, describe_exception
from keju.items import ImageRef, Line, Request
from keju.layout import order_lines, page_text
from keju.models.base import Answer, AskError, Model, status_of
from keju.models.request_pixels import unsupported_page_reason
from keju.texts import _


class PageReading(NamedTuple):
    """The result of an engine for one image.

    Attributes:
        lines: in the engine's own order; their ids are set by `Engine`.
        size: width and height of the image to which the positions of the lines refer.
        text: the text of an engine that returns no lines.
        finish_reason: ``length`` where the text was cut off; empty for engines without a limit.
    """

    lines: Sequence[Line] = ()
    size: tuple[int, int] = (0, 0)
    text: str = ""
    finish_reason: str = ""


class Engine(Model):
    """Transcribes the images of a request, one after the other.

    A subclass has a name, an identity and `read`, which is called in as many threads as there are
    requests in flight. The text of an image has one row per line, in the engine's order. With
    `ordering` the lines are in keju's reading order: the text is the running text with its notes in
    place, one row per column; marginal lines (centre column, head and foot notes) follow the others
    with their kinds and are not in the text.

    Attributes:
        program: the engine's name in errors.
        ordering: whether keju orders the lines; an image with a line without a position is left in
            the engine's order.
        concurrency: the number of requests in flight.
    """

    program = ""
    ordering = False
    concurrency = 1

    def unsupported_reason(self, request: Request) -> str:
        """Supports only the transcription of images."""
        return unsupported_page_reason(request)

    def read(self, data: bytes, name: str) -> PageReading:
        """Read one image; `data` are its stored bytes, `name` is its name in errors.

        Raises:
            AskError: there is no answer. Any other exception, except those of keju, is a failure
                of the kind ``engine``.
        """
        raise NotImplementedError

    async def read_image(self, data: bytes, ref: ImageRef, name: str) -> PageReading:
        """Call `read` in a thread; overridden by an engine that waits for a server."""
        del ref
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.read, data, name)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Transcribe the images.

        Raises:
            AskError: an image cannot be read, or the engine failed.
        """
        texts: list[str] = []
        lines: list[Line] = []
        finish_reason = ""
        for number, (ref, data) in enumerate(zip(request.images, images, strict=False), start=1):
            try:
                page = await self.read_image(data, ref, f"{request.item}, image {number}")
            except KejuError:
                raise
            except Exception as error:
                reason = describe_exception(error)[:300]
                raise AskError("engine", _("{}: {}", self.program, reason)) from error
            prefix = f"{number}-" if len(request.images) > 1 else ""
            text, page_lines = self._text_and_lines(page, prefix)
            texts.append(text)
            lines += page_lines
            if finish_reason != "length":
                finish_reason = page.finish_reason
        text = "\n".join(filter(None, texts))
        return Answer(
            text=text,
            status="truncated" if finish_reason == "length" else status_of(text),
            finish_reason=finish_reason,
            lines=tuple(lines),
        )

    async def close(self) -> None:
        """Release threads, connections and memory."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        del self._pool  # The next page opens it again.

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.concurrency, thread_name_prefix=self.program)

    def _text_and_lines(self, page: PageReading, prefix: str) -> tuple[str, Sequence[Line]]:
        lines = [
            replace(line, id=f"{prefix}{number}") for number, line in enumerate(page.lines, start=1)
        ]
        if self.ordering and all(line.polygon for line in lines):
            order = order_lines(lines, width=page.size[0], height=page.size[1])
            return page_text(order.reading), order.reading + order.marginalia
        return page.text or "\n".join(line.text for line in lines), lines
