"""The count of the thing that a question asks for, among counts of other things (`strict`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from keju.scoring.wordings import alternatives, fold, wording
from keju.text import is_han, parse_english_number, parse_number

NUMBER = (
    r"(?P<n>[0-9]{1,6}|[零〇一二三四五六七八九十百千两廿卅卌]{1,9}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:-(?:one|two|three|four|five|six|seven|eight|nine)\b)?+"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen)"
)
_GENERIC = "个名位只条枚处"
MEASURES = "个名位只条枚处匹头棵座朵艘张幅件把片株尾根间人方行字块尊颗口辆对双"
_CONTAINERS = frozenset("行列章卷页块首篇层")
_RANGES = re.compile(
    rf"(?<![0-9a-z第.]){NUMBER.replace('?P<n>', '')}\s?(?:[个名位只条枚处字匹人]|[a-z]+)?"
    r"\s?(?:到|至|-|–|—|~|或|和(?=[^,。]{1,6}之?间)|或者|,\s?也(?:有)?可能[是为有]?|\bto\b|\bor\b)\s?"
    rf"(?<![a-z]){NUMBER.replace('?P<n>', '')}(?=\s?[{MEASURES}处]|之间|\s[a-z]|\W|$)"
)
_BETWEEN_TWO = re.compile(
    rf"\bbetween {NUMBER.replace('?P<n>', '')} and {NUMBER.replace('?P<n>', '')}"
)
_BOUNDED = re.compile(
    rf"(?<![0-9a-z第.]){NUMBER.replace('?P<n>', '')}"
    r"(?:\s?[个名位只条枚处字匹人]?(?:以上|左右以上)|[来多余几](?=[个名位只条枚处字匹人头棵座艘张幅件方])"
    r"|余(?=[^,。;]{0,2}人)|\+| or more\b)"
    r"|(?<![总人字个目])[数几][十百千万](?![一二三四五六七八九])"
)
_ALL_OF = re.compile(rf"\ball (?:of the )?{NUMBER} (?:of (?:them|the)\b|are\b)")
_ASKED_VERB = re.compile(r"(?P<verb>缺少?|残缺|遗漏|漏|少|多|增|减|剩下?|新增|删去?)了?$")
_FORMAL = re.compile("[壹贰叁肆伍陆柒捌玖拾佰仟貳參陸零〇]{2,}")
_PLAIN = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟貳參陸", "一二三四五六七八九十百千二三六")
_SOME_OF = re.compile(
    rf"\b{NUMBER} of (?:them|whom|(?:the|these|those)"
    rf" (?:{NUMBER.replace('?P<n>', '')} )?[a-z]+)\b"
    r"(?P<said>[^.,;\n]{0,60})"
)
_AFTER_NOUN = (
    r"(?:实际上?|其实|一共|总共|共计|合计|共|只|仅|应该?|确实|的|总?数量?|人数|则|就|在图中|图中){0,4}"
    r"(?:为|有|是|:|应为|应是|剩)?(?:约|大约)?"
)
_SINGLE = re.compile(r"\b(?:only |just )?an? (?:single|lone|solitary|sole)\b", re.IGNORECASE)
_PAIR = re.compile(r"\ba pair of\b", re.IGNORECASE)
_OPEN = re.compile(
    r"(?:[0-9零一二三四五六七八九十百]\s?(?:到|至|-|–|—|~|或|to|or|、)\s?"
    r"|(?:至少|至多|最多)[有为是]?|不到|超过|多于|at most |more than |up to |less than |over )$"
)
_LEFT, _NEAR = 24, 4
_CLAUSE_END = re.compile(r"[,。;:.\n]")
_NO_NOUN = frozenset("有共是为约计达了到见出绘画")
_PLACE = re.compile(r"[图画页上中里内]")
_VERB = re.compile(r"[在有是的正能可被]|出现")
_BETWEEN = r"(?!(?:in|on|of|at|by|per|with|each|every|and|or|from|to|for|the|this|that|has|have)\s)"
_IRREGULAR = {
    "people": "(?:people|persons?|figures?|individuals?)",
    "persons": "(?:people|persons?|figures?|individuals?)",
    "figures": "(?:people|persons?|figures?|individuals?)",
    "women": "(?:women|woman|ladies|lady)",
    "men": "(?:men|man|males?)",
    "children": "(?:children|child|kids?|boys?)",
    "geese": "(?:geese|goose)",
    "oxen": "(?:oxen|ox)",
    "sheep": "sheep",
    "fish": "fish(?:es)?",
    "years": "(?:years?|sui)",
    "columns": "(?:columns?|vertical lines?)",
}
_DOZENS = {"half": "6", "two": "24", "one": "12", "han": "12"}


class AskedThing(NamedTuple):
    """The thing that a question asks to count.

    Attributes:
        unit: an expression of its measure word and noun, as they follow a number.
        noun: an expression of the noun.
        each: what it is counted per (行 in 每行多少字), or an empty text.
        characters: whether it is characters of a text.
        named: an expression of the noun right after a number and a measure word.
        qualifier: which of the things are counted (戴帽子), or an empty text.
        verb: the verb before the interrogative (缺少), or an empty text.
    """

    unit: str
    noun: str
    each: str = ""
    characters: bool = False
    named: str = ""
    qualifier: str = ""
    verb: str = ""


def find_asked_thing(question: str, *, in_english: bool = False) -> AskedThing | None:
    """The thing that a question asks to count; None where it names none.

    Args:
        question: the question.
        in_english: whether the answer is in English, where the question may be in Chinese.
    """
    question = re.sub(r"(?:凡|共)?(?:几何|幾何|若干)", "有多少", question)
    question = re.sub(
        r"([\u4e00-\u9fff]{1,3})的?(?:数量|數量|数目|數目|个数|個數|总数|總數)",
        r"有多少\1",
        question,
    )
    question = re.sub(r"[“”「」‘’\"]|\s?[（(][^（()）]{0,20}[）)]", "", question)
    found = wording("counts", "asked").search(fold(question))
    if not found:
        return None
    each = wording("counts", "each").search(fold(question))
    per = next((group for group in each.groups() if group), "") if each else ""
    word = found["english"] or found["english_of"] or found["english_are"]
    if word:
        return _english(word, per, found["doing"] or "")
    noun = found["noun"] or found["measure"] or ""
    if in_english and (word := _translated(noun)):
        return _english(word, "(?:column|line)" if per in {"行", "列"} else _translated(per), "")
    return _chinese(found["measure"], found["noun"], per, fold(question)[: found.start()])


def _translated(noun: str) -> str:
    """The English word for a Chinese noun, by the first of its characters that has one."""
    names = zip(alternatives("counts", "noun"), alternatives("counts", "in_english"), strict=True)
    return next(
        (word for chars, word in names if re.match(rf"[^在有是]{{0,3}}?[{chars}]", noun)), ""
    )


MEASURED = AskedThing(r"\s?[个名位只条枚匹头棵座朵艘张幅件把片株尾根间]", "")
"""Anything after a measure word: for an answer in another language than the question."""


def _english(word: str, per: str, doing: str) -> AskedThing:
    stem = re.escape(word[:-1] if word.endswith("s") and len(word) > 3 else word)
    if word.endswith("ies"):
        stem = re.escape(word[:-3])
    noun = _IRREGULAR.get(word, stem + r"[a-z]{0,3}")
    characters = bool(re.match(r"character|inscription|glyph|graph", word))
    unit = rf"[\s-](?:{_BETWEEN}[a-z'’-]+\s){{0,3}}?{noun}\b"
    return AskedThing(unit, noun, per, characters, qualifier=doing)


def _split_at_verb(noun: str) -> tuple[str, str, str]:
    """A noun, the verb after it, and what follows the verb."""
    found = _VERB.search(noun)
    return (noun[: found.start()], found[0], noun[found.end() :]) if found else (noun, "", "")


def _chinese(measure: str | None, noun: str | None, per: str, before: str) -> AskedThing | None:
    measure, noun = measure or "", re.sub(r"^(?:个|种)", "", noun or "")
    qualifier = ""
    subject = wording("counts", "subject").search(before)
    if subject and (not noun or subject["subject"].endswith("的")):
        qualifier, _, named = subject["subject"].rpartition("的")
        noun = noun or named
    if measure == "次" or noun == "次":
        return AskedThing(r"\s?[次回见遍]", "", per)
    noun, verb, rest = _split_at_verb(noun)
    if verb in {"在", "被", "正"} and len(rest) > 1 and not _PLACE.search(rest):
        qualifier = qualifier or rest
    if not measure and not noun:
        return None if not qualifier else AskedThing(r"\s?[个名位人]", "", per, qualifier=qualifier)
    characters = bool(re.search(r"字|甲骨文|刻辞", measure + noun)) and measure not in _CONTAINERS
    if measure in _CONTAINERS and (not noun or re.search(r"字|文|诗|书", noun)):
        return AskedThing(r"\s?[行列]" if measure in "行列" else rf"\s?{measure}", measure, per)
    short = noun[:2]
    things = [
        measure or (r"[个名位只](?=[^\w]|$)" if noun else ""),
        rf"[{_GENERIC}]?[^,。;0-9一二三四五六七八九十两]{{0,4}}?{short[:1]}" if noun else "",
    ]
    return AskedThing(
        r"\s?(?:" + "|".join(each for each in things if each) + ")",
        short or measure,
        per,
        characters,
        rf"\s?[{MEASURES}]?{short[:1]}" if noun else "",
        qualifier,
        lacking["verb"] if (lacking := _ASKED_VERB.search(before)) else "",
    )


def write_dozens_in_digits(flat: str) -> str:
    """A text with dozens, pairs and single things as numbers, and old numbers without "and"."""
    flat = _PAIR.sub("two", _SINGLE.sub("one", flat))
    flat = _FORMAL.sub(lambda found: found[0].translate(_PLAIN), flat)
    flat = re.sub(r"(?<=[十百])[有又](?=[一二三四五六七八九])", "", flat)
    return wording("counts", "dozen").sub(lambda found: _DOZENS[str(found.lastgroup)], flat)


def without_ranges(flat: str) -> str:
    """A text with a mark for each range (20 to 30, 十至十二), which counts nothing."""
    return _RANGES.sub("…", _BETWEEN_TWO.sub("…", flat))


def without_bounds(text: str) -> str:
    """A text with a mark for each number that is only a bound (十来匹, 20匹以上, 只能辨认出3个)."""
    flat, kept, start = fold(text), [], 0
    partly = wording("counts", "partly", rf"{{}}{NUMBER}")
    for found in sorted(
        (*_BOUNDED.finditer(flat), *partly.finditer(flat)), key=lambda each: each.start()
    ):
        kept.append(text[start : found.start()] + "…")
        start = max(start, found.end())
    return "".join(kept) + text[start:]


class _Count(NamedTuple):
    """A count of the asked thing: its place, value, the words before it, whether 马 is in them."""

    start: int
    end: int
    value: float
    before: str
    after_noun: bool = False


def find_asked_count(flat: str, asked: AskedThing) -> float | None:
    """The one count of the asked thing; None where values differ.

    In order: the count of those that the question qualifies (戴帽子的有几人), a total, the only
    value, the value right before the name of the thing where others count other things
    (两只鹤和三只鹿). 0 where the text says that there is none.
    """
    flat = without_ranges(flat)
    found = [each for each in _counts(flat, asked) if not _OPEN.search(each.before)]
    others = bool(found) and all(_is_of_others(flat, each, asked) for each in found)
    if others and count_of_none(flat, asked) == 0:
        return 0.0
    selected = _of_them(flat, asked)
    if asked.qualifier and not selected:
        selected = {each.value for each in found if _is_qualified(flat, each, asked.qualifier)}
    if found_all := _ALL_OF.search(flat):
        return value_of_numeral(found_all["n"])
    selected = selected or _after_verb(flat, asked)
    if len(selected) == 1:
        return selected.pop()
    whole = [each for each in found if not _is_part(flat, each, asked)]
    totals = [each.value for each in whole if _is_total(flat, each)] + _bare_totals(flat)
    if asked.named and any(each.after_noun for each in whole):
        totals = [
            each.value
            for each in whole
            if _is_total(flat, each) and not _is_of_others(flat, each, asked)
        ]
    for values_found in (totals, [each.value for each in whole]):
        if len(set(values_found)) == 1:
            return values_found[0]
        if values_found:
            return _only_named(flat, whole, asked)
    return count_of_none(flat, asked)


def _of_them(flat: str, asked: AskedThing) -> set[float]:
    """The values of English counts of some of a whole (four of the nine figures are women)."""
    values = set()
    for found in _SOME_OF.finditer(flat):
        words = [word[:4] for word in re.findall(r"[a-z]{4,}", asked.qualifier)]
        named = not words and asked.noun and re.search(asked.noun, found["said"])
        value = value_of_numeral(found["n"])
        if value is not None and (named or (words and all(w in found["said"] for w in words))):
            values.add(value)
    return values


def _after_verb(flat: str, asked: AskedThing) -> set[float]:
    """The values after the verb of the question (缺少几个 – 缺 3 个)."""
    if not asked.verb:
        return set()
    found = re.finditer(rf"{asked.verb[0]}[{asked.verb}了的是约:]{{0,3}}\s?{NUMBER}", flat)
    return {value for each in found if (value := value_of_numeral(each["n"])) is not None}


def count_of_none(flat: str, asked: AskedThing) -> float | None:
    """0 where a text says that there is none of a thing, else None."""
    if not asked.noun:
        return None
    none = rf"(?:^|[,。;:]|\.\s|\bbut )\W{{0,4}}(?:{wording('counts', 'none').pattern}){asked.noun}"
    return 0.0 if re.search(none, flat) else None


def _is_total(flat: str, count: _Count) -> bool:
    """Whether a count is said to be a total, or is followed by its parts."""
    before = wording("counts", "total", "{}$").search(count.before)
    return bool(
        before or wording("counts", "then_parts").match(flat[count.end : count.end + _LEFT])
    )


def _is_of_others(flat: str, count: _Count, asked: AskedThing) -> bool:
    """Whether another noun than the asked one follows a measure word (7位人物, asked 女性)."""
    after = flat[count.end : count.end + _NEAR]
    return is_han(after[:1] or " ") and asked.noun[:1] not in after


def _bare_totals(flat: str) -> list[float]:
    """Totals without a thing after them (for a total of 5)."""
    around = rf"{{}}[|,:\s]{{0,4}}{NUMBER}(?=\s?(?:[.,;:!)。|]|[等类种]?[”」\"]?(?:[.,;:。]|$)))"
    found = wording("counts", "total", around).finditer(flat)
    return [value for each in found if (value := value_of_numeral(each["n"])) is not None]


def _only_named(flat: str, counts: list[_Count], asked: AskedThing) -> float | None:
    """The value right before the thing's name, where all others count other things."""
    if not asked.named:
        return None
    with_measure = asked.named.replace("]?", "]", 1)
    for named in (asked.named,) if asked.noun.startswith("人") else (asked.named, with_measure):
        is_named = re.compile(NUMBER + named)
        right = [each for each in counts if each.after_noun or is_named.match(flat, each.start)]
        places = {each.start for each in right}
        others = [each for each in counts if each.start not in places]
        if len({each.value for each in right}) == 1 and all(
            is_han(flat[each.end : each.end + 1] or " ") or _follows_noun(each) for each in others
        ):
            return right[0].value
    return None


