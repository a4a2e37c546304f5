from __future__ import annotations

import json

import pytest

from keju.encoders import weights_hash
from keju.encoders.folder import how_to_get, weight_files
from keju.errors import DataError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "vocab.txt").write_text("[PAD]\n")
    return tmp_path


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
def test_the_hash_changes_with_everything_that_decides_a_vector(folder, name):
    before = weights_hash(folder)
    (folder / name).write_text(json.dumps({"model_type": "bert", "changed": True}))
    assert weights_hash(folder) != before
    assert len(before) == 64


def test_the_hash_is_of_the_files_and_not_of_the_place(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere")
    for path in folder.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    (other / "README.md").write_text("not read")
    assert weights_hash(other) == weights_hash(folder)


def test_a_pickle_is_never_taken(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(DataError, match="no pickle") as caught:
        weight_files(folder)
    assert "\n" not in str(caught.value)


def test_what_lacks_is_named(folder):
    (folder / "vocab.txt").unlink()
    with pytest.raises(DataError, match="no tokenizer"):
        weights_hash(folder)
    (folder / "vocab.txt").write_text("")
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"no model\.safetensors"):
        weights_hash(folder)
    (folder / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(DataError, match="'t5' is not supported, only bert, roberta"):
        weights_hash(folder)
    (folder / "config.json").unlink()
    with pytest.raises(DataError, match="no such file"):
        weights_hash(folder)


def test_shards_are_found_by_their_index_and_only_inside_the_folder(folder):
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-1.safetensors"}}))
    assert weight_files(folder) == [folder / "model-1.safetensors"]
    for wrong in ("../x.safetensors", "/etc/passwd", "model-2.safetensors"):
        index.write_text(json.dumps({"weight_map": {"a": wrong}}))
        with pytest.raises(DataError, match="not in this folder"):
            weight_files(folder)
    index.write_text('{"weight_map": {"a": 3}}')
    with pytest.raises(DataError, match="expected structure"):
        weight_files(folder)


def test_every_encoder_says_how_to_get_it():
    assert "--semantic roberta-large=DIR" in how_to_get("roberta-large")
    assert "FacebookAI/roberta-large" in how_to_get("roberta-large")
    assert 'pip install "keju[semantic]"' in how_to_get("minilm")
