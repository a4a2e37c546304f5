"""Build a synthetic set from a recipe: every image is drawn, every answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL

from keju.datasets.store import DatasetManifest, DatasetWriter
from keju.definitions import tasks
from keju.errors import DataError
from keju.files import write_json
from keju.items import Item, Record
from keju.messages import hint_of
from keju_synthetic.bones.bone_sections import BONES
from keju_synthetic.calligraphy.calligraphy_section import draw_calligraphy
from keju_synthetic.drawing_context import DrawingContext, Family
from keju_synthetic.fonts import FontRecord
from keju_synthetic.page_section import draw_pages
from keju_synthetic.pictures.illustrations import draw_illustrations
from keju_synthetic.pictures.paintings import draw_paintings
from keju_synthetic.recipe import FORMAT, Recipe, read_recipe
from keju_synthetic.relics.relic_section import draw_relics
from keju_synthetic.seals.seal_section import draw_seals
from keju_synthetic.texts import load_passages

MAKING = "making.json"
"""Beside dataset.json: how the set was made, and with which fonts."""

FAMILIES: Mapping[str, Family] = {
    "pages": draw_pages,
    "calligraphy": draw_calligraphy,
    "seals": draw_seals,
    "relics": draw_relics,
    "paintings": draw_paintings,
    "illustrations": draw_illustrations,
    **BONES,
}
"""The function that draws each section of a recipe, in drawing order."""


class Making(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Everything besides keju itself that decides the bytes of a synthetic set.

    `recipe` is the recipe's file name, `files` the SHA-256 of it and of each part that it
    includes. Another font file or another release of Pillow (with its FreeType and libjpeg) may
    give another hash of the set.
    """

    format: str
    recipe: str
    files: dict[str, str]
    pillow: str
    numpy: str
    fonts: dict[str, FontRecord]


class BuildReport(NamedTuple):
    """The manifest as written, the record of the fonts and versions, and the size of all images."""

    manifest: DatasetManifest
    making: Making
    image_bytes: int


def build_synth(recipe: Path, out: Path) -> BuildReport:
    """Build the set that a recipe describes into a new folder.

    The same recipe with the same fonts and the same Pillow gives the same dataset hash.

    Args:
        recipe: a TOML file of the format ``keju-synth-1``.
        out: the dataset's folder; new or empty.

    Raises:
        DataError: the recipe is not valid, or a font lacks the outline of a character.
        PrerequisiteError: a font is not installed.
        UsageError: `out` is not empty.
    """
    plan = read_recipe(recipe, FAMILIES)
    passages = load_passages()
    with DatasetWriter(
        out,
        name=plan.name,
        version=plan.version,
        licence=plan.licence,
        source=f"made by keju (recipe {recipe.name}); texts in the public domain",
        synthetic=True,
        language="lzh",
        script="Hant",
    ) as writer:
        context = DrawingContext(plan, passages, writer)
        items = _draw_items(context, recipe)
        for item in sort_by_catalogue(items):
            writer.add(item)
        manifest = writer.close()
    making = _make_record(recipe, plan, context)
    write_json(out / MAKING, making)
    return BuildReport(manifest, making, context.image_bytes)


def _draw_items(context: DrawingContext, recipe: Path) -> list[Item]:
    """The items of all families; an error without a file gets the recipe's path."""
    try:
        drawn = [draw(context) for draw in FAMILIES.values()]
        return [item for family in drawn for item in family]
    except DataError as error:
        if error.file is not None:
            raise
        hint = None if hint_of(error.message) else error.hint
        raise DataError(error.message, file=recipe, item=error.item, hint=hint) from None


def sort_by_catalogue(items: list[Item]) -> list[Item]:
    """Items task by task as the catalogues have them; within a task in the order drawn."""
    place = {task.id: number for number, task in enumerate(tasks())}
    return sorted(items, key=lambda item: place[item.task])


def _make_record(recipe: Path, plan: Recipe, context: DrawingContext) -> Making:
    return Making(
        format=FORMAT,
        recipe=recipe.name,
        files=dict(plan.files),
        pillow=PIL.__version__,
        numpy=np.__version__,
        fonts=context.list_font_records(),
    )
