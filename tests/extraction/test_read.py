"""What the reader takes, and where it abstains, by answer form."""

import pytest

from keju.extraction import Reading, read
from tests.support.hanging import ends

OPTIONS = ("褚遂良", "柳公权", "赵孟頫", "文徵明")
LETTERS = [
    ("B", "B"),
    ("（B）", "B"),
    ("b", "B"),
    ("答案：B", "B"),
    ("Answer: B", "B"),
    (r"\boxed{B}", "B"),
    ('{"answer": "B"}', "B"),
    ('{"answer": "B", "option": "柳公权"}', "B"),
    ("**B、柳公权**", "B"),
    ("柳公权", "B"),
    ("<think>A？</think>B", "B"),
    ("这幅书法作品的作者是柳公权。", "B"),
    ("笔力遒劲，骨架开张。因此，最可能的是柳公权。", "B"),
    ("我先以为是A，后来看清了款识。\n\n最终答案：B", "B"),
    ("A. 褚遂良 ✗\nB. 柳公权 ✓\nC. 赵孟頫 ✗\nD. 文徵明 ✗", None),
    ("抱歉，图片有点模糊，不过答案是B。", "B"),
    ("不能完全确定，但最有可能是B。", "B"),
    ("A或B", None),
    ("别选A。", None),
    ("The answer cannot be A.", None),
    ("可能是A，也可能是B。", None),
    ("答案：A\n\n不过，仔细看款识，所以应改选 B。", None),
    ("A B", None),
]
SHORT = [
    ("图中人物的衣服是什么颜色？", "红色。", "红色"),
    ("图中人物的衣服是什么颜色？", "答案：红色", "红色"),
    ("图中人物的衣服是什么颜色？", "红色（red）", "红色"),
    ("图中人物的衣服是什么颜色？", "红色（三）（12）", None),
    ("图中人物的衣服是什么颜色？", "图中人物的衣服是红色，十分鲜艳。", "红色"),
    ("这幅画的作者是谁？", "这幅画的作者是北宋的范宽。", "范宽"),
    ("这幅画的作者是谁？", "**作者**：范宽\n\n**时代**：北宋", "范宽"),
    ("这幅画的作者是谁？", "这幅画为绢本，现藏于台北。", None),
    ("这幅画的作者是谁？", "可能是范宽，也可能是李成。", None),
    ("文中的“黔首”指的是什么？", "文中的“黔首”指的是百姓。", "百姓"),
    ("识别图中的甲骨文对应哪个汉字。", "因此，该字为“逐”。", "逐"),
    ("What is the meaning of this oracle bone character?", 'Its meaning is "to fish".', "to fish"),
    (
        "What is the title of this scroll?",
        "The title of this scroll is “Early Spring”.",
        "Early Spring",
    ),
    (
        "What is in this image?",
        "The image contains an oracle bone character.",
        "oracle bone character",
    ),
    ("重耳在外流亡了多少年？", "重耳在外流亡共十九年。", "19"),
    (
        "What is the meaning of this character?",
        '{"character": "涉", "meaning": "to wade"}',
        "to wade",
    ),
]
NUMBERS = [
    ("图中有几只鹿？", "3", "3"),
    ("图中有几只鹿？", "三只鹿", "3"),
    ("图中有几只鹿？", "图中共有 **4** 只鹿。", "4"),
    ("图中有几只鹿？", "图中没有鹿。", "0"),
    ("图中有几只鹿？", "大约有10到12只。", None),
    ("图中有几只鹿？", "十几只", None),
    ("图中有几只鹿？", "至少有五只。", None),
    ("图中有几只鹿？", "左边2只，右边3只。", None),
    ("这幅书法作品共有几行字？", "这幅书法作品共有7行字，约60个字。", "7"),
    ("How many characters are in this image?", "Right: 4\nLeft: 5\n**Total: 9**", "9"),
]
YES_NO = [
    ("图中是否有印章？", "是", "Yes"),
    ("图中是否有印章？", "图中没有印章。", "No"),
    ("图中是否有印章？", "答案：是", "Yes"),
    ("图中是否有印章？", "图中有一方印章，也可能没有。", None),
    ("Can these two fragments be rejoined?", "No, the edges differ.", "No"),
    ("Can these two fragments be rejoined?", "They cannot be rejoined.", "No"),
    ("Is this a fan?", "This is a flywhisk rather than a fan.", None),
    ("Can these two fragments be rejoined?", "They may or may not fit together.", None),
]
PROBABILITIES = [
    ("0.7", "0.7"),
    ("70%", "0.7"),
    ("七成", "0.7"),
    (r"\boxed{0.35}", "0.35"),
    ("0.6 to 0.8", None),
    ("Edges: 0.7\nTexture: 0.5\n\nOverall probability: 0.55", "0.55"),
]
BOXES = [
    ("[[1, 2, 30, 40]]", "xyxy", "[[1, 2, 30, 40]]"),
    ("[1,2,30,40] 和 [5,6,70,80]", "xyxy", "[[1, 2, 30, 40], [5, 6, 70, 80]]"),
    ("(1, 2), (30, 40)", "xyxy", "[[1, 2, 30, 40]]"),
    ('{"bbox_2d": [1, 2, 30, 40], "label": "字"}', "xyxy", "[[1, 2, 30, 40]]"),
    ('{"x": 1, "y": 2, "width": 29, "height": 38}', "xyxy", "[[1, 2, 30, 40]]"),
    ("xmin=1, ymin=2, xmax=30, ymax=40", "yxyx", "[[2, 1, 40, 30]]"),
    ("[1, 2, 29, 38]", "xywh", "[[1, 2, 29, 38]]"),
    ("[]", "xyxy", "[]"),
    ("[30, 40, 1, 2]", "xyxy", None),
    ("没有找到坐标", "xyxy", None),
]


