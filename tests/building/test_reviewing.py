"""Review: what goes out comes back the same, what was changed comes back changed."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from msgspec.structs import replace
from PIL import Image

from keju.building.engine import Engine
from keju.building.review_form import read_review_form
from keju.building.reviewing import (
    Corrections,
    Verdict,
    compute_seal,
    write_verdicts,
)
from keju.building.reviewing.deciding import decide, list_disagreements, measure_agreement
from keju.building.reviewing.forms import export_review, read_review
from keju.building.reviewing.returned_cells import is_converted
from keju.building.reviewing.sheets import format_mark_head
from keju.building.reviewing.step import STEP, ReviewSettings
from keju.building.running import StepCall, run_step
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.writers import export_dataset
from keju.errors import DataError, UsageError
from keju.items import Box, Item
from keju.runs import record_list
from tests.support.builds import run_keju

BOXES = (Box(x0=10, y0=20, x1=41.5, y1=77.25), Box(x0=100.3, y0=5, x1=150, y1=60))


def drawn(shade: int, *, turned: bool = False) -> bytes:
    out = io.BytesIO()
    exif = Image.Exif()
    if turned:
        exif[0x0112] = 6
    Image.new("RGB", (200, 120), (shade, 90, 200)).save(out, "JPEG", exif=exif)
    return out.getvalue()


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Dataset:
    """A dataset that the tests only read."""
    folder = tmp_path_factory.mktemp("review") / "given"
    with DatasetWriter(folder, name="g", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        refs = [writer.add_image(drawn(shade), "p") for shade in (10, 200)]
        writer.add(Item(id="mcq", benchmark="MCS-Bench", task="T5", question="=1+1?\n何書",
                        options=("論語", "大學", "孟子", "中庸"), answer="B",
                        draft=True))  # fmt: skip
        writer.add(Item(id="text", benchmark="MCS-Bench", task="T1", answer="天地\n玄黃",
                        transcription="天地\n玄黃", images=(refs[0],), draft=True))  # fmt: skip
        for number, ref in enumerate(refs):
            writer.add(Item(id=f"where{number}", benchmark="OBI-Bench", task="recognition",
                            query="Where", boxes=BOXES, images=(ref,), draft=True))  # fmt: skip
    return Dataset.open(folder)


def items_of(dataset: Dataset) -> dict[str, Item]:
    return {item.id: item for item in dataset.items()}


def exported(form: str, given: Dataset, out: Path) -> Path:
    export_review(form, given, given.items(), out)
    return out


def reviewed(
    given: Dataset, out: Path, *files: Path, **settings
) -> tuple[dict[str, Item], Dataset]:
    review = ReviewSettings(reviewed=files, **settings)
    run_step(StepCall(STEP, review, given), out, engine=Engine())
    made = Dataset.open(out)
    return items_of(made), made


def fill(file: Path, changes: dict[str, dict[str, str]]) -> None:
    """Write into a sheet as a person does."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row.update(changes.get(row["item"], {}))
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("form", ["sheet", "coco"])
def test_a_review_is_the_same_with_items_on_disk(given, tmp_path, monkeypatch, form):
    sent = exported(form, given, tmp_path / ("sent.csv" if form == "sheet" else "sent"))
    if form == "sheet":
        fill(sent, {"mcq": {"decision": "reject"}, "where1": {"decision": "accept"}})
    monkeypatch.setattr(Dataset, "items", lambda _: pytest.fail("all items were read into memory"))
    made = {}
    for most in (10_000, 1):
        monkeypatch.setattr(record_list, "MOST_IN_MEMORY", most)
        out = tmp_path / f"out-{most}"
        review = ReviewSettings(reviewed=(sent,))
        hash_ = run_step(StepCall(STEP, review, given), out, engine=Engine()).manifest.hash
        made[most] = hash_, (out / "tables/decided.csv").read_bytes()
    assert made[1] == made[10_000]


@pytest.mark.parametrize("form", ["label-studio", "coco"])
def test_images_in_tables_are_exported_as_files(given, tmp_path, form):
    export_dataset("parquet", given.path, tmp_path / "packed")
    packed = Dataset.open(tmp_path / "packed")
    assert packed.packed
    for name, dataset in (("files", given), ("tables", packed)):
        export_review(form, dataset, dataset.items(), tmp_path / name)
    files, tables = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "images").iterdir()}
        for name in ("files", "tables")
    )
    assert files == tables
    assert len(files) >= 2


