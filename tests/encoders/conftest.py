"""Small encoders made on the spot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.small_bert import write_bert


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
