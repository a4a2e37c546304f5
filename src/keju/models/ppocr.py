"""The bundled OCR engine: PP-OCRv6 (small) from the RapidOCR wheel, in keju's reading order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import version
from typing import NamedTuple, cast

import numpy as np

from keju.errors import describe_exception
from keju.files import sha256_file
from keju.items import Line, Point, Request
from keju.layout import order_lines, page_text
from keju.models.base import Answer, AskError, ModelOptions, status_of
from keju.models.ppocr_runtimes import (
    ONNXRUNTIME,
    OPENVINO,
    Engine,
    Pixels,
    Runtime,
    divide_cores,
    load_engine,
    model_files,
    searched_size,
)
from keju.models.request_pixels import picture, unsupported_page_reason
from keju.texts import _

_READING_ORDER = "keju 0.1.0"
"""The name of the rule that orders lines (`order_lines`).

It is part of the cache keys of responses. Change it only if the order of lines changes: an
interrupted run is then not continued in another order.
"""

_MOST_PIXELS = 32_000_000
"""The maximum size at which an image is searched for lines; it takes about 6 GB of memory."""


class _Box(NamedTuple):
    polygon: tuple[Point, ...]
    text: str
    score: float


class PPOCR:
    """Transcribes page images, offline.

    The model string is ``ppocr``, or ``ppocr:openvino`` for that runtime.

    The engine finds one box per column (or half column) and lists boxes from the top left. keju
    puts them into reading order: the answer's text is the running text with its notes in place, one
    row per column; the centre column, head and foot notes are not in the text, but are in the
    answer's lines with their kinds, after the others. With ``reading_order`` off the text has all
    boxes, one row each, in the engine's order. Several images are read one after the other.

    Pages are read concurrently, as many as there are cores (at most 4). A page's text does not
    depend on the other pages, nor a line's on the other lines of its page.

    Source: RapidOCR 3.10.0 with its own settings, except that the 180° classifier is off (it
    changes nothing on upright pages), lines are recognised one by one, and the models are named, so
    that nothing is ever downloaded.

    Raises:
        PrerequisiteError: the engine, the runtime, or a model file is not installed, or the runtime
            does not work on this machine.
    """

    def __init__(self, options: ModelOptions, *, runtime: Runtime = ONNXRUNTIME) -> None:
        self._ordered = options.reading_order
        self._runtime = runtime
        self._models = model_files(runtime)
        self._division = divide_cores()
        self._lock = threading.Lock()
        self._open()

    @property
    def name(self) -> str:
        """The model string."""
        return "ppocr" if self._runtime is ONNXRUNTIME else f"ppocr:{self._runtime.package}"

    @cached_property
    def identity(self) -> dict[str, str]:
        """Versions of engine and runtime, hashes of the models, and whether keju orders lines."""
        hashes = {f"model_{part}": sha256_file(at) for part, at in self._models.items()}
        return {
            "kind": "ppocr",
            "rapidocr": version("rapidocr"),
            **self._runtime.identity,
            **hashes,
            "lines_per_batch": "1",
            "reading_order": _READING_ORDER if self._ordered else "engine",
        }

    @property
    def concurrency(self) -> int:
        """The number of pages that are read concurrently."""
        return self._division.pages

    def unsupported_reason(self, request: Request) -> str:
        """Supports only the transcription of images."""
        return unsupported_page_reason(request)

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Transcribe the images.

        Raises:
            AskError: an image cannot be read, or the engine failed.
        """
        loop = asyncio.get_running_loop()
        texts: list[str] = []
        lines: list[Line] = []
        for number, data in enumerate(images, start=1):
            name = f"{request.item}, image {number}"
            prefix = f"{number}-" if len(images) > 1 else ""
            text, read = await loop.run_in_executor(self._pool, self._read, data, name, prefix)
            texts.append(text)
            lines += read
        text = "\n".join(filter(None, texts))
        return Answer(text=text, status=status_of(text), lines=tuple(lines))

    async def close(self) -> None:
        """Release the models. The next page loads them again."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._open()

    def _open(self) -> None:
        """Threads for reading, without an engine yet."""
        self._pool = ThreadPoolExecutor(self._division.pages, thread_name_prefix="ppocr")
        self._shared: Engine | None = None
        self._own = threading.local()

    def _engine(self) -> Engine:
        """The engine for the calling thread, loaded on first use."""
        if self._runtime.shared:
            with self._lock:
                if self._shared is None:
                    self._shared = self._load()
                return self._shared
        if not hasattr(self._own, "engine"):
            self._own.engine = self._load()
        return cast("Engine", self._own.engine)

    def _load(self) -> Engine:
        return load_engine(self._models, self._runtime, self._division.threads)

    def _read(self, data: bytes, name: str, prefix: str) -> tuple[str, tuple[Line, ...]]:
        """Text and lines of one image; runs in a thread."""
        image = picture(data, name)
        width, height = searched_size(*image.size)
        if not 0 < width * height <= _MOST_PIXELS:
            raise AskError(
                "engine",
                _(
                    "RapidOCR cannot read an image of {} pixels, because it would scale it to {} "
                    "pixels",
                    f"{image.width} × {image.height}",
                    f"{width} × {height}",
                    hint=(
                        "Cut the image into parts or add margins to it, so that it is at most 50 "
                        "times as long as wide, or use another engine"
                    ),
                ),
            )
        found = self._detect(np.asarray(image)[:, :, ::-1])
        lines = tuple(
            Line(id=f"{prefix}{number}", text=box.text, polygon=box.polygon, confidence=box.score)
            for number, box in enumerate(found, start=1)
        )
        if not self._ordered:
            return "\n".join(line.text for line in lines), lines
        order = order_lines(lines, width=image.width, height=image.height)
        return page_text(order.reading), order.reading + order.marginalia

    def _detect(self, pixels: Pixels) -> list[_Box]:
        """Outline, text and confidence of each box, from pixels in OpenCV's colour order."""
        try:
            # The flags of a call persist, so each call sets all of them.
            found = self._engine()(pixels, use_det=True, use_cls=False, use_rec=True)
        except Exception as error:
            words = describe_exception(error)[:300]
            raise AskError("engine", _("RapidOCR: {}", words)) from error
        if found.boxes is None or not found.txts or not found.scores:
            return []
        return [
            _Box(tuple((float(x), float(y)) for x, y in box), str(text), float(score))
            for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        ]


class PPOCROnOpenVINO(PPOCR):
    """The same models on OpenVINO; the model string is ``ppocr:openvino``.

    OpenVINO computes in bf16 where the processor has it, so texts differ between machines; the
    number format is part of the identity.

    Raises:
        PrerequisiteError: as for `PPOCR`.
    """

    def __init__(self, options: ModelOptions) -> None:
        super().__init__(options, runtime=OPENVINO)
