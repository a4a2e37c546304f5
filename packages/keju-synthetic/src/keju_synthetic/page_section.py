"""The section ``pages``: woodblock-like pages of the classics, with their items."""

from __future__ import annotations

from collections.abc import Iterator

from keju.errors import DataError
from keju.items import Item
from keju.messages import message
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.page_images import make_drawn_page
from keju_synthetic.page_items import make_page_items
from keju_synthetic.page_layout import READ
from keju_synthetic.page_spec import PageSpec, list_page_specs
from keju_synthetic.questions import load_questions
from keju_synthetic.woodblock_pages import compose_page


def draw_pages(context: DrawingContext) -> Iterator[Item]:
    """Draw the recipe's pages, and yield their items."""
    specs = context.recipe.read_section("pages", PageSpec)
    return (item for spec in specs for item in _draw_page(context, spec))


def _draw_page(context: DrawingContext, spec: PageSpec) -> Iterator[Item]:
    passage = context.find_passage(spec.passage, image_id=spec.id)
    layouts = [
        compose_page(picture, passage, lambda name: context.find_hand(name, image_id=spec.id))
        for picture in list_page_specs(spec)
    ]
    if not all(any(line.kind in READ for line in layout.lines) for layout in layouts):
        raise DataError(message("synthetic.passage-too-short"), item=spec.id)
    facts = {"form": spec.form, "made": spec.made}
    brushed = spec.made == "manuscript"
    page = make_drawn_page(context, spec, layouts, scan=spec.scan, brushed=brushed, metadata=facts)
    yield from make_page_items(page, load_questions())
