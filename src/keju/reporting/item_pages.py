"""The files of a report in a directory: items, images, and further pages of many items."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jinja2
import msgspec
from markupsafe import Markup

from keju.files import encode_stored, write_atomic
from keju.reporting.item_browser import Browser, BrowserPart
from keju.words import Words

if TYPE_CHECKING:
    from keju.reporting.view import View

ITEMS_PER_PAGE = 10_000
"""Items up to which a report in a directory has one page; more are on several pages.

A page has an index of its items (30 to 50 bytes of each), which a browser loads at once.
"""

PAGE = "index.html"
_ITEMS, _PICTURES = "items", "pictures"
_PART = re.compile(r"part-([0-9]+)")

_TEMPLATES = ("report.html.j2", "items.html.j2", "item_page.html.j2")
_SCRIPTS = ("views.js", "report.js")
_PAGED_SCRIPT = "item_pages.js"


class PageAssets(NamedTuple):
    """The style and script of a page, and the code of the script."""

    fields: dict[str, object]
    script: str


class _Link(NamedTuple):
    first: int
    size: int
    address: str


def page_assets(*, paged: bool) -> PageAssets:
    """The style and the script with their hashes; with the script of several pages if `paged`."""
    tokens = files("keju").joinpath("assets", "tokens.css").read_text("utf-8")
    style = tokens + _asset("report.css")
    script = "".join(map(_asset, (*((_PAGED_SCRIPT,) if paged else ()), *_SCRIPTS)))
    fields: dict[str, object] = {
        "style": Markup(style),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }
    return PageAssets(fields, script)


@cache
def report_templates() -> jinja2.Environment:
    """The templates of a report.

    A process compiles them once, which takes a tenth of the time of a small report.
    """
    return page_templates({name: _asset(name) for name in _TEMPLATES})


def page_templates(sources: Mapping[str, str]) -> jinja2.Environment:
    """Templates by name; every value is escaped unless it is marked as markup."""
    return jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.DictLoader(sources)
    )


def page_fields(browser: Browser, number: int) -> dict[str, object]:
    """The links to all pages of items, for page `number`; no links if there is one page."""
    parts = browser.parts
    return {
        "part": parts[number],
        "total": sum(part.size for part in parts),
        "parts": [
            _Link(part.first, part.size, _address(here, number)) for here, part in enumerate(parts)
        ]
        if len(parts) > 1
        else (),
    }


def page_data(browser: Browser, number: int, *, single: bool) -> dict[str, Any]:
    """The data of page `number` for its script."""
    part = browser.parts[number]
    data = browser.index_of(part) | {"single": single}
    if len(browser.parts) > 1:
        starts = [each.first for each in browser.parts]
        data["pages"] = {"first": part.first, "starts": starts}
    return data


def write_item_pages(out: Path, view: View, browser: Browser, words: Words) -> None:
    """Write the items and images of a report, and all pages of items but the first.

    Page n > 1 is the directory ``part-n`` with the same files as the report. Pages of an earlier
    report with more items are removed.
    """
    _write_parts(browser, browser.parts[0], out)
    assets = page_assets(paged=True)
    template = report_templates().get_template("item_page.html.j2")
    texts = words.in_script(assets.script)
    views = inert({"models": view.names, "breakdowns": [], "options": [], "words": texts})
    for number, part in enumerate(browser.parts[1:], start=1):
        folder = out / f"part-{number + 1}"
        _write_parts(browser, part, folder)
        page = template.render(
            **assets.fields,
            **page_fields(browser, number),
            report=view,
            _=words,
            n_=words.number,
            p_=words.in_context,
            views=views,
            data=inert(page_data(browser, number, single=False)),
        )
        write_atomic(folder / PAGE, page.encode())
    for old in out.glob("part-*"):
        name = _PART.fullmatch(old.name)
        if name and int(name[1]) > len(browser.parts) and (old / PAGE).is_file():
            shutil.rmtree(old)


def inert(data: object) -> Markup:
    """JSON whose texts cannot end a script element."""
    return escape(msgspec.json.encode(data, enc_hook=encode_stored))


def escape(json: bytes) -> Markup:
    """The same of JSON that is already encoded."""
    text = json.decode()
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped just above


def _address(number: int, here: int) -> str:
    """The relative address of one page of items on another one."""
    folder = f"part-{number + 1}/" if number else ""
    return f"{'../' if here else ''}{folder}{PAGE}"


def _write_parts(browser: Browser, part: BrowserPart, out: Path) -> None:
    """Write items as scripts, since a page from the disk may not load data; images as files."""
    scripts = (f"kejuChunk({n},{escape(each)});" for n, each in enumerate(browser.chunks_of(part)))
    _write_numbered(out / _ITEMS, ".js", (each.encode() for each in scripts))
    _write_numbered(out / _PICTURES, ".jpg", part.pictures)


def _write_numbered(folder: Path, suffix: str, contents: Iterator[bytes] | Iterable[bytes]) -> None:
    count = 0
    for count, data in enumerate(contents, start=1):
        write_atomic(folder / f"{count - 1}{suffix}", data)
    for old in folder.glob(f"*{suffix}"):
        if old.stem.isdecimal() and int(old.stem) >= count:
            old.unlink()


def _asset(name: str) -> str:
    return files("keju.reporting").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
