"""MCS-Bench's web crawling and model summarisation: from saved pages and images to a release."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from shutil import copytree

import pytest

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.recipe import read_recipe
from keju.datasets.store import Dataset
from keju.definitions import prompt_of
from keju.definitions import task as declared
from tests.support.builds import run_keju
from tests.support.making import picture
from tests.support.serving import Chat

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIELDS = {
    **dict.fromkeys(("T9", "T17"), "appreciation"),
    **dict.fromkeys(("T15", "T22", "T27", "T35", "T39", "T44"), "introduction"),
    **dict.fromkeys(("T25", "T38"), "expanded"),
}
"""Table 13's ten tasks of method M2, and the field in which their drafts come."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-draft-0123456789")


def question(task: str) -> str:
    return declared(task).queries[0].template.replace("{book}", "三国演义")


def finds() -> list[tuple[str, str]]:
    """A reply for each task, known by its published question."""
    return [
        (f"「{question(task)}」", json.dumps({"items": [{field: f"{task}的答案"}]}))
        for task, field in FIELDS.items()
    ]


def build(recipe: Path) -> Dataset:
    pipeline.build(
        read_recipe(recipe), recipe.parent / "build", engine=Engine(), say=lambda _: None
    )
    return Dataset.open(recipe.parent / "build" / "dataset")


