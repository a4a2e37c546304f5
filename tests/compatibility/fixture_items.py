"""The items and the source files of the fixtures: drawn and written by keju's authors."""

# ruff: noqa: E501 - an item, and a row of a source file, is a line
from __future__ import annotations

import gzip
import json
import random
import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

from PIL import Image, ImageDraw

from keju.items import Box, Item, Line, Provenance

TEXTS = ("天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律呂調陽",
         "雲騰致雨露結為霜", "金生麗水玉出崑岡")  # fmt: skip
PROSE = "學而時習之不亦說乎有朋自遠方來不亦樂乎"


def draw(seed: str, width: int = 72, height: int = 96) -> bytes:
    """Strokes on paper, as PNG of two colours."""
    rng = random.Random(seed)
    image = Image.new("L", (width, height), 235)
    pen = ImageDraw.Draw(image)
    for _ in range(14):
        x, y = rng.randrange(6, width - 6), rng.randrange(6, height - 6)
        pen.line((x, y, x + rng.randrange(-14, 15), y + rng.randrange(-18, 19)), 20, 3)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def crop(number: int) -> bytes:
    """The pixels of a sign of light strokes on black, 28 x 28."""
    image = Image.new("L", (28, 28), 0)
    pen = ImageDraw.Draw(image)
    pen.line((6, 8 + number, 22, 8 + number), 230, 2)
    pen.line((14, 5, 14, 23), 230, 2)
    if number % 2:
        pen.line((8, 20, 20, 20), 230, 2)
    return image.tobytes()


def items_of(writer: Any) -> Iterator[Item]:
    """Items of each form of answer and each benchmark, their images added to a writer."""

    def item(id: str, benchmark: str, task: str, images: int = 1, **more: Any) -> Item:  # noqa: A002
        refs = tuple(writer.add_image(draw(f"{id}-{n}"), f"{id}-{n}.png") for n in range(images))
        about = {
            "group": f"book-{len(id) % 3}",
            "metadata": {"dynasty": "Tang", "script": "regular"},
        }
        return Item(id=id, benchmark=benchmark, task=task, images=refs, **{**about, **more})

    mcs, doc, obi = "MCS-Bench", "AncientDoc", "OBI-Bench"
    seen = (Provenance(step="pages", source="our library", licence="CC0-1.0"),
            Provenance(step="review", tool="sheet", person="anna", note="accepted"))  # fmt: skip
    lines = tuple(
        Line(id=f"l{n}", text=text, polygon=((60 - 30 * n, 4), (70 - 30 * n, 4), (70 - 30 * n, 90), (60 - 30 * n, 90)),
             kind="main", source_kind="Main")
        for n, text in enumerate(("天地玄黃", "宇宙洪荒"))
    )  # fmt: skip
    for n, text in enumerate(TEXTS[:3]):
        yield item(f"ocr-{n}", mcs, "T1", answer=text, answer_simplified=text, transcription=text,
                   provenance=seen, lines=lines if n == 0 else (), group=f"book-{n}")  # fmt: skip
        yield item(
            f"page-{n}", doc, "page_level_ocr", answer=text, transcription=text, group=f"book-{n}"
        )
        yield item(f"translate-{n}", mcs, "T2", answer=f"意思是{text}。", answer_simplified=f"意思是{text}。",
                   transcription=PROSE, group=f"book-{n}")  # fmt: skip
    yield item("punctuate", mcs, "T3", question=PROSE, answer="學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？",
               answer_simplified="学而时习之，不亦说乎？有朋自远方来，不亦乐乎？", transcription=PROSE)  # fmt: skip
    yield item(
        "names",
        mcs,
        "T4",
        question=PROSE,
        answer="孔子、顏回",
        answer_simplified="孔子、颜回",
        transcription=PROSE,
    )
    for n in range(4):
        yield item(f"letter-{n}", mcs, ("T5", "T7", "T10", "T32")[n], question="「玄」的意思是？",
                   fields={"term": "玄"} if n == 0 else {}, options=("黑色", "白色", "紅色", "藍色"), answer="ABCD"[n], answer_simplified="ABCD"[n],
                   transcription=TEXTS[n] if n < 2 else None)  # fmt: skip
    yield item(
        "read",
        mcs,
        "T6",
        question="何時溫習？",
        answer="時時溫習。",
        answer_simplified="时时温习。",
        transcription=PROSE,
    )
    yield item(
        "short",
        mcs,
        "T21",
        question="畫中有幾匹馬？",
        answer="三匹",
        answer_simplified="三匹",
        also_accepted=("3",),
    )
    yield item(
        "describe",
        mcs,
        "T25",
        question="描述此畫。",
        answer="山水之間有一人。",
        answer_simplified="山水之间有一人。",
    )
    yield item(
        "verbatim",
        mcs,
        "T9",
        question="請鑒賞這件書法作品。",
        verbatim=True,
        answer="筆力遒勁。",
        answer_simplified="笔力遒劲。",
    )
    for task in ("vernacular_translation", "reasoning_qa", "knowledge_qa", "linguistic_variant_qa"):
        yield item(task, doc, task, question="此頁說什麼？", answer="說天地的顏色。", transcription=TEXTS[0],
                   metadata={"category": "經部", "book": "千字文", "dynasty": "梁"})  # fmt: skip
    boxes = (Box(x0=10, y0=12, x1=30, y1=40), Box(x0=35, y0=50, x1=60, y1=80))
    for query, more in {"What": {"answer": "Two characters on a bone."}, "Yes-or-No": {"answer": "yes"},
                        "How": {"answer": "2"}, "Where": {"boxes": boxes}}.items():  # fmt: skip
        yield item(f"recognise-{query}", obi, "recognition", query=query, group="bone-1", **more)
    yield item("negative", obi, "recognition", query="Yes-or-No", answer="no", group="bone-2")
    for task in ("rejoining", "classification", "retrieval"):
        for query in ("Yes-or-No", "How"):
            yield item(
                f"{task}-{query}", obi, task, images=4, query=query, relevant=(2,), group="bone-3"
            )
    for query in ("What", "How"):
        yield item(f"decipher-{query}", obi, "deciphering", query=query, answer="A king.",
                   metadata={"subset": "pictograph", "character": "王"})  # fmt: skip
    yield item("shown", mcs, "T5", question="「黃」的意思是？", fields={"term": "黃"}, options=("黃色", "黑色"), answer="A",
               answer_simplified="A", split="reference")  # fmt: skip
    drafted = (Provenance(step="draft", tool="openai:proposer", note="translation 1"),)
    yield item("draft", mcs, "T2", answer="天是黑色的。", answer_simplified="天是黑色的。", transcription=TEXTS[0],
               draft=True, provenance=drafted)  # fmt: skip


