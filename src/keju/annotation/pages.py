"""`render`: page templates, filled with escaped values, in the language of the reader."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jinja2
import msgspec
from aiohttp import web

from keju.translations import Words

LANGUAGES = ("en", "zh")
_PACKAGE = "keju.annotation"
_TEXT_OF_SCRIPT = re.compile(r'say\("([a-z0-9.-]+)"')
_SHARED = {"tokens.css": "keju", "seal.svg": "keju"}
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
def _make_environment() -> jinja2.Environment:
    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: _read(_PACKAGE, name).decode()),
        trim_blocks=True,
        lstrip_blocks=True,
    )


def get_language(request: web.Request) -> str:
    """The language of the pages: as chosen in the browser, else as the browser prefers."""
    chosen = request.cookies.get("keju-lang", "")
    if chosen in LANGUAGES:
        return chosen
    return "zh" if request.headers.get("Accept-Language", "").lower().startswith("zh") else "en"


def render(template: str, language: str, **values: object) -> str:
    """Render one page; texts of people, models and datasets are escaped."""
    words = load_words(language)
    values = {"error": "", "person": "", "boxes": [], "reference_boxes": [], **values}
    return _make_environment().get_template(template).render(
        _=words,
        text=words.text,
        language=language,
        script_words=msgspec.json.encode(_collect_script_texts(words)).decode(),
        **values,
    )  # fmt: skip


@cache
def load_words(language: str) -> Words:
    """Load the texts of the pages in a language."""
    return Words(language, ("annotation", "stored"))


def _collect_script_texts(words: Words) -> dict[str, str]:
    script = _read(_PACKAGE, "queue.js").decode()
    return words.sources(_TEXT_OF_SCRIPT.findall(script))


def read_asset(name: str) -> tuple[bytes, str] | None:
    """Read a static file of the pages; return its bytes and type, or None if it does not exist."""
    kind = _TYPES.get(name.rpartition(".")[2])
    if kind is None or "/" in name or "\\" in name or name.startswith("."):
        return None
    try:
        return _read(_SHARED.get(name, _PACKAGE), name), kind
    except (OSError, ValueError):
        return None


@cache
def _read(package: str, name: str) -> bytes:
    return files(package).joinpath("assets", name).read_bytes()