def sent(chat: Chat) -> dict[str, str]:
    """The text of each request by the task whose question it asks."""
    texts = {}
    for body in chat.stats()["bodies"]:
        content = json.loads(body)["messages"][0]["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        text = "".join(part.get("text", "") for part in parts)
        (task,) = (name for name in FIELDS if f"「{question(name)}」" in text)
        texts[task] = text
    return texts


@pytest.fixture
def example(chat: Chat, tmp_path: Path) -> Path:
    """The recipe of the example, asking the test's server."""
    copytree(EXAMPLES / "web-drafts", tmp_path / "web-drafts")
    recipe = tmp_path / "web-drafts.toml"
    text = (EXAMPLES / "web-drafts.toml").read_text("utf-8")
    assert "http://localhost:8000/v1" in text
    recipe.write_text(text.replace("http://localhost:8000/v1", chat.url), "utf-8")
    return recipe


def test_the_example_drafts_all_ten_tasks_from_text_and_gives_each_its_image(
    chat: Chat, example: Path
) -> None:
    chat.plan(finds=finds(), images=True)
    items = build(example).items()
    assert {item.task: item.answer for item in items} == {name: f"{name}的答案" for name in FIELDS}
    assert len(items) == 10
    for item in items:
        assert item.draft
        assert prompt_of(item) == question(item.task)
        assert len(item.images) == 1
    seen = chat.stats()
    assert (seen["requests"], seen["images"]) == (10, [[]] * 10)  # the text model sees no image
    texts = sent(chat)
    assert "天下第一行书" in texts["T9"]
    assert "疏密相间" in texts["T17"]  # the second of the two pages that the table joins
    assert "无用师所作" in texts["T17"]
    assert "首页" not in texts["T17"]  # menus are left out
    assert "三国演义" in texts["T44"]
    assert "描述：横卷" in texts["T25"]
    assert "關鍵詞：江面、大船、草人、箭" in texts["T38"]
    assert not any("⟦材料" not in text for text in texts.values())


def test_whose_page_and_whose_image_it_is_stays_with_the_item(chat: Chat, example: Path) -> None:
    chat.plan(finds=finds())
    items = {item.task: item for item in build(example).items()}
    steps = [(step.step, step.source, step.licence) for step in items["T17"].provenance]
    assert steps[:3] == [
        ("mapped", "keju's bundled set", "CC0-1.0"),
        ("web", "https://example.org/fuchun", "CC0-1.0"),
        ("web", "https://example.org/fuchun-comments", "CC0-1.0"),
    ]
    last = items["T17"].provenance[-1]
    assert (last.step, last.tool) == ("draft", "openai:Qwen2.5-32B-Instruct")
    assert last.note.startswith("appreciation ")
    assert items["T17"].metadata["notes"].count("富春") >= 2
    assert items["T25"].metadata["keywords"].startswith("远山")


def test_from_the_drafts_through_a_review_to_the_release(chat: Chat, example: Path) -> None:
    chat.plan(finds=finds())
    build(example)
    folder = example.parent
    sheet = folder / "anna.csv"
    assert run_keju("build", "review", "export", folder / "build/dataset", "--drafts",
                "--out", sheet).returncode == 0  # fmt: skip
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 10
    notes = {row["task"]: row["notes"] for row in rows}
    assert "天下第一行书" in notes["T9"]  # what the reviewer checks the draft against
    with sheet.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows({**row, "decision": "accept"} for row in rows)
    more = '\n[[step]]\ndo = "review"\nreviewed = ["anna.csv"]\n\n[[step]]\ndo = "release"\n'
    example.write_text(example.read_text("utf-8") + more, "utf-8")
    before = chat.stats()["requests"]
    items = build(example).items()
    assert chat.stats()["requests"] == before
    assert {item.task for item in items} == set(FIELDS)
    assert not any(item.draft for item in items)
    assert (folder / "build/release").exists()


WEB = """
name = "trial"
licence = "CC0-1.0"
[[source]]
form = "mapped"
path = "saved"
map = "mapping.toml"
licence = "CC0-1.0"
source = "a museum"
[[step]]
do = "draft"
model = "openai:drafter"
base_url = "{url}"
kinds = ["appreciation", "introduction"]
{step}
"""
MAPPING = """
drafts = true
tables = [{ path = "pages.csv" }]
[fields]
id = "id"
task = "task"
image = "image"
page = "page"
"""
TEXT = "這幅畫用披麻皴，長線乾筆，江面留白，意境平淡天真，為歷代所稱許。" * 3


def save(folder: Path, name: str, body: str, **sidecar: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"<title>{name}</title><meta charset=utf-8>{body}", "utf-8")
    told = {"address": f"https://example.org/{name}", "licence": "CC0-1.0", **sidecar}
    lines = [f"{key} = {json.dumps(value)}" for key, value in told.items()]
    (folder / f"{name}.toml").write_text("\n".join(lines), "utf-8")


def recipe_of(chat: Chat, folder: Path, *rows: tuple[str, str, str], step: str = "") -> Path:
    """A recipe that drafts from saved pages: of each its id, task and image."""
    lines = [f"{name},{task},{image},{name}.html" for name, task, image in rows]
    table = "\n".join(["id,task,image,page", *lines])
    (folder / "saved/pages.csv").write_text(table, "utf-8")
    (folder / "mapping.toml").write_text(MAPPING, "utf-8")
    recipe = folder / "recipe.toml"
    recipe.write_text(WEB.format(step=step, url=chat.url), "utf-8")
    return recipe


def test_a_description_can_be_taken_from_a_page_too(chat: Chat, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(tmp_path / "saved", f"{name}.html", f"<p>{TEXT}</p>")
        (tmp_path / "saved" / f"{name}.png").write_bytes(picture(ord(name)))
    chat.plan(says=json.dumps({"items": [{"description": "江面留白。"}]}), images=True)
    recipe = recipe_of(chat, tmp_path, ("a", "T25", "a.png"), ("b", "T38", "b.png"))
    text = recipe.read_text("utf-8")
    kinds = '["description-from-notes"]'
    recipe.write_text(text.replace('["appreciation", "introduction"]', kinds), "utf-8")
    items = build(recipe).items()
    assert [(item.task, item.answer) for item in items] == [
        ("T25", "江面留白。"), ("T38", "江面留白。"),
    ]  # fmt: skip
    assert set(sent(chat)) == {"T25", "T38"}
    assert chat.stats()["images"] == [[], []]


def test_the_drafting_model_sees_the_image_where_that_is_asked_for(
    chat: Chat, tmp_path: Path
) -> None:
    save(tmp_path / "saved", "a.html", f"<p>{TEXT}</p>")
    (tmp_path / "saved/a.png").write_bytes(picture(1))
    chat.plan(finds=finds(), images=True)
    step = 'show = "image-and-text"'
    (item,) = build(recipe_of(chat, tmp_path, ("a", "T17", "a.png"), step=step)).items()
    seen = chat.stats()["images"]
    assert [[each.split()[1] for each in images] for images in seen] == [[item.images[0].sha256]]
    assert TEXT in sent(chat)["T17"]


def test_without_an_image_it_is_said_how_to_give_one(chat: Chat, tmp_path: Path) -> None:
    save(tmp_path / "saved", "a.html", f"<p>{TEXT}</p>")
    chat.plan(finds=finds())
    build(recipe_of(chat, tmp_path, ("a", "T17", "")))
    assert chat.stats()["requests"] == 0
    record = json.loads((tmp_path / "build/steps/01-draft/step.json").read_text("utf-8"))
    assert any("Name the image of a web page" in note for note in record["notes"])


def test_a_text_that_waits_for_its_translation_is_filled(chat: Chat, tmp_path: Path) -> None:
    save(tmp_path / "saved", "a.html", f"<p>{TEXT}</p>")
    chat.plan(says=json.dumps({"items": [{"translation": "譯文"}]}))
    recipe = recipe_of(chat, tmp_path, ("a", "T2", ""))
    text = recipe.read_text("utf-8")
    recipe.write_text(text.replace('["appreciation", "introduction"]', '["translation"]'), "utf-8")
    (item,) = build(recipe).items()
    assert (item.id, item.task, item.answer, item.transcription) == ("a", "T2", "譯文", TEXT)


def test_several_questions_about_one_image_are_each_filled_and_not_twice(
    chat: Chat, example: Path
) -> None:
    chat.plan(finds=finds())
    first = build(example)
    step = '\n[[step]]\ndo = "draft"\nmodel = "openai:other"\n' + (
        f'base_url = "{chat.url}"\nkinds = ["introduction", "appreciation", "description"]\n'
    )
    example.write_text(example.read_text("utf-8") + step, "utf-8")
    assert build(example).items() == first.items()
    assert chat.stats()["requests"] == 10
    record = json.loads((example.parent / "build/steps/02-draft/step.json").read_text("utf-8"))
    assert sum("no item without an answer for" in note for note in record["notes"]) == 3


@pytest.mark.parametrize(
    ("pages", "why"),
    [("gone.html", "no web page 'gone.html'"), ("bare.html", "no licence"), ("../x.html", "../x")],
)
def test_a_row_whose_page_cannot_be_used_is_listed(tmp_path: Path, pages: str, why: str) -> None:
    saved = tmp_path / "saved"
    save(saved, "a.html", f"<p>{TEXT}</p>")
    (saved / "bare.html").write_text(f"<meta charset=utf-8><p>{TEXT}</p>", "utf-8")
    (saved / "i.png").write_bytes(picture(1))
    (saved / "t.csv").write_text(f"image,page\ni.png,a.html\ni.png,{pages}\n", "utf-8")
    (tmp_path / "mapping.toml").write_text(
        'drafts = true\ntables = [{ path = "t.csv" }]\n'
        'fields = { image = "image", page = "page" }\nconstants = { task = "T35" }\n',
        "utf-8",
    )
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'name = "t"\n[[source]]\nform = "mapped"\npath = "saved"\nmap = "mapping.toml"\n'
        'licence = "CC0-1.0"\nsource = "s"\noptions = { skip-invalid = true }\n', "utf-8",
    )  # fmt: skip
    (item,) = build(recipe).items()
    assert item.metadata["notes"] == TEXT
    left = (tmp_path / "build/sources/01-mapped/tables/dropped.csv").read_text("utf-8-sig")
    assert why in left
