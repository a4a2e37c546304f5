"""A response as the parts that the readers look at: body, field, announcements, sentences."""

from __future__ import annotations

import json
import re
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from keju.extraction.words import fold, has, refuses, words
from keju.metrics.boxes import Axes
from keju.text import answer_part
from keju.text.reasoning import ANSWER_TAG

EDGES = " \t\r\n\u3000*_`#。.，,、:：;；!！?？\"'‘’“”「」『』《》〈〉【】→–—=|"
_TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|endoftext|end_of_text|return|end_of_msg|end_message"
    r"|END_OF_TURN_TOKEN)\|>|<\|end\|>(?!\s*<\|start\|>assistant)|<end_of_turn>|</s>|<eos>"
    r"|<｜end▁of▁sentence｜>|\n(?:User|Human|用户)[:：]\s"
)
"""The end of the model's turn; servers let through what it wrote after that."""
_ENCLOSED = re.compile(
    r"<(conclusion|final_?answer|final|output)>([^<]+)</\1>"
    r"|<\|begin_of_box\|>([^<]+)<\|end_of_box\|>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--[^<>]{0,200}-->")
FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n([^`]*?)\n?[ \t]*```")
_BRACES = r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
_BOX = re.compile(rf"\\boxed{_BRACES}")
_LATEX = re.compile(rf"\\(?:text|textbf|mathrm|mathbf|boxed){_BRACES}")
_MARKUP = re.compile(
    r"\\[()\[\]]|\$+|\\(?:quad|,|;|!)|\*\*|__|`"
    r"|^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-=_*]{3,}[ \t]*$)",
    re.MULTILINE,
)
_SENTENCE = re.compile(
    r"(?<=[。！!？?；;])(?![”』」’）)])|(?<=[。！!？?][”』」’）)])|\n+"
    r"|(?:(?<=[a-z)”\"*]\.)|(?<=\w \d\.)|(?<=\w \d\d\.)|(?<=[a-z]\.[\"”])|(?<=[\"”]\.))\s+(?=\S)"
)
_MAY_END = re.compile(r"[。！!？?；;\n]|[.\"”]\s")
"""A part of every match of `_SENTENCE`, or the sign before it. It is found much faster, and most
short answers have none."""
CLAUSE_END = re.compile(r"[，；。！？;!?\n]|,(?!\d)|\.(?=\s|$)|\s(?:because|since|which|rather)\b")
_KEYS = re.compile(
    r"(?:final_?|correct_?)?(?:answer|choice|option|result|prediction|count|total|number|meaning"
    r"|probability|likelihood|similarity|character|name|value|match)|.*_count|same_\w+|is_\w+|\w+able|rejoin\w*"
    r"|答案|选项|结果|结论|数量|总数|概率|可能性|汉字|释文|名称|含义",
    re.IGNORECASE,
)
_ANSWER_KEY = re.compile(r"(?:final_?|correct_?)?answer|答案", re.IGNORECASE)
_WINDOW = 100
"""Characters before an announcement that may take it back."""
_LONGEST_WHOLE = 120
"""Characters of a response that may be a value as a whole."""


State = Literal["read", "none", "unclear"]
"""Whether a value was read, no answer was given, or a person or an extractor model decides."""

_QUOTE = 60


class Reading(NamedTuple):
    """The value that a response gives in an answer form, if it gives one.

    Attributes:
        state: ``read``: it commits itself plainly to `value`. ``none``: it gives no answer, being
            empty, nothing but reasoning, or a refusal and nothing else. ``unclear``: everything
            else; a person or an extractor model decides.
        value: the value as text, empty unless read: a letter, a number in Arabic digits, Yes or
            No, a phrase or passage, names joined by 、, boxes as JSON.
        rule: how it was found, or why it was not, in a word or two.
        quote: the part of the response that was read.
    """

    state: State
    value: str = ""
    rule: str = ""
    quote: str = ""

    @property
    def origin(self) -> str:
        """Rule and quote in one line of at most 100 characters, as `Score.extracted_from`."""
        quote = " ".join(self.quote.split())
        if len(quote) > _QUOTE:
            quote = quote[: _QUOTE // 2] + "…" + quote[-_QUOTE // 2 :]
        return f"{self.rule}: “{quote}”" if quote else self.rule


def unclear(reason: str) -> Reading:
    """No value, and why."""
    return Reading("unclear", rule=reason)


def plain(text: str) -> str:
    """A text without the marks of LaTeX and Markdown."""
    return _MARKUP.sub("", _LATEX.sub(r"\1", _LATEX.sub(r"\1", text))).strip()


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text that are not empty."""
    parts = _SENTENCE.split(text) if _MAY_END.search(text) else [text]
    return [part.strip() for part in parts if part and part.strip()]


@lru_cache(maxsize=2)
def body_of(response: str) -> str:
    """The response without reasoning, further turns and what encloses the answer."""
    text = response.replace("◁", "<").replace("▷", ">")
    turn = _TURN.split(text.lstrip(), maxsplit=1)[0]
    if turn.strip() and not (body := answer_part(turn)).strip():
        body = answer_part(_TURN.sub("", text))
    elif not turn.strip():
        body = answer_part(text)
    body = _COMMENT.sub("", _tagged_answer(body) or body)
    enclosed = [match[2] or match[3] for match in _ENCLOSED.finditer(body)]
    if len(enclosed) == 1 and enclosed[0].strip():
        body = enclosed[0]
    elif enclosed:
        body = _ENCLOSED.sub(r"\2\3", body)
    body = body.strip()
    fence = FENCE.fullmatch(body)
    return (fence[1] if fence else body).strip()


def _tagged_answer(body: str) -> str:
    """The text in the last ``<answer>``; one pass, since nothing may close a tag."""
    answer = ""
    if "answer" not in body.lower():
        return answer
    start: int | None = None
    for tag in ANSWER_TAG.finditer(body):
        if not tag["closing"]:
            start = tag.end() if start is None else start
        elif start is not None:
            inside, start = body[start : tag.start()], None
            answer = inside if inside.strip() else answer
    return answer


def behind_last(kind: str, text: str) -> str:
    """The text behind the last words of a kind that have text before them; else all of it."""
    begins = len(text) - len(text.lstrip())
    matches = [match for match in words(kind).finditer(fold(text)) if match.start() > begins]
    return text[matches[-1].end() :] if matches else text


class Answer:
    """The answer of a response to a question."""

    def __init__(self, body: str, question: str, options: tuple[str, ...], axes: Axes) -> None:
        self.body = body
        self.question = question
        self.query = fold(question).lower()
        self.options = options
        self.axes = axes

    @cached_property
    def json(self) -> object:
        """The decoded JSON that is the body, its only code fence, or the only object in it."""
        for texts in ([self.body], FENCE.findall(self.body), re.findall(r"\{[^{}]*\}", self.body)):
            try:
                if len(texts) == 1 and texts[0].strip()[:1] in ("{", "["):
                    return json.loads(texts[0], strict=False)
            except (ValueError, RecursionError):
                continue
        return None

    @cached_property
    def field(self) -> str | None:
        """The text in a place for the answer: under a usual key of JSON, or in the last box."""
        if isinstance(self.json, dict):
            pairs = [(fold(key), value) for key, value in self.json.items()]
            usual = [value for key, value in pairs if _KEYS.fullmatch(key)]
            echoed = [value for key, value in pairs if not key.isascii() and key in self.query]
            values = usual or echoed[:1] or [value for _, value in pairs]
            if len(values) > 1:
                # {"character": "涉", "meaning": "to wade"}, where the meaning was asked for.
                question_words = re.findall(r"\w+", self.query)
                values = [value for key, value in pairs if _ANSWER_KEY.fullmatch(key)]
                by_key = {key.lower(): value for key, value in pairs}
                values = values or [by_key[word] for word in question_words if word in by_key][:1]
            if len(values) == 1 and isinstance(values[0], str | int | float):
                return str(values[0])
        boxes = _BOX.findall(self.body)
        return plain(boxes[-1]) if boxes else None

    @cached_property
    def marked(self) -> str:
        """The body behind its last correction, with its markup; labels begin their lines."""
        text = words("heading").sub(lambda match: f"{match[1]}:", self.body)
        without_headings = re.sub(r"^[ \t]*#{1,6} .*$", "", text, flags=re.MULTILINE)
        text = without_headings if without_headings.strip() else text
        text = re.sub(r"([:：][*\s]*?)\n\s*", r"\1 ", text)
        return behind_last("correction", text).strip()

    @cached_property
    def text(self) -> str:
        """The same without markup."""
        return plain(self.marked)

    @cached_property
    def folded(self) -> str:
        """The text in simplified characters and half-width marks."""
        return fold(self.text)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences and lines of the text."""
        return sentences_of(self.text)

    @cached_property
    def refuses(self) -> bool:
        """Whether a sentence refuses, apart from offers of help that follow an answer."""
        lines = [fold(plain(line)) for line in self.sentences]
        statements = [line for line in lines[1:] if not has("offer", line)]
        return refuses("\n".join([*lines[:1], *statements]))

    @cached_property
    def edges(self) -> list[str]:
        """The whole text where it is short, its first sentence and its last line."""
        short_text = [self.marked] if len(self.marked) < _LONGEST_WHOLE else []
        is_plain = self.marked == self.text
        first = (self.sentences if is_plain else sentences_of(self.marked))[0]
        last = self.marked.rsplit("\n", 1)[-1].strip()
        return list(dict.fromkeys([*short_text, first, last]))

    @cached_property
    def announced(self) -> list[str]:
        """The clauses that phrases such as "the answer is" announce; final ones alone, if any."""
        folded = self.folded
        phrases = [
            match
            for match in words("answer").finditer(folded)
            if not has(
                "draft condition",
                CLAUSE_END.split(folded[max(match.start() - _WINDOW, 0) : match.start()])[-1],
            )
        ]
        final = [
            match
            for match in phrases
            if has("final", folded[max(match.start() - 4, 0) : match.start()] + match[0])
        ]
        texts = [self.text[match.end() :].lstrip(" :：*") for match in final[-1:] or phrases]
        return [clause for text in texts if (clause := CLAUSE_END.split(text)[0].strip())]
