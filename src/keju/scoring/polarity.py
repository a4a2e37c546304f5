"""Yes or no where a response says neither as a word of its own: from what its clauses state."""

from __future__ import annotations

import re

from keju.scoring.extraction import Extracted
from keju.scoring.wordings import alternatives, fold, wording
from keju.text import has_han, is_han

_CLAUSE = re.compile(
    r"[,，:：—]|\s-\s|(?=而(?:非|不是)|并非)"
    r"|(?= (?:while|whereas|but|although|rather than|instead of|and not|not on|not in) )"
)
_EDGE = " \t\r\n\u3000*_`#>。.，,、:：;；!！'\"‘’“”「」『』()（）[]【】✅❌-"
_WORD = (
    r"^\s*(?:{})(?=\s*(?:[,。.;!:—–()\-]|$"
    r"|\s(?:the|they|it|this|these|because|as|since|given|but)\b))"
)
_KIND = re.compile(r"(?P<which>[\u4e00-\u9fff]{1,4})(?P<kind>[\u4e00-\u9fff])")
_IS_A = r"(?:是|为|属|系)(?:一[件幅部张枚方座]|于)?"
_LITTLE = frozenset("着著了的有是子过吗在为于地得个这那中上可以能够会")
_VERB_ALONE = re.compile(
    r"(?:确实|的确|都|也)?(?P<denied>并?[没未不](?:有)?)?(?P<verb>[\u4e00-\u9fff]{1,2}?)[了着著过]?"
)
_VERB_DONE = re.compile(r"(?:确实|的确)?(?P<verb>[\u4e00-\u9fff])[了着著][^没未不]")
_SUBJECT = re.compile(r"([\u4e00-\u9fff]{2,4}?)(?:是|为|擅长|善|的(?:特|风|主|代))")
_OBJECT = re.compile(
    r"\b(?P<verb>(?!wear)[a-z]{3,}ing|by) (?:an? |the )?(?P<object>[a-z]{2,}(?: [a-z]+)?)$"
)
_LACKING = re.compile(r"[无未非没]([\u4e00-\u9fff])")
_SHORT_PREDICATE = 5
_BUT = re.compile(r",\s*(?:但是?|不过|然而)|\b(?:but|however),?\s")
_ASKS_OF_CERTAINTY = re.compile(
    r"(?:确定|辨认|辨识|看清|识别|判断|断定|考证)(?:吗|出|么)"
    r"|\b(?:determin|legib|readab|identif|possible to)"
)
_CANNOT = re.compile(r"不能|无法|难以|不可|cannot|can['’]t|not possible|impossible|unable")
_RATHER = re.compile(r"而是|but (?:rather )?(?:an?|the|from|by|in|on|it is)\b")
_BUT_FIRST = re.compile(r"但|不过|只是|仅|尽管|虽|although|though|but|only")
_CONCEDES = re.compile(r"只是|只不过|仅仅?是|(?:just|only|except)\b")
_PLACES = frozenset({"image", "there", "pictur", "photo", "painti", "this"})
_TWO_WORDS = 2
_THERE = re.compile(r"\b(?:is|are) there\b")
_CATEGORIES = ("dynasty", "script", "posture", "sex")
_LONGEST = 4_000
_SENTENCES = 40
_COMMON = frozenset(
    [
        "the",
        "this",
        "that",
        "these",
        "those",
        "are",
        "and",
        "with",
        "from",
        "image",
        "can",
        "does",
        "they",
        "same",
    ]
)
_HAN_COMMON = frozenset(
    ["是否", "是不", "不是", "图中", "这两", "两个", "这个", "请用", "用是", "请回", "回答"]
)


def extract_stated_yes_no(body: str, question: str = "") -> Extracted | None:
    """Yes or No from the clauses of a response; None where they state neither.

    A conclusion or a correction takes precedence over earlier clauses; else the first clause that
    says yes or no, or affirms or denies what the question asks.
    """
    sentences = [
        each for each in re.split(r"(?<=[。！!?？；;\n])|(?<=\.)\s", body[-_LONGEST:]) if each
    ]
    first: Extracted | None = None
    last: Extracted | None = None
    found_last: Extracted | None = None
    for sentence in sentences[-_SENTENCES:]:
        flat = fold(sentence).strip(_EDGE)
        if wording("yes_no", "weighs").search(flat):
            continue
        if not flat or flat.endswith(("吗", "?")) or wording("discourse", "reported").match(flat):
            continue
        decided = wording("yes_no", "concluded").search(flat)
        if wording("yes_no", "criteria").search(flat) and not decided:
            continue
        if wording("short", "describes").match(flat) and not _asks_of_the_image(question):
            continue
        said = _of_sentence(flat, fold(question))
        if said is None:
            continue
        found = Extracted(said or None, "statement" if said else "neither yes nor no", sentence)
        concludes = wording("yes_no", "decides").match(flat) or _closes_with_a_word(flat)
        if concludes or wording("discourse", "correction").search(flat):
            last = found
        first, found_last = first or found, found
    if last is None and first and found_last is not None and not found_last.answer:
        return found_last
    return last or first


