"""Whether a response gives no answer: it declines, breaks off, or finds that all options fit.

Decided for every form before a value is sought. What a response has committed itself to (an answer
label, a box, JSON, a conclusion) is never given up for what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from keju.items import AnswerForm
from keju.scoring.blocks import Piece
from keju.scoring.count_statements import commits_to_count
from keju.scoring.extraction import json_value, strict_body, without_fence
from keju.scoring.remarks import is_modern, is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import han_only, has_han

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+[”’」』）)\"]*|(?<![0-9])\.(?=\s|$)|\n|$)")
_NUMBERED = re.compile(r"\s*(?:[-*•·]|[(（]?[0-9]{1,2}[.．、)）]|[一二三四五六七八九十]、)\s*")
_OPTION = re.compile(r"(?:^|[\s*-])(?:选项|Option )?([A-F])\**[.:：、)）]\s", re.MULTILINE)
_BARE_LAST = re.compile(
    r"(?:[。.!！：:][*\s]*\n\s*(?:[0-9]{1,6}|yes|no|是|否|[\u4e00-\u9fff]{1,4})"
    r"|[：:]\s*(?:yes|no|是|否|不?能|不?可以))\Z",
    re.IGNORECASE,
)
_NOTES_LISTED = re.compile(r"[。.!！][ \t]*\n+[^\n]{1,40}[:：][*]*(?:\n+[ \t]*[-*•·][^\n]*){2,}\Z")
"""A list under a label after a finished sentence: its last item needs no full stop."""
_LABELLED = re.compile(r"[^,.;:]{2,20}:\s?(?:[^,.;:]|\.(?=[0-9])){1,40}")
_EDGE = " \t\r\n*_>#-—\"“”'()（）"
_ENDS = "。！？!?.…)）]】}」』”\"'*`|"
_ONE_VALUE = frozenset({"short", "yes-no", "number", "probability"})
_DECLINED = _ONE_VALUE | {"transcription", "entities"}
_STOPS = "。；;.！!"
_LONGEST_OPENING, _LONGEST_LEAD = 16, 40
_LONGEST = 6_000
_LONGEST_REFUSAL = 2_500
_LEAST_TEXT = 6
_DESCRIPTION = 60
_LEAST_CUT = 20
_BARE_VALUE = 6


def no_answer_reason(
    text: str, form: AnswerForm, question: str = "", options: Sequence[str] = ()
) -> str:
    """Why a response gives no answer; an empty text where it may give one.

    Args:
        text: the response.
        form: the form of the answer.
        question: the question.
        options: the texts of the options, where there are any.
    """
    body = strict_body(text)
    core = without_fence(body).strip()
    if not core or len(core) > _LONGEST or "\\boxed" in core or json_value(body) is not None:
        return ""
    if form == "letter":
        flat = fold(core)
        if _none_fits(flat, options):
            return "no option is said to fit"
        wrong = wording("letters", "asks_for_wrong").search(fold(question))
        if (not wrong and _all_fit(flat, options)) or _two_left(flat):
            return "several options are said to fit"
        return "breaks off before the answer" if _breaks_off_among_options(core, flat) else ""
    counted = form == "number" and commits_to_count(core, question)
    if form in _ONE_VALUE and not counted and _breaks_off(core, sentences_of(core), question):
        return "breaks off before the answer"
    return "declines" if form in _DECLINED and _declines(core, form) else ""


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text, folded, without what is empty."""
    return list(_iter_sentences(text))


def _iter_sentences(text: str) -> Iterator[str]:
    found = (fold(each[0]).strip(_EDGE) for each in _SENTENCE.finditer(text))
    return (each for each in found if each)


