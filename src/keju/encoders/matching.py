"""BERTScore: token matching of text pairs, on the device of the encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from keju.encoders.cache import Array
from keju.encoders.text import TextEncoder
from keju.metrics.base import f_beta

Pair = tuple[str, str]
"""A candidate (the response) and its reference, in this order."""

REFERENCE_BYTES = 512 << 20
"""The size of the references' matrices in memory from which all are dropped."""

_WINDOW_PAIRS = {"cpu": 64, "cuda": 512}
"""Pairs whose matrices are in memory together."""


class _Matrix(NamedTuple):
    """A text's token vectors [tokens, size] of length 1, and the tokens' weights, whose sum is 1.

    Both are tensors on the encoder's device.
    """

    rows: Any
    weights: Any


class TokenMatcher:
    """BERTScore: every token is matched to the likest token of the other text.

    Zhang et al. 2020, section 3, as bert-score 0.3.13 computes it: a special token earns nothing
    itself but may be matched. With a text on either side that has no other tokens all three are 0,
    so that an empty answer is never paid.

    Only precision and recall are copied from the encoder's device. The matrices of references stay
    there, up to `REFERENCE_BYTES`: the floor of a task and its next model use them again. Texts are
    truncated at the encoder's `max_tokens`.
    """

    def __init__(self, encoder: TextEncoder, layer: int) -> None:
        self._encoder = encoder
        self._layer = layer
        self._matrices: dict[str, _Matrix] = {}

    def match(self, pairs: Sequence[Pair]) -> Iterator[dict[Pair, Array]]:
        """Precision, recall and F1 of one window of pairs after the other, by reference."""
        ordered = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
        references = {reference for _, reference in pairs}
        size = _WINDOW_PAIRS[self._encoder.device]
        for start in range(0, len(ordered), size):
            window = ordered[start : start + size]
            texts = dict.fromkeys(text for pair in window for text in pair)
            self._encode([text for text in texts if text not in self._matrices])
            yield self._scores(window)
            for text in texts.keys() - references:
                self._matrices.pop(text, None)
            if sum(matrix.rows.nbytes for matrix in self._matrices.values()) > REFERENCE_BYTES:
                self._matrices.clear()

    def _encode(self, texts: Sequence[str]) -> None:
        """Compute the matrices of the texts that are not empty."""
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base

        rows = self._encoder.tokenise(texts, max_tokens=self._encoder.max_tokens)
        full = [(text, row) for text, row in zip(texts, rows, strict=True) if row.content.any()]
        for batch in self._encoder.token_states([row for _, row in full], layer=self._layer):
            for place, vectors in batch.items():
                text, row = full[place]
                weights = torch.from_numpy(row.content / row.content.sum())
                # In float64, so that tiny float32 numbers have a length too.
                lengths = torch.linalg.vector_norm(
                    vectors, dim=-1, keepdim=True, dtype=torch.float64
                )
                unit_rows = (vectors / lengths.clamp_min(1e-300)).float()
                self._matrices[text] = _Matrix(unit_rows, weights.to(self._encoder.device))

    def _scores(self, window: Sequence[Pair]) -> dict[Pair, Array]:
        import torch  # noqa: PLC0415 - as above

        full = [pair for pair in window if all(text in self._matrices for text in pair)]
        rates = []
        for pair in full:
            candidate, reference = (self._matrices[text] for text in pair)
            likeness = candidate.rows @ reference.rows.T
            precision = likeness.amax(1).double() @ candidate.weights
            rates.append(torch.stack([precision, likeness.amax(0).double() @ reference.weights]))
        # One copy from the device for the whole window.
        copied = torch.stack(rates).tolist() if rates else []
        scores: dict[Pair, Array] = {pair: np.zeros(3) for pair in window}
        for pair, (precision, recall) in zip(full, copied, strict=True):
            f1 = f_beta(precision, recall) if min(precision, recall) > 0 else 0.0
            scores[pair] = np.array([precision, recall, f1])
        return scores