def _follows_noun(count: _Count) -> bool:
    """Whether the counted noun is right before the number (男性4位)."""
    before = count.before.rstrip(": ")
    return is_han(before[-1:] or " ") and before[-1] not in _NO_NOUN


def _is_qualified(flat: str, count: _Count, qualifier: str) -> bool:
    """Whether the clause of a count has the words that the question qualifies the thing with."""
    start = max(flat.rfind(mark, 0, count.start) for mark in ",。;:\n") + 1
    stop = _CLAUSE_END.search(flat, count.end)
    clause = flat[max(start, count.start - _LEFT) : stop.start() if stop else len(flat)]
    wanted = set(filter(is_han, qualifier)) - set("的着了在有是")
    if wanted:
        return 3 * len(wanted & set(clause[: 2 * _LEFT])) >= 2 * len(wanted)
    words = [word[:4] for word in re.findall(r"[a-z]{4,}", qualifier)]
    return bool(words) and all(word in clause for word in words)


def _counts(flat: str, asked: AskedThing) -> Iterator[_Count]:
    """The counts of a thing: before its name, or after it (马只有3匹)."""
    after = rf"(?<![0-9a-z第.]){NUMBER}{asked.unit}"
    noun = re.escape(asked.noun) if not asked.noun.isascii() else asked.noun
    before = (
        rf"(?<![{MEASURES}]){noun}{_AFTER_NOUN}{NUMBER}\s?[{MEASURES}]"
        if not asked.noun.isascii()
        else rf"\bnumber of (?:[a-z-]+ ){{0,3}}?{noun}\b[^.,;0-9]{{0,40}}?\b(?:is|are|was|=|:)\s"
        rf"(?:actually |therefore |thus |really |about |only )?{NUMBER}\b"
    )
    for expression in (after,) if not asked.noun or asked.noun in _CONTAINERS else (after, before):
        for found in re.finditer(expression, flat):
            value = value_of_numeral(found["n"])
            if value is not None and not flat.startswith(tuple("群些队组"), found.end("n")):
                start = found.start("n")
                left = flat[max(0, start - _LEFT) : start]
                yield _Count(start, found.end(), value, left, expression is before)


def _is_part(flat: str, count: _Count, asked: AskedThing) -> bool:
    """Whether a number counts a part, or per something else than the question asks for."""
    if re.match(r"\s?more\b", flat[count.start + len(str(int(count.value))) :][:6]):
        return True
    part = wording("counts", "part", "{}$").search(count.before)
    if part and asked.each and part[0].startswith(("每", "each", "per", "every")):
        return re.search(asked.each, part[0]) is None
    return bool(part)


def value_of_numeral(text: str) -> float | None:
    """The value of what `NUMBER` matches."""
    if text.isascii() and text[0].isalpha():
        return parse_english_number(text)
    return parse_number(text)
