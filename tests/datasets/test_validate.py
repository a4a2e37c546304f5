"""Every fault that a dataset can have is named, with its item and its mend."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image

from keju.datasets import validate as room
from keju.datasets.checks import Finding, check_item
from keju.datasets.store import Dataset, DatasetWriter, items_hash
from keju.datasets.table import read_items, write_items
from keju.datasets.validate import validate
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Box, ImageRef, Item, Line

Make = Callable[..., Dataset]


def ocr(item_id: str = "p1", **more: object) -> Item:
    return Item(**({"id": item_id, "benchmark": "MCS-Bench", "task": "T1", "answer": "天"} | more))


def mcq(**more: object) -> Item:
    base = {"task": "T7", "options": ("說苑", "論語", "論衡"), "answer": "C"}
    return ocr(**(base | more))


def obi(query: str, **more: object) -> Item:
    base = {"benchmark": "OBI-Bench", "task": "recognition", "query": query}
    return ocr(**(base | more))


def findings(dataset: Dataset) -> list[str]:
    return [str(finding) for finding in validate(dataset.path)]


def rewritten(dataset: Dataset, **changes: object) -> Dataset:
    """Change the first item and make the manifest fit again."""
    items = read_items(dataset.items_path)
    items[0] = replace(items[0], **changes)
    write_items(dataset.items_path, items)
    return with_manifest(dataset, hash=items_hash(items))


def with_manifest(dataset: Dataset, **changes: object) -> Dataset:
    file = dataset.path / "dataset.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return Dataset.open(dataset.path)


def image_of(dataset: Dataset) -> Path:
    return dataset.image_path(read_items(dataset.items_path)[0].images[0])


def test_a_sound_dataset_has_no_findings(make: Make) -> None:
    dataset = make(
        ocr("ocr"),
        mcq(id="mcq"),
        mcq(id="printed", verbatim=True, options=(), question="选哪个？A、甲 B、乙", answer="B"),
        obi("Where", id="where", answer="", boxes=(Box(x0=0, y0=0, x1=40, y1=60),)),
        obi("How", id="how", answer="3"),
        obi("Yes-or-No", id="yes", answer="Yes"),
        ocr("lines", lines=(Line(id="l", polygon=((1, 1), (90, 1), (3, 3))),)),
        ocr(
            "points",
            answer="天地\n玄黃",
            transcription="天地，玄黃。",
            lines=(Line(id="l", text="玄黃"), Line(id="m", text="天地、")),
        ),
        ocr("margin", lines=(Line(id="l", text="天"), Line(id="m", text="卷三"))),
        mcq(id="asked", transcription="說苑"),
    )
    assert findings(dataset) == []


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (ocr(answer=" \n"), "notice: p1: no reference: models are asked, but"),
        (ocr(task="T99"), "error: p1: no task 'T99'. Did you mean"),
        (ocr(benchmark="AncientDoc"), "error: p1: benchmark 'AncientDoc', but task T1 is of MCS"),
        (ocr(query="What"), "error: p1: task 'T1' has no query 'What'"),
        (obi("Whence"), "error: p1: task 'recognition' has no query 'Whence'. Queries: What"),
        (ocr(task="T6"), "error: p1: the blank {question} of task 'T6'"),
        (ocr(task="T5", options=("a", "b"), answer="A"), "error: p1: the blank {ter"),
        (ocr(verbatim=True), "error: p1: the blank {question}"),
        (mcq(answer="D"), "error: p1: the answer 'D' is not one of the letters ABC. Write the"),
        (mcq(answer="AC"), "error: p1: the answer 'AC' is not one of the letters ABC"),
        (mcq(answer="論衡"), "error: p1: the answer '論衡' is not one of the letters ABC"),
        (mcq(options=("論語", "詩", "論 語")), "error: p1: options A and C are the same: '論 語'"),
        (mcq(options=("論語", " ", "詩")), "error: p1: option B is empty"),
        (mcq(options=(), verbatim=True, question="哪本？"), "error: p1: 0 options found. "),
        (mcq(options=("一",), answer="A"), "error: p1: 1 option found"),
        (mcq(options=tuple("一二三四五六七八九十" * 3)), "error: p1: 30 options, but letters end"),
        (obi("Where", boxes=()), "notice: p1: no reference: models are asked, but"),
        (obi("How", answer="three"), "error: p1: the answer 'three' is not a number"),
        (obi("Yes-or-No", answer="是"), "error: p1: the answer '是' is neither Yes nor No"),
        (
            obi("Where", boxes=(Box(x0=1, y0=1, x1=9, y1=9), Box(x0=5, y0=5, x1=5, y1=9))),
            "error: p1: box 2 (5, 5, 5, 9) has no area",
        ),
        (obi("Where", boxes=(Box(x0=9, y0=1, x1=2, y1=8),)), "error: p1: box 1 (9, 1, 2, 8) has"),
        (
            obi("Where", boxes=(Box(x0=0, y0=0, x1=42, y1=10),)),
            "error: p1: box 1 (0, 0, 42, 10) leaves its image of 40x60 pixels",
        ),
        (obi("Where", boxes=(Box(x0=-2, y0=0, x1=4, y1=9),)), "error: p1: box 1 (-2, 0, 4, 9) le"),
        (
            obi("How", task="classification", answer="大", relevant=(1,)),
            "error: p1: 1 image, but the task compares one with its candidates. Add its candidates",
        ),
        (
            ocr(benchmark="OBI-Bench", task="classification", split="reference", answer=""),
            "error: p1: the reference has no label",
        ),
    ],
)
def test_a_fault_of_an_item_is_named_with_its_mend(make: Make, item: Item, says: str) -> None:
    (found,) = findings(make(item, ocr("sound")))
    assert found.startswith(says)
    assert found.endswith(".")


@pytest.mark.parametrize(
    ("relevant", "says"),
    [
        ((), ""),
        ((1, 3), "relevant [1, 3], but the candidates are 1 to 2"),
        ((0,), "relevant [0], but the candidates are 1 to 2"),
        ((1, 2), ""),
    ],
)
def test_a_gallery_names_which_of_its_candidates_belong(
    relevant: tuple[int, ...], says: str
) -> None:
    ref = ImageRef(path="images/a.png", sha256="a", width=9, height=9, size=9)
    item = obi("How", task="retrieval", images=(ref, ref, ref), relevant=relevant)
    errors = [each.problem for each in check_item(item) if each.severity == "error"]
    assert errors == [says][: bool(says)]


def test_a_query_that_has_no_metric_needs_no_answer(make: Make) -> None:
    assert findings(make(obi("How", task="deciphering", answer=""))) == []


def test_a_labelled_crop_is_a_reference_that_nobody_asks(make: Make) -> None:
    crop = ocr(benchmark="OBI-Bench", task="classification", split="reference", answer="大")
    assert findings(make(crop)) == []


def test_text_without_an_image_is_legal_and_one_notice_says_what_follows(make: Make) -> None:
    translations = make(
        ocr("p1", task="T2", transcription="學而時習之"), ocr("p2", transcription="天")
    )
    shutil.rmtree(translations.images_dir)
    items = [replace(item, images=()) for item in read_items(translations.items_path)]
    write_items(translations.items_path, items)
    alone = with_manifest(translations, hash=items_hash(items), images=0)
    assert findings(alone) == [
        "notice: p1 and 1 more: text without an image: only --setting gold-text can ask about it, "
        "and no model can be asked to read it. "
        "Import again with the images beside it, if you have them.",
    ]


def test_drafts_whose_answer_is_yet_to_be_written_are_one_notice_a_task(make: Make) -> None:
    where = obi("Where", id="b", answer="", draft=True)
    dataset = make(ocr("a", answer="", draft=True), ocr("c", answer=" ", draft=True), where)
    assert findings(dataset) == [
        "notice: a and 1 more: a draft of T1 without answer. Have a model draft it "
        "(keju build draft) or people write it (keju build review).",
        "notice: b: a draft of recognition without answer. Have a model draft it "
        "(keju build draft) or people write it (keju build review).",
    ]
    done = rewritten(dataset, draft=False)
    assert findings(done)[0] == (
        "notice: a: no reference: models are asked, but their responses are not "
        "scored. Import again with the answers, if you have them."
    )


def test_an_item_without_image_and_transcription_shows_nothing(make: Make) -> None:
    dataset = make(ocr(task="T2"))
    shutil.rmtree(dataset.images_dir)
    assert findings(with_manifest(rewritten(dataset, images=()), images=0)) == [
        "error: p1: the item has neither an image nor a transcription, so a model gets "
        "nothing to read. Import it again with its image beside it."
    ]


def test_equal_and_empty_ids_are_named(make: Make) -> None:
    dataset = make(ocr("a"), ocr("b"), ocr("c"))
    items = [
        replace(item, id=name) for item, name in zip(dataset.items(), ["a", "a", ""], strict=True)
    ]
    write_items(dataset.items_path, items)
    with_manifest(dataset, hash=items_hash(items))
    assert [str(line).partition(". ")[0] for line in findings(dataset)] == [
        "error: a: another item has this id",
        "error: item 3: the item has no id",
    ]


@pytest.mark.parametrize(
    ("changes", "field", "codes"),
    [
        ({"id": "p\x1b[31m1"}, "id", "U+001B"),
        ({"id": "p\u202e1\u200b"}, "id", "U+202E, U+200B"),
        ({"id": "p\n1"}, "id", "U+000A"),
        ({"answer": "天\x00地"}, "reference", "U+0000"),
        ({"question": "天\x07"}, "question", "U+0007"),
    ],
)
def test_invisible_characters_are_a_warning(
    make: Make, changes: dict[str, str], field: str, codes: str
) -> None:
    dataset = make(ocr(**changes))
    [found] = [each for each in validate(dataset.path) if "no page shows" in each.problem]
    assert found.severity == "warning"
    assert found.problem == f"its {field} contains characters that no page shows: {codes}"


def test_line_breaks_tabs_and_variation_selectors_of_texts_are_no_warning(make: Make) -> None:
    dataset = make(ocr(answer="天\n地\t\ufe00玄\u3000黃"))
    assert not [each for each in findings(dataset) if "no page shows" in each]


def test_a_missing_image_is_named_with_every_item_that_shows_it(make: Make) -> None:
    dataset = make(ocr("a"), ocr("b", images=()))
    ref = dataset.items()[0].images
    items = [replace(item, images=ref) for item in dataset.items()]
    image_of(dataset).unlink()
    write_items(dataset.items_path, items)
    with_manifest(dataset, hash=items_hash(items), images=1)
    found = findings(dataset)
    assert found[0].startswith(f"error: a and 1 more: {ref[0].path}: the image is missing")
    assert found[1].startswith("warning: images/")
    assert "no item uses this file" in found[1]
    assert len(found) == 2


def test_an_altered_image_is_named(make: Make) -> None:
    dataset = make(ocr())
    path = image_of(dataset)
    data = path.read_bytes()
    for altered in (data + b"x", data[:-1] + b"x"):
        path.write_bytes(altered)
        assert "not the one that was imported (size or SHA-256 differs)" in findings(dataset)[0]


def test_an_image_that_says_another_size_is_named(make: Make) -> None:
    dataset = make(ocr())
    ref = replace(dataset.items()[0].images[0], width=60, height=40)
    (found,) = findings(rewritten(dataset, images=(ref,)))
    assert "40x60 pixels, but the item has 60x40" in found


def test_an_image_that_does_not_decode_is_named(make: Make) -> None:
    dataset = make(ocr())
    path = image_of(dataset)
    broken = path.read_bytes()[:-30]
    path.write_bytes(broken)
    ref = replace(dataset.items()[0].images[0], sha256=sha256_bytes(broken), size=len(broken))
    (found,) = findings(rewritten(dataset, images=(ref,)))
    assert "truncated or damaged image" in found


def test_an_image_path_that_leaves_the_dataset_is_named_and_not_followed(make: Make) -> None:
    dataset = make(ocr())
    ref = replace(dataset.items()[0].images[0], path="../../../etc/passwd")
    found = findings(rewritten(dataset, images=(ref,)))
    assert "must be inside the dataset" in found[0]


def test_pages_and_turns_that_models_may_not_see_are_warned_of(
    tmp_path: Path, about: dict[str, str]
) -> None:
    pages, turned = io.BytesIO(), io.BytesIO()
    Image.new("L", (9, 9)).save(
        pages, "TIFF", save_all=True, append_images=[Image.new("L", (9, 9))]
    )
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (9, 5)).save(turned, "JPEG", exif=exif)
    with DatasetWriter(tmp_path / "d", **about) as writer:
        for name, data in (("two", pages), ("turned", turned)):
            writer.add(ocr(name, images=(writer.add_image(data.getvalue(), name),)))
    found = list(validate(tmp_path / "d"))
    assert [finding.severity for finding in found] == ["warning", "warning"]
    assert "2 pages or frames" in found[0].problem
    assert "EXIF rotates this image" in found[1].problem


def test_a_stray_file_is_a_warning(make: Make) -> None:
    dataset = make(ocr())
    (dataset.images_dir / "notes.txt").write_text("x")
    assert list(validate(dataset.path)) == [
        Finding("warning", "images/notes.txt", "no item uses this file", "Remove it.")
    ]


def test_a_manifest_that_does_not_fit_the_items_is_named(make: Make) -> None:
    dataset = make(ocr())
    assert (
        "its hash differs from that of the items" in findings(with_manifest(dataset, hash="0"))[0]
    )
    dataset = with_manifest(dataset, hash=items_hash(dataset_items(dataset)), tasks={"T1": 2})
    assert "the counts by task differ" in findings(dataset)[0]
    dataset = with_manifest(dataset, tasks={"T1": 1}, licence=" ", source="")
    assert [line.partition(". ")[0] for line in findings(dataset)] == [
        "error: dataset.json: no licence",
        "error: dataset.json: no source",
    ]


def test_an_unknown_licence_is_no_finding(make: Make) -> None:
    """The import names it, and a release without a licence is refused."""
    assert findings(with_manifest(make(ocr()), licence="unknown", source="unknown")) == []


def dataset_items(dataset: Dataset) -> list[Item]:
    return read_items(dataset.items_path)


def test_damaged_items_and_manifests_are_findings_and_no_dataset_is_wrong_use(
    make: Make, tmp_path: Path
) -> None:
    dataset = make(ocr())
    dataset.items_path.write_bytes(b"PAR1")
    assert "not readable as parquet" in findings(dataset)[0]
    (dataset.path / "dataset.json").write_text("{")
    assert "not readable as JSON" in findings(dataset)[0]
    with pytest.raises(UsageError, match="dataset directory"):
        list(validate(tmp_path / "nowhere"))


def test_findings_come_in_the_order_of_the_items(make: Make) -> None:
    dataset = make(*(ocr(f"p{number}") for number in range(12)))
    for path in dataset.images_dir.iterdir():
        path.unlink()
    assert [finding.item.partition(":")[0] for finding in validate(dataset.path)] == [
        f"p{number}" for number in range(12)
    ]


def test_only_a_few_images_are_under_way_at_a_time(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = make(*(ocr(f"p{number}") for number in range(30)))
    checked = []
    check = room._check_image
    monkeypatch.setattr(room, "_check_image", lambda *a: checked.append(1) or check(*a))
    (dataset.path / read_items(dataset.items_path)[0].images[0].path).unlink()
    assert "missing" in str(next(validate(dataset.path)))
    assert len(checked) <= 2 * room.WORKERS
