"""The pages of a site, in both languages; everything from bundles is escaped, or data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import msgspec
from markupsafe import Markup

from keju import __version__
from keju.formatting import percent, percent_range
from keju.reporting.item_pages import inert, page_templates
from keju.scoring import PROTOCOLS, VERDICTS
from keju.site.addresses import address
from keju.site.boards import Board
from keju.site.item_files import BOARDS
from keju.site.model_facts import NO_FACTS, Facts, ModelFacts
from keju.site.page_data import (
    definitions_of,
    domains_of,
    filters,
    metric_heads,
    printed_task,
    task_on_page,
    task_rows,
    view_data,
    views,
)
from keju.site.printed_rows import PrintedRow, printed_rows
from keju.site.records import Source
from keju.site.script_data import script, write_changed
from keju.site.statements import Statements
from keju.texts import LANGUAGES
from keju.words import Words

_TEMPLATES = (
    "layout.html.j2", "parts.html.j2", "start.html.j2", "board.html.j2", "task.html.j2",
    "model.html.j2", "items.html.j2", "about.html.j2", "root.html.j2",
)  # fmt: skip
_FILES = ("common.js", "board.js", "items.js", "start.js", "root.js")
_SHOWN = tuple(reversed(PROTOCOLS))
"""The protocols in the order of columns: the recommended one first."""


class Model(NamedTuple):
    """A model of the site and what is stated about it."""

    name: str
    facts: ModelFacts

    @property
    def address(self) -> str:
        """The name of the model's page."""
        return address(self.name)


class Site(NamedTuple):
    """Everything that the pages show."""

    title: str
    boards: Sequence[Board]
    sources: Sequence[Source]
    facts: Facts
    statements: Statements
    keju: str = __version__

    @property
    def by_benchmark(self) -> Mapping[str, list[Board]]:
        """The boards of each benchmark."""
        found: dict[str, list[Board]] = {}
        for board in self.boards:
            found.setdefault(board.of.benchmark, []).append(board)
        return found

    @property
    def models(self) -> list[Model]:
        """The models by name."""
        names = sorted({row.entry.model for board in self.boards for row in board.rows})
        return [Model(name, self.facts.get(name, NO_FACTS)) for name in names]


def write_pages(site: Site, out: Path) -> set[Path]:
    """Write all pages, scripts and styles; returns their paths."""
    written = {write_changed(out / "assets" / name, _asset(name)) for name in _FILES}
    shared = files("keju").joinpath("assets")
    written.add(
        write_changed(out / "assets" / "seal.svg", shared.joinpath("seal.svg").read_bytes())
    )
    style = shared.joinpath("tokens.css").read_bytes()
    style += files("keju.reporting").joinpath("assets", "report.css").read_bytes()
    written.add(write_changed(out / "assets" / "style.css", style + _asset("style.css")))
    for board in site.boards:
        written |= set(_write_board_data(board, out))
    for language in LANGUAGES:
        pages = _Pages(site, Words(language))
        for path, text in pages.render():
            written.add(write_changed(out / language / path, text.encode()))
    root = _environment().get_template("root.html.j2").render(title=site.title)
    written.add(write_changed(out / "index.html", root.encode()))
    return written


def _write_board_data(board: Board, out: Path) -> Iterator[Path]:
    """Write the data of a board that is the same in both languages."""
    folder = BOARDS / board.of.id
    groups = views(board, Words("en"))
    data = view_data(_reordered(board), groups, _printed(board))
    entries = [
        [
            row.entry.id,
            row.entry.name,
            row.source.id,
            address(row.entry.model),
            row.source.shows_texts,
        ]
        for row in board.rows
    ]
    for name, value in (("board", data), ("entries", entries)):
        key = f"{folder.as_posix()}/{name}"
        yield write_changed(out / f"{key}.js", script(key, msgspec.json.encode(value)))


def _reordered(board: Board) -> Board:
    return board._replace(protocols=[each for each in _SHOWN if each in board.protocols])


