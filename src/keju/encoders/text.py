"""Text encoder: from tokens to vectors, in batches of sequences of similar lengths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.encoders.weights import (
    LOCAL,
    best_device,
    check_packages,
    load_model,
    loading,
    quiet,
    weights_hash,
)
from keju.errors import DataError

Vector = NDArray[np.float32]
Device = Literal["cpu", "cuda"]

BLOCK_TOKENS = 512
"""The maximum number of tokens of one pass, including special ones."""
MAX_PADDING = 0.10
"""No batch has a larger share of padding than this: more of it changes values by up to 1e-5."""
SENTENCE_TOKENS = 256
"""Tokens of a sentence that MiniLM uses (its sentence_bert_config.json)."""

# A CPU is as fast with two texts as with thirty; a GPU needs large batches.
_BATCH_TOKENS = {"cpu": 512, "cuda": 65536}


class Tokens(NamedTuple):
    """One text's token ids including special ones, and which of them are content."""

    ids: list[int]
    content: NDArray[np.bool_]


def plan_batches(lengths: Sequence[int], *, max_tokens: int) -> list[list[int]]:
    """Put sequences of similar lengths into one batch; the longest batches come first.

    A batch has indices into `lengths`, which are in tokens. Its size, the longest sequence times
    the sequences, is at most `max_tokens`, unless it is one sequence; its padding is at most
    `MAX_PADDING` of its size.
    """
    batches: list[list[int]] = []
    content = 0
    for index in sorted(range(len(lengths)), key=lambda place: (-lengths[place], place)):
        size = lengths[batches[-1][0]] * (len(batches[-1]) + 1) if batches else 0
        padding = size - content - lengths[index]
        if not batches or size > max_tokens or padding > MAX_PADDING * size:
            batches.append([])
            content = 0
        batches[-1].append(index)
        content += lengths[index]
    return batches


