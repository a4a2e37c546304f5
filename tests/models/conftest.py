"""One question about one picture, and what a model answers to it."""

from __future__ import annotations

import asyncio
import hashlib

from keju.items import ImageRef, Request
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