def test_a_filled_in_sheet_decides_its_items(given, tmp_path):
    sheet = exported("sheet", given, tmp_path / "anna.csv")
    assert "'=1+1?" in sheet.read_text("utf-8-sig"), "no formula for a spreadsheet"
    fill(sheet, {
        "mcq": {"decision": "修改", "new_options": "論語\n大學\n孟子\n荀子",
                "new_question": "'=2?"},
        "text": {"decision": "Accept", "reason": "清楚"},
        "where0": {"decision": "reject", "reason": "模糊", "person": "貝"},
    })  # fmt: skip
    items, made = reviewed(given, tmp_path / "out", sheet)
    assert items["mcq"].options == ("論語", "大學", "孟子", "荀子")
    assert items["mcq"].question == "=2?"
    assert (items["text"].draft, items["text"].answer) == (False, "天地\n玄黃")
    assert [items[name].draft for name in ("mcq", "where0", "where1")] == [False, True, True]
    past = {name: item.provenance[-1] for name, item in items.items() if item.provenance}
    assert {name: each.person for name, each in past.items()} == {
        "mcq": "anna", "text": "anna", "where0": "貝",
    }  # fmt: skip
    assert past["where0"].note == "rejected (模糊)"
    assert past["mcq"].step == "review"
    rows = pl.read_parquet(made.path / "tables" / "decided.parquet").to_dicts()
    assert {row["item"]: row["state"] for row in rows} == {
        "mcq": "mended", "text": "accepted", "where0": "rejected",
    }  # fmt: skip
    dropped, _ = reviewed(given, tmp_path / "dropped", sheet, rejected="drop")
    assert "where0" not in dropped


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("decision", ["", "accept", "correct"])
def test_an_edit_of_an_exported_cell_is_rejected(given, tmp_path, name, decision):
    sheet = tmp_path / name
    hints = {
        "answer": "Restore the cell in answer. Write the correction in new_answer, "
        "with the decision `correct`",
        "task": "Restore the cell in task as it was exported",
    }
    for column, hint in hints.items():
        sheet.unlink(missing_ok=True)
        exported("sheet", given, sheet)
        edit = {
            column: "天地\n玄皇",
            "decision": decision,
            "new_question": "何?"[: decision == "correct"],
        }
        if name == "a.csv":
            fill(sheet, {"text": edit})
        else:
            rows = [json.loads(line) for line in sheet.read_text().splitlines()]
            rows[1] |= edit
            sheet.write_text("\n".join(map(json.dumps, rows)))
        with pytest.raises(
            DataError, match=f"text: the exported cell in the column {column} was changed. {hint}"
        ):
            read_review(sheet, items_of(given), "p")


@pytest.mark.parametrize(
    ("word", "decision"),
    [("OK", "accept"), ("接受", "accept"), ("通过", "accept"), ("拒绝", "reject"),
     ("拒絕", "reject"), ("correct", "correct"), ("Corrected", "correct"), ("改正", "correct"),
     ("修改", "correct")],
)  # fmt: skip
def test_decisions_are_read_in_english_and_chinese(given, tmp_path, word, decision):
    corrections = {"answer": "C"} if decision == "correct" else {}
    sheet = exported("sheet", given, tmp_path / "a.csv")
    fill(sheet, {"mcq": {"decision": word, "new_answer": corrections.get("answer", "")}})
    (verdict,) = read_review(sheet, items_of(given), "p")
    assert (verdict.decision, verdict.corrections) == (decision, Corrections(**corrections))


def test_label_studio_offers_the_decisions_and_a_correction_is_read(given, tmp_path):
    out = exported("label-studio", given, tmp_path / "ls")
    offered = ET.parse(out / "interface.xml").findall(".//Choices[@name='decision']/Choice")
    assert [choice.get("value") for choice in offered] == ["accept", "correct", "reject"]

    def change(task):
        if task["data"]["item"] == "text":
            (annotation,) = task["annotations"]
            annotation["result"][0]["value"]["text"] = ["天地\n玄皇"]
            annotation["result"].append(
                {"from_name": "decision", "type": "choices", "value": {"choices": ["correct"]}}
            )

    found = {each.item: each for each in read_review(annotated(out, change), items_of(given), "p")}
    assert found["text"].decision == "correct"


def test_conversions_by_spreadsheets_are_not_edits(given, tmp_path):
    items = items_of(given)
    numbered = [replace(items["mcq"], answer="1.0", question="nan"), items["text"]]
    sheet = tmp_path / "a.csv"
    export_review("sheet", given, numbered, sheet)
    elsewhere = "/else/" + items["text"].images[0].path
    fill(sheet, {
        "mcq": {"answer": "1", "decision": "accept"},
        "text": {"answer": "天地 \r\n玄黃\r\n", "images": elsewhere, "decision": "ok"},
    })  # fmt: skip
    assert len(read_review(sheet, {item.id: item for item in numbered}, "p")) == 2


@pytest.mark.parametrize(
    ("name", "separator", "encoding"),
    [("a.csv", ";", "utf-8-sig"), ("a.csv", "\t", "utf-8"), ("a.txt", "\t", "utf-16"),
     ("a.tsv", "\t", "utf-16"), ("a.csv", ",", "utf-16")],
)  # fmt: skip
def test_tables_are_read_as_spreadsheets_save_them(given, tmp_path, name, separator, encoding):
    sheet = exported("sheet", given, tmp_path / "out.csv")
    fill(sheet, {"mcq": {"decision": "correct", "new_answer": "C"}, "text": {"decision": "ok"}})
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    with (tmp_path / name).open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream, delimiter=separator).writerows(rows)
    found = read_review(tmp_path / name, items_of(given), "p")
    assert [each.decision for each in found] == ["correct", "accept"]
    cut = (tmp_path / name).read_bytes()[:-1]
    if encoding == "utf-16":
        (tmp_path / name).write_bytes(cut)
        with pytest.raises(DataError, match="not UTF-16"):
            read_review(tmp_path / name, items_of(given), "p")


def test_a_sheet_has_the_paths_of_its_images(given, tmp_path):
    sheet = tmp_path / "sheets" / "a.jsonl"
    sheet.parent.mkdir()
    exported("sheet", given, sheet)
    rows = [json.loads(line) for line in sheet.read_text().splitlines()]
    image = given.image_path(items_of(given)["text"].images[0])
    assert rows[1]["images"] == Path(os.path.relpath(image, sheet.parent)).as_posix()


def test_an_untouched_sheet_reviews_nothing(given, tmp_path):
    for name in ("a.csv", "a.jsonl"):
        exported("sheet", given, tmp_path / name)
        assert read_review(tmp_path / name, items_of(given), "p") == []


