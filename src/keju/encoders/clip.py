"""CLIP models, also Chinese ones: vectors of images and of texts, compared by their cosine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from keju.encoders.weights import (
    LOCAL,
    best_device,
    check_packages,
    load_model,
    loading,
    model_config,
    weights_file,
    weights_hash,
)
from keju.files import read_json, sha256_file

if TYPE_CHECKING:
    from PIL.Image import Image

CLIP_KINDS = ("clip", "chinese_clip")
"""Types of model, as transformers names them, that can encode images."""

_BATCH = {"cpu": 16, "cuda": 128}


class _Preparation(msgspec.Struct):
    """The colour settings of preprocessor_config.json; by default OpenAI's CLIP."""

    image_mean: tuple[float, float, float] = (0.48145466, 0.4578275, 0.40821073)
    image_std: tuple[float, float, float] = (0.26862954, 0.26130258, 0.27577711)


class ClipEncoder:
    """CLIP weights from a directory; downloads nothing and reads no pickle.

    The directory has config.json and model.safetensors, and may have preprocessor_config.json. For
    `texts` it also has a tokenizer, which is then part of the hash of the weights.

    Raises:
        PrerequisiteError: torch or transformers is not installed.
        DataError: the directory does not contain a complete encoder.
    """

    def __init__(self, folder: Path, *, texts: bool = False) -> None:
        check_packages()
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base
        import transformers  # noqa: PLC0415 - as above

        model_config(folder, CLIP_KINDS)
        files = weights_hash(folder, CLIP_KINDS) if texts else sha256_file(weights_file(folder))
        self.weights_hash = files
        prepared = folder / "preprocessor_config.json"
        self._prepare = read_json(prepared, _Preparation) if prepared.exists() else _Preparation()
        self._device = best_device(torch)
        if texts:
            with loading(folder):
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **LOCAL)
        self._model = load_model(transformers.AutoModel, folder, dtype=torch.float32)
        self._side = int(self._model.config.vision_config.image_size)
        self._model.to(self._device).eval()

    def vectors(self, pictures: Iterable[Image]) -> Iterator[NDArray[np.float32]]:
        """One vector of length 1 for each image, in order."""
        import torch  # noqa: PLC0415

        waiting = iter(pictures)
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            while batch := list(islice(waiting, _BATCH[self._device])):
                pixels = torch.from_numpy(np.stack(list(threads.map(self._pixels, batch))))
                with torch.inference_mode():
                    features = self._model.get_image_features(pixel_values=pixels.to(self._device))
                yield from _unit_rows(features)

    def _pixels(self, picture: Image) -> NDArray[np.float32]:
        """Pixels as CLIP expects them: resized by the shorter side, centre-cropped, scaled."""
        from PIL.Image import Resampling  # noqa: PLC0415

        scale = self._side / min(picture.size)
        size = [max(self._side, round(edge * scale)) for edge in picture.size]
        left, top = ((edge - self._side) // 2 for edge in size)
        square = picture.convert("RGB").resize((size[0], size[1]), Resampling.BICUBIC)
        square = square.crop((left, top, left + self._side, top + self._side))
        values = np.asarray(square, np.float32) / 255.0
        scaled = (values - np.array(self._prepare.image_mean)) / np.array(self._prepare.image_std)
        return np.ascontiguousarray(scaled.transpose(2, 0, 1), np.float32)

    def text_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 for each text, all in one pass; a long text is truncated."""
        import torch  # noqa: PLC0415

        tokens = self._tokenizer(
            [text.encode("utf-8", "replace").decode() for text in texts],
            padding=True,
            truncation=True,
            max_length=int(self._model.config.text_config.max_position_embeddings),
            return_tensors="pt",
        ).to(self._device)
        with torch.inference_mode():
            features = self._model.get_text_features(
                input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
            )
        return _unit_rows(features)

    def matches(self, pictures: Sequence[Image], texts: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each image with its text, -1 to 1."""
        seen = np.stack(list(self.vectors(pictures)))
        return np.asarray((seen * self.text_vectors(texts)).sum(axis=1), np.float32)


def _unit_rows(features: Any) -> NDArray[np.float32]:  # noqa: ANN401 - transformers' type
    """The vectors that a model returns, each at length 1."""
    rows = np.asarray(getattr(features, "pooler_output", features).cpu().numpy(), np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)
