"""Runs with made responses to transcription items, and schemas for what is exported of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
from lxml import etree

from keju.items import Failure, ImageRef, Item, Line, Response
from keju.runs import RunFolder, RunManifest

SCHEMAS = Path(__file__).with_name("schemas")
SIZE = (400, 600)


@cache
def schema(form: str) -> etree.XMLSchema:
    name = {"page-xml": "page-2019-07-15.xsd", "alto": "alto-4-4-written.xsd"}[form]
    return etree.XMLSchema(etree.parse(SCHEMAS / name))


def valid(form: str, path: Path) -> etree._Element:
    """The root of a file that is valid, else an error that names what is not."""
    root = etree.parse(path).getroot()
    schema(form).assertValid(root)
    return root


def column(name: str, text: str, right: float = 300, **more: object) -> Line:
    """A line 40 pixels wide and 500 high."""
    corners = ((right - 40, 50), (right, 50), (right, 550), (right - 40, 550))
    return Line(id=name, text=text, **{"polygon": corners, "confidence": 0.9, **more})


def item(name: str, *, images: int = 1, **more: object) -> Item:
    refs = tuple(
        ImageRef(
            path=f"images/{at}.png", sha256=f"{at}" * 64, width=SIZE[0], height=SIZE[1], size=1
        )
        for at in range(images)
    )
    return Item(
        id=name, benchmark="AncientDoc", task="page_level_ocr", images=refs, answer="天", **more
    )


def response(name: str, text: str = "", *lines: Line, **more: object) -> Response:
    status = more.pop("status", "answered" if text or lines else "empty")
    error = Failure(kind="server", message="no\tpower") if status == "failed" else None
    return Response(
        key=name, item=name, model="engine", benchmark="AncientDoc", task="page_level_ocr",
        status=status, text=text, lines=lines, error=error, **more,
    )  # fmt: skip


def made_run(
    folder: Path,
    items: Sequence[Item],
    responses: Sequence[Response],
    *,
    models: Sequence[str] = ("engine",),
    **settings: str,
) -> Path:
    run = RunFolder(folder)
    run.write_items(list(items))
    run.write_manifest(
        RunManifest(
            keju="0", dataset="made", dataset_version="1", dataset_hash="h",
            created="2026-01-02T03:04:05+01:00", settings=dict(settings),
            models={name: {"kind": "engine", "rapidocr": "3.10.0"} for name in models},
        )
    )  # fmt: skip
    path = run.responses_path(models[0], "page_level_ocr")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in responses))
    return folder
