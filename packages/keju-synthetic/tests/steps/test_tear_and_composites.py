"""Fragments of bones and inscriptions of crops: the items match what was made."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageDraw

from keju.building.partitions import RowFunction
from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.errors import DataError
from keju.items import Item
from keju.messages import using
from keju_synthetic.bones.fragment_images import FragmentationPlan, fragment_image
from keju_synthetic.steps import composites, tear
from keju_synthetic.steps.masks import is_page, load_masked
from tests.support.builds import built, oracle_crops
from tests.support.making import make_dataset, page_item
from tests.support.planted import FRAME, PAPER, book_page, jpeg

PLAN = FragmentationPlan(parts=3, erosion=0.01, rough=0.08, turn=40)


def bone(seed: int, *, form: str = "PNG", clear: bool = False) -> bytes:
    """A bright ellipse with grain on dark ground, or on none."""
    rng = np.random.default_rng(seed)
    mask = Image.new("L", (260, 300))
    ImageDraw.Draw(mask).ellipse((30, 20 + seed % 9, 235, 280), fill=255)
    grain = Image.fromarray(rng.integers(150, 230, (300, 260, 3), dtype=np.uint8))
    whole = Image.composite(grain, Image.new("RGB", mask.size, (20, 22, 25)), mask)
    if clear:
        whole = grain.copy()
        whole.putalpha(mask)
    out = io.BytesIO()
    whole.save(out, form)
    return out.getvalue()


@pytest.fixture
def bones(tmp_path):
    with DatasetWriter(tmp_path / "given", name="bones", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        for seed in range(4):
            ref = writer.add_image(bone(seed), f"{seed}")
            writer.add(Item(id=f"b{seed}", benchmark="OBI-Bench", task="recognition",
                            query="Yes-or-No", answer="yes", images=(ref,)))  # fmt: skip
    return tmp_path / "given"


@pytest.mark.parametrize("clear", [False, True])
def test_the_thing_is_found_by_its_ground_or_its_transparency(clear):
    _, mask = load_masked(bone(1, clear=clear), name="a", most_side=300)
    true = np.asarray(Image.open(io.BytesIO(bone(1, clear=True))).getchannel("A")) > 127
    assert ((mask > 0.5) & true).sum() / ((mask > 0.5) | true).sum() > 0.98


def test_a_picture_on_which_nothing_stands_apart_is_refused():
    flat = io.BytesIO()
    Image.new("RGB", (200, 200), (90, 90, 90)).save(flat, "PNG")
    with pytest.raises(DataError) as caught:
        load_masked(flat.getvalue(), name="a", most_side=300)
    assert caught.value.id == "synthetic.no-object-found"


def test_every_fragments_pixels_come_from_where_its_affine_says():
    whole, mask = load_masked(bone(3), name="a", most_side=300)
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
    made, notes = built(tear.STEP, bones, tmp_path / "out", settings)
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
    one, _ = built(tear.STEP, bones, tmp_path / "one", settings)
    two, _ = built(tear.STEP, bones, tmp_path / "two", settings)
    assert one.manifest.hash == two.manifest.hash


def test_an_image_without_an_object_is_dropped_and_none_left_is_an_error(tmp_path):
    flat = io.BytesIO()
    Image.new("RGB", (90, 90), (90, 90, 90)).save(flat, "PNG")
    with DatasetWriter(tmp_path / "given", name="flat", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        writer.add(page_item("a", images=(writer.add_image(flat.getvalue(), "flat"),)))
    with pytest.raises(DataError) as caught:
        built(tear.STEP, tmp_path / "given", tmp_path / "out")
    assert caught.value.id == "synthetic.no-piece-to-break"


def test_the_reason_in_a_table_is_english_in_every_language():
    flat = io.BytesIO()
    Image.new("RGB", (90, 90), (90, 90, 90)).save(flat, "PNG")
    one = partial(tear.fragment_piece, settings=tear.FragmentSettings())
    with using("zh"):
        piece = tear.PieceImage("a", flat.getvalue(), [1])
        row = RowFunction(one, tear.PieceImage, tear.BrokenPiece)(piece)
        with pytest.raises(DataError) as caught:
            one(piece)
    assert row.error == caught.value.render("en") != str(caught.value)


def test_images_of_whole_pages_are_reported(bones, tmp_path):
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
        ref = writer.add_image(bone(0), "bone")
        writer.add(page_item("bone", images=(ref,)))
    _, notes = built(
        tear.STEP, tmp_path / "pages", tmp_path / "out", tear.FragmentSettings(gallery=3)
    )
    (said,) = [line for line in notes if "no outline of a bone" in line]
    assert said.startswith("3 of 4 images")
    assert said.endswith("framed, dark, frameless")
    _, notes = built(tear.STEP, bones, tmp_path / "of-bones")
    assert not [line for line in notes if "no outline" in line]


def test_drawn_bones_and_rubbings_are_no_pages():
    given = Dataset.open(mini.path())
    items = [item for item in given.items() if item.id.startswith(("bone-", "rejoin-"))]
    shown = {item.images[0].path: item.images[0] for item in items}
    assert len(shown) > 15
    for ref in shown.values():
        assert not is_page(*load_masked(given.image_bytes(ref), name=ref.path, most_side=400))


@pytest.fixture(scope="module")
def crops(shared, tmp_path_factory):
    return oracle_crops(shared, tmp_path_factory.mktemp("crops"))


def test_an_inscription_of_crops_has_a_box_for_each_where_its_ink_is(crops, tmp_path):
    settings = composites.CompositeSettings(pictures=3, fewest=4, most=8, height=400, wear=0.1)
    made, notes = built(composites.STEP, crops, tmp_path / "out", settings)
    assert not [str(f) for f in validate(made.path) if f.severity == "error"]
    items = {item.id: item for item in made.items()}
    assert len(items) == 12
    parts = pl.read_parquet(made.path / "tables" / "parts.parquet")
    for number in range(1, 4):
        where = items[f"composite-000{number}-recognition-where"]
        of = parts.filter(pl.col("picture") == f"composite-000{number}")
        assert items[f"composite-000{number}-recognition-how"].answer == str(len(where.boxes))
        assert len(of) == len(where.boxes) == len(where.metadata["classes"].split())
        with Image.open(made.image_path(where.images[0])) as shown:
            grey = np.asarray(shown.convert("L"), float)
        for box in where.boxes:
            assert 0 <= box.x0 < box.x1 <= grey.shape[1]
            inside = grey[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
            around = grey[max(0, int(box.y0) - 9) : int(box.y1) + 9,
                          max(0, int(box.x0) - 9) : int(box.x1) + 9]  # fmt: skip
            assert inside.mean() > around.mean(), "rubbed strokes are white"
    assert notes[0].startswith("3 inscriptions")


def test_no_crops_are_no_classes(tmp_path):
    make_dataset(tmp_path / "given", [page_item("a")])
    with pytest.raises(DataError) as caught:
        built(composites.STEP, tmp_path / "given", tmp_path / "out")
    assert caught.value.id == "building.too-few-crop-classes"


def test_a_crop_with_a_rim_in_it_is_not_used():
    strokes = Image.new("L", (60, 60))
    ImageDraw.Draw(strokes).line((5, 5, 55, 55), fill=255, width=8)
    assert not composites.has_patch(strokes)
    ImageDraw.Draw(strokes).polygon((0, 0, 35, 0, 0, 35), fill=255)
    assert composites.has_patch(strokes)
