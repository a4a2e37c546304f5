"""A short answer: the phrase that a response commits itself to, with equivalent readings.

The response is cut into clauses. A clause that is denied, reported of others or left open is no
answer; of the others the last conclusion or correction decides, else the clause that repeats most
of the question. Of that clause the words that repeat the question are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.scoring.asked_frame import is_chinese
from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.clause_claims import repeats, speaks_of
from keju.scoring.clause_parts import sentences_of
from keju.scoring.clause_weights import CERTAIN, CONCLUDED, LEAST, LEFT_OPEN, PHRASE, SETTLED
from keju.scoring.english_meanings import quoted_meaning
from keju.scoring.extraction import Extracted, json_value, strict_body
from keju.scoring.frame_clauses import NAMED
from keju.scoring.frame_statements import stated_in_frame
from keju.scoring.json_answers import json_phrase, labelled_phrase
from keju.scoring.phrase_clauses import Clause, clauses_of
from keju.scoring.phrase_marks import EDGE, OUTSIDE, without_quoted
from keju.scoring.phrase_readings import gloss_of, readings_of
from keju.scoring.phrase_values import LONGEST_PHRASE, LONGEST_PLAIN, is_new, is_plain, value_of
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.short_texts import answer_text, marked_row, plain_text
from keju.scoring.sign_statements import stated_sign
from keju.scoring.typed_values import typed_value
from keju.scoring.wordings import fold, wording
from keju.text import has_han

LONGEST = 50_000
"""Of longer responses only the end is read."""

_BOX = re.compile(r"\\boxed\s{0,3}\{\s{0,3}(?:\\(?:text|mathrm|mathbf|textbf)\s{0,3}\{)?([^{}]*)\}")
_LEADS_TO_QUESTION = re.compile(
    r"^请?(?:根据|结合)[^：:。，]{1,12}(?:回答|作答)[^：:。，]{0,8}[：:]"
)
_UNMARKED = re.compile(r"[\u3400-\u9fff]+")
_LONGEST_RUN = 24
_GLOSSES = re.compile(r"[（(][^（()）]{1,40}[）)]\s?[（(][^（()）]{1,40}[）)]")
_MOST_SENTENCES, _MOST_CLAUSES = 2, 3
_MOST_WORDS = 6
_LONG, _LONGEST_BARE = 80, 12
_REPORTED = re.compile(r"[（(][^（()）]{1,80}[）)]")
_TERM = re.compile(r"\s*[“「\"]?(?P<term>[\u3400-\u9fff]{1,4})[”」\"]?\s?[：:]\s?(?=\S)")
_ENDS = "。.！!？?）)”」』》*`]】\"'"


def extract_short(text: str, question: str = "") -> Extracted:  # noqa: PLR0911
    """The phrase that a response gives as its answer, with its equivalent readings.

    JSON, a LaTeX box or a single phrase decide at once. None where the response declines, leaves
    two candidates, or says nothing that answers the question.
    """
    question = _LEADS_TO_QUESTION.sub("", question)
    body = strict_body(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    body = body[-LONGEST:]
    if marked := _marked_answer(body, question):
        return marked
    core = plain_text(body)
    if row := marked_row(core):
        return readings_of(row, question, "marked row", core)
    plain = core
    core = answer_text(_REPORTED.sub(_unless_reported, core), question)
    core = _without_asked_term(core, question)
    if wording("short", "nothing").fullmatch(fold(core).strip(EDGE)):
        return Extracted(None, "declines", body)
    if _reads_out(core, question):
        return Extracted(None, "reads the page out", body)
    if _is_cut_off(core, question):
        return Extracted(None, "cut off before the answer", body)
    if meant := _quoted_meaning(core, question):
        return readings_of(meant, question, "quoted meaning", body)
    found = _stated(plain, question, body) or _of_clauses(core, question, body)
    if found.answer and wording("short", "nothing").fullmatch(fold(found.answer).strip(EDGE)):
        return Extracted(None, "declines", body)
    whole = core.strip(OUTSIDE)
    if found.answer is None or "\n" in whole or len(whole) > LONGEST_PLAIN:
        return found
    return found._replace(others=tuple(dict.fromkeys((*found.others, whole))))


def _stated(core: str, question: str, body: str) -> Extracted | None:
    """The value of the sentence that states it in the frame of the question; None without one."""
    said = stated_in_frame(core, question)
    if said is None or said.level < NAMED or _GLOSSES.search(core):
        return None
    found = _of_clauses(said.text, question, body)
    values = [readings_of(each, question, "statement", said.text) for each in said.values]
    readings = [reading for each in values for reading in each.readings]
    if found.answer is None or (
        not _same_place(found.answer, said.value)
        and (said.own or _is_no_value(found.answer) or said.is_complete)
    ):
        return values[0]._replace(others=tuple(dict.fromkeys(readings))) if readings else None
    if not _same_place(found.answer, said.value):
        return found
    return found._replace(others=tuple(dict.fromkeys((*found.others, *readings))))


def _is_no_value(answer: str) -> bool:
    """Whether a phrase only gives a reason, or points to something (依据叶片的形态, 他)."""
    flat = fold(answer).strip(EDGE)
    lead = wording("statements", "lead").fullmatch(flat)
    return len(flat) == 1 or bool(
        lead
        or wording("statements", "no_value").match(flat)
        or wording("short", "reason").match(flat)
        or wording("statements", "pronoun").match(flat)
    )


def _same_place(answer: str, value: str) -> bool:
    """Whether two phrases are from one place: one of them contains the other."""
    left, right = (fold(each).strip(EDGE) for each in (answer, value))
    return left in right or right in left


def _marked_answer(body: str, question: str) -> Extracted | None:
    """The answer in JSON, a LaTeX box or lines of labels, or the character that is asked for."""
    if found := json_phrase(body, question):
        return readings_of(found.answer or "", question, found.rule, body)
    boxes = [box for box in _BOX.finditer(body) if box[1].strip()]
    if boxes:
        return readings_of(boxes[-1][1], question, "box", boxes[-1][0])
    if "character" in find_asked_phrase(question).kinds:
        return _sign(body, question)
    if found := labelled_phrase(body, question):
        return readings_of(found.answer or "", question, found.rule, body)
    return None


def _sign(body: str, question: str) -> Extracted:
    """The character that a response names, where one is asked for."""
    named = None if json_value(body) is not None else stated_sign(plain_text(body), question)
    if not named:
        reason = "no character is named" if named is None else "several characters"
        return Extracted(None, reason, body)
    return readings_of(named, question, "named character", body)


def _quoted_meaning(core: str, question: str) -> str:
    """The quoted meaning of an English response, where a meaning is asked for in English."""
    asked = "meaning" in find_asked_phrase(question).kinds and not is_chinese(question)
    return quoted_meaning(core) if asked and is_mostly_latin(core) else ""


def _without_asked_term(core: str, question: str) -> str:
    """A text without the quoted word of the question as its label (缘：沿着)."""
    label = _TERM.match(core)
    quoted = label and any(f"{a}{label['term']}{b}" in question for a, b in ("“”", "「」", '""'))
    return core[label.end() :] if label and quoted else core


def _unless_reported(gloss: re.Match[str]) -> str:
    """A part in brackets; nothing where it reports what others think."""
    return "" if wording("discourse", "reported").search(fold(gloss[0])) else gloss[0]


def _reads_out(core: str, question: str) -> bool:
    """Whether a response has a long text without punctuation, where no text is asked for."""
    if find_asked_phrase(question).kinds & {"text", "title"} or not question:
        return False
    run = max(_UNMARKED.findall(core), key=len, default="")
    return len(run) > _LONGEST_RUN and not wording("passages", "modern").search(fold(run))


def _is_cut_off(core: str, question: str) -> bool:
    """Whether a text of several clauses ends with the words that should introduce the answer.

    These are a link, a preposition, or the words of the question before its interrogative.
    """
    if len(core) <= _LONGEST_BARE:
        return False
    if re.search(r"[\"“「『（(《]\s*$", core) and core.count(core.rstrip()[-1]) % 2:
        return True
    if not re.search(r"[,，。;；.]", core):
        return False
    tail = re.sub(r"(?:…|\.{3}|[* ])+$", "", fold(core[-LONGEST_PHRASE:]))
    if wording("short", "link", "{}$").search(tail):
        return True
    asking = wording("short", "asking").search(fold(question))
    before = fold(question)[: asking.start()] if asking else ""
    if not (
        wording("short", "leads_on", "{}$").search(tail)
        or (len(before) > 1 and has_han(before[-2:]) and tail.endswith(before[-2:]))
    ):
        return False
    complete = core.removesuffix(list(sentences_of(core))[-1])
    return not any(each.weight >= CERTAIN for each in clauses_of(complete, question))


def _only_describes(core: str) -> bool:
    """Whether a text of three sentences or more begins as the description of an image."""
    sentences = [each for each in sentences_of(core) if each.strip(OUTSIDE)]
    clauses = re.split(r"[，,。.]", core.strip(OUTSIDE))
    return (len(sentences) > 2 or len(clauses) > 3) and bool(
        wording("short", "describes").match(fold(core).lstrip())
    )


def _of_clauses(core: str, question: str, body: str) -> Extracted:  # noqa: PLR0911
    clauses = list(clauses_of(core, question))
    if _lists_several(clauses, question) or _GLOSSES.search(core):
        return Extracted(None, "several phrases", body)
    if len(clauses) == 1 and clauses[0].weight >= 0 and is_plain(clauses[0].text, question):
        typed = typed_value(clauses[0].text, question)
        said = clauses[0].text if typed is None else typed
        return readings_of(said, question, "whole answer", body)
    spoken_in = _in_one_language(clauses, question)
    about = [
        each for each in _about(spoken_in, question) if each.weight < 0 or _is_new(each, question)
    ]
    best = _best(_defining(about, question))
    best = None if _is_taken_back(best, clauses, core) else best
    if best is None and any(each.weight >= LEAST for each in clauses):
        return Extracted(None, "nothing about what is asked", body)
    if not _is_certain(best, clauses, question) and _only_describes(core):
        return Extracted(None, "only describes", body)
    if best is None:
        return _of_whole(core, clauses, question, body)
    if _speaks_of_several(best, clauses, question):
        return Extracted(None, "several values", body)
    rule = "answer phrase" if best.weight >= PHRASE else "sentence"
    value = value_of(best.text, question)
    return readings_of(value + gloss_of(best.text, value), question, rule, best.text)


def _of_whole(core: str, clauses: list[Clause], question: str, body: str) -> Extracted:
    """The phrase that a short text without a stronger clause is; nothing if it declines."""
    if core.rstrip(" *").endswith((":", "：")):
        return Extracted(None, "no phrase is given", body)
    several = len(clauses) > _MOST_CLAUSES or _is_long_in_english(core, question)
    declined = several or any(each.weight < 0 for each in clauses) or len(core) > LONGEST_PLAIN
    if declined or wording("discourse", "refusal").search(fold(core)):
        return Extracted(None, "no phrase is given", body)
    linked = [each for each in clauses if each.weight > 0] or [
        each for each in clauses
        if not wording("short", "reason").match(fold(each.text).strip(OUTSIDE))
    ]  # fmt: skip
    said = value_of(core, question) if len(clauses) == 1 else core
    if len(linked) == 1 and len(clauses) > 1:
        said = value_of(linked[0].text, question)
    return readings_of(said, question, "whole answer", body)


def _is_long_in_english(core: str, question: str) -> bool:
    """Whether a text is a longer English sentence, where a meaning is asked for."""
    asked = "meaning" in find_asked_phrase(question).kinds and not has_han(question)
    return asked and len(core.split()) > _MOST_WORDS


def _is_taken_back(best: Clause | None, clauses: list[Clause], core: str) -> bool:
    """Whether a text ends with the conclusion that it is not known (故不详), or is cut off."""
    if best is None:
        return False
    last = clauses[-1]
    concludes = wording("discourse", "conclusion").match(fold(last.text).lstrip(OUTSIDE))
    if best.weight >= (PHRASE if concludes else CONCLUDED):
        return False
    cut = best.weight < CERTAIN and len(core) > _LONG and core[-1:] not in _ENDS
    undecided = concludes is not None or best.weight < CERTAIN
    sentence = "".join(each.text for each in clauses if each.sentence == last.sentence)
    both = best.sentence < last.sentence and wording("short", "both_remain").search(fold(sentence))
    return cut or bool(both) or (last.weight == LEFT_OPEN and undecided)


def _defining(clauses: list[Clause], question: str) -> list[Clause]:
    """The clauses that define a word, where its meaning is asked for and there are such clauses."""
    if "meaning" not in find_asked_phrase(question).kinds:
        return clauses
    if any(each.weight >= PHRASE for each in clauses):
        return clauses
    for name in ("link_meaning", "link_representing"):
        found = [
            each for each in clauses
            if each.weight >= LEAST
            and wording("short", name).search(without_quoted(fold(each.text)))
        ]  # fmt: skip
        if found:
            return [
                each for each in clauses
                if each.weight < 0 or each.weight >= SETTLED or each in found
            ]  # fmt: skip
    return clauses


def _speaks_of_several(best: Clause, clauses: list[Clause], question: str) -> bool:
    """Whether clauses give values of a category to several subjects, of which none is asked for."""
    if best.weight >= CONCLUDED or not find_asked_phrase(question).lexicon:
        return False
    values = {
        fold(value_of(each.text, question)).strip(EDGE) for each in clauses
        if each.sentence == best.sentence and each.weight > 0
        and (part := wording("yes_no", "part").match(fold(each.text).strip(OUTSIDE)))
        and part[0][:2] not in fold(question)
    }  # fmt: skip
    return len(values) > 1


def _in_one_language(clauses: list[Clause], question: str) -> list[Clause]:
    """The clauses in the language of the question, where each is said in two languages."""
    latin = [each for each in clauses if not has_han(each.text)]
    han = [each for each in clauses if each.text.strip(OUTSIDE) and not is_mostly_latin(each.text)]
    own, other = (han, latin) if has_han(question) else (latin, han)
    if len(own) + len(other) < len(clauses) or not own or not other:
        return clauses
    if len({each.sentence for each in own}) != len({each.sentence for each in other}):
        return clauses
    strongest, strong = (max(each.weight for each in part) for part in (other, own))
    comparable = strong >= LEAST and strong // CONCLUDED >= strongest // CONCLUDED
    return own if comparable else clauses


def _is_new(clause: Clause, question: str) -> bool:
    return is_new(value_of(clause.text, question), question)


def _is_certain(best: Clause | None, clauses: list[Clause], question: str) -> bool:
    """Whether a clause answers also after a description: it, or the last, says what is asked."""
    if best is None or best.weight >= CERTAIN + 5:
        return best is not None
    last = best.sentence == clauses[-1].sentence
    return best.sentence > 0 and repeats(best.text, question, least=1 if last else 2)


def _about(clauses: list[Clause], question: str) -> Iterator[Clause]:
    """The clauses without those of a longer text that do not speak of what is asked.

    A clause speaks of it where it concludes, where it shares words with the question or has a value
    of the asked category, and where it has no subject of its own. A text that later declines has
    not answered with a clause before. Clauses that state much are kept in a text of two sentences.
    """
    said = "".join(each.text for each in clauses)
    foreign = is_mostly_latin(said) and has_han(question)
    if not question or foreign or not clauses or clauses[0].sentence == clauses[-1].sentence:
        yield from clauses
        return
    sure = CERTAIN if clauses[-1].sentence < _MOST_SENTENCES else CONCLUDED
    left_open = max((each.sentence for each in clauses if each.weight == LEFT_OPEN), default=-1)
    before, announced = clauses[0], False
    for each in clauses:
        if before.sentence < each.sentence:
            announced = before.text.rstrip().endswith((":", "：", "→"))
        before = each
        speaks = each.weight < LEAST or each.weight >= sure
        if speaks or (left_open <= each.sentence and (announced or speaks_of(each.text, question))):
            yield each


def _lists_several(clauses: list[Clause], question: str) -> bool:
    """Whether a response is nothing but different phrases, one sentence or line each."""
    bare = {fold(each.text).strip(EDGE) for each in clauses if is_plain(each.text, question)}
    places = {each.sentence for each in clauses}
    short = all(len(each.text) <= _LONGEST_BARE for each in clauses)
    return len(places) > 2 and len(bare) == len(clauses) and short


def _best(clauses: list[Clause]) -> Clause | None:
    """The clause with most weight; of conclusions the last, of others the first."""
    usable = [each for each in clauses if each.weight >= LEAST]
    if not usable:
        return None
    top = max(usable, key=lambda each: each.weight // CONCLUDED)
    left_open = [each.sentence for each in clauses if each.weight == LEFT_OPEN]
    if left_open and top.weight < CONCLUDED:
        usable = [each for each in usable if each.sentence <= min(left_open)]
        return max(usable, key=lambda each: each.weight) if usable else None
    if top.weight >= CONCLUDED:
        same = [each for each in usable if each.weight // CONCLUDED == top.weight // CONCLUDED]
        last = same[-1].sentence
        at_last = [each for each in same if each.sentence == last]
        return max(reversed(at_last), key=lambda each: each.weight)
    return max(usable, key=lambda each: each.weight)
