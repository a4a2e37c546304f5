"""`answer_part`: the answer of a response without the reasoning that models write before it.

The marks around reasoning and answers are data (``data/reasoning_marks.toml``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

import msgspec


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table, which explains the fields."""

    open: tuple[str, ...]
    close: tuple[str, ...]
    models: str
    source: str
    shared: bool = False
    word: bool = False
    start: bool = False
    pair: bool = False


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    headers: tuple[str, ...]
    reasoning: tuple[_Row, ...]
    answers: tuple[_Row, ...]


_Kind = Literal["open", "close", "answer", "end", "header"]
_State = Literal["outside", "reasoning", "answer"]


_Meaning = dict[_Kind, list[_Row]]
"""The rows that have a spelling as a mark of each kind; a header has none."""


class _Mark(NamedTuple):
    """A mark in a response."""

    start: int
    end: int
    meaning: _Meaning

    def rows(self, kind: _Kind) -> list[_Row]:
        """The rows that have it as a mark of this kind."""
        return self.meaning.get(kind, [])

    def closes(self, opened: Sequence[_Row] = ()) -> bool:
        """Whether it closes reasoning, which marks of these rows opened, or the prompt."""
        return any(not row.shared or row in opened for row in self.rows("close"))


_FORMS = {
    "<": r"\\?(?:[<＜〈]|&(?:amp;)?(?:lt|#60|#x3c);|\\{1,2}u003c|\\x3c|%3c)",
    ">": r"\\?(?:[>＞〉]|&(?:amp;)?(?:gt|#62|#x3e);|\\{1,2}u003e|\\x3e|%3e)",
    "/": r"(?:\\?[/／]|\\|&(?:amp;)?#(?:47|x2f);|\\{1,2}u002f|%2f)",
    "|": r"[|｜]",
    "[": r"\\?\[",
    "]": r"\\?\]",
    "'": r"['’]",
    " ": r"\s{1,3}",
    "…": r"(?:[^<＜&]|<\|constrain\|>){0,200}?",
}
"""How each character of a mark may be written: as it is, escaped by a gateway, or full-width."""
_TOKEN = (
    rf"(?P<token>(?i:{_FORMS['<']})\s{{0,3}}(?P<lead>(?:(?i:{_FORMS['/']}|[|｜])\s{{0,3}}){{0,3}})"
    r"(?P<name>[\w:]{2,40})(?:\s{1,9}[\w:-]{1,40}\s{0,3}=[^<>＜＞]{0,200}?)?"
    rf"(?P<tail>\s{{0,3}}[|｜/／]?)(?i:{_FORMS['>']}))"
)
"""A mark of one pair of angle brackets, with attributes."""
_TOKEN_AS_SPELLED = re.compile(r"<[/|]{0,2}[\w:]+[|/]?>")
ANSWER_TAG = re.compile(
    rf"{_FORMS['<']}(?P<closing>{_FORMS['/']}?)answer{_FORMS['>']}", re.IGNORECASE
)
"""An ``<answer>`` or ``</answer>``, also escaped or full-width."""
_LEAD = re.compile(rf"{_FORMS['/']}|[|｜]", re.IGNORECASE)
_SUFFIXED = re.compile(r":[^:>|]+(?=>)")
_OPENING_QUOTES, _CLOSING_QUOTES = "「『“‘«《〈", "」』”’»》〉"
_AROUND = {"(": ")", "（": "）", "【": "】", '"': '"', "'": "'", "`": "`"}


def answer_part(content: str) -> str:
    """The content without its reasoning; the content itself where it has none.

    The answer is what is between marks of an answer, else the last text that is outside the marks
    of reasoning. A closing mark alone ends reasoning that began in the prompt; reasoning that is
    not closed extends to the end, so that a response which was cut off has no answer. Marks in
    quotation marks, parentheses or code are text. White space around the answer is removed only
    where reasoning was (our reading).
    """
    outside: list[str] = []
    answers: list[str] = []
    state: _State = "outside"
    opened: list[_Row] = []
    since = 0
    for mark in _counted(content, list(_marks_in(content))):
        following = _state_after(mark, state, opened, is_first=since == 0)
        if following is None:
            continue
        if state != "reasoning":
            if following == "outside" and mark.closes():
                # Its opening mark is in the prompt: everything until here is reasoning.
                outside, answers = [], []
            elif state == "answer" or (mark.rows("end") and not answers):
                answers.append(content[since : mark.start])
            else:
                outside.append(content[since : mark.start])
        state, opened, since = following, mark.rows("open"), mark.end
    if not since:
        return content
    rest = _tagged_end(content[since:]) if state == "reasoning" else content[since:]
    (answers if state == "answer" else outside).append(rest)
    texts = list(filter(None, map(str.strip, answers))) or list(map(str.strip, outside))
    return next(filter(None, reversed(texts)), "")


def _state_after(
    mark: _Mark, state: _State, opened: list[_Row], *, is_first: bool
) -> _State | None:
    """The state after a mark; None where the mark has no meaning there."""
    if mark.rows("answer"):
        return "answer"
    if state == "reasoning":
        return "outside" if mark.closes(opened) else None
    if mark.rows("open"):
        return "reasoning"
    ends = [row for row in mark.rows("end") if not (is_first and row.shared)]
    return "outside" if mark.closes() or ends or "header" in mark.meaning else None


