"""Whether a model reads a page or recites the text that it knows."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keju.items import Item, Response
from keju.scoring.memorization import (
    altered_places,
    measure_memorization,
    page_outcome,
    place_outcome,
    place_outcomes,
)

TEXT = "天地玄黃宇宙洪荒日月盈昃\n辰宿列張寒來暑往秋收冬藏\n閏餘成歲律呂調陽雲騰致雨"
ALTERED = "天地玄黃宇宙洪芒日月盈昃\n辰宿列張寒來暑往秋收冬藏\n閏餘成威律呂調陽雲騰致雨"
SWAPPED = "天地玄黃宇洪宙荒日月盈昃\n辰宿列張寒來暑往秋收冬藏\n閏餘成歲律呂調陽雲騰致雨"
BLANKED = "天地玄黃宇宙\u3000荒日月盈昃\n辰宿列張寒來暑往秋收冬藏\n閏餘成歲律呂調陽雲騰致雨"


@pytest.mark.parametrize("page", [ALTERED, SWAPPED, BLANKED])
def test_a_reader_reads_and_a_reciter_recites(page):
    assert set(place_outcomes(page, TEXT, page)) == {"read"}
    assert set(place_outcomes(page, TEXT, TEXT)) == {"recited"}


def test_each_altered_place_is_one():
    assert [len(altered_places(page, TEXT)) for page in (ALTERED, SWAPPED, BLANKED, TEXT)] == [
        2,
        1,
        1,
        0,
    ]


def test_the_order_of_columns_and_mistakes_elsewhere_change_nothing():
    columns = ALTERED.split("\n")
    assert place_outcomes(ALTERED, TEXT, "\n".join(reversed(columns))) == ["read", "read"]
    assert place_outcomes(ALTERED, TEXT, ALTERED.replace("洪", "共")) == ["read", "read"]


def test_one_place_read_and_one_recited():
    assert place_outcomes(ALTERED, TEXT, ALTERED.replace("威", "歲")) == ["read", "recited"]


def test_a_third_character_is_neither():
    answer = ALTERED.replace("芒", "鴻").replace("成威律", "成律")
    assert place_outcomes(ALTERED, TEXT, answer) == ["neither", "neither"]


@pytest.mark.parametrize("answer", ["", "我看不清這張圖片。", "天地玄黃"])
def test_what_is_not_in_the_answer_is_missed(answer):
    assert place_outcomes(ALTERED, TEXT, answer) == ["missed", "missed"]


def test_an_answer_that_gives_both_readings_proves_nothing():
    assert place_outcomes(ALTERED, TEXT, ALTERED + TEXT) == ["neither", "neither"]


def test_other_scripts_and_punctuation_do_not_hide_a_reading():
    assert (
        place_outcomes(ALTERED, TEXT, "天地玄黄，宇宙洪芒。日月盈昃，闰馀成威，律吕调阳。")
        == ["read"] * 2
    )


def test_of_two_pages_the_nearer_is_told():
    other = "大學之道在明明德在親民在止於至善知止而后有定"
    assert page_outcome(other, TEXT, other[:-2]) == "read"
    assert page_outcome(other, TEXT, TEXT) == "recited"
    assert page_outcome(other, TEXT, "") == "missed"
    assert place_outcome(altered_places(ALTERED, TEXT)[0], other) == "missed"


def item(name: str, answer: str, **metadata: str) -> Item:
    return Item(id=name, benchmark="AncientDoc", task="page_level_ocr", answer=answer,
                group=name[0], metadata=metadata)  # fmt: skip


def response(model: str, name: str, text: str, status="answered") -> Response:
    return Response(key=model + name, item=name, model=model, benchmark="AncientDoc",
                    task="page_level_ocr", status=status, text=text)  # fmt: skip


ITEMS = [
    item("a", TEXT),
    item("a--x", ALTERED, control="look-alike", control_of="a"),
    item("b", TEXT),
    item("b--x", ALTERED, control="look-alike", control_of="b"),
    item("b--w", "大學之道在明明德在親民", control="wrong-page", control_of="b"),
    item("c--x", ALTERED, control="look-alike", control_of="gone"),
]


def test_rates_by_model():
    said = [response("reads", each.id, each.answer) for each in ITEMS]
    said += [response("recites", each.id, TEXT) for each in ITEMS]
    reads, _, recites, wrong = measure_memorization(ITEMS, said)
    assert (reads.model, reads.kind, reads.items, reads.places) == ("reads", "look-alike", 2, 4)
    assert (reads.read, reads.recited, reads.slips, reads.of) == (4, 0, 0, 4)
    assert (recites.read, recites.recited) == (0, 4)
    assert recites.reciting is None  # two books are too few for an interval
    assert (wrong.kind, wrong.recited, wrong.places) == ("wrong-page", 1, 1)


def books(number: int) -> list[Item]:
    return [each for place in range(number) for book in [chr(ord("d") + place)] for each in (
        item(book, TEXT), item(f"{book}--x", ALTERED, control="look-alike", control_of=book),
    )]  # fmt: skip


def test_the_excess_of_what_is_recited_over_slips_is_tested_by_book():
    items = books(6)
    (recites,) = measure_memorization(items, [response("m", each.id, TEXT) for each in items])
    # All of six books: the exact binomial interval over books, .025 ** (1 / 6) at its lower end.
    assert recites.reciting == pytest.approx((0.025 ** (1 / 6), 1.0))
    assert (recites.excess, recites.p, recites.recites) == (1.0, 2 / 2**6, True)
    # It reads the unaltered pages with as many slips: an eye that confuses the two characters.
    said = [response("m", each.id, ALTERED if each.answer == TEXT else TEXT) for each in items]
    (confuses,) = measure_memorization(items, said)
    assert (confuses.recited, confuses.excess, confuses.p) == (12, 0.0, 1.0)
    assert not confuses.recites


def test_tests_that_are_printed_together_are_adjusted_together():
    items = books(6)
    said = [response(model, each.id, TEXT) for model in ("one", "two") for each in items]
    results = measure_memorization(items, said)
    assert [(result.p, result.recites) for result in results] == [(4 / 2**6, False)] * 2
    assert not any(result.p for result in measure_memorization(books(5), said))


def test_a_poor_eye_slips_as_often_as_it_recites():
    """Who confuses two characters both ways does so on unaltered pages too."""
    said = [response("m", "a", ALTERED), response("m", "a--x", TEXT)]
    (found,) = measure_memorization(ITEMS, said)
    assert (found.recited, found.places, found.slips, found.of) == (2, 2, 2, 2)


def test_a_failure_reads_nothing():
    said = [response("m", "a--x", ALTERED, status="failed")]
    (found,) = measure_memorization(ITEMS, said)
    assert (found.missed, found.read) == (2, 0)


def test_prompts_are_kept_apart():
    said = [response("m", each.id, each.answer) for each in ITEMS[:2]]
    said += [replace(each, script="traditional", text=TEXT) for each in said]
    reads, recites = measure_memorization(ITEMS, said)
    assert (reads.script, reads.read, reads.recited) == ("released", 2, 0)
    assert (recites.script, recites.read, recites.recited) == ("traditional", 0, 2)
