"""The family of pages: woodblock-like leaves of the classics, and what is asked about them."""

from __future__ import annotations

from collections.abc import Iterator

from keju.building.leaves import PageSpec, compose_page
from keju.building.plates import make_plate
from keju.building.questions import items_about, load_questions
from keju.building.studio import Studio
from keju.items import Item


def draw_pages(studio: Studio) -> Iterator[Item]:
    """Draw the recipe's pages, and ask about them."""
    specs = studio.recipe.part("pages", PageSpec)
    return (item for spec in specs for item in _page(studio, spec))


def _page(studio: Studio, spec: PageSpec) -> Iterator[Item]:
    passage = studio.passage(spec.passage, asked_by=spec.id)
    layout = compose_page(spec, passage, lambda name: studio.hand(name, asked_by=spec.id))
    plate = make_plate(studio, spec, [layout], scan=spec.scan, metadata={"form": spec.form})
    yield from items_about(plate, load_questions())
