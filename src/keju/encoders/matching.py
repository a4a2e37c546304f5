"""Token matching of text pairs, where each text is encoded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keju.encoders.cache import VectorCache, text_key
from keju.encoders.text import TextEncoder
from keju.metrics.base import PRF
from keju.metrics.semantic import match_score, match_tokens, unit_rows

Pair = tuple[str, str]
"""A candidate (the response) and its reference, in this order."""

_WINDOW_CHARACTERS = {"cpu": 1 << 15, "cuda": 1 << 18}


class Matcher:
    """Matches pairs window by window, keeping a text's matrix only until its last use.

    Args:
        encoder: computes token vectors.
        cache: stores the references' matrices.
        space: weights, layer and precision for the cache's keys.
        layer: the layer of the vectors.
    """

    def __init__(self, encoder: TextEncoder, cache: VectorCache, space: str, layer: int) -> None:
        self.encoder = encoder
        self.cache = cache
        self.space = f"{space}:tokens"
        self.layer = layer
        self._held: dict[str, tuple[Any, NDArray[np.float64]]] = {}

    def match(self, pairs: Sequence[Pair]) -> Iterator[dict[Pair, PRF]]:
        """Results of windows of pairs; pairs with the same reference follow each other."""
        ordered = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
        uses = Counter(text for pair in ordered for text in pair)
        for window in self._windows(ordered):
            self._hold(window)
            yield self._score(window)
            uses.subtract(text for pair in window for text in pair)
            for text in {text for pair in window for text in pair}:
                if uses[text] == 0:
                    del self._held[text]

    def _windows(self, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
        limit = _WINDOW_CHARACTERS[self.encoder.device]
        window: list[Pair] = []
        size = 0
        for pair in pairs:
            window.append(pair)
            size += sum(min(len(text), self.encoder.max_tokens) + 2 for text in pair)
            if size >= limit:
                yield window
                window, size = [], 0
        if window:
            yield window

    def _hold(self, window: Sequence[Pair]) -> None:
        texts = list(dict.fromkeys(t for pair in window for t in pair if t not in self._held))
        rows = self.encoder.tokenise(texts, max_tokens=self.encoder.max_tokens)
        tokens = dict(zip(texts, rows, strict=True))
        references = {reference for _, reference in window}
        keys = {text: text_key(self.space, text) for text in texts}
        kept = self.cache.matrices(list(keys.values()), size=self.encoder.size)
        lacking = []
        for text, row in tokens.items():
            matrix = kept.get(keys[text])
            if matrix is None or len(matrix) != len(row.ids):
                lacking.append(text)
            else:
                self._held[text] = (matrix, row.content.astype(np.float64))
        found = self.encoder.token_vectors([tokens[text] for text in lacking], layer=self.layer)
        for batch in found:
            matrices = {lacking[at]: unit_rows(matrix) for at, matrix in batch.items()}
            for text, matrix in matrices.items():
                self._held[text] = (matrix, tokens[text].content.astype(np.float64))
            self.cache.put_matrices(
                {keys[text]: matrix for text, matrix in matrices.items() if text in references}
            )

    def _score(self, window: Sequence[Pair]) -> dict[Pair, PRF]:
        found = {}
        for pair in window:
            (candidate, mine), (reference, theirs) = (self._held[text] for text in pair)
            found[pair] = match_tokens(
                candidate, reference, candidate_weights=mine, reference_weights=theirs
            )
        return found


class DeviceMatcher(Matcher):
    """Matches on the device of the encoder, from which only precision and recall are copied.

    Matrices of references are not cached: a GPU encodes a text in less time than its matrix needs
    to be read from a disk.
    """

    def _hold(self, window: Sequence[Pair]) -> None:
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base

        texts = list(dict.fromkeys(t for pair in window for t in pair if t not in self._held))
        tokens = self.encoder.tokenise(texts, max_tokens=self.encoder.max_tokens)
        for batch in self.encoder.token_tensors(tokens, layer=self.layer):
            for at, states in batch.items():
                rows = torch.nn.functional.normalize(states, dim=-1, eps=1e-30)
                self._held[texts[at]] = (rows, tokens[at].content.astype(np.float64))

    def _score(self, window: Sequence[Pair]) -> dict[Pair, PRF]:
        import torch  # noqa: PLC0415 - as above

        totals = []
        with torch.inference_mode():
            weights = {
                text: torch.from_numpy(self._held[text][1]).to(self.encoder.device)
                for text in {text for pair in window for text in pair}
            }
            for mine, theirs in window:
                likeness = self._held[mine][0] @ self._held[theirs][0].T
                totals.append(likeness.amax(1).double() @ weights[mine])
                totals.append(likeness.amax(0).double() @ weights[theirs])
            found = torch.stack(totals).cpu().numpy().reshape(-1, 2)
        sums = {text: float(self._held[text][1].sum()) for text in weights}
        return {
            pair: _score_of(row, [sums[text] for text in pair])
            for pair, row in zip(window, found, strict=True)
        }


def _score_of(totals: NDArray[np.float64], sums: Sequence[float]) -> PRF:
    """Precision and recall from weighted totals and the sums of the weights; 0 of an empty text."""
    if min(sums) <= 0.0:
        return PRF(0.0, 0.0, 0.0)
    return match_score(*(float(total / each) for total, each in zip(totals, sums, strict=True)))
