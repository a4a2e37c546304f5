"""The words are jieba's, to the last."""

from __future__ import annotations

import json

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.benchmarks.mcs_bench.segmentation import words

COMMON = (
    "的一是不了人我在有他這这中大來来上國国個个到說说們们為为子和你地出道也時时年得就那要下以生會会自著去之過过家學学對对可她"
    "里後小么心多天而能好都然没沒日於于起還还發发成事只作當当想看文無无開开手十用主行方又如前所本見见经經頭头面公同三已老從从"
    "動动兩两長长知民樣样現现分將将外但身些與与高意進进把法此實实回二理美點点月明其種种聲声全工己話话"
)
MIXED = COMMON + "abcXYZ012.%+#&_- \t\r\n，。！？《》「」、㐀𠀀龥龦韩流C3PO"


@pytest.mark.parametrize(
    "text",
    [
        "", "的", "天地玄黃宇宙洪荒", "孔子说：学习并且按时温习，不也高兴吗？", "韩国韩流",
        "ABC123.5%的 x-y_z\r\n子曰 第3卷", "龥龦𠀀㐀", "，，。", "a", "3.14%", "天" * 60,
    ],
)  # fmt: skip
def test_known_texts(text):
    assert words(text) == jieba.lcut(text)


@settings(max_examples=400)
@given(st.text(alphabet=MIXED, max_size=120))
def test_any_text(text):
    assert words(text) == jieba.lcut(text)


@settings(max_examples=200)
@given(st.text(alphabet=COMMON, max_size=300), st.integers(1, 4))
def test_long_runs_and_loops(text, times):
    assert words(text * times) == jieba.lcut(text * times)


def test_the_golden_translations(shared):
    golden = json.loads((shared / "golden/mcs_public.json").read_text("utf-8"))
    texts = set()

    def load_runs(value):
        if isinstance(value, str):
            texts.add(value)
        elif isinstance(value, dict):
            for each in value.values():
                load_runs(each)
        elif isinstance(value, list):
            for each in value:
                load_runs(each)

    load_runs(golden)
    chosen = sorted(texts, key=len)[-600:]
    assert sum(map(len, chosen)) > 50_000
    for text in chosen:
        assert words(text) == jieba.lcut(text)
