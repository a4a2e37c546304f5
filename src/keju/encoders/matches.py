"""Similarity of images and texts, by a CLIP model that encodes both; also Chinese ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keju.encoders.folder import weights_hash
from keju.encoders.loading import loading
from keju.encoders.pictures import CLIP_KINDS, PictureEncoder

if TYPE_CHECKING:
    from PIL.Image import Image

_BATCH = 32


class MatchEncoder(PictureEncoder):
    """CLIP weights with their tokenizer, from a directory; downloads nothing and reads no pickle.

    Args:
        folder: as for `PictureEncoder`, with the tokenizer's files.

    Raises:
        PrerequisiteError: torch or transformers is not installed.
        DataError: the directory does not contain a complete encoder, or has no tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.weights_hash = weights_hash(folder, CLIP_KINDS)
        from transformers import AutoTokenizer  # noqa: PLC0415 - seconds to import

        with loading(folder):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
        self._most = int(self._model.config.text_config.max_position_embeddings)

    def text_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 for each text; a long text is truncated."""
        import torch  # noqa: PLC0415

        parts = []
        for start in range(0, len(texts), _BATCH):
            some = texts[start : start + _BATCH]
            sound = [text.encode("utf-8", "replace").decode() for text in some]
            tokens = self._tokenizer(
                sound, padding=True, truncation=True, max_length=self._most, return_tensors="pt"
            ).to(self._device)
            with torch.inference_mode():
                found: Any = self._model.get_text_features(
                    input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
                )
            rows = np.asarray(getattr(found, "pooler_output", found).cpu().numpy(), np.float32)
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            parts.append(rows / np.maximum(lengths, 1e-12))
        return np.concatenate(parts).astype(np.float32)

    def matches(self, pictures: Sequence[Image], texts: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each image with its text, -1 to 1."""
        seen = np.stack(list(self.vectors(pictures)))
        return np.asarray((seen * self.text_vectors(texts)).sum(axis=1), np.float32)
