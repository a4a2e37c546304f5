"""One letter is taken where one was chosen; where it would be a guess, none is."""

import pytest

from keju.scoring import extract_letter
from tests.support.hanging import ends

CHOICES = tuple("ABCD")
OPTIONS = ("离开", "道路", "行书", "谦让")


@pytest.mark.parametrize(
    ("text", "letter", "rule"),
    [
        ("B", "B", "one letter"),
        ("b", "B", "one letter"),
        ("（B）", "B", "one letter"),
        ("**B**", "B", "one letter"),
        ("\n\nB\r\n", "B", "one letter"),
        ("Ｂ", "B", "one letter"),
        ("Ⓑ", "B", "one letter"),
        ("ⓑ", "B", "one letter"),
        ("⒝", "B", "one letter"),
        ("\U0001f151", "B", "one letter"),
        ("$B$", "B", "one letter"),
        ("选B。", "B", "one letter"),
        ("选项B", "B", "one letter"),
        ("Option B", "B", "one letter"),
        ("B项", "B", "one letter"),
        ('{"answer": "B"}', "B", "JSON key"),
        ("\\boxed{B}", "B", "final answer"),
        ("\\boxed{\\text{B}}", "B", "final answer"),
        ("答案是B", "B", "answer phrase"),
        ("正确答案为 **B**。", "B", "answer phrase"),
        ("答案：\n\nB", "B", "answer phrase"),
        ("答案为【B】", "B", "answer phrase"),
        ("The answer is (B) because A is wrong.", "B", "answer phrase"),
        ("Answer: B", "B", "answer phrase"),
        ("本题答案为选项B：道路", "B", "answer phrase"),
        ("我觉得应该选 B 。", "B", "choice"),
        ("排除A，选B", "B", "choice"),
        ("不应该选A，应选B", "B", "choice"),
        ("A选项的“离开”不符，B选项更合适，因此选B。", "B", "choice"),
        ("先看A。答案是A？再想想。综上所述，答案是B。", "B", "answer phrase"),
        ("**最终答案**：B", "B", "final answer"),
        ("A和C都不对，分析如下……\nB", "B", "line of its own"),
        ("A、离开\n解释：B和C与文意不合。", "A", "line of its own"),
        ("可能是B吧", "B", "statement"),
        ("不是A，而是B", "B", "choice"),
        ("B is correct", "B", "opening"),
        ("A man walks away, so B", "B", "conclusion"),
        ("B</s>", "B", "one letter"),
        ("B. 道路", "B", "line of its own"),
        ("道路", "B", "text of one option"),
        ("是「道路」的意思", "B", "text of one option"),
        ("<think>也许是A，也许是C</think>\n\nB", "B", "one letter"),
    ],
)
def test_the_chosen_letter_is_taken_by_a_named_rule(text, letter, rule):
    found = extract_letter(text, CHOICES, OPTIONS)
    assert found.answer == letter
    assert found.rule.startswith(rule)


@pytest.mark.parametrize(
    "text",
    [
        "", " \n", "ABCD", "A B C D", "A、离开\nB、道路\nC、行书\nD、谦让", "A或B", "DA",
        "答案是AC", "答案：A、C", "综上所述，答案是B或C", "我认为A和B都对", "不选A", "答案不是A",
        "排除A", "2", "E", "N/A", "Вопрос А", "无法识别", "As an AI model, I cannot tell.",
        "Calligraphy and Dynasty", "离开和道路", "<think>B", "<think>B</think>", "A、道路",
        "有人说答案是A，有人说答案是B", "A\nB\nC", "I'm sorry, but I can't assist with that.",
    ],
)  # fmt: skip
def test_what_would_be_a_guess_is_unparsable(text):
    assert extract_letter(text, CHOICES, OPTIONS).answer is None


def test_a_letter_that_is_not_on_offer_is_not_taken():
    assert extract_letter("E", CHOICES).answer is None
    assert extract_letter("E", tuple("ABCDE")).answer == "E"
    assert extract_letter("E").answer == "E"


def test_the_find_says_where_and_by_which_rule():
    found = extract_letter("我看了很久。\n答案是B。", CHOICES)
    assert found.origin == "answer phrase: “答案是B”"


def test_an_option_inside_another_does_not_count_twice():
    assert extract_letter("南唐时期", CHOICES, ("唐代", "南唐", "宋", "元")).answer == "B"


