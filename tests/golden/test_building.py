"""What ten recipes build: every stage, on this machine and on Ray, and what reviews decide.

``tests/golden/recipes`` has the recipes. ``keju build`` runs them, and what it writes is compared,
stage by stage: items (without their provenance), hashes of images, rows of tables, and in parts
named ``hash: …`` the hashes of the datasets, in which provenance counts. Hashes of images that a
step encodes depend on Pillow and OpenCV, and the bytes of a release on Polars; their versions are
those of ``requirements/base.lock``.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import to_builtins
from PIL import Image, ImageDraw
from typer.testing import CliRunner

import keju
from keju.building.sources import list_source_names
from keju.building.steps import STEPS
from keju.cli import app
from keju.datasets import mini
from keju.plugins import DatasetWriter, Item, Line
from tests.support.builds import need_ray, run_keju
from tests.support.layouts.ancientdoc import hub_ocr, images_alone
from tests.support.needing import synthetic_missing
from tests.support.ray_cluster import RayCluster
from tests.support.released import FORMS, put
from tests.support.serving import Chat
from tests.support.snapshots import compare_snapshot, digest_of_file

RECIPES = sorted((Path(__file__).parent / "recipes").glob("*.toml"))
NOT_HERE = {"typeset"}
"""Steps in no recipe: typeset draws with fonts that are not on every machine; the tests of
keju-synthetic compare its pages."""

TEXTS = ("天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律呂調陽",
         "雲騰致雨露結為霜", "金生麗水玉出崑岡")  # fmt: skip
ORIENTATION = 0x0112
"""The EXIF tag of an image's orientation."""
FRACTION = re.compile(r"(?<![\w.])-?[0-9]+\.[0-9]+(?:e-?[0-9]+)?(?![\w.])")
ABOUT = {"version": "1", "licence": "CC0-1.0", "source": "made by the tests"}


def read_dataset(folder: Path) -> tuple[str, list[dict[str, Any]], list[list[str]]]:
    """The adapter: a dataset's hash, its items without provenance, the hashes of their images."""
    dataset = keju.load(folder)
    items, images = [], []
    for item in dataset:
        fields = to_builtins(item)
        fields.pop("provenance", None)
        fields["images"] = [[ref.width, ref.height] for ref in item.images]
        items.append(fields)
        images.append([item.id, *(ref.sha256 for ref in item.images)])
    return dataset.manifest.hash, items, images


def draw(seed: str, width: int = 96, height: int = 128) -> bytes:
    """Strokes on paper, as PNG."""
    return encode(draw_strokes(seed, width, height))


def draw_strokes(seed: str, width: int, height: int) -> Image.Image:
    """Strokes on paper."""
    rng = random.Random(seed)
    image = Image.new("L", (width, height), 235)
    pen = ImageDraw.Draw(image)
    for _ in range(14):
        x, y = rng.randrange(6, width - 6), rng.randrange(6, height - 6)
        pen.line((x, y, x + rng.randrange(-14, 15), y + rng.randrange(-18, 19)), 20, 3)
    return image


def encode(image: Image.Image, **options: Any) -> bytes:
    """An image as PNG, or as JPEG with a tag of its orientation."""
    out = io.BytesIO()
    image.save(out, "JPEG" if options else "PNG", **options)
    return out.getvalue()


def draw_bone(seed: int) -> bytes:
    """A bright ellipse with grain on a dark ground, as PNG."""
    grain = np.random.default_rng(seed).integers(150, 230, (150, 130, 3), dtype=np.uint8)
    mask = Image.new("L", (130, 150))
    ImageDraw.Draw(mask).ellipse((12, 10 + seed, 118, 140), fill=255)
    return encode(
        Image.composite(Image.fromarray(grain), Image.new("RGB", mask.size, (20, 22, 25)), mask)
    )


