"""Small encoders made on the spot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HAN = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏學而時習之不亦說乎"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_bert(folder: Path, *, layers: int = 3, seed: int = 7, pooler: bool = True) -> Path:
    """A random BERT with a vocabulary of its own, as a folder of weights."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    vocabulary = [*SPECIALS, *HAN, "the", "bone", "##s", "a", "?", "。", "，"]
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=48,
        initializer_range=0.4,
    )
    BertModel(config, add_pooling_layer=pooler).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    return write_bert(tmp_path_factory.mktemp("tiny-bert"))


@pytest.fixture(scope="session")
def tiny_roberta(tmp_path_factory) -> Path:
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import RobertaConfig, RobertaModel

    folder = tmp_path_factory.mktemp("tiny-roberta")
    torch.manual_seed(8)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(ByteLevel.alphabet())]
    config = RobertaConfig(
        vocab_size=len(pieces),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    RobertaModel(config).save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({p: at for at, p in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return folder


@pytest.fixture
def no_network(monkeypatch):
    """Any socket to another machine is a failure."""
    import socket

    def refuse(*_args, **_options):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
