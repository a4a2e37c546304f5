"""Page templates: everything is escaped, in the language of the reader."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jinja2
import msgspec

from keju.translations import Words

LANGUAGES = ("en", "zh")
_ROOM = "keju.annotation"
_SHARED = {"tokens.css": "keju"}
_TYPES = {
    "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml",
}  # fmt: skip


class QueueTexts(NamedTuple):
    """The description of a queue on the start page."""

    glyph: str
    title: str
    what: str


QUEUE_TEXTS = {
    "exam": QueueTexts(
        "試", "The exam", "Answer the questions that models are asked, in the same words and order."
    ),
    "rating": QueueTexts(
        "評", "Rate answers", "Answers from 0 to 10 beside the reference, blind to whose they are."
    ),
    "review": QueueTexts(
        "審", "Review items", "Accept, mend or reject what was proposed, and say why."
    ),
    "authoring": QueueTexts(
        "撰", "Write new items", "From a picture: a question, its answer, a transcription, boxes."
    ),
    "adjudication": QueueTexts(
        "裁", "Settle unclear answers", "Say which option an answer chose where no rule can tell."
    ),
}  # fmt: skip


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: _read(_ROOM, name).decode()),
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, language: str, **shown: object) -> str:
    """Render one page.

    Texts of people, models and datasets are escaped, or data and never markup.
    """
    words = Words(language, _ROOM)
    shown = {"error": "", "person": "", "boxes": [], "truth_boxes": [], **shown}
    return _environment().get_template(template).render(
        _=words,
        language=language,
        script_words=msgspec.json.encode(words.table).decode() if words.table else "{}",
        **shown,
    )  # fmt: skip


def asset(name: str) -> tuple[bytes, str] | None:
    """A static file of the pages and its type; None if there is none with that name."""
    kind = _TYPES.get(name.rpartition(".")[2])
    if kind is None or "/" in name or "\\" in name or name.startswith("."):
        return None
    try:
        return _read(_SHARED.get(name, _ROOM), name), kind
    except (OSError, ValueError):
        return None


@cache
def _read(room: str, name: str) -> bytes:
    return files(room).joinpath("assets", name).read_bytes()