def write_sources(folder: Path, image: Callable[..., bytes]) -> None:
    """Every kind of file that a user of 0.1.0 wrote and a command of 0.1.0 read."""

    def put(path: str, content: str | bytes | list[Any] | dict[str, Any]) -> None:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str | bytes):
            content = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        target.write_bytes(
            content if isinstance(content, bytes) else dedent(content).lstrip("\n").encode()
        )

    for n, text in enumerate(TEXTS):
        book = f"book-{n % 3}"
        put(f"pages/{book}/page{n}.png", image(f"page{n}", 96, 128))
        put(f"pages/{book}/page{n}.txt", f"{text[:4]}\n{text[4:]}\n")
    put("iiif/leaf1.png", image("leaf1"))
    for form in ("page-xml", "alto"):
        put(f"outlines/{form}/book/leaf.png", image("leaf", 96, 128))
        put(f"outlines/{form}/book/leaf.xml", OUTLINES[form])
    put("mcs-bench/images/a.png", image("mcs-a"))
    put("mcs-bench/images/b.png", image("mcs-b"))
    put("mcs-bench/data.json", [
        {"ID": 1, "Task_ID": 1, "Question": "請識別圖中的文字。", "Answer": TEXTS[0], "Answer_Simplified": "天地玄黄宇宙洪荒", "Image": "images/a.png"},
        {"ID": 2, "Task_ID": "T5", "Question": "「玄」的意思是？", "Options": ["黑", "白", "紅", "藍"], "Answer": "A", "Answer_Simplified": "A", "Image": "images/b.png", "Group": "g"},
    ])  # fmt: skip
    put("ancientdoc/經部/千字文/1.png", image("doc-1"))
    put("ancientdoc/data.jsonl", "".join(
        json.dumps({"image": "經部/千字文/1.png", "task": task, "question": "問", "answer": TEXTS[1]}, ensure_ascii=False) + "\n"
        for task in ("page_level_ocr", "knowledge_qa")
    ))  # fmt: skip
    put("books.csv", "book,dynasty,script\n千字文,梁,楷書\n")
    put("obi/O2BR/images/bone1.png", image("bone1"))
    put(
        "obi/O2BR/boxes.csv",
        "image,xmin,ymin,xmax,ymax\nbone1.png,10,12,30,40\nbone1.png,35,50,60,80\n",
    )
    put("obi/O2BR/descriptions.csv", "image,description\nbone1.png,Two characters on a bone.\n")
    put("obi/O2BR/negatives/tree.png", image("tree"))
    for piece in "123":
        put(f"obi/OBI-rejoin/bone1/{piece}.png", image(f"piece{piece}"))
    put(
        "obi/OBI-rejoin/adjacency.csv",
        "fragment,adjoins\nbone1/1.png,bone1/2.png\nbone1/2.png,bone1/3.png\n",
    )
    for name in ("60001", "60002", "60003"):
        for n in range(6):
            put(f"obi/HWOBC/{name}/{n}.png", image(f"{name}-{n}", 32, 32))
            put(f"obi/OBC306/{name}/{n}.png", image(f"obc-{name}-{n}", 32, 32))
    put("obi/EVOBC/images/wang.png", image("wang", 32, 32))
    put(
        "obi/EVOBC/descriptions.csv",
        "image,description,subset,character\nwang.png,A king.,pictograph,王\n",
    )
    pixels = b"".join(crop(n) for n in range(4))
    put(
        "idx/t-images-idx3-ubyte.gz",
        gzip.compress(struct.pack(">IIII", 0x803, 4, 28, 28) + pixels, mtime=0),
    )
    put(
        "idx/t-labels-idx1-ubyte.gz",
        gzip.compress(struct.pack(">II", 0x801, 4) + bytes([0, 1, 0, 1]), mtime=0),
    )
    put("RESPONSES.json", [
        {"ID": 1, "Task_ID": 1, "Answer_Simplified": "天地玄黄宇宙洪荒", "Response": "天地玄黃宇宙洪"},
        {"ID": 2, "Task_ID": 5, "Answer_Simplified": "A", "Response": "答案是 A"},
        {"ID": 3, "Task_ID": 2, "Answer_Simplified": "天是黑色的，地是黄色的。", "Response": "天是黑的，地是黃的。"},
        {"ID": 4, "Task_ID": 3, "Answer_Simplified": "天地，玄黄。", "Response": "天地玄，黄。"},
        {"ID": 5, "Task_ID": 4, "Answer_Simplified": "孔子、颜回", "Response": "孔子、顏回、孟子"},
    ])  # fmt: skip


