"""The bundled OCR engine: PP-OCRv6 (small) from the RapidOCR wheel, in keju's reading order."""

from __future__ import annotations

import os
import threading
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from keju.errors import PrerequisiteError
from keju.files import sha256_file
from keju.items import Line
from keju.models.base import AskError, ModelOptions
from keju.models.engine import Engine, PageReading, picture
from keju.texts import _

_INSTALL = 'pip install "keju[ocr]"'

_READING_ORDER = "keju 0.1.0"
"""The name of the rule that orders lines (`order_lines`).

It is part of the cache keys of responses. Change it only if the order of lines changes: an
interrupted run is then not continued in another order.
"""

_MODELS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}

_MOST_PAGES = 4
"""The maximum number of pages read at once, whatever the number of cores: each may take 0.6 GB."""

_LONGEST = 50
"""The number of times that an image may be as long as wide. RapidOCR scales the shorter side to 736
pixels, so that a longer one takes more than 6 GB of memory, or a side vanishes."""


class PPOCR(Engine):
    """Transcribes page images, offline; the model string is ``ppocr``.

    The engine finds one box per column (or half column) and lists boxes from the top left; keju
    puts them into reading order, unless ``reading_order`` is off. Pages are read concurrently, as
    many as there are cores (at most 4). A page's text does not depend on the other pages, nor a
    line's on the other lines of its page.

    Source: RapidOCR 3.10.0 with its own settings, except that the 180° classifier is off (it
    changes nothing on upright pages), lines are recognised one by one, and the models are named, so
    that nothing is ever downloaded.

    Attributes:
        package: the runtime that executes the networks, and `install` how to install it.
        shared: whether one engine serves several threads at once; else each thread has its own.

    Raises:
        PrerequisiteError: the engine, the runtime, or a model file is not installed, or the runtime
            does not work on this machine.
    """

    name = "ppocr"
    program = "RapidOCR"
    package, install = "onnxruntime", _INSTALL
    shared = True

    def __init__(self, options: ModelOptions) -> None:
        self.ordering = options.reading_order
        self.concurrency, self.threads = divide_cores()
        self._models = self._find_models()
        self._lock = threading.Lock()
        self._engines: dict[int, Any] = {}

    @cached_property
    def identity(self) -> dict[str, str]:
        """Versions of engine and runtime, hashes of the models, and whether keju orders lines."""
        return {
            "kind": "ppocr",
            "rapidocr": version("rapidocr"),
            self.package: version(self.package),
            **{f"model_{part}": sha256_file(path) for part, path in self._models.items()},
            "lines_per_batch": "1",
            "reading_order": _READING_ORDER if self.ordering else "engine",
        }

    @property
    def settings(self) -> dict[str, object]:
        """RapidOCR's settings of the runtime."""
        return {
            "EngineConfig.onnxruntime.intra_op_num_threads": self.threads,
            # Memory is kept between requests: without it detection takes 1.5 times as long.
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
        }

    def load(self) -> Any:  # noqa: ANN401 - RapidOCR
        """RapidOCR with the installed models, named so that nothing is downloaded.

        Lines are recognised one by one: in a batch a line is padded to the longest one's width, so
        its text would depend on the other lines.
        """
        from rapidocr import EngineType, RapidOCR  # noqa: PLC0415 - takes a second, and an extra

        return RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "error",
                "Rec.rec_batch_num": 1,
                **{f"{part}.engine_type": EngineType(self.package) for part in self._models},
                **{f"{part}.model_path": str(path) for part, path in self._models.items()},
                **self.settings,
            }
        )

    def read(self, data: bytes, name: str) -> PageReading:
        """The lines of one image, unless it is too long."""
        image = picture(data, name)
        if max(image.size) > _LONGEST * min(image.size):
            problem = _(
                "RapidOCR cannot read an image of {} pixels, which is more than {} times as long "
                "as wide",
                f"{image.width} × {image.height}",
                _LONGEST,
                hint="Cut the image into parts or add margins to it, or use another engine",
            )
            raise AskError("engine", problem)
        # RapidOCR wants OpenCV's order of colours. Its flags persist, so each call sets all.
        pixels = np.asarray(image)[:, :, ::-1]
        result = self._engine()(pixels, use_det=True, use_cls=False, use_rec=True)
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
        self._engines = {}

    def _engine(self) -> Any:  # noqa: ANN401 - RapidOCR
        """The engine for the calling thread, loaded on first use."""
        thread = 0 if self.shared else threading.get_ident()
        with self._lock:
            if thread not in self._engines:
                self._engines[thread] = self.load()
            return self._engines[thread]

    def _find_models(self) -> dict[str, Path]:
        """The models in RapidOCR's wheel, by the part that uses them."""
        spec = find_spec("rapidocr")
        if spec is None or not spec.origin or find_spec(self.package) is None:
            raise PrerequisiteError(_("the OCR engine 'ppocr' on {}", self.package), self.install)
        folder = Path(spec.origin).parent / "models"
        for name in _MODELS.values():
            if not (folder / name).is_file():
                raise PrerequisiteError(_("the model {} of the OCR engine 'ppocr'", name), _INSTALL)
        return {part: folder / name for part, name in _MODELS.items()}


class PPOCROnOpenVINO(PPOCR):
    """The same models on OpenVINO; the model string is ``ppocr:openvino``.

    OpenVINO computes in bf16 where the processor has it, so texts differ between machines; the
    number format is part of the identity.
    """

    name = "ppocr:openvino"
    package, install = "openvino", 'pip install "keju[openvino]"'
    shared = False

    @cached_property
    def identity(self) -> dict[str, str]:
        """As for `PPOCR`, with the number format."""
        return {**super().identity, "precision": openvino_precision()}

    @property
    def settings(self) -> dict[str, object]:
        """RapidOCR's settings of the runtime."""
        return {
            "EngineConfig.openvino.inference_num_threads": self.threads,
            "EngineConfig.openvino.num_streams": 1,
            # Threads of two engines would be pinned to the same cores.
            "EngineConfig.openvino.enable_cpu_pinning": False,
        }


def openvino_precision() -> str:
    """The number format that OpenVINO chooses for this CPU: ``f32``, ``bf16`` or ``f16``.

    Raises:
        PrerequisiteError: OpenVINO does not work on this machine.
    """
    import openvino  # noqa: PLC0415 - an extra

    try:
        precision = openvino.Core().get_property("CPU", "INFERENCE_PRECISION_HINT")
    except RuntimeError as error:
        problem = _("OpenVINO on this CPU ({})", " ".join(str(error).split())[:300])
        hint = _("use --model ppocr, which runs with ONNX Runtime")
        raise PrerequisiteError(problem, hint) from None
    return str(precision.get_type_name())


def divide_cores(cores: int | None = None) -> tuple[int, int]:
    """The number of pages read at once, and of threads for each.

    A page per core with one thread, and more threads beyond 4 cores: while one page is decoded, the
    other cores process other pages.
    """
    cores = cores or os.cpu_count() or 1
    pages = min(cores, _MOST_PAGES)
    return pages, cores // pages
