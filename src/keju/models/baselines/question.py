"""The question of a request without its task's common wording, and whether it has a text."""

from __future__ import annotations

import re

from keju.definitions import Query, task
from keju.items import TRUE_READING, Request
from keju.text import counted
from keju.texts import _

NO_TEXT = _("it needs a text: use --setting gold-text, or ocr+llm:ENGINE+baseline:NAME")

_BLANK = re.compile(r"\{[a-z_]+\}")
_QUESTION = "{question}"


def has_text(request: Request) -> bool:
    """Whether a text is or will be sent with the question."""
    return bool(request.source) or request.setting in TRUE_READING


def wording(request: Request) -> str:
    """The prompt without the text that precedes the question."""
    shown = request.source
    return request.prompt.rpartition(shown)[2] if shown else request.prompt


def asks_a_question(request: Request) -> bool:
    """Whether items of the task have different questions."""
    query = _query(request)
    return query is not None and _QUESTION in query.template


def own_words(request: Request) -> str:
    """The question without the words common to all items of its task, as `counted`."""
    words = counted(wording(request))
    query = _query(request)
    for shared in _BLANK.split(query.template) if query else ():
        words = words.replace(counted(shared), "")
    return words


def _query(request: Request) -> Query | None:
    queries = task(request.task).queries
    return next((query for query in queries if query.name == request.query), None)
