from __future__ import annotations

import pytest

from keju.encoders import NAMES, parse_semantic
from keju.errors import UsageError


def test_a_bare_folder_serves_every_name(tmp_path):
    assert parse_semantic([str(tmp_path)]) == dict.fromkeys(NAMES, tmp_path)


def test_a_named_folder_serves_its_name_only(tmp_path):
    assert parse_semantic([f"minilm={tmp_path}"]) == {"minilm": tmp_path}
    assert parse_semantic([]) == {}


@pytest.mark.parametrize("named_first", [True, False])
def test_a_named_folder_goes_before_a_bare_one(tmp_path, named_first):
    other = tmp_path / "other"
    other.mkdir()
    options = [f"roberta-large={other}", str(tmp_path)]
    found = parse_semantic(options if named_first else options[::-1])
    assert found["roberta-large"] == other
    assert found["minilm"] == tmp_path


def test_an_equals_sign_may_stand_in_a_folders_name(tmp_path):
    folder = tmp_path / "a=b"
    folder.mkdir()
    assert parse_semantic([str(folder)])["minilm"] == folder
    assert parse_semantic([f"minilm={folder}"]) == {"minilm": folder}


def test_the_home_folder_may_be_written_short(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "bert").mkdir()
    assert parse_semantic(["bert-base-chinese=~/bert"]) == {"bert-base-chinese": tmp_path / "bert"}


def test_wrong_options_say_what_is_wrong(tmp_path):
    wrong = {
        f"roberta-larg={tmp_path}": "roberta-large",
        f"word2vec={tmp_path}": "chinese-bert-wwm, bert-base-chinese",
        "minilm=": "the variable is not set in this shell",
        f"minilm={tmp_path}/absent": "no such folder",
        f"{tmp_path}/absent": "no such folder",
    }
    for option, said in wrong.items():
        with pytest.raises(UsageError, match=said):
            parse_semantic([option])
    with pytest.raises(UsageError, match="minilm twice"):
        parse_semantic([f"minilm={tmp_path}"] * 2)
    with pytest.raises(UsageError, match="two folders without a name"):
        parse_semantic([str(tmp_path), str(tmp_path)])
