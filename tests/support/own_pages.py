"""Scored runs over pages of one's own, read by replayed engines and models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture

Texts = Mapping[str, str]


def scored_pages(path: Path, pages: Texts, answers: Mapping[str, Texts]) -> Path:
    """A scored run.

    Args:
        path: a new folder; the run is in it.
        pages: the text of each page by its name, BOOK/PAGE; an empty text is that of a blank page.
        answers: by engine, then by page; a page without one has no result.
    """
    with DatasetWriter(
        path / "set", name="mine", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for place, (name, text) in enumerate(pages.items()):
            image = writer.add_image(picture(100 + place), name)
            blank = {} if text else {"blank": "yes"}
            writer.add(
                Item(id=name, benchmark="pages", task="page_ocr", images=(image,), answer=text,
                     group=name.partition("/")[0], metadata={"file": f"{name}.png"} | blank)
            )  # fmt: skip
    specs = []
    for engine, texts in answers.items():
        lines = [{"item": name, "text": text} for name, text in texts.items()]
        (path / f"{engine}.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
        specs.append(f"replay:{path / engine}.jsonl")
    run(path / "set", specs, path / "run")
    score_run(RunFolder.open(path / "run"))
    return path / "run"
