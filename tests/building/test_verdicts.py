"""Verdicts: reading, writing, and the corrections of items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.building.review_form import read_review_form
from keju.building.reviewing import (
    Corrections,
    Verdict,
    apply_corrections,
    compute_seal,
    select_latest,
    unify_texts,
    write_verdicts,
)
from keju.building.reviewing.deciding import decide
from keju.building.reviewing.sheets import read_sheet
from keju.errors import DataError
from keju.items import Box, Item, Line

ITEM = Item(id="a", benchmark="AncientDoc", task="page_level_ocr", answer="天", transcription="天",
            answer_simplified="天", also_accepted=("夫",), metadata={"n": "1"})  # fmt: skip


def correct(corrections: Corrections, person: str = "p") -> Verdict:
    return Verdict(item="a", person=person, decision="correct", corrections=corrections)


def read_verdicts(path: Path) -> list[Verdict]:
    return read_sheet(path, {ITEM.id: ITEM}, "", read_review_form())


def test_verdicts_are_read_and_the_last_one_of_a_person_counts(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    first = Verdict(item="a", person="甲", decision="reject", reason="模糊")
    second = correct(Corrections(answer="地"), person="甲")
    other = Verdict(item="a", person="乙", decision="accept")
    write_verdicts(path, [first, other, second])
    assert read_verdicts(path) == [first, other, second]
    assert select_latest(read_verdicts(path)) == {"a": {"甲": second, "乙": other}}


def test_a_file_without_a_final_newline_is_read_completely(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, [Verdict(item="a", person="甲", decision="accept")])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert [verdict.item for verdict in read_verdicts(path)] == ["a"]


def test_an_item_may_be_named_by_a_long_path(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    said = Verdict(item="册/" * 300, person="甲", decision="accept")
    write_verdicts(path, [said])
    assert read_verdicts(path) == [said]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item":"a","person":"p","decision":"correct"}', "there is no correction"),
        (
            '{"item":"a","person":"p","decision":"accept","mended":{"answer":"b"}}',
            "there are corrections",
        ),
        ('{"item":"a","person":"p","decision":"maybe"}', "(line|record) 1"),
        ('{"item":"a","person":"","decision":"accept"}', "(line|record) 1"),
        ('{"item":"a","person":"p","decision":"accept","draft":false}', "(line|record) 1"),
        ('{"item":"a","person":"p","decision":"correct","mended":{"id":"b"}}', "(line|record) 1"),
        ("[" * 100_000, "(line|record) 1"),
    ],
)
def test_a_line_that_is_not_a_verdict_is_reported(tmp_path, line, said):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=said) as caught:
        read_verdicts(path)
    assert str(path) in str(caught.value)


def test_a_correction_is_read_and_written(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(
        '{"item":"a","person":"p","decision":"correct","mended":{"answer":"地"}}\n', "utf-8"
    )
    (found,) = read_verdicts(path)
    assert found == correct(Corrections(answer="地"))
    write_verdicts(path, [found])
    assert json.loads(path.read_text("utf-8")) == {
        "item": "a", "person": "p", "decision": "correct", "mended": {"answer": "地"},
    }  # fmt: skip


def test_a_corrected_answer_replaces_the_texts_made_from_it():
    verdict = correct(Corrections(answer="地"))
    corrected = apply_corrections(ITEM, verdict)
    assert (corrected.answer, corrected.answer_simplified, corrected.transcription) == (
        "地",
        "",
        "地",
    )
    assert corrected.also_accepted == ()
    assert corrected.metadata == ITEM.metadata


def lined(*texts: str) -> Item:
    lines = tuple(Line(id=str(n), text=text, confidence=0.5) for n, text in enumerate(texts))
    return replace(ITEM, answer="天地\n玄黃", transcription="天地\n玄黃", lines=lines)


@pytest.mark.parametrize("field", ["answer", "transcription"])
def test_all_texts_of_a_transcribed_page_are_corrected(field):
    verdict = correct(Corrections(**{field: "天地\n玄皇"}))
    corrected = apply_corrections(lined("天地", "頁三", "玄黃"), verdict)
    assert (corrected.answer, corrected.transcription) == ("天地\n玄皇", "天地\n玄皇")
    assert [(line.text, line.confidence) for line in corrected.lines] == [
        ("天地", 0.5), ("頁三", 0.5), ("玄皇", None),
    ]  # fmt: skip
    assert corrected.answer_simplified == ""
    apart = replace(lined(), transcription="天也\n玄黃")
    assert apply_corrections(apart, verdict).transcription == "天地\n玄皇"
    bare = apply_corrections(replace(ITEM, transcription=None), verdict)
    assert (bare.answer, bare.transcription) == ("天地\n玄皇", "天地\n玄皇")


@pytest.mark.parametrize(
    ("texts", "answer"), [(("天地", "玄黃"), "天地玄皇"), (("天也", "玄黃"), "天地\n玄皇")]
)
def test_lines_that_do_not_match_a_correction_are_dropped_and_noted(texts, answer):
    item = lined(*texts)
    verdict = correct(Corrections(answer=answer))
    assert apply_corrections(item, verdict).lines == ()
    note = "mended: answer; lines left out, as the text has others now"
    assert decide(item, {"p": verdict}, need=1).note == note


def test_different_corrections_of_one_text_are_rejected():
    twice = correct(Corrections(answer="地", transcription="人"))  # fmt: skip
    with pytest.raises(DataError, match="the same text in this task"):
        unify_texts(ITEM, twice)
    asked = replace(ITEM, task="linguistic_variant_qa")
    assert unify_texts(asked, twice) == twice
    alike = replace(twice, corrections=Corrections(answer="地", transcription="地"))
    assert unify_texts(ITEM, alike).corrections == Corrections(answer="地")


def test_a_corrected_question_does_not_change_the_answer():
    verdict = correct(Corrections(question="何"))
    assert apply_corrections(ITEM, verdict) == replace(ITEM, question="何")


def test_the_seal_depends_only_on_what_reviewers_see():
    assert compute_seal(ITEM) == compute_seal(replace(ITEM, metadata={}, group="g", draft=True))
    shown = [
        replace(ITEM, answer="地"),
        replace(ITEM, question="何"),
        replace(ITEM, fields={"term": "庸"}),
        replace(ITEM, options=("a",)),
        replace(ITEM, boxes=(Box(x0=0, y0=0, x1=1, y1=1),)),
    ]
    assert len({compute_seal(item) for item in [ITEM, *shown]}) == 6