def only_declines(core: str, *, finished: bool = False) -> bool:
    """Whether all that a text says is that it cannot answer, with reasons, advice and offers.

    Args:
        core: the response.
        finished: whether the items of a list are reasons only where they end as sentences; a list
            of names or lines of a page does not.
    """
    if len(core) > _LONGEST_REFUSAL:
        return False
    sentences = (each[0] for each in _SENTENCE.finditer(core) if each[0].strip(_EDGE))
    first = list(islice(sentences, 2))
    refusal = wording("discourse", "refusal")
    opening = [fold(each).strip(_EDGE) for each in first]
    # The beginning alone, or the first two sentences: few responses come further.
    if not (
        any(map(_begins_with_refusal, opening[:1]))
        if finished
        else any(map(refusal.search, opening))
    ):
        return False
    raw = [*first, *sentences]
    flat = [fold(each).strip(_EDGE) for each in raw]
    refused = [bool(refusal.search(each)) for each in flat]
    if not any(map(_is_refusal, flat)):
        return False
    for place, each in enumerate(flat):
        if wording("discourse", "although").search(each) and not is_request(each):
            return False
        if (
            refused[place]
            or is_request(each)
            or wording("discourse", "refusal_context").search(each)
        ):
            continue
        begins = place < refused.index(True) and len(each) <= _LONGEST_OPENING
        if not begins and not _is_reason(raw[place], finished=finished):
            return False
    return True


def _is_refusal(flat: str) -> bool:
    """Whether a sentence refuses in more words than an apology (抱歉让您久等了 does not)."""
    apology = wording("unanswered", "regrets").match(flat)
    rest = flat[apology.end() :] if apology else flat
    return bool(
        wording("discourse", "refusal").search(rest) or wording("unanswered", "cannot").search(rest)
    )


def _begins_with_refusal(flat: str) -> bool:
    lead = flat.partition("(")[0][:_LONGEST_LEAD]
    found = wording("discourse", "refusal").search(lead)
    return found is not None and "、" not in lead[: found.start()]


def is_prose(usable: Sequence[Piece], pieces: Sequence[Piece]) -> bool:
    """Whether what is left without remarks, under no label, is of one kind with them."""
    if any(each.kind != "plain" or each.fenced for each in usable):
        return False
    if is_modern("".join(each.text for each in usable)):
        return True
    said = [each for each in pieces if each.kind == "remark"]
    places = {each.paragraph for each in said}
    if not all(each.paragraph in places for each in usable):
        return False
    if all(_all_modern(each.text) for each in usable):
        return True
    first = fold(said[0].text)
    leads = first.rstrip().endswith(":") or wording("unanswered", "leads_to_text").search(first)
    alone = len({each.paragraph for each in pieces}) == 1 and said[0] is pieces[0]
    finished = usable[-1].text.rstrip().endswith(("。", "."))
    return (
        alone
        and finished
        and not leads
        and wording("passages", "describes").search(first[:_DESCRIPTION]) is not None
    )


def _all_modern(text: str) -> bool:
    """Whether every sentence of a text has a word of modern prose, and ends as one."""
    sentences = [each for each in re.split(r"(?<=[。！？!?])|(?<=\.)\s", text) if each.strip()]
    return bool(sentences) and all(
        (wording("passages", "modern").search(fold(each)) and each.strip()[-1] in "。！？!?")
        or (is_mostly_latin(each) and each.rstrip().endswith("."))
        for each in sentences
    )


def is_request(flat: str) -> bool:
    """Whether a folded sentence asks the user for something, or offers help."""
    return bool(
        wording("discourse", "request").search(flat) or wording("discourse", "offer").match(flat)
    )


def _is_reason(sentence: str, *, finished: bool) -> bool:
    """Whether a sentence is an item of a list, which after a refusal gives reasons or advice."""
    core = sentence.strip(" \t\r\n*")
    listed = _NUMBERED.match(sentence) is not None and (not finished or core[-1:] in _STOPS)
    return listed or core.endswith((":", "："))


def _declines(core: str, form: AnswerForm) -> bool:
    """Whether a response begins with a refusal, and no answer follows."""
    first = next(_iter_sentences(core), "")
    if not first or not _begins_to_decline(core, first, form):
        return False
    # Last, because it reads every sentence, and few responses come so far.
    return not any(wording("discourse", "although").search(each) for each in _iter_sentences(core))


def _begins_to_decline(core: str, first: str, form: AnswerForm) -> bool:
    if form in _ONE_VALUE:
        return _regrets(first) and not wording("short", "answer").search(fold(core))
    if only_declines(core, finished=True):
        return form != "entities" or not _lists_names(core)
    regrets = form == "transcription" and _regrets(first)
    if regrets and (is_mostly_latin(core) or is_modern(core)):
        leads = wording("unanswered", "leads_to_text")
        return not any(leads.search(each) for each in _iter_sentences(core))
    if form != "transcription" or len(han_only(core)) >= _LEAST_TEXT:
        return False
    return wording("discourse", "refusal").search(first) is not None


