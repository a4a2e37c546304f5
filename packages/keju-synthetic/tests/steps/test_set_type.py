"""Step typeset: pages of a real collection get images, and their reference is what is drawn."""

from __future__ import annotations

import polars as pl
import pytest

from keju.building.perturbing.step import STEP as CONTROLS
from keju.building.perturbing.step import PerturbSettings
from keju.building.steps import STEPS
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError, PrerequisiteError, UsageError
from keju_synthetic.steps.set_type import TypesetSettings
from keju_synthetic.typesetting import load_typeface
from tests.support.builds import bench_over
from tests.support.making import make_dataset, page_item

SMALL = {"pixels": 160_000, "difficulty": 0.2}
PAGES = ("CHI_IHEC_SB4002_QuanTangshi", "BULAC_BIULO_CHI_1938")


@pytest.fixture(scope="module", autouse=True)
def fonts():
    try:
        load_typeface("song"), load_typeface("kai"), load_typeface("ming")
    except PrerequisiteError as error:
        pytest.skip(str(error))  # fonts are a system's, which no install of ours brings


@pytest.fixture(scope="module")
def source_pages(shared, tmp_path_factory):
    """One page of each of two editions."""
    folder = tmp_path_factory.mktemp("src")
    for edition in PAGES:
        file = sorted((shared / "data/chi-know-po/page" / edition).glob("*.xml"))[4]
        (folder / "src" / edition).mkdir(parents=True)
        (folder / "src" / edition / file.name).write_bytes(file.read_bytes())
    import_dataset("page-xml", folder / "src", folder / "given", name="given", version="1",
                   licence="Apache-2.0", source="chi-know-po")  # fmt: skip
    return folder / "given"


def built(source_pages, out, step=STEPS["typeset"], settings=None, seed=0):
    context = bench_over(source_pages, out, step.name, seed=seed)
    with context.writer:
        step.run(context, settings or TypesetSettings(**SMALL))
    return Dataset.open(out)


@pytest.fixture(scope="module")
def set_pages(source_pages, tmp_path_factory):
    return built(source_pages, tmp_path_factory.mktemp("out") / "set")


def test_each_page_has_an_image_and_a_valid_reference(source_pages, set_pages):
    before = {item.id: item for item in Dataset.open(source_pages).items()}
    items = set_pages.items()
    assert [item.id for item in items] == list(before)
    assert not [str(f) for f in validate(set_pages.path) if f.severity == "error"]
    for item in items:
        (ref,) = item.images
        assert abs(ref.width * ref.height / SMALL["pixels"] - 1) < 0.02
        source = [line.text for line in before[item.id].lines if line.text.strip()]
        assert len(item.lines) >= len(source) - 3
        assert {line.kind for line in item.lines} >= {"main", "note"} & {
            line.kind for line in before[item.id].lines
        }
        body = [line.text for line in item.lines
                if line.kind in {"main", "note", "title", "author"}]  # fmt: skip
        assert item.answer == "\n".join(body) == item.transcription
        for line in item.lines:
            assert all(0 <= x <= ref.width and 0 <= y <= ref.height for x, y in line.polygon)
        assert "page_size" not in item.metadata
        assert item.provenance[-1].step == "typeset"


def test_ink_is_inside_the_outlines_of_the_reference(set_pages):
    """Inside the outlines it is darker than between them."""
    import numpy as np
    from PIL import Image, ImageDraw

    item = set_pages.items()[0]
    with Image.open(set_pages.image_path(item.images[0])) as picture:
        grey = np.asarray(picture.convert("L"), dtype=float)
    outlines = Image.new("L", (grey.shape[1], grey.shape[0]))
    for line in item.lines:
        ImageDraw.Draw(outlines).polygon(list(line.polygon), fill=1)
    inside = np.asarray(outlines) > 0
    assert grey[inside].mean() < grey[~inside].mean() - 15


def test_dropped_lines_and_fonts_are_tables(set_pages):
    fonts = pl.read_parquet(set_pages.path / "tables" / "fonts.parquet")
    assert set(fonts["family"]) & {"Noto Serif CJK TC", "TW-Sung", "TW-Kai"}
    left = pl.read_parquet(set_pages.path / "tables" / "unset.parquet")
    assert left.columns == ["item", "line", "text", "why"]


def test_the_same_seed_gives_the_same_pages_and_another_seed_others(
    source_pages, set_pages, tmp_path
):
    assert built(source_pages, tmp_path / "again").manifest.hash == set_pages.manifest.hash
    assert built(source_pages, tmp_path / "other", seed=1).manifest.hash != set_pages.manifest.hash


def test_a_control_looks_like_its_original(source_pages, tmp_path):
    built(source_pages, tmp_path / "controls", CONTROLS,
          PerturbSettings(kinds=("blanked",), items=1))  # fmt: skip
    items = built(tmp_path / "controls", tmp_path / "set").items()
    (control,) = [item for item in items if "control" in item.metadata]
    (first,) = [item for item in items if item.id == control.metadata["control_of"]]
    for name in ("typeface", "difficulty", "scan"):
        assert control.metadata[name] == first.metadata[name]
    assert control.images != first.images
    assert control.images[0].width == first.images[0].width


def test_what_is_no_page_is_refused(tmp_path):
    make_dataset(tmp_path / "given", [page_item("a")])
    with pytest.raises(DataError) as caught:
        built(tmp_path / "given", tmp_path / "out")
    assert caught.value.template == "no item is a transcription with outlines of its lines"
    with pytest.raises(UsageError) as caught:
        built(tmp_path / "given", tmp_path / "out", settings=TypesetSettings(typeface="comic"))
    assert caught.value.template == "no {} {!r}.{} Choose from: {}"


def test_a_page_without_lines_of_the_chosen_kind_is_dropped(source_pages, tmp_path):
    whole = Dataset.open(source_pages).items()
    notes = TypesetSettings(**SMALL, text="notes")
    made = built(source_pages, tmp_path / "notes", settings=notes)
    with_notes = [item.id for item in whole if any(line.kind == "note" for line in item.lines)]
    assert [item.id for item in made.items()] == with_notes
    assert all(item.answer for item in made.items())
    left = pl.read_parquet(made.path / "tables" / "dropped.parquet")
    assert set(left.filter(pl.col("reason") == "no line of it is notes")["subject"]) == {
        item.id for item in whole
    } - set(with_notes)
