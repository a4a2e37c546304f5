"""The runtimes that execute the networks of `ppocr`: ONNX Runtime and OpenVINO, under RapidOCR."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from keju.errors import PrerequisiteError
from keju.texts import _

INSTALL = 'pip install "keju[ocr]"'
INSTALL_OPENVINO = 'pip install "keju[openvino]"'

MOST_PAGES = 4
"""The maximum number of pages read at once, whatever the number of cores: each may take 0.6 GB."""

_MODELS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}

Pixels = NDArray[np.uint8]


class Found(Protocol):
    """The result of RapidOCR: parallel lists, or None where it found nothing."""

    boxes: NDArray[np.float32] | None
    txts: Sequence[str] | None
    scores: Sequence[float] | None


class Engine(Protocol):
    """A loaded RapidOCR."""

    def __call__(self, pixels: Pixels, *, use_det: bool, use_cls: bool, use_rec: bool) -> Found:
        """Find and read the lines of an image."""


class Runtime(NamedTuple):
    """A runtime: its package and its settings.

    `settings` maps a number of threads to RapidOCR's parameters. `shared`: one engine can serve
    several threads at once; else each thread needs its own engine. `precision` names the number
    format in which the runtime computes on this machine, where that is its own choice.
    """

    package: str
    install: str
    settings: Callable[[int], dict[str, object]]
    shared: bool
    precision: Callable[[], str] | None = None

    @property
    def identity(self) -> dict[str, str]:
        """The package's version, and the number format where machines differ in it.

        Raises:
            PrerequisiteError: the runtime does not work on this machine.
        """
        chosen = {"precision": self.precision()} if self.precision else {}
        return {self.package: version(self.package), **chosen}


class CoreDivision(NamedTuple):
    """The division of the cores: concurrent pages, and threads of the runtime for each."""

    pages: int
    threads: int


def divide_cores(cores: int | None = None) -> CoreDivision:
    """One page per core, each with one thread; more threads beyond `MOST_PAGES` cores.

    While one page is decoded or its boxes are outlined, the other cores process other pages.
    """
    cores = cores or os.cpu_count() or 1
    pages = min(cores, MOST_PAGES)
    return CoreDivision(pages, cores // pages)


def model_files(runtime: Runtime) -> dict[str, Path]:
    """The models in RapidOCR's wheel, by the part that uses them.

    Raises:
        PrerequisiteError: RapidOCR, the runtime, or a model file is not installed.
    """
    spec = find_spec("rapidocr")
    if spec is None or not spec.origin or find_spec(runtime.package) is None:
        raise PrerequisiteError(_("the OCR engine 'ppocr' on {}", runtime.package), runtime.install)
    folder = Path(spec.origin).parent / "models"
    files = {part: folder / name for part, name in _MODELS.items()}
    missing = [path.name for path in files.values() if not path.is_file()]
    if missing:
        raise PrerequisiteError(_("the model {} of the OCR engine 'ppocr'", missing[0]), INSTALL)
    return files


def load_engine(models: Mapping[str, Path], runtime: Runtime, threads: int) -> Engine:
    """RapidOCR with these models, named so that nothing is downloaded.

    Lines are recognised one by one: in a batch a line is padded to the longest one's width, so its
    text would depend on the other lines.
    """
    from rapidocr import EngineType, RapidOCR  # noqa: PLC0415 - takes a second, and is an extra

    engine: Engine = RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.log_level": "error",
            "Rec.rec_batch_num": 1,
            **{f"{part}.engine_type": EngineType(runtime.package) for part in models},
            **{f"{part}.model_path": str(path) for part, path in models.items()},
            **runtime.settings(threads),
        }
    )
    return engine


def searched_size(width: int, height: int) -> tuple[int, int]:
    """The size in pixels to which RapidOCR 3.10 scales an image before it searches it for lines.

    It reduces the longer side to 2,000, enlarges the shorter one to 30 and then to 736, and puts
    margins above and below an image that is more than 8 times as wide as high. Each size is rounded
    to a multiple of 32: in a long and narrow image a side vanishes, and in a small and narrow one
    the other side grows without a limit.
    """
    if max(width, height) > 2000:
        width, height = _scaled(width, height, 2000 / max(width, height))
    if 0 < min(width, height) < 30:
        width, height = _scaled(width, height, 30 / min(width, height))
    if height <= 30 or width / max(height, 1) > 8:
        height = 2 * max(width // 8, 30) if height else 0
    if 0 < min(width, height) < 736:
        width, height = _scaled(width, height, 736 / min(width, height))
    return width, height


def _scaled(width: int, height: int, ratio: float) -> tuple[int, int]:
    return round(int(width * ratio) / 32) * 32, round(int(height * ratio) / 32) * 32


def _onnxruntime(threads: int) -> dict[str, object]:
    """Memory is kept between requests: without the arena detection takes 1.5 times as long."""
    return {
        "EngineConfig.onnxruntime.intra_op_num_threads": threads,
        "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
    }


def _openvino(threads: int) -> dict[str, object]:
    """Threads are not pinned: those of two engines would be pinned to the same cores."""
    return {
        "EngineConfig.openvino.inference_num_threads": threads,
        "EngineConfig.openvino.num_streams": 1,
        "EngineConfig.openvino.enable_cpu_pinning": False,
    }


def _openvino_precision() -> str:
    """The number format that OpenVINO chooses for this CPU: ``f32``, ``bf16`` or ``f16``."""
    import openvino  # noqa: PLC0415 - an extra

    try:
        chosen = openvino.Core().get_property("CPU", "INFERENCE_PRECISION_HINT")
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise PrerequisiteError(
            _("OpenVINO on this CPU ({})", reason),
            _("use --model ppocr, which runs with ONNX Runtime"),
        ) from None
    return str(chosen.get_type_name())


ONNXRUNTIME = Runtime("onnxruntime", INSTALL, _onnxruntime, shared=True)
OPENVINO = Runtime(
    "openvino", INSTALL_OPENVINO, _openvino, shared=False, precision=_openvino_precision
)