def _closes_with_a_word(flat: str) -> bool:
    """Whether a sentence ends with a word that concludes, and yes or no (…, so: no)."""
    clauses = [clause for each in _CLAUSE.split(flat) if (clause := each.strip(_EDGE))]
    return (
        len(clauses) > 1
        and _single_word(clauses[-1]) is not None
        and wording("yes_no", "decides").fullmatch(clauses[-2]) is not None
    )


def _asks_of_the_image(question: str) -> bool:
    """Whether a description of the image can answer: what it shows, or whether it has it."""
    asked = fold(question)
    return bool(
        wording("yes_no", "exists").search(asked)
        or wording("short", "asks_to_describe").search(asked)
    )


def _of_sentence(flat: str, asked: str) -> str | None:  # noqa: PLR0911
    """Yes, No, an empty text for a doubt, or None where a sentence says nothing of it."""
    if doubt := wording("yes_no", "doubt").search(flat):
        if _ASKS_OF_CERTAINTY.search(asked) and _CANNOT.search(flat):
            return "No"
        but = _BUT.search(flat, doubt.end())
        return _of_sentence(flat[but.end() :].strip(_EDGE), asked) if but else ""
    core = flat
    for name in ("decides", "correction", "hedge"):
        file = "discourse" if name == "correction" else "yes_no"
        while (lead := wording(file, name, "{}[,:\\s]*").match(core)) and lead.end():
            core = core[lead.end() :].strip(_EDGE)
    if wording("yes_no", "no", _WORD).match(core):
        return "No"
    if wording("yes_no", "yes", _WORD).match(core):
        return "Yes"
    part = wording("yes_no", "only_a_part").match(core)
    if part and wording("yes_no", "asks_of_all").search(asked):
        return "No"
    clauses = [clause for each in _CLAUSE.split(core) if (clause := each.strip(_EDGE))]
    if _closes_with_a_word(core):
        return _single_word(clauses[-1])
    if word := _last_word(clauses) or (alone_word(clauses[0]) if clauses else None):
        return word
    if compared := _of_two_values(core, asked):
        return compared
    denied = [place for place, each in enumerate(clauses) if _of_clause(each, asked) == "No"]
    clauses = [
        each for place, each in enumerate(clauses)
        if not (denied and place > denied[0] and _RATHER.match(each))
    ]  # fmt: skip
    said = [found for each in reversed(clauses) if (found := _of_clause(each, asked))]
    if not said:
        return None
    return "" if _is_divided(clauses, said, asked) else said[0]


def alone_word(said: str) -> str | None:
    """Yes or No of words that say it as a whole answer (存在, they do); else None."""
    flat = fold(said)
    if wording("yes_no", "yes_alone").fullmatch(flat):
        return "Yes"
    return "No" if wording("yes_no", "no_alone").fullmatch(flat) else None


def _single_word(said: str) -> str | None:
    """Yes or No of a word for it, or of words that say it as a whole answer."""
    for name, word in (("no", "No"), ("yes", "Yes")):
        if wording("yes_no", name).fullmatch(said):
            return word
    return alone_word(said)


def _of_two_values(core: str, asked: str) -> str:
    """Yes or No where each of two compared characters is read (左边释未, 右边释末)."""
    differing = bool(wording("yes_no", "asks_differing").search(asked))
    if not differing and not wording("yes_no", "asks_alike").search(asked):
        return ""
    read = [each["value"] for each in wording("yes_no", "one_of_two").finditer(core)]
    if len(read) != 2:
        return ""
    return "Yes" if (read[0] == read[1]) != differing else "No"


def _last_word(clauses: list[str]) -> str:
    """Yes or No where the last clause concludes with that word (左为羊，右为牛，因此否)."""
    lead = wording("yes_no", "decides", "(?:{}[:,\\s]*)+").match(clauses[-1]) if clauses else None
    rest = clauses[-1][lead.end() :] if lead else ""
    if (hedge := wording("yes_no", "hedge", "{}[, ]*").match(rest)) and hedge.end() < len(rest):
        return alone_word(rest[hedge.end() :]) or ""
    if rest and (alone := alone_word(rest.strip(_EDGE))):
        return alone
    for name, word in (("no", "No"), ("yes", "Yes")):
        if rest and wording("yes_no", name, "{}\\W*").fullmatch(rest):
            return word
    return ""


