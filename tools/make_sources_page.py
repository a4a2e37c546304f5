"""Writes docs/sources.md: the keys of every form of source, from their settings.

python -m tools.make_sources_page
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from keju.building.sources import SOURCES, get_source_form
from keju.building.sources.keys import list_keys
from keju.datasets.readers import FORMATS

PAGE = Path(__file__).parents[1] / "docs" / "sources.md"


def render_sources_page() -> str:
    """Render the page of the docs that lists the keys of every form, as Markdown."""
    return "\n".join(_iter_page_lines()) + "\n"


def _iter_page_lines() -> Iterator[str]:
    yield "# Sources of a build and their keys\n"
    yield "The keys of each form, as `keju build sources FORM` prints them. For their use see"
    yield "[building.md](building.md#sources). Made by `python -m tools.make_sources_page`."
    for name in SOURCES.builtin:
        form = SOURCES[name]
        yield f"\n## `{name}`: {form.summary}\n"
        yield from _iter_table_lines(form.settings)
    yield "\n## A format of `keju data import`\n"
    yield "`form` is its name: " + ", ".join(f"`{name}`" for name in FORMATS.builtin) + ".\n"
    yield from _iter_table_lines(get_source_form(next(iter(FORMATS)), place="").settings)


def _iter_table_lines(settings: type[msgspec.Struct]) -> Iterator[str]:
    yield "| key | value | |\n|---|---|---|"
    for key in list_keys(settings):
        yield f"| `{key.name}` | {key.description.replace('|', 'or')} | {key.summary} |"


if __name__ == "__main__":
    PAGE.write_text(render_sources_page(), "utf-8")