OUTLINES = {
    "page-xml": """
        <?xml version="1.0" encoding="UTF-8"?>
        <PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
        <Page imageFilename="leaf.png" imageWidth="96" imageHeight="128"><TextRegion id="r"><Coords points="4,4 92,4 92,124 4,124"/>
        <TextLine id="a"><Coords points="60,4 84,4 84,124 60,124"/><TextEquiv><Unicode>日月盈昃己未辰宿列張</Unicode></TextEquiv></TextLine>
        <TextLine id="b"><Coords points="20,4 44,4 44,124 20,124"/><TextEquiv><Unicode>寒來暑往秋收冬藏閏餘</Unicode></TextEquiv></TextLine>
        </TextRegion></Page></PcGts>
        """,
    "alto": """
        <?xml version="1.0" encoding="UTF-8"?>
        <alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit>
        <sourceImageInformation><fileName>leaf.png</fileName></sourceImageInformation></Description>
        <Layout><Page ID="p" WIDTH="96" HEIGHT="128" PHYSICAL_IMG_NR="1"><PrintSpace><TextBlock ID="b">
        <TextLine ID="l1" HPOS="60" VPOS="4" WIDTH="24" HEIGHT="120"><String CONTENT="天地玄黃" HPOS="60" VPOS="4" WIDTH="24" HEIGHT="120"/></TextLine>
        <TextLine ID="l2" HPOS="20" VPOS="4" WIDTH="24" HEIGHT="120"><String CONTENT="宇宙洪荒" HPOS="20" VPOS="4" WIDTH="24" HEIGHT="120"/></TextLine>
        </TextBlock></PrintSpace></Page></Layout></alto>
        """,
}
