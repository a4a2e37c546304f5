"""All Chinese that keju shows has one word for each concept, one script and one punctuation."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from keju.building.review_form import read_review_form
from keju.reporting.terms import TERMS
from keju.scoring.metric import keju_metrics
from keju.text import in_script
from keju.texts import translator
from keju.words import Words
from tools import make_glossary_page

ROOT = Path(__file__).parents[2]
FOLDERS = ("reporting", "analysis", "figures", "site")


@cache
def sentences_of(folder: str) -> dict[str, str]:
    """The sentences of a folder of the code, or of a declaration, with their Chinese."""
    texts = pytest.importorskip("tools.texts", reason="Babel is not installed: make docs")
    with texts.CORE.open("rb") as content:
        catalogue = texts.read_po(content, locale="zh")
    table = {}
    for entry in catalogue:
        places = [place for place, __ in entry.locations]
        if any(place == folder or place.startswith(f"src/keju/{folder}/") for place in places):
            pair = (entry.id, entry.string)
            english, chinese = (each if isinstance(each, str) else each[0] for each in pair)
            table[english] = re.sub(r"\{[^{}]*\}", "{}", chinese)
    return table


PAGES = (
    "README.zh.md", "docs/audit.zh.md", "docs/audit-claims.zh.md", "docs/glossary.md",
    "docs/quick-start.zh.md", "docs/choosing-ocr.zh.md",
)  # fmt: skip
CENTRAL = (
    "item", "reference", "response", "request", "image", "transcription", "task", "group",
    "protocol", "reading order", "reading pattern", "judge", "draft", "dropped", "recipe",
    "adjudication",
)  # fmt: skip

# What the word means, the word, and the variants that keju does not use.
VARIANTS = {
    "recognition": ("识别", "辨识|识读|辨认"),
    "reading": ("识别结果", "识读文本"),
    "transcription": ("转录", "(?<!转)录文|释文|誊录|转写"),
    "mean": ("均值", "总平均|平均数|平均值|平均分|均分|平均得分"),
    "pooled": ("合并计算", "合计(?:计算|的匹配)"),
    "reference": ("参考答案", "正解|正确答案|标准答案|标准文本|正确文本|真值|真文本"),
    "response": ("回答", "作答|答复|回复|回覆|应答|答卷|(?:模型|引擎|轮|单份|空|您)的?答案"),
    "item": ("题目", "试题|考题|条目"),
    "prompt": ("提示词", "提示语|措辞"),
    "page": ("页面", "书页"),
    "reading order": ("阅读顺序", "次序|阅读模式"),
    "column": ("竖行", "直行"),
    "image": ("图像", "图片|影像|[一二三四五六七八九十两单]幅|幅图"),
    "box": ("框", "方框|文本框"),
    "judge": ("评分模型", "评审|评委|裁判"),
    "rubrics": ("评分标准", "评分细则"),
    "protocol": ("协议", "规程|两套协议"),
    "task": ("个任务", "项任务"),
    "group": ("书、图版或甲骨", "拓片、甲骨|书、版、骨|书、拓片"),
    "character error rate": ("字符错误率", "(?<!符)错字率|(?<![字符])字错误率|(?<![字符])字准确率"),
    "accuracy": ("准确率", "(?<!字符)正确率(?!与准确率)|(?<!平均)精度"),
    "confidence interval": ("置信区间", "信赖区间|可信区间"),
    "bootstrap": ("重抽样", "重抽(?!样)|重采样|拔靴"),
    "significant": ("显著", "可断定|未可"),
    "percent": ("百分比", "百分数|以百分计|百分计"),
    "unscored": ("未评分", "未计分"),
    "recitation": ("背诵", "默写"),
    "invented text": ("编造", "无中生有|虚构|杜撰"),
    "time": ("用时", "耗时"),
    "script": ("繁简", "字体（繁简）"),
    "glossary": ("术语表", "词汇表"),
    "review": ("审阅", "审题|审定|校阅"),
    "failure": ("失败", "空白回答"),
    "extracted": ("提取", "抽取"),
    "settings": ("设置", "设定|预设"),
    "dataset": ("数据集", "资料集|数据库"),
    "file": ("文件", "档案|资料夹"),
    "program": ("程序", "程式|软体"),
    "server": ("服务器", "伺服"),
    "user": ("用户", "使用者"),
    "memory": ("内存", "记忆体"),
    "field": ("字段", "栏位|欄"),
    "column of a table": ("列", "[一二三各首第]栏"),
    "quality": ("质量", "品质"),
    "resolution": ("分辨率", "解析度"),
    "code point": ("字符", "字元"),
    "width": ("全角", "全形|半形"),
    "mouse": ("鼠标", "滑鼠"),
    "disk": ("磁盘", "磁碟"),
    "import, export": ("导入", "汇入|汇出"),
    "sign in": ("会话", "登入"),
    "information": ("信息", "资讯|讯息|讯号"),
    "network": ("网络", "网路|连结|介面|萤幕|视窗|列印|演算法|相容性"),
    "plain words": ("不要", "勿|皆|之最佳|毋"),
}


HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
WIDE = "，。；：！？、（）“”《》【】"
RULES = {
    "half-width punctuation": rf"{HAN}[,;:!?()]|[,;:!?()]{HAN}|{HAN}\.(?!\w)|[,;:!?] (?={HAN})",
    "no space between Chinese and Latin": rf"{HAN}[A-Za-z0-9{{]|[A-Za-z0-9%}}]{HAN}",
    "space at wide punctuation": rf"\S [{WIDE}]|[{WIDE}] (?=\S)",
    "space between Chinese characters": rf"{HAN} {HAN}",
    "corner brackets": r"[「」『』]",
    "straight quotes": rf"{HAN}[\"']|[\"']{HAN}",
    "wide digits, letters, signs": r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a％／＝＋]",
    "space before %": r"[\d}] %",
    "number without its zero": r"(?<![\w.}{])\.\d",
}
CHINESE_VALUES = {
    "{}的 {}",
    "{}至 {}",
    "{} · {}的 {}",
    "{} · {}的 {}（另一些题）",
    "--same-as {}：没有论文列出模型 {}。{}全部名称见：keju models --published",
    "没有图表 {}（{}）。{}可选：{}",
}
"""Sentences whose values next to Chinese are Chinese themselves."""

SAME_IN_BOTH = {"CER", "NFC", "NFKC", "Spearman", "official", "strict"}


def prose(page: str) -> str:
    """A page without what is no sentence: code, links' targets, tables of cells, emphasis."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"!?\[([^]]*)\]", r"\1", text)
    text = re.sub(r"`[^`]*`", "A", text)
    text = re.sub(r"(?<=[。：])\*\* ", "\n", text)
    text = re.sub(r"^(?:\s*[-*] |\s*\d+\. |#+ |> )", "", text, flags=re.MULTILINE)
    return text.replace("*", "").replace("|", "\n")


