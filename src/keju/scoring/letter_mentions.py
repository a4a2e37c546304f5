"""Mentions of options in a response: letters, groups of letters, and the texts of options.

`flatten` writes a response in one plain notation; `mentions_in` finds where options are named.
What is said of a mention is the part of `letter_claims`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from string import ascii_uppercase
from typing import NamedTuple

from keju.text import CharacterTable, counted, to_half_width

FINAL = " Final answer: "
r"""The replacement of ``\boxed`` in a flattened response."""

_INVISIBLE = dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF, 0xFE0F, 0xAD,
     *range(0xE0000, 0xE0080)]
)  # fmt: skip
_LATEX_FONT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mathit|bf|rm)\s{0,3}\{([^{}]{0,400})\}")
_BOXED = re.compile(
    r"\\boxed\s{0,3}\{([^{}]{0,400})\}|<\|begin_of_box\|>(.{0,400}?)<\|end_of_box\|>"
)
_MARKUP = re.compile(r"\*+|__|`+|~~|\\[()\[\]]|\$+|^[ \t]{0,8}(?:#{1,6}|>)[ \t]+", re.MULTILINE)
_TAG = re.compile(r"</?(?:b|i|strong|em|u|p|br|span|div|answer)\s?/?>", re.IGNORECASE)

# A letter beside no other letter or digit; before a small word "A" is the article, and "I" mostly
# the pronoun, unless the word says something of an option.
_SAID = (
    r"(?:is|was|are|were|and|or|nor|to|because|since|as|but|not|while|whereas|has|fits?|match\w*"
    r"|seems?"
    r"|appears?|looks?|would|could|should|can|cannot|does|doesn|correctly|best|instead|over|than"
    r"|through|do|did|don|all|both|rather|instead)\b"
)
_LETTER = re.compile(
    r"(?![A-Z]\.\s?[A-Z]\.\s?[A-Z][a-z])(?<![A-Z]\.\s)(?!(?<=\bby\s)[A-Z]\.\s[A-Z][a-z])"
    r"(?<![A-Za-z0-9\\_.])(?<!N/)(?<![A-Za-z0-9]['’])"
    r"[A-Z](?![A-Za-z0-9_'’]|/A\b|\.[A-Za-z]\b|-[A-Za-z]{2})"
    rf"(?!(?<=[AI])[ \t]{{1,3}}(?!{_SAID})[a-z])"
)
_RUN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2,8}(?![A-Za-z0-9])")
_JOIN = re.compile(
    r"[\s\"'“”‘’「」『』()\[\]{}]{0,4}(?:选项|選項|项|項)?"
    r"(?P<join>[、,，/|&+]|和|与|與|及|以及|或者?|还是|還是|到|至|and|or|nor|to|through|versus|vs\.?|-|–|—|~"
    r"|,\s{0,2}(?:and|or))?"
    r"[\s\"'“”‘’「」『』()\[\]{}]{0,4}(?:选项|選項|option\s)?\Z",
    re.IGNORECASE,
)
_SAID_OF_BOTH = re.compile(
    r"\s{0,2}(?:都|均|皆|两|二|等|[。.;!?)\]\"”\n]|\Z|are\b|both\b|is\sboth)"
)
_WIDEST, _NEXT_WORDS = 12, 40
_SHORTEST_CLAUSE, _SHORTEST_FRAGMENT = 5, 2
_QUOTED = re.compile(r"[“「『\"]([^“”「」『』\"\n]{2,24})[”」』\"]")

_STEMS, _CIRCLED = "甲乙丙丁戊己庚辛", "①②③④⑤⑥⑦⑧"
_PLACES = ("一1", "二2", "三3", "四4", "五5", "六6")
_PLACE = {char: place for place, chars in enumerate(_PLACES) for char in chars}
_ROMAN = ("I", "II", "III", "IV", "V")
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5,
             "1st": 0, "2nd": 1, "3rd": 2, "4th": 3}  # fmt: skip
_NUMBERED = re.compile(
    r"第\s?(?P<han>[一二三四五六1-6])\s?(?:个|個|项|項)?\s?(?:选项|選項|选择|答案)|(?<=选)第(?P<short>[一二三四五六1-6])(?:个"
    r"|個|项|項)"
    r"|第\s?(?P<item>[一二三四五六1-6])\s?(?:项|項)(?!目)|(?:选项|選項)\s?(?P<after>[一二三四五六]|[1-6](?![0-9.]))"
    r"|\b(?:the\s)?(?P<word>first|second|third|fourth|fifth|sixth|1st|2nd|3rd|4th)\s(?:option|choice"
    r"|answer)\b"
    r"|\b(?:option|choice)\s(?P<digit>[1-6])(?![0-9.])"
    r"|\b(?:option|choice)\s(?P<roman>I{1,3}|IV|V)\b",
    re.IGNORECASE,
)
_ALONE_SIGN = re.compile(
    rf"(?:\A|(?<=[则則])(?=[{_STEMS}][为為]是)|(?<=答案)|(?<=答案[是为選选:])|(?<=答案[是为選选:]\s)|(?<=[选選择擇])|(?<=[当為为是选選])(?=[(（])|(?<=[答择]:)|(?<=answer:\s)"
    rf"|(?<=answer is\s))"
    rf"[(\[\"“「【]?(?P<sign>[{_STEMS}{_CIRCLED}]|(?<=\()[1-8](?=\)))[)\]\"”」】]?(?:项|項)?(?=\s*(?:[。.,;!]|[为為]是|\Z|\n))",
    re.IGNORECASE,
)
_ALONE_ON_LINE = re.compile(
    rf"(?:\A|(?<=\n\n))[ \t(\[“「]{{0,3}}(?P<sign>[a-h{_STEMS}{_CIRCLED}])"
    r"[)\]”」.。]{0,3}(?=[ \t]*(?:\n\n|\Z))"
)
_ALONE_PLACE = re.compile(
    r"\W*第(?P<han>[一二三四五六1-6])(?:个|個|项|項)\W*\Z"
    r"|\W*(?:the )?(?P<word>first|second|third|fourth|fifth|sixth)(?: one)?\W*\Z",
    re.IGNORECASE,
)


_SMALL = re.compile(
    r"(?P<before>(?:\A(?:probably|likely|most likely|i think|i guess)(?=\s)"
    r"|答案|选择?|選擇?|选项|選項|\banswer|\boption|\bchoice|\banswer:)\s{0,2}(?:应该|应)?(?:是|为"
    r"|為|:|is|=|\s)?\s{0,2}[(\"'\[「]?)"
    r"(?P<letter>[a-z])(?P<after>[)\]\"'」.]{0,2}\s{0,2}(?:选项|项|正确|is\b)?(?:[,;。!\n.]|\Z|\sis\b))",
    re.IGNORECASE,
)
_SMALL_IN_BRACKETS = re.compile(r"(?<![A-Za-z0-9])\(([a-z])\)(?!\s{0,2}[a-z])")


_LEADS_TO_SMALL = re.compile(r"[答选選]|answer|option|choice|probably|likely|i think|i guess")
_SIGN = re.compile(rf"[{_STEMS}{_CIRCLED}1-8]")
_NUMBER = re.compile(r"[第选選]|option|choice|answer")
"""Texts one of which occurs wherever one of the longer expressions above can match."""


class Mention(NamedTuple):
    """One or several options named together.

    Attributes:
        letters: the letters, those beyond the options included.
        start: where it begins in the flattened response.
        end: where it ends, the option's own text included.
        by_text: an option's text without its letter.
        clash: a letter that is followed by the text of another option.
        labelled: the letter is followed by its own option's text.
    """

    letters: frozenset[str]
    start: int
    end: int
    by_text: bool = False
    clash: bool = False
    labelled: bool = False


@cache
def _plain_characters() -> CharacterTable:
    """ASCII forms, plain letters, and no invisible characters."""
    letters = _plain_letters()
    return CharacterTable(lambda char: to_half_width(char).translate(letters).translate(_INVISIBLE))


def _plain_letters() -> dict[int, str]:
    """Circled, bracketed, squared and mathematical letters → plain ones."""
    table = {}
    for code in (*range(0x249C, 0x24EA), *range(0x1D400, 0x1D6A4)):
        core = unicodedata.normalize("NFKC", chr(code)).strip("()")
        if core.isascii() and core.isalpha():
            table[code] = core.upper() if code < 0x3000 else core
    # Squared and negative letters are capitals, which NFKC leaves or brackets.
    for first in (0x1F110, 0x1F130, 0x1F150, 0x1F170):
        table |= {first + place: letter for place, letter in enumerate(ascii_uppercase)}
    return table


def flatten(body: str) -> str:
    """A response in plain notation: ASCII forms, no emphasis, LaTeX, tags, invisible characters."""
    flat = body.translate(_plain_characters())
    for _ in range(2):
        flat = _LATEX_FONT.sub(r"\1", flat)
    flat = _BOXED.sub(lambda box: f"{FINAL}{box[1] or box[2] or ''} ", flat)
    flat = _TAG.sub(" ", flat)
    flat = _MARKUP.sub("", flat)
    return flat.strip()


def mentions_in(
    flat: str, offered: Sequence[str], options: Sequence[str]
) -> tuple[str, list[Mention]]:
    """The response with other signs of options written as letters, and all mentions in order.

    Other signs are ordinals (第二个选项, the second option) and, where they are the whole answer or
    follow a phrase for answers, 甲乙丙丁 and ①②③④.
    """
    flat = _signs_as_letters(flat, offered)
    letters = [
        *_runs(flat, offered),
        *(Mention(frozenset(m[0]), m.start(), m.end()) for m in _LETTER.finditer(flat)),
    ]
    texts = list(_texts(flat, options))
    grouped = list(_grouped(flat, sorted(letters, key=lambda each: each.start)))
    return flat, _merged(flat, grouped, texts, options)


def _signs_as_letters(flat: str, offered: Sequence[str]) -> str:
    def letter(place: int, whole: str) -> str:
        return offered[place] if place < len(offered) else whole

    def numbered(match: re.Match[str]) -> str:
        if match["roman"]:
            return f" {letter(_ROMAN.index(match['roman'].upper()), match[0])} "
        found = match["han"] or match["short"] or match["item"] or match["after"] or match["digit"]
        place = _PLACE[found] if found else _ORDINALS[match["word"].lower()]
        return f" {letter(place, match[0])} "

    def sign(match: re.Match[str]) -> str:
        place = max(signs.find(match["sign"]) for signs in (_STEMS, _CIRCLED, "12345678"))
        return match[0].replace(match["sign"], letter(place, match["sign"]))

    def alone(match: re.Match[str]) -> str:
        place = max(signs.find(match["sign"]) for signs in ("abcdefgh", _STEMS, _CIRCLED))
        return match[0].replace(match["sign"], letter(place, match["sign"]))

    if whole := _ALONE_PLACE.fullmatch(flat[:60]):
        place = _PLACE[whole["han"]] if whole["han"] else _ORDINALS[whole["word"].lower()]
        return letter(place, flat)
    lower = flat.lower()
    if _LEADS_TO_SMALL.search(lower):
        flat = _SMALL.sub(
            lambda found: found["before"] + found["letter"].upper() + found["after"], flat
        )
    if "(" in flat:
        flat = _SMALL_IN_BRACKETS.sub(lambda found: found[0].upper(), flat)
    flat = _ALONE_ON_LINE.sub(alone, flat)
    flat = _ALONE_SIGN.sub(sign, flat) if _SIGN.search(flat) else flat
    return _NUMBERED.sub(numbered, flat) if _NUMBER.search(lower) else flat


def _runs(flat: str, offered: Sequence[str]) -> Iterator[Mention]:
    """Letters run together (ACD错误), where all are on offer and in order."""
    for match in _RUN.finditer(flat):
        letters = match[0]
        if set(letters) <= set(offered) and len(set(letters)) == len(letters):
            yield Mention(frozenset(letters), match.start(), match.end())


def _grouped(flat: str, letters: Sequence[Mention]) -> Iterator[Mention]:
    """Mentions, with those joined that have only separators between them (A、C和D)."""
    joins = ["", *(_join(flat, left, right) for left, right in pairwise(letters)), ""]
    current: Mention | None = None
    for place, each in enumerate(letters):
        join = joins[place]
        if current and join == "," and not _lists(flat, letters, place, joins):
            join = ""
        if current and join:
            current = Mention(current.letters | each.letters, current.start, each.end)
            continue
        if current:
            yield current
        current = each
    if current:
        yield current


def _join(flat: str, left: Mention, right: Mention) -> str:
    """The text that joins two mentions: ``,``, another separator, a space; empty if none does."""
    between = flat[left.end : right.start]
    found = _JOIN.match(between) if len(between) <= _WIDEST and "\n" not in between else None
    if found is None:
        return ""
    if found["join"]:
        return found["join"]
    return " " if not between.strip() or '"' in between else ""


def _lists(flat: str, letters: Sequence[Mention], place: int, joins: Sequence[str]) -> bool:
    """Whether the comma before a letter lists letters, and does not part two clauses."""
    beside = {joins[place - 1], joins[place + 1]} - {"", ","}
    if beside and not all("and" in each or "or" in each for each in beside):
        return False
    end = letters[place].end
    after = flat[end : end + 12]
    return bool(joins[place - 1] == "," or joins[place + 1] or _SAID_OF_BOTH.match(after))


_folded = lru_cache(maxsize=1 << 16)(lambda char: counted(char).casefold())


def _texts(flat: str, options: Sequence[str]) -> Iterator[Mention]:
    """The texts of options in a response."""
    wanted = [(counted(text).casefold(), place) for place, text in enumerate(options)]
    wanted += _clauses_of(options)
    clauses = {text for text, _ in wanted}
    wanted += [each for each in _fragments_of(flat, options) if each[0] not in clauses]
    known = [text for text, _ in wanted]
    letters = {text: ascii_uppercase[at] for text, at in wanted if text and known.count(text) == 1}
    if not letters:
        return
    chars, places = [], []
    for place, char in enumerate(flat):
        for one in _folded(char):
            chars.append(one)
            places.append(place)
    # The longest first, so that 唐 does not count in 南唐.
    longest_first = sorted(letters, key=lambda each: -len(each))
    for found in re.finditer("|".join(map(re.escape, longest_first)), "".join(chars)):
        start, end = places[found.start()], places[found.end() - 1] + 1
        if _apart(flat, start, end, found[0]):
            yield Mention(frozenset(letters[found[0]]), start, end, by_text=True)


def _clauses_of(options: Sequence[str]) -> list[tuple[str, int]]:
    """The clauses of options that have several (野渡无人舟自横), with the option's place."""
    found = []
    for place, text in enumerate(options):
        parts = [counted(part).casefold() for part in re.split(r"[，,。；;]", text)]
        if len([part for part in parts if part]) > 1:
            long = [part for part in parts if len(part) >= _SHORTEST_CLAUSE]
            found += [(part, place) for part in long if not part.isascii()]
    return found


