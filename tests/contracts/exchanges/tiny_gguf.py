"""Write a language model of random numbers in the form of llama.cpp: python tiny_gguf.py FILE.

Runs in the environment of the contract, which has `gguf` and `numpy`.
"""

from __future__ import annotations

import sys

import gguf
import numpy as np

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 64, 2048
SIGNS = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏，。ABCD "
TEMPLATE = "{% for m in messages %}{{ m.content }}\n{% endfor %}"


def main(path: str) -> None:
    """A model of one block that speaks of the signs, and of bytes where it reads others."""
    draw = np.random.default_rng(16)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *SIGNS]
    kinds = gguf.TokenType
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, *[kinds.BYTE] * 256]
    types += [kinds.NORMAL] * len(SIGNS)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int) -> np.ndarray:
        numbers = draw.normal(size=shape).astype(np.float32)
        writer.add_tensor(name, numbers)
        return numbers

    add("token_embd.weight", len(tokens), WIDTH)
    for part in ("q", "k", "v", "output"):
        add(f"blk.0.attn_{part}.weight", WIDTH, WIDTH)
    add("blk.0.ffn_gate.weight", INNER, WIDTH)
    add("blk.0.ffn_up.weight", INNER, WIDTH)
    add("blk.0.ffn_down.weight", WIDTH, INNER)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    speaks = draw.normal(size=(len(tokens), WIDTH)).astype(np.float32)
    speaks[: len(tokens) - len(SIGNS)] *= 0.01
    writer.add_tensor("output.weight", speaks)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1])
