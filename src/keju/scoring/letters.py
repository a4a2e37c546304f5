"""The one option that a response chooses, or none: never a guess."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from string import ascii_uppercase

from keju.scoring.answers import Extracted, body_of, boxed_answer, json_answer, unfenced
from keju.text import counted

_DEFAULT = tuple("ABCDEF")
_LONE_EDGE = " \t\r\n\u3000*_`#>-–—.。，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》{}$\\"
_LETTER = r"(?P<letter>[A-Za-z])(?![A-Za-z])"
_OPEN = r"[\s*_`“”\"'「『(（\[【<《:：]{0,8}(?:\\boxed\{)?[\s(（]{0,2}"
_MODAL = "(?:应该|應該|应当|應當|应|應)?"
_PICK = (
    "(?<![不排别別勿])(?<!不[应應能可该該])(?<!不[应應][该該当當])(?:选择|選擇|选|選)(?![项項择擇])"
)
_MORE = re.compile(
    r"[\s*_`”\"'」』)）\]】>》]{0,8}(?:[、,，/&＆和或與与及+]|或者|以及|or\b|and\b)?"
    r"\s{0,2}[(（\[【]?(?P<more>[A-Z])(?![A-Za-z])"
)
_FINAL = re.compile(
    r"(?:最终|最終|最后|最後|综上|綜上|因此|所以|故|总之|總之"
    r"|[Ff]inal|[Tt]herefore|[Tt]hus|[Hh]ence|\bSo\b)"
    rf"[^\n。！？!?A-Z]{{0,30}}?(?:答案|选项|選項|{_PICK}|[Aa]nswer|option|choice|[：:])"
    rf"{_MODAL}(?:是|为|為|选|選|\s{{1,3}}is|\s{{1,3}}should be)?{_OPEN}{_LETTER}"
)
_STATED = re.compile(
    rf"(?:(?:答案|选项|選項){_MODAL}(?:是|为|為|选|選|[：:])|{_PICK}|答[：:]"
    r"|[Aa]nswer(?:\s{1,3}(?:is|should be|would be))?"
    r"|I\s{1,3}(?:choose|select|pick)|[Cc]orrect (?:option|choice) is)"
    rf"(?:选项|選項|\s{{0,3}}option|\s{{0,3}}choice)?{_OPEN}{_LETTER}"
)
_LETTERS = (
    r"(?P<letters>(?<![A-Za-z])[A-Z](?:\s{0,2}(?:[、,，和与與及&]|and|or|nor)\s{0,2}[A-Z]){0,25})"
    r"(?![A-Za-z])"
)
_DENIED = re.compile(
    r"(?:排除|不选|不選|不是|并非|並非|而非|不应选|不應選|错误的是|錯誤的是|除了?"
    r"|\b[Nn]ot|\b[Nn]either|\b[Ee]xclud(?:e|ing)|\b[Ee]xcept)"
    rf"[\s(（“\"*]{{0,4}}(?:选项|選項)?\s{{0,4}}{_LETTERS}"
)
_DENIED_AFTER = re.compile(
    rf"{_LETTERS}[\s)）”\"*]{{0,3}}(?:选项|選項|项|項)?\s{{0,2}}(?:均|都|皆|也|是)?"
    r"(?:不正确|不正確|不对|不對|错误|錯誤|错|錯|有误|有誤|不符|不成立|不是|不选|不選|不可能"
    r"|\s?(?:is|are|was|were)\s(?:incorrect|wrong|false|not)\b|\s?(?:isn|aren)['’]t\b)"
)
_OPENING = re.compile(
    r"[\s*_`(（\[【]{0,4}(?P<letter>[A-Z])[)）\]】*_`]{0,3}"
    r"(?:[ \t]*(?:\n|。|；|;)|[，,]\s?(?:因为|因為|因|理由|because\b|since\b|as\b))"
)
_DENIED_TEXT = ("不是", "并非", "不为", "不选", "排除", "除了", "而非")
# "A" before a small letter is the English article, unless it is said to be right or wrong.
_ALONE = re.compile(
    r"(?<![A-Za-z0-9\\])(?<!N/)[A-Z](?![A-Za-z0-9'’])"
    r"(?!(?<=[AI])\s{1,3}(?!is\b|was\b|and\b|or\b|nor\b|to\b)[a-z])"
)
_RUN = re.compile(r"(?<![A-Za-z])[A-Z]{2,26}(?![A-Za-z])")
_LABELLED = re.compile(
    r"\s*[(（\[【*]{0,3}(?P<letter>[A-Z])[)）\]】]?\s{0,2}[、.．:：)）]\s{0,2}(?P<text>.+)"
)
_BRACKETED = re.compile(r"[(（\[【]\s*([A-Za-z])\s*[)）\]】]")
_SHORTEST_QUOTE = 2
_ASKED = ("?", "？")


def extract_letter(
    text: str, choices: Sequence[str] = (), options: Sequence[str] = ()
) -> Extracted:
    r"""The letter of the option that a response chooses.

    Rules, in order; the first that decides is named in the result: the response is one letter;
    JSON; ``\boxed{}``; the last phrase that draws a conclusion (因此选C, 最终答案：C); the phrases
    that state an answer (答案是C, Answer: C), if they agree; the last line is a letter; the answer
    opens with a letter and goes on with reasons (B。理由…); the first line is an option with its
    text and no other line is; one letter stands alone in the text, others at most denied (排除A,
    A不对); the text of exactly one option is quoted and not denied.
    Letters may be full-width or circled. Several letters, or a letter with another option's text,
    are unparsable.

    Args:
        text: the response.
        choices: the letters on offer; A to F where the item does not say.
        options: the texts of the options, in order of their letters, where they are known.
    """
    offered = tuple(choices) or _DEFAULT
    body = body_of(text).translate(_fold_table())
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    for rule in (_lone, _from_json, _boxed, _concluded, _stated, _last_line, _opening):
        found = rule(body, offered)
        if found:
            return _checked(found, body, options)
    found = _labelled(body, options) or _standing_alone(body, offered)
    return _checked(found, body, options) if found else _quoted(body, options)


@cache
def _fold_table() -> dict[int, str]:
    """Full-width, circled, bracketed, squared and mathematical letters → plain ones."""
    table = {}
    for code in (*range(0x249C, 0x24EA), *range(0xFF21, 0xFF5B), *range(0x1D400, 0x1D6A4)):
        core = unicodedata.normalize("NFKC", chr(code)).strip("()")
        if core.isascii() and core.isalpha():
            table[code] = core if code > 0xFF00 else core.upper()
    # Squared and negative letters are capitals, which NFKC leaves or brackets.
    for first in (0x1F110, 0x1F130, 0x1F150, 0x1F170):
        table |= {first + place: letter for place, letter in enumerate(ascii_uppercase)}
    return table


def _lone(body: str, offered: Sequence[str]) -> Extracted | None:
    core = body.strip(_LONE_EDGE)
    core = re.sub(r"^(?:选项|選項|选|選|[Oo]ption)\s*", "", core)
    core = re.sub(r"\s*(?:选项|選項|项|項)$", "", core)
    if len(core) == 1 and core.upper() in offered:
        return Extracted(core.upper(), "one letter", body)
    return None


def _from_json(body: str, offered: Sequence[str]) -> Extracted | None:
    found = json_answer(body)
    if found is None or found.answer is None:
        return None
    inner = _lone(found.answer, offered)
    return found._replace(answer=inner.answer) if inner else None


def _boxed(body: str, offered: Sequence[str]) -> Extracted | None:
    box = boxed_answer(body)
    inner = _lone(box.answer, offered) if box and box.answer else None
    return box._replace(answer=inner.answer) if box and inner else None


def _concluded(body: str, offered: Sequence[str]) -> Extracted | None:
    """The last phrase that draws a conclusion; earlier conclusions are overruled by it."""
    found = [match for match in _FINAL.finditer(body) if match["letter"].upper() in offered]
    if not found:
        return None
    return _single(body, found[-1], offered, "concluding phrase")


def _stated(body: str, offered: Sequence[str]) -> Extracted | None:
    found = [
        match
        for match in _STATED.finditer(body)
        if match["letter"].upper() in offered and body[match.end() : match.end() + 1] not in _ASKED
    ]
    if not found:
        return None
    if len({match["letter"].upper() for match in found}) > 1:
        return Extracted(None, "phrases that disagree", found[-1][0])
    return _single(body, found[-1], offered, "answer phrase")


def _single(body: str, match: re.Match[str], offered: Sequence[str], rule: str) -> Extracted | None:
    """The phrase's letter, unless more letters follow it (A或B, AC)."""
    more = _MORE.match(body, match.end())
    letter = match["letter"].upper()
    if more and more["more"] in offered and more["more"] != letter:
        return Extracted(None, "several letters", match[0] + more[0])
    return Extracted(letter, rule, match[0])


