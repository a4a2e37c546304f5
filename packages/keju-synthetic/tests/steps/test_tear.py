"""Step fragment: the items match the fragments."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import polars as pl
import pytest
from PIL import Image

from keju.building.partitions import RowFunction
from keju.building.steps import STEPS
from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.errors import DataError
from keju.items import Item
from keju.texts import using
from keju_synthetic.fragment_images import FragmentationPlan, fragment_image
from keju_synthetic.masks import is_page, load_masked
from keju_synthetic.steps import tear
from tests.support.builds import built
from tests.support.making import page_item
from tests.support.planted import FRAME, PAPER, book_page, jpeg

PLAN = FragmentationPlan(parts=3, erosion=0.01, rough=0.08, turn=40)


@pytest.fixture
def bones(tmp_path, make_bone):
    with DatasetWriter(tmp_path / "given", name="bones", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        for seed in range(4):
            ref = writer.add_image(make_bone(seed), f"{seed}")
            writer.add(Item(id=f"b{seed}", benchmark="OBI-Bench", task="recognition",
                            query="Yes-or-No", answer="yes", images=(ref,)))  # fmt: skip
    return tmp_path / "given"


@pytest.mark.parametrize("transparent", [False, True])
def test_the_object_is_found_by_its_background_or_its_transparency(transparent, make_bone):
    _, mask = load_masked(make_bone(1, transparent=transparent), name="a", most_side=300)
    true = np.asarray(Image.open(io.BytesIO(make_bone(1, transparent=True))).getchannel("A")) > 127
    assert ((mask > 0.5) & true).sum() / ((mask > 0.5) | true).sum() > 0.98


def test_a_picture_on_which_nothing_stands_apart_is_refused():
    flat = io.BytesIO()
    Image.new("RGB", (200, 200), (90, 90, 90)).save(flat, "PNG")
    with pytest.raises(DataError) as caught:
        load_masked(flat.getvalue(), name="a", most_side=300)
    assert caught.value.template.startswith("no object is distinguished")


def test_every_fragments_pixels_come_from_where_its_affine_says(make_bone):
    whole, mask = load_masked(make_bone(3), name="a", most_side=300)
    torn, shards = fragment_image(whole, mask, PLAN, lambda n: np.random.default_rng([*n.encode()]))
    assert len(shards) == torn.parts == 3
    pixels = np.asarray(whole.convert("L"), float)
    for part, shard in enumerate(shards, start=1):
        a, b, c, d, e, f = shard.affine
        grey = np.asarray(shard.picture.convert("L"), float)
        y, x = np.mgrid[0 : grey.shape[0], 0 : grey.shape[1]] + 0.5
        at_x = np.floor(a * x + b * y + c).astype(int)
        at_y = np.floor(d * x + e * y + f).astype(int)
        inside = (at_x >= 0) & (at_x < 260) & (at_y >= 0) & (at_y < 300)
        own = np.zeros_like(inside)
        own[inside] = torn.labels[at_y[inside], at_x[inside]] == part
        core = own & (np.abs(grey - 190) < 60)
        assert core.sum() > 0.7 * (torn.labels == part).sum()
        corr = np.corrcoef(grey[core], pixels[at_y[core], at_x[core]])[0, 1]
        assert corr > 0.6, "the grain is the whole's own"
        assert 0 <= shard.lost < 0.5


def test_fragments_are_asked_against_neighbours_and_others(bones, tmp_path):
    settings = tear.FragmentSettings(parts=3, gallery=6)
    made, notes = built(STEPS["fragment"], bones, tmp_path / "out", settings)
    items = made.items()
    assert not [str(f) for f in validate(made.path) if f.severity == "error"]
    rows = pl.read_parquet(made.path / "tables" / "fragments.parquet")
    assert len(rows) == 12
    home = {row["sha256"]: (row["piece"], row["part"], row["joins"]) for row in rows.to_dicts()}
    for item in items:
        piece, part, joins = home[item.images[0].sha256]
        assert len(item.images) == 7
        for place, ref in enumerate(item.images[1:], 1):
            other, number, _ = home[ref.sha256]
            assert (place in item.relevant) == (other == piece and number in joins)
            assert (other, number) != (piece, part)
        assert item.group == piece
        assert item.task == "rejoining"
    assert "4 pieces broken into 12 fragments" in notes[0]
    labels = sorted((made.path / "labels").glob("*.png"))
    assert len(labels) == 4
    assert set(np.unique(np.asarray(Image.open(labels[0])))) == {0, 1, 2, 3}


def test_the_seed_decides_the_dataset_of_fragments(bones, tmp_path):
    settings = tear.FragmentSettings(parts=2, gallery=3)
    one, _ = built(STEPS["fragment"], bones, tmp_path / "one", settings)
    two, _ = built(STEPS["fragment"], bones, tmp_path / "two", settings)
    assert one.manifest.hash == two.manifest.hash


def test_an_image_without_an_object_is_dropped_and_none_left_is_an_error(tmp_path):
    flat = io.BytesIO()
    Image.new("RGB", (90, 90), (90, 90, 90)).save(flat, "PNG")
    with DatasetWriter(tmp_path / "given", name="flat", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        writer.add(page_item("a", images=(writer.add_image(flat.getvalue(), "flat"),)))
    with pytest.raises(DataError) as caught:
        built(STEPS["fragment"], tmp_path / "given", tmp_path / "out")
    assert caught.value.template == "no image can be broken into fragments; the first: {}"


def test_the_reason_in_a_table_is_english_in_every_language():
    flat = io.BytesIO()
    Image.new("RGB", (90, 90), (90, 90, 90)).save(flat, "PNG")
    one = partial(tear.fragment_piece, settings=tear.FragmentSettings())
    with using("zh"):
        piece = tear.PieceImage("a", flat.getvalue(), [1])
        row = RowFunction(one, tear.PieceImage, tear.BrokenPiece)(piece)
        with pytest.raises(DataError) as caught:
            one(piece)
    assert row.error == str(caught.value) != caught.value.render("zh")


def test_images_of_whole_pages_are_reported(bones, make_bone, tmp_path):
    page = book_page(0)
    dark = Image.new("RGB", (700, 1000), (20, 20, 20))
    dark.paste(page.resize((560, 860)).rotate(4, expand=True, fillcolor=(20, 20, 20)), (30, 30))
    frameless = Image.new("RGB", page.size, PAPER)
    inside = (FRAME + 2, FRAME + 2, page.width - FRAME - 2, page.height - FRAME - 2)
    frameless.paste(page.crop(inside), inside[:2])
    with DatasetWriter(tmp_path / "pages", name="pages", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        pictures = {"framed": page, "dark": dark, "frameless": frameless}
        for name, picture in pictures.items():
            writer.add(page_item(name, images=(writer.add_image(jpeg(picture), name),)))
        ref = writer.add_image(make_bone(0), "bone")
        writer.add(page_item("bone", images=(ref,)))
    _, notes = built(
        STEPS["fragment"], tmp_path / "pages", tmp_path / "out", tear.FragmentSettings(gallery=3)
    )
    (said,) = [line for line in notes if "no outline of a bone" in line]
    assert said.startswith("3 of 4 images")
    assert said.endswith("framed, dark, frameless")
    _, notes = built(STEPS["fragment"], bones, tmp_path / "of-bones")
    assert not [line for line in notes if "no outline" in line]


def test_drawn_bones_and_rubbings_are_no_pages():
    given = Dataset.open(mini.path())
    items = [item for item in given.items() if item.id.startswith(("bone-", "rejoin-"))]
    shown = {item.images[0].path: item.images[0] for item in items}
    assert len(shown) > 15
    for ref in shown.values():
        assert not is_page(*load_masked(given.image_bytes(ref), name=ref.path, most_side=400))
