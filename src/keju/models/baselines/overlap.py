"""``baseline:overlap``: the option or line with most characters in common with the given text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from keju.definitions import options_in
from keju.items import Request
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.base import Baseline
from keju.models.baselines.question import NO_TEXT, asks_a_question, has_text, own_words, wording
from keju.text import counted
from keju.texts import _

_FORMS = frozenset({"letter", "text", "short"})


class Shared(NamedTuple):
    """The shares of a text's character pairs and characters that occur in another."""

    pairs: float
    chars: float


class Overlap(Baseline):
    """Answers from a text by counting shared characters.

    The text is supplied by the setting or transcribed by an engine before
    (``ocr+llm:ppocr+baseline:overlap``). Multiple choice: the letter of the option that shares most
    with the text. Open questions: the line of the text that shares most with the question. Pairs of
    characters count first, then characters, then the order; if nothing is shared, the response is
    empty. Texts are compared as `counted`, with variants and scripts joined.
    """

    def __init__(self, options: ModelOptions) -> None:
        del options
        super().__init__("overlap")

    def unsupported_reason(self, request: Request) -> str:
        """Does not support requests without a text, without options, or without a question."""
        if request.form not in _FORMS:
            return _("overlap only chooses options and lines")
        if not has_text(request):
            return NO_TEXT
        if request.form != "letter":
            asks = asks_a_question(request)
            return (
                "" if asks else _("overlap answers questions, and this task asks none of its own")
            )
        found = len(options_in(wording(request)))
        return "" if found and found == len(request.choices) else _("no options in the prompt")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """A letter or a line, or nothing."""
        del images
        if request.form == "letter":
            answers: Sequence[str] = request.choices
            text = counted(request.source)
            options = options_in(wording(request))
            best = most([shared(counted(option), text) for option in options])
        else:
            answers = [line.strip() for line in request.source.splitlines() if line.strip()]
            question = own_words(request)
            best = most([shared(question, counted(line)) for line in answers])
        if best is None:
            return Answer(text="", status="empty")
        return Answer(text=answers[best])


def shared(wanted: str, text: str) -> Shared:
    """The share of `wanted` that occurs in `text`, each pair and each character counted once.

    A single character has no pair; its share counts for both.
    """
    chars = _share(set(wanted), set(text))
    if len(wanted) == 1:
        return Shared(chars, chars)
    return Shared(_share(_pairs(wanted), _pairs(text)), chars)


def most(found: Sequence[Shared]) -> int | None:
    """The index of the greatest, the first of equals; None where nothing is shared."""
    best = max(range(len(found)), key=lambda place: (found[place], -place), default=None)
    return None if best is None or not found[best].chars else best


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2] for place in range(len(text) - 1)}
