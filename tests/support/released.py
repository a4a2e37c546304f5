"""Small sources in every released form, sound, for readers to read and for tests to damage."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import polars as pl
from PIL import Image

from keju.datasets.store import DatasetWriter
from keju.datasets.writers import export_dataset
from keju.items import Item
from tests.support.pdfs import pdf_of


class Form(NamedTuple):
    """A form of source: the format's name, how a sound one is made, its options."""

    name: str
    build: Callable[[Path], None]
    options: Mapping[str, str] = MappingProxyType({})


def picture(number: int, size: tuple[int, int] = (40, 60), form: str = "PNG") -> bytes:
    """A small picture that no other number has."""
    image = Image.new("RGB", size, (number % 256, number // 256 % 256, 90))
    image.putpixel((0, 0), (255, 255, 255))
    out = io.BytesIO()
    image.save(out, form)
    return out.getvalue()


def put(path: Path, content: bytes | str) -> Path:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(path: Path, heads: Iterable[str], *rows: Iterable[object]) -> Path:
    """Write a CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return put(path, out.getvalue())


def voc(path: Path, *boxes: tuple[float, ...], size: tuple[int, int] = (40, 60)) -> Path:
    """Write the annotation of a picture as LabelImg does."""
    objects = "".join(
        f"<object><name>字</name><bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax>"
        f"<ymax>{y1}</ymax></bndbox></object>"
        for x0, y0, x1, y1 in boxes
    )
    return put(
        path,
        f"<annotation><filename>{path.stem}.png</filename><size><width>{size[0]}</width>"
        f"<height>{size[1]}</height><depth>3</depth></size>{objects}</annotation>",
    )


def pages(src: Path) -> None:
    for number in range(3):
        put(src / f"book/p{number}.png", picture(number))
        put(src / f"book/p{number}.txt", f"第{number}頁\n天地玄黃\n")


def pages_pdf(src: Path) -> None:
    put(src / "book.pdf", pdf_of([picture(number, form="JPEG") for number in range(3)]))
    for number in range(1, 4):
        put(src / f"book/p{number}.txt", f"第{number}頁\n天地玄黃\n")


def mcs_bench(src: Path) -> None:
    asked = "出自哪本书？\nA、說苑 B、論語\n要求：只输出字母。"
    records = [
        {"ID": "a1", "Task_ID": 1, "Image": "p1.png", "Question": "识别图中文字。",
         "Answer": "學而時習之", "Answer_Simplified": "学而时习之"},
        {"ID": "a2", "Task_ID": "T7", "Image": ["p1.png", "p2.png"], "Question": asked,
         "Answer": "B", "Answer_Simplified": "B"},
        {"ID": "a3", "Task_ID": 2, "Image": "p2.png", "Question": "翻译。",
         "Answer": "學習", "Answer_Simplified": "学习"},
    ]  # fmt: skip
    put(src / "data.json", json.dumps(records, ensure_ascii=False))
    for number in (1, 2):
        put(src / f"images/p{number}.png", picture(number))


def mcs_bench_tables(src: Path) -> None:
    """A file for each task, with IDs that start again, options in columns, images by ID."""
    heads = ("ID", "Question", "Answer", "A", "B", "Author")
    table(src / "T1.csv", heads, (1, "识别图中文字。", "學而時習之", "", "", "王羲之"))
    table(src / "T7.csv", heads, (1, "出自哪本书？", "論語", "說苑", "論語", "赵孟頫"),
          (2, "又出自哪本书？", "A", "說苑", "論語", ""))  # fmt: skip
    for number, name in enumerate(("T1/1", "T7/1", "T7/2"), start=1):
        put(src / f"images/{name}.png", picture(number))


def ancientdoc(src: Path) -> None:
    page, other = "Confucianism/論語集注/p01.png", "Art/書譜/p01.png"
    lines = [
        {"image": page, "task": "Page-level OCR", "question": "读出。", "answer": "學而時習之"},
        {"image": page, "task": "Reasoning-based QA", "question": "为何？", "answer": "好学。"},
        {"image": other, "task": "Knowledge-based QA", "question": "何人？", "answer": "孙过庭。"},
    ]
    put(src / "data.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
    put(src / page, picture(1))
    put(src / other, picture(2))


def obi_recognition(src: Path) -> None:
    for number in (1, 2, 3):
        put(src / f"images/bone{number}.png", picture(number))
        voc(src / f"annotations/bone{number}.xml", *[(1, 1, 9 + n, 20) for n in range(number)])
    put(src / "negatives/tree.png", picture(9))


def obi_boxes(src: Path) -> None:
    rows = [("images/bone1.png", 1, 1, 9, 20), ("images/bone1.png", 10, 1, 20, 20),
            ("images/bone2.png", 0, 0, 40, 60)]  # fmt: skip
    table(src / "boxes.csv", ("image", "xmin", "ymin", "xmax", "ymax"), *rows)
    for number in (1, 2):
        put(src / f"images/bone{number}.png", picture(number))


def obi_yinqiwenyuan(src: Path) -> None:
    for number in (1, 2):
        put(src / f"bone{number}.png", picture(number))
        ann = [[1.0, 1.0, 9.0 + n, 20.0, 1.0] for n in range(number)]
        bone = {"img_name": f"bone{number}", "ann": ann}
        put(src / f"bone{number}.json", json.dumps(bone))


def obi_coco(src: Path) -> None:
    images, boxes = [], []
    for number in (1, 2):
        name = f"bone{number}.png"
        put(src / f"images/{name}", picture(number))
        images.append({"id": number, "file_name": name, "width": 40, "height": 60})
        boxes += [{"image_id": number, "bbox": [1, 1, 8 + n, 19]} for n in range(number)]
    put(src / "instances.json", json.dumps({"images": images, "annotations": boxes}))


def obi_yolo(src: Path) -> None:
    for number in (1, 2):
        put(src / f"images/bone{number}.png", picture(number))
        put(
            src / f"labels/bone{number}.txt",
            "0 0.5 0.5 0.25 0.5\n1 0.25 0.25 0.1 0.1\n"[: 19 * number],
        )


def obi_labelme(src: Path) -> None:
    for number in (1, 2):
        put(src / f"bone{number}.png", picture(number))
        shape = {"label": "字", "points": [[1, 1], [9, 20]], "shape_type": "rectangle"}
        whole = {"shapes": [shape], "imagePath": f"bone{number}.png", "imageHeight": 60,
                 "imageWidth": 40, "imageData": None}  # fmt: skip
        put(src / f"bone{number}.json", json.dumps(whole, ensure_ascii=False))


def obi_rejoining(src: Path) -> None:
    for number, name in enumerate(("b1/1", "b1/2", "b1/3", "b2/1", "b2/2")):
        put(src / f"{name}.png", picture(number))
    rows = [("b1/1.png", "b1/2.png"), ("b1/2", "b1/3"), ("b2/1.png", "b2/2.png")]
    table(src / "adjacency.csv", ("fragment", "adjoins"), *rows)


def obi_classes(src: Path, classes: int = 6, images: int = 5) -> None:
    for label in range(classes):
        for number in range(images):
            put(src / f"c{label}/{number}.png", picture(label * 100 + number))


def obi_deciphering(src: Path) -> None:
    rows = [("wang.png", "王", "It means king.", "pictograph", ""),
            ("yu.png", "雨", "It means rain.", "", "700"),
            ("zi.png", "子", "It means child.", "", "12")]  # fmt: skip
    heads = ("image", "character", "description", "subset", "frequency")
    table(src / "descriptions.csv", heads, *rows)
    for number, row in enumerate(rows):
        put(src / f"images/{row[0]}", picture(number))


def ancientdoc_pages(src: Path) -> None:
    rows = [("兵家类", f"兵鏡page_{n}.png", f"第{n}頁\\n兵鏡") for n in (1, 2)]
    table(src / "label.csv", ("type", "name", "OCR"), *rows)
    for number in (1, 2):
        put(src / f"imgs/兵家类/兵鏡/page_{number}.png", picture(number))


def ancientdoc_images(src: Path) -> None:
    rows = [{"image": {"bytes": picture(n), "path": f"page_{n}.png"}} for n in (1, 2)]
    src.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(src / "train-00000-of-00001.parquet")


def vlmevalkit(src: Path) -> None:
    heads = ("index", "image", "question", "A", "B", "answer", "category")
    rows = [(n, b64encode(picture(n)).decode(), f"第{n}問？", "說苑", "論語", "B", "經部")
            for n in range(3)]  # fmt: skip
    text = "\n".join("\t".join(map(str, row)) for row in (heads, *rows))
    put(src / "T7.tsv", text + "\n")


def own_parquet(src: Path) -> None:
    src.mkdir(parents=True, exist_ok=True)
    made = src.parent / f".{src.name}-made"
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "made in the test"}
    with DatasetWriter(made, **about) as writer:
        for number in range(3):
            ref = writer.add_image(picture(number), "picture")
            writer.add(Item(id=f"p{number}", benchmark="MCS-Bench", task="T1", images=(ref,),
                            answer="天地", transcription="天地", group="b"))  # fmt: skip
    export_dataset("parquet", made, src)


PAGE_XML = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15">
<Page imageFilename="p1.png" imageWidth="40" imageHeight="60"><TextRegion id="r">
<TextLine id="l1"><Coords points="30,1 39,1 39,59 30,59"/><TextEquiv><Unicode>天地</Unicode>
</TextEquiv></TextLine></TextRegion></Page></PcGts>"""

ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description>
<MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>p1.png</fileName>
</sourceImageInformation></Description><Layout><Page WIDTH="40" HEIGHT="60"><PrintSpace>
<TextBlock ID="b"><TextLine ID="l1" HPOS="30" VPOS="1" WIDTH="9" HEIGHT="58">
<String CONTENT="天地"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""


HOCR = """<html><body><div class='ocr_page' title='image "p1.png"; bbox 0 0 40 60'>
<span class='ocr_line' id='l1' title='bbox 30 1 39 59'>天地</span></div></body></html>"""


def hisdoc(src: Path) -> None:
    for number in (1, 2):
        root = src / "M5HisDoc_regular"
        put(root / f"label_textline/p{number}.txt", "30,1,39,1,39,59,30,59,天地,玄黃\n")
        put(root / f"images/p{number}.png", picture(number))
    put(src / "split_test.txt", "p1\np2\n")


def page_xml(src: Path) -> None:
    put(src / "book/p1.xml", PAGE_XML)
    put(src / "book/p1.png", picture(1))


def alto(src: Path) -> None:
    put(src / "book/p1.xml", ALTO)
    put(src / "book/p1.png", picture(1))


def hocr(src: Path) -> None:
    put(src / "book/p1.hocr", HOCR)
    put(src / "book/p1.png", picture(1))


FORMS = {
    "pages": Form("pages", pages),
    "pages, PDF": Form("pages", pages_pdf),
    "page-xml": Form("page-xml", page_xml),
    "alto": Form("alto", alto),
    "hocr": Form("hocr", hocr),
    "mcs-bench": Form("mcs-bench", mcs_bench),
    "mcs-bench, tables by task": Form(
        "mcs-bench", mcs_bench_tables, options={"fields.image": "images/{task}/{ID}.*"}
    ),
    "ancientdoc": Form("ancientdoc-lines", ancientdoc),
    "hisdoc": Form("hisdoc", hisdoc),
    "obi-recognition": Form("obi-recognition", obi_recognition),
    "obi-recognition, boxes.csv": Form("obi-recognition", obi_boxes),
    "obi-recognition, YinQiWenYuan": Form("obi-recognition", obi_yinqiwenyuan),
    "obi-recognition, COCO": Form("obi-recognition", obi_coco),
    "obi-recognition, YOLO": Form("obi-recognition", obi_yolo),
    "obi-recognition, labelme": Form("obi-recognition", obi_labelme),
    "obi-rejoining": Form("obi-rejoining", obi_rejoining),
    "obi-classification": Form("obi-classification", obi_classes),
    "obi-retrieval": Form("obi-retrieval", obi_classes, {"classes": "3"}),
    "obi-deciphering": Form("obi-deciphering", obi_deciphering),
    "ancientdoc, OCR alone": Form("ancientdoc", ancientdoc_pages),
    "ancientdoc, images alone": Form("ancientdoc-images", ancientdoc_images),
    "vlmevalkit-tsv": Form("vlmevalkit-tsv", vlmevalkit, {"constants.task": "T7"}),
    "parquet": Form("parquet", own_parquet),
}
