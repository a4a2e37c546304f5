"""`Engine`: the base class of OCR engines, which read images one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from keju.errors import KejuError, describe_exception
from keju.items import Line, Request
from keju.layout import order_lines, page_text
from keju.models.base import Answer, AskError, Model, status_of
from keju.texts import _


class PageReading(NamedTuple):
    """The result of an engine for one image.

    `lines` are in the engine's own order, without ids. `size` is the width and height of the image
    to which their positions refer, `text` the text where it is not that of the lines, and
    `finish_reason` is ``length`` where the text was cut off.
    """

    lines: Sequence[Line] = ()
    size: tuple[int, int] = (0, 0)
    text: str | None = None
    finish_reason: str = ""


class Engine(Model):
    """Transcribes the images of a request, one after the other.

    A subclass has a name, an identity, a `program` (its name in errors) and `read`, which is called
    in as many threads as there are requests in flight. The text of an image has one row per line,
    in the engine's order. With `ordering`, unless a line has no position, the lines are in keju's
    reading order: the text is the running text with its notes in place, one row per column;
    marginal lines (centre column, head and foot notes) follow with their kinds and are not in it.
    """

    program = ""
    ordering = False

    def unsupported_reason(self, request: Request) -> str:
        """Supports only the transcription of images."""
        if request.form != "transcription":
            return _("an OCR engine only transcribes")
        return "" if request.images else _("there is no image to transcribe")

    def read(self, data: bytes, name: str) -> PageReading:
        """Read one image; `data` are its stored bytes, `name` is its name in errors.

        Any exception, except those of keju, is a failure of the kind ``engine``.
        """
        raise NotImplementedError

    async def read_page(self, request: Request, images: Sequence[bytes], index: int) -> PageReading:
        """Read an image of a request in a thread; overridden where none is needed."""
        name = f"{request.item}, image {index + 1}"
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self.read, images[index], name)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Transcribe the images."""
        texts: list[str] = []
        lines: list[Line] = []
        finish_reason = ""
        for index in range(len(request.images)):
            try:
                page = await self.read_page(request, images, index)
            except KejuError:
                raise
            except Exception as error:
                reason = describe_exception(error)[:300]
                raise AskError("engine", _("{}: {}", self.program, reason)) from error
            prefix = f"{index + 1}-" if len(request.images) > 1 else ""
            numbered = enumerate(page.lines, start=1)
            page_lines = [replace(line, id=f"{prefix}{number}") for number, line in numbered]
            text = "\n".join(line.text for line in page_lines) if page.text is None else page.text
            if self.ordering and all(line.polygon for line in page_lines):
                order = order_lines(page_lines, width=page.size[0], height=page.size[1])
                text = page_text(order.reading)
                page_lines = [*order.reading, *order.marginalia]
            texts.append(text)
            lines += page_lines
            if finish_reason != "length":
                finish_reason = page.finish_reason
        text = "\n".join(filter(None, texts))
        status = "truncated" if finish_reason == "length" else status_of(text)
        return Answer(text=text, status=status, finish_reason=finish_reason, lines=tuple(lines))

    async def close(self) -> None:
        """Release threads, connections and memory."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        del self._pool  # The next page opens it again.

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.concurrency, thread_name_prefix=self.program)
