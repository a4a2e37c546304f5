"""Whole runs of baselines: galleries, boards and pages, asked, scored and reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keju.datasets.store import DatasetWriter
from keju.items import Box, Item
from keju.models import ModelOptions
from keju.reporting.page import write_report
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.serving import Chat
from tests.support.showing import oracle_crops, stored, torn

QUERIES, REFERENCES = 4, 3
"""Of each class."""
LOOKING = ("baseline:hog", "baseline:edges", "baseline:components")


def writer(path: Path) -> DatasetWriter:
    return DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="made here")


def means(out: Path, protocol: str = "strict") -> dict[tuple[str, str, str], float]:
    """The mean of each model's values, by model, task or query, and metric."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for score in score_run(RunFolder.open(out)):
        if score.protocol == protocol and score.value is not None:
            place = (score.model, f"{score.task} {score.query}".strip(), score.metric)
            values.setdefault(place, []).append(score.value)
    return {place: float(np.mean(found)) for place, found in values.items()}


@pytest.fixture(scope="module")
def bones(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real characters to classify, torn bones to rejoin, and boards with two characters each."""
    path = tmp_path_factory.mktemp("bones") / "data"
    crops = oracle_crops(shared)
    with writer(path) as out:
        add_characters(out, crops.pictures, crops.classes)
        draw = np.random.default_rng(5)
        halves = [half for _ in range(4) for half in torn(draw)]
        refs = [out.add_image(stored(half).data, f"half {at}") for at, half in enumerate(halves)]
        for at, ref in enumerate(refs):
            others = [place for place in range(len(refs)) if place != at]
            out.add(Item(
                id=f"f{at}", benchmark="OBI-Bench", task="rejoining", query="How",
                images=(ref, *(refs[place] for place in others)),
                relevant=(others.index(at ^ 1) + 1,), group=f"bone {at // 2}",
            ))  # fmt: skip
        board = np.full((200, 200), 230, np.uint8)
        board[30:70, 20:50] = board[100:140, 120:150] = 15
        ref = out.add_image(stored(board).data, "board")
        boxes = (Box(x0=20, y0=30, x1=50, y1=70), Box(x0=120, y0=100, x1=150, y1=140))
        for query, answer in (("How", "2"), ("Where", ""), ("Yes-or-No", "yes")):
            out.add(Item(
                id=f"b-{query}", benchmark="OBI-Bench", task="recognition", query=query,
                images=(ref,), answer=answer, boxes=boxes if query == "Where" else (),
            ))  # fmt: skip
    return path


def add_characters(out: DatasetWriter, pictures: np.ndarray, classes: np.ndarray) -> None:
    places = [np.flatnonzero(classes == each) for each in range(10)]
    known = [place for each in places for place in each[:REFERENCES]]
    gallery = [out.add_image(stored(pictures[place]).data, str(place)) for place in known]
    for each in range(10):
        for place in places[each][REFERENCES : REFERENCES + QUERIES]:
            ref = out.add_image(stored(pictures[place]).data, str(place))
            relevant = tuple(range(1 + each * REFERENCES, 1 + (each + 1) * REFERENCES))
            for query in ("How", "Yes-or-No"):
                out.add(Item(
                    id=f"c{place}-{query}", benchmark="OBI-Bench", task="classification",
                    query=query, images=(ref, *gallery), relevant=relevant, group=str(each),
                ))  # fmt: skip


def test_what_looks_at_bones_is_above_chance_at_its_own_task(bones: Path, tmp_path: Path):
    models = [*LOOKING, "baseline:chance"]
    summary = run(bones, models, tmp_path / "run")
    pairs, halves = 2 * 40 * 30, 8 * 7
    asked = [model.asked for model in summary.models]
    assert asked == [pairs, halves, 2, pairs + halves + 1]
    assert not summary.failures
    found = means(tmp_path / "run")
    assert found["baseline:hog", "classification How", "Acc@1"] > 0.25
    assert found["baseline:hog", "classification How", "AUC"] > 0.6
    assert found["baseline:hog", "classification Yes-or-No", "AUC"] > 0.52
    assert found["baseline:edges", "rejoining How", "AUC"] > 0.7
    assert found["baseline:components", "recognition Where", "F1_IoU"] == 1
    assert found["baseline:components", "recognition How", "CountAcc"] == 1
    # Four standard errors of 40 queries around a tenth.
    assert found["baseline:chance", "classification How", "Acc@1"] < 0.1 + 4 * (0.09 / 40) ** 0.5


def test_a_report_takes_them_for_floors(bones: Path, tmp_path: Path, chat: Chat):
    out, page = tmp_path / "run", tmp_path / "report.html"
    models = ["baseline:components", "blind:openai:served", "shuffled:openai:served"]
    selection = Selection(tasks=("recognition", "rejoining"))
    run(bones, models, out, selection=selection, options=ModelOptions(base_url=chat.url))
    score_run(RunFolder.open(out))
    write_report([out], page)
    html = page.read_text("utf-8")
    assert "baseline: a simple rule" in html
    assert "baseline: a model without the images" in html
    # The task of one board has no other group.
    assert "baseline: a model with other images" in html
    assert "the task has no image of another group to show" in html
