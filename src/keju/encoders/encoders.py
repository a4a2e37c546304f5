"""`Encoders`: cosines and BERTScore of texts, with each text encoded once and cached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from keju.encoders.cache import Array, VectorCache, text_key
from keju.encoders.text import Device, TextEncoder, Vector
from keju.encoders.weights import (
    ENCODERS,
    INSTALL,
    bundled_minilm,
    how_to_get,
    needs_package,
    needs_weights,
    packages_missing,
)
from keju.errors import PrerequisiteError, UsageError, unknown_name
from keju.metrics.base import PRF, f_beta
from keju.metrics.semantic import cosine
from keju.texts import _

Pair = tuple[str, str]
"""A candidate (the response) and its reference, in this order."""

REFERENCE_BYTES = 512 << 20
"""The size of the references' matrices in memory from which all are dropped."""

_WINDOW_PAIRS = {"cpu": 64, "cuda": 512}
"""Pairs whose matrices are in memory together."""

_PAIRS_AT_ONCE = 2048
_FIRST_TOKEN, _SENTENCE = "first-token-512", "sentence-256"
_VECTORS = {_FIRST_TOKEN: TextEncoder.first_token_means, _SENTENCE: TextEncoder.sentence_vectors}
"""The method that computes each kind of vectors of texts, by its name in the cache."""


