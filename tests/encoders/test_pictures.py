"""CLIP's picture side: what transformers computes, from a folder, with nothing fetched."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from keju.encoders.pictures import PictureEncoder
from keju.errors import DataError
from tests.support.tiny_clip import SIDE, write_clip

pytestmark = pytest.mark.semantic


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_clip(tmp_path_factory.mktemp("clip"))


def noise(seed: int, width: int = 60, height: int = 40) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(values)


def test_vectors_are_those_of_the_model_at_length_one(folder):
    import torch
    from transformers import CLIPModel

    picture = noise(1, SIDE, SIDE)
    (found,) = PictureEncoder(folder).vectors([picture])
    values = np.asarray(picture, np.float32) / 255
    mean = np.array([0.48145466, 0.4578275, 0.40821073], np.float32)
    spread = np.array([0.26862954, 0.26130258, 0.27577711], np.float32)
    pixels = torch.from_numpy(((values - mean) / spread).transpose(2, 0, 1)[None].copy())
    model = CLIPModel.from_pretrained(folder, local_files_only=True).eval()
    with torch.inference_mode():
        vision = model.vision_model(pixel_values=pixels)
        wanted = model.visual_projection(vision.pooler_output)[0].numpy()
    assert found == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)
    assert np.linalg.norm(found) == pytest.approx(1)


def test_more_pictures_than_a_batch_keep_their_order(folder):
    encoder = PictureEncoder(folder)
    pictures = [noise(seed) for seed in range(35)]
    together = np.stack(list(encoder.vectors(pictures)))
    assert together.shape == (35, 12)
    (alone,) = encoder.vectors([pictures[33]])
    assert together[33] == pytest.approx(alone, abs=1e-5)


def test_the_middle_is_seen_whatever_the_shape(folder):
    encoder = PictureEncoder(folder)
    wide = Image.new("RGB", (SIDE * 3, SIDE), "white")
    wide.paste(noise(2, SIDE, SIDE), (SIDE, 0))
    first, second = encoder.vectors([wide, noise(2, SIDE, SIDE)])
    assert first == pytest.approx(second, abs=1e-5)


def test_colours_are_scaled_as_the_folder_says(folder, tmp_path):
    told = tmp_path / "told"
    told.mkdir()
    for file in folder.iterdir():
        (told / file.name).write_bytes(file.read_bytes())
    scaling = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.5, 0.5], "size": 3}
    (told / "preprocessor_config.json").write_text(json.dumps(scaling))
    (plain,) = PictureEncoder(folder).vectors([noise(3)])
    (scaled,) = PictureEncoder(told).vectors([noise(3)])
    assert np.abs(plain - scaled).max() > 1e-3


def test_another_model_and_a_folder_without_weights_are_named(folder, tmp_path):
    with pytest.raises(DataError, match="no such file"):
        PictureEncoder(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(DataError, match="only clip, chinese_clip"):
        PictureEncoder(tmp_path)
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(DataError, match=r"no model\.safetensors"):
        PictureEncoder(tmp_path)


def test_nothing_asks_the_network(folder, no_network):
    assert len(list(PictureEncoder(folder).vectors([noise(4)]))) == 1
