"""Texts that other programs store in the place of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.models import AskError
from keju.models.replay import error_texts, is_error_text, looks_like_error
from tests.models.conftest import replayed

STORED = [(each, text) for each in error_texts()["errors"] for text in each.examples]
ANSWERS = [
    "A",
    "答案：B。圖中的文字有三處訛誤（error）。",
    "此句有错误，应作“天地玄黄”。",
    "失败者，成功之母也。",
    "Errors of copyists are common in this edition: three are marked.",
    "The scribe failed to copy the last line.",
    "卷四百三",
    "系统地考察《史記》各本",
    "超时空",
    '{"answer": "B"}',
    "",
]


@pytest.mark.parametrize(("wording", "text"), STORED)
def test_every_example_is_an_error_text(wording, text):
    assert wording.matches(text)
    assert is_error_text(f"\n{text} ")
    assert is_error_text(text, certain=True) or not wording.certain


@pytest.mark.parametrize("text", [text for it in error_texts()["suspects"] for text in it.examples])
def test_every_suspect_looks_like_an_error(text):
    assert looks_like_error(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_not_an_error_text(text):
    assert not is_error_text(text)
    assert not looks_like_error(text)


def test_every_wording_names_its_program_and_source():
    for each in error_texts()["errors"]:
        assert each.program in {"VLMEvalKit", "lmms-eval"}
        assert "commit" in each.source
        assert each.examples


@pytest.mark.parametrize("text", [text for _, text in STORED])
def test_an_error_text_is_a_failure_in_the_file_of_another_program(tmp_path: Path, text: str):
    file = tmp_path / "m_T10.json"
    file.write_text(json.dumps([{"index": 0, "id": "x", "prediction": text}]), "utf-8")
    with pytest.raises(AskError) as caught:
        replayed(file, "x", form="letter")
    assert caught.value.kind == "failed-elsewhere"
