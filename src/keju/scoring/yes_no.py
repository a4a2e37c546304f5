"""Yes or no, as a response says it in English or Chinese."""

from __future__ import annotations

import re

from keju.scoring.extraction import (
    Extracted,
    body_of,
    boxed_answer,
    json_answer,
    json_value,
    strict_body,
    without_fence,
    without_headings,
)
from keju.scoring.numeric_answer import without_first_sight
from keju.scoring.polarity import alone_word, extract_stated_yes_no
from keju.scoring.wordings import fold, wording
from keju.text import to_half_width

_EDGE = " \t\r\n\u3000*_`#>。.，,、:：;；!！'\"‘’“”「」『』()（）[]【】"
_SAID = {
    "yes": "Yes", "true": "Yes", "correct": "Yes", "yep": "Yes", "yeah": "Yes",
    "是": "Yes", "是的": "Yes", "对": "Yes", "對": "Yes",
    "正确": "Yes", "正確": "Yes", "属于": "Yes", "屬於": "Yes",
    "no": "No", "false": "No", "incorrect": "No", "nope": "No",
    "否": "No", "不是": "No", "不是的": "No", "不对": "No",
    "不對": "No", "并非": "No", "並非": "No", "不属于": "No", "不屬於": "No",
}  # fmt: skip
_NEITHER = r"(?:是否|是不是|yes\s?(?:or|/)\s?no\b)"
_NEITHER_WORD = re.compile(_NEITHER, re.IGNORECASE)
_FIRST = re.compile(rf"{_NEITHER}|(?P<said>\b(?:yes|no)\b|不是|并非|並非|是|否)", re.IGNORECASE)
_WORD = (
    r"(?:(?P<said>(?:yes|no)\b|不是的?|并非|並非|不[属屬][于於]|不[对對]|是的?(?![否不一位件幅个個张張名只])|否"
    r"|[对對](?=[的，,。.！!\s]|$)|正[确確]|[属屬][于於]))"
)
_LEADING = re.compile(rf"[\s*_`#>\"'“「(（\[【]*{_WORD}", re.IGNORECASE)
_PHRASE = re.compile(
    rf"(?:(?:最终|最終)?答案|(?:final\s)?answer|答)"
    rf"(?:\s{{0,3}}(?:应该|应当|应)?(?:是(?![的，,。.\s]*$)|为|為|is|[：:])|[*_`\s\"'“「]){{1,4}}{_WORD}",
    re.IGNORECASE | re.MULTILINE,
)
_BOTH = re.compile(
    r"\b(?:yes or no|not yes|not no|neither|perhaps|possibly|probably|unsure|hard to|doubt)\b"
    r"|可能|难以|无法(?!缀|拼|连|合)|是否|如果|若|吗|[?？]",
    re.IGNORECASE,
)
_DENYING = re.compile(
    r"没有|不存在|不包含|不含|不可以|不能(?!看|排)|不可(?!能)|不属于|不是|并非|未见|未发现|无法(?:缀合|拼合|拼接|连接|合)"
    r"|不相同|不同|不一致|不匹配|不吻合|无(?:任何|甲骨|文字|刻)|非甲骨"
    r"|\b(?:cannot|can['’]t|don['’]t|doesn['’]t|do not|does not|is not|isn['’]t|are not|aren['’]t"
    r"|not the same|no (?:oracle|inscri|character|sign|evidence|match)\w*|different)\b",
    re.IGNORECASE,
)
_AFFIRMING = re.compile(
    r"(?:图中|图片中|图像中|上面|表面|其上|此图|该图|画面中?)[^，,。]{0,8}(?:有|存在|包含|刻有|可见|含)"
    r"|可以(?:缀合|拼合|拼接|连接|看到|看出|合)|能够?(?:缀合|拼合|拼接|连接|合)"
    r"|^(?:它们|两者|二者|这两个?字?)?(?:属于同|是同|同属)|为同一|是同一|字形(?:相同|一致)"
    r"|^(?:这|此|该)[^，,。不]{0,8}是[^，,。不]{0,8}甲骨"
    r"|^(?:这|此|该)?(?:两|二)?[^，,。不]{0,8}(?:存在|有甲骨|有文字|可以|能)"
    r"|\b(?:can (?:indeed )?be (?:rejoined|joined)|(?:do |both )?belong to the same|are the same"
    r"|(?:is|shows|contains|bears|has|have) (?:an? |some |visible )?(?:oracle|inscri)"
    r"|there (?:are|is) (?:an? |some |visible )?(?:oracle|inscri))",
    re.IGNORECASE,
)
_BUT_RATHER = re.compile(r"而是|\b(?:but|rather)\b")
_LONGEST_STATEMENT = 160
_LONGEST_TAIL = 4_000
_CONCEDED = re.compile(r"\b(?:and|but|while|though|although)\s*$", re.IGNORECASE)
_AFTER_PHRASE = re.compile(r"(?:答案|结论)(?:是|为|:)\s*|\banswer(?: is|:)\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"[。！!；;\n]|\.(?=\s|$)")
_SENTENCES = re.compile(r"[^。.!?！？\n]*(?:[。.!?！？\n]|$)")
_OBJECT = re.compile(r"\{[^{}]{1,400}\}")
_HEDGED = re.compile(r"\b(?:yes and no|not yes|not no)\b|既是又不是|是也不是", re.IGNORECASE)

# In running text "no" is mostly a determiner (no doubt) and 是 a copula: only separate
# words are answers. Between commas 是 is one of many characters, but "yes" is a word.
_APART = re.compile(
    r"(?:^|(?<=[\s。.；;：:!！?？\"'“「(（*]))(?P<said>yes|no|是的?|不是的?|否)"
    r"(?=\s*(?:[，,。.；;:：!！\"'”」)）*—–]|-\s|$))",
    re.IGNORECASE | re.MULTILINE,
)


def extract_yes_no(text: str, question: str = "") -> Extracted:  # noqa: PLR0911
    """Yes or No, where a response says one of them.

    Rules, in order; the first that decides is named: the response is the word; JSON or a box; the
    answer phrases, if they agree; the first word, unless the other one is a separate word later;
    the separate words, if they agree. A copula (这是…) and a determiner (no doubt) are neither.
    """
    body = to_half_width(strict_body(text)).replace("**", "")
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    core = without_fence(body).strip(_EDGE)
    if core.lower() in _SAID:
        return Extracted(_SAID[core.lower()], "whole answer", body)
    listed = json_answer(body) or _only_word(body) or boxed_answer(body) or _object_in(body)
    if listed and listed.answer is not None:
        word = listed.answer.strip(_EDGE).lower()
        return listed._replace(answer=_SAID.get(word) or alone_word(word))
    if alone := alone_word(core):
        return Extracted(alone, "whole answer", body)
    settled = _without_weighing(without_first_sight(body))
    body = settled if settled.strip() else body
    if _HEDGED.search(body):
        return Extracted(None, "both yes and no")
    if (decided := _concluded(body, question)) is not None:
        return decided
    body = without_headings(body)
    back = _after_correction(body)
    if back and (restated := extract_stated_yes_no(back, question)):
        return restated
    return _by_words(body, question) or _stated(body, core, question)


def _by_words(body: str, question: str) -> Extracted | None:
    """Yes or No by answer phrases, the first word and separate words; None without any."""
    plain = _NEITHER_WORD.sub("\n", body)
    leading = _LEADING.match(plain)
    rules = (
        ("answer phrase", list(_PHRASE.finditer(plain))),
        ("first word", ([leading] if leading else []) + _words_apart(plain)),
    )
    if contradicted := _contradicted(plain, leading, question):
        return contradicted
    for rule, found in rules:
        said = {_meaning(match) for match in found}
        if len(said) == 1:
            name = rule if rule == "answer phrase" or leading else "separate word"
            return Extracted(said.pop(), name, found[0][0])
        if said:
            return Extracted(None, "both yes and no", " … ".join(match[0] for match in found))
    return None


def _only_word(body: str) -> Extracted | None:
    """The one value of a JSON object that is true, false or a word for yes or no."""
    value = json_value(body)
    words = [str(each) for each in value.values()] if isinstance(value, dict) else []
    found = [each for each in words if each.lower() in _SAID or alone_word(each)]
    return Extracted(found[0], "JSON value", body) if len(found) == 1 else None


def _object_in(body: str) -> Extracted | None:
    """The same of the last JSON object in a longer text."""
    found = _OBJECT.findall(body)
    return (json_answer(found[-1]) or _only_word(found[-1])) if found else None


def _without_weighing(body: str) -> str:
    """A text without the sentences that weigh both answers (one look says no, another yes)."""
    kept = [each for each in _SENTENCES.findall(body)
            if not wording("yes_no", "weighs").search(fold(each))]  # fmt: skip
    return "".join(kept)


def _concluded(body: str, question: str) -> Extracted | None:
    """The answer in the conclusion of a longer response; None if no line opens a conclusion."""
    tail = body[-_LONGEST_TAIL:]
    last = _SENTENCE.split(tail.strip(_EDGE))[-1].strip(_EDGE).lower()
    if last in _SAID and not _LEADING.match(_NEITHER_WORD.sub("\n", body)):
        return Extracted(_SAID[last], "last word", last)
    found = list(_conclusion().finditer(fold(tail)))
    if not found or not tail[: found[-1].start()].strip():
        return None
    after = tail[found[-1].end() :].strip(_EDGE + "-—")
    leading = _LEADING.match(_NEITHER_WORD.sub("\n", after))
    if leading:
        return Extracted(_meaning(leading), "conclusion", after[:60])
    said = extract_stated_yes_no(after, question) if after else None
    return said._replace(rule="conclusion") if said and said.answer else said


def _contradicted(plain: str, leading: re.Match[str] | None, question: str) -> Extracted | None:
    """No, where "yes" opens a sentence that then denies what is asked (是的，这不是…而是…)."""
    if leading is None or _meaning(leading) != "Yes":
        return None
    sentence = _SENTENCE.split(plain[leading.end() :])[0]
    if not wording("short", "denied").search(fold(sentence)) or not _BUT_RATHER.search(sentence):
        return None
    stated = extract_stated_yes_no(sentence, question)
    return stated if stated and stated.answer == "No" else None


def _conclusion() -> re.Pattern[str]:
    around = r"^[ \t#*>\-\d.、]*{}(?:[*\s]*(?::|是|为|,|is\b)|[* ]*$)"
    return wording("yes_no", "concludes", around, re.MULTILINE)


def _words_apart(plain: str) -> list[re.Match[str]]:
    """Separate words, without those that concede something (and yes, there is …)."""
    return [
        each for each in _APART.finditer(plain)
        if not _CONCEDED.search(plain[max(0, each.start() - 12) : each.start()])
    ]  # fmt: skip


def _after_correction(body: str) -> str:
    """The text after the last correction of an earlier statement; else empty."""
    found = list(wording("discourse", "correction").finditer(fold(body[-_LONGEST_TAIL:])))
    later = [each for each in found if each.start() > 1]
    return body[-_LONGEST_TAIL:][later[-1].end() :] if later else ""


def _decides_nothing(sentence: str) -> bool:
    """Whether a sentence doubts, or says what a decision depends on."""
    flat = fold(sentence)
    return any(wording("yes_no", name).search(flat) for name in ("doubt", "criteria"))


def _stated(body: str, core: str, question: str) -> Extracted:
    """Yes or No from what a response states; neither where it asks for the image first."""
    stated = extract_stated_yes_no(body, question)
    if not (stated and stated.answer) and wording("yes_no", "asks_for_images").search(fold(core)):
        return Extracted(None, "asks for an image")
    return stated or _of_statement(core, question)


def _of_statement(core: str, question: str) -> Extracted:
    """Yes or No from what the first sentence states (没有甲骨文, they can be rejoined)."""
    after = _AFTER_PHRASE.split(core)[-1]
    sentence = _SENTENCE.split(after.strip(_EDGE))[0].strip(_EDGE)
    first = re.split(r"[，,]", sentence)[0].strip(_EDGE).lower()
    if len(sentence) > _LONGEST_STATEMENT or _BOTH.search(sentence) or _decides_nothing(sentence):
        return Extracted(None, "neither yes nor no")
    if alone := alone_word(first):
        return Extracted(alone, "first word", sentence)
    if _DENYING.search(sentence):
        return Extracted("No", "statement", sentence)
    likeness = wording("yes_no", "asks_alike")
    compares = likeness.search(fold(question)) and not likeness.search(fold(sentence))
    if not compares and _AFFIRMING.search(sentence):
        return Extracted("Yes", "statement", sentence)
    return Extracted(None, "neither yes nor no")


def first_yes_no(text: str) -> Extracted:
    """The first word for yes or no after the reasoning, at any place.

    It is our reading where a paper has no rule. 是否, 是不是 and "yes or no" are passed over.
    """
    for match in _FIRST.finditer(body_of(text)):
        if match["said"]:
            return Extracted(_meaning(match), "first word for yes or no", match[0])
    return Extracted(None, "neither yes nor no")


def _meaning(match: re.Match[str]) -> str:
    return _SAID[match["said"].lower()]
