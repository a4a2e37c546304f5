"""``got:DIR``: GOT-OCR 2.0 from a directory of weights, through transformers; downloads nothing."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from keju.encoders.weights import (
    LOCAL,
    best_device,
    load_model,
    loading,
    model_config,
    quiet,
    weights_file,
    weights_hash,
)
from keju.errors import DataError, UsageError
from keju.images import open_image
from keju.local_paths import check_local
from keju.models.base import ModelOptions
from keju.models.engine import Engine, PageReading

_MOST_TOKENS = 4096
"""The default maximum of new tokens per image: the limit of its authors."""

_KINDS = ("got_ocr2",)
_PROCESSOR = ("preprocessor_config.json", "processor_config.json")
_SHRUNK = 4  # the reduction of the patches' grid to tokens, by two strides of 2
_END = "<|im_end|>"


class Got(Engine):
    """Transcribes images as plain text, in the model's own order.

    The directory has the weights in transformers' format (``stepfun-ai/GOT-OCR-2.0-hf``):
    config.json, model.safetensors, the tokenizer's files and preprocessor_config.json. Decoding is
    greedy; float32 on a CPU, bfloat16 on CUDA.
    """

    program = "GOT-OCR"

    def __init__(self, folder: str, options: ModelOptions) -> None:
        check_local(folder, "got:")
        if not folder or not Path(folder).is_dir():
            raise UsageError(
                "got:{} needs the folder with the weights of GOT-OCR, as in got:DIR", folder
            )
        self._folder = Path(folder)
        self.name = f"got:{self._folder}"
        model_config(self._folder, _KINDS)
        weights_file(self._folder)
        self._most = options.decoding.max_tokens or _MOST_TOKENS

    @cached_property
    def identity(self) -> dict[str, str]:
        """The hash of the weights, versions, precision, and the limit of tokens."""
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base

        return {
            "kind": "got",
            "weights": weights_hash(self._folder, _KINDS),
            "transformers": version("transformers"),
            "torch": version("torch"),
            "dtype": "bfloat16" if best_device(torch) == "cuda" else "float32",
            "max_tokens": str(self._most),
        }

    def read(self, data: bytes, name: str) -> PageReading:
        """The text of one image."""
        image = open_image(data, name=name)
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base

        model, processor = self._loaded
        tokenizer, vision = processor.tokenizer, model.config.vision_config
        count = (vision.image_size // vision.patch_size // _SHRUNK) ** 2
        tensors = processor(image, num_image_tokens=count, return_tensors="pt").to(model.device)
        tensors["pixel_values"] = tensors["pixel_values"].to(model.dtype)
        with torch.inference_mode(), quiet():
            tokens = model.generate(
                **tensors,
                do_sample=False,
                tokenizer=tokenizer,
                stop_strings=_END,
                max_new_tokens=self._most,
            )[0, tensors["input_ids"].shape[1] :]
        complete = len(tokens) < self._most or _END in tokenizer.decode(tokens[-1:])
        text = tokenizer.decode(tokens, skip_special_tokens=True).strip()
        return PageReading(text=text, finish_reason="stop" if complete else "length")

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The model on its device, and its processor."""
        import torch  # noqa: PLC0415
        import transformers  # noqa: PLC0415

        if not any((self._folder / name).is_file() for name in _PROCESSOR):
            raise DataError("has no {}", _PROCESSOR[0], file=self._folder)
        with loading(self._folder):
            processor = transformers.AutoProcessor.from_pretrained(str(self._folder), **LOCAL)
        device = best_device(torch)
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        kind = transformers.GotOcr2ForConditionalGeneration
        model = load_model(kind, self._folder, "model", dtype=dtype)
        return model.to(device).eval(), processor

    async def close(self) -> None:
        """Release the model."""
        await super().close()
        vars(self).pop("_loaded", None)