def _lists_names(core: str) -> bool:
    """Whether a list of names is introduced after all."""
    return wording("entities", "introduces", "{}[^、]{1,20}、").search(fold(core)) is not None


def _regrets(flat: str) -> bool:
    """Whether a sentence begins with an apology and says what cannot be done."""
    found = wording("unanswered", "regrets").match(flat)
    return bool(found and wording("unanswered", "cannot").search(flat, found.end()))


def _breaks_off(core: str, sentences: Sequence[str], question: str) -> bool:  # noqa: PLR0911
    """Whether a response ends within its reasoning, with no value committed to before."""
    core = core.rstrip("….") if core.endswith(("…", "...")) else core
    if core[-1:] in _ENDS or not sentences or _BARE_LAST.search(core):
        return False
    if _NOTES_LISTED.search(core):
        return False
    asked, first, last = fold(question), sentences[0], sentences[-1]
    if len(sentences) == 1 and _only_introduces(last, asked):
        return True
    if len(sentences) > 1 and _LABELLED.fullmatch(last) and core[-1] not in "—–-":
        return False
    value = len(first) <= _BARE_VALUE and not wording("unanswered", "open_end", "{}$").search(first)
    answered = any(wording("short", "answer").search(each) for each in sentences)
    if value or len(core) < _LEAST_CUT or answered:
        return False
    clauses = re.split("[,;]", first) if len(sentences) == 1 else sentences
    concludes = [bool(wording("discourse", "conclusion").match(each)) for each in clauses[1:]]
    if any(concludes):
        open_end = wording("unanswered", "open_end", "{}$").search(last)
        return open_end is not None and not any(concludes[:-1])
    if wording("unanswered", "reasons").match(first):
        return True
    depicts = len(sentences) > 1 and wording("unanswered", "depicts").match(first)
    return bool(depicts) and not _shared(first, asked)


def _only_introduces(flat: str, asked: str) -> bool:
    """Whether a lone clause ends with the words that should introduce the answer."""
    found = wording("unanswered", "open_end", "{}$").search(flat)
    before = flat[: found.start()] if found else ""
    return len(flat) >= _LEAST_TEXT and "," not in before and _shared(before, asked)


def _shared(flat: str, asked: str) -> bool:
    """Whether a clause repeats words of the question."""
    if has_han(flat):
        pairs = {flat[at : at + 2] for at in range(len(flat) - 1)}
        return sum(pair in asked for pair in pairs) >= 2
    words = set(re.findall(r"[a-z]{3,}", flat)) - {"the", "this", "and"}
    return len(words & set(re.findall(r"[a-z]{3,}", asked))) >= 2


def _all_fit(flat: str, options: Sequence[str]) -> bool:
    """Whether all options are said to fit, none of which says so itself, and none is preferred."""
    found = list(wording("unanswered", "all_fit").finditer(flat))
    if not found or any(
        wording("unanswered", "all_of_them").search(fold(each)) for each in options
    ):
        return False
    rest = flat[found[-1].end() :]
    return not wording("unanswered", "prefers").search(rest)


def _none_fits(flat: str, options: Sequence[str]) -> bool:
    """Whether no option is said to fit, which is not an option itself, and none is preferred."""
    none_fits = wording("unanswered", "none_fits")
    found = list(none_fits.finditer(flat))
    if not found or any(none_fits.search(fold(each)) for each in options):
        return False
    return not wording("unanswered", "prefers").search(flat, found[-1].end())


def _two_left(flat: str) -> bool:
    """Whether two options are said to be possible, and neither is preferred after that."""
    found = wording("unanswered", "two_left").search(flat)
    return found is not None and not wording("unanswered", "prefers").search(flat, found.end())


def _breaks_off_among_options(core: str, flat: str) -> bool:
    """Whether a response weighs the options one by one, and ends before it chooses one."""
    first, last = core.splitlines()[0], re.split(r"[\n。]", core)[-1]
    if core[-1] in _ENDS or len(last) < _LEAST_CUT or len(first) <= _BARE_VALUE:
        return False
    if len(set(_OPTION.findall(core))) < 2:
        return False
    return not (
        wording("short", "answer").search(flat) or wording("unanswered", "chooses").search(flat)
    )
