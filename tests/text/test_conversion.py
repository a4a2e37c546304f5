"""The authors' cleaning and conversion, quirks included."""

import subprocess
import sys

import pytest
import zhconv
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.benchmarks.mcs_bench.texts import official_clean
from keju.text import official_convert

WORDS = sorted(zhconv.zhconv.getdict("zh-cn"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("天，地。 玄\n黄", "天地玄黄"),
        ("天_地9Aé", "天_地9Aé"),
        ("天の地ㄊ한", "天の地ㄊ한"),
        ("𠮷〇", "𠮷〇"),
        ("天□地", "天地"),
        ("⼀\ue000葛\U000e0100", "葛"),
        ("天\u200b地\ufeff", "天地"),
    ],
)
def test_cleaning_keeps_letters_of_every_script_and_drops_the_rest(text, left):
    assert official_clean(text) == left


def test_conversion_is_zhconv_with_its_phrases():
    assert official_convert("學而時習之") == "学而时习之"
    assert official_convert("田忌廉頗") == "田奶油颇"
    assert official_convert("旹") == "时"


def test_cleaning_first_joins_phrases_over_punctuation():
    text = "田忌、廉頗"
    assert official_convert(official_clean(text)) != official_clean(official_convert(text))


def test_zhconv_is_not_imported_before_it_is_needed():
    code = "import sys, keju.text; sys.exit('zhconv' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS) | st.text(alphabet="忌廉頗著於後a，\U00020000", max_size=3)))
def test_conversion_gives_what_zhconv_gives(parts):
    text = "".join(parts)
    assert official_convert(text) == zhconv.convert(text, "zh-cn")


def test_every_word_of_zhconvs_dictionary_is_converted_alike():
    for word in WORDS:
        for text in (word, "曰" + word, word[:-1], word + word[0]):
            assert official_convert(text) == zhconv.convert(text, "zh-cn")