def problems(text: str) -> list[str]:
    """What is wrong in a text in Chinese: variants of words, punctuation, script."""
    found = [
        f"{bad[0]}: write {word} ({concept})"
        for concept, (word, variants) in VARIANTS.items()
        if (bad := re.search(variants, text))
    ]
    found += [
        f"{name}: {bad[0]!r}" for name, rule in RULES.items() if (bad := re.search(rule, text))
    ]
    if in_script(text, "simplified") != text:
        found.append("traditional characters")
    return found


def audit_words() -> dict[str, str]:
    """The fixed words of the audit's pages, with the text that they are put around as {}."""
    text = (ROOT / "src/keju/reporting/assets/audit_words.toml").read_text("utf-8")
    flat = tomllib.loads(text)["zh"]
    return {key: prose(value) for key, value in flat.items() if isinstance(value, str)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_table_uses_one_word_for_each_concept(folder):
    sentences = set(sentences_of(folder).values()) - CHINESE_VALUES
    wrong = {text: found for text in sentences if (found := problems(text.strip()))}
    assert wrong == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_entry_is_in_chinese(folder):
    fixed = {each.replace("{}", "").strip() for each in sentences_of(folder).values()}
    text = {each for each in fixed if not re.search(HAN, each)}
    assert {each for each in text if re.search("[A-Za-z]", each)} <= SAME_IN_BOTH


@pytest.mark.parametrize("name", PAGES)
def test_a_page_uses_one_word_for_each_concept(name):
    lines = prose((ROOT / name).read_text("utf-8")).splitlines()
    chinese = [line.strip() for line in lines if re.search(HAN, line)]
    assert len(chinese) > 20
    assert {line: found for line in chinese if (found := problems(line))} == {}


def test_the_help_uses_one_word_for_each_concept():
    texts = pytest.importorskip("tools.texts", reason="Babel is not installed: make docs")
    code = r"`[^`]*`|\[b\].*?\[/b\]|keju(?: [a-zA-Z.{}_-]+)+"
    others = ("keju data formats", "keju build sources")
    declared = {text for place, __, text in texts.declarations() if not place.startswith(others)}
    shown = {re.sub(code, "A", translator("zh")(text)).strip() for text in declared}
    assert len(shown) > 300
    assert {text: found for text in shown if (found := problems(text))} == {}


def test_the_words_of_the_review_form_are_those_of_the_tables():
    said = [
        text
        for scale in read_review_form().scale
        for text in (scale.zh, scale.asks_zh, *scale.marks_zh)
    ]
    assert len(said) > 10
    assert {text: found for text in said if (found := problems(text))} == {}


def test_the_glossary_has_the_words_of_the_catalogues():
    page = (ROOT / "docs/glossary.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    chinese = {cells[0].removeprefix("| "): cells[1] for cells in rows}
    assert len(chinese) == len(rows) - 1, "a term has two rows"
    catalogue = (ROOT / "src/keju/texts/keju.po").read_text("utf-8")
    for term in CENTRAL:
        assert chinese[term] in catalogue, term


def test_the_glossary_page_is_what_the_tool_writes(tmp_path):
    make_glossary_page.main(tmp_path)
    there = (ROOT / "docs/glossary.md").read_text("utf-8")
    made = (tmp_path / "glossary.md").read_text("utf-8")
    assert there == made, "make it again: python -m tools.make_glossary_page"


def test_every_term_is_used_in_the_report_in_the_word_of_the_glossary():
    chinese = Words("zh")
    tables = map(sentences_of, (*FOLDERS, "keju metrics"))
    sentences = [text for table in tables for text in table.values() if len(text) > 12]
    sentences += [metric.rule_zh or chinese(metric.rule) for metric in keju_metrics().values()]
    for term in TERMS.values():
        assert any(chinese(term.name) in text for text in sentences), term


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("辨識錯誤率", "traditional characters"),
        ("取基线以外的全部识读", "识读: write 识别 (recognition)"),
        ("按总平均排名", "总平均: write 均值 (mean)"),
        ("正解，百分比", "正解: write 参考答案 (reference)"),
        ("错误,按成因", "half-width punctuation: '误,'"),
        ("共{}题", "no space between Chinese and Latin: '共{'"),
        ("{}／{} 题", "wide digits, letters, signs: '／'"),
        ("区间为 95 %", "space before %: '5 %'"),
        ("按「不知道」", "corner brackets: '「'"),
        ("p ≤ .05 的差别", "number without its zero: '.0'"),
    ],
)
def test_a_variant_is_found(text, found):
    assert found in problems(text)
