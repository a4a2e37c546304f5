"""Pages without a result: the cause comes first, and nothing is concluded from what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lxml import html

from keju.analysis.no_results import no_results
from keju.analysis.run_set import load_runs
from keju.cli.output.run_summary import failure_lines, run_table
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.reporting.conclusions import conclusion_lines
from keju.reporting.page import Report, write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture
from tests.support.own_pages import scored_pages

TEXTS = [chr(0x4E00 + 40 * n) * 5 + chr(0x5E00 + 40 * n) * 5 for n in range(8)]


def scored(path: Path, results: dict[str, dict[int, str]], texts: Sequence[str] = TEXTS) -> Path:
    """A scored run over a page of each of so many books; of each engine the texts that it gave."""
    about = {"name": "mine", "version": "1", "licence": "CC0-1.0", "source": "the test"}
    with DatasetWriter(path / "set", **about) as writer:
        for place, text in enumerate(texts):
            image = writer.add_image(picture(100 + place), f"b{place}/p")
            writer.add(
                Item(id=f"b{place}/p", benchmark="pages", task="page_ocr", images=(image,),
                     answer=text, group=f"b{place}")
            )  # fmt: skip
    for engine, given in results.items():
        for place, text in given.items():
            (path / engine / f"b{place}").mkdir(parents=True)
            (path / engine / f"b{place}" / "p.txt").write_text(text, "utf-8")
    specs = [f"replay:{engine}={path / engine}" for engine in results]
    summary = run(path / "set", specs, path / "run")
    folder = RunFolder.open(path / "run")
    score_run(folder)
    table = run_table(summary)
    (path / "terminal.txt").write_text(
        "\n".join([*(str(cell) for cell in table.columns[1].cells),
                   *(str(cell) for cell in table.columns[3].cells),
                   *failure_lines(RunFolder.open(path / "run"), summary)])
    )  # fmt: skip
    return path


def whole(right: int) -> dict[int, str]:
    """All eight pages, so many of them read right and of the others the first half."""
    return {place: text if place < right else text[:5] for place, text in enumerate(TEXTS)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = {place: TEXTS[place][:9] for place in range(3)}
    engines = {"good": whole(8), "half": whole(0), "Vendor": given}
    return scored(tmp_path_factory.mktemp("lacking"), engines)


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return write_report([folder / "run"], folder / "en.html")


def tree_of(report: Report) -> html.HtmlElement:
    return html.fromstring(report.page.read_text("utf-8"))


def verdict_lines(report: Report) -> list[str]:
    lines = tree_of(report).xpath("//*[@id='verdicts']//li")
    return [" ".join(each.text_content().split()) for each in lines]


def test_the_terminal_counts_missing_files_as_missing(folder):
    said = (folder / "terminal.txt").read_text("utf-8").splitlines()
    assert said[:6] == ["8 of 8", "8 of 8", "3 of 8", "none", "none", "5 without a result"]
    assert said[6] == "Vendor: 5 results are missing: b3/p, b4/p, b5/p, b6/p, b7/p"
    assert "Add the missing files" in said[7]
    assert "run the same command again" in said[7]


def test_the_cause_comes_first_with_the_values_of_the_pages_that_were_read(folder, report):
    first, *others = verdict_lines(report)
    assert first == (
        "5 of 8 pages have no result file from Vendor: b3/p, b4/p, b5/p, b6/p, b7/p. The tables "
        "and the points count these pages as wrong; the error rates below are of the pages with a "
        "result. Vendor is not ranked and not compared, because more than 10 % of its pages have "
        "no result. Add the files and run the same command again: only these pages are read."
    )
    (own,) = [line for line in others if "Vendor" in line or "No engine reads" in line]
    assert own == (
        "Vendor: 10.0 % of the characters wrong on the 3 of 8 pages with a reference text that "
        "have a result (recognition 10.0, layout 0.0; 66.2 % if the others count as wrong); "
        "CharAcc, the mean over pages, is 33.8. Its time is not known: its results were read from "
        "files."
    )
    in_chinese = write_report([folder / "run"], folder / "zh.html", language="zh")
    chinese, *rates = verdict_lines(in_chinese)
    assert rates[2] == (
        "Vendor：10.0% 的字有误，只计有参考答案并有结果的 3 页（有参考答案的共 8 页）"
        "（识别 10.0，版面 0.0；其余各页也算作错误时为 66.2%）；CharAcc 是各页的均值：33.8。"
        "用时未知：其结果读自文件。"
    )
    assert chinese.startswith(
        "5 页（共 8 页）没有 Vendor 的结果文件：b3/p、b4/p、b5/p、b6/p、b7/p。"
    )
    assert "Vendor 不排名，也不与其他引擎比较，因为没有结果的页超过 10%" in chinese
    assert "pages" not in chinese


def test_tables_name_the_pages_that_count_as_wrong(report):
    tree = tree_of(report)
    errors, efforts = (
        tree.xpath(f"//h2[@id='{place}']/following::table[1]//tr[contains(., 'Vendor')]")
        for place in ("errors", "fixing")
    )
    (error,) = (" ".join(row.text_content().split()) for row in errors)
    assert error.startswith("Vendor5 of 8 pages with a reference text have no result and count")
    # The same rates as in the conclusions, beside those over all pages.
    assert "66.2with a result 10.0" in error
    assert all(
        "5 of 8 pages with a reference text have no result" in row.text_content() for row in efforts
    )
    assert efforts
    (sentence,) = tree.xpath("//h2[@id='errors']/following::ul[1]/li[contains(., 'Vendor')]")
    assert "of the pages with one, CER 10.0 %, recognition error 10.0 %" in sentence.text_content()
    whole_rows = tree.xpath("//h2[@id='errors']/following::table[1]//tr[td[contains(., 'good')]]")
    assert "with a result" not in whole_rows[0].text_content()


def test_columns_without_any_value_are_not_shown(report):
    heads = tree_of(report).xpath("//table//th/text()")
    assert not [head for head in heads if head.startswith("tokens") or head == "s / item"]


def test_the_other_engines_are_compared_as_if_it_were_not_there(report, tmp_path):
    alone = scored(tmp_path, {"good": whole(8), "half": whole(0)})
    (reliable,) = [line for line in verdict_lines(report) if "Reliable" in line]
    assert reliable in verdict_lines(write_report([alone / "run"], alone / "en.html"))
    (board,) = report.view.boards
    rows = {row.model: row for group in board.groups for row in group.rows}
    assert [rows[name].ranks[0].place for name in ("good", "half", "Vendor")] == [1, 2, None]
    assert rows["Vendor"].ranks[0].why == "not ranked: 5 of 8 pages have no result, more than 10 %"


def test_the_lines_of_the_command_begin_with_the_cause(report):
    first, *others = conclusion_lines(report.view, report.run_set, report.misread)
    assert first.startswith("5 of 8 pages have no result file from Vendor: b3/p, ")
    assert others[0].startswith("good: 0.0 % of the characters wrong")
    assert others[2].startswith(
        "Vendor: 10.0 % of the characters wrong on the 3 of 8 pages with a reference text that "
    )


def test_nothing_is_said_of_all_engines_where_too_few_pages_have_results(tmp_path):
    alone = scored(tmp_path, {"Vendor": {0: TEXTS[0]}})
    lacking, rate = verdict_lines(write_report([alone / "run"], alone / "en.html"))
    assert lacking.startswith("7 of 8 pages have no result file from Vendor")
    assert rate.startswith("Vendor: 0.0 % of the characters wrong on the 1 of 8 pages with a")


def test_few_missing_pages_leave_an_engine_in_the_comparison(tmp_path):
    texts = [*TEXTS, *(text[::-1] for text in TEXTS)]
    given = dict(enumerate(texts))
    less = {place: text for place, text in given.items() if place}
    folder = scored(tmp_path, {"good": given, "Vendor": less}, texts)
    first, *others = verdict_lines(write_report([folder / "run"], folder / "en.html"))
    assert first.startswith("1 of 16 pages have no result file from Vendor: b0/p. The tables and")
    assert "not ranked" not in first
    # The points of the comparison count the missing page, the rates do not.
    (differ,) = [line for line in others if "good and Vendor differ" in line]
    assert "A page without a result counts as 0 in these points (Vendor)" in differ


BLANK = {"a/1": "天地玄黃", "a/2": "宇宙洪荒", "b/1": "日月盈昃", "b/2": "辰宿列張", "b/3": ""}


@pytest.fixture(scope="module")
def blank(tmp_path_factory) -> Path:
    """Four pages with a text and a blank one; an engine has no result for two, one of them blank.

    Another has a result for every page with a text, and none for the blank page.
    """
    most = {name: text for name, text in BLANK.items() if name not in ("b/2", "b/3")}
    texts = {name: text for name, text in BLANK.items() if text}
    answers = {"less": most, "texts": texts, "whole": BLANK | {"b/3": "[blank]"}}
    return scored_pages(tmp_path_factory.mktemp("blank") / "own", BLANK, answers)


@pytest.fixture(scope="module")
def blank_report(blank: Path) -> Report:
    return write_report([blank], blank / "en.html")


def lines_of(report: Report, engine: str) -> list[str]:
    return [line for line in verdict_lines(report) if f"{engine}.jsonl" in line]


def test_missing_pages_and_the_error_rate_name_what_they_count(blank, blank_report):
    missing, rate, *_ = lines_of(blank_report, "less")
    assert missing.startswith("2 of 5 pages failed with ")
    assert ": b/2, b/3." in missing
    sentence = (
        "The tables and the points count those with a reference text as wrong; the error "
        "rates below are of the pages with a reference text and a result"
    )
    assert sentence in missing
    assert "wrong on the 3 of 4 pages with a reference text that have a result" in rate
    assert "5 pages" not in rate
    in_chinese = write_report([blank], blank / "zh.html", language="zh")
    missing, rate, *_ = lines_of(in_chinese, "less")
    assert missing.startswith("2 页（共 5 页）")
    assert "只计有参考答案并有结果的 3 页（有参考答案的共 4 页）" in rate


def test_a_blank_page_without_a_result_is_in_no_error_rate(blank, blank_report):
    missing, rate, *_ = lines_of(blank_report, "texts")
    sentence = "None of them has a reference text, so they are in no error rate and in no mean"
    assert sentence in missing
    assert "count" not in missing.split("b/3")[1].replace("no mean", "")
    assert rate.split(" (")[0].endswith("0.0 % of the characters wrong")
    assert "), 4 pages with a reference text" in rate
    assert "with a result" not in rate
    (found,) = [each for each in no_results(load_runs([blank])) if "texts" in each.model]
    assert (len(found.pages), found.of, found.with_text, found.text_missing) == (1, 5, 4, 0)


def test_the_tables_count_only_pages_with_a_reference_text(blank_report):
    rows = tree_of(blank_report).xpath("//h2[@id='errors']/following::table[1]//tr[td]/td[1]")
    (less, texts, whole) = (" ".join(row.text_content().split()) for row in rows)
    assert less.endswith("1 of 4 pages with a reference text have no result and count as wrong")
    assert texts.endswith("texts.jsonl")
    assert whole.endswith("whole.jsonl")
