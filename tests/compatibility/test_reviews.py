"""Review sheets and the work of people of keju 0.1.0: read back to the same decisions."""

from __future__ import annotations

import csv
import json

from keju.datasets.store import Dataset
from tests.compatibility.conftest import read


def test_reviewed_sheets_give_the_same_dataset(old, keju):
    stored = read("made/hashes.json")["review/reviewed"]
    sheets = ("--reviewed", "made/review/anna.csv", "--reviewed", "made/review/bo.csv")
    said = ("--need", 2, "--judge", "anna")
    keju("build", "review", "import", "made/datasets/all", *sheets, *said, "--out", "new")
    assert Dataset.open(old / "new").manifest.hash == stored
    for table in ("decided", "agreement"):
        now, was = (
            old / place / f"tables/{table}.csv" for place in ("new", "made/review/reviewed")
        )
        assert _values(now) == _values(was), table


def _values(table):
    """The cells of a table whose words did not change: numbers and names, not sentences."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [[cell for cell in row if " " not in cell] for row in rows]


def test_sheets_sent_out_by_0_1_0_are_filled_in_now(old, keju):
    sheet = old / "made/review/all.csv"
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= {"decision": "accept", "person": "chen"}
    rows[1] |= {"decision": "reject", "person": "chen", "reason": "no"}
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    done = keju(
        "build", "review", "import", "made/datasets/all", "--reviewed", sheet, "--out", "new"
    )
    assert "1 accepted, 1 rejected; 36 not reviewed" in done.output
    lines = (old / "made/review/all.jsonl").read_text("utf-8").splitlines()
    first = json.loads(lines[0]) | {"decision": "accept", "person": "chen"}
    (old / "one.jsonl").write_text(json.dumps(first) + "\n", "utf-8")
    done = keju(
        "build", "review", "import", "made/datasets/all", "--reviewed", "one.jsonl", "--out", "two"
    )
    assert "1 accepted; 37 not reviewed" in done.output


def test_boxes_as_coco_come_back_unchanged(old, keju):
    given = ("--reviewed", "made/review/coco", "--person", "chen", "--out", "new")
    keju("build", "review", "import", "made/datasets/all", *given)
    now, was = Dataset.open(old / "new").items(), Dataset.open(old / "made/datasets/all").items()
    assert [item.boxes for item in now] == [item.boxes for item in was]
    assert sum(len(item.provenance) for item in now) == sum(len(i.provenance) for i in was) + 1


def test_a_verdict_on_an_item_that_has_changed_is_refused(old, keju):
    verdicts = old / "made/runs/people/people/verdicts.jsonl"
    lines = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
    lines[0]["seal"] = "0" * 16
    verdicts.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    given = ("--reviewed", verdicts, "--out", "new")
    refused = keju("build", "review", "import", "made/datasets/all", *given, fails=True)
    assert refused.exception.item == "ocr-0"


def test_what_people_did_is_written_out_again_from_the_log(old, keju):
    people = old / "made/runs/people/people"
    stored = {name: (people / name).read_bytes() for name in ("ratings.csv", "verdicts.jsonl")}
    for path in people.iterdir():
        if path.name != "acts.sqlite":
            path.unlink()
    keju("serve", "made/runs/people", "--collect", "--every")
    assert {name: (people / name).read_bytes() for name in stored} == stored
    verdicts = people / "verdicts.jsonl"
    done = keju(
        "build", "review", "import", "made/datasets/all", "--reviewed", verdicts, "--out", "new"
    )
    assert "2 accepted, 2 rejected; 34 not reviewed" in done.output
    run = "made/runs/people"
    aligned = json.loads(
        keju("judge", "align", people / "ratings.csv", "--run", run, "--json").stdout
    )
    assert "a person" in json.dumps(aligned)


def test_answers_of_an_exam_are_scored(old, keju):
    keju("score", "made/runs/exam", "--json", "now.json")
    found = read("now.json")
    assert set(found) == {"human:anna", "human:bo"}
    scored = found["human:anna"]["official"]["items"]
    (value,) = {each["value"] for each in scored if (each["id"], each["metric"]) == ("ocr-0", "CR")}
    assert value == 0.875  # `official` simplifies what anna wrote, and not the reference.


def test_decisions_on_unclear_answers_are_still_of_their_answers(old, keju):
    decided = "made/runs/people/people/adjudicated.csv"
    done = keju("score", "made/runs/people", "--adjudicated", decided, "--json", "now.json")
    assert "changed since" not in done.output
    settled = [each["variants"]["tasks"]["7"]["Acc_reviewed"] for each in read("now.json").values()]
    assert settled == [1.0] * 6
