"""UDPipe's clauses and names: the arithmetic by itself, the real model where it is installed."""

from __future__ import annotations

import asyncio
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from keju.errors import PrerequisiteError
from keju.items import AnswerForm, Item, Request
from keju.metrics import punctuation_counts
from keju.models import Model, ModelOptions, open_model
from keju.models.base import Answer
from keju.models.baselines import udpipe
from keju.models.baselines.udpipe import Word, names, punctuated
from keju.running.requests import request_for

INSTALLED = find_spec("udkanbun") is not None and find_spec("ufal") is not None
needs_it = pytest.mark.skipif(
    not INSTALLED and os.environ.get("CI") != "true",
    reason="an extra: pip install 'keju[udpipe]', or make install-semantic",
)


def test_every_clause_has_a_mark_after_it():
    assert punctuated(["子曰", "學而時習之", "不亦說乎"]) == "子曰：學而時習之，不亦說乎。"
    assert punctuated(["子曰"]) == "子曰。"
    assert punctuated([]) == ""


def test_a_family_name_and_a_given_name_are_one_name():
    clause = [Word("項", "Sur"), Word("燕", "Giv"), Word("爲"), Word("秦", "Nat")]
    assert list(names(clause)) == ["項燕", "秦"]
    assert list(names([Word("籍", "Giv"), Word("顏", "Sur"), Word("楚", "Nat")])) == [
        "籍", "顏", "楚",
    ]  # fmt: skip


def test_without_the_model_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(udpipe, "find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError, match=r'pip install "keju\[udpipe\]"'):
        udpipe.UDPipe(ModelOptions())


def request(form: AnswerForm, text: str = "") -> Request:
    task = "T3" if form == "punctuated" else "T4"
    return Request(
        item="x", benchmark="MCS-Bench", task=task, form=form, prompt=text, source=text
    )  # fmt: skip


@cache
def opened() -> Model:
    """Loading takes seconds."""
    return open_model("baseline:udpipe", ModelOptions())


def answer(form: AnswerForm, text: str) -> Answer:
    model = opened()
    assert model.unsupported_reason(request(form, text)) == ""
    return asyncio.run(model.answer(request(form, text), ()))


@needs_it
def test_it_declines_what_it_cannot_do_and_what_comes_without_a_text():
    model = opened()
    assert "udpipe only punctuates and finds names" in model.unsupported_reason(
        request("letter", "天地")
    )
    item = Item(id="p", benchmark="MCS-Bench", task="T3", answer="天地玄黃。")
    assert "it needs a text" in model.unsupported_reason(request_for(item))
    pipeline = open_model("ocr+llm:ppocr+baseline:udpipe", ModelOptions())
    assert pipeline.unsupported_reason(request_for(item)) == ""


@needs_it
def test_a_passage_is_punctuated_and_its_characters_stay():
    passage = "子曰學而時習之不亦說乎\n有朋自遠方來不亦樂乎"
    said = answer("punctuated", passage).text
    assert said == "子曰：學而時習之，不亦說乎，有朋自遠方來，不亦樂乎。"
    odd = "𠀋□⿰木皆 A1〇"
    assert "".join(answer("punctuated", odd).text.split("，"))[:-1] == "".join(odd.split())


@needs_it
def test_names_are_listed_each_once():
    said = answer("entities", "項籍者下相人也\n項籍與秦戰").text
    assert said.split("、") == ["項籍", "秦"]
    none = answer("entities", "學而時習之")
    assert (none.text, none.status) == ("", "empty")


@needs_it
def test_none_of_the_package_s_own_code_is_run():
    answer("punctuated", "天地玄黃")
    assert not [name for name in sys.modules if name.split(".")[0] in {"udkanbun", "MeCab"}]


@needs_it
def test_clauses_and_names_of_a_treebank_that_it_may_have_seen(shared: Path):
    """Sanity, not a score: the model was trained on this treebank's other part at least."""
    text = (shared / "data" / "ud-kyoto" / "lzh_kyoto-ud-dev.conllu").read_text("utf-8")
    sentences = list(udpipe._read(text))[:400]
    hits = predicted = expected = 0
    right = given = wanted = 0
    for start in range(0, 400, 20):
        group = sentences[start : start + 20]
        clauses = ["".join(word.form for word in sentence) for sentence in group]
        counts = punctuation_counts(
            punctuated(clauses), answer("punctuated", "".join(clauses)).text
        )
        hits, predicted = hits + counts.hits, predicted + counts.predicted
        expected += counts.expected
        truth = {name for sentence in group for name in names(sentence)}
        said = set(answer("entities", "".join(clauses)).text.split("、"))
        right, given, wanted = right + len(truth & said), given + len(said), wanted + len(truth)
    assert 2 * hits / (predicted + expected) > 0.6
    assert 2 * right / (given + wanted) > 0.6
