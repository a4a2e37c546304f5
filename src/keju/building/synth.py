"""Building a synthetic set from a recipe: every picture drawn, every answer known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL

from keju.building.composing import Layout, needed_characters
from keju.building.drawing import Fonts
from keju.building.fonts import Font, FontRecord, check_coverage, find_font
from keju.building.pages import compose_page
from keju.building.plates import Drawn, Style, draw_plate
from keju.building.questions import Plate, items_about, load_questions
from keju.building.recipe import (
    FORMAT,
    HandSpec,
    PageSpec,
    Recipe,
    Scan,
    SheetSpec,
    read_recipe,
)
from keju.building.sheets import compose_sheet
from keju.building.texts import Passage, load_passages
from keju.building.wear import wear_at
from keju.datasets.store import DatasetManifest, DatasetWriter
from keju.errors import DataError
from keju.files import sha256_file, write_json
from keju.items import Record

MAKING = "making.json"
"""Beside dataset.json: how the set was made, and with which fonts."""


class Making(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What decides a synthetic set's bytes besides keju itself.

    `recipe` is the recipe's file name and `recipe_sha256` its hash. Another font file or another
    release of Pillow (with its FreeType and libjpeg) may give another hash of the set.
    """

    format: str
    recipe: str
    recipe_sha256: str
    pillow: str
    numpy: str
    fonts: dict[str, FontRecord]


class BuildReport(NamedTuple):
    """What was built: the manifest as written, how it was made, and the size of all pictures."""

    manifest: DatasetManifest
    making: Making
    image_bytes: int


class _Picture(NamedTuple):
    """A picture to be drawn, of whatever family."""

    spec: PageSpec | SheetSpec
    layout: Layout
    scan: Scan


Family = Callable[[Recipe, Mapping[str, Passage]], Iterator[_Picture]]
"""Composes the pictures of one family that a recipe asks for."""


def build_synth(recipe: Path, out: Path) -> BuildReport:
    """Build the set that a recipe describes into a new folder.

    The same recipe with the same fonts and the same Pillow gives the same dataset hash.

    Args:
        recipe: a TOML file of the format ``keju-synth-1``.
        out: the dataset's folder; new or empty.

    Raises:
        DataError: the recipe is not sound, or a font lacks the outline of a character.
        PrerequisiteError: a font is not installed.
        UsageError: `out` holds something else.
    """
    plan = read_recipe(recipe)
    passages = load_passages()
    fonts = {
        name: (hand, find_font(hand.family, hand.style, hand.licence))
        for name, hand in plan.hands.items()
    }
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
        plates = [
            _plate(plan, picture, _draw(plan, picture, fonts), passages, writer)
            for family in FAMILIES
            for picture in family(plan, passages)
        ]
        for item in items_about(plates, load_questions()):
            writer.add(item)
        manifest = writer.close()
    making = _making(recipe, {name: font.record for name, (_, font) in fonts.items()})
    write_json(out / MAKING, making)
    return BuildReport(manifest, making, sum(plate.image.size for plate in plates))


def _making(recipe: Path, fonts: dict[str, FontRecord]) -> Making:
    return Making(
        format=FORMAT,
        recipe=recipe.name,
        recipe_sha256=sha256_file(recipe),
        pillow=PIL.__version__,
        numpy=np.__version__,
        fonts=fonts,
    )


def _pages(recipe: Recipe, passages: Mapping[str, Passage]) -> Iterator[_Picture]:
    for spec in recipe.pages:
        layout = compose_page(spec, _passage(spec, passages), _hands(recipe, spec.id))
        yield _Picture(spec, layout, spec.scan)


def _sheets(recipe: Recipe, passages: Mapping[str, Passage]) -> Iterator[_Picture]:
    for spec in recipe.sheets:
        layout = compose_sheet(spec, _passage(spec, passages), _hands(recipe, spec.id))
        yield _Picture(spec, layout, "colour")


FAMILIES: tuple[Family, ...] = (_pages, _sheets)
"""The families of pictures, in the order in which they are drawn."""


def _passage(spec: PageSpec | SheetSpec, passages: Mapping[str, Passage]) -> Passage:
    try:
        return passages[spec.passage]
    except KeyError:
        raise DataError(
            f"no passage '{spec.passage}'", item=spec.id, mend=f"Known: {', '.join(passages)}"
        ) from None


def _hands(recipe: Recipe, asked_by: str) -> Callable[[str], HandSpec]:
    return lambda name: recipe.hand(name, asked_by=asked_by)


def _draw(recipe: Recipe, picture: _Picture, fonts: Fonts) -> Drawn:
    spec = picture.spec
    for hand, characters in needed_characters(picture.layout).items():
        check_coverage(fonts[hand][1], characters, what=spec.id)
    style = Style(
        fonts=fonts,
        seal_font=_seal_font(picture, fonts),
        wear=wear_at(spec.difficulty, spec.wear, item=spec.id),
        scan=picture.scan,
        quality=recipe.quality,
    )
    return draw_plate(picture.layout, style, recipe.seed, spec.id)


def _seal_font(picture: _Picture, fonts: Fonts) -> Font | None:
    marks, name = picture.layout.marks, picture.spec.seal_hand
    if not marks:
        return None
    if name not in fonts:
        raise DataError(
            f"no hand '{name}' for the seals", item=picture.spec.id, mend="Set seal_hand"
        )
    font = fonts[name][1]
    check_coverage(font, "".join(mark.legend for mark in marks), what=picture.spec.id)
    return font


def _plate(
    recipe: Recipe,
    picture: _Picture,
    drawn: Drawn,
    passages: Mapping[str, Passage],
    writer: DatasetWriter,
) -> Plate:
    spec = picture.spec
    passage = passages[spec.passage]
    hand = recipe.hands[spec.hand]
    return Plate(
        id=spec.id,
        image=writer.add_image(drawn.data, f"{spec.id}.jpg"),
        lines=drawn.lines,
        passage=passage,
        script=hand.script,
        split=spec.split,
        asks=spec.asks,
        metadata={
            "work": passage.work,
            "author": passage.author,
            "dynasty": passage.dynasty,
            "passage": passage.id,
            "hand": spec.hand,
            "font": hand.family,
            "difficulty": f"{spec.difficulty:g}",
            "form": spec.form if isinstance(spec, PageSpec) else "calligraphy",
            "scan": picture.scan,
        },
    )