def test_json_lines_are_filled_in_or_are_verdicts_themselves(given, tmp_path):
    sheet = exported("sheet", given, tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in sheet.read_text().splitlines()]
    assert rows[0]["question"] == "=1+1?\n何書"
    rows[0] |= {"decision": "correct", "new_answer": "C"}
    sheet.write_text("\n".join(map(json.dumps, rows)))
    (found,) = read_review(sheet, items_of(given), "甲")
    assert found == Verdict(item="mcq", person="甲", decision="correct",
                            corrections=Corrections(answer="C"),
                            seal=compute_seal(items_of(given)["mcq"]))  # fmt: skip
    plain = tmp_path / "b.jsonl"
    plain.write_text('{"item":"mcq","person":"乙","decision":"accept","marks":{"correct":3}}\n')
    assert read_review(plain, items_of(given), "甲")[0].marks == {"correct": 3}


def test_unchanged_boxes_are_accepted(given, tmp_path):
    out = exported("coco", given, tmp_path / "coco")
    assert len(list((out / "images").glob("*.jpg"))) == 2
    found = read_review(out, items_of(given), "p")
    assert {(v.item, v.decision) for v in found} == {("where0", "accept"), ("where1", "accept")}
    items, _ = reviewed(given, tmp_path / "back", out)
    assert items["where0"].boxes == BOXES
    assert not items["where0"].draft


def test_one_image_with_different_boxes_is_not_exported(given, tmp_path):
    items = items_of(given)
    other = replace(items["where0"], id="other", boxes=BOXES[:1])
    with pytest.raises(DataError, match="other: the item and where0 show the same image"):
        export_review("coco", given, [*items.values(), other], tmp_path / "coco")


def edit_boxes(out: Path, change: Callable[[dict], None]) -> None:
    """Edit the exported boxes as a tool would."""
    coco = json.loads((out / "boxes.json").read_text())
    change(coco)
    (out / "boxes.json").write_text(json.dumps(coco))


def test_a_moved_box_is_corrected_and_the_others_keep_their_edges(given, tmp_path):
    out = exported("coco", given, tmp_path / "coco")
    edit_boxes(out, lambda coco: coco["annotations"][0].update(bbox=[10, 20, 32, 57]))
    edit_boxes(out, lambda coco: coco["annotations"][1].update(bbox=[110.3, 5, 49.7, 55]))
    items, _ = reviewed(given, tmp_path / "back", out, person="甲")
    kept, new = items["where0"].boxes
    assert kept == BOXES[0], "an edge in whole pixels was not moved"
    assert new == Box(x0=110.3, y0=5, x1=160, y1=60)
    assert items["where1"].boxes == BOXES
    assert items["where0"].provenance[-1].person == "甲"


def annotated(out: Path, changes) -> Path:
    """What Label Studio exports when the predictions were taken over and then changed."""
    tasks = json.loads((out / "tasks.json").read_text())
    for number, task in enumerate(tasks, start=1):
        results = task.pop("predictions")[0]["result"]
        task |= {"id": number, "annotations": [
            {"completed_by": {"id": 3, "email": "a@x.org"}, "result": results,
             "was_cancelled": False}]}  # fmt: skip
        changes(task)
    file = out.parent / "export.json"
    file.write_text(json.dumps(tasks))
    return file


def test_label_studio_gets_drafts_as_predictions_and_returns_them(given, tmp_path):
    out = exported("label-studio", given, tmp_path / "ls")
    tasks = json.loads((out / "tasks.json").read_text())
    value = tasks[2]["predictions"][0]["result"][0]["value"]
    assert (value["x"], value["y"]) == (pytest.approx(5), pytest.approx(100 * 20 / 120))
    # Label Studio refuses a task without an image; each is served from the folder above.
    for task in tasks:
        image = unquote(task["data"]["image"].removeprefix("/data/local-files/?d="))
        assert (out.parent / image).is_file()
    assert tasks[0]["data"]["image"].endswith("/no-image.png")
    assert "RectangleLabels" in (out / "interface.xml").read_text()
    items, _ = reviewed(given, tmp_path / "same", annotated(out, lambda task: None))
    before = items_of(given)
    for name, item in items.items():
        assert replace(item, provenance=(), draft=True) == before[name]
        assert not item.draft
        assert item.provenance[-1].person == "a@x.org"


def test_changes_in_label_studio_are_corrections(given, tmp_path):
    out = exported("label-studio", given, tmp_path / "ls")

    def change(task):
        (annotation,) = task["annotations"]
        results = annotation["result"]
        match task["data"]["item"]:
            case "text":
                results[0]["value"]["text"] = ["天地\n玄黃宇宙"]
            case "where0":
                results.pop()
                results.append({"from_name": "reason", "to_name": "shown", "type": "textarea",
                                "value": {"text": ["一框多餘"]}})  # fmt: skip
            case "mcq":
                results.append({"from_name": "decision", "type": "choices", "to_name": "shown",
                                "value": {"choices": ["reject"]}})  # fmt: skip
            case "where1":
                annotation["was_cancelled"] = True

    found = {v.item: v for v in read_review(annotated(out, change), items_of(given), "p")}
    assert found["text"].corrections == Corrections(answer="天地\n玄黃宇宙")
    assert found["where0"].corrections.fields() == {"boxes": BOXES[:1]}
    assert found["where0"].reason == "一框多餘"
    assert found["mcq"].decision == "reject"
    assert "where1" not in found


def say(item, person, decision="accept", **corrections):
    reason = "因" if corrections else ""
    return Verdict(item=item.id, person=person, decision=decision, reason=reason,
                   corrections=Corrections(**corrections))  # fmt: skip