def _last_line(body: str, offered: Sequence[str]) -> Extracted | None:
    lines = [line for line in unfenced(body).splitlines() if line.strip(_LONE_EDGE)]
    lone = [_lone(line, offered) for line in lines]
    if len(lines) > 1 and lone[-1] and not any(lone[:-1]):
        return Extracted(lone[-1].answer, "last line", lines[-1])
    return None


def _opening(body: str, offered: Sequence[str]) -> Extracted | None:
    """The letter that opens the answer, where reasons follow and no other line is a letter."""
    opening = _OPENING.match(body)
    if opening is None or opening["letter"] not in offered or opening["letter"] in _denied(body):
        return None
    lone = [_lone(line, offered) for line in body.splitlines()]
    if {found.answer for found in lone if found} - {opening["letter"]}:
        return None
    return Extracted(opening["letter"], "opening letter", opening[0])


def _denied(body: str) -> set[str]:
    """The letters that a text says are not the answer."""
    found = [*_DENIED.finditer(body), *_DENIED_AFTER.finditer(body)]
    return {letter for match in found for letter in match["letters"] if letter in ascii_uppercase}


def _labelled(body: str, options: Sequence[str]) -> Extracted | None:
    """The option whose letter and text make up the first line, if no other line is an option."""
    labels = [match for line in body.splitlines() if (match := _LABELLED.fullmatch(line))]
    if len(labels) != 1 or not body.lstrip().startswith(labels[0][0].strip()):
        return None
    place = ord(labels[0]["letter"]) - ord("A")
    if place < len(options) and counted(labels[0]["text"]) == counted(options[place]):
        return Extracted(labels[0]["letter"], "option with its text", labels[0][0])
    return None


