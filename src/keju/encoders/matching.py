"""Token matching of text pairs, where each text is encoded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from keju.encoders.text import TextEncoder
from keju.metrics.base import PRF
from keju.metrics.semantic import match_score

Pair = tuple[str, str]
"""A candidate (the response) and its reference, in this order."""

_WINDOW_CHARACTERS = {"cpu": 1 << 15, "cuda": 1 << 18}


class _Matrix(NamedTuple):
    """A text's token vectors [tokens, size] of length 1, and the tokens' weights, whose sum is 1.

    Both are tensors on the encoder's device.
    """

    rows: Any
    weights: Any


def match_pairs(
    encoder: TextEncoder, pairs: Sequence[Pair], *, layer: int
) -> Iterator[dict[Pair, PRF]]:
    """BERTScore: every token is matched to the likest token of the other text.

    Zhang et al. 2020, section 3, as bert-score 0.3.13 computes it: a special token earns nothing
    itself but may be matched. With a text on either side that has no other tokens all three are 0,
    so that an empty answer is never paid.

    Matching runs on the encoder's device, from which only precision and recall are copied. Pairs
    with the same reference follow each other, and a text's matrix is kept only until its last use.

    Args:
        encoder: computes the token vectors.
        pairs: candidate and reference; texts are truncated at `TextEncoder.max_tokens`.
        layer: the layer of the token vectors.

    Yields:
        The results of one window of pairs.
    """
    ordered = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
    uses = Counter(text for pair in ordered for text in pair)
    matrices: dict[str, _Matrix] = {}
    for window in _windows(encoder, ordered):
        texts = dict.fromkeys(text for pair in window for text in pair)
        new = [text for text in texts if text not in matrices]
        for batch in _matrices(encoder, new, layer):
            matrices.update(batch)
        yield _match(window, matrices)
        uses.subtract(text for pair in window for text in pair)
        for text in texts:
            if uses[text] == 0:
                matrices.pop(text, None)


def _windows(encoder: TextEncoder, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    window: list[Pair] = []
    size = 0
    for pair in pairs:
        window.append(pair)
        size += sum(min(len(text), encoder.max_tokens) + 2 for text in pair)
        if size >= _WINDOW_CHARACTERS[encoder.device]:
            yield window
            window, size = [], 0
    if window:
        yield window


def _matrices(
    encoder: TextEncoder, texts: Sequence[str], layer: int
) -> Iterator[dict[str, _Matrix]]:
    """The matrices of the texts that are not empty."""
    import torch  # noqa: PLC0415 - seconds to import, and absent from the base

    rows = encoder.tokenise(texts, max_tokens=encoder.max_tokens)
    full = [(text, row) for text, row in zip(texts, rows, strict=True) if row.content.any()]
    for batch in encoder.token_states([row for _, row in full], layer=layer):
        matrices = {}
        for place, states in batch.items():
            text, row = full[place]
            weights = torch.from_numpy(row.content / row.content.sum()).to(encoder.device)
            # In float64, so that tiny float32 numbers have a length too.
            lengths = torch.linalg.vector_norm(states, dim=-1, keepdim=True, dtype=torch.float64)
            unit_rows = (states / lengths.clamp_min(1e-300)).float()
            matrices[text] = _Matrix(unit_rows, weights)
        yield matrices


def _match(window: Sequence[Pair], matrices: dict[str, _Matrix]) -> dict[Pair, PRF]:
    import torch  # noqa: PLC0415 - as above

    scores = dict.fromkeys(window, PRF(0.0, 0.0, 0.0))
    full = [pair for pair in scores if all(text in matrices for text in pair)]
    rates = []
    with torch.inference_mode():
        for pair in full:
            candidate, reference = (matrices[text] for text in pair)
            likeness = candidate.rows @ reference.rows.T
            rates.append(likeness.amax(1).double() @ candidate.weights)
            rates.append(likeness.amax(0).double() @ reference.weights)
        copied = torch.stack(rates).cpu().numpy() if rates else np.empty(0)
    for pair, (precision, recall) in zip(full, copied.reshape(-1, 2).tolist(), strict=True):
        scores[pair] = match_score(precision, recall)
    return scores
