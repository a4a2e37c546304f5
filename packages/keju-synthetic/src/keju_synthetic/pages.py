"""The family of pages: woodblock-like leaves of the classics, and what is asked about them."""

from __future__ import annotations

from collections.abc import Iterator

from keju.errors import DataError
from keju.items import Item
from keju.messages import message
from keju_synthetic.asking import items_about
from keju_synthetic.composing import READ
from keju_synthetic.leaves import compose_page
from keju_synthetic.page_spec import PageSpec, pictures_of
from keju_synthetic.plates import make_plate
from keju_synthetic.questions import load_questions
from keju_synthetic.studio import Studio


def draw_pages(studio: Studio) -> Iterator[Item]:
    """Draw the recipe's pages, and ask about them."""
    specs = studio.recipe.part("pages", PageSpec)
    return (item for spec in specs for item in _page(studio, spec))


def _page(studio: Studio, spec: PageSpec) -> Iterator[Item]:
    passage = studio.passage(spec.passage, asked_by=spec.id)
    layouts = [
        compose_page(picture, passage, lambda name: studio.hand(name, asked_by=spec.id))
        for picture in pictures_of(spec)
    ]
    if not all(any(line.kind in READ for line in layout.lines) for layout in layouts):
        raise DataError(message("synthetic.passage-too-short"), item=spec.id)
    facts = {"form": spec.form, "made": spec.made}
    brushed = spec.made == "manuscript"
    plate = make_plate(studio, spec, layouts, scan=spec.scan, brushed=brushed, metadata=facts)
    yield from items_about(plate, load_questions())
