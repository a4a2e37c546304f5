"""Requests, and what a model that is opened for one of them answers."""

from __future__ import annotations

import asyncio
import hashlib
import io
from pathlib import Path

from PIL import Image

from keju.items import AnswerForm, ImageRef, Request
from keju.models import Answer, ModelOptions, open_model


def ref(data: bytes, name: str = "a.png") -> ImageRef:
    digest = hashlib.sha256(data).hexdigest()
    return ImageRef(path=f"images/{name}", sha256=digest, width=24, height=24, size=len(data))


def request(*images: ImageRef, prompt: str = "[item x] 图中何字？") -> Request:
    return Request(
        item="x", benchmark="MCS-Bench", task="T1", form="text", prompt=prompt, images=images
    )


def ask_once(
    spec: str, asked: Request | None = None, images: tuple[bytes, ...] = (), **options: object
) -> Answer:
    """The answer of a model that is opened for one request and closed after it."""

    async def once() -> Answer:
        model = open_model(spec, ModelOptions(**options))
        try:
            return await model.answer(asked or request(), images)
        finally:
            await model.close()

    return asyncio.run(once())


def replayed(path: Path, item: str, **fields: object) -> Answer:
    """The answer to an item in a file of responses."""
    about = {"benchmark": "b", "task": "t", "form": "text", "prompt": "?", **fields}
    return ask_once(f"replay:{path}", Request(item=item, **about))


IMAGE = ImageRef(path="page.png", sha256="0" * 64, width=1, height=1, size=1)


def page_request(form: AnswerForm = "transcription", images: int = 1) -> Request:
    """What an engine is asked about images of a page."""
    return Request(
        item="page-1", benchmark="AncientDoc", task="page_level_ocr", form=form, prompt="?",
        images=(IMAGE,) * images,
    )  # fmt: skip


def white_png(width: int = 400, height: int = 300) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(buffer, "PNG")
    return buffer.getvalue()
