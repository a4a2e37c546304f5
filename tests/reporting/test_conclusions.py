"""What the conclusions name: pages left nearly empty, and the confusions that carry weight."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import html

from keju.reporting.conclusions import conclusion_lines
from keju.reporting.page import Report, write_report
from tests.support.own_pages import scored_pages

TEXTS = {
    f"b{number}/p": text
    for number, text in enumerate(
        (
            "子曰學而時習之不亦說乎子曰有朋自遠方來",
            "子曰巧言令色鮮矣仁子曰道千乘之國敬事而信",
            "子曰弟子入則孝出則弟子曰君子不重則不威",
            "子曰為政以德譬如北辰子曰詩三百一言以蔽之",
        )
    )
}


def empty_on(*names: str) -> dict[str, str]:
    return {name: text[:2] if name in names else text for name, text in TEXTS.items()}


def lines_of(report: Report) -> list[str]:
    tree = html.fromstring(report.page.read_text("utf-8"))
    return [" ".join(each.text_content().split()) for each in tree.xpath("//*[@id='verdicts']//li")]


def verdict_lines(folder: Path, language: str = "en") -> list[str]:
    return lines_of(write_report([folder], folder / "r.html", language=language))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    confused = {name: text.replace("曰", "日") for name, text in TEXTS.items()}
    answers = {"sparse": empty_on("b1/p", "b3/p"), "confused": confused, "right": TEXTS}
    return scored_pages(tmp_path_factory.mktemp("conclusions") / "own", TEXTS, answers)


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return write_report([folder], folder / "en.html")


def test_pages_left_nearly_empty_are_named_with_the_limit(report):
    (line,) = [line for line in lines_of(report) if "nearly empty" in line]
    assert line.endswith(
        "sparse.jsonl left 2 of 4 pages nearly empty (fewer than 20 % of the characters of the "
        "text): b1/p, b3/p."
    )
    tree = html.fromstring(report.page.read_text("utf-8"))
    buttons = [(each.text, each.get("data-item")) for each in tree.xpath("//li/button")]
    assert buttons == [("b1/p", "1"), ("b3/p", "3")]


def test_the_main_confusion_is_named_with_its_count_and_share(report):
    (line,) = [line for line in lines_of(report) if "misread" in line]
    assert line.endswith(
        "confused.jsonl reads 曰 as 日 at 8 of 8 places (100 % of its misread characters)."
    )


def test_the_terminal_says_both(report):
    lines = list(conclusion_lines(report.view, report.run_set, report.misread))
    assert sum("nearly empty" in line and "b1/p, b3/p" in line for line in lines) == 1
    assert sum("reads 曰 as 日 at 8 of 8 places" in line for line in lines) == 1


def test_the_chinese_page_says_both_without_spaces_at_punctuation(folder):
    lines = verdict_lines(folder, "zh")
    (empty,) = [line for line in lines if "几乎没有识别出文字" in line]
    assert empty.endswith(
        "在 2 页（共 4 页）上几乎没有识别出文字（不足文本字数的 20%）：b1/p、b3/p。"
    )
    (confused,) = [line for line in lines if "误读" in line]
    assert confused.endswith("把“曰”读作“日”，8 次（共出现 8 次），占它误读的字的 100%。")


def test_a_confusion_without_weight_is_not_named(tmp_path):
    rare = {name: text.replace("仁", "人") for name, text in TEXTS.items()}
    lines = verdict_lines(scored_pages(tmp_path / "own", TEXTS, {"rare": rare, "right": TEXTS}))
    assert lines
    assert not [line for line in lines if "misread" in line or "nearly empty" in line]


def test_of_many_nearly_empty_pages_the_first_are_named(tmp_path):
    texts = {f"b{n}/p": "天地玄黃宇宙洪荒日月盈昃" + chr(0x6000 + n) for n in range(13)}
    nothing = dict.fromkeys(texts, "天")
    lines = verdict_lines(scored_pages(tmp_path / "own", texts, {"none": nothing, "all": texts}))
    (line,) = [line for line in lines if "nearly empty" in line]
    assert line.endswith("b8/p, b9/p and 3 more.")
    assert "left 13 of 13 pages" in line


@pytest.mark.parametrize(
    ("language", "said", "remedy"),
    [
        (
            "en",
            "their order is wrong: rows across columns on 2 of 2 pages.",
            "The engine took vertical text for horizontal.",
        ),
        (
            "zh",
            "但顺序有误：横读（跨越各竖行）（2/2 页）。",
            "引擎把竖排当作横排。请设置为竖排、从右到左",
        ),
    ],
)
def test_a_wrong_order_is_named_with_its_pattern_and_its_remedy(tmp_path, language, said, remedy):
    columns = {
        "b1/p": ["天地玄黄宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律吕調陽"],
        "b2/p": ["雲騰致雨露結為霜", "金生麗水玉出崑岡", "劍號巨闕珠稱夜光", "果珍李柰菜重芥薑"],
    }
    texts = {name: "\n".join(page) for name, page in columns.items()}
    across = {
        name: "\n".join(map("".join, zip(*page, strict=True))) for name, page in columns.items()
    }
    folder = scored_pages(tmp_path / "own", texts, {"across": across, "right": texts})
    (line,) = [each for each in verdict_lines(folder, language) if said in each]
    assert "across.jsonl" in line
    assert remedy in line
    assert ".." not in line
    assert "。。" not in line