class TextEncoder:
    """BERT or RoBERTa weights from a directory; downloads nothing and reads no pickle.

    `kind` is the type of model, as transformers names it, `size` the dimension of a vector,
    `layers` the number of transformer layers (layer 0 is the embedding), `max_tokens` the longest
    sequence that the positions allow (at most `BLOCK_TOKENS`), and `encoded` the number of texts
    that were encoded so far, each once per measure.

    Args:
        folder: config.json, model.safetensors and the tokenizer's files.
        device: by default CUDA where available. Numbers are bfloat16 there, float32 on a CPU.

    Raises:
        PrerequisiteError: torch or transformers is not installed.
        DataError: the directory does not contain a complete encoder.
    """

    def __init__(self, folder: Path, *, device: Device | None = None) -> None:
        check_packages()
        import torch  # noqa: PLC0415 - seconds to import, and absent from the base
        import transformers  # noqa: PLC0415 - as above

        self.weights_hash = weights_hash(folder)
        self.device = device or best_device(torch)
        self.precision = "bfloat16" if self.device == "cuda" else "float32"
        # cuDNN's attention plans again for each shape of a batch.
        torch.backends.cuda.enable_cudnn_sdp(False)  # noqa: FBT003 - torch's own form
        self.encoded = 0
        with loading(folder):
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **LOCAL)
        model = load_model(
            transformers.AutoModel, folder, add_pooling_layer=False, dtype=torch.float32
        )
        self._model = model.to(device=self.device, dtype=getattr(torch, self.precision)).eval()
        words, rows = len(self._tokenizer), int(model.config.vocab_size)
        if not rows / 2 <= words <= rows:
            raise DataError(
                "the tokenizer has {} tokens and the model {}",
                words,
                rows,
                file=folder,
                hint="Give the tokenizer's files that belong to these weights",
            )
        self.kind = str(model.config.model_type)
        self.size = int(model.config.hidden_size)
        self.layers = int(model.config.num_hidden_layers)
        positions = int(model.config.max_position_embeddings)
        if self.kind == "roberta":
            positions -= int(model.config.pad_token_id) + 1
        self.max_tokens = min(BLOCK_TOKENS, positions)

    def tokenise(self, texts: Sequence[str], *, max_tokens: int | None = None) -> list[Tokens]:
        """Token ids with the first and last special token; white space at the ends is dropped.

        RoBERTa's first word is tokenised as after a space, as in bert-score. A lone surrogate
        counts as '?'. The content is truncated so that there are at most `max_tokens`.
        """
        begin = " " if self.kind == "roberta" else ""
        stripped = [_encodable(text).strip() for text in texts]
        ids = self._ids([begin + text if text else "" for text in stripped], max_tokens)
        ends = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        return [Tokens(row, np.array([token not in ends for token in row])) for row in ids]

    def _ids(self, texts: list[str], max_tokens: int | None) -> list[list[int]]:
        if not texts:  # no tokenizer takes none
            return []
        with quiet():
            rows = self._tokenizer(
                texts,
                truncation=max_tokens is not None,
                max_length=max_tokens,
                return_attention_mask=False,
                return_token_type_ids=False,
            )["input_ids"]
        return [list(row) for row in rows]

    def first_token_means(self, texts: Sequence[str]) -> Iterator[dict[str, Vector]]:
        """By text, the mean of the first-token vectors of a text's blocks, at any length.

        The whole text is tokenised with [CLS] and [SEP], the tokens are cut into blocks of 512,
        each block is encoded alone, with its own positions, and the vectors of the blocks' first
        tokens are averaged. Only the first block begins with a true [CLS]; the last may be [SEP]
        alone (511 Chinese characters: 512 + 1 tokens). Nothing is stripped, and the empty text is
        [CLS] [SEP].
        """
        blocks: list[list[int]] = []
        owners: list[str] = []
        for text, ids in zip(texts, self._ids([*map(_encodable, texts)], None), strict=True):
            starts = range(0, len(ids), self.max_tokens)
            blocks += [ids[start : start + self.max_tokens] for start in starts]
            owners += [text] * len(starts)
        total = Counter(owners)
        parts: dict[str, list[Vector]] = defaultdict(list)
        for batch, states, _mask in self._passes(blocks, self.layers):
            means: dict[str, Vector] = {}
            for place, vector in zip(batch, states[:, 0].cpu().numpy(), strict=True):
                text = owners[place]
                parts[text].append(vector)
                if len(parts[text]) == total[text]:
                    mean = np.mean(parts.pop(text), axis=0, dtype=np.float64)
                    means[text] = np.asarray(mean, np.float32)
            self.encoded += len(means)
            yield means

    def sentence_vectors(self, texts: Sequence[str]) -> Iterator[dict[str, Vector]]:
        """By text, means over a text's tokens (including special ones) at length 1, as in MiniLM.

        The text is truncated at 256 tokens; the empty text is [CLS] [SEP] and has a vector like any
        other.
        """
        tokens = self.tokenise(texts, max_tokens=min(SENTENCE_TOKENS, self.max_tokens))
        for batch, states, mask in self._passes([row.ids for row in tokens], self.layers):
            self.encoded += len(batch)
            means = (states * mask).sum(1) / mask.sum(1)
            vectors = zip(batch, means.cpu().numpy(), strict=True)
            yield {texts[place]: vector / np.linalg.norm(vector) for place, vector in vectors}

    def token_states(self, tokens: Sequence[Tokens], *, layer: int) -> Iterator[dict[int, Any]]:
        """Each text's token vectors after `layer` layers (1 to `layers`), by its index.

        They are float32 tensors [tokens, size] on the device, and views of their batch's tensor.
        """
        ids = [row.ids for row in tokens]
        for batch, states, _mask in self._passes(ids, layer):
            self.encoded += len(batch)
            rows = zip(batch, states, strict=True)
            yield {place: vectors[: len(ids[place])] for place, vectors in rows}

    def _passes(
        self, sequences: Sequence[Sequence[int]], layer: int
    ) -> Iterator[tuple[list[int], Any, Any]]:
        """Run token sequences, each no longer than `max_tokens`, through the first layers.

        Yields:
            The indices of one batch's sequences, longest first; their states [texts, tokens, size]
            and 1 for each token that is not padding [texts, tokens, 1], as tensors on the device.
        """
        import torch  # noqa: PLC0415

        layers = self._model.encoder.layer
        # A GPU computes a batch while the caller uses the one before.
        pending: list[tuple[list[int], Any, Any]] = []
        for batch in plan_batches([*map(len, sequences)], max_tokens=_BATCH_TOKENS[self.device]):
            rows = [sequences[place] for place in batch]
            ids, mask = _padded(rows, self._tokenizer.pad_token_id or 0)
            mask_tensor = torch.from_numpy(mask).to(self.device)
            self._model.encoder.layer = layers[:layer]
            try:
                with torch.inference_mode():
                    states = self._model(
                        input_ids=torch.from_numpy(ids).to(self.device), attention_mask=mask_tensor
                    ).last_hidden_state
            finally:
                self._model.encoder.layer = layers
            yield from pending
            pending = [(batch, states.float(), mask_tensor.unsqueeze(-1))]
        yield from pending


def _padded(
    sequences: Sequence[Sequence[int]], padding: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids [texts, longest] and 1 for each that is not padding."""
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.fromiter(chain.from_iterable(sequences), np.int64, int(lengths.sum()))
    return ids, mask.astype(np.int64)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
