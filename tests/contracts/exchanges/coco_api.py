"""Boxes exported for review as COCO, in pycocotools: loaded, evaluated, and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator

from keju.building.reviewing.verdicts import Verdict
from keju.metrics.boxes import iou_matrix
from tests.support.contract_review import by_item, drafts, exported, read_back
from tests.support.contracting import Contract, Exchanged, compared

SCRIPT = """\
import json, sys
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from pycocotools import mask
truth = COCO(sys.argv[1])
json.dump(truth.dataset, open(sys.argv[2], "w"))  # COCOeval adds fields of its own to it.
found = [{**each, "score": 1.0} for each in truth.dataset["annotations"]]
moved = [{**each, "bbox": [each["bbox"][0] + 100, *each["bbox"][1:]]} for each in found]

def precision(detections):
    run = COCOeval(truth, truth.loadRes(detections), "bbox")
    run.evaluate(); run.accumulate(); run.summarize()
    return [float(run.stats[0]), float(run.stats[8])]

by_image = {image["file_name"]: [truth.anns[each]["bbox"]
            for each in truth.getAnnIds(imgIds=image["id"])] for image in truth.imgs.values()}
boxes = [each["bbox"] for each in found]
said = {"own": precision(found), "moved": precision(moved), "boxes": by_image,
        "iou": mask.iou(boxes, boxes, [0] * len(boxes)).tolist()}
json.dump(said, open(sys.argv[3], "w"))
"""


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """The export is loaded and evaluated against itself, and what is written comes back."""
    data = drafts(contract.work / "data")
    out = contract.work / "coco"
    exported(contract, data, out, "--form", "coco")
    back, said = contract.work / "boxes.json", contract.work / "said.json"
    contract.call(contract.python, "-c", SCRIPT, out / "boxes.json", back, said)
    found = json.loads(said.read_text("utf-8"))
    wide = {item.images[0].sha256[:16]: [[b.x0, b.y0, b.x1 - b.x0, b.y1 - b.y0]
                                         for b in item.boxes]
            for item in data.items() if item.boxes}  # fmt: skip
    yield compared(
        "boxes of each image",
        wide,
        {name.partition("-")[2].partition(".")[0]: boxes for name, boxes in found["boxes"].items()},
    )
    yield compared("AP and AR of the boxes against themselves", [1.0, 1.0], found["own"],
                   detail="AP 1.0, AR 1.0")  # fmt: skip
    yield compared("AP and AR of boxes moved away", [0.0, 0.0], found["moved"],
                   detail="AP 0.0, AR 0.0")  # fmt: skip
    flat = [(box.x0, box.y0, box.x1, box.y1) for item in data.items() for box in item.boxes]
    yield compared(
        "IoU of each pair of boxes, to 12 digits",
        iou_matrix(flat, flat).round(12).tolist(),
        [[round(value, 12) for value in row] for row in found["iou"]],
        detail=f"{len(flat) ** 2} of {len(flat) ** 2} equal",
    )
    yield compared(
        "written back and imported: verdicts",
        {name: Verdict(item=name, person="li", decision="accept") for name in ("where1", "where2")},
        by_item(read_back(back, data, "li")),
    )
    contract.keep("boxes.json", back.read_bytes())