def _is_divided(clauses: list[str], said: list[str], asked: str) -> bool:
    """Whether clauses speak of several subjects in turn, of which not all are alike."""
    if wording("yes_no", "of_a_pair").search(asked) or wording("yes_no", "exists").search(asked):
        return False
    parts = sum(bool(wording("yes_no", "part").match(each)) for each in clauses)
    return parts > 1 and (len(set(said)) > 1 or len(said) < parts)


def _of_clause(clause: str, asked: str) -> str:  # noqa: PLR0911
    """Yes or No of a clause that speaks about what is asked; else an empty text."""
    denied = bool(wording("yes_no", "denies").search(wording("yes_no", "double").sub(" ", clause)))
    lacking = _LACKING.search(clause)
    if lacking and lacking[1] != "有" and lacking[1] in _predicate(asked):
        return "No"
    other = wording("yes_no", "not_that").search(clause)
    if other and re.search(rf"\b{other['word']}\b", _predicate(asked)):
        return "No"
    like = wording("yes_no", "more_like").search(clause)
    if like and like["word"] not in asked:
        return "No"
    if said := _of_presence(clause, asked, denied=denied) or _of_likeness(
        clause, asked, denied=denied
    ):
        return said
    if wording("yes_no", "joins").search(clause):
        return "No" if denied else "Yes"
    if _has_another_object(clause, asked):
        return "No"
    if _is_another_kind(clause, asked) or _is_unlike(clause, asked):
        return "No"
    if _speaks_of_the_value(clause, asked):
        return ""
    if _is_of_other_things(clause, asked, denied=denied):
        return _verb_alone(clause, asked)
    if _about(clause, asked):
        return "No" if denied or _has_contrary(clause, asked) else "Yes"
    if _has_contrary(clause, asked):
        return "Yes" if denied else "No"
    return _verb_alone(clause, asked)


def _is_of_other_things(clause: str, asked: str, *, denied: bool) -> bool:
    """Whether a clause does not say what is asked of a pair, or of the presence of a thing."""
    if not wording("yes_no", "asks_alike").search(asked):
        return not denied and bool(_THERE.search(asked)) and not has_han(clause)
    pair = has_han(clause) or denied or wording("yes_no", "the_pair").match(clause)
    return not pair or not wording("yes_no", "asks_alike").search(clause)


def _of_presence(clause: str, asked: str, *, denied: bool) -> str:
    """Yes or No of a clause that says whether there is what a question asks after."""
    if not wording("yes_no", "exists").search(asked) or has_han(clause):
        return ""
    wanted = _contents(asked) - _PLACES
    near = wanted & _contents(clause)
    said = wording("yes_no", "presence").search(clause) and len(near) >= min(
        _TWO_WORDS, len(wanted)
    )
    if not said and not wording("yes_no", "there_is").search(clause):
        return ""
    return "No" if denied else "Yes"


def _of_likeness(clause: str, asked: str, *, denied: bool) -> str:
    """Yes or No of a clause that says whether two things are alike, where that is asked."""
    differing = bool(wording("yes_no", "asks_differing").search(asked))
    if not differing and not wording("yes_no", "asks_alike").search(asked):
        return ""
    aspect = wording("yes_no", "aspect").search(clause)
    concerns_another = aspect and aspect[0].rstrip("s") not in asked and _BUT_FIRST.match(clause)
    if concerns_another or _CONCEDES.match(clause):
        return ""
    if wording("yes_no", "differs").search(clause):
        return "Yes" if differing else "No"
    if wording("yes_no", "same_character").search(clause):
        return "Yes" if denied == differing else "No"
    of_the_pair = wording("yes_no", "the_pair").match(clause) or _shares(clause, _contents(asked))
    if wording("yes_no", "alike").search(clause) and of_the_pair:
        return "Yes" if denied == differing else "No"
    return ""


def _predicate(asked: str) -> str:
    """The predicate that a question asks about (绢本, 戴着帽子); the question if it is open."""
    found = wording("yes_no", "predicate").search(asked)
    said = next((group for group in found.groups() if group), asked) if found else asked
    return re.sub(r"^(?:为|是|属于)(?=..)", "", said)


