"""What is said again is counted once; prose, titles and short answers are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.text import unrepeated_share

PROSE = (
    "北冥有魚其名為鯤鯤之大不知其幾千里也化而為鳥其名為鵬鵬之背不知其幾千里也怒而飛其翼若垂天之雲"
)


def test_a_text_three_times_over_is_a_third_new():
    assert unrepeated_share(PROSE) == 1
    assert unrepeated_share(PROSE * 3) == pytest.approx(1 / 3)
    assert unrepeated_share(f"{PROSE}。\n{PROSE}！{PROSE}") == pytest.approx(1 / 3)


def test_words_count_as_characters_do():
    said = "The image shows a turtle plastron with carved inscriptions and a few deep cracks. "
    assert unrepeated_share(said) == 1
    assert unrepeated_share(said * 2) == 0.5


def test_titles_and_short_answers_may_be_repeated():
    assert unrepeated_share("《清明上河圖》是張擇端所作。《清明上河圖》現藏故宮博物院。") == 1
    assert unrepeated_share("moon moon moon") == 1
    assert unrepeated_share("") == 1


def test_a_loop_is_hardly_anything():
    assert unrepeated_share("天地玄黃" * 500) < 0.02


@given(st.text(alphabet="天地玄黃宇宙ab ，。", max_size=300))
def test_a_share_is_a_share(text):
    assert 0 < unrepeated_share(text) <= 1
