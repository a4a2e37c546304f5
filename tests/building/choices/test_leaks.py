"""Planted leaks are found, each by its check, and clean sets pass."""

from __future__ import annotations

import random

import numpy as np
import pytest

from keju.building.choices.leaks import CHECKS, LeakCheck, check_choices, list_questions
from keju.items import Item
from tests.support.planted import CALLIGRAPHERS


def item(at: int, options: list[str], answer: int, **fields: object) -> Item:
    settings = {"benchmark": "MCS-Bench", "task": "T10", "group": f"g{at // 2}", **fields}
    letter = "ABCDEFGH"[answer]
    return Item(id=f"q{at}", options=tuple(options), answer=letter, **settings)


def uniform(number: int, seed: int, **fields: object) -> list[Item]:
    """Options drawn at random, one of them the answer at random: nothing to be found."""
    draw = random.Random(seed)
    return [
        item(at, draw.sample(CALLIGRAPHERS, 4), draw.randrange(4), **fields) for at in range(number)
    ]


def verdicts(items: list[Item]) -> dict[str, str]:
    return {row.check: row.verdict for row in check_choices(items)}


@pytest.mark.parametrize("seed", range(3))
def test_clean_sets_pass(seed):
    assert set(verdicts(uniform(240, seed)).values()) == {"clean"}


def test_a_longer_answer_leaks():
    items = []
    for each in uniform(120, 5):
        place = "ABCD".index(each.answer)
        options = list(each.options)
        if random.Random(each.id).random() < 0.5:
            options[place] += "（書聖）"
        items.append(item(int(each.id[1:]), options, place))
    found = verdicts(items)
    assert found["longest"] == found["blind"] == "leak"
    assert found["position"] == "clean"


def test_a_shorter_answer_leaks():
    draw = random.Random(6)
    items = [
        item(at, ["八大山人", "康里巎巎", "鮮于伯機", draw.choice("甲乙丙丁戊")], 3)
        for at in range(60)
    ]
    assert verdicts(items)["shortest"] == "leak"


def test_a_favourite_letter_leaks():
    draw = random.Random(7)
    items = [
        item(at, draw.sample(CALLIGRAPHERS, 4), draw.choice([0, 1, 2, 2, 2, 3]))
        for at in range(200)
    ]
    found = verdicts(items)
    assert found["position"] == "leak"
    assert found["longest"] == "clean"


def test_options_that_are_never_the_answer_leak():
    """Right answers are drawn from a few names, wrong ones from all."""
    draw = random.Random(8)
    items = []
    for at in range(200):
        options = draw.sample(CALLIGRAPHERS[8:], 3)
        place = draw.randrange(4)
        options.insert(place, draw.choice(CALLIGRAPHERS[:8]))
        items.append(item(at, options, place))
    found = {row.check: row for row in check_choices(items)}
    assert found["frequency"].verdict == found["blind"].verdict == "leak"
    assert found["blind"].low > 0.9
    assert "times" in found["frequency"].note


def test_an_answer_that_shares_its_words_with_the_question_leaks():
    draw = random.Random(9)
    items = []
    for at in range(150):
        options = draw.sample(CALLIGRAPHERS, 4)
        place = draw.randrange(4)
        items.append(
            item(
                at, options, place, task="T21x"[:3], question=f"與{options[place][0]}姓有關的是誰？"
            )
        )
    rows = check_choices([each for each in items if list_questions([each])])
    assert not rows  # T21 asks for no letter: nothing is checked
    items = [
        Item(
            id=each.id, benchmark="MCS-Bench", task="T10", group=each.group, options=each.options,
            answer=each.answer, question=each.question,
        )
        for each in items
    ]  # fmt: skip
    assert verdicts(items)["blind"] == "leak"


def test_odd_one_out_in_script_leaks():
    draw = random.Random(10)
    items = []
    for at in range(120):
        place = draw.randrange(4)
        options = draw.sample(["Mi Fu", "Su Shi", "Cai Xiang", "Wen Tong", "Ni Zan"], 3)
        options.insert(place, draw.choice(CALLIGRAPHERS))
        items.append(item(at, options, place))
    assert verdicts(items)["blind"] == "leak"


