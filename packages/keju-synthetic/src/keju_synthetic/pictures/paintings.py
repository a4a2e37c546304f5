"""The section ``paintings``: ink and colour on paper or silk, with mounting, label and writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from msgspec import structs

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.items import Item, Record
from keju_synthetic.camera import expose
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.noise import make_noise, ramp
from keju_synthetic.page_layout import READ
from keju_synthetic.paper import Picture, add_foxing, add_stains
from keju_synthetic.pictures import landscape_scenes, nature_scenes
from keju_synthetic.pictures.landscape_scenes import Counts
from keju_synthetic.pictures.lettering import draw_ink, make_lines, set_writings, soften_wear
from keju_synthetic.pictures.painting_mounts import (
    Form,
    Ground,
    draw_mounting,
    make_ground,
    make_mount,
)
from keju_synthetic.pictures.pens import INK, Brush
from keju_synthetic.pictures.works import (
    Work,
    WorkSpec,
    find_work,
    index_by_id,
    make_work_items,
    number_lines,
    press_seals,
)
from keju_synthetic.texts import DATA
from keju_synthetic.wear import Wear, compute_wear

SCENES: Mapping[str, Callable[[Brush], Counts]] = {
    "rivers": landscape_scenes.draw_rivers,
    "blue-green": landscape_scenes.draw_blue_green,
    "lone-angler": landscape_scenes.draw_lone_angler,
    "snow-bridge": landscape_scenes.draw_snow_bridge,
    "cloud-peaks": landscape_scenes.draw_cloud_peaks,
    "peach-spring": landscape_scenes.draw_peach_spring,
    "reed-geese": landscape_scenes.draw_reed_geese,
    "bamboo-rock": nature_scenes.draw_bamboo_rock,
    "ink-plum": nature_scenes.draw_ink_plum,
    "ink-orchid": nature_scenes.draw_ink_orchid,
    "staring-fish": nature_scenes.draw_staring_fish,
    "lotus-fan": nature_scenes.draw_lotus_fan,
    "gate-cranes": nature_scenes.draw_gate_cranes,
    "line-poet": nature_scenes.draw_line_poet,
    "ink-grapes": nature_scenes.draw_ink_grapes,
}
"""The scenes of paintings, by name."""


class Painting(Work, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A painting; `crisp` is 1 for a careful line (工筆) and 0 for a free one (寫意)."""

    form: Form
    ground: Ground
    technique: str
    crisp: float = 0.2


class _Paintings(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    works: tuple[Painting, ...]


def load_paintings(path: Path = DATA / "paintings.toml") -> Mapping[str, Painting]:
    """The known paintings by id.

    Raises:
        DataError: the file is not valid, or two entries have the same id.
    """
    return index_by_id(read_toml(path, _Paintings).works, path.name)


def draw_paintings(context: DrawingContext) -> Iterator[Item]:
    """Draw the recipe's paintings, and yield their items.

    Raises:
        DataError: a work or scene that is not known, a hand that cannot write its text, or a task
            without data.
    """
    specs = context.recipe.read_section("paintings", WorkSpec)
    works = load_paintings()
    maker = ItemMaker()
    return (
        item for spec in specs for item in _paint_work(context, spec, find_work(works, spec), maker)
    )


def _paint_work(
    context: DrawingContext, spec: WorkSpec, work: Painting, maker: ItemMaker
) -> Iterator[Item]:
    if work.scene not in SCENES:
        raise DataError(unknown_name(work.scene, SCENES, "scene"), item=spec.id)
    wear = compute_wear(spec.difficulty, {}, item=spec.id)
    wide, high = work.size
    brush = Brush(wide, high, context.rng(spec.id, "scene"), crisp=work.crisp)
    counts = SCENES[work.scene](brush)
    rng = context.rng(spec.id, "ground")
    sheet = make_ground(work.ground, (high, wide), wear, rng)
    add_stains(sheet, structs.replace(wear, stains=wear.stains * 0.4), rng)
    add_foxing(sheet, wear, rng)
    place = make_mount(work.form, wide, high)
    page = draw_mounting(sheet * _abrade(brush.light, wear, rng), work.form, place, rng)
    layout = set_writings(context, spec, work, (place.width, place.height), place.field, place.slip)
    ink = draw_ink(layout, context, soften_wear(wear), context.rng(spec.id, "writing"))[..., None]
    page = page * (1 - ink * (1 - np.asarray(INK, np.float32)) * 0.95)
    rng = context.rng(spec.id, "seals")
    page, seals = press_seals(page, work, (place.field.x0, place.field.y0), rng, worn=0.3)
    lines = number_lines([*make_lines(layout), *seals])
    image = expose(page, wear, "colour", rng)
    stored = StoredImage(
        id=spec.id,
        image=context.add_image(image, spec.id),
        group=work.id,
        split=spec.split,
        metadata=_make_metadata(spec, work, counts),
        transcription="\n".join(line.text for line in lines if line.kind in READ),
    )
    yield from make_work_items(stored, work, spec.asks, lines, counts, maker)


def _abrade(light: Picture, wear: Wear, rng: np.random.Generator) -> Picture:
    """The painting with abraded patches."""
    shape = (light.shape[0], light.shape[1])
    worn = ramp(make_noise(rng, shape, 7) * 0.4 + make_noise(rng, shape, 45) * 0.6, 0.60, 1.0)
    gone = (worn * (0.15 + 0.5 * wear.age) + 0.4 * wear.fade)[..., None]
    rubbed: Picture = (light + (1 - light) * gone).astype(np.float32)
    return rubbed


def _make_metadata(spec: WorkSpec, work: Painting, counts: Counts) -> dict[str, str]:
    drawn = ", ".join(f"{number} {name}" for name, number in counts.items())
    return {
        "work": work.title,
        "author": work.author,
        "dynasty": work.dynasty,
        "form": work.form,
        "material": "绢本" if work.ground == "silk" else "纸本",
        "technique": work.technique,
        "scene": work.scene,
        "drawn": drawn,
        "hand": spec.hand,
        "difficulty": f"{spec.difficulty:g}",
        "note": "drawn by keju on the theme that the label names; no copy of that work",
    }