class Encoders:
    """Every encoder of the semantic metrics, opened on first use.

    Args:
        paths: directories by encoder name, from `parse_semantic`; ``minilm`` may be missing where
            its package is installed.
        cache: the file with cached vectors (see `default_cache_path`); None keeps them in memory.
        device: by default CUDA where available.
    """

    def __init__(
        self, paths: Mapping[str, Path], cache: Path | None = None, *, device: Device | None = None
    ) -> None:
        self.paths = dict(paths)
        if "minilm" not in self.paths and (folder := bundled_minilm()) is not None:
            self.paths["minilm"] = folder
        self.cache = VectorCache(cache)
        self.device = device
        self._open: dict[Path, TextEncoder] = {}
        self._matchers: dict[str, TokenMatcher] = {}

    def unavailable_reason(self, name: str) -> str:
        """Why the encoder `name` cannot be used here and what to do, or an empty string.

        Raises:
            UsageError: no encoder has this name.
        """
        if name not in ENCODERS:
            raise UsageError(unknown_name(name, ENCODERS, "encoder"))
        if package := packages_missing():
            return needs_package(package)
        return "" if name in self.paths else needs_weights(name)

    def encoder(self, name: str) -> TextEncoder:
        """The opened encoder; names with the same directory share it.

        Raises:
            PrerequisiteError: `unavailable_reason` returns a reason.
            DataError: the directory does not contain a complete encoder.
        """
        if self.unavailable_reason(name):
            install = INSTALL if packages_missing() else how_to_get(name)
            raise PrerequisiteError(_("the encoder '{}'", name), install)
        folder = self.paths[name].resolve()
        if folder not in self._open:
            self._open[folder] = TextEncoder(self.paths[name], device=self.device)
        return self._open[folder]

    def layer_of(self, name: str) -> int:
        """The layer whose tokens are matched: bert-score's, or the last if there are fewer."""
        encoder = self.encoder(name)
        return min(ENCODERS[name].layer or encoder.layers, encoder.layers)

    def signature(self, name: str) -> str:
        """The signature of this encoder's numbers: weights, precision, the layer, the library."""
        encoder = self.encoder(name)
        layer = f"|layer{self.layer_of(name)}" if ENCODERS[name].layer else ""
        library = f"transformers{version('transformers')}"
        return f"{name}|{encoder.weights_hash[:16]}|{encoder.precision}{layer}|{library}"

    def close(self) -> None:
        """Close the cache and release the models."""
        self.cache.close()
        self._open.clear()
        self._matchers.clear()

    def first_token_cosine(
        self, pairs: Sequence[Pair], *, name: str = "chinese-bert-wwm"
    ) -> list[float]:
        """The cosine of two texts' mean first-token vectors (`TextEncoder.first_token_means`)."""
        return self._cosines(name, _FIRST_TOKEN, pairs)

    def sentence_cosine(
        self, pairs: Sequence[Pair], *, empty: float | None = None, name: str = "minilm"
    ) -> list[float]:
        """Cosine of mean-pooled sentence vectors, as all-MiniLM-L6-v2 computes them.

        `empty` is the value where either text has no content. None encodes an empty text like any
        other (`official`: up to 0.12 in our vectors); `strict` passes 0.
        """
        values = self._cosines(name, _SENTENCE, pairs)
        if empty is None:
            return values
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        rows = self.encoder(name).tokenise(texts)
        void = {text for text, row in zip(texts, rows, strict=True) if not row.content.any()}
        return [
            empty if void.intersection(pair) else value
            for pair, value in zip(pairs, values, strict=True)
        ]

    def sentence_vectors(self, texts: Sequence[str], *, name: str = "minilm") -> dict[str, Vector]:
        """The sentence vector of each text, as `sentence_cosine` compares them."""
        return self._vectors(name, _SENTENCE, texts)

    def sentence_floor(self, references: Sequence[str], *, name: str = "minilm") -> float | None:
        """Mean sentence cosine of different items' references; see `bert_score_floor`."""
        return _mean(self.sentence_cosine(reference_pairs(references), name=name))

    def _cosines(self, name: str, kind: str, pairs: Sequence[Pair]) -> list[float]:
        values: list[float] = []
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            vectors = self._vectors(name, kind, [text for pair in some for text in pair])
            values.extend(cosine(vectors[a], vectors[b]) for a, b in some)
        return values

    def _vectors(self, name: str, kind: str, texts: Sequence[str]) -> dict[str, Vector]:
        """The vector of each different text, from the cache or by encoding."""
        encoder = self.encoder(name)
        space = f"{encoder.weights_hash}:{kind}:{encoder.precision}"
        keys = {text: text_key(space, text) for text in texts}
        return self.cache.complete(keys, partial(_VECTORS[kind], encoder), size=encoder.size)

    def bert_score(self, name: str, pairs: Sequence[Pair]) -> list[PRF]:
        """BERTScore by token matching (bert-score 0.3.13), not rescaled, in the pairs' order.

        Texts are truncated at 512 tokens. An empty text on either side gives 0, 0, 0. Every pair's
        result is cached on disk; references' token vectors stay in memory (`TokenMatcher`).
        """
        encoder, layer = self.encoder(name), self.layer_of(name)
        space = f"{encoder.weights_hash}:layer{layer}:{encoder.precision}:match"
        if space not in self._matchers:
            self._matchers[space] = TokenMatcher(encoder, layer)
        keys = {pair: text_key(space, *pair) for pair in pairs}
        match = self._matchers[space].match
        scores = self.cache.complete(keys, match, size=3, dtype=np.float64)
        return [PRF(*map(float, scores[pair])) for pair in pairs]

    def bert_score_floor(self, name: str, references: Sequence[str]) -> float | None:
        """Mean F1 of pairs of references of different items of a task: what a wrong text gets.

        Equal references count once, and their order does not matter. None where there are fewer
        than two.
        """
        return _mean([score.f1 for score in self.bert_score(name, reference_pairs(references))])


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def reference_pairs(references: Sequence[str], *, at_least: int = 200) -> list[Pair]:
    """References paired with other ones, the same in any order; empty ones are skipped.

    Whole rotations (each one a derangement), as many as make `at_least` pairs or as there are
    different ones, so that every reference is used equally often.
    """
    unique = sorted({text for text in references if text.strip()}, key=lambda t: text_key("", t))
    pairs: list[Pair] = []
    for shift in range(1, len(unique) // 2 + 1):
        if len(pairs) >= at_least:
            break
        pairs += zip(unique, unique[shift:] + unique[:shift], strict=True)
    return pairs


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
        # Each text's token vectors [tokens, size] of length 1, and the tokens' weights, whose sum
        # is 1, on the encoder's device.
        self._matrices: dict[str, tuple[Any, Any]] = {}

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
            if sum(rows.nbytes for rows, _weights in self._matrices.values()) > REFERENCE_BYTES:
                self._matrices.clear()

    def _encode(self, texts: Sequence[str]) -> None:
        """Compute the matrices of the texts that are not empty."""
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base

        rows = self._encoder.tokenise(texts, max_tokens=self._encoder.max_tokens)
        full = [(text, row) for text, row in zip(texts, rows, strict=True) if row.content.any()]
        for batch in self._encoder.token_states([row for _text, row in full], layer=self._layer):
            for place, vectors in batch.items():
                text, row = full[place]
                weights = torch.from_numpy(row.content / row.content.sum())
                # In float64, so that tiny float32 numbers have a length too.
                lengths = torch.linalg.vector_norm(
                    vectors, dim=-1, keepdim=True, dtype=torch.float64
                )
                unit_rows = (vectors / lengths.clamp_min(1e-300)).float()
                self._matrices[text] = unit_rows, weights.to(self._encoder.device)

    def _scores(self, window: Sequence[Pair]) -> dict[Pair, Array]:
        import torch  # noqa: PLC0415 - as above

        full = [pair for pair in window if all(text in self._matrices for text in pair)]
        rates = []
        for pair in full:
            (rows, weights), (other_rows, other_weights) = (self._matrices[text] for text in pair)
            likeness = rows @ other_rows.T
            precision, recall = likeness.amax(1).double() @ weights, likeness.amax(0).double()
            rates.append(torch.stack([precision, recall @ other_weights]))
        # One copy from the device for the whole window.
        copied = torch.stack(rates).tolist() if rates else []
        scores: dict[Pair, Array] = {pair: np.zeros(3) for pair in window}
        for pair, (precision, recall) in zip(full, copied, strict=True):
            f1 = f_beta(precision, recall) if min(precision, recall) > 0 else 0.0
            scores[pair] = np.array([precision, recall, f1])
        return scores
