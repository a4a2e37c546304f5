"""Token matching of text pairs, where each text is encoded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from keju.encoders.cache import VectorCache, text_key
from keju.encoders.text import TextEncoder, Tokens, Vector
from keju.metrics.base import PRF
from keju.metrics.semantic import TokenIdf, match_tokens, unit_rows

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
        idf: weights of tokens; None weighs all equally.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        cache: VectorCache,
        space: str,
        layer: int,
        idf: TokenIdf | None,
    ) -> None:
        self.encoder = encoder
        self.cache = cache
        self.space = f"{space}:tokens"
        self.layer = layer
        self.idf = idf
        self._held: dict[str, tuple[Vector, NDArray[np.float64]]] = {}

    def match(self, pairs: Sequence[Pair]) -> Iterator[dict[Pair, PRF]]:
        """Results of windows of pairs; pairs with the same reference follow each other."""
        ordered = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
        uses = Counter(text for pair in ordered for text in pair)
        for window in self._windows(ordered):
            self._hold(window)
            yield {pair: self._score(pair) for pair in window}
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
                self._held[text] = (matrix, self._weights(row))
        found = self.encoder.token_vectors([tokens[text] for text in lacking], layer=self.layer)
        for batch in found:
            matrices = {lacking[at]: unit_rows(matrix) for at, matrix in batch.items()}
            for text, matrix in matrices.items():
                self._held[text] = (matrix, self._weights(tokens[text]))
            self.cache.put_matrices(
                {keys[text]: matrix for text, matrix in matrices.items() if text in references}
            )

    def _weights(self, row: Tokens) -> NDArray[np.float64]:
        return np.where(row.content, 1.0 if self.idf is None else self.idf.of(row.ids), 0.0)

    def _score(self, pair: Pair) -> PRF:
        (candidate, mine), (reference, theirs) = (self._held[text] for text in pair)
        return match_tokens(candidate, reference, candidate_weights=mine, reference_weights=theirs)
