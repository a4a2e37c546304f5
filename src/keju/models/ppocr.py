"""The embedded OCR engine: PP-OCRv6 (small) from the RapidOCR wheel, in keju's reading order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import keju
from keju.errors import PrerequisiteError
from keju.files import sha256_file
from keju.items import Line, Point, Request
from keju.layout import order_lines, page_text
from keju.models.base import Answer, AskError, ModelOptions, status_of
from keju.models.pictures import no_page, picture

_INSTALL = "pip install 'keju[ocr]'"
_MODELS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}

Pixels = NDArray[np.uint8]


class _Found(Protocol):
    """What RapidOCR gives back: parallel lists, or None where it found nothing."""

    boxes: NDArray[np.float32] | None
    txts: Sequence[str] | None
    scores: Sequence[float] | None


class _Engine(Protocol):
    def __call__(self, pixels: Pixels, *, use_det: bool, use_cls: bool, use_rec: bool) -> _Found:
        """Find and read the lines of an image."""


class _Box(NamedTuple):
    polygon: tuple[Point, ...]
    text: str
    score: float


class PPOCR:
    """Reads page images, offline; spelled ``ppocr``.

    The engine finds one box a column (or half column) and lists boxes from the top left. keju puts
    them into reading order: the answer's text is the running text with its notes in place, a row
    for each column; the centre column, head and foot notes are not in the text but stand, with
    their kinds, behind the others in the answer's lines. With ``reading_order`` off the text has
    all boxes, a row each, in the engine's order. Several images are read one after the other.

    Source: RapidOCR 3.10.0 with its own settings, but the 180° classifier off (it changes nothing
    on upright pages) and the models named, so that nothing is ever downloaded.

    Raises:
        PrerequisiteError: the engine, or a model file of its wheel, is not installed.
    """

    def __init__(self, options: ModelOptions) -> None:
        self._ordered = options.reading_order
        self._models = _model_files()
        self._lock = threading.Lock()
        self._engine: _Engine | None = None
        self._identity: dict[str, str] = {}

    @property
    def name(self) -> str:
        """As the user spells it."""
        return "ppocr"

    @property
    def identity(self) -> dict[str, str]:
        """Versions of engine and runtime, hashes of the models, and whether keju orders lines."""
        if not self._identity:
            hashes = {f"model_{part}": sha256_file(at) for part, at in self._models.items()}
            self._identity = {
                "kind": "ppocr",
                "rapidocr": version("rapidocr"),
                "onnxruntime": version("onnxruntime"),
                **hashes,
                "reading_order": f"keju {keju.__version__}" if self._ordered else "engine",
            }
        return dict(self._identity)

    @property
    def concurrency(self) -> int:
        """One: the engine itself uses every core."""
        return 1

    def declines(self, request: Request) -> str:
        """Everything but a transcription of images."""
        return no_page(request, "ppocr")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """Transcribe the images.

        Raises:
            AskError: an image can't be read, or the engine broke.
        """
        texts: list[str] = []
        lines: list[Line] = []
        for number, data in enumerate(images, start=1):
            name = f"{request.item}, image {number}"
            prefix = f"{number}-" if len(images) > 1 else ""
            text, read = await asyncio.to_thread(self._read, data, name, prefix)
            texts.append(text)
            lines += read
        text = "\n".join(filter(None, texts))
        return Answer(text=text, status=status_of(text), lines=tuple(lines))

    async def close(self) -> None:
        """Let the models go."""
        self._engine = None

    def _read(self, data: bytes, name: str, prefix: str) -> tuple[str, tuple[Line, ...]]:
        """Text and lines of one image; runs in a thread."""
        image = picture(data, name)
        with self._lock:
            found = self._detect(np.asarray(image)[:, :, ::-1])
        lines = tuple(
            Line(id=f"{prefix}{number}", text=box.text, polygon=box.polygon, confidence=box.score)
            for number, box in enumerate(found, start=1)
        )
        if not self._ordered:
            return "\n".join(line.text for line in lines), lines
        order = order_lines(lines, width=image.width, height=image.height)
        return page_text(order.reading), order.reading + order.asides

    def _detect(self, pixels: Pixels) -> list[_Box]:
        """Outline, text and confidence of each box, from pixels in OpenCV's order of colours."""
        try:
            if self._engine is None:
                self._engine = _load(self._models)
            # The flags of a call outlive it, so each call says them all.
            found = self._engine(pixels, use_det=True, use_cls=False, use_rec=True)
        except Exception as error:
            raise AskError("engine", f"RapidOCR: {error}") from error
        if found.boxes is None or not found.txts or not found.scores:
            return []
        return [
            _Box(tuple((float(x), float(y)) for x, y in box), str(text), float(score))
            for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        ]


def _model_files() -> dict[str, Path]:
    """Where the wheel keeps the models."""
    spec = find_spec("rapidocr")
    if spec is None or not spec.origin or find_spec("onnxruntime") is None:
        raise PrerequisiteError("the OCR engine 'ppocr'", _INSTALL)
    folder = Path(spec.origin).parent / "models"
    files = {part: folder / name for part, name in _MODELS.items()}
    missing = [path.name for path in files.values() if not path.is_file()]
    if missing:
        raise PrerequisiteError(f"the model {missing[0]} of the OCR engine 'ppocr'", _INSTALL)
    return files


def _load(models: dict[str, Path]) -> _Engine:
    from rapidocr import RapidOCR  # noqa: PLC0415 - takes a second, and is an extra

    engine: _Engine = RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.log_level": "error",
            **{f"{part}.model_path": str(path) for part, path in models.items()},
        }
    )
    return engine
