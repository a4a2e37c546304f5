"""Galleries of labelled crops: what is asked is what was made."""

from __future__ import annotations

import pytest

from keju.building import retrieval_sets
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.runs import record_list
from tests.support.builds import built, oracle_crops
from tests.support.making import make_dataset, page_item


@pytest.fixture(scope="module")
def crops(shared, tmp_path_factory):
    return oracle_crops(shared, tmp_path_factory.mktemp("crops"))


def test_a_gallery_holds_references_of_every_class_and_strangers(crops, tmp_path):
    settings = retrieval_sets.RetrievalSetSettings(
        task="retrieval", classes=4, references=2, queries=1, distractors=5
    )
    made, notes = built(retrieval_sets.STEP, crops, tmp_path / "out", settings)
    assert "4 queries of 4 classes with 13 candidates, 5 of them distractors" in notes[0]
    class_of = {item.images[0].sha256: item.answer for item in Dataset.open(crops).items()}
    for item in made.items():
        own = class_of[item.images[0].sha256]
        assert item.group == item.metadata["class"] == own
        found = [place for place, ref in enumerate(item.images[1:], 1)
                 if class_of[ref.sha256] == own]  # fmt: skip
        assert tuple(found) == item.relevant
        assert len(found) == 2
        assert item.images[0] not in item.images[1:]


def test_galleries_are_the_same_with_crops_on_disk(crops, tmp_path, monkeypatch):
    settings = retrieval_sets.RetrievalSetSettings(classes=3, queries=2, distractors=4)
    made = {}
    monkeypatch.setattr(Dataset, "items", lambda _: pytest.fail("all items were read into memory"))
    for most in (10_000, 1):
        monkeypatch.setattr(record_list, "MOST_IN_MEMORY", most)
        dataset, notes = built(retrieval_sets.STEP, crops, tmp_path / str(most), settings)
        made[most] = dataset.manifest.hash, notes
    assert made[1] == made[10_000]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [({"classes": 99}, UsageError, "there are 10"), ({"queries": 500}, DataError, "Lower"),
     ({"classes": 9, "distractors": 500}, DataError, "distractors are requested")],
)  # fmt: skip
def test_galleries_that_cannot_be_are_refused(crops, tmp_path, settings, error, said):
    with pytest.raises(error, match=said):
        built(
            retrieval_sets.STEP,
            crops,
            tmp_path / "out",
            retrieval_sets.RetrievalSetSettings(**settings),
        )


def test_no_crops_are_no_classes(tmp_path):
    make_dataset(tmp_path / "given", [page_item("a")])
    with pytest.raises(DataError, match="two or more are required"):
        built(retrieval_sets.STEP, tmp_path / "given", tmp_path / "out")