@pytest.mark.parametrize(
    ("said", "need", "judge", "state"),
    [
        ("a", 1, "", "accepted"), ("a", 2, "", "open"), ("aa", 2, "", "accepted"),
        ("ar", 1, "", "disputed"), ("aar", 2, "", "accepted"), ("ar", 1, "p1", "rejected"),
        ("mm", 2, "", "mended"), ("mn", 2, "", "disputed"), ("rr", 2, "", "rejected"),
    ],
)  # fmt: skip
def test_the_majority_decides(given, said, need, judge, state):
    item = items_of(given)["text"]
    told = {"a": {}, "r": {"decision": "reject"}, "m": {"decision": "correct", "answer": "天"},
            "n": {"decision": "correct", "answer": "地"}}  # fmt: skip
    verdicts = {f"p{n}": say(item, f"p{n}", **told[letter]) for n, letter in enumerate(said)}
    outcome = decide(item, verdicts, need=need, judge=judge)
    assert outcome.state == state
    assert outcome.item.draft == (state not in {"accepted", "mended"})
    assert outcome.item.answer == ("天" if state == "mended" else item.answer)


def test_two_people_agreement_and_disputes_for_a_third(given, tmp_path):
    before = items_of(given)
    one = {name: say(item, "甲") for name, item in before.items()}
    two = {name: say(item, "乙") for name, item in before.items()}
    two["text"] = say(before["text"], "乙", "correct", answer="天地\n玄宇")
    two["where0"] = say(before["where0"], "乙", "correct", boxes=BOXES[:1])
    two["mcq"] = say(before["mcq"], "乙", "reject")
    both = {name: {"甲": one[name], "乙": two[name]} for name in before}
    rows = {row.what: row for row in measure_agreement(before, both)}
    assert rows["decision"].alike == 0.25
    assert rows["decision"].alpha is not None
    assert rows["decision"].alpha < 0.5
    assert rows["answer"].alike == pytest.approx(1 - 1 / 5)
    assert rows["boxes"].alike == pytest.approx((1 + 0.5) / 2)
    disputed = [
        row for name, item in before.items() for row in list_disagreements(item, both[name])
    ]
    assert {(row.item, row.field) for row in disputed} == {
        ("text", "answer"), ("where0", "boxes"), ("mcq", "decision"),
    }  # fmt: skip
    files = []
    for name, words in (("a.jsonl", one), ("b.jsonl", two)):
        write_verdicts(tmp_path / name, words.values())
        files.append(tmp_path / name)
    items, made = reviewed(given, tmp_path / "out", *files, need=2)
    assert [name for name, item in items.items() if not item.draft] == ["where1"]
    assert items["where1"].provenance[-1].person == "甲, 乙"
    table = pl.read_parquet(made.path / "tables" / "disagreements.parquet")
    assert len(table) == 3
    third = tmp_path / "c.jsonl"
    write_verdicts(third, [say(before["text"], "丙", "correct", answer="天地\n玄宇")])
    items, _ = reviewed(given, tmp_path / "third", *files, third, need=2)
    assert items["text"].answer == "天地\n玄宇"
    assert items["text"].provenance[-1].person == "乙, 丙"


def test_a_transcription_may_be_corrected_in_either_column_but_not_in_both(given, tmp_path):
    files = [tmp_path / "anna.csv", tmp_path / "bo.csv"]
    for file, column in zip(files, ("new_answer", "new_transcription"), strict=True):
        exported("sheet", given, file)
        fill(file, {"text": {"decision": "correct", column: "天地\n玄皇"}})
    items, _ = reviewed(given, tmp_path / "out", *files, need=2)
    assert (items["text"].answer, items["text"].transcription) == ("天地\n玄皇", "天地\n玄皇")
    assert not items["text"].draft
    fill(files[0], {"text": {"new_transcription": "天地\n玄荒"}})
    with pytest.raises(DataError, match="text: the new answer and the new transcription differ"):
        reviewed(given, tmp_path / "two", *files)


