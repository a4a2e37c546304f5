"""A small encoder made on the spot."""

from __future__ import annotations

import json
from pathlib import Path

HAN = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏學而時習之不亦說乎"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_bert(
    folder: Path, *, layers: int = 3, size: int = 24, seed: int = 7, pooler: bool = True
) -> Path:
    """A random BERT with a vocabulary of its own, as a folder of weights."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    vocabulary = [*SPECIALS, *HAN, "the", "bone", "##s", "a", "?", "。", "，"]
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * size,
        initializer_range=0.4,
    )
    BertModel(config, add_pooling_layer=pooler).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    return folder
