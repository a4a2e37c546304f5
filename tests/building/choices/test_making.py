"""Options: what may stand together, how often each is shown, and where the answer is."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.building.choices.making import (
    ChoiceSet,
    OpenQuestion,
    make_choices,
    normalise_option,
    spread_answers,
)
from keju.building.sampling import Weights
from tests.support.planted import CALLIGRAPHERS


def of_pool(number: int, seed: int, *, slope: float = 0.6) -> list[OpenQuestion]:
    """Questions whose answers are as unlike in frequency as names are."""
    weights = [1 / (place + 1) ** slope for place in range(len(CALLIGRAPHERS))]
    drawn = random.Random(seed).choices(CALLIGRAPHERS, weights, k=number)
    return [OpenQuestion(f"q{at}", "author", answer) for at, answer in enumerate(drawn)]


def made_of(asked: list[OpenQuestion], options: int = 4, seed: int = 1) -> ChoiceSet:
    return make_choices(asked, options, np.random.default_rng(seed))


def is_clash(one: str, other: str) -> bool:
    """Whether two options exclude each other: same meaning, or one contains the other."""
    first, second = normalise_option(one), normalise_option(other)
    return first in second or second in first


def test_letters_are_the_answer_equally_often_not_by_chance():
    for number in (97, 200):
        places = Counter(each.place for each in made_of(of_pool(number, 1)).choices.values())
        assert sorted(places.values()) == sorted(number // 4 + (at < number % 4) for at in range(4))


@given(st.integers(1, 60), st.integers(2, 6), st.integers(0, 99))
def test_places_are_spread_evenly(questions, options, seed):
    places = Counter(spread_answers(questions, options, np.random.default_rng(seed)))
    counts = [places[at] for at in range(options)]
    assert sum(counts) == questions
    assert max(counts) - min(counts) <= 1


ANSWERS = st.text("王獻献之說说大小12A，", min_size=1, max_size=3)


@given(
    st.lists(
        st.tuples(st.sampled_from("甲乙"), ANSWERS, st.frozensets(ANSWERS, max_size=2)), max_size=30
    ),
    st.integers(2, 5),
)
@settings(max_examples=80)
def test_whatever_the_answers_options_keep_their_promises(rows, options):
    asked = [OpenQuestion(f"q{at}", *row) for at, row in enumerate(rows)]
    made = made_of(asked, options)
    assert {*made.choices} | {*made.reasons} == {each.id for each in asked}
    assert not {*made.choices} & {*made.reasons}
    for each in asked:
        if each.id in made.choices:
            found = made.choices[each.id]
            assert len(found.options) == options
            assert found.options[found.place] == each.answer
            assert not any(is_clash(*pair) for pair in combinations(found.options, 2))
            wrong = found.options[: found.place] + found.options[found.place + 1 :]
            assert not any(is_clash(option, right) for option in wrong for right in each.also)
            pool = {other.answer for other in asked if other.pool == each.pool}
            assert {*wrong} <= pool
    places = Counter(found.place for found in made.choices.values())
    assert not places or max(places.values()) - min(places[at] for at in range(options)) <= 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("唐", "南唐"), ("王獻之", "王献之"), ("說", "説"), ("《蘭亭序》", "蘭亭序"), ("12", "2")],
)
def test_these_cannot_stand_together(one, other):
    assert is_clash(one, other)
    assert is_clash(other, one)


def test_each_value_is_shown_as_its_answers_allow():
    """Three wrong options to each right one, so a value seen says nothing about its being right."""
    asked = of_pool(600, 3)
    made = made_of(asked)
    shown = Counter(option for each in made.choices.values() for option in each.options)
    for answer, number in Counter(each.answer for each in asked).items():
        assert shown[answer] == pytest.approx(4 * number, rel=0.15, abs=2)


def test_neighbours_in_length_and_script_are_preferred():
    han = ["秦始皇陵兵馬俑", "北宋汝窯天青釉", "清明上河圖長卷", "千里江山圖長卷", "韓熙載夜宴圖卷"]
    asked = [OpenQuestion(f"h{at}", "p", text) for at, text in enumerate(han)]
    asked += [OpenQuestion(f"s{at}", "p", text) for at, text in enumerate("甲乙丙丁戊己")]
    asked += [
        OpenQuestion(f"l{at}", "p", text)
        for at, text in enumerate(["Tang", "Song", "Ming", "Yuan"])
    ]
    asked += [OpenQuestion(f"n{at}", "p", text) for at, text in enumerate(["11", "24", "35", "76"])]
    made = made_of(asked).choices
    for each in asked:
        kinds = {
            (option.isascii(), option.isdigit(), len(option) > 4)
            for option in made[each.id].options
        }
        assert len(kinds) == 1, made[each.id]


def test_traditional_answers_stand_among_traditional_ones():
    traditional, simplified = (
        ["顏真卿", "柳公權", "歐陽詢", "趙孟頫"],
        ["苏轼", "蔡邕书", "张旭", "钟繇"],
    )
    asked = [OpenQuestion(text, "p", text) for text in (*traditional, *simplified)]
    found = made_of(asked).choices["顏真卿"].options
    assert {*found} == {*traditional}


def test_small_pools_say_why():
    made = made_of(
        [
            OpenQuestion("a", "dynasty", "唐"),
            OpenQuestion("b", "dynasty", "宋"),
            OpenQuestion("c", "dynasty", "唐"),
        ]
    )
    assert not made.choices
    assert made.reasons["a"] == (
        "fewer than 3 of the 2 answers of pool 'dynasty' can be an option of it"
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_pool_that_only_some_choices_can_serve_is_served(seed):
    """甲乙 clashes with 甲 and with 乙: whoever takes it has too few others left."""
    asked = [OpenQuestion(text, "p", text) for text in ("丙", "甲乙", "甲", "乙")]
    assert {*made_of(asked, 3, seed).choices["丙"].options} == {"丙", "甲", "乙"}
    assert not made_of(asked, 4, seed).choices


def test_the_same_seed_gives_the_same_options():
    asked = of_pool(80, 4)
    assert made_of(asked) == made_of(asked)
    assert made_of(asked) != made_of(asked, seed=2)


def test_of_a_large_pool_few_answers_are_looked_at_for_each_question(monkeypatch):
    """So that a pool of a hundred thousand takes a thousand times as long as one of a hundred."""
    looked = Counter()
    find = Weights.find

    def counting(weights: Weights, weight: int) -> int:
        looked["answers"] += 1
        return find(weights, weight)

    monkeypatch.setattr(Weights, "find", counting)
    names = random.Random(1)
    texts = {"".join(names.choices("王李張趙顏柳米蔡黃蘇文徵明董其昌", k=4)) for _ in range(2000)}
    asked = [OpenQuestion(text, "author", text) for text in sorted(texts)]
    asked += [OpenQuestion(f"often{at}", "author", "歐陽通達") for at in range(len(texts) // 10)]
    made = made_of(asked)
    assert not made.reasons
    assert looked["answers"] < 6 * len(asked)
    shown = Counter(option for each in made.choices.values() for option in each.options)
    assert shown["歐陽通達"] == pytest.approx(4 * (len(texts) // 10), rel=0.05)
    assert max(shown[text] for text in texts) <= 8
    assert min(shown[text] for text in texts) >= 1


def test_plain_folds_marks_and_scripts():
    assert normalise_option("《說文》") == normalise_option("说文")
