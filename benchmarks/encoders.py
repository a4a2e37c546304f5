"""Encoders on a BERT-base-sized random model: speed, and what sharing references saves.

The weights are random and made here, so the numbers say what encoding costs, not what it finds.
Needs `make install-semantic`; without it, says so and ends well.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from keju.encoders import Encoders
from keju.encoders.weights import INSTALL, packages_missing

NAME = "chinese-bert-wwm"
ANSWER = 228
"""Characters of an open answer, the mean over MCS-Bench's open QA (metrics study, section 6)."""


class Cost(NamedTuple):
    """What a piece of work cost."""

    wall: float
    cpu: float
    texts: int

    def plus(self, other: Cost) -> Cost:
        """Both together."""
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))


def make_model(folder: Path, *, layers: int) -> str:
    """Random weights of BERT-base's shape (fewer layers where asked); returns its characters."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    characters = "".join(map(chr, range(0x4E00, 0x4E00 + 21128 - 5)))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    config = BertConfig(vocab_size=len(vocabulary), num_hidden_layers=layers)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    return characters


def make_texts(rng: random.Random, characters: str, count: int) -> list[str]:
    """Texts of 228 characters in the mean, from 76 to 380 where there are several."""
    low, span = ANSWER // 3, ANSWER * 4 // 3
    lengths = [low + (2 * at + 1) * span // (2 * count) for at in range(count)]
    rng.shuffle(lengths)
    return ["".join(rng.choices(characters, k=length)) for length in lengths]


def measure(encoders: list[Encoders], work: Callable[[], object]) -> Cost:
    """Time of `work`, and how many texts the encoders took."""
    before = sum(each.encoder(NAME).encoded for each in encoders)
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    taken = sum(each.encoder(NAME).encoded for each in encoders) - before
    return Cost(time.perf_counter() - wall, time.process_time() - cpu, taken)


def print_batching(encoders: Encoders, answers: list[str]) -> None:
    """100 answers in buckets, beside one at a time as the authors' script does."""
    encoder = encoders.encoder(NAME)
    list(encoder.first_token_means(answers[:2]))
    batched = measure([encoders], lambda: list(encoder.first_token_means(answers)))
    tokens = sum(len(row.ids) for row in encoder.tokenise(answers)) / batched.wall
    few = answers[:: max(1, len(answers) // 8)]
    single = measure([encoders], lambda: [list(encoder.first_token_means([text])) for text in few])
    print(f"texts encoded              {batched.texts} of {len(answers)}")
    print(f"in batches                 {batched.wall:.1f} s, {batched.cpu:.1f} CPU s")
    ratio = (single.cpu / len(few)) / (batched.cpu / len(answers))
    print(f"one at a time              {ratio:.2f} times the CPU s per text")
    print(f"tokens                     {tokens:.0f} a second, {encoder.device} {encoder.precision}")


def print_sharing(folder: Path, characters: str, *, models: int, items: int) -> None:
    """Scoring models one after the other, references shared or encoded for each model anew."""
    rng = random.Random(2)
    references = make_texts(rng, characters, items)
    answers = [make_texts(rng, characters, items) for _ in range(models)]
    shared = Encoders({NAME: folder})
    apart = Encoders({NAME: folder})
    for each in (shared, apart):
        each.first_token_cosine([("天", "地")])

    none = some = Cost(0.0, 0.0, 0)
    # Model by model in turn, so that other work on the machine slows both alike.
    for given in answers:
        pairs = list(zip(given, references, strict=True))
        apart.cache.close()
        none = none.plus(measure([apart], lambda: apart.first_token_cosine(pairs)))  # noqa: B023
        some = some.plus(measure([shared], lambda: shared.first_token_cosine(pairs)))  # noqa: B023
    for name, cost in (("each model anew", none), ("references shared", some)):
        print(f"{name:26} {cost.texts} texts, {cost.wall:.1f} s, {cost.cpu:.1f} CPU s")
    print(
        f"gain over no sharing       {none.cpu / some.cpu:.2f} in CPU s, "
        f"{none.wall / some.wall:.2f} in s, {none.texts / some.texts:.2f} in texts (at least 1.8)"
    )


def main() -> None:
    """Print texts encoded and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--models", type=int, default=37)
    parser.add_argument("--items", type=int, default=2, help="answers of each model")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if package := packages_missing():
        print(f"skipped: the package {package} is not installed ({INSTALL})")
        return
    # Waiting threads sleep, so that CPU seconds are work even where the cores are shared.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        characters = make_model(folder, layers=options.layers)
        answers = make_texts(random.Random(1), characters, options.answers)
        print(f"BERT-base, {options.layers} layers, random; {options.threads} threads")
        print_batching(Encoders({NAME: folder}), answers)
        print_sharing(folder, characters, models=options.models, items=options.items)


if __name__ == "__main__":
    main()
