"""Find the part of a response that contains the answer, and JSON or boxed answers in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from keju.text import answer_part
from keju.text.reasoning import ANSWER_TAG

_BOX = re.compile(r"\\boxed\s*\{\s*(?:\\(?:text|mathrm|mathbf|textbf)\s*\{)?([^{}]*)\}")
_BOX_TOKENS = re.compile(r"<\|begin_of_box\|>([^<]*)<\|end_of_box\|>")
_TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|endoftext)\|>|<\|end\|>(?!\s*<\|start\|>assistant)"
    r"|<end_of_turn>|\n(?:User|Human|用户)[:：]\s"
)
"""The end of the model's turn; servers let through what it wrote after that."""
_CONCLUSION_TAG = re.compile(
    r"<(?:conclusion|final_?answer|final|output)>([^<]*)</(?:conclusion|final_?answer|final|output)>",
    re.IGNORECASE,
)
"""Tags of models that write each step in an element of its own."""
_COMMENT = re.compile(r"<!--[^<>]{0,200}-->")
_GROUNDED = re.compile(
    r"<\|(?:box|quad)_start\|>[^<\n]{0,80}<\|(?:box|quad)_end\|>|"
    r"<\|ref\|>[^<\n]{0,80}<\|/ref\|>\s{0,4}(?:<\|det\|>[^<\n]{0,400}<\|/det\|>)?[ \t]*\n?"
)
"""The kind of a block and its box, which models for documents write before its text."""
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+[^\n]{0,40}$")
_FENCE = "```"
_END_TOKENS = (
    "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|end|>", "</s>", "<eos>",
    "<|return|>", "<|end_of_msg|>", "<|end_message|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
)  # fmt: skip
_ANSWER_KEYS = ("answer", "答案", "choice", "option", "选项", "選項", "result", "结果")
_DEEPEST = 6
_NAME_KEYS = (
    "entity",
    "name",
    "text",
    "word",
    "mention",
    "value",
    "实体",
    "名称",
    "命名实体",
    "词",
    "内容",
)
_TEXT_KEYS = ("text", "transcription", "content", "文本", "文字", "内容")


class Extracted(NamedTuple):
    """The extracted answer.

    `answer` is None where nothing could be taken without guessing. `rule` names how it was found,
    `source` quotes where. `others` are other ways to write the same answer (without its measure
    word, without the noun that the question asks for).
    """

    answer: str | None
    rule: str
    source: str = ""
    others: tuple[str, ...] = ()

    @property
    def readings(self) -> tuple[str, ...]:
        """The answer and the other ways to write it; nothing where there is none."""
        return () if self.answer is None else (self.answer, *self.others)

    @property
    def origin(self) -> str:
        """Rule and source in one line, for `Score.extracted_from`."""
        quote = " ".join(self.source.split())
        if len(quote) > _QUOTE:
            quote = quote[: _QUOTE // 2] + "…" + quote[-_QUOTE // 2 :]
        return f"{self.rule}: “{quote}”" if quote else self.rule


_QUOTE = 60


@lru_cache(maxsize=2)
def body_of(text: str) -> str:
    """The response without its reasoning and without end-of-text tokens that a server let through.

    That is `answer_part`, and of it what the last ``<answer>`` encloses, if any.
    """
    body = answer_part(_without_end_tokens(text))
    answer = ""
    start: int | None = None
    # One pass over the tags: a lazy `<answer>(.*?)</answer>` is quadratic where none is closed.
    for tag in ANSWER_TAG.finditer(body):
        if not tag["closing"]:
            start = tag.end() if start is None else start
        elif start is not None:
            inside, start = body[start : tag.start()], None
            answer = inside if inside.strip() else answer
    return answer or body


@lru_cache(maxsize=2)
def strict_body(text: str) -> str:
    """The body, with further marks of turns, boxes and conclusions read too (`strict`)."""
    first = _TURN.split(text.lstrip(), maxsplit=1)[0]
    text = first if answer_part(first).strip() else text
    body = _GROUNDED.sub("", _COMMENT.sub("", body_of(text)))
    concluded = _CONCLUSION_TAG.findall(body) if "</" in body else []
    body = concluded[-1] if concluded and concluded[-1].strip() else body
    boxes = [box for box in _BOX_TOKENS.finditer(body) if box[1].strip()]
    return boxes[-1][1] if boxes else body


def _without_end_tokens(text: str) -> str:
    kept = len(text)
    while True:
        end = kept
        while end and text[end - 1].isspace():
            end -= 1
        token = next((each for each in _END_TOKENS if text.endswith(each, 0, end)), "")
        if not token:
            return text[:kept]
        kept = end - len(token)


def without_fence(body: str) -> str:
    """The inside of a code fence that encloses the whole body, or the body."""
    core = body.strip()
    inside = core.removeprefix(_FENCE).removesuffix(_FENCE)
    if len(core) - len(inside) < 2 * len(_FENCE) or _FENCE in inside or "\n" not in inside:
        return body
    return inside.partition("\n")[2]


def without_headings(body: str) -> str:
    """A body without its Markdown headings; the body where it is nothing else."""
    lines = [line for line in body.split("\n") if not _HEADING.match(line)]
    return "\n".join(lines) if "".join(lines).strip() else body


def boxed_answer(body: str) -> Extracted | None:
    r"""What the last ``\boxed{}`` of a body contains, or None if there is none."""
    found = list(_BOX.finditer(body))
    return Extracted(found[-1][1], "box", found[-1][0]) if found and found[-1][1].strip() else None


def json_answer(body: str) -> Extracted | None:
    """The answer in a body that is a JSON object with one key for answers, or None."""
    value = json_value(body)
    if not isinstance(value, dict):
        return None
    found = [(key, value[key]) for key in value if str(key).lower() in _ANSWER_KEYS]
    if len(found) == 1 and isinstance(found[0][1], str | int | float):
        return Extracted(str(found[0][1]), f"JSON key {found[0][0]!r}", body)
    return None


def json_text(body: str) -> Extracted | None:
    """The text in a body that is JSON: a list of strings, or objects with a key for text."""
    value = json_value(body)
    if value is None:
        return None
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        value = only if isinstance(only, list) else value
    parts = [_text_in(each) for each in (value if isinstance(value, list) else [value])]
    texts = [part for part in parts if part is not None]
    if not texts or len(texts) < len(parts):
        return None
    return Extracted("\n".join(texts), "JSON text", body)


def json_names(body: str) -> Extracted | None:
    """The names in JSON: a list of strings or of objects with a key for names, or lists by kind."""
    names = list(_names_in(json_value(body), 0))
    return Extracted("、".join(names), "JSON list", body) if names else None


def _names_in(value: object, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            if isinstance(each, str):
                yield each
            else:
                yield from _names_in(each, depth + 1)
    elif isinstance(value, dict):
        found = [value[key] for key in value if str(key).lower() in _NAME_KEYS]
        if found and isinstance(found[0], str):
            yield found[0]
            return
        for each in value.values():
            if isinstance(each, list | dict):
                yield from _names_in(each, depth + 1)


def json_value(body: str) -> object:
    """The decoded value of a body that is a JSON object or list, fenced or not; or None."""
    inside = without_fence(body).strip()
    if not inside.startswith(("{", "[")):
        return None
    try:
        return msgspec.json.decode(inside.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _text_in(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        texts = [value[key] for key in value if str(key).lower() in _TEXT_KEYS]
        if len(texts) == 1 and isinstance(texts[0], str):
            return texts[0]
    return None
