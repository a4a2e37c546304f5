"""`render`: page templates, filled with escaped values, in the language of the reader."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jinja2
import msgspec
from aiohttp import web

from keju.texts import LANGUAGES, _
from keju.words import Words

_PACKAGE = "keju.annotation"
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
        "試",
        _("Exam"),
        _("Answer the same questions as the models, in the same words and order."),
    ),
    "rating": QueueTexts(
        "評",
        _("Rate answers"),
        _("Rate answers from 0 to 10 against the reference. The model is not shown."),
    ),
    "review": QueueTexts(
        "審",
        _("Review items"),
        _("Accept, correct or reject draft items, and give the reason."),
    ),
    "adjudication": QueueTexts(
        "裁",
        _("Adjudicate unclear answers"),
        _("Decide which value an answer gives if the rules cannot read it."),
    ),
}


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
    cookie_language = request.cookies.get("keju-lang", "")
    if cookie_language in LANGUAGES:
        return cookie_language
    return "zh" if request.headers.get("Accept-Language", "").lower().startswith("zh") else "en"


def render(template: str, language: str, **values: object) -> str:
    """Render one page; texts of people, models and datasets are escaped."""
    words, script = _load_words(language), _read(_PACKAGE, "queue.js").decode()
    values = {"error": "", "person": "", "boxes": [], "reference_boxes": [], **values}
    return _make_environment().get_template(template).render(
        _=words,
        language=language,
        script_words=msgspec.json.encode(words.in_script(script)).decode(),
        **values,
    )  # fmt: skip


@cache
def _load_words(language: str) -> Words:
    return Words(language)


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
