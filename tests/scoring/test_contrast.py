"""A text is distinguished from talk about it by its language, time and script."""

import pytest

from keju.scoring import passage_of

TEXT, OTHER = "山靜似太古日長如小年", "山靜似太古日長如少年"
MODERN = "学习并且按时温习，不也很愉快吗？"


@pytest.mark.parametrize(
    "tail",
    [
        "\n\n书体为行草，风格洒脱，笔画圆劲。",
        "\n\n版心及页码文字未录。",
        f"\n\n之所以不取“{OTHER}”，是因为“少”在此处文义不通。",
        f'\n\nThe only change from "{OTHER}" is one character.',
        "\n（完）",
    ],
)
def test_a_sentence_of_another_language_or_script_is_not_part_of_a_text(tail):
    assert passage_of(TEXT + tail, "transcription").answer == TEXT


@pytest.mark.parametrize(
    "response",
    [
        f"一开始读成“{OTHER}”，再看一遍，应当是“{TEXT}”。",
        f'Not "{OTHER}" but "{TEXT}".',
        f"“{TEXT}”\n\n旧释作“{OTHER}”，误。",
        f"~~{OTHER}~~\n\n{TEXT}",
        f"应读作：{TEXT}（而不是“{OTHER}”）",
    ],
)
def test_the_reading_that_is_not_denied_counts(response):
    assert passage_of(response, "transcription").answer == TEXT


def test_a_response_that_denies_its_readings_gives_none():
    said = f"我之前给出的“{OTHER}”并不可靠，请不要采用；这幅图我读不出来。"
    assert passage_of(said, "transcription").answer is None


def test_a_page_that_mixes_scripts_stays_whole():
    page = "永和九年歲在癸丑\n会稽山阴之兰亭修禊事也\n群賢畢至少長咸集"
    assert passage_of(page, "transcription").answer == page


@pytest.mark.parametrize(
    "response",
    [
        f"润色之后的版本：\n\n{MODERN}",
        f"{MODERN}\n\n由于原图末尾残缺，最后一句只翻译了可见部分。",
        f"The original text reads:\n\n学而时习之，不亦说乎？\n\nIn plain words:\n{MODERN}",
        f"{MODERN}\n\nI have kept the official titles untranslated.",
        f"*{MODERN}*",
    ],
)
def test_a_sentence_about_the_translation_is_not_part_of_it(response):
    assert passage_of(response, "translation").answer == MODERN


@pytest.mark.parametrize(
    ("response", "form"),
    [
        ("The text is:\n\n学而时习之，不亦说乎？\n\n译文：", "translation"),
        ("原文：子曰君子不器\n\n标点后：", "punctuated"),
        ("请您将文言文原文输入，我会为您翻译成现代汉语。", "translation"),
    ],
)
def test_a_response_that_ends_before_the_text_gives_none(response, form):
    assert passage_of(response, form).answer is None


@pytest.mark.parametrize(
    "response",
    [
        f"The characters are {TEXT}.",
        f"Not {OTHER}, but {TEXT}. The last column is damaged.",
        f'{TEXT}\n\nAn earlier reading, "{OTHER}", should be rejected.',
        f"我的最终读法：{TEXT}",
        f"识别文本 → {TEXT}",
    ],
)
def test_words_of_another_language_or_script_introduce_a_text(response):
    assert passage_of(response, "transcription").answer == TEXT
