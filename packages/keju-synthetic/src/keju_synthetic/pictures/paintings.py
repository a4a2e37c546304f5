"""The family of paintings: ink and colour on paper or silk, mounted, labelled, inscribed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from msgspec import structs

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.items import Item, Record
from keju_synthetic.camera import expose
from keju_synthetic.composing import READ
from keju_synthetic.exhibits import Examiner, Exhibit
from keju_synthetic.noise import field, ramp
from keju_synthetic.paper import Picture, add_foxing, add_stains
from keju_synthetic.pictures import landscapes, studies
from keju_synthetic.pictures.brush import INK, Brush
from keju_synthetic.pictures.grounds import Form, Ground, hang, lay_ground, mount
from keju_synthetic.pictures.landscapes import Counts
from keju_synthetic.pictures.lettering import gentle, ink_of, lines_of, set_writings
from keju_synthetic.pictures.works import (
    DrawnSpec,
    Work,
    by_id,
    find_work,
    items_about,
    numbered,
    press_seals,
)
from keju_synthetic.studio import Studio
from keju_synthetic.texts import DATA
from keju_synthetic.wear import Wear, wear_at

SCENES: Mapping[str, Callable[[Brush], Counts]] = {
    "rivers": landscapes.rivers,
    "blue-green": landscapes.blue_green,
    "lone-angler": landscapes.lone_angler,
    "snow-bridge": landscapes.snow_bridge,
    "cloud-peaks": landscapes.cloud_peaks,
    "peach-spring": landscapes.peach_spring,
    "reed-geese": landscapes.reed_geese,
    "bamboo-rock": studies.bamboo_rock,
    "ink-plum": studies.ink_plum,
    "ink-orchid": studies.ink_orchid,
    "staring-fish": studies.staring_fish,
    "lotus-fan": studies.lotus_fan,
    "gate-cranes": studies.gate_cranes,
    "line-poet": studies.line_poet,
    "ink-grapes": studies.ink_grapes,
}
"""What can be painted."""


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
        DataError: the file is not sound, or an id stands twice.
    """
    return by_id(read_toml(path, _Paintings).works, path.name)


def draw_paintings(studio: Studio) -> Iterator[Item]:
    """Paint and ask about the recipe's paintings.

    Raises:
        DataError: a work or scene that is not known, a hand that cannot write its text, or a task
            that nothing is known for.
    """
    specs = studio.recipe.part("paintings", DrawnSpec)
    works = load_paintings()
    examiner = Examiner()
    return (
        item for spec in specs for item in _painted(studio, spec, find_work(works, spec), examiner)
    )


def _painted(studio: Studio, spec: DrawnSpec, work: Painting, examiner: Examiner) -> Iterator[Item]:
    if work.scene not in SCENES:
        raise DataError(unknown_name(work.scene, SCENES, "scene"), item=spec.id)
    wear = wear_at(spec.difficulty, {}, item=spec.id)
    wide, high = work.size
    brush = Brush(wide, high, studio.rng(spec.id, "scene"), crisp=work.crisp)
    counts = SCENES[work.scene](brush)
    rng = studio.rng(spec.id, "ground")
    sheet = lay_ground(work.ground, (high, wide), wear, rng)
    add_stains(sheet, structs.replace(wear, stains=wear.stains * 0.4), rng)
    add_foxing(sheet, wear, rng)
    place = mount(work.form, wide, high)
    page = hang(sheet * _rubbed(brush.light, wear, rng), work.form, place, rng)
    layout = set_writings(studio, spec, work, (place.width, place.height), place.field, place.slip)
    ink = ink_of(layout, studio, gentle(wear), studio.rng(spec.id, "writing"))[..., None]
    page = page * (1 - ink * (1 - np.asarray(INK, np.float32)) * 0.95)
    rng = studio.rng(spec.id, "seals")
    page, seals = press_seals(page, work, (place.field.x0, place.field.y0), rng, worn=0.3)
    lines = numbered([*lines_of(layout), *seals])
    image = expose(page, wear, "colour", rng)
    exhibit = Exhibit(
        id=spec.id,
        image=studio.add_image(image, spec.id),
        group=work.id,
        split=spec.split,
        metadata=_metadata(spec, work, counts),
        transcription="\n".join(line.text for line in lines if line.kind in READ),
    )
    yield from items_about(exhibit, work, spec.asks, lines, counts, examiner)


def _rubbed(light: Picture, wear: Wear, rng: np.random.Generator) -> Picture:
    """Painting of which time has rubbed a little away, in patches."""
    shape = (light.shape[0], light.shape[1])
    worn = ramp(field(rng, shape, 7) * 0.4 + field(rng, shape, 45) * 0.6, 0.60, 1.0)
    gone = (worn * (0.15 + 0.5 * wear.age) + 0.4 * wear.fade)[..., None]
    rubbed: Picture = (light + (1 - light) * gone).astype(np.float32)
    return rubbed


def _metadata(spec: DrawnSpec, work: Painting, counts: Counts) -> dict[str, str]:
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