def _fragments_of(flat: str, options: Sequence[str]) -> list[tuple[str, int]]:
    """Quoted parts of options (“一个语素”的那一项), with the place of the one option."""
    known = [counted(text).casefold() for text in options]
    found = []
    for quoted in _QUOTED.finditer(flat):
        part = counted(quoted[1]).casefold()
        having = [place for place, text in enumerate(known) if part != text and part in text]
        if len(part) >= _SHORTEST_FRAGMENT and len(having) == 1 and part not in known:
            found.append((part, having[0]))
    return list(dict.fromkeys(found))


def _apart(flat: str, start: int, end: int, text: str) -> bool:
    """Whether a text in Latin letters or digits is not part of a longer word."""
    before, after = flat[start - 1 : start], flat[end : end + 1]
    left = text[0].isascii() and before.isascii() and before.isalnum()
    return not (left or (text[-1].isascii() and after.isascii() and after.isalnum()))


_LABEL_GAP = re.compile(
    r"[\s)\]】\"”」]{0,3}(?:选项|選項|项|項)?[\s.,、:)\]|(/《“\"「—–\->=为是,]{0,6}\Z"
)


def _merged(
    flat: str, letters: Sequence[Mention], texts: Sequence[Mention], options: Sequence[str]
) -> list[Mention]:
    """Letters with the option's text after them as one mention each; other texts on their own."""
    by_start = {each.start: each for each in texts}
    starts = sorted(by_start)
    found: list[Mention] = []
    used: set[int] = set()
    at = 0
    for each in letters:
        while at < len(starts) and starts[at] < each.end:
            at += 1
        text = by_start[starts[at]] if at < len(starts) else None
        if (
            text is None
            or len(each.letters) > 1
            or not _LABEL_GAP.match(flat[each.end : text.start][:_WIDEST])
            or text.start - each.end > _WIDEST
            or "\n\n" in flat[each.end : text.start]
        ):
            found.append(each)
            continue
        used.add(text.start)
        same = text.letters == each.letters or _is_part_of_own(flat, each, text, options)
        if not same and _ends_sentence(flat, each, text):
            used.discard(text.start)
            found.append(each)
            continue
        found.append(each._replace(end=text.end, labelled=same, clash=not same))
    found += [each for each in texts if each.start not in used]
    return list(_hedged(flat, sorted(found, key=lambda each: each.start)))


