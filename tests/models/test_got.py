"""GOT-OCR from a folder: a tiny model of random weights is made, loaded and asked for real."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import numpy as np
import pytest

from keju.errors import DataError, UsageError
from keju.items import Request
from keju.models import Answer, Decoding, ModelOptions, open_model
from keju.models.got import Got
from tests.support.showing import stored
from tests.support.small_got import write_got

PAGE = stored(np.full((60, 40), 230, np.uint8))
NOISE = stored(np.random.default_rng(1).integers(0, 256, (60, 40), dtype=np.uint8))


def request(images: int = 1) -> Request:
    return Request(
        item="p1", benchmark="MCS-Bench", task="T1", form="transcription", prompt="?",
        images=(PAGE.ref,) * images,
    )  # fmt: skip


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_got(tmp_path_factory.mktemp("got"))


def ask(folder: Path, *images: bytes, most: int = 12) -> Answer:
    model = open_model(f"got:{folder}", ModelOptions(decoding=Decoding(max_tokens=most)))
    assert model.unsupported_reason(request(len(images))) == ""
    return asyncio.run(model.answer(request(len(images)), images))


def test_without_a_folder_it_is_wrong_use(tmp_path: Path):
    for folder in ("", str(tmp_path / "nowhere")):
        with pytest.raises(UsageError, match="needs the folder with the weights of GOT-OCR"):
            Got(folder, ModelOptions())


@pytest.mark.semantic
def test_a_page_is_transcribed_the_same_again(weights: Path):
    first, again = ask(weights, NOISE.data), ask(weights, NOISE.data)
    assert first == again
    assert "<|im" not in first.text
    assert "assistant" not in first.text
    assert (first.status, first.finish_reason) == ("truncated", "length")


@pytest.mark.semantic
def test_what_is_read_depends_on_the_picture_and_images_are_read_in_turn(weights: Path):
    page, noise = ask(weights, PAGE.data), ask(weights, NOISE.data)
    assert page.text != noise.text
    both = ask(weights, PAGE.data, NOISE.data)
    assert both.text == "\n".join(filter(None, (page.text, noise.text)))


@pytest.mark.semantic
def test_an_image_that_cannot_be_read_is_an_answerless_request(weights: Path):
    with pytest.raises(DataError, match="p1, image 1: "):
        ask(weights, PAGE.data[:50])


@pytest.mark.semantic
def test_its_identity_is_its_weights(weights: Path, tmp_path: Path):
    other = write_other(weights, tmp_path / "other")
    one, two = (Got(str(folder), ModelOptions()).identity for folder in (weights, other))
    assert {key for key in one if one[key] != two[key]} == {"weights"}
    assert one["max_tokens"] == "4096"


def write_other(weights: Path, folder: Path) -> Path:
    shutil.copytree(weights, folder)
    (folder / "config.json").write_text((weights / "config.json").read_text() + "\n")
    return folder


@pytest.mark.semantic
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda at: (at / "model.safetensors").unlink(), "no model.safetensors"),
        (lambda at: (at / "config.json").write_text('{"model_type": "bert"}'), "only got_ocr2"),
    ],
)
def test_a_folder_of_something_else_is_named_at_once(weights: Path, tmp_path: Path, change, why):
    folder = write_other(weights, tmp_path / "other")
    change(folder)
    with pytest.raises(DataError, match=why):
        Got(str(folder), ModelOptions())


@pytest.mark.semantic
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda at: (at / "processor_config.json").unlink(), "no preprocessor_config.json"),
        (lambda at: (at / "model.safetensors").write_bytes(b"x" * 100), "cannot be loaded"),
    ],
)
def test_a_broken_folder_is_named_when_it_is_loaded(weights: Path, tmp_path: Path, change, why):
    folder = write_other(weights, tmp_path / "other")
    change(folder)
    with pytest.raises(DataError, match=why):
        ask(folder, PAGE.data)