def taken(reading: Reading) -> str | None:
    return reading.value if reading.state == "read" else None


@pytest.mark.parametrize(("text", "letter"), LETTERS)
def test_letters(text, letter):
    assert taken(read("letter", text, "这幅书法作品的作者是谁？", OPTIONS)) == letter


def test_an_option_is_not_named_by_the_denial_that_contains_it():
    assert taken(read("letter", "不是", "这是谁的字？", ("不是", "是"))) == "A"
    assert taken(read("letter", "非楷书", "什么书体？", ("楷书", "非楷书"))) == "B"


@pytest.mark.parametrize(("question", "text", "phrase"), SHORT)
def test_short_answers(question, text, phrase):
    assert taken(read("short", text, question)) == phrase


@pytest.mark.parametrize(("question", "text", "number"), NUMBERS)
def test_numbers(question, text, number):
    assert taken(read("number", text, question)) == number


@pytest.mark.parametrize(("question", "text", "word"), YES_NO)
def test_yes_and_no(question, text, word):
    assert taken(read("yes-no", text, question)) == word


@pytest.mark.parametrize(("text", "probability"), PROBABILITIES)
def test_probabilities(text, probability):
    assert taken(read("probability", text, "How likely is it?")) == probability


@pytest.mark.parametrize(("text", "axes", "boxes"), BOXES)
def test_boxes(text, axes, boxes):
    assert taken(read("boxes", text, "Return a bounding box.", axes=axes)) == boxes


@pytest.mark.parametrize(
    "text",
    [
        "孔子、颜回",
        "1. 孔子\n2. 颜回",
        '["孔子", "颜回"]',
        "人名：孔子、颜回",
        "- 孔子\n- 颜回",
        "| 实体 | 类型 |\n|---|---|\n| 孔子 | 人名 |\n| 颜回 | 人名 |",
        '{"人物": ["孔子", "颜回"]}',
    ],
)
def test_names(text):
    assert read("entities", text).value == "孔子、颜回"


@pytest.mark.parametrize(
    ("form", "text", "passage"),
    [
        ("transcription", "大學之道在明明德", "大學之道在明明德"),
        (
            "transcription",
            "图中的文字内容如下：\n\n大學之道在明明德\n\n希望对您有帮助！",
            "大學之道在明明德",
        ),
        ("transcription", "```\n大學之道\n```", "大學之道"),
        ("transcription", "印文为：「石渠寶笈」", "石渠寶笈"),
        ("transcription", "我看到的是一页刻本。", "我看到的是一页刻本。"),
        (
            "punctuated",
            "原文：學而時習之不亦說乎\n\n标点后：學而時習之，不亦說乎？",
            "學而時習之，不亦說乎？",
        ),
        (
            "translation",
            "**译文：**\n\n学习并时常温习。\n\n**注释：**\n\n习：温习。",
            "学习并时常温习。",
        ),
        (
            "translation",
            "原文难懂，我试着翻译一下，大意是劝人学习。",
            "原文难懂，我试着翻译一下，大意是劝人学习。",
        ),
        ("text", "好的，下面是我的回答。\n这首诗写离别。\n希望对您有帮助！", "这首诗写离别。"),
    ],
)
def test_passages_are_read_whole_unless_a_mark_encloses_them(form, text, passage):
    assert read(form, text) == Reading("read", passage, *read(form, text)[2:])


@pytest.mark.parametrize(
    ("form", "text", "rule"),
    [
        ("letter", "", "empty"),
        ("short", "<think>红色？</think>", "empty"),
        ("letter", "抱歉，我无法看清图片。请提供更清晰的图片。", "refusal"),
        ("short", "I'm sorry, but I can't view the image.", "refusal"),
        ("transcription", "很抱歉，我无法识别这张图片中的文字。", "refusal"),
        ("text", "作为一个AI，我无法查看图片。", "refusal"),
    ],
)
def test_silence_and_refusals_are_no_answer(form, text, rule):
    reading = read(form, text, "这是什么？", OPTIONS)
    assert (reading.state, reading.rule) == ("none", rule)


def test_a_refusal_with_something_else_is_unclear():
    text = "抱歉，我无法确定，不过看起来像楷书一类。"
    assert read("short", text, "这是什么书体？").state == "unclear"


def test_an_unknown_form_is_an_error():
    with pytest.raises(KeyError):
        read("colour", "红")


def test_a_loop_of_letters_is_read_in_a_few_seconds():
    text = ("看看A 和B " * 1400)[:9990]
    assert read("letter", text).state == "unclear"
    ends(lambda: read("letter", text))


@pytest.mark.parametrize(
    "text",
    [
        "A to D",
        "The answer is A to D.",
        "The answer would be B; if the seal is later, C.",
        "答案是B；如果是摹本",
        "B (unless it is a copy)",
    ],
)
def test_a_range_or_a_condition_leaves_a_letter_unclear(text):
    assert read("letter", text, "", OPTIONS).state == "unclear"


def test_an_offer_or_a_condition_of_another_option_leaves_a_letter_read():
    assert read("letter", "The answer is B; if you need more, ask.", "", OPTIONS).value == "B"
    assert read("letter", "倾向于选 B；如果能看清题款，D 也值得考虑。", "", OPTIONS).value == "B"
