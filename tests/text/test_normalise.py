"""Layers of normalisation, and what OCR scoring counts."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.text import (
    LAYERS,
    counted,
    counted_alike,
    counted_pair,
    normalisation_signature,
    normalise,
)

HAN = [*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000), *range(0x20000, 0x2A6E0)]


@pytest.mark.parametrize(
    ("left", "right", "layer"),
    [
        ("\ufa19", "神", "nfc"),
        ("\uf914", "樂", "nfc"),
        ("⼀⼈", "一人", "compatibility"),
        ("⺈", "刀", "compatibility"),
        ("Ａ１", "A1", "compatibility"),
        ("葛\U000e0100", "葛", "compatibility"),
        ("二○", "二〇", "compatibility"),
        ("〻", "々", "compatibility"),
        ("爲", "為", "variants"),
        ("旣", "既", "variants"),
        ("卽", "即", "variants"),
        ("羣", "群", "variants"),
        ("說", "説", "variants"),
        ("囘", "回", "variants"),
        *(
            (left, right, "variants")
            for left, right in (
                "鉄鐵",
                "軽輕",
                "豊豐",
                "処處",
                "処䖏",
                "巻卷",
                "売賣",
                "浜濱",
                "弐貳",
                "徴徵",
                "獘弊",
                "蔵藏",
                "斎齋",
                "仏佛",
                "価價",
                "囲圍",
                "齢齡",
                "鉱礦",
                "噛齧",
                "穏穩",
                "壷壺",
                "寳寶",
                "寃冤",
                "暜普",
                "脃脆",
                "蜨蝶",
                "㠯以",
                "萠萌",
                "槪概",
                "倂併",
                "甁瓶",
            )
        ),
        ("於", "于", "script"),
        ("學", "学", "script"),
        ("萬", "万", "script"),
        ("戶", "户", "script"),
    ],
)
def test_a_difference_ends_at_its_layer(left, right, layer):
    depth = LAYERS.index(layer)
    for each in LAYERS[:depth]:
        assert normalise(left, each) != normalise(right, each)
    for each in LAYERS[depth:]:
        assert normalise(left, each) == normalise(right, each)


@pytest.mark.parametrize(
    "pair",
    ["于於", "遊游", "采採", "歷曆", "髮發", "乾幹", "後后", "徵征", "貮一", "著箸", "知智", "己已",
     "沪濾", "予豫", "欠缺", "糸絲", "缶罐", "芸藝", "弁辨", "弁辯", "弁瓣", "煅鍛", "鼏冪",
     "零〇", "厲歷", "唯惟", "云雲", "嘆歎", "修脩", "侯候", "蘇酥"],
)  # fmt: skip
def test_different_words_stay_apart_as_variants(pair):
    assert normalise(pair[0], "variants") != normalise(pair[1], "variants")


def test_no_phrase_and_no_vocabulary_is_converted():
    assert normalise("乾坤") == normalise("乾") + normalise("坤")
    assert normalise("滑鼠忌廉") == "滑鼠忌廉"


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_is_idempotent_on_every_ideograph(layer):
    text = "".join(map(chr, HAN))
    once = normalise(text, layer)
    assert normalise(once, layer) == once


def test_no_later_layer_parts_what_an_earlier_one_joined():
    """Equality at one layer must imply equality at the next, for every ideograph."""
    for earlier, later in pairwise(LAYERS):
        joined: dict[str, str] = {}
        for code in HAN:
            char = chr(code)
            if unicodedata.normalize("NFC", char) == char:
                known = joined.setdefault(normalise(char, earlier), normalise(char, later))
                assert normalise(char, later) == known, (char, earlier, later)


def test_simplifying_by_the_same_table_never_creates_a_difference():
    """A model that answers in simplified characters loses nothing by the variants table."""
    import opencc

    simplify = opencc.OpenCC("t2s").convert
    text = "".join(chr(code) for code in HAN if unicodedata.is_normalized("NFC", chr(code)))
    assert normalise("".join(map(simplify, text))) == normalise(text)


@given(st.text(max_size=40))
def test_normalising_any_text_is_idempotent_for_equality(text):
    for layer in LAYERS:
        assert normalise(normalise(text, layer), layer) == normalise(text, layer)


@pytest.mark.parametrize(
    "mark", ["，", "。", " ", "\n", "　", "□", "■", "〓", "《", "*", "#", "|", "…"]
)
def test_punctuation_white_space_and_gap_marks_do_not_count(mark):
    assert counted(f"天{mark}地", "exact") == "天地"


@pytest.mark.parametrize("char", ["A", "9", "の", "\ue000", "〇", "○", "々", "囗", "\U000323af"])
def test_letters_digits_private_use_and_circles_count(char):
    assert char in counted(f"天{char}地", "exact")


def test_a_description_sequence_is_one_unit_equal_only_to_itself():
    left, right = counted_pair("天⿰木皆地", "天⿰木皆地")
    assert left == right
    assert len(left) == 3
    left, right = counted_pair("天⿰木皆地", "天⿱木皆地")
    assert len(left) == len(right) == 3
    assert left != right
    assert left[0] == right[0]


def test_description_sequences_may_nest():
    assert len(counted_pair("⿱艹⿰木皆", "")[0]) == 1


def test_a_malformed_sequence_counts_as_its_ideographs():
    assert counted_pair("⿰木", "木⿱")[0] == "木"
    assert counted_pair("⿰木", "木⿱")[1] == "木"


def test_units_are_alike_over_all_texts_prepared_together():
    first, second, third = counted_alike(["⿰木皆", "⿰木目", "⿰木皆"])
    assert first == third != second


def test_the_signature_names_the_tables():
    assert normalisation_signature("exact") == "exact"
    assert "unihan-15.0.0-table-2" in normalisation_signature("variants")
    assert "opencc-t2s-" in normalisation_signature("script")
