"""Encoders in workers: other weights or none end the work, and are not an image's error."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.building.image_files import LOCAL_FILES, UnavailableError
from keju.building.worker_encoders import (
    ImageBatch,
    encode_batch,
    load_encoder,
)
from tests.support.tiny_clip import write_clip

pytestmark = pytest.mark.semantic


def test_other_weights_and_missing_ones_end_the_work(tmp_path: Path):
    here = write_clip(tmp_path / "here")
    weights = load_encoder(here, texts=False).weights_hash
    other = write_clip(tmp_path / "other", seed=1)
    for folder in (other, tmp_path / "missing"):
        with pytest.raises(UnavailableError):
            encode_batch(
                ImageBatch(("a.jpg",), ("",), weights),
                folder=folder,
                images=LOCAL_FILES,
            )


def test_an_encoder_stays_loaded_until_it_is_released(tmp_path: Path):
    folder = write_clip(tmp_path / "clip")
    first = load_encoder(folder)
    assert load_encoder(folder) is first
    load_encoder.cache_clear()
    assert load_encoder(folder) is not first
    load_encoder.cache_clear()
