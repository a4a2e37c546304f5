"""What a report gathers: every answer, scored or not meant to be."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run


def png() -> bytes:
    stream = io.BytesIO()
    Image.new("L", (80, 80), 200).save(stream, "PNG")
    return stream.getvalue()


def test_answers_to_a_query_without_a_metric_are_shown_and_not_called_stale(tmp_path: Path):
    with DatasetWriter(
        tmp_path / "set", name="small", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        image = writer.add_image(png(), "bone")
        for query in ("What", "How"):
            writer.add(
                Item(
                    id=f"ox-{query}",
                    benchmark="OBI-Bench",
                    task="deciphering",
                    query=query,
                    images=(image,),
                    answer="The head of an ox with its horns.",
                    group="ox",
                )
            )
        writer.close()
    run(tmp_path / "set", ["baseline:copy"], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    asked = load_runs([tmp_path / "run"]).asked
    found = {one.item.query: [len(answer.scores) for answer in one.answers] for one in asked}
    assert set(found) == {"What", "How"}, found
    assert found["How"] == [0]
    assert found["What"][0] > 0