@pytest.mark.parametrize(
    "text",
    ["答案是" + " " * 300_000, "A " * 100_000, "选" * 200_000, "（" * 200_000, "\\boxed{" * 50_000,
     "因此" * 100_000, "排除A、" * 60_000],
)  # fmt: skip
def test_hostile_text_chooses_no_option_unless_it_is_one(text):
    def extraction():
        letter = extract_letter(text, CHOICES, OPTIONS).answer
        assert letter == ("A" if text.startswith("A ") else None)

    ends(extraction)


PEOPLE = ("王羲之", "王珣", "颜真卿", "米芾")


@pytest.mark.parametrize(
    "text",
    [
        "B\n\n解析：选项A王羲之是东晋人，C颜真卿是唐人。",
        "B。理由：A是王羲之的作品，风格不同。",
        "由此可知B是正确的，A、C、D均不正确",
        "B，因为A不是",
        "A错误，B正确，C错误，D错误",
        "A不对；C不对；D不对。所以是B",
        "<answer>B</answer>",
    ],
)
def test_an_answer_with_its_reasons_is_an_answer(text):
    assert extract_letter(text, "ABCD", PEOPLE).answer == "B"


@pytest.mark.parametrize(
    "text",
    [
        "B不正确", "Neither A nor B", "A and B", "不是王珣", "B选项错误", "B is incorrect", "Not B",
        "A or B", "作者并非王珣", "除了B以外都对", "A and D", "A to D",
        "A. 王羲之 B. 王珣 C. 颜真卿 D. 米芾", "B，C都对",
    ],
)  # fmt: skip
def test_what_is_denied_or_said_of_several_is_no_answer(text):
    assert extract_letter(text, "ABCD", PEOPLE).answer is None


SCHOOLS = ("老聃", "庄周", "列御寇", "杨朱")


@pytest.mark.parametrize(
    "text",
    [
        "先看选项A：老聃，不合。再看选项B：庄周，符合。最后选项D：杨朱，不合。\n\n答案：B",
        "因此选项C不正确。\n\n答案：B",
        "所以选项D可以排除。\n\n**答案：B**",
        "Thus option C is wrong.\n\nAnswer: B",
        "Lastly, option D: 杨朱 does not fit.\n\nAnswer: B",
        "答案是C。不对，应该是B。",
        "Answer: C\n\nWait, actually B.",
        '{"answer": "B"}\n\n所以选项A不正确',
        "A. 老聃 ✗\nB. 庄周 ✓\nC. 列御寇 ✗\nD. 杨朱 ✗",
        "不是A，也不是C，是B",
        "答案：乙", "选②", "第二个选项", "The second option.", "答案是b",
        "老聃、列御寇、杨朱都不对，出自《庄周》",
    ],
)  # fmt: skip
def test_the_last_commitment_counts_and_the_denied_options_do_not(text):
    assert extract_letter(text, "ABCD", SCHOOLS).answer == "B"


@pytest.mark.parametrize(
    "text",
    [
        "因此选项A不正确。", "选A是错误的", "不能选A", "别选A", "千万不要选A", "A is wrong.",
        "The answer cannot be A.", "答案不可能是A", "Answer: A passage from 庄周 or 老聃",
        "如果是道家则选A", "有人认为答案是A", "首先看选项A：老聃，", "答案：E",
    ],
)  # fmt: skip
def test_an_option_that_is_denied_supposed_or_gone_through_is_not_chosen(text):
    assert extract_letter(text, "ABCD", SCHOOLS).answer is None


DYNASTIES = ("Shang", "Zhou", "Han", "Tang")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Zhou is a common confusion here. This points to Han.", "C"),
        ("I first considered Shang, and it did not seem right. Option B.", "B"),
        ("- A. Shang: no\n- B. Zhou: no\n- C. Han: yes\n- D. Tang: no", "C"),
        ("Options B, C and A do not match what is shown.", "D"),
        ("The answer is A rather than B or D.", "A"),
        ("我最初的答案是D，但要修正这一判断。画面信息指向B。", "B"),
        ("**答案：C**\n\n其余选项A、B、D均不符合题意。", "C"),
        ("我觉得选D比较合适。", "D"),
        ("It reminds me of Zhou bronzes. Most likely Han. Shang bronzes look heavier.", "C"),
        ("I first considered Shang and then Zhou, and neither seemed right.\n\nc", "C"),
        ("The script is Tang style.\n\nBy contrast, Zhou is easy to recognise.", "D"),
        ("If it is original, the answer would be B; if it is later, A. I can't tell.", None),
    ],
)
def test_the_last_sentence_that_commits_to_an_option_decides(text, letter):
    assert extract_letter(text, "ABCD", DYNASTIES).answer == letter