def make_material(folder: Path) -> None:
    """Write everything that the recipes read."""
    for name in ("page-xml", "alto", "hocr", "hisdoc", "mcs-bench", "ancientdoc", "vlmevalkit-tsv",
                 "obi-recognition", "obi-rejoining", "obi-classification", "obi-retrieval",
                 "obi-deciphering", "parquet"):  # fmt: skip
        FORMS[name].build(folder / name)
    hub_ocr(folder / "ancientdoc-pages")
    images_alone(folder / "ancientdoc-images")
    for number, text in enumerate(TEXTS):
        page = folder / f"scans/book-{number % 3}/page{number}"
        put(page.with_suffix(".png"), draw(f"page {number}"))
        put(page.with_suffix(".txt"), f"{text[:4]}\n{text[4:]}\n")
    first = draw_strokes("page 0", 96, 128)
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    scans = {
        "copy.png": encode(first.resize((144, 192)).point(lambda value: value * 4 // 5)),
        "deep.png": encode(Image.fromarray(np.asarray(first, np.uint16)[::-1] * 257)),
        "gaps.png": draw("gaps"),
        "turned.jpg": encode(draw_strokes("turned", 96, 128), exif=exif, quality=95),
    }
    for name, data in scans.items():
        text = "天□□□□洪\n" if name == "gaps.png" else "天地玄黃\n宇宙洪荒\n"
        put(folder / "scans/book-2" / name, data)
        put((folder / "scans/book-2" / name).with_suffix(".txt"), text)
    put(folder / "untranscribed/a.png", draw("a"))
    put(folder / "untranscribed/small.png", draw("small", 20, 24))
    put(folder / "untranscribed/broken.png", draw("broken")[:200])
    make_tables(folder)
    make_web_pages(folder)
    make_datasets(folder)
    make_reviews(folder)
    for recipe in RECIPES:
        shutil.copy(recipe, folder)


def make_tables(folder: Path) -> None:
    """Tables of questions: one by the recipe's mapping, one by a mapping file."""
    put(folder / "older/rows.csv", """\
qid,category,q,right,A,B,C,D,file,book,dynasty,word
1,painting,畫中有幾匹馬？,三匹,,,,,page0.png,一,唐,
2,painting,畫中有幾匹馬？,三匹,,,,,page3.png,二,唐,
3,meaning,「玄」的意思是？,0,黑,白,紅,藍,page0.png,一,唐,玄
4,meaning,「玄」的意思是？,0,黑,白,紅,藍,page0.png,一,唐,玄
5,other,何？,一,,,,,page0.png,一,唐,
6,painting,何人？,,,,,,page0.png,一,唐,
7,painting,何人所畫？,王維,,,,,missing.png,一,唐,
8,meaning,「荒」的意思是？,2,黑,白,遠,藍,page0.png,一,梁,荒
""")  # fmt: skip
    put(folder / "mapped/rows.csv", """\
id,question,answer,image
m1,何書？,千字文,m1.png
m2,何謂仁？,愛人,m2.png
m3,何謂仁？,愛人也,m2.png
m4,何谓仁？,爱人,m2.png
""")  # fmt: skip
    for number in (1, 2):
        put(folder / f"mapped/m{number}.png", draw(f"m{number}"))
    put(folder / "drafted/questions.csv", """\
id,task,question,answer,image
d1,T21,图中有几只鸟？,五只,d1.png
d2,T21,图中人物持何物？,书卷,d2.png
""")  # fmt: skip
    for number in (1, 2):
        put(folder / f"drafted/d{number}.png", draw(f"d{number}"))
    put(folder / "mapped.toml", """\
[[tables]]
path = "rows.csv"
[fields]
id = "id"
question = "question"
answer = "answer"
image = "image"
[constants]
task = "T21"
""")  # fmt: skip
    for number in (0, 3):
        scan = folder / f"scans/book-0/page{number}.png"
        if scan.exists():
            put(folder / f"older/page{number}.png", scan.read_bytes())
    put(folder / "older.toml", """\
prompt = "template"
answer_is = "from-0"
drafts = true
[[tables]]
path = "rows.csv"
[fields]
id = "qid"
task = "category"
question = "q"
answer = "right"
image = "file"
group = "book"
options = ["A", "B", "C", "D"]
[blanks]
term = "word"
[metadata]
dynasty = "dynasty"
[values.task]
painting = "T21"
meaning = "T5"
""")  # fmt: skip


def make_web_pages(folder: Path) -> None:
    """A saved web page, one without a licence, and a manifest with three canvases."""
    text = "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。"
    for name in ("classic", "unlicensed"):
        body = f"<body><main><p>{text}</p></main></body>"
        put(folder / f"web/{name}.html", f"<html><head><title>{name}</title></head>{body}</html>")
    put(folder / "web/pages.csv", "id,page\nclassic,classic.html\nunlicensed,unlicensed.html\n")
    put(folder / "web.toml", """\
drafts = true
[[tables]]
path = "pages.csv"
[fields]
id = "id"
page = "page"
[constants]
task = "T2"
""")  # fmt: skip
    put(folder / "web/classic.html.toml",
        'address = "https://library.example.org/p"\nlicence = "CC-BY-4.0"\n')  # fmt: skip
    canvases = []
    for number in (1, 2, 3):
        put(folder / f"iiif/leaf{number}.png", draw(f"leaf {number}"))
        body = {"id": f"leaf{number}.png", "type": "Image", "format": "image/png"}
        painting = {"type": "Annotation", "motivation": "painting", "body": body}
        canvases.append({
            "id": f"https://library.example.org/c{number}", "type": "Canvas", "width": 96,
            "height": 128, "label": {"zh": [f"葉{number}"]},
            "items": [{"type": "AnnotationPage", "items": [painting]}],
        })  # fmt: skip
    manifest = {
        "@context": "http://iiif.io/api/presentation/3/context.json", "type": "Manifest",
        "id": "https://library.example.org/m", "label": {"zh": ["千字文"]}, "items": canvases,
    }  # fmt: skip
    put(folder / "iiif/manifest.json", json.dumps(manifest, ensure_ascii=False))


def make_datasets(folder: Path) -> None:
    """Crops of classes, pages with lines, bones, and drafts."""
    with DatasetWriter(folder / "crops", name="crops", **ABOUT) as writer:
        for number, copy in product(range(6), range(5)):
            ref = writer.add_image(draw(f"crop {number} {copy}", 40, 40), f"{number}/{copy}")
            writer.add(Item(id=f"{number}-{copy}", benchmark="OBI-Bench", task="classification",
                            images=(ref,), answer=f"class {number}", group=f"{number}-{copy}",
                            split="reference", metadata={"class": f"class {number}"}))  # fmt: skip
    with DatasetWriter(folder / "lined", name="lined", **ABOUT) as writer:
        for number in range(4):
            rows = (TEXTS[number], "己未曰日土士末未", TEXTS[number + 1])
            lines = tuple(
                Line(id=str(at), text=row, polygon=((9 * at, 0), (9 * at + 8, 0), (9 * at, 90)))
                for at, row in enumerate(rows)
            )
            ref = writer.add_image(draw(f"lined {number}"), f"lined {number}")
            text = "\n".join(rows)
            writer.add(Item(id=f"p{number}", benchmark="AncientDoc", task="page_level_ocr",
                            images=(ref,), answer=text, transcription=text, lines=lines,
                            group=f"book {number % 2}"))  # fmt: skip
    with DatasetWriter(folder / "bones", name="bones", **ABOUT) as writer:
        for number in range(3):
            ref = writer.add_image(draw_bone(number), f"bone {number}")
            writer.add(Item(id=f"bone{number}", benchmark="OBI-Bench", task="recognition",
                            query="What", images=(ref,), answer="A bone."))  # fmt: skip
        flat = writer.add_image(encode(Image.new("RGB", (90, 90), (120, 120, 120))), "flat")
        writer.add(Item(id="flat", benchmark="OBI-Bench", task="recognition", query="What",
                        images=(flat,), answer="Nothing."))  # fmt: skip
    with DatasetWriter(folder / "drafts", name="drafts", **ABOUT) as writer:
        for number, decisions in enumerate(("aa", "ac", "cc", "rr", "ra", "a", "", "cd")):
            ref = writer.add_image(draw(f"draft {number}"), f"draft {number}")
            writer.add(Item(id=f"d{number}", benchmark="MCS-Bench", task="T21", images=(ref,),
                            question="何數？", answer=str(number), draft=True,
                            metadata={"plan": decisions}))  # fmt: skip


def make_reviews(folder: Path) -> None:
    """The exported sheet, filled in by two people, and verdicts of the judge about disputes."""
    command("build", "review", "export", folder / "drafts", "--out", folder / "sheet.csv")
    sheet = (folder / "sheet.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(sheet, newline="")))
    plans = {item.id: item.metadata["plan"] for item in keju.load(folder / "drafts")}
    heads = [name for name in rows[0] if name.startswith("mark: ")]
    words = {"a": ("accept", ""), "c": ("correct", "十"), "d": ("correct", "百"),
             "r": ("reject", "")}  # fmt: skip
    for place, person in enumerate(("anna", "bo")):
        copies = [dict(row) for row in rows]
        for row in copies:
            if letter := plans[row["item"]][place : place + 1]:
                row["decision"], row["new_answer"] = words[letter]
                row["reason"] = "checked" if letter != "a" else ""
                row.update(dict.fromkeys(heads, str(3 + place)))
        with (folder / f"{person}.csv").open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(copies)
    verdicts = [
        {"item": "d1", "person": "chen", "decision": "reject", "reason": "no picture"},
        {"item": "d7", "person": "chen", "decision": "correct", "mended": {"answer": "千"}},
    ]
    put(folder / "judge.jsonl", "".join(json.dumps(verdict) + "\n" for verdict in verdicts))


def command(*words: object) -> None:
    """Run keju in this process; it must succeed."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, f"{words}: {result.output}{result.exception}"


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory, chat: Chat) -> Iterator[Path]:
    """The recipes and all that they read; a server that drafts."""
    folder = tmp_path_factory.mktemp("building")
    make_material(folder)
    for recipe in folder.glob("*.toml"):
        text = recipe.read_text("utf-8")
        for word, value in (("CHAT", chat.url), ("MINI", mini.path())):
            text = text.replace(f'"{word}"', json.dumps(str(value)))
        recipe.write_text(text, "utf-8")
    meaning = {"term": "玄", "meaning": "黑色", "wrong": ["白色", "紅色", "藍色"]}
    duplicate = {**meaning, "wrong": ["黑色", "紅色", "藍色"]}
    question = {"question": "天是什麼顏色？", "answer": "黑色", "evidence": "天地玄黃"}
    chat.plan(finds=[
        ("譯成通順的現代白話", reply({"translation": "天是黑色的，地是黃色的。"})),
        ("選出今人易誤解的字詞", reply(meaning, duplicate)),
        ("提出須通讀才能回答的問題", reply(question)),
    ])  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-draft-0123456789")
        yield folder


def reply(*items: dict[str, Any]) -> str:
    """A response to a drafter's request."""
    return json.dumps({"items": items}, ensure_ascii=False)


def describe(recipe: str, build: Path, places: Mapping[str, Path]) -> dict[str, list[Any]]:
    """The parts of the snapshot that are about one build."""
    hashes: list[Any] = []
    parts: dict[str, list[Any]] = {f"hash: {recipe}": hashes}
    record = json.loads((build / "build.json").read_text("utf-8"))
    for stage in (*record["sources"], *record["steps"]):
        folder = stage["folder"]
        dataset_hash, items, images = read_dataset(build / folder)
        hashes.append([folder, dataset_hash])
        parts[f"{recipe} {folder}: items"] = items
        parts[f"{recipe} {folder}: images"] = images
        for table in sorted((build / folder / "tables").glob("*.csv")):
            rows = read_rows(table, places)
            if table.stem == "dropped" and rows[0][0] == "subject":
                parts[f"{recipe} {folder}: reasons"] = [row[1:] for row in rows]
                rows = [row[:1] for row in rows]
            parts[f"{recipe} {folder}: {table.stem}"] = rows
    return parts


def read_rows(table: Path, places: Mapping[str, Path]) -> list[list[str]]:
    """The rows of a table with its head; fractions with six digits, folders by their names."""
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    for name, folder in places.items():
        rows = [[cell.replace(str(folder), name) for cell in row] for row in rows]
    return [[FRACTION.sub(shorten, cell) for cell in row] for row in rows]


def shorten(number: re.Match[str]) -> str:
    """A fraction, rounded: the last digits differ between processors."""
    return f"{float(number[0]):.6g}"


def run_recipes(material: Path, out: Path, *engine: object) -> dict[str, list[Any]]:
    """Build every recipe and describe what was built."""
    parts: dict[str, list[Any]] = {}
    places = {"MATERIAL": material, "OUT": out}
    for recipe in RECIPES:
        words = ("build", material / recipe.name, "--out", out / recipe.stem, *engine)
        if engine:
            process = run_keju(*words)
            assert process.returncode == 0, process.stderr
        else:
            command(*words)
        parts |= describe(recipe.stem, out / recipe.stem, places)
    release = out / "pages" / "release"
    parts["release of pages"] = [
        [path.relative_to(release).as_posix(), digest_of_file(path)]
        for path in sorted(release.rglob("*"))
        if path.is_file()
    ]
    return parts | decide_verdicts(out)


def decide_verdicts(out: Path) -> dict[str, list[Any]]:
    """The result of all combinations of decisions of one to three people."""
    words = {
        "a": {"decision": "accept"},
        "c": {"decision": "correct", "mended": {"answer": "十"}},
        "d": {"decision": "correct", "mended": {"answer": "百"}},
        "r": {"decision": "reject", "reason": "no"},
    }
    names = ["".join(row) for count in (1, 2, 3) for row in product("acdr", repeat=count)]
    with DatasetWriter(out / "combined", name="combined", **ABOUT) as writer:
        for name in names:
            writer.add(Item(id=name, benchmark="MCS-Bench", task="T6", question="何？", answer="一",
                            transcription="一", draft=True))  # fmt: skip
    lines = [
        json.dumps({"item": name, "person": person, **words[letter]})
        for name in names
        for person, letter in zip(("anna", "bo", "chen"), name, strict=False)
    ]
    put(out / "combined.jsonl", "\n".join(lines) + "\n")
    parts = {}
    for need, judge, rejected in product((1, 2), ("", "chen"), ("keep", "drop")):
        case = f"need {need}{', judge' if judge else ''}, {rejected} rejected"
        folder = out / case
        command("build", "review", "import", out / "combined", "--reviewed",
                out / "combined.jsonl", "--need", need, "--rejected", rejected,
                *(("--judge", judge) if judge else ()), "--out", folder)  # fmt: skip
        _, items, _ = read_dataset(folder)
        parts[f"verdicts: {case}: items"] = items
        for table in ("decided", "agreement"):
            parts[f"verdicts: {case}: {table}"] = read_rows(folder / f"tables/{table}.csv", {})
    return parts


@synthetic_missing()
def test_ten_recipes_build_the_recorded_datasets(material: Path, tmp_path: Path) -> None:
    compare_snapshot("building", run_recipes(material, tmp_path))


@pytest.mark.slow
@pytest.mark.xdist_group("ray cluster")
@synthetic_missing()
def test_ten_recipes_build_the_recorded_datasets_on_ray(
    material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_ray()
    monkeypatch.delenv("KEJU_WRITE_SNAPSHOTS", raising=False)
    cluster = RayCluster(tmp_path / "nodes", {}, cores=2)
    try:
        cluster.start("head")
        for name, value in cluster.access.items():
            monkeypatch.setenv(name, value)
        engine = ("--engine", "ray", "--ray-address", cluster.address)
        compare_snapshot("building", run_recipes(material, tmp_path / "out", *engine))
    finally:
        cluster.close()


@synthetic_missing()
def test_every_stage_is_in_a_recipe() -> None:
    recipes = [tomllib.loads(recipe.read_text("utf-8")) for recipe in RECIPES]
    steps = {step["do"] for recipe in recipes for step in recipe["step"]}
    forms = {source["form"] for recipe in recipes for source in recipe["source"]}
    assert len(recipes) == 10
    assert steps == set(STEPS) - NOT_HERE
    assert forms == set(list_source_names())
