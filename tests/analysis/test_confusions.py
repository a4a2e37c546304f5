"""Misread characters of each model, in the forms of reference and answer."""

from __future__ import annotations

from lxml import html

from keju.analysis.confusions import Confusion, Mistakes
from keju.analysis.differences import differences
from keju.reporting.page import write_report


def test_pairs_show_the_printed_forms_and_are_counted_folded():
    mistakes = Mistakes()
    mistakes.add("one", differences("學而時習之不亦說乎", "学而時習之不亦悦乎"))
    mistakes.add("one", differences("學而時習之不亦説乎", "學而時之不亦悅乎"))
    mistakes.add("one", differences("學而時習之不亦說乎", "學而時之不亦悦乎"))
    mistakes.add("two", differences("学习学习学习", "学习学习学"))
    one, two = mistakes.commonest()
    assert (one.model, one.pages, one.left_out) == ("one", 3, 0)
    assert one.confusions == [
        Confusion("說", "悦", 3, 3, (("説", "悅", 1),)),
        Confusion("習", "", 2, 3),
    ]
    # A mistake that was made once is none of the commonest.
    assert (two.model, two.confusions) == ("two", [])


def test_a_page_that_is_mostly_wrong_is_left_out_and_counted():
    mistakes = Mistakes()
    for _ in range(2):
        mistakes.add("one", differences("天地玄黃宇宙洪荒", "日月盈昃辰宿列張"))
    mistakes.add("one", differences("天地玄黃宇宙洪荒", "天地玄黃宇宙洪荒"))
    mistakes.add("one", differences("", "天地"))
    (one,) = mistakes.commonest()
    assert (one.pages, one.left_out, one.confusions) == (3, 2, [])


def test_the_report_names_the_model_and_the_pages_left_out(scored_run, tmp_path):
    write_report([scored_run], tmp_path / "report.html")
    tree = html.fromstring((tmp_path / "report.html").read_text("utf-8"))
    told = [
        " ".join(each.text_content().split())
        for each in tree.xpath("//summary[contains(., 'most frequently misread characters')]")
    ]
    assert [each.rpartition("/")[2] for each in told] == [
        "good.jsonl: most frequently misread characters (2 of 2 pages)",
        "bad.jsonl: most frequently misread characters (0 of 2 pages; 2 skipped because more than "
        "half of their characters are wrong)",
    ]
