"""Page templates: everything is escaped, in the language of the reader."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jinja2
import msgspec

from keju.translations import Words

LANGUAGES = ("en", "zh")
_ROOM = "keju.annotation"
_TEXT_OF_SCRIPT = re.compile(r'say\("([a-z0-9.-]+)"')
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
        "試", "annotation.exam", "annotation.exam-about"
    ),
    "rating": QueueTexts(
        "評", "annotation.rating", "annotation.rating-about"
    ),
    "review": QueueTexts(
        "審", "annotation.review", "annotation.review-about"
    ),
    "authoring": QueueTexts(
        "撰", "annotation.authoring", "annotation.authoring-about"
    ),
    "adjudication": QueueTexts(
        "裁", "annotation.adjudication", "annotation.adjudication-about"
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
    words = words_in(language)
    shown = {"error": "", "person": "", "boxes": [], "truth_boxes": [], **shown}
    return _environment().get_template(template).render(
        _=words,
        text=words.text,
        language=language,
        script_words=msgspec.json.encode(_script_texts(words)).decode(),
        **shown,
    )  # fmt: skip


@cache
def words_in(language: str) -> Words:
    """The texts of the pages in a language."""
    return Words(language, ("annotation", "stored"))


def _script_texts(words: Words) -> dict[str, str]:
    script = _read(_ROOM, "queue.js").decode()
    return {name: words.source(name) for name in _TEXT_OF_SCRIPT.findall(script)}


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