def _printed(board: Board) -> list[PrintedRow]:
    """The paper's rows; none beside synthetic data, with which they cannot be compared."""
    return [] if board.source.synthetic else printed_rows(board.of.benchmark)


def _asset(name: str) -> bytes:
    return files("keju.site").joinpath("assets", name).read_bytes()


@cache
def _environment() -> jinja2.Environment:
    environment = page_templates({name: _asset(name).decode() for name in _TEMPLATES})
    environment.filters["percent"] = percent
    environment.filters["percent_range"] = percent_range
    return environment


class _Pages:
    """The pages in one language."""

    def __init__(self, site: Site, words: Words) -> None:
        self._site = site
        self._words = words
        self._environment = _environment()
        self._tasks = {
            board.of.id: [task_on_page(each, words) for each in board.of.tasks]
            for board in site.boards
        }

    def render(self) -> Iterator[tuple[str, str]]:
        """The path and the text of each page."""
        yield self._page("start.html.j2", "index.html", tasks=list(self._tasks_of_start()))
        yield self._page("about.html.j2", "about.html")
        for board in map(_reordered, self._site.boards):
            yield self._board(board)
            yield self._items(board)
            for known in board.of.tasks:
                yield self._page(
                    "task.html.j2",
                    f"tasks/{board.of.id}/{known.address}.html",
                    board=board,
                    task=task_on_page(known, self._words),
                    rows=task_rows(board, known),
                    heads=metric_heads(known),
                    definitions=definitions_of(known),
                    printed=printed_task(board.of.benchmark, known)
                    if not board.source.synthetic
                    else None,
                )
        for model in self._site.models:
            yield self._page(
                "model.html.j2",
                f"models/{model.address}.html",
                model=model,
                entries=list(self._entries(model.name)),
                protocols=_SHOWN,
            )

    def _page(self, template: str, path: str, **fields: object) -> tuple[str, str]:
        text = self._environment.get_template(template).render(
            site=self._site,
            _=self._words,
            n_=self._words.number,
            p_=self._words.in_context,
            path=path,
            root="../" * (path.count("/") + 1),
            **fields,
        )
        return path, text

    def _board(self, board: Board) -> tuple[str, str]:
        rows, printed = board.rows, _printed(board)
        facts = [*(row.facts for row in rows), *(row.facts for row in printed)]
        return self._page(
            "board.html.j2",
            f"boards/{board.of.id}.html",
            board=board,
            protocols=board.protocols,
            printed=printed,
            views=views(board, self._words),
            filters=filters(rows, printed, self._words),
            has_vendor=any(each.vendor for each in facts),
            has_size=any(each.size_b for each in facts),
            tasks=self._tasks[board.of.id],
            words=self._script_words("common.js", "board.js"),
        )

    def _items(self, board: Board) -> tuple[str, str]:
        return self._page(
            "items.html.j2",
            f"items/{board.of.id}.html",
            board=board,
            tasks=self._tasks[board.of.id],
            words=self._script_words("common.js", "items.js"),
        )

    def _entries(self, model: str) -> Iterator[dict[str, Any]]:
        for board in map(_reordered, self._site.boards):
            for row in board.rows:
                if row.entry.model == model:
                    domains = list(domains_of(row, board, _SHOWN, self._words))
                    yield {**row._asdict(), "board": board, "domains": domains}

    def _tasks_of_start(self) -> Iterator[dict[str, str]]:
        several = len(self._site.boards) > 1
        for board in self._site.boards:
            for each in self._tasks[board.of.id]:
                about = f" · {self._words(board.of.benchmark)}" if several else ""
                yield {"board": board.of.id, "address": each.address, "label": each.label + about}

    def _script_words(self, *scripts: str) -> Markup:
        """The texts that scripts use, and the names of statuses and verdicts."""
        code = "".join(_asset(name).decode() for name in scripts)
        labels = {f"label {name}": self._words(name) for name in (*_STATUSES, *VERDICTS)}
        return inert(self._words.in_script(code) | labels)


_STATUSES = ("answered", "empty", "truncated", "filtered", "failed")
