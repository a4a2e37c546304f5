"""A small GOT-OCR made on the spot."""

from __future__ import annotations

from pathlib import Path


def write_got(folder: Path) -> Path:
    """A random GOT-OCR of a few thousand weights, with its processor and a tokenizer of bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        GotOcr2Config,
        GotOcr2ForConditionalGeneration,
        GotOcr2Processor,
        PreTrainedTokenizerFast,
    )
    from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import (
        GotOcr2ImageProcessorPil,
    )

    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<img>", "</img>", "<imgpad>"]
    pieces = [*specials, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    bpe = Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, []))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=specials[0], pad_token=specials[0],
        additional_special_tokens=specials[1:],
    )  # fmt: skip
    processor = GotOcr2Processor(
        GotOcr2ImageProcessorPil(size={"height": 64, "width": 64}), tokenizer
    )
    torch.manual_seed(3)
    config = GotOcr2Config(
        image_token_index=specials.index("<imgpad>"),
        vision_config={
            "hidden_size": 16, "output_channels": 8, "num_hidden_layers": 2,
            "num_attention_heads": 2, "image_size": 64, "patch_size": 16, "window_size": 2,
            "global_attn_indexes": [1], "mlp_dim": 16, "initializer_range": 0.5,
        },
        text_config={
            "model_type": "qwen2", "vocab_size": len(pieces), "hidden_size": 16,
            "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
            "num_key_value_heads": 2, "max_position_embeddings": 1024, "initializer_range": 0.5,
            "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0,
        },
    )  # fmt: skip
    model = GotOcr2ForConditionalGeneration(config)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
