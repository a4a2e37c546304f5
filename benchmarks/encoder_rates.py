"""Items a second of every encoder, and the share of the device's peak that the model passes reach.

The weights are random and made here, in the shapes of the real models, so the numbers state what
encoding costs, not what it finds. The peak is measured in the same run: one large matrix product in
the encoder's precision. Needs `make install-semantic`; prints a line and ends without it.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from keju.encoders import Encoders
from keju.encoders.weights import INSTALL, packages_missing

CHARACTERS = 228
"""Mean length of an open answer of MCS-Bench; lengths are from a third to five thirds of it."""


class Shape(NamedTuple):
    """The shape of an encoder: what decides the operations of a pass."""

    name: str
    kind: str
    hidden: int
    layers: int
    heads: int


SHAPES = (
    Shape("chinese-bert-wwm", "bert", 768, 12, 12),
    Shape("bert-base-chinese", "bert", 768, 12, 12),
    Shape("minilm", "bert", 384, 6, 12),
    Shape("roberta-large", "roberta", 1024, 24, 16),
)


def main() -> None:
    """Print one row for each encoder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=40, help="texts, and as many references")
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    if package := packages_missing():
        print(f"skipped: the package {package} is not installed ({INSTALL})")
        return
    import torch

    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    peaks = {kind: measure_peak(device, kind) for kind in (torch.float32, torch.bfloat16)}
    rates = ", ".join(f"{str(kind)[6:]} {peak / 1e12:.1f}" for kind, peak in peaks.items())
    print(f"{name}; TFLOP/s of one matrix product: {rates}")
    print(
        f"{'encoder, measure':34} {'items':>7} {'wall s':>7} {'items/s':>8} {'tokens/s':>9}"
        f" {'of peak':>7}"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        paths = {shape.name: make_model(folder / shape.name, shape) for shape in SHAPES}
        encoders = Encoders(paths, folder / "cache.sqlite", device=device)
        peak = peaks[getattr(torch, encoders.encoder("minilm").precision)]
        for shape in SHAPES:
            measure_shape(encoders, shape, options.texts, peak, profile=options.profile)
        encoders.close()
        measure_images(folder / "clip", options.images, peaks[torch.float32])


def measure_peak(device: str, kind: Any) -> float:  # noqa: ANN401 - torch's type
    """Operations a second of the fastest of ten matrix products."""
    import torch

    size = 8192 if device == "cuda" else 1024
    first = torch.randn(size, size, device=device).to(kind)
    second = torch.randn(size, size, device=device).to(kind)
    best = float("inf")
    for _ in range(10):
        begun = time.perf_counter()
        (first @ second).sum().item()
        best = min(best, time.perf_counter() - begun)
    return 2 * size**3 / best


def make_model(folder: Path, shape: Shape) -> Path:
    """Random weights of this shape with a tokenizer of one token for each character or byte."""
    import torch
    import transformers

    torch.manual_seed(0)
    folder.mkdir()
    sizes = {
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": 4 * shape.hidden,
    }
    if shape.kind == "bert":
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters()]
        model: Any = transformers.BertModel(
            transformers.BertConfig(vocab_size=len(words), **sizes), add_pooling_layer=False
        )
        (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    else:
        from transformers.convert_slow_tokenizer import bytes_to_unicode

        words = ["<s>", "<pad>", "</s>", "<unk>", *bytes_to_unicode().values(), "<mask>"]
        model = transformers.RobertaModel(
            transformers.RobertaConfig(
                vocab_size=len(words), max_position_embeddings=514, type_vocab_size=1, **sizes
            ),
            add_pooling_layer=False,
        )
        (folder / "vocab.json").write_text(json.dumps({w: at for at, w in enumerate(words)}))
        (folder / "merges.txt").write_text("#version: 0.2\n")
        kind = {"tokenizer_class": "RobertaTokenizer"}
        (folder / "tokenizer_config.json").write_text(json.dumps(kind))
    model.save_pretrained(folder)
    return folder


def characters() -> list[str]:
    """As many characters as the vocabulary of a Chinese BERT has beside its special tokens."""
    return [chr(code) for code in range(0x4E00, 0x4E00 + 21128 - 5)]


def make_texts(seed: int, kind: str, count: int) -> list[str]:
    """Texts of 228 characters in the mean, all different."""
    rng = random.Random(seed)
    letters = characters() if kind == "bert" else [chr(code) for code in range(97, 123)]
    low, high = CHARACTERS // 3, CHARACTERS * 5 // 3
    return ["".join(rng.choices(letters, k=rng.randint(low, high))) for _ in range(count)]


def measure_shape(
    encoders: Encoders, shape: Shape, count: int, peak: float, *, profile: bool
) -> None:
    """Time the measure that keju computes with this encoder, cold cache, after one warm-up."""
    encoder = encoders.encoder(shape.name)
    work, label = measure_of(encoders, shape)
    few = min(64, count)
    work(list(zip(make_texts(5, shape.kind, few), make_texts(6, shape.kind, few), strict=True)))
    pairs = list(
        zip(make_texts(1, shape.kind, count), make_texts(2, shape.kind, count), strict=True)
    )
    depth = encoder.layers
    if label == "BERTScore":
        depth = encoders.layer_of(shape.name)
    watch = cProfile.Profile()
    begun = time.perf_counter()
    if profile:
        watch.runcall(work, pairs)
    else:
        work(pairs)
    wall = time.perf_counter() - begun
    lengths = [len(row.ids) for row in encoder.tokenise([t for pair in pairs for t in pair])]
    tokens = sum(min(length, encoder.max_tokens) for length in lengths)
    needed = sum(operations(shape, min(length, encoder.max_tokens), depth) for length in lengths)
    print(
        f"{shape.name + ', ' + label:34} {2 * count:7} {wall:7.2f} {2 * count / wall:8.0f}"
        f" {tokens / wall:9.0f} {needed / wall / peak:7.1%}"
    )
    if profile:
        pstats.Stats(watch).sort_stats("tottime").print_stats(14)


def measure_of(encoders: Encoders, shape: Shape) -> tuple[Callable[[Any], object], str]:
    """What keju computes with an encoder, and its name."""
    name = shape.name
    if name == "chinese-bert-wwm":
        return lambda pairs: encoders.first_token_cosine(pairs, name=name), "cosine"
    if name == "minilm":
        return lambda pairs: encoders.sentence_cosine(pairs, name=name), "cosine"
    return lambda pairs: encoders.bert_score(name, pairs), "BERTScore"


def operations(shape: Shape, tokens: int, layers: int) -> int:
    """Floating-point operations of one text: products of each layer, attention included."""
    matrices = 2 * tokens * (4 * shape.hidden**2 + 2 * shape.hidden * 4 * shape.hidden)
    attention = 4 * tokens**2 * shape.hidden
    return layers * (matrices + attention)


def measure_images(folder: Path, count: int, peak: float) -> None:
    """CLIP ViT-B/32 on images of one megapixel."""
    import transformers
    from PIL import Image

    from keju.encoders.clip import ClipEncoder

    config = transformers.CLIPConfig(
        vision_config={"hidden_size": 768, "num_hidden_layers": 12, "patch_size": 32}
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    encoder = ClipEncoder(folder)
    rng = np.random.default_rng(0)
    some = [
        Image.fromarray(rng.integers(0, 256, (1000, 1000, 3), dtype=np.uint8)) for _ in range(16)
    ]

    def images() -> Iterator[Image.Image]:
        for at in range(count):
            yield some[at % len(some)]

    list(encoder.vectors(some))
    begun = time.perf_counter()
    list(encoder.vectors(images()))
    wall = time.perf_counter() - begun
    vision = Shape("clip", "clip", 768, 12, 12)
    needed = count * (operations(vision, 50, 12) + 2 * 49 * 3 * 32 * 32 * 768)
    print(
        f"{'CLIP ViT-B/32, vectors':34} {count:7} {wall:7.2f} {count / wall:8.0f} {'':9}"
        f" {needed / wall / peak:7.1%}"
    )


if __name__ == "__main__":
    main()
