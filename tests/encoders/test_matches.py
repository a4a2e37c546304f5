"""CLIP's two sides together: what transformers computes, with a tokenizer from the folder."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from keju.encoders.matches import MatchEncoder
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


def noise(seed: int) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)
    return Image.fromarray(values)


def test_text_vectors_are_those_of_the_model_whatever_stands_beside_them(folder):
    import torch
    from transformers import CLIPModel

    encoder = MatchEncoder(folder)
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
    encoder = MatchEncoder(folder)
    pictures, texts = [noise(1), noise(2)], ["天地", "宇宙"]
    found = encoder.matches(pictures, texts)
    seen, said = np.stack(list(encoder.vectors(pictures))), encoder.text_vectors(texts)
    assert found == pytest.approx(np.diag(seen @ said.T), abs=1e-6)


def test_a_folder_without_a_tokenizer_is_named(tmp_path):
    with pytest.raises(DataError, match="has no tokenizer"):
        MatchEncoder(write_clip(tmp_path / "bare"))


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
