"""The step ``standardise``: items with pictures, boxes and outlines; what falls out is listed."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace
from PIL import Image

from keju.building.engine import Engine
from keju.building.running import StepCall, run_step
from keju.building.standardising.step import LEAST_PIXELS, STEP, StandardiseSettings
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, ProblemsError
from keju.items import Box, Item, Line
from keju.settings import convert_settings
from tests.support.builds import run_keju
from tests.support.making import page_item, picture

SETTINGS = StandardiseSettings(pixels=2_500, tiny=True)


def page(width: int, height: int, form: str, **options: object) -> bytes:
    noise = np.random.default_rng(width).integers(0, 255, (height, width, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, form, **options)
    return out.getvalue()


@pytest.fixture
def given(tmp_path) -> Dataset:
    with DatasetWriter(
        tmp_path / "given", name="g", version="1", licence="CC0-1.0", source="drawn"
    ) as writer:
        large = writer.add_image(page(100, 200, "PNG"), "large.png")
        small = writer.add_image(page(40, 50, "JPEG"), "small.jpg")
        grey = writer.add_image(picture(5, side=60), "third.png")
        boxes = (Box(x0=10, y0=20, x1=50, y1=100),)
        lines = (Line(id="l", text="天", polygon=((0, 0), (100, 0), (100, 200), (0, 200))),)
        writer.add(page_item("large", images=(large,), boxes=boxes, lines=lines))
        writer.add(page_item("small", images=(small,), boxes=boxes))
        writer.add(page_item("both", images=(large, grey)))
        writer.add(page_item("text"))
    return Dataset.open(tmp_path / "given")


def done(given: Dataset, out: Path, settings: StandardiseSettings = SETTINGS) -> dict[str, Item]:
    run_step(StepCall(STEP, settings, given), out, engine=Engine())
    return {item.id: item for item in Dataset.open(out).items()}


def test_pictures_fit_the_budget_and_the_rest_stays(given, tmp_path):
    items = done(given, tmp_path / "out")
    assert list(items) == ["large", "small", "both", "text"]
    (ref,) = items["large"].images
    assert (ref.width, ref.height, ref.path[-4:]) == (35, 70, ".jpg")
    assert items["text"] == given.items()[3]
    assert items["small"] == given.items()[1], "what is standard already is not touched"
    assert items["both"].images[0] == ref, "the same picture is made once"


def test_boxes_and_outlines_are_scaled_with_their_picture(given, tmp_path):
    item = done(given, tmp_path / "out")["large"]
    assert item.boxes[0] == Box(x0=3.5, y0=7.0, x1=17.5, y1=35.0)
    assert item.lines[0].polygon == ((0, 0), (35, 0), (35, 70), (0, 70))


def test_what_was_done_stands_on_the_item_and_in_a_table(given, tmp_path):
    item = done(given, tmp_path / "out")["large"]
    (entry,) = item.provenance
    assert entry.step == "standardise"
    assert entry.note == "png RGB 100x200 to jpg 35x70"
    assert entry.tool.startswith("Pillow ")
    table = pl.read_parquet(tmp_path / "out" / "tables" / "pictures.parquet")
    assert table.select("form", "old_width", "width", "new").rows() == [
        ("png", 100, 35, True), ("jpg", 40, 40, False), ("png", 60, 50, True),
    ]  # fmt: skip


def test_an_item_whose_picture_is_broken_is_listed_and_the_others_stay(given, tmp_path):
    (ref,) = given.items()[0].images
    given.image_path(ref).write_bytes(given.image_path(ref).read_bytes()[: ref.size // 2])
    items = done(given, tmp_path / "out")
    assert list(items) == ["small", "text"]
    dropped = pl.read_csv(tmp_path / "out" / "tables" / "dropped.csv")
    assert dropped["subject"].to_list() == ["large", "both"]
    assert all("truncated or damaged" in error for error in dropped["reason"])


def test_nothing_left_is_an_error(given, tmp_path):
    first = given.items()[0]
    with DatasetWriter(
        tmp_path / "one", name="g", version="1", licence="CC0-1.0", source="drawn"
    ) as writer:
        ref = writer.add_image(given.image_bytes(first.images[0]), "x")
        writer.add(replace(first, images=(ref,)))
    one = Dataset.open(tmp_path / "one")
    one.image_path(ref).write_bytes(b"\0" * ref.size)
    with pytest.raises(DataError, match="no item has valid images"):
        done(one, tmp_path / "out")


def test_the_command_says_what_it_did(given, tmp_path):
    asked = ("build", "standardise", given.path, "-o", tmp_path / "out", "--pixels", "2500")
    result = run_keju(*asked, "--tiny")
    assert result.returncode == 0, result.stderr
    assert "2 of 3 images converted" in result.stdout
    assert Dataset.open(tmp_path / "out").items() == list(done(given, tmp_path / "two").values())


def test_a_side_given_for_pixels_is_refused_before_anything_is_done(given, tmp_path):
    result = run_keju(
        "build", "standardise", given.path, "-o", tmp_path / "out", "--pixels", "2000"
    )
    assert result.returncode == 2
    shown = " ".join(result.stderr.split())
    assert "pixels = 2000 is width x height, not a side: images of about 44x44" in shown
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()
    place = "recipe.toml: step 1 (standardise)"
    expected = r"step 1 \(standardise\): pixels = 49999 .* or set tiny"
    with pytest.raises(ProblemsError, match=expected):
        convert_settings({"pixels": 49_999}, StandardiseSettings, place=place)
    for fine in ({"pixels": LEAST_PIXELS}, {"pixels": 0}, {"pixels": 100, "tiny": True}):
        assert convert_settings(fine, StandardiseSettings, place=place).pixels == fine["pixels"]


def test_it_is_said_when_most_pictures_lose_more_than_half_of_their_sides(given, tmp_path):
    def notes(pixels: int) -> list[str]:
        work = StepCall(STEP, StandardiseSettings(pixels=pixels, tiny=True), given)
        done = run_step(work, tmp_path / f"{pixels}", engine=Engine())
        return [line for line in done.record.notes if "less than half" in line]

    (line,) = notes(700)
    assert line.startswith("2 of 3 images have less than half of their former width")
    assert notes(1_500) == [], "one of three is not most"
