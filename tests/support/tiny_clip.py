"""A random CLIP of a few thousand weights, made on the spot."""

from __future__ import annotations

from pathlib import Path

SIDE = 32


def write_clip(folder: Path, *, seed: int = 9) -> Path:
    """Write the folder of weights."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(seed)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    config = CLIPConfig(
        text_config={**small, "vocab_size": 40, "num_attention_heads": 2},
        vision_config={**small, "num_attention_heads": 2, "image_size": SIDE, "patch_size": 8},
        projection_dim=12,
    )
    CLIPModel(config).save_pretrained(folder)
    return folder
