"""Verdicts: the kind of a response, apart from its scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from rapidfuzz.distance import LCSseq

from keju.extraction import body_of, read
from keju.items import Response
from keju.text import counted, han_only

if TYPE_CHECKING:
    from keju.scoring.scoring_sample import ScoringSample

Verdict = Literal[
    "ok", "failed", "filtered", "empty", "looping", "truncated", "refused",
    "transcribed", "off-language", "off-format", "unparsable",
]  # fmt: skip
"""`failed` and `filtered`: no answer came. `empty`: nothing but white space or reasoning.
`looping`: it ends in one short piece said over and over. `truncated`: it hit the token limit.
`refused`: it declines. `transcribed`: it reads the text out instead of answering. `off-language`:
an answer in Chinese where encoder and truth are English. `off-format`: an answer wrapped in JSON or
the like where plain text was asked for. `unparsable`: no answer could be taken without guessing."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_REFUSAL = re.compile(
    r"(?:抱歉|对不起|對不起|很遗憾|很遺憾)[，,。！!\s]|作为(?:一个|一款|一名)?(?:AI|人工智能|大?语言模型)"
    r"|(?:无法|無法|不能|没有办法|沒有辦法|未能)(?:为您|直接)?"
    r"(?:识别|識別|查看|看到|看清|访问|提供|回答|处理|协助|完成|辨认|辨識|读取|判断)"
    r"|I['’]m sorry|I am sorry|I apologi[sz]e|As an AI\b"
    r"|I (?:cannot|can['’]t|am unable|['’]m unable)"
    r"|unable to (?:assist|help|view|see|read|process)|can(?:no|['’])t assist",
    re.IGNORECASE,
)
_REFUSAL_LENGTH = 300
_REFUSAL_START = 60

_TAIL = 400
_LOOP_LENGTH = 60
_LOOP_REPEATS = 5

_TRANSCRIBED_SHARE = 0.8
_TRANSCRIBED_LENGTH = 20

_HAN_SHARE = 0.2


def verdict_of(sample: ScoringSample) -> Verdict:
    """The verdict on a response; the first that holds of the order in which they are tested.

    An answer is extracted only where the verdict depends on it: of a loop, a long response,
    extraction takes longer than everything else.
    """
    body, form, item = body_of(sample.response.text), sample.form, sample.item
    answer = item.answer or item.answer_simplified
    if verdict := _from_the_wire(sample.response, body):
        return verdict
    if is_refusal(body):
        return "refused"
    if form in {"text", "letter", "short"} and reads_out(body, item.transcription or "", answer):
        return "transcribed"
    if sample.answer is None:
        return "unparsable"
    in_english = form == "text" and sample.query.answer_language == "en"
    if in_english and is_mostly_han(body) and not is_mostly_han(answer):
        return "off-language"
    return "off-format" if form == "transcription" and sample.reading.rule == "JSON" else "ok"


def _from_the_wire(response: Response, body: str) -> Verdict | None:
    """The verdict from the status, and from whether and how the text ends."""
    match response.status:
        case "failed" | "filtered":
            return response.status
        case "empty":
            return "empty"
    if is_looping(response.text):
        return "looping"
    if response.status == "truncated":
        return "truncated"
    return None if body.strip() else "empty"


def is_refusal(body: str) -> bool:
    """Whether a short text declines to answer near its beginning and says nothing else."""
    core = body.strip()
    if len(core) > _REFUSAL_LENGTH or not _REFUSAL.search(core[:_REFUSAL_START]):
        return False
    # "抱歉，图片有点模糊，不过答案是B。" is an answer.
    return read("text", core).state == "none"


def is_looping(text: str) -> bool:
    """Whether a text ends in one piece said at least five times over, 60 characters or more."""
    tail = text.rstrip()[-_TAIL:]
    if len(tail) < _LOOP_LENGTH:
        return False
    last = tail[-1]
    for period in range(1, len(tail) // _LOOP_REPEATS + 1):
        if tail[-1 - period] != last:
            continue
        length = max(_LOOP_LENGTH, period * _LOOP_REPEATS)
        end = tail[-length:]
        if end[period:] == end[:-period]:
            return True
    return False


def is_mostly_han(text: str) -> bool:
    """Whether more than a fifth of a text's characters are Han, which no English answer needs."""
    return len(han_only(text)) > _HAN_SHARE * len("".join(text.split()))


def reads_out(body: str, transcription: str, answer: str) -> bool:
    """Whether a response is the text on the image rather than an answer about it.

    At least four fifths of its characters are in the transcription in this order, and fewer of
    them in the reference.
    """
    if not transcription or len(said := counted(body)) < _TRANSCRIBED_LENGTH:
        return False
    from_page = LCSseq.similarity(counted(transcription), said)
    if from_page < _TRANSCRIBED_SHARE * len(said):
        return False
    return LCSseq.similarity(counted(answer), said) < from_page