def test_a_group_is_never_on_both_sides():
    """Each book has four names and one of them is always right: other books tell nothing.

    So the four questions of a book are one observation, also of the frequency of its names.
    """
    draw = random.Random(11)
    names = ["".join(map(chr, draw.sample(range(0x4E00, 0x9000), 2))) for _ in range(160)]
    items = []
    for at in range(160):
        book = names[at // 4 * 4 :][:4]
        items.append(item(at, draw.sample(book, 4), 0, group=f"g{at // 4}"))
    items = [
        item(at, list(each.options), each.options.index(names[at // 4 * 4]), group=each.group)
        for at, each in enumerate(items)
    ]
    rows = {row.check: row for row in check_choices(items)}
    assert rows["blind"].verdict == rows["frequency"].verdict == "clean"


def repeating(seed: int, kind: str) -> list[Item]:
    """Thirty books of unequal sizes, each with one answer; without a leak.

    A book's options are the same in one order, the same in any order, or other ones each time.
    """
    draw = random.Random(seed)
    items: list[Item] = []
    for book in range(30):
        options = draw.sample(CALLIGRAPHERS, 4)
        right = draw.choice(options)
        for _ in range(max(1, round(5 * np.exp(draw.gauss(0, 0.8))))):
            if kind == "shuffled":
                draw.shuffle(options)
            elif kind == "other":
                options = draw.sample([name for name in CALLIGRAPHERS if name != right], 3)
                options.insert(draw.randrange(4), right)
            items.append(item(len(items), options, options.index(right), group=f"book {book}"))
    return items


@pytest.mark.parametrize("kind", ["constant", "shuffled", "other"])
def test_books_that_repeat_their_answer_are_no_leak(kind, monkeypatch):
    """Of 100 sets each, at most 3; with questions drawn one by one, more than 90 were leaks."""
    monkeypatch.delitem(CHECKS, "blind")  # most of the time; it has the draws of the lengths
    alarms = ["leak" in verdicts(repeating(seed, kind)).values() for seed in range(100)]
    assert sum(alarms) <= 3


def test_a_leak_in_ten_books_is_found():
    """Each of ten books prefers the third letter and the longest option."""
    draw = random.Random(13)
    items = []
    for at in range(300):
        options = draw.sample([name for name in CALLIGRAPHERS if len(name) < 4], 4)
        place = draw.choice([0, 1, 2, 2, 2, 3])
        options[place] += "（書聖）" if draw.random() < 0.6 else ""
        items.append(item(at, options, place, group=f"book {at % 10}"))
    rows = {row.check: row for row in check_choices(items)}
    assert {name for name, row in rows.items() if row.verdict == "clean"} == {"shortest"}
    # No other signs of ten books give as much; a square has no sign.
    assert (rows["longest"].p, rows["position"].p) == (1 / 2**10, 2 / 2**10)


def test_few_questions_or_groups_say_nothing():
    assert set(verdicts(uniform(12, 1)).values()) == {"too few"}
    items = uniform(200, 1)
    nine = [item(at, list(each.options), 0, group=f"g{at % 9}") for at, each in enumerate(items)]
    assert set(verdicts(nine).values()) == {"too few"}


def test_the_order_of_the_questions_changes_no_check():
    items = repeating(3, "shuffled")
    forwards, backwards = check_choices(items), check_choices(items[::-1])
    assert [row.adjusted for row in forwards] == [row.adjusted for row in backwards]


def test_questions_with_other_numbers_of_options_are_counted_by_their_own_chance():
    draw = random.Random(12)
    items = [
        item(at, draw.sample(CALLIGRAPHERS, 2 + at % 5), draw.randrange(2 + at % 5))
        for at in range(200)
    ]
    rows = {row.check: row for row in check_choices(items)}
    assert {row.verdict for row in rows.values()} == {"clean"}
    assert rows["blind"].expected == pytest.approx(np.mean([1 / (2 + at % 5) for at in range(200)]))


def test_the_checks_are_those_that_are_documented():
    assert list(CHECKS) == ["longest", "shortest", "position", "frequency", "blind"]
    assert {row.check for row in check_choices(uniform(30, 2))} == set(CHECKS)
    assert isinstance(check_choices(uniform(30, 2))[0], LeakCheck)
