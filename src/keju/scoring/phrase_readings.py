"""The equivalent readings of the value of a short answer, the barest one first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.categories import of_category, of_kind
from keju.scoring.extraction import Extracted
from keju.scoring.phrase_forms import number_of, one_dynasty, proper_name, years_of
from keju.scoring.phrase_marks import EDGE, GLOSS, OPEN, QUOTED
from keju.scoring.phrase_values import (
    LIGHT,
    LONGEST_PHRASE,
    LONGEST_READING,
    trimmed_phrase,
    without_marks,
)
from keju.scoring.wordings import fold, wording
from keju.text import all_han, has_han, is_han

_GLOSS_END = re.compile(r"[,，;；]")
_ITALIC = re.compile(r"(?<!\*)\*([^*\n]{2,40})\*(?!\*)")
_OF_SYNONYMS = re.compile(
    r"[\u4e00-\u9fff]{1,8}(?=[、；;，,])|[a-z][a-z ]{1,20}?(?=[;,]| or |\s?/)", re.IGNORECASE
)
_NEAR_PLACE = re.compile(
    r"(?<=..)(?:军中|城中|城下|城内|境内|附近|一带|岸边|脚下|边上|边|地区|旁)$"
)
_DEVICE = re.compile(r"(?<=..)(?:句式|句法|手法|修辞(?:手法|格)?|辞格|句)$")
_ASKS_ORIGIN = re.compile(r"(?:哪|什么|何)[^,?。]{0,6}人[?。]*$|籍贯|哪里人")
_LOCATED = re.compile(
    r"(?:位于|挂在|放在|[在于])?(?P<thing>[\u4e00-\u9fff]{1,12}?)(?:之)?(?:上|中|里|内|下|旁|边|前|后)(?:面|方|边|头)?"
)
_ARTICLE = re.compile(r"(?:an?|the|some)\s+", re.IGNORECASE)
_QUALIFIER = r"(?!(?:in|on|at|the|an?|his|her|its|of|with|is|was|by|to|and)\b)[a-z'-]+ "


def readings_of(said: str, question: str, rule: str, source: str) -> Extracted:
    """The phrase with its readings, the barest one first."""
    core = said.replace("**", "").replace("`", "").strip(LIGHT)
    chosen = _of_lexicon(_in_language(core, question), question)
    trimmed = trimmed_phrase(chosen, question)
    quoted = [each["inside"] or each["single"] for each in QUOTED.finditer(chosen)]
    quoted = [each for each in quoted if each in trimmed and not _is_work(each, chosen, question)]
    found = [*_of_person(trimmed, question)]
    found += [quoted[0]] if chosen[:1] in '“「『《"‘' and quoted else []
    found.append(_without_article(trimmed))
    if len(quoted) == 1 and len(chosen) <= LONGEST_PHRASE + len(quoted[0]):
        found.append(quoted[0])
    italic = _ITALIC.findall(chosen)
    found += italic if len(italic) == 1 else []
    found += [*proper_name(trimmed), *proper_name(chosen)]
    found += [*_by_gloss(core), *_barer(trimmed, question)]
    found += [chosen[:-1]] if _ASKS_ORIGIN.search(fold(question)) and chosen[-1:] == "人" else []
    found += [*_of_english_noun(chosen, find_asked_phrase(question).noun)]
    found += [*years_of(trimmed, question), *number_of(trimmed, question)]
    found += filter(None, (one_dynasty(each, question) for each in (trimmed, core)))
    found += [trimmed_phrase(chosen, ""), _without_article(chosen), chosen, core.strip(EDGE)]
    found += [
        place["thing"] for each in (trimmed, chosen)
        if len(each) <= LONGEST_PHRASE and (place := _LOCATED.fullmatch(each))
        and len(place["thing"]) > 1
    ]  # fmt: skip
    bare = (without_marks(each) for each in found)
    readings = list(
        dict.fromkeys(each for each in bare if each.strip(EDGE) and len(each) <= LONGEST_READING)
    )
    if not readings:
        return Extracted(None, "no phrase is given", source)
    return Extracted(readings[0], rule, source, tuple(readings[1:]))


def _without_article(phrase: str) -> str:
    return _ARTICLE.sub("", phrase, count=1) if _ARTICLE.match(phrase) else phrase


def _by_gloss(core: str) -> Iterator[str]:
    """The two names of a phrase that is given in two scripts."""
    bare = GLOSS.sub("", core)
    for gloss in GLOSS.finditer(core):
        if len(core) <= LONGEST_PHRASE and _other_name(bare, gloss[0].strip(EDGE)):
            yield bare
            yield gloss[0].strip(EDGE)


def _barer(trimmed: str, question: str) -> Iterator[str]:
    """A phrase without title, modifiers, unit, or the noun of the asked category."""
    flat = fold(trimmed)
    if title := wording("short", "person").match(flat):
        yield trimmed[title.end() :]
    if "person" in find_asked_phrase(question).kinds and (
        office := wording("short", "office_of").match(flat)
    ):
        yield trimmed[office.end() :]
    if (stop := wording("short", "phrase_end").search(flat)) and stop.start() > 1:
        short = trimmed[: stop.start()]
        yield from map(_without_article, (short, trimmed_phrase(short, question)))
    if "doing" in find_asked_phrase(question).kinds and (
        place := wording("short", "doing_at").match(flat)
    ):
        yield trimmed[place.end() :]
    if "年号" in fold(question) and (era := wording("short", "era").search(flat)):
        yield trimmed[era.start() : era.end("era")]
    yield from _without_noun(trimmed, question)
    if (size := wording("short", "size").match(flat)) and size.end() < len(trimmed):
        yield trimmed[size.end() :]
    for name in ("unit", "ordinal"):
        if number := wording("short", name).fullmatch(flat):
            yield next(group for group in number.groups() if group)
    yield from of_category(trimmed, question)
    yield from of_kind(trimmed, question)
    noun = find_asked_phrase(question).noun[:1]
    if noun and not noun.isascii() and (owner := re.match(rf"[^的]*{noun}(?=的)", trimmed)):
        yield owner[0]
    last = trimmed.rpartition("的")[2]
    if "的" in trimmed[:-1] and has_han(question) and last[0] not in OPEN:
        yield trimmed_phrase(last, question)


def _without_noun(trimmed: str, question: str) -> Iterator[str]:
    """A phrase without a noun at its end that its question makes superfluous; one of synonyms."""
    kinds = find_asked_phrase(question).kinds
    if "修辞" in question and (device := _DEVICE.search(trimmed)):
        yield trimmed[: device.start()]
    if "place" in kinds and (near := _NEAR_PLACE.search(trimmed)):
        yield trimmed[: near.start()]
    if "meaning" in kinds and (several := _OF_SYNONYMS.match(trimmed)):
        yield several[0]
    if len(trimmed) > 1 and trimmed[-1] == "人" and _ASKS_ORIGIN.search(fold(question)):
        yield from (trimmed[:-1], *of_category(trimmed[:-1], question))


def _is_work(quoted: str, phrase: str, question: str) -> bool:
    """Whether what is quoted is the title of a work where a person is asked for."""
    return f"《{quoted}》" in phrase and "person" in find_asked_phrase(question).kinds


def _of_person(trimmed: str, question: str) -> Iterator[str]:
    """The person in a phrase that names a work too (仇英的《汉宫春晓图》)."""
    if "person" not in find_asked_phrase(question).kinds:
        return
    if (work := wording("short", "of_a_work").fullmatch(fold(trimmed))) and work["who"]:
        who = trimmed[: work.end("who")]
        title = wording("short", "office_of").match(fold(who))
        yield from ((who[title.end() :], who) if title else (who,))


def _of_english_noun(chosen: str, noun: str) -> Iterator[str]:
    """The asked noun with the words that qualify it (holds it in his right hand → right hand)."""
    if noun and noun.isascii():
        for found in re.finditer(rf"\b(?:{_QUALIFIER}){{1,2}}{noun}\b", fold(chosen)):
            phrase = chosen[found.start() : found.end()]
            yield from (phrase, wording("short", "size").sub("", phrase))


def _of_lexicon(chosen: str, question: str) -> str:
    """The one season, colour or script in a phrase, where the question asks for one."""
    lexicon = find_asked_phrase(question).lexicon
    if not lexicon:
        return chosen
    found = {each[0]: each for each in re.finditer(lexicon, fold(chosen))}
    if len(found) != 1:
        return chosen
    (only,) = found.values()
    return chosen[only.start() : only.end()]


def _in_language(core: str, question: str) -> str:
    """A phrase without its gloss; the gloss where that is in the language of the question."""
    names = re.split(r"\s+[/|]\s+", core)
    if len(names) == 2 and question:
        own = [each for each in names if has_han(each) == has_han(question)]
        core = own[0] if len(own) == 1 else core
    bare = GLOSS.sub("", core).strip()
    glosses = [_GLOSS_END.split(each[0].strip(" （()）[]"))[0] for each in GLOSS.finditer(core)]
    if not bare.strip(EDGE):
        return core
    if question and glosses and has_han(question) and not has_han(bare):
        han = [each for each in glosses if each and all(is_han(char) for char in each)]
        return han[0] if han else bare
    if question and glosses and not has_han(question) and has_han(bare):
        latin = [each for each in glosses if _other_name(bare, each)]
        return latin[0] if latin and len(core) <= LONGEST_PHRASE else bare
    return bare


def gloss_of(clause: str, value: str) -> str:
    """The gloss right after a value, in brackets, that names it in another script."""
    plain, name = clause.replace("*", ""), value.replace("*", "").strip(EDGE)
    if not name or len(name) > LONGEST_PHRASE:
        return ""
    for found in GLOSS.finditer(plain):
        before = plain[max(0, found.start() - LONGEST_PHRASE - 2) : found.start()].rstrip()
        if before.endswith(name) or any(
            before.endswith(name[:end]) for end in range(3, len(name)) if name[end] == " "
        ):
            gloss = _GLOSS_END.split(found[0].strip(EDGE))[0]
            return f" ({gloss})" if _other_name(value, gloss) else ""
    return ""


def _other_name(value: str, gloss: str) -> bool:
    """Whether a gloss is a name in Han characters for one in Latin letters, or the reverse."""
    latin = re.compile(r"[A-Za-zÀ-ɏ' -]{2,40}")
    if has_han(value):
        return bool(latin.fullmatch(gloss))
    return bool(gloss) and all_han(gloss)
