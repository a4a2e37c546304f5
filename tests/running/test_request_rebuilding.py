"""Requests of stored responses, built again from the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.datasets.store import Dataset, DatasetWriter
from keju.items import Item
from keju.running import Selection, run
from keju.running.request_rebuilding import RequestRebuilder
from keju.runs import RunFolder
from tests.support.making import picture

TEXTS = ("天地", "玄黃", "宇宙")


def test_the_texts_of_other_items_are_read_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DatasetWriter(
        tmp_path / "d", name="d", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        for number, text in enumerate(TEXTS):
            ref = writer.add_image(picture(number), str(number))
            about = {"benchmark": "MCS-Bench", "images": (ref,)}
            writer.add(Item(id=f"page-{number}", task="T1", answer=text, **about))
            writer.add(Item(id=f"question-{number}", task="T2", answer="古文", **about))
    selection = Selection(settings=("gold-ocr",), tasks=("T2",))
    run(tmp_path / "d", ["baseline:copy"], tmp_path / "run", selection=selection)
    passes = []
    walk = Dataset.__iter__

    def count(dataset: Dataset) -> object:
        passes.append(dataset)
        return walk(dataset)

    monkeypatch.setattr(Dataset, "__iter__", count)
    folder = RunFolder.open(tmp_path / "run")
    items = {item.id: item for item in folder.iter_items()}
    rebuilder = RequestRebuilder(folder)
    sources = {
        response.item: rebuilder.request(items[response.item], response).source
        for response in folder.responses()
    }
    assert sources == {f"question-{number}": text for number, text in enumerate(TEXTS)}
    assert len(passes) == 1
