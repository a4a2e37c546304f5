"""The bundled OCR engine: PP-OCRv6 (small) from the RapidOCR wheel, in keju's reading order."""

from __future__ import annotations

import os
import threading
from functools import cached_property
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import numpy as np

from keju.errors import PrerequisiteError
from keju.files import sha256_file
from keju.images import open_image
from keju.items import Line
from keju.models.base import AskError, ModelOptions
from keju.models.engine import Engine, PageReading
from keju.texts import _

_READING_ORDER = "keju 0.1.0"
"""The name of the rule that orders lines (`order_lines`), part of request keys. Change it if the
order of lines changes: an interrupted run is then not continued in another order."""

_MODELS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}

_MOST_PAGES = 4
"""The maximum number of pages read at once, whatever the number of cores: each may take 0.6 GB."""

_LONGEST = 50
"""The number of times that an image may be as long as wide. RapidOCR scales the shorter side to 736
pixels, so that a longer one takes more than 6 GB of memory, or a side vanishes."""


class PPOCR(Engine):
    """Transcribes page images, offline; the model string is ``ppocr``.

    The engine finds one box per column (or half column) and lists boxes from the top left; keju
    puts them into reading order, unless ``reading_order`` is off. Pages are read concurrently. A
    page's text does not depend on the other pages, nor a line's on the other lines of its page.

    Source: RapidOCR 3.10.0 with its own settings, except that the 180° classifier is off (it
    changes nothing on upright pages), lines are recognised one by one, and the models are named, so
    that nothing is ever downloaded.
    """

    name = "ppocr"
    program = "RapidOCR"

    def __init__(self, options: ModelOptions) -> None:
        self.ordering = options.reading_order
        self.concurrency, self.threads = divide_cores()
        self._models = _find_models()
        self._lock = threading.Lock()
        self._engine: Any = None

    @cached_property
    def identity(self) -> dict[str, str]:
        """Versions of engine and runtime, hashes of the models, and whether keju orders lines."""
        return {
            "kind": "ppocr",
            "rapidocr": version("rapidocr"),
            "onnxruntime": version("onnxruntime"),
            **{f"model_{part}": sha256_file(path) for part, path in self._models.items()},
            "lines_per_batch": "1",
            "reading_order": _READING_ORDER if self.ordering else "engine",
        }

    @property
    def settings(self) -> dict[str, object]:
        """RapidOCR's settings that affect speed or the text of a line."""
        return {
            # In a batch a line is padded to the longest one's width: its text would depend on it.
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": self.threads,
            # Memory is kept between requests: without it detection takes 1.5 times as long.
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
        }

    def load(self) -> Any:  # noqa: ANN401 - RapidOCR
        """RapidOCR with the installed models, named so that nothing is downloaded."""
        from rapidocr import EngineType, RapidOCR  # noqa: PLC0415 - takes a second, and an extra

        return RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "error",
                **{f"{part}.engine_type": EngineType("onnxruntime") for part in self._models},
                **{f"{part}.model_path": str(path) for part, path in self._models.items()},
                **self.settings,
            }
        )

    def read(self, data: bytes, name: str) -> PageReading:
        """The lines of one image, unless it is too long."""
        image = open_image(data, name=name)
        if max(image.size) > _LONGEST * min(image.size):
            problem = _(
                "RapidOCR cannot read an image of {} pixels, which is more than {} times as long "
                "as wide",
                f"{image.width} × {image.height}",
                _LONGEST,
                hint="Cut the image into parts or add margins to it, or use another engine",
            )
            raise AskError("engine", problem)
        with self._lock:
            self._engine = engine = self._engine or self.load()
        # RapidOCR wants OpenCV's order of colours. Its flags persist, so each call sets all.
        pixels = np.asarray(image)[:, :, ::-1]
        result = engine(pixels, use_det=True, use_cls=False, use_rec=True)
        if result.boxes is None or not result.txts or not result.scores:
            return PageReading()
        lines = []
        for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
            polygon = tuple((float(x), float(y)) for x, y in corners)
            lines.append(Line(id="", text=str(text), polygon=polygon, confidence=float(score)))
        return PageReading(lines, image.size)

    async def close(self) -> None:
        """Release the models. The next page loads them again."""
        await super().close()
        self._engine = None


def _find_models() -> dict[str, Path]:
    """The models in RapidOCR's wheel, by the part that uses them.

    Raises:
        PrerequisiteError: one is not there.
    """
    folder = Path(str(distribution("rapidocr").locate_file("rapidocr/models")))
    for name in _MODELS.values():
        if not (folder / name).is_file():
            missing = _("the model {} of the OCR engine 'ppocr'", name)
            raise PrerequisiteError(missing, 'pip install "keju[ocr]"')
    return {part: folder / name for part, name in _MODELS.items()}


def divide_cores(cores: int | None = None) -> tuple[int, int]:
    """The number of pages read at once, and of threads for each.

    A page per core with one thread, and more threads beyond 4 cores: while one page is decoded, the
    other cores process other pages.
    """
    cores = cores or os.cpu_count() or 1
    pages = min(cores, _MOST_PAGES)
    return pages, cores // pages
