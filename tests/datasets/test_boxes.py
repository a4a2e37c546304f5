"""Boxes of every form: put inside their image, found for it, counted, and bounded."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from keju.datasets.readers.boxes import Canvas, Drawn, fit_boxes, read_canvas
from keju.datasets.readers.records import Place
from keju.errors import DataError
from keju.items import Box
from keju.texts import in_terminal, using
from tests.support.commanding import keju
from tests.support.layouts import obi_boxes as forms
from tests.support.released import picture, put, table, voc

HERE = Place(Path("boxes.json"), "annotation 1")


def box(x0: float, y0: float, x1: float, y1: float) -> Box:
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


def where(done) -> dict[str, tuple[Box, ...]]:
    """The boxes of each image that was imported, by its file."""
    return {
        Path(item.metadata["file"]).name: item.boxes for item in done.items if item.query == "Where"
    }


def turned(orientation: int, size: tuple[int, int]) -> bytes:
    """An image of that stored size, with an EXIF orientation."""
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", size, (9, orientation, 9)).save(out, "JPEG", exif=exif)
    return out.getvalue()


@pytest.mark.parametrize(
    ("drawn", "inside"),
    [
        (box(-0.9, 0, 20, 61), box(0, 0, 20, 60)),
        (box(1, 2, 41, 60.5), box(1, 2, 40, 60)),
        (box(0, 0, 40, 60), box(0, 0, 40, 60)),
    ],
)
def test_a_box_that_leaves_its_image_by_a_pixel_is_clipped(drawn, inside):
    found = fit_boxes([Drawn(drawn, HERE)], Canvas(40, 60))
    assert found.boxes == (inside,)
    assert found.counts["clipped"] == (drawn != inside)


@pytest.mark.parametrize(
    "drawn", [box(1, 1, 42, 20), box(5, 5, 5, 9), box(9, 9, 5, 12), box(40.5, 1, 41, 9)]
)
def test_a_faulty_box_is_refused_or_skipped(drawn):
    with pytest.raises(DataError, match="skip-faulty=yes"):
        fit_boxes([Drawn(drawn, HERE)], Canvas(40, 60))
    found = fit_boxes([Drawn(drawn, HERE), Drawn(box(1, 1, 2, 2), HERE)], Canvas(40, 60),
                   skip_faulty=True)  # fmt: skip
    assert (found.boxes, found.counts["skipped"]) == ((box(1, 1, 2, 2),), 1)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_on_the_stored_image_are_turned_as_exif_turns_it(orientation):
    """Against Pillow: the mark in the box is where the box is after turning."""
    stored = Image.new("L", (40, 60), 255)
    ImageDraw.Draw(stored).rectangle((4, 7, 13, 26), fill=0)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.info["exif"] = exif.tobytes()
    out = io.BytesIO()
    stored.save(out, "PNG", exif=exif)
    from keju.images import open_image

    upright = open_image(out.getvalue(), name="p.png")
    canvas = read_canvas(out.getvalue(), Path("p.png"))
    assert canvas == (*upright.size, orientation)
    size = (40.0, 60.0) if orientation >= 5 else (0.0, 0.0)
    found = fit_boxes([Drawn(box(4, 7, 14, 27), HERE, size)], canvas).boxes[0]
    if orientation in {1, 5, 6, 7, 8}:
        dark = Image.eval(upright.convert("L"), lambda value: 255 - value).getbbox()
        assert (found.x0, found.y0, found.x1, found.y1) == dark


def test_images_turned_without_a_size_are_counted_in_a_note(read, tmp_path):
    put(tmp_path / "s/p.jpg", turned(6, (60, 40)))
    put(tmp_path / "s/p.txt", "0 0.5 0.5 0.5 0.5\n")
    done = read("obi-recognition", tmp_path / "s")
    assert where(done) == {"p.jpg": (box(10, 15, 30, 45),)}
    assert any(note.startswith("s: 1 image turned by EXIF") for note in done.notes)
    put(tmp_path / "t/p.jpg", turned(6, (60, 40)))
    voc(tmp_path / "t/p.xml", (0, 30, 10, 40), size=(60, 40))
    assert where(read("obi-recognition", tmp_path / "t")) == {"p.jpg": (box(0, 0, 10, 10),)}


def test_several_forms_are_named(read, tmp_path):
    src = tmp_path / "O2BR"
    forms.in_three_forms(src)
    with pytest.raises(DataError) as refused:
        read("obi-recognition", src)
    for part in ("images/bone1.xml", "images/bone1.txt", "images/images.json", "in one form alone"):
        assert part in str(refused.value)


def test_notes_count_what_is_skipped(read, tmp_path):
    src = tmp_path / "O2BR"
    forms.coco_parts(src)
    notes = read("obi-recognition", src).notes
    assert "O2BR: skipped 1 annotations of crowds" in notes
    with using("zh"):
        assert "O2BR：跳过 1 个群组标注（iscrowd）" in map(in_terminal, notes)
    put(tmp_path / "l/p.png", picture(1))
    point = {"label": "x", "points": [[3, 3]], "shape_type": "point"}
    shape = {"label": "x", "points": [[1, 1], [9, 9]], "shape_type": "rectangle"}
    put(tmp_path / "l/p.json", json.dumps({"shapes": [point, shape]}))
    assert (
        "l: skipped 1 shapes of the kind 'point'" in read("obi-recognition", tmp_path / "l").notes
    )
    put(tmp_path / "y/p.png", picture(1))
    put(tmp_path / "y/p.json", json.dumps({"img_name": "p", "ann": [[1, 1, 9, 9, 0.5]]}))
    done = read("obi-recognition", tmp_path / "y")
    assert where(done) == {"p.png": (box(1, 1, 9, 9),)}


def test_an_image_has_its_boxes_from_one_file_only(read, tmp_path):
    src = tmp_path / "O2BR"
    forms.coco_one(src)
    forms.dumped(src / "more.json", forms.coco({2: forms.BOXES[2]}))
    with pytest.raises(DataError, match=r"more\.json also has the boxes of bone2\.png"):
        read("obi-recognition", src)


def test_boxes_of_missing_images_are_refused_or_skipped(read, tmp_path):
    src = tmp_path / "O2BR"
    forms.coco_one(src)
    (src / "images/bone3.png").unlink()
    with pytest.raises(DataError, match=r"1 image is missing: 'bone3\.png' \(of image 3\)"):
        read("obi-recognition", src)
    done = read("obi-recognition", src, skip_missing="yes")
    assert sorted(where(done)) == ["bone1.png", "bone2.png"]
    assert any("skipped boxes: 1 image is missing" in note for note in done.notes)


def test_an_image_whose_boxes_are_all_faulty_is_dropped_with_a_note(read, tmp_path):
    for number in (1, 2):
        put(tmp_path / f"s/p{number}.png", picture(number))
    table(tmp_path / "s/boxes.csv", ("image", "x", "y", "width", "height"),
          ("p1.png", 1, 1, 5, 5), ("p2.png", 1, 1, 99, 5))  # fmt: skip
    done = read("obi-recognition", tmp_path / "s", skip_faulty="yes")
    assert where(done) == {"p1.png": (box(1, 1, 6, 6),)}
    assert "s: dropped 1 image whose boxes were all skipped: p2.png" in done.notes


def test_an_image_is_found_by_its_folder_where_names_repeat(read, tmp_path):
    for number, part in enumerate(("train", "val")):
        put(tmp_path / f"s/images/{part}/p.png", picture(number))
        put(tmp_path / f"s/labels/{part}/p.txt", f"0 0.5 0.5 0.{number + 1} 0.5\n")
    done = read("obi-recognition", tmp_path / "s")
    widths = {
        item.metadata["file"]: item.boxes[0].x1 - item.boxes[0].x0
        for item in done.items
        if item.boxes
    }
    assert widths == {"images/train/p.png": 4, "images/val/p.png": 8}


HEADS = "image,xmin,ymin,xmax,ymax\n"

HOSTILE = {
    "YOLO with NaN": ("p.txt", "0 nan 0.5 0.2 0.2\n", "is not a line of a YOLO file"),
    "YOLO in pixels": ("p.txt", "0 20 30 10 10\n", "is not a line of a YOLO file"),
    "YOLO with text": ("p.txt", "0 0.5 0.5 0.2 0.2\nhello\n", "is not a line of a YOLO file"),
    "nested JSON": ("p.json", '{"shapes": ' + "[" * 100_000, "not readable as JSON boxes"),
    "ann of texts": ("p.json", '{"ann": [["a", "b", "c", "d"]]}', "'a' is not a number"),
    "ann of truth": ("p.json", '{"ann": [[true, 1, 2, 3]]}', "'True' is not a number"),
    "ann of three": ("p.json", '{"ann": [[1, 2, 3]]}', "ann 1: '' is not a number (field 3)"),
    "ann beyond": ("p.json", '{"ann": [[1e308, 1, 2, 3]]}', "too large for an image"),
    "COCO without image": (
        "c.json",
        '{"images": [{"id": 1, "file_name": "p.png"}], '
        '"annotations": [{"image_id": 2, "bbox": [1, 1, 2, 2]}]}',
        "annotation 1: no image has the id 2",
    ),
    "COCO of one id": (
        "c.json",
        '{"images": [{"id": 1, "file_name": "p.png"}, {"id": 1, "file_name": "q.png"}]}',
        "two images have this id",
    ),
    "COCO outlines that are RLE": (
        "c.json",
        '{"images": [{"id": 1, "file_name": "p.png"}], '
        '"annotations": [{"image_id": 1, "segmentation": {"counts": "abc", "size": [1, 1]}}]}',
        "segmentation is not a list of points",
    ),
    "labelme without points": ("p.json", '{"shapes": [{"points": []}]}', "the shape has no points"),
    "a table of unequal lines": ("t.csv", HEADS + "p.png,1,1,9,9\np.png,1,1\n", "3 cells"),
    "a path as a name": ("t.csv", HEADS + "../../etc/passwd,1,1,9,9\n", "image is missing"),
    "a table without column names": ("t.csv", "p.png,1,1,9,9,a\n", "Not recognised: t.csv"),
    "VOC without a side": (
        "p.xml",
        "<annotation><object><bndbox><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>"
        "</annotation>",
        "object 1: '' is not a number (field bndbox.xmin)",
    ),
    "VOC without a box": (
        "p.xml",
        "<annotation><object><name>x</name></object></annotation>",
        "object 1: '' is not a number (field bndbox.xmin)",
    ),
    "a list of texts": ("p.json", '[{"ann": [[1, 2, 3, 4]]}]', "it does not name its image"),
    "a shape that is a list": ("p.json", '{"shapes": [[1, 2]]}', "points is not a list of points"),
    "a rotated box": (
        "c.json",
        '{"images": [{"id": 1, "file_name": "p.png"}], '
        '"annotations": [{"image_id": 1, "bbox": [9, 9, 4, 2, 0.5]}]}',
        "annotation 1: bbox is not a list of four numbers",
    ),
    "a list of nothing": ("c.json", "[]", "found none"),
    "no JSON at all": ("p.json", "\x00\x01", "found none"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_annotations_are_refused_in_one_line(read, tmp_path, name):
    file, text, says = HOSTILE[name]
    put(tmp_path / "s/p.png", picture(1))
    put(tmp_path / "s" / file, text)
    with pytest.raises(DataError) as refused:
        read("obi-recognition", tmp_path / "s")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.hint


def test_a_line_of_a_table_without_numbers_is_an_image_without_boxes(read, tmp_path):
    forms.images(tmp_path / "s")
    put(tmp_path / "s/boxes.csv", HEADS + "bone1.png,1,1,9,9\nbone2.png,,,,\nbone3.png,,,,\n")
    with pytest.raises(
        DataError,
        match=r"2 images without boxes: images/bone2\.png \(nothing in boxes\.csv\), .*negatives",
    ):
        read("obi-recognition", tmp_path / "s")
    done = read("obi-recognition", tmp_path / "s", skip_missing="yes")
    assert where(done) == {"bone1.png": (box(1, 1, 9, 9),)}


def test_a_million_annotations_and_a_large_image_inside_json_are_bounded(read, tmp_path):
    src = tmp_path / "s"
    put(src / "p.png", picture(1))
    box_of = '{"image_id": 1, "bbox": [1, 1, 5, 5], "iscrowd": 0},'
    text = '{"images": [{"id": 1, "file_name": "p.png"}], "annotations": [' + box_of * 300_000
    put(src / "c.json", text[:-1] + "]}")
    with pytest.raises(DataError, match=r"more than 10000 boxes on p\.png"):
        read("obi-recognition", src)
    (src / "c.json").unlink()
    data = '"imageData": "' + "A" * 30_000_000 + '", '
    put(src / "p.json", "{" + data + '"shapes": [{"points": [[1, 1], [9, 9]]}]}')
    assert where(read("obi-recognition", src)) == {"p.png": (box(1, 1, 9, 9),)}


def test_a_release_of_yinqiwenyuan_is_imported_run_and_scored_in_three_commands(tmp_path):
    src = tmp_path / "AYNU_detection/Train"
    drawn = [(20, 30, 60, 80), (90, 40, 150, 95)]
    image = Image.new("L", (200, 150), 255)
    for corners in drawn:
        ImageDraw.Draw(image).rectangle((*corners[:2], corners[2] - 1, corners[3] - 1), fill=0)
    out = io.BytesIO()
    image.save(out, "PNG")
    put(src / "b02519Z.png", out.getvalue())
    ann = [[*map(float, corners), 1.0] for corners in drawn]
    put(src / "b02519Z.json", json.dumps({"img_name": "b02519Z", "ann": ann}))
    made, run = tmp_path / "dataset", tmp_path / "run"
    done = keju("data", "import", "auto", src.parent, "--out", made, "--licence", "unknown",
                "--source", "unknown")  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = keju("run", made, "--model", "baseline:components", "--out", run)
    assert asked.returncode == 0, asked.stderr
    scores = tmp_path / "scores.json"
    scored = keju("score", run, "--json", scores)
    assert scored.returncode == 0, scored.stderr
    values = {
        item["metric"]: item["value"]
        for item in json.loads(scores.read_text())["official"]["items"]
    }
    assert values["MRE"] == 0
    assert values["mIoU"] == pytest.approx(1, abs=0.05)


def test_the_use_of_the_columns_of_a_table_is_reported(read, tmp_path):
    forms.tensorflow_csv(tmp_path / "O2BR")
    notes = read("obi-recognition", tmp_path / "O2BR").notes
    assert "fields ignored: class" in notes
    assert any("image (filename), xmin" in note for note in notes)
