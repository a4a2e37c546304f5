"""Short answers: a phrase that is alone, announced or labelled, or completes a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.extraction.answer import EDGES, Answer, Reading, plain, sentences_of, unclear
from keju.extraction.completions import OPENING, completions
from keju.extraction.numbers import MEASURE
from keju.extraction.words import fold, has, words
from keju.text import count_han, has_han, parse_english_number, parse_number

_GLOSS = re.compile(r"\s*[(（\[][^()（）]*[)）\]]\s*$")
_NUMBER = re.compile(r"\d[\d,.]*|[零〇一二两三四五六七八九十百千廿卅]+|\b(?:one|two|three)\b")
_COUNTED = re.compile(
    rf"(?:公元|西元|第|about |approximately |大?约)?\s?({_NUMBER.pattern})"
    rf"\s?(?:{MEASURE}?([\u4e00-\u9fff]{{0,4}})|CE|AD|BCE|years?(?: old)?|[a-z]+)",
)
_QUOTE = re.compile(r"[“「『《\"【]+([^”」』》\"】\n]{1,40})[”」』》\"】]+")
_BOLD = re.compile(r"\*\*([^*\n:：]{1,40})\*\*(?!\s*[:：–—])")
_LONGEST = 200
"""Characters of a text that may be a phrase."""
_KINDS = "asks_character asks_number asks_book asks_meaning"
_CLAUSE = re.compile(r"(?<=[，；,;])(?![^“「『《\"(（]*[”」』》\")）])")


def value(text: str, answer: Answer) -> str | None:
    """A text as the phrase that it is; None where it is a clause."""
    phrase = _phrase(text, answer)
    return None if phrase is None or has("clause", fold(phrase)) else shortest(phrase, answer)


def alone(text: str, answer: Answer) -> str | None:
    """A text that is nothing but a short phrase, or a line that is one in quotation marks."""
    phrase, is_marked = value(text, answer), re.match(r"[“「『《【*]", text)
    if phrase is None or _share(phrase, answer.query) or has("no_value", fold(phrase)):
        return None
    is_long = count_han(phrase) > 4 or len(phrase.split()) > 3
    is_all = len(answer.sentences) == 1 and text == answer.marked
    is_foreign = has_han(phrase) and not has_han(answer.question) and not is_all
    is_foreign = is_foreign and not has("asks_character", answer.query)
    is_line = text in answer.marked.split("\n")
    in_prose = len(answer.sentences) > 2 and not (is_marked and is_line)
    if (
        is_foreign
        or in_prose
        or (is_long and not (is_marked or is_all or _has_asked_length(phrase, answer)))
    ):
        return None
    return phrase


def shortest(phrase: str, answer: Answer) -> str:
    """A phrase without words that only say of what kind it is (哪个朝代: 明代), or its number."""
    match = words("asks_number").search(answer.query) and _COUNTED.fullmatch(fold(phrase))
    if match and (not match[2] or match[2] in answer.query):
        number = parse_number(match[1])
        number = parse_english_number(match[1]) if number is None else number
        return phrase if number is None else f"{number:.10g}"
    return phrase


def otherwise(answer: Answer) -> Reading:
    """The phrase that the sentences state: those that conclude, else all of them."""
    text = plain(_BOLD.sub(r"“\1”", answer.marked))
    if answer.refuses:
        return unclear("refusal")
    full: dict[str, str] = {}
    elliptic: dict[str, str] = {}
    for completion in completions(answer, text):
        if phrase := _completing(completion.phrase, answer):
            phrases = elliptic if completion.is_elliptic else full
            if (
                phrases is full
                or full
                or _has_asked_length(phrase, answer)
                or completion.phrase[:1] in OPENING
            ):
                phrases[phrase] = completion.sentence
    if len(full | elliptic) == 1:
        rule = "completes the question" if full else "concluded"
        ((phrase, sentence),) = (full or elliptic).items()
        return Reading("read", phrase, rule, sentence)
    if full or elliptic:
        return unclear("several")
    lines = sentences_of(text)
    statements = [(fold(line), list(_statements(line, answer, len(lines)))) for line in lines]
    concluding = [names for line, names in statements if names and has("conclusion", line)]
    names = concluding[-1] if concluding else [name for _, names in statements for name in names]
    if len(set(names)) != 1:
        return unclear("several" if names else "silent")
    return Reading("read", shortest(names[0], answer), "stated", names[0])


def _has_asked_length(phrase: str, answer: Answer) -> bool:
    """Whether a phrase has as many characters as the question asks for (请用三个字回答)."""
    size = words("length").search(answer.query)
    return size is not None and parse_number(size[1]) == len(phrase)


def _completing(text: str, answer: Answer) -> str | None:
    """The phrase of a completion, without the titles of a person."""
    quoted = _QUOTE.match(text)
    if quoted:
        behind = text[quoted.end() :]
        if _QUOTE.search(behind) or not words("quote_end").match(fold(behind) or "。"):
            return None
        phrase = _phrase(quoted[0] if quoted[0][0] == "《" else quoted[1], answer, most_words=12)
        return None if phrase is None else shortest(phrase, answer)
    text = words("final_particle").sub("", text.strip())
    if has("asks_who", answer.query) and (title := words("person_lead").match(fold(text))):
        text = text[title.end() :] if len(text) - title.end() > 1 else text
    phrase = _phrase(text, answer)
    if phrase is None or has("clause no_value loose_phrase", fold(phrase)):
        return None
    lists_people = "、" in phrase and has("asks_who", answer.query)
    return None if lists_people or has("attribute", fold(phrase)) else shortest(phrase, answer)


def _phrase(text: str, answer: Answer, most_words: int = 6) -> str | None:
    """A text without marks, glosses and articles, where it is a phrase of the kind asked for."""
    if len(text) > _LONGEST or has("hedge", fold(_QUOTE.sub("“”", text))):
        return None
    core = re.sub(r"\*([^*\n]+)\*", r"\1", plain(text)).strip().rstrip("。.!！;；,，:： ")
    core = words("particle").sub("", core)
    if core.count('"') % 2 or core.count("“") != core.count("”"):
        return None
    core = re.split(r"(?<=\S)\s*(?:—+|\s–|\s-)\s*(?=\S)", core)[0]
    if (gloss := _GLOSS.search(core)) and gloss.start() > 0:
        inside, outside = gloss[0].strip(" ()（）[]"), core[: gloss.start()]
        swap = has_han(answer.question) and has_han(inside) and not has_han(outside)
        core = inside if swap else outside
        if _GLOSS.search(core):
            return None
    core = re.sub(r"([”」』》])(?:字|一字|[二两三四]个?字|一词)$", r"\1", core.strip()).strip(EDGES)
    lead = words("phrase_lead").match(fold(core))
    core = core[lead.end() if lead else 0 :].strip(EDGES)
    titles = re.findall(r"《([^《》]+)》?", core)
    core = titles[0] if len(titles) == 1 and has("asks_book", answer.query) else core
    if len(core.split()) > most_words or _is_sentence(core, answer.query):
        return None
    return _of_kind(core, answer.query)


def _is_sentence(core: str, query: str) -> bool:
    """Whether a text is empty, long, open, or has the words of a sentence."""
    has_marks = re.search(r"[，。；！？,;!?\n|/=:：*→<>]|^\d+[.、]", core)
    if count_han(core) > 14 or has_marks or not re.search(r"\w", core):
        return True
    describes = "的" in core and has("asks_who", query)
    core = core.removeprefix("to ") if has("asks_meaning", query) else core
    return describes or has("no_phrase refusal doubt hedge", fold(core))


def _of_kind(core: str, query: str) -> str | None:
    """A phrase, where it is of the kind that is asked for."""
    if has("asks_character", query):
        core = core[0] if len(core) == 2 and core[1] == "字" else core
        return core if count_han(core) == len(core) == 1 else None
    if has("asks_meaning", query) and has_han(core):
        return None
    return core if not has("asks_number", query) or _NUMBER.search(fold(core).lower()) else None


def _share(text: str, query: str) -> float:
    """The share of the pairs of characters, or of the longer words, that the question has too."""
    folded, question = fold(text).lower(), re.sub(r"[^\w ]", "", query)
    bare = re.sub(r"[^\w]", "", folded)
    parts = [bare[index : index + 2] for index in range(len(bare) - 1)]
    if not has_han(folded):
        parts = [word for word in folded.split()[:-1] if len(word) > 4]
    return sum(part in question for part in parts) / len(parts) if parts else 0.0


def _statements(sentence: str, answer: Answer, lines: int) -> Iterator[str]:
    """The phrases that the clauses of a sentence state of what is query, and do not deny."""
    if len(sentence) > 2 * _LONGEST or has("hedge", fold(sentence)):
        return
    for clause in _CLAUSE.split(re.sub(r"[(（][^()（）]*[)）]", "", sentence)):
        if not has("denial draft maybe condition", fold(clause)):
            quotes = [match[1] for match in _QUOTE.finditer(clause)]
            new = [quote for quote in quotes if fold(quote).lower() not in answer.query]
            yield from _quoted(clause, answer, lines) if new else _bare(clause, answer)


def _quoted(clause: str, answer: Answer, lines: int) -> Iterator[str]:
    """The quoted phrases that a clause states of what is asked."""
    for match in _QUOTE.finditer(clause):
        before, behind = fold(clause[: match.start()]), fold(clause[match.end() :])
        names_asked = behind[:1] == "的" and behind[1:3] in answer.query
        is_ended = names_asked or words("quote_end").match(behind)
        is_title = match[0][0] == "《" and has("asks_who", answer.query)
        is_deictic = lines == 1 and has("asks_identity", answer.query) and has("deixis", before)
        concludes = has(_KINDS, answer.query) and has("conclusion", before)
        is_about = is_deictic or concludes or _share(before, answer.query) >= 0.5
        phrase = _phrase(match[1], answer)
        is_signature = has("asks_who", answer.query) and count_han(match[1]) > 4
        if (
            phrase
            and not is_signature
            and is_ended
            and is_about
            and not is_title
            and has("stating", before)
        ):
            yield phrase


def _bare(clause: str, answer: Answer) -> Iterator[str]:
    """The phrase without quotation marks that completes a clause in the words of the question."""
    verbs = list(words("verb").finditer(fold(clause)))
    before = fold(clause)[: verbs[-1].end()] if verbs else ""
    remainder = re.split(r"[，。；,;:]", clause[len(before) :])[0].strip()
    head, of, kind = remainder.rpartition("的")
    phrase = value(head if of and kind and fold(kind) in answer.query else remainder, answer)
    is_echo = before.strip()[-3:] in answer.query
    concludes = has(_KINDS, answer.query) and has("conclusion", before)
    if phrase is None or not (is_echo or concludes) or has("attribute", fold(phrase)):
        return
    size = count_han(phrase) if verbs and fold(phrase) not in answer.query else 0
    if 0 < size <= (8 if concludes else 4):
        yield phrase