def _is_part_of_own(flat: str, letter: Mention, text: Mention, options: Sequence[str]) -> bool:
    """Whether the text of another option after a letter is also a part of the letter's own."""
    (own,) = letter.letters
    place = ord(own) - ord("A")
    said = counted(flat[text.start : text.end]).casefold()
    return place < len(options) and said in counted(options[place]).casefold()


def _ends_sentence(flat: str, letter: Mention, text: Mention) -> bool:
    """Whether a letter ends a sentence, and the text of an option begins the next one."""
    before = re.search(r"[a-z]{2,}\s\Z", flat[max(0, letter.start - _WIDEST) : letter.start])
    new = re.match(r"[.]\s", flat[letter.end :][:2])
    return bool(before and new and re.match(r"\s[a-z]+\s[a-z]+", flat[text.end :][:_NEXT_WORDS]))


def _names_again(flat: str, text: Mention, letter: Mention) -> bool:
    """Whether the letter of an option is in brackets after its text (Zhou (B))."""
    same = text.letters == letter.letters and not (letter.by_text or letter.clash)
    return same and _BRACKET.fullmatch(flat[text.end : letter.start]) is not None


_BRACKET = re.compile(r"[\s\"”」]{0,2}\((?:选项|option )?")


def _hedged(flat: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """The mentions, with texts of options that an "or" or "and" joins made one."""
    current: Mention | None = None
    for each in mentions:
        if current and current.by_text and each.by_text and _join(flat, current, each).strip(" ,"):
            letters = current.letters | each.letters
            current = Mention(letters, current.start, each.end, by_text=True)
            continue
        if current and current.by_text and _names_again(flat, current, each):
            current = each._replace(start=current.start)
            continue
        if current:
            yield current
        current = each
    if current:
        yield current
