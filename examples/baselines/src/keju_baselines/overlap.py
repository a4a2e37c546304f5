"""Model ``overlap``: the option or line with most characters in common with the given text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import keju
from keju.definitions import Query, options_in, task
from keju.plugins import Answer, Model, ModelOptions, Request, _, add_translations
from keju.text import counted

add_translations(Path(__file__).with_name("keju-baselines.mo"))

_FORMS = frozenset({"letter", "text", "short"})
_BLANK = re.compile(r"\{[a-z_]+\}")
_QUESTION = "{question}"


class Shared(NamedTuple):
    """The shares of a text's character pairs and characters that occur in another."""

    pairs: float
    chars: float


@keju.model(
    "overlap",
    summary="the option or line that shares most characters with a text given or read before",
    role="baseline",
    local=True,
)
class Overlap(Model):
    """Answers from a text by counting shared characters.

    The text is supplied by the setting or transcribed by an engine before
    (``ocr+llm:ppocr+overlap``). Multiple choice: the letter of the option that shares most
    with the text. Open questions: the line of the text that shares most with the question. Pairs of
    characters count first, then characters, then the order; if nothing is shared, the response is
    empty. Texts are compared as `counted`, with variants and scripts joined.
    """

    def __init__(self, options: ModelOptions) -> None:
        del options

    def unsupported_reason(self, request: Request) -> str:
        """Does not support requests without a text, without options, or without a question."""
        if request.form not in _FORMS:
            return _("overlap only chooses options and lines")
        if not request.source and request.setting not in {"gold-text", "gold-ocr"}:
            return _("it needs a text: use --setting gold-text, or ocr+llm:ENGINE+overlap")
        if request.form != "letter":
            query = _query(request)
            if query is None or _QUESTION not in query.template:
                return _("overlap answers questions, and this task asks none of its own")
            return ""
        number = len(options_in(_wording(request)))
        return "" if number and number == len(request.choices) else _("no options in the prompt")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """A letter or a line, or nothing."""
        del images
        if request.form == "letter":
            answers: Sequence[str] = request.choices
            text = counted(request.source)
            options = options_in(_wording(request))
            best = most([shared(counted(option), text) for option in options])
        else:
            answers = [line.strip() for line in request.source.splitlines() if line.strip()]
            question = _own_words(request)
            best = most([shared(question, counted(line)) for line in answers])
        return Answer(text="", status="empty") if best is None else Answer(text=answers[best])


def shared(wanted: str, text: str) -> Shared:
    """The share of `wanted` that occurs in `text`, each pair and each character counted once.

    A single character has no pair; its share counts for both.
    """
    chars = _share(set(wanted), set(text))
    if len(wanted) == 1:
        return Shared(chars, chars)
    return Shared(_share(_pairs(wanted), _pairs(text)), chars)


def most(shares: Sequence[Shared]) -> int | None:
    """The index of the greatest, the first of equals; None where nothing is shared."""
    best = max(range(len(shares)), key=lambda place: (shares[place], -place), default=None)
    return None if best is None or not shares[best].chars else best


def _share(wanted: set[str], text: set[str]) -> float:
    return len(wanted & text) / len(wanted) if wanted else 0.0


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2] for place in range(len(text) - 1)}


def _wording(request: Request) -> str:
    """The prompt without the text that precedes the question."""
    text = request.source
    return request.prompt.rpartition(text)[2] if text else request.prompt


def _own_words(request: Request) -> str:
    """The question without the words that all items of its task have, as `counted`."""
    words = counted(_wording(request))
    query = _query(request)
    for common in _BLANK.split(query.template) if query else ():
        words = words.replace(counted(common), "")
    return words


def _query(request: Request) -> Query | None:
    queries = task(request.task).queries
    return next((query for query in queries if query.name == request.query), None)
