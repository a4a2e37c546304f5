"""The authors' cleaning and conversion, quirks included."""

import subprocess
import sys

import pytest

from keju.benchmarks.mcs_bench.script import official_clean
from keju.text import official_convert


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