def _standing_alone(body: str, offered: Sequence[str]) -> Extracted | None:
    denied = _denied(body)
    places = [match for match in _ALONE.finditer(body) if match[0] in offered]
    found = {match[0] for match in places}
    found |= {letter.upper() for letter in _BRACKETED.findall(body) if letter.upper() in offered}
    if not found:
        return None
    left = found - denied
    if len(left) == 1:
        place = next((each.start() for each in places if each[0] in left), 0)
        return Extracted(left.pop(), "only letter", body[max(0, place - 15) : place + 15])
    if not left:
        return None
    return Extracted(None, "several letters", " ".join(sorted(left)))


def _checked(found: Extracted, body: str, options: Sequence[str]) -> Extracted:
    """The find, unless the letter is followed by the text of another option (A、 with B's text)."""
    if found.answer is None or not options:
        return found
    label = re.search(
        rf"(?<![A-Za-z]){found.answer}\s{{0,2}}[)）\]】]?\s{{0,2}}[、.．:：]\s{{0,2}}(?P<text>[^\n。；;]+)",
        body,
    )
    if label is None:
        return found
    said = counted(label["text"])
    named = [place for place, option in enumerate(options) if counted(option) == said]
    if len(named) == 1 and named[0] != ord(found.answer) - ord("A"):
        return Extracted(None, "a letter with another option's text", label[0])
    return found


def _quoted(body: str, options: Sequence[str]) -> Extracted:
    """The option whose text is quoted, where it is exactly one."""
    said = counted(body)
    denied = any(f"{word}{counted(text)}" in said for word in _DENIED_TEXT for text in options)
    if denied or _denied(body):
        return Extracted(None, "only denies")
    texts = [counted(option) for option in options]
    whole = [place for place, text in enumerate(texts) if text and text == said]
    if len(whole) == 1:
        return Extracted(chr(ord("A") + whole[0]), "text of one option", body)
    for text in sorted(set(texts), key=len, reverse=True):
        if len(text) >= _SHORTEST_QUOTE and text in said:
            # The longest first, and cut out, so that 唐 does not count inside 南唐.
            said = said.replace(text, "\0")
            whole += [place for place, other in enumerate(texts) if other == text]
    if len(whole) == 1:
        return Extracted(chr(ord("A") + whole[0]), "text of one option", options[whole[0]])
    if whole or _RUN.search(body):
        return Extracted(None, "several options quoted" if whole else "letters run together")
    return Extracted(None, "no option named")
