"""What an item says itself: templates, letters, order of options and marks make no difference."""

from __future__ import annotations

import pytest

from keju.building.dedup.canonical import canonicalize, fold_text, is_same_answer
from keju.definitions import prompt_of, task
from keju.items import Box, Item


def choice(*options: str, answer: str, **fields: object) -> Item:
    settings = {"benchmark": "MCS-Bench", "task": "T7", **fields}
    return Item(id="one", options=options, answer=answer, **settings)


BOOKS = ("莊子", "論語", "孟子", "荀子")


def test_the_letter_is_its_option_and_the_order_of_options_is_nothing():
    shuffled = choice("孟子", "荀子", "莊子", "論語", answer="D")
    assert canonicalize(choice(*BOOKS, answer="B")) == canonicalize(shuffled)
    assert canonicalize(choice(*BOOKS, answer="B")).answer == "論語"
    assert canonicalize(choice(*BOOKS, answer="B")) != canonicalize(choice(*BOOKS, answer="C"))


def test_several_letters_are_several_options_in_any_order():
    assert canonicalize(choice(*BOOKS, answer="B、A")) == canonicalize(
        choice(*BOOKS, answer="ＡＢ")
    )


def test_a_letter_that_no_option_has_stays():
    assert canonicalize(choice(*BOOKS, answer="G")).answer == "G"


@pytest.mark.parametrize("name", ["T1", "T5", "T6", "T7", "T21"])
def test_a_verbatim_question_says_what_the_filled_template_says(name):
    options = BOOKS if task(name).queries[0].form == "letter" else ()
    plain = Item(
        id="one",
        benchmark="MCS-Bench",
        task=name,
        question="文中的“鵬”從何處飛往何處？"
        if "{question}" in task(name).queries[0].template
        else "",
        fields={"term": "圖南"} if name == "T5" else {},
        options=options,
        answer="B" if options else "自北冥往南冥",
    )
    verbatim = Item(
        id="two",
        benchmark="MCS-Bench",
        task=name,
        question=prompt_of(plain),
        verbatim=True,
        answer=plain.answer,
    )
    assert canonicalize(verbatim).asked.strip() == canonicalize(plain).asked.strip()
    assert canonicalize(verbatim)[1:] == canonicalize(plain)[1:]


def test_a_constant_prompt_says_nothing_itself():
    for name in ("T1", "T7"):
        item = Item(id="i", benchmark="MCS-Bench", task=name, options=BOOKS, answer="A")
        assert canonicalize(item).asked == ""


def test_a_verbatim_question_of_other_words_keeps_them_without_its_options():
    item = Item(
        id="i",
        benchmark="MCS-Bench",
        task="T7",
        question="此頁當出於何書？ A、莊子 B、論語 C、孟子 D、荀子",
        verbatim=True,
        answer="A",
    )
    assert canonicalize(item).asked == "此頁當出於何書"
    assert canonicalize(item).answer == "莊子"


def test_marks_and_width_fold_but_not_between_digits():
    assert fold_text("「北冥有魚，其名爲鯤。」 ＡＢ") == "北冥有魚其名爲鯤AB"
    assert fold_text("約3.5尺，") == "約3.5尺"
    assert fold_text("-5") != fold_text("5")
    assert fold_text("⿰木皆") == "⿰木皆"
    assert fold_text("□□") == "□□"


def test_scripts_fold_when_asked():
    assert fold_text("說乎") != fold_text("说乎")
    assert fold_text("說乎", simplify=True) == fold_text("说乎", simplify=True)


def test_where_marks_are_the_answer_they_stay():
    fields = {"benchmark": "MCS-Bench", "task": "T3"}
    full = canonicalize(Item(id="a", answer="學而時習之，不亦說乎？", **fields))
    other = canonicalize(Item(id="b", answer="學而時習之。不亦說乎？", **fields))
    narrow = canonicalize(Item(id="c", answer="學而時習之,不亦說乎?", **fields))
    assert full != other
    assert full == narrow


def test_boxes_and_candidates_are_answers():
    fields = {"id": "a", "benchmark": "OBI-Bench", "task": "recognition", "query": "Where"}
    one = Item(boxes=(Box(x0=1, y0=2, x1=3, y1=4),), **fields)
    assert canonicalize(one) != canonicalize(Item(boxes=(Box(x0=1, y0=2, x1=3, y1=5),), **fields))


def test_only_long_answers_may_differ_by_a_slip():
    long = "北冥有魚其名爲鯤鯤之大不知其幾千里也化而爲鳥其名爲鵬鵬之背不知其幾千里也"
    assert is_same_answer(long, long.replace("魚", "漁"))
    assert not is_same_answer("王羲之", "王獻之")
    assert not is_same_answer(long, long[:-4])


def test_a_picture_that_only_bears_its_class_asks_nothing():
    item = Item(
        id="a", benchmark="OBI-Bench", task="classification", answer="馬", split="reference"
    )
    assert canonicalize(item).text.strip() == "馬"