HOSTILE = [
    ("a.csv", "item,decision,seal\nnobody,accept,1\n", "the dataset does not contain this item"),
    ("a.csv", "item,decision,seal\nmcq,perhaps,\n", "{!r} is not a decision"),
    ("a.csv", "item,decision,seal,new_answer\nmcq,,,B\n", "the row has {} but no decision"),
    ("a.csv", "item,answer\nmcq,B\n", "the column 'decision' is missing"),
    ("a.csv", "item,decision,seal\nmcq,correct,1\n",
     "the decision is `correct`, but there is no correction"),
    ("a.csv", "item,decision\nmcq,accept\n", "line 2: the column 'seal' is missing"),
    ("a.csv", "item,decision,seal\nmcq,accept,\n", "line 2, mcq: the row has no seal"),
    ("a.csv", "item,decision,seal\nmcq,accept,0123456789abcdef\n", "has changed since"),
    ("a.csv", "item,decision,seal,mark: correct\nmcq,accept,,6\n",
     "a.csv: line 2: '6' is not a mark of the scale correct. Write a number from 1 to 5"),
    ("a.csv", "item,decision,seal,mark: correct\nmcq,accept,,=5\n",
     "{!r} is not a mark of the scale {}"),
    ("a.csv", "item,decision,seal,mark: correct\nmcq,,,5\n", "has a mark but no decision"),
    ("a.csv", "item,decision,seal,mark: clarity\nmcq,accept,,5\n",
     "the column 'mark: clarity' does not belong to this review form"),
    ("a.csv", "item,decision,seal,mark: correct | Is it? 1 no\nmcq,accept,,2\n",
     "the column {!r} does not belong to this review form"),
    ("a.jsonl", '{"item":"mcq","task":"T5","seal":"","decision":"accept","mark: correct":true}\n',
     "'True' is not a mark"),
    ("a.jsonl", '{"item":"mcq","person":"p","decision":"accept","marks":{"clarity":3}}\n',
     "'clarity' is not a scale of the review form"),
    ("a.jsonl", '{"item":"mcq","person":"p","decision":"accept","marks":{"correct":0}}\n',
     "record 1, mcq: the mark 0 is not possible: the scale correct has the marks 1 to 5"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":[{"type":"choices",'
     '"from_name":"mark-correct","value":{"choices":["4 wrong"]}}]}]}]',
     "task 1, mcq: '4 wrong' is not a mark of the scale correct"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":[{"type":"choices",'
     '"from_name":"mark-clarity","value":{"choices":["4"]}}]}]}]',
     "{!r} is not a scale of the review form"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":[{"type":"rating",'
     '"from_name":"mark-correct","value":{"rating":9}}]}]}]', "'9' is not a mark"),
    ("a.csv", 'item,decision\n"mcq,accept\n', "line"),
    ("a.json", "[" * 90000, "expected structure"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":7}]}]', "expected structure"),
    ("a.json", '[{"data":{"item":["mcq"]},"annotations":[]}]',
     "the dataset does not contain an item {!r}"),
    ("a.json", '[{"data":{"item":"where0"},"annotations":[{"result":[{"type":"rectanglelabels",'
     '"original_width":9,"original_height":9,"value":{"x":1,"y":1,"width":5,"height":5}}]}]}]',
     "9x9 pixels"),
    ("a.json", '[{"data":{"item":"where0"},"annotations":[{"result":[{"type":"rectanglelabels",'
     '"original_width":200,"original_height":120,"value":{"x":90,"y":1,"width":50,"height":5}}]}]}]',
     "leaves its image"),
    ("a.json", '[{"data":{"item":"where0"},"annotations":[{"result":[{"type":"polygonlabels"}]}]}]',
     "type 'polygonlabels', but keju reads only boxes"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":[' + "{}," * 10_000 + "{}]}]}]",
     "more than 10,000"),
    ("a.jsonl", '{"item":"where0","person":"p","decision":"correct","mended":{"boxes":'
     '[{"x0":-1e308,"y0":0,"x1":1e308,"y1":9}]}}', "leaves its image"),
    ("a.jsonl", '{"item":"where0","person":"p","decision":"correct","mended":{"boxes":'
     '[{"x0":9,"y0":0,"x1":1,"y1":9}]}}', "no area"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"completed_by":"' + "e" * 300 + '"}]}]',
     "the annotation is not a valid verdict: {}"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":[{"from_name":"reason","value":'
     '{"text":"' + "r" * 10_001 + '"}}]}]}]', "the annotation is not a valid verdict: {}"),
    ("a.json", '{"images":[{"id":1,"file_name":"../../etc/passwd"}],"annotations":[]}',
     "the image {!r} was not exported with boxes of this dataset"),
    ("a.json", '{"images":[],"annotations":[{"image_id":3,"bbox":[1,2,3,4]}]}',
     "no image has the id {}"),
    ("a.txt", "hello", "a.txt"),
    ("a.json", '[{"item":"mcq","seal":"x","decision":"accept","id":1}]',
     "task 1: the task contains no data. Export as JSON from Label Studio, not as JSON-MIN"),
    ("a.json", '[{"data":{"item":"mcq"},"annotations":[{"result":[]}]}]',
     "task 1, mcq: the task has no seal"),
    ("a.xlsx", "PK", "a.xlsx: not readable as a workbook"),
    ("a.ods", "PK", "a.ods: keju does not read this spreadsheet format. Save it as .xlsx"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), HOSTILE)
def test_hostile_files_are_refused_in_one_line(given, tmp_path, name, text, said):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        reviewed(given, tmp_path / "out", file)
    assert said in f"{caught.value} ({caught.value.template})"
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out" / "dataset.json").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [(lambda coco: coco["annotations"][0].update(bbox=[150, 5, 100, 50]), "leaves its image"),
     (lambda coco: coco["annotations"][0].update(bbox=[10, 5, 0, 0]), "no area"),
     (lambda coco: coco["annotations"][0].update(iscrowd=1), "crowd"),
     (lambda coco: coco["images"][0].update(width=120), "120x120"),
     (lambda coco: coco["images"][0].update(file_name="scan.jpg"), "was not exported")],
)  # fmt: skip
def test_impossible_boxes_are_rejected(given, tmp_path, change, said):
    out = exported("coco", given, tmp_path / "coco")
    edit_boxes(out, change)
    with pytest.raises(DataError, match=said):
        read_review(out, items_of(given), "p")


def test_a_folder_without_a_review_is_reported(given, tmp_path):
    (tmp_path / "a.xml").write_text("<annotation/>")
    with pytest.raises(DataError, match="boxes as COCO"):
        read_review(tmp_path, items_of(given), "p")