def _verb_alone(clause: str, asked: str) -> str:
    """Yes or No of a clause that is only the asked verb (戴了, 并未出现)."""
    found = _VERB_ALONE.fullmatch(wording("yes_no", "decides", "^{}").sub("", clause))
    predicate = _predicate(asked).strip(_EDGE)
    if found and len(found["verb"]) > 1 and found["verb"] in asked:
        return "No" if found["denied"] else "Yes"
    worn = _VERB_DONE.match(clause)
    if worn and len(predicate) > 1 and predicate.startswith(worn["verb"]):
        return "Yes"
    if not found or len(found["verb"]) > len(predicate) or not predicate.startswith(found["verb"]):
        return ""
    return "No" if found["denied"] else "Yes"


def _about(clause: str, asked: str) -> bool:
    """Whether a clause has most of the asked predicate."""
    predicate = _predicate(asked)
    if has_han(predicate):
        marked = set(filter(is_han, predicate)) - _LITTLE
        said = marked & set(clause)
        if marked and len(marked) <= _SHORT_PREDICATE:
            return len(said) >= (len(marked) if len(marked) < 3 else len(marked) - 1)
        return _shares(clause, _contents(predicate))
    return _shares(clause, _contents(predicate))


def _shares(clause: str, words: set[str]) -> bool:
    return bool(words) and len(words & _contents(clause)) >= max(1, (len(words) + 1) // 3)


def _has_contrary(clause: str, asked: str) -> bool:
    """Whether a clause has the contrary of what is asked (incomplete, 赝品 for 真迹)."""
    predicate = _predicate(asked)
    if any(
        re.search(asks, predicate) and re.search(contrary, clause)
        for asks, contrary in zip(
            alternatives("yes_no", "contrary_asked"),
            alternatives("yes_no", "contrary"),
            strict=True,
        )
    ):
        return True
    words = set(re.findall(r"[a-z]{5,}", _predicate(asked)))
    said = re.findall(r"\b(?:in|un|il|im|ir|non-?|dis|a)([a-z]{5,})", clause)
    return any(each in words for each in said)


def _is_another_kind(clause: str, asked: str) -> bool:
    """Whether a clause names another kind than the asked one (是绢本吗 - 为纸本)."""
    if _is_another_value(clause, asked):
        return True
    found = _KIND.fullmatch(_predicate(asked).strip(_EDGE))
    if not found or found["which"] in clause or wording("yes_no", "denies").search(clause):
        return False
    if wording("yes_no", "asks_alike").search(asked) or not re.search(_IS_A + found[0], asked):
        return False
    stated = re.search(rf"(?:^|{_IS_A})(?P<which>[^\W是为属系有无]{{1,4}}){found['kind']}$", clause)
    return stated is not None and found["which"][0] not in stated["which"]


def _has_another_object(clause: str, asked: str) -> bool:
    """Whether a clause has the asked English verb with another object (riding a donkey)."""
    wanted = _OBJECT.search(_predicate(asked).strip(_EDGE))
    if not wanted:
        return False
    said = re.search(rf"\b{wanted['verb']} (?:an? |the )?(?!(?:it|one|them)\b)[a-z]", clause)
    return bool(said) and wanted["object"] not in clause


def _is_unlike(clause: str, asked: str) -> bool:
    """Whether a clause says that something is not like the asked kind (绢本 – 不像绢)."""
    found = _KIND.fullmatch(_predicate(asked).strip(_EDGE))
    return found is not None and bool(
        re.search(rf"不(?:太)?[像似是]{{1,2}}{found['which']}", clause)
    )


def _speaks_of_the_value(clause: str, asked: str) -> bool:
    """Whether a clause has the asked value as its subject, so says nothing of the asked subject."""
    found = _SUBJECT.match(clause)
    if found is None:
        return False
    return asked.rfind(found[1]) > 0 and _predicate(asked).startswith(found[1])


def _is_another_value(clause: str, asked: str) -> bool:
    """Whether a clause states another value of the category of which one is asked for."""
    if wording("yes_no", "denies").search(clause) or wording("yes_no", "of_a_pair").search(asked):
        return False
    for category in _CATEGORIES:
        values = wording("categories", f"{category}_values")
        wanted = {each[0].rstrip("代朝") for each in values.finditer(_predicate(asked))}
        said = {each[0].rstrip("代朝") for each in values.finditer(clause)}
        if len(wanted) == 1 and said and not wanted & said:
            return True
    return False


def _contents(flat: str) -> set[str]:
    han = "".join(char if is_han(char) else " " for char in flat)
    pairs = {han[at : at + 2] for at in range(len(han) - 1) if " " not in han[at : at + 2]}
    words = {word[:6] for word in re.findall(r"[a-z]{4,}", flat)} - {w[:6] for w in _COMMON}
    return (pairs - _HAN_COMMON) | words