def _tagged_end(reasoning: str) -> str:
    """The ``<answer>`` that ends reasoning whose closing mark is missing; nothing without one."""
    tags = list(ANSWER_TAG.finditer(reasoning))
    if len(tags) < 2 or tags[-2]["closing"] or not tags[-1]["closing"]:
        return ""
    return "" if reasoning[tags[-1].end() :].strip() else reasoning[tags[-2].start() :]


def add_reasoning(content: str, reasoning: str) -> str:
    """The content with separately returned reasoning put before it (our reading).

    The form is ``<think>REASONING</think>CONTENT`` with nothing inserted, as a server without a
    parser for reasoning returns the same output.
    """
    return f"<think>{reasoning}</think>{content}" if reasoning else content


def _marks_in(content: str) -> Iterator[_Mark]:
    pattern, meanings = _marks()
    for match in pattern.finditer(content):
        group = match.lastgroup or ""
        name = _token_name(match) if group == "token" else group
        name = name if name in meanings else _SUFFIXED.sub("", name)
        if name in meanings:
            yield _Mark(match.start(group), match.end(), meanings[name])


def _token_name(found: re.Match[str]) -> str:
    """A mark of one pair of angle brackets as the table spells it, in small letters."""
    lead = "".join(_LEAD.sub(lambda char: "|" if char[0] in "|｜" else "/", found["lead"]).split())
    tail = "".join("|" if char in "|｜" else "/" for char in found["tail"].strip()[:1])
    return f"<{lead.replace('//', '/')}{found['name'].lower()}{tail}>"


def _counted(content: str, marks: list[_Mark]) -> list[_Mark]:
    """The marks that structure the response, without those that it only speaks of."""
    counted: list[_Mark] = []
    begins = len(content) - len(content.lstrip())
    ends = [mark.start for mark in marks if mark.rows("close") or mark.rows("end")]
    mentioned = False
    for mark in marks:
        closed = bool(ends) and ends[-1] > mark.start
        if _is_mentioned(content, mark, begins) or not (
            counted or _opens(content, mark, closed=closed)
        ):
            mentioned = mentioned or bool(mark.rows("open") or mark.rows("answer"))
        elif counted or not (mentioned and (mark.rows("close") or mark.rows("end"))):
            counted.append(mark)  # else it closes the one that is only mentioned
    return counted


def _opens(content: str, mark: _Mark, *, closed: bool) -> bool:
    """Whether the first mark of a response is one, and not a word of it."""
    rows = mark.rows("open") + mark.rows("answer")
    if any(row.pair for row in rows):
        glued = content[mark.end : mark.end + 1]
        # "analysisWe need to": cut off; "analysis of the page" and "analysis一詞" are text.
        return closed or (glued.isascii() and glued.isupper())
    if closed or not rows or not all(row.word for row in rows):
        return True
    return not content[content.rfind("\n", 0, mark.start) + 1 : mark.start].strip()


def _is_mentioned(content: str, mark: _Mark, begins: int) -> bool:
    """Whether a response speaks of a mark: 「<think>」, `</think>`, （<think>）."""
    before = content[max(mark.start - 1, 0) : mark.start]
    after = content[mark.end : mark.end + 1]
    is_opened = bool(before) and before in _OPENING_QUOTES
    is_closed = bool(after) and after in _CLOSING_QUOTES
    if (is_opened and is_closed) or (after and _AROUND.get(before) == after):
        return True
    if mark.rows("open"):
        # A quotation mark that begins the response is around the whole of it.
        return is_opened and mark.start - 1 > begins
    return is_closed and bool(mark.rows("close"))


@cache
def _marks() -> tuple[re.Pattern[str], dict[str, _Meaning]]:
    """The pattern of all marks, and what each of its groups, or each name of a token, means."""
    file = resources.files("keju.text").joinpath("data", "reasoning_marks.toml")
    table = msgspec.convert(tomllib.loads(file.read_text("utf-8")), type=_Table)
    kinds: list[tuple[_Kind, _Row, tuple[str, ...]]]
    kinds = [("open", row, row.open) for row in table.reasoning]
    kinds += [("close", row, row.close) for row in table.reasoning]
    kinds += [("answer", row, row.open) for row in table.answers]
    kinds += [("end", row, row.close) for row in table.answers]
    spelled: dict[tuple[bool, str], _Meaning] = {}
    for kind, row, texts in kinds:
        for text in texts:
            meaning = spelled.setdefault((row.start and kind == "open", text), {})
            meaning.setdefault(kind, []).append(row)
    for text in table.headers:
        spelled.setdefault((False, text), {})["header"] = []
    meanings: dict[str, _Meaning] = {}
    groups: dict[bool, list[str]] = {True: [], False: []}
    # The longer of two spellings that begin alike comes first.
    for number, (starts, text) in enumerate(sorted(spelled, key=lambda pair: -len(pair[1]))):
        is_token = _TOKEN_AS_SPELLED.fullmatch(text)
        meanings[text.lower() if is_token else f"m{number}"] = spelled[starts, text]
        if not is_token:
            pattern = "".join(_FORMS.get(char, re.escape(char)) for char in text)
            case = "i" if "<" in text else ""
            groups[starts].append(f"(?P<m{number}>(?{case}:{pattern}))")
    first = re.escape("<＜〈&\\%") + "".join({text[0] for _, text in spelled if text[0] != "<"})
    anywhere = rf"(?=[{first}])(?:{'|'.join(groups[False])}|{_TOKEN})"
    return re.compile(rf"\A\s*(?:{'|'.join(groups[True])})|{anywhere}"), meanings
