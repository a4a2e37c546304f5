"""Measuring and filtering: each measure moves with its fault, and what is dropped is told."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from keju.building.engine import Engine
from keju.building.filtering.limits import MEASURES, FilterSettings, MeasureSettings, list_limits
from keju.building.filtering.pictures import ImageMeasures, measure_grey
from keju.building.filtering.step import FILTER, MEASURE
from keju.building.filtering.texts import TextMeasures, collect_texts, measure_texts, read_words
from keju.building.running import StepCall, StepResult, run_step
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.images import open_image
from keju.items import Item
from tests.support.making import page_item


@pytest.fixture(scope="module")
def page(shared: Path) -> Image.Image:
    """A real page."""
    path = shared / "data/real-pages/r01_jianmingmulu_ms.jpg"
    return open_image(path.read_bytes(), name="page")


def drawn(side: int = 400) -> Image.Image:
    """A page of strokes."""
    values = np.full((side, side), 230, np.uint8)
    for at in range(20, side - 20, 24):
        values[20 : side - 20 : 3, at : at + 10] = 40
    return Image.fromarray(values).convert("RGB")


def png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def make(path: Path, pictures: dict[str, Image.Image], **fields: object) -> Path:
    with DatasetWriter(path, name="set", version="1", licence="CC0", source="s") as writer:
        for name, image in pictures.items():
            writer.add(page_item(name, images=(writer.add_image(png(image), name),), **fields))
    return path


def done(path: Path, out: Path, settings: FilterSettings | MeasureSettings) -> StepResult:
    step = FILTER if isinstance(settings, FilterSettings) else MEASURE
    return run_step(StepCall(step, settings, Dataset.open(path)), out, engine=Engine())


def rows(out: Path, name: str) -> list[dict[str, str]]:
    with (out / f"tables/{name}.csv").open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_blur_grows_with_the_blur_and_not_with_light_or_compression(page: Image.Image) -> None:
    values = [measure_grey(page.filter(ImageFilter.GaussianBlur(r)))["blur"] for r in (0, 1, 2, 4)]
    assert values == sorted(values)
    assert values[0] < 0.25 < values[2] < 0.6 < values[3]
    paler = page.point(lambda value: 150 + value * 0.3)
    assert abs(measure_grey(paler)["blur"] - values[0]) < 0.05
    data = io.BytesIO()
    page.save(data, "JPEG", quality=30)
    assert abs(measure_grey(Image.open(data).convert("RGB"))["blur"] - values[0]) < 0.05


def test_a_page_measures_alike_at_twice_its_resolution(page: Image.Image) -> None:
    large = page.resize((page.width * 2, page.height * 2), Image.Resampling.BICUBIC)
    one, two = measure_grey(page), measure_grey(large)
    for name in ("blur", "marked", "contrast", "brightness", "holes", "dark_edges"):
        assert abs(one[name] - two[name]) < 0.05, name


def test_blank_pages_have_no_marks_however_light_or_grainy() -> None:
    rng = np.random.default_rng(0)
    for level, grain in ((215, 4), (140, 8), (250, 1)):
        values = np.clip(rng.normal(level, grain, (900, 700)), 0, 255).astype(np.uint8)
        shaded = values * np.linspace(0.8, 1, 700)
        assert measure_grey(Image.fromarray(shaded.astype(np.uint8)))["marked"] < 0.002
    assert measure_grey(drawn())["marked"] > 0.05


def test_holes_and_dark_edges_are_told_from_writing(page: Image.Image) -> None:
    clean = measure_grey(page)
    assert clean["holes"] < 0.001
    assert clean["dark_edges"] < 0.01
    holed = np.asarray(page).copy()
    for at in (200, 600, 1000):
        holed[at : at + 100, 500:600] = 20
    edged = np.asarray(page).copy()
    edged[:, :80] = 10
    assert measure_grey(Image.fromarray(holed))["holes"] == pytest.approx(0.018, abs=0.004)
    assert measure_grey(Image.fromarray(edged))["dark_edges"] > 0.25


def test_a_rubbing_is_turned_over_before_its_marks_are_counted() -> None:
    light, dark = (
        measure_grey(drawn()),
        measure_grey(Image.eval(drawn(), lambda value: 255 - value)),
    )
    assert abs(light["marked"] - dark["marked"]) < 0.02
    assert dark["dark_edges"] == 0.0


def said(**fields: object) -> TextMeasures:
    return measure_texts(collect_texts(page_item("i", **fields)), read_words())


def test_texts_are_measured_by_what_they_are() -> None:
    classical = "學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？曰：是也。"
    modern = "學習了知識，然後按時地溫習它，不是很愉快的嗎？這是孔子說的話，我們都知道的。"
    assert said(answer=classical).modern == 0.0
    assert said(answer=modern).modern == 1.0
    assert said(answer="天地").modern == -1.0
    assert said(answer="天□地■", transcription=None).gaps == 0.5
    assert said(answer="天地玄黃宇宙洪荒日月盈昃" * 8).loops > 0.7
    mixed = said(answer="天地 ab", transcription="玄黃宇宙洪荒日月盈昃")
    assert (mixed.answer, mixed.transcription, mixed.han) == (4, 10, 1.0)
    assert said(answer="天地ab").han == 0.5


def test_listed_words_are_reported_in_either_script_and_through_punctuation(
    tmp_path: Path,
) -> None:
    assert said(answer="商鞅遂被車，裂。").listed == "killing and torture: 车裂"
    assert said(answer="商鞅遂被车裂", options=("鴉片",)).listed == (
        "killing and torture: 车裂; drugs and poison: 鸦片"
    )
    own = tmp_path / "words.toml"
    own.write_text('[[kind]]\nname = "place"\nwords = ["長安"]\n')
    text = collect_texts(page_item("i", answer="長安一片月，車裂"))
    assert measure_texts(text, read_words(own)).listed == "place: 长安"
    own.write_text('[[kind]]\nname = "place"\n')
    with pytest.raises(DataError, match=r"words\.toml: not a list of words"):
        read_words(own)


def test_every_limit_is_of_a_measure_and_every_measure_of_a_record() -> None:
    fields = {*ImageMeasures.__struct_fields__, *TextMeasures.__struct_fields__}
    assert set(MEASURES) <= fields
    limited = {name.partition("_")[2] for name in FilterSettings.__struct_fields__
               if name.startswith(("min_", "max_"))}  # fmt: skip
    assert limited == set(MEASURES)
    assert {limit.measure for limit in list_limits(FilterSettings())} == {
        "short_side", "blur", "marked", "contrast", "loops",
    }  # fmt: skip


def test_what_breaks_a_limit_is_dropped_with_measure_value_and_limit(tmp_path: Path) -> None:
    sharp = drawn()
    pictures = {
        "sharp": sharp,
        "blurred": sharp.filter(ImageFilter.GaussianBlur(4)),
        "blank": Image.new("RGB", (300, 300), (230, 220, 200)),
        "small": drawn(100).resize((12, 12)),
    }
    source = make(tmp_path / "d", pictures)
    made = done(source, tmp_path / "out", FilterSettings())
    assert [item.id for item in Dataset.open(tmp_path / "out").items()] == ["sharp"]
    dropped = rows(tmp_path / "out", "dropped")
    by_item = {name: {row["measure"] for row in dropped if row["item"] == name}
               for name in pictures}  # fmt: skip
    assert by_item["sharp"] == set()
    assert "blur" in by_item["blurred"]
    assert {"marked", "contrast"} <= by_item["blank"]
    assert "short_side" in by_item["small"]
    row = next(row for row in dropped if row["measure"] == "short_side")
    assert (row["value"], row["limit"]) == ("12.0", "at least 16")
    report = (tmp_path / "out/quality.md").read_text()
    assert "4 items over 4 images; 1 kept, 3 dropped." in report
    assert "| short\\_side | at least 16 | 1 |" in report
    assert any("3 items dropped" in note for note in made.record.notes)
    kept = Dataset.open(tmp_path / "out").items()[0]
    assert kept == next(item for item in Dataset.open(source).items() if item.id == "sharp")


def test_only_the_tasks_that_are_named_lose_items(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "d", name="n", version="1", licence="CC0", source="s") as writer:
        for task in ("T1", "T6"):
            writer.add(page_item(task, task=task, answer="天", transcription="天"))
    settings = FilterSettings(tasks=("T6",), min_answer=2)
    done(tmp_path / "d", tmp_path / "out", settings)
    assert [item.id for item in Dataset.open(tmp_path / "out").items()] == ["T1"]
    with pytest.raises(UsageError, match="filter: no task 'T9'"):
        done(tmp_path / "d", tmp_path / "o2", FilterSettings(tasks=("T9",)))


def test_listed_words_drop_an_item_only_where_that_is_said(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "d", name="n", version="1", licence="CC0", source="s") as writer:
        writer.add(page_item("plain", answer="天", transcription="天"))
        writer.add(page_item("listed", answer="五馬車裂", transcription="天"))
    done(tmp_path / "d", tmp_path / "a", FilterSettings())
    assert len(Dataset.open(tmp_path / "a").items()) == 2
    assert [row["words"] for row in rows(tmp_path / "a", "listed")] == ["killing and torture: 车裂"]
    done(tmp_path / "d", tmp_path / "b", FilterSettings(drop_listed=True))
    assert [item.id for item in Dataset.open(tmp_path / "b").items()] == ["plain"]


def test_measuring_changes_nothing_and_orders_the_worst(tmp_path: Path) -> None:
    sharp = drawn()
    pictures = {f"b{r}": sharp.filter(ImageFilter.GaussianBlur(r)) for r in (0, 1, 3, 5)}
    source = make(tmp_path / "d", pictures)
    made = done(source, tmp_path / "out", MeasureSettings())
    assert made.manifest.hash == Dataset.open(source).manifest.hash
    report = (tmp_path / "out/quality.md").read_text()
    worst = report.partition("### blur\n")[2].splitlines()[3:7]
    assert [line.split("|")[2].strip() for line in worst] == ["b5", "b3", "b1", "b0"]
    assert [row["counted"] for row in rows(tmp_path / "out", "distributions")][:1] == ["4"]


def test_nothing_left_is_said(tmp_path: Path) -> None:
    source = make(tmp_path / "d", {"blank": Image.new("RGB", (300, 300), "white")})
    with pytest.raises(DataError, match="no items"):
        done(source, tmp_path / "out", FilterSettings())
    assert not (tmp_path / "out/dataset.json").exists()


def test_a_text_that_is_only_counted_once_an_item() -> None:
    items: list[Item] = [page_item(str(n), answer="天" * n) for n in range(1, 4)]
    counted = Counter(measure_texts(collect_texts(item), {}).answer for item in items)
    assert counted == {1: 1, 2: 1, 3: 1}
