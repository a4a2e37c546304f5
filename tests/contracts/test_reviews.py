"""Reviews and ratings as other programs wrote them, read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.building.reviewing.forms import export_review
from keju.building.reviewing.verdicts import Verdict
from keju.datasets.store import Dataset
from tests.support.contract_review import (
    PERSON,
    SECOND,
    by_item,
    decided,
    decided_second,
    drafts,
    read_back,
)
from tests.support.contract_sheets import expected_ratings, rated_run, ratings
from tests.support.contracting import RECORDED

REVIEWS = sorted((RECORDED / "libreoffice" / "review").iterdir())
RATINGS = sorted((RECORDED / "libreoffice" / "ratings").iterdir())


@pytest.mark.parametrize("file", REVIEWS, ids=lambda file: file.name)
def test_a_review_sheet_saved_by_libreoffice_has_the_same_verdicts(tmp_path: Path, file: Path):
    data = drafts(tmp_path / "data")
    assert by_item(read_back(file, data)) == decided(data)


@pytest.mark.parametrize("file", RATINGS, ids=lambda file: file.name)
def test_a_rating_sheet_saved_by_libreoffice_has_the_same_scores(tmp_path: Path, file: Path):
    assert ratings(file, rated_run(tmp_path)) == expected_ratings()


def test_boxes_go_to_pycocotools_as_recorded_and_come_back_accepted(tmp_path: Path):
    data = drafts(tmp_path / "data")
    export_review("coco", data, data.items(), tmp_path / "coco")
    file = RECORDED / "pycocotools" / "boxes.json"
    assert json.loads((tmp_path / "coco" / "boxes.json").read_text("utf-8")) == json.loads(
        file.read_text("utf-8")
    )
    assert by_item(read_back(file, data, "li")) == {
        name: Verdict(item=name, person="li", decision="accept") for name in ("where1", "where2")
    }


@pytest.mark.parametrize(
    ("person", "decisions"),
    [(PERSON, decided), (SECOND, decided_second)],
    ids=["first", "second"],
)
def test_an_export_of_label_studio_has_the_verdicts_of_each_person(
    tmp_path: Path, person: str, decisions: Callable[[Dataset], dict[str, Verdict]]
):
    data = drafts(tmp_path / "data")
    people = json.loads((RECORDED / "label-studio" / "people.json").read_text("utf-8"))
    found = read_back(RECORDED / "label-studio" / "json.json", data)
    told = [replace(each, person=people[each.person]) for each in found]
    assert by_item(each for each in told if each.person == person) == decisions(data)
