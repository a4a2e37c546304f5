"""CLIP's two sides: what transformers computes, from a folder, with nothing fetched."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from keju.encoders.clip import ClipEncoder
from keju.errors import DataError
from tests.support.tiny_clip import SIDE, write_clip

pytestmark = pytest.mark.semantic


def with_tokenizer(folder):
    """A tokenizer of single characters beside the weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {"[PAD]": 0, "[UNK]": 1, **{char: n for n, char in enumerate("天地玄黃宇宙洪荒", 2)}}
    single = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    single.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = PreTrainedTokenizerFast(tokenizer_object=single, pad_token="[PAD]", unk_token="[UNK]")
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return with_tokenizer(write_clip(tmp_path_factory.mktemp("clip")))


def noise(seed: int, width: int = 60, height: int = 40) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(values)


def test_vectors_are_those_of_the_model_at_length_one(folder):
    import torch
    from transformers import CLIPModel

    picture = noise(1, SIDE, SIDE)
    (found,) = ClipEncoder(folder).vectors([picture])
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
    encoder = ClipEncoder(folder)
    pictures = [noise(seed) for seed in range(35)]
    together = np.stack(list(encoder.vectors(pictures)))
    assert together.shape == (35, 12)
    (alone,) = encoder.vectors([pictures[33]])
    assert together[33] == pytest.approx(alone, abs=1e-5)


def test_the_middle_is_seen_whatever_the_shape(folder):
    encoder = ClipEncoder(folder)
    wide = Image.new("RGB", (SIDE * 3, SIDE), "white")
    wide.paste(noise(2, SIDE, SIDE), (SIDE, 0))
    first, second = encoder.vectors([wide, noise(2, SIDE, SIDE)])
    assert first == pytest.approx(second, abs=1e-5)


def test_colours_are_scaled_as_the_folder_says(folder, tmp_path):
    rescaled = tmp_path / "rescaled"
    rescaled.mkdir()
    for file in folder.iterdir():
        (rescaled / file.name).write_bytes(file.read_bytes())
    scaling = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.5, 0.5, 0.5], "size": 3}
    (rescaled / "preprocessor_config.json").write_text(json.dumps(scaling))
    (plain,) = ClipEncoder(folder).vectors([noise(3)])
    (scaled,) = ClipEncoder(rescaled).vectors([noise(3)])
    assert np.abs(plain - scaled).max() > 1e-3


def test_another_model_and_a_folder_without_weights_are_named(folder, tmp_path):
    with pytest.raises(DataError, match="no such file"):
        ClipEncoder(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(DataError, match="only clip, chinese_clip"):
        ClipEncoder(tmp_path)
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(DataError, match=r"no model\.safetensors"):
        ClipEncoder(tmp_path)


def test_nothing_asks_the_network(folder, no_network):
    assert len(list(ClipEncoder(folder).vectors([noise(4)]))) == 1


def test_text_vectors_are_those_of_the_model_whatever_stands_beside_them(folder):
    import torch
    from transformers import CLIPModel

    encoder = ClipEncoder(folder, texts=True)
    together = encoder.text_vectors(["天地", "宇宙洪荒", "玄\ud800"])
    model = CLIPModel.from_pretrained(folder, local_files_only=True).eval()
    ids = torch.tensor([[2, 3]])
    with torch.inference_mode():
        found = model.get_text_features(input_ids=ids, attention_mask=torch.ones_like(ids))
    wanted = getattr(found, "pooler_output", found)[0].numpy()
    assert together[0] == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(3))
    (alone,) = encoder.text_vectors(["宇宙洪荒"])
    assert together[1] == pytest.approx(alone, abs=1e-5)
    assert encoder.text_vectors(["天" * 500]).shape == (1, 12)


def test_a_match_is_the_cosine_of_what_stands_side_by_side(folder):
    encoder = ClipEncoder(folder, texts=True)
    pictures, texts = [noise(1), noise(2)], ["天地", "宇宙"]
    found = encoder.matches(pictures, texts)
    seen, said = np.stack(list(encoder.vectors(pictures))), encoder.text_vectors(texts)
    assert found == pytest.approx(np.diag(seen @ said.T), abs=1e-6)


def test_a_folder_without_a_tokenizer_is_named(tmp_path):
    with pytest.raises(DataError, match="has no tokenizer"):
        ClipEncoder(write_clip(tmp_path / "bare"), texts=True)


def test_filter_drops_by_match_and_leaves_other_questions_unasked(folder, tmp_path):
    from keju.building.engine import Engine
    from keju.building.filtering.limits import FilterSettings
    from keju.building.filtering.step import FILTER
    from keju.building.running import StepCall, run_step
    from keju.datasets.store import Dataset, DatasetWriter
    from tests.support.making import page_item, picture

    with DatasetWriter(tmp_path / "d", name="n", version="1", licence="CC0", source="s") as writer:
        for number, answer in enumerate(("天地", "宇宙", "洪荒")):
            ref = writer.add_image(picture(number), "p")
            writer.add(page_item(f"t{number}", task="T25", images=(ref,), answer=answer))
        writer.add(page_item("ocr", images=(ref,)))
    source = Dataset.open(tmp_path / "d")
    off = {"max_blur": None, "min_marked": None, "min_contrast": None, "min_short_side": None}

    def kept(out: str, **limits: object) -> list[str]:
        settings = FilterSettings(clip=folder, **off, **limits)
        run_step(StepCall(FILTER, settings, source), tmp_path / out, engine=Engine())
        return [item.id for item in Dataset.open(tmp_path / out).items()]

    assert kept("a") == ["t0", "t1", "t2", "ocr"]
    assert kept("b", min_match=0.9999) == ["ocr"]
    lines = (tmp_path / "a/tables/texts.csv").read_text("utf-8-sig").splitlines()
    place = lines[0].split(",").index("match")
    matches = {line.split(",")[0]: float(line.split(",")[place]) for line in lines[1:]}
    assert matches["ocr"] == -1.0
    assert len({value for name, value in matches.items() if name != "ocr"}) == 3