def test_an_image_rotated_by_exif_is_not_exported(tmp_path):
    with DatasetWriter(tmp_path / "given", name="g", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        ref = writer.add_image(drawn(1, turned=True), "p")
        writer.add(Item(id="a", benchmark="OBI-Bench", task="recognition", query="Where",
                        boxes=BOXES[:1], images=(ref,)))  # fmt: skip
    given = Dataset.open(tmp_path / "given")
    for form in ("coco", "label-studio"):
        with pytest.raises(DataError, match="EXIF"):
            exported(form, given, tmp_path / form)


def test_existing_files_are_not_overwritten(given, tmp_path):
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        exported("sheet", given, tmp_path / "a.csv")
    with pytest.raises(UsageError, match="name of a sheet"):
        exported("sheet", given, tmp_path / "a.doc")


def test_the_commands_export_and_import_a_review(given, tmp_path):
    sheet = tmp_path / "anna.csv"
    went = run_keju(
        "build", "review", "export", given.path, "--out", sheet, "--task", "T1", "--drafts"
    )
    assert went.returncode == 0, went.stderr
    folder = Path(os.path.relpath(given.path, tmp_path)).as_posix()
    assert f"The images are in {folder}, relative to the sheet" in went.stdout
    fill(sheet, {"text": {"decision": "accept"}})
    came = run_keju("build", "review", "import", given.path, "--reviewed", sheet, "--out",
                tmp_path / "out")  # fmt: skip
    assert came.returncode == 0, came.stderr
    assert "1 accepted; 3 not reviewed" in came.stdout
    assert not items_of(Dataset.open(tmp_path / "out"))["text"].draft


def test_an_export_prints_how_label_studio_finds_the_images(given, tmp_path):
    out = tmp_path / "a b"
    went = run_keju("build", "review", "export", given.path, "--out", out, "--form", "label-studio")
    assert "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true" in went.stdout
    assert f"LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT={tmp_path} " in went.stdout
    assert f"add {out / 'images'} as local storage" in went.stdout


def test_an_unknown_judge_is_reported_with_all_reviewers(given, tmp_path):
    items = items_of(given)
    write_verdicts(tmp_path / "a.jsonl", [say(items["mcq"], "anna"), say(items["text"], "bo")])
    with pytest.raises(UsageError, match=r"judge 'ana' is not one of the reviewers: anna, bo$"):
        reviewed(given, tmp_path / "out", tmp_path / "a.jsonl", judge="ana")


def test_two_files_of_one_assigned_reviewer_may_not_differ(given, tmp_path):
    sheets = [tmp_path / name / "sheet.csv" for name in ("one", "two")]
    for sheet, decision in zip(sheets, ("accept", "reject"), strict=True):
        sheet.parent.mkdir()
        exported("sheet", given, sheet)
        fill(sheet, {"text": {"decision": decision}, "mcq": {"decision": "accept"}})
    for settings in ({"person": "anna"}, {}):  # by their own names both are called sheet
        with pytest.raises(DataError, match=r"two/sheet\.csv: text: ") as caught:
            reviewed(given, tmp_path / "out", *sheets, **settings)
        assert caught.value.template.startswith("{!r} decided")
        assert caught.value.values[0] == settings.get("person", "sheet")
    fill(sheets[1], {"text": {"decision": "accept"}})
    items, _ = reviewed(given, tmp_path / "alike", *sheets, person="anna")
    assert items["text"].provenance[-1].person == "anna"
    fill(sheets[1], {"text": {"decision": "reject", "person": "bo"}})
    items, _ = reviewed(given, tmp_path / "named", *sheets, person="anna", judge="bo")
    assert items["text"].draft


MARKS = {"correct": 5, "complete": 3, "to the point": 2, "fit to publish": 4}


def test_a_sheet_asks_for_marks_and_gives_them_back(given, tmp_path):
    heads = [format_mark_head(scale) for scale in read_review_form().scale]
    assert all(part in heads[0] for part in ("mark: correct |", "正确", "4 right but for a detail"))
    for name in ("a.csv", "a.jsonl"):
        sheet = tmp_path / name
        exported("sheet", given, sheet)
        if name == "a.csv":
            cells = dict(zip(heads, ("5", "一半以上", "hardly", "略改即可"), strict=True))
            fill(sheet, {"mcq": {"decision": "accept", **cells}, "text": {"decision": "ok"}})
        else:
            rows = [json.loads(line) for line in sheet.read_text().splitlines()]
            assert set(heads) < set(rows[0])
            rows[0] |= {"decision": "accept", **dict(zip(heads, MARKS.values(), strict=True))}
            rows[1] |= {"decision": "accept"}
            sheet.write_text("\n".join(map(json.dumps, rows)))
        found = read_review(sheet, items_of(given), "p")
        assert [each.marks for each in found] == [MARKS, {}]
        assert list(found[0].marks) == list(MARKS)


def test_label_studio_asks_for_marks_and_gives_them_back(given, tmp_path):
    out = exported("label-studio", given, tmp_path / "ls")
    asked = ET.parse(out / "interface.xml")
    for scale in read_review_form().scale:
        (control,) = asked.findall(f".//Choices[@name='{scale.key}']")
        assert control.get("toName") == "shown"
        said = [each.get("value") for each in control]
        assert [scale.parse_mark(each) for each in said] == [1, 2, 3, 4, 5]
        assert any(scale.asks_zh in each.get("value") for each in asked.findall(".//Header"))
    ticked = asked.find(".//Choices[@name='mark-to-the-point']")[1].get("value")

    def change(task):
        if task["data"]["item"] == "text":
            task["annotations"][0]["result"] += [
                {"from_name": "mark-to-the-point", "to_name": "shown", "type": "choices",
                 "value": {"choices": [ticked]}},
                {"from_name": "mark-correct", "to_name": "shown", "type": "rating",
                 "value": {"rating": 5}},
                {"from_name": "mood", "type": "choices", "value": {"choices": ["gay"]}},
            ]  # fmt: skip

    found = {v.item: v for v in read_review(annotated(out, change), items_of(given), "p")}
    assert found["text"].marks == {"correct": 5, "to the point": 2}
    assert found["text"].decision == "accept"
    assert found["mcq"].marks == {}


def test_a_form_of_the_user_is_exported(given, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(
        'version = "1"\n[[scale]]\nname = "<clear> & \\"plain\\""\nzh = "明"\nasks = "Is it?"\n'
        'asks_zh = "？"\nmarks = ["no", "yes"]\n'
    )
    (scale,) = read_review_form(own).scale
    with pytest.raises(UsageError, match="COCO has no place for marks"):
        export_review("coco", given, given.items(), tmp_path / "coco", read_review_form(own))
    export_review("label-studio", given, given.items(), tmp_path / "ls", read_review_form(own))
    asked = ET.parse(tmp_path / "ls" / "interface.xml")
    names = [each.get("name") for each in asked.findall(".//Choices")]
    assert names == ["decision", scale.key]
    sheet = tmp_path / "a.csv"
    export_review("sheet", given, given.items(), sheet, read_review_form(own))
    fill(sheet, {"mcq": {"decision": "accept", format_mark_head(scale): "1"}})
    items, _ = reviewed(given, tmp_path / "low", sheet, scales=own, least_mark=2)
    assert items["mcq"].draft
    with pytest.raises(DataError, match="does not belong to this review form"):
        reviewed(given, tmp_path / "other", sheet)
    with pytest.raises(UsageError, match="has the marks 1 to 2"):
        reviewed(given, tmp_path / "high", sheet, scales=own, least_mark=3)


def marked(item: Item, person: str, *marks: int, **told: str) -> Verdict:
    return replace(say(item, person, **told), marks=dict(zip(MARKS, marks, strict=False)))


def test_marks_are_in_the_tables_and_reject_items_only_with_least_mark(given, tmp_path):
    items = items_of(given)
    one = [marked(items["mcq"], "甲", 5, 4), marked(items["text"], "甲", 2, 5),
           marked(items["where0"], "甲", 1), marked(items["where1"], "甲", 4)]  # fmt: skip
    two = [marked(items["mcq"], "乙", 5), marked(items["text"], "乙", 3, 5),
           marked(items["where0"], "乙", 1, decision="reject")]  # fmt: skip
    for name, verdicts in (("a.jsonl", one), ("b.jsonl", two)):
        write_verdicts(tmp_path / name, verdicts)
    files = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    off, made = reviewed(given, tmp_path / "off", *files)
    assert [name for name, item in off.items() if item.draft] == ["where0"]
    tables = {name: pl.read_parquet(made.path / "tables" / f"{name}.parquet").to_dicts()
              for name in ("decided", "disagreements", "agreement")}  # fmt: skip
    assert {row["item"]: row["marks"] for row in tables["decided"]} == {
        "mcq": "correct 5, complete 4", "text": "correct 2.5, complete 5",
        "where0": "correct 1", "where1": "correct 4",
    }  # fmt: skip
    differ = [row for row in tables["disagreements"] if row["field"].startswith("mark: ")]
    assert [(row["item"], row["field"], row["says"], row["other_says"]) for row in differ] == [
        ("text", "mark: correct", "2", "3")
    ]
    rows = {row["what"]: row for row in tables["agreement"]}
    # Ordinal alpha by hand: ranks of 5 5 2 3 1 1 are 5.5 5.5 3 4 1.5 1.5.
    assert (rows["mark: correct"]["items"], rows["mark: correct"]["alike"]) == (3, 2 / 3)
    assert rows["mark: correct"]["alpha"] == pytest.approx(1 - (2 / 6) / (2 * 33.0 / 10))
    assert rows["mark: complete"]["alpha"] is None, "all the same: nothing to differ on"
    kept, made = reviewed(given, tmp_path / "kept", *files, least_mark=3)
    assert [name for name, item in kept.items() if item.draft] == ["text", "where0"]
    assert kept["text"].provenance[-1].note == "accepted; marked below 3: correct 2.5"
    states = pl.read_parquet(made.path / "tables" / "decided.parquet")["state"].to_list()
    assert states == ["accepted", "marked low", "disputed", "accepted"]
    dropped, _ = reviewed(given, tmp_path / "dropped", *files, least_mark=3, below="drop")
    assert list(dropped) == ["mcq", "where0", "where1"]
    settled, _ = reviewed(given, tmp_path / "judged", *files, least_mark=3, judge="乙")
    assert not settled["text"].draft, "the judge's mark is 3"


RECORDED = Path(__file__).parent / "recorded"
NUMBERS = ["1/2", "3-4", "007", "50%", "1:20", "0e06696004031235", "2"]


@pytest.fixture
def numbers(tmp_path) -> Dataset:
    """Items whose ids and answers a spreadsheet takes for numbers, dates and times."""
    with DatasetWriter(tmp_path / "numbers", name="g", version="1", licence="CC0-1.0",
                       source="made by the tests") as writer:  # fmt: skip
        for n, answer in enumerate(NUMBERS, start=1):
            writer.add(Item(id=f"{n:03d}", benchmark="MCS-Bench", task="T11", question="何數？",
                            answer=answer, draft=True))  # fmt: skip
    return Dataset.open(tmp_path / "numbers")


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_sheet_that_libreoffice_has_saved_comes_back(numbers, tmp_path, suffix):
    file = RECORDED / f"review-libreoffice-7.4.7.{suffix}"
    items, _ = reviewed(numbers, tmp_path / "out", file, person="anna")
    assert {name: (item.answer, item.draft) for name, item in items.items()} == {
        f"{n:03d}": (answer, False) for n, answer in enumerate(NUMBERS, start=1)
    }


def test_a_seal_in_a_sheet_is_never_a_number(numbers, tmp_path):
    exported("sheet", numbers, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as stream:
        seals = [row["seal"] for row in csv.DictReader(stream)]
    assert seals == [f"k{compute_seal(item)}" for item in numbers.items()]


def test_all_changed_cells_of_a_sheet_are_reported_at_once(numbers, tmp_path):
    sheet = tmp_path / "a.csv"
    exported("sheet", numbers, sheet)
    fill(sheet, {
        "001": {"answer": "三", "question": "何？", "decision": "accept"},
        "003": {"task": "T1"},
        "007": {"answer": "46023", "decision": "accept"},
    })  # fmt: skip
    with pytest.raises(DataError) as caught:
        read_review(sheet, items_of(numbers), "anna")
    assert "4 exported cells were changed" in str(caught.value)
    for named in ("line 2, 001: question, answer", "line 4, 003: task", "line 8, 007: answer"):
        assert named in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "shown", "same"),
    [
        ("1", "001", True), ("2026-01-02", "1/2", True), ("01/02/26", "1/2", True),
        ("0.5", "50%", True), ("50.00%", "50%", True), ("01:20:00", "1:20", True),
        ("2026-03-04", "3-4", True), ("2", "1", False), ("2026-01-03", "1/2", False),
        ("2/3", "1/2", False), ("0.4", "50%", False), ("12", "1", False), ("三", "3", False),
        ("2026-01-02", "1", False), ("", "1/2", False),
        ("TRUE", "true", True), ("1", "TRUE", True), ("0", "False", True), ("0", "TRUE", False),
    ],
)  # fmt: skip
def test_what_a_spreadsheet_makes_of_a_cell_is_not_an_edit(cell, shown, same):
    assert is_converted(cell, shown) is same


def test_an_exported_image_is_a_copy_that_a_tool_may_save_over(given, tmp_path):
    exported("label-studio", given, tmp_path / "ls")
    ref = items_of(given)["text"].images[0]
    before = given.image_path(ref).read_bytes()
    for copy in (tmp_path / "ls" / "images").iterdir():
        assert not copy.samefile(given.image_path(ref))
        copy.write_bytes(b"rotated")
    assert given.image_path(ref).read_bytes() == before


def test_two_different_annotations_of_one_person_are_refused(given, tmp_path):
    out = exported("label-studio", given, tmp_path / "ls")

    def twice(task):
        again = json.loads(json.dumps(task["annotations"][0]))
        choice = {"value": {"choices": ["reject"]}, "from_name": "decision", "type": "choices"}
        again["result"] = [choice]
        task["annotations"].append(again)

    with pytest.raises(
        DataError, match=r"task 1, mcq: the task has two different annotations of a@x\.org"
    ):
        read_review(annotated(out, twice), items_of(given), "")


WHO = [
    ({"completed_by": {"id": 3, "email": "li@x.org", "first_name": "Hua"}}, "li@x.org"),
    ({"completed_by": {"id": 3, "email": "", "first_name": "Hua", "last_name": "Li"}}, "Hua Li"),
    ({"completed_by": {"id": 3, "username": "hua"}}, "hua"),
    ({"completed_by": {"id": 3}}, "user 3"),
    ({"completed_by": 3, "created_username": "Hua Li li@x.org, 3"}, "li@x.org"),
    ({"completed_by": 3, "created_username": "Hua Li, 3"}, "Hua Li"),
    ({"completed_by": 3, "created_username": ""}, "user 3"),
    ({"completed_by": 3}, "user 3"),
    ({"completed_by": None}, "p"),
]


@pytest.mark.parametrize(("by", "name"), WHO)
def test_reviewers_in_label_studio_are_named_as_in_its_export(given, tmp_path, by, name):
    out = exported("label-studio", given, tmp_path / "ls")
    file = annotated(out, lambda task: task["annotations"][0].update(by))
    assert {verdict.person for verdict in read_review(file, items_of(given), "p")} == {name}


def test_reviewers_exported_as_numbers_are_named_by_an_option(given, tmp_path):
    out = exported("label-studio", given, tmp_path / "ls")
    file = annotated(out, lambda task: task["annotations"][0].update({"completed_by": 3}))
    command = ["build", "review", "import", given.path, "--reviewed", file, "--out"]
    assert run_keju(*command, tmp_path / "named", "--people", "3=Li Hua").returncode == 0
    people = {item.provenance[-1].person for item in Dataset.open(tmp_path / "named").items()}
    assert people == {"Li Hua"}
    for wrong in ("4=Li Hua", "3", "3="):
        with pytest.raises(UsageError, match="user 3"):
            reviewed(given, tmp_path / "no", file, people=(wrong,))
        assert not (tmp_path / "no" / "dataset.json").exists()


def test_two_reviewers_may_not_have_the_same_name(given, tmp_path):
    files = []
    for number in (3, 4):
        out = tmp_path / f"ls{number}"
        exported("label-studio", given, out)
        about = {"completed_by": number}
        file = annotated(out, lambda task, about=about: task["annotations"][0].update(about))
        files.append(file.rename(tmp_path / f"{number}.json"))
    with pytest.raises(UsageError, match="have the name 'Li'"):
        reviewed(given, tmp_path / "n", *files, people=("3=Li", "4=Li"))


def test_other_exports_of_label_studio_are_reported(given, tmp_path):
    (tmp_path / "a.csv").write_text("annotation_id,item,seal,decision\n1,mcq,x,accept\n", "utf-8")
    with pytest.raises(DataError, match=r"a CSV export of Label Studio.*Export as JSON"):
        read_review(tmp_path / "a.csv", items_of(given), "")
    (tmp_path / "coco.zip").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"coco\.zip: the file is an archive.*export as JSON"):
        read_review(tmp_path / "coco.zip", items_of(given), "")
