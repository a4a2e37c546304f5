"""A small scored run, with answers that would like to be more than text."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
from PIL import Image, ImageDraw

from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>&amp;=1+1"
    "<!--<script>\u202egnp.exe\u2066\u2028"
)
LONG = "天地玄黃" * 25_000


def picture(shade: int) -> bytes:
    """A grey picture with a line on it."""
    image = Image.new("RGB", (300, 400), (shade, shade, shade))
    ImageDraw.Draw(image).line((10, 10, 290, 390), fill=(200, 0, 0), width=5)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def make_scored_run(folder: Path) -> Path:
    """Make the run and its dataset in a folder; returns the run."""
    with DatasetWriter(
        folder / "set", name="small", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for place, text in enumerate(["天地玄黃\n宇宙洪荒", "日月盈昃\n辰宿列張"]):
            image = writer.add_image(picture(100 + place), f"page {place}")
            writer.add(
                Item(
                    id=f"page-{place}",
                    benchmark="MCS-Bench",
                    task="T1",
                    images=(image,),
                    answer=text,
                    group=f"book {place}",
                    metadata={"dynasty": (HOSTILE, "唐")[place]},
                )
            )
        writer.add(
            Item(
                id="question",
                benchmark="MCS-Bench",
                task="T7",
                images=(image,),
                options=("千字文", HOSTILE),
                answer="A",
            )
        )
        writer.close()
    answers = {
        "good": {"page-0": "天地玄黄\n宇宙洪荒", "page-1": "辰宿列張\n日月盈昃", "question": "A"},
        "bad": {"page-0": HOSTILE, "page-1": LONG, "question": "=HYPERLINK(1)"},
    }
    specs = []
    for name, texts in answers.items():
        file = folder / f"{name}.jsonl"
        lines = [msgspec.json.encode({"item": item, "text": text}) for item, text in texts.items()]
        file.write_bytes(b"\n".join(lines) + b"\n")
        specs.append(f"replay:{file}")
    run(folder / "set", specs, folder / "run")
    score_run(RunFolder.open(folder / "run"))
    return folder / "run"
