"""What drafts are made from: AncientDoc's from the page's image, MCS-Bench's from its text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from keju.building.drafting.asking import DraftSettings
from keju.building.drafting.step import STEP
from keju.building.drafting.templates import read_templates
from keju.building.engine import Engine
from keju.building.running import StepCall, StepResult, run_step
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.definitions import prompt_of
from keju.errors import UsageError
from keju.items import Item
from tests.support.making import page_item, picture
from tests.support.serving import Chat

TEXTS = ("學而時習之不亦說乎有朋自遠方來不亦樂乎", "孟子見梁惠王王曰叟不遠千里而來")
FIVE = ("ocr", "translation", "reasoning", "knowledge", "variants")
ANSWERS = [
    ("请从图像中提取文本", TEXTS[0]),
    ("譯成", json.dumps({"items": [{"translation": "譯文"}]})),
    *((words, json.dumps({"items": [
        {"question": f"{words}{n}？", "answer": "答。", "evidence": "學而" if n else "不在文中"}
        for n in (1, 2)
    ]})) for words in ("須由材料推論", "客觀知識", "修辭手法")),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-draft-0123456789")


def make(path: Path, *, read: bool) -> Dataset:
    """Two pages, their text known or not."""
    with DatasetWriter(path, name="d", version="1", licence="CC0", source="s") as writer:
        for number, text in enumerate(TEXTS):
            ref = writer.add_image(picture(number), f"p{number}")
            if read:
                known = page_item(f"p{number}", images=(ref,), answer=text, transcription=text)
            else:
                known = Item(id=f"p{number}", benchmark="AncientDoc", task="page_level_ocr",
                             images=(ref,), draft=True)  # fmt: skip
            writer.add(known)
    return Dataset.open(path)


def draft(chat: Chat, source: Dataset, out: Path, *kinds: str, **more: object) -> StepResult:
    asked = DraftSettings(model="openai:drafter", kinds=kinds, base_url=chat.url, **more)
    return run_step(StepCall(STEP, asked, source), out, engine=Engine())


def sent(chat: Chat) -> list[tuple[str, list[str]]]:
    """The text and the hashes of the images of each request that the server got."""
    seen = chat.stats()
    texts = []
    for body in seen["bodies"]:
        content = json.loads(body)["messages"][0]["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        texts.append("".join(part.get("text", "") for part in parts))
    hashes = [[each.split()[1] for each in images] for images in seen["images"]]
    return list(zip(texts, hashes, strict=True))


def test_one_step_makes_the_eight_drafts_of_a_page_from_its_image_alone(
    chat: Chat, tmp_path: Path
) -> None:
    source = make(tmp_path / "d", read=False)
    chat.plan(finds=ANSWERS, images=True)
    made = draft(chat, source, tmp_path / "out", *FIVE, benchmark="AncientDoc")
    items = Dataset.open(tmp_path / "out").items()
    assert Counter(item.task for item in items) == {
        "page_level_ocr": 2, "vernacular_translation": 2, "reasoning_qa": 4, "knowledge_qa": 4,
        "linguistic_variant_qa": 4,
    }  # fmt: skip
    assert all(item.draft and len(item.images) == 1 and prompt_of(item) for item in items)
    assert list(validate(tmp_path / "out")) == []
    requests = sent(chat)
    pages = [hashlib.sha256(picture(number)).hexdigest() for number in range(2)]
    assert Counter(tuple(images) for _, images in requests) == {(page,): 5 for page in pages}
    drafting = [text for text, _ in requests if "items" in text]
    assert len(drafting) == 8
    assert not any("⟦材料" in text or TEXTS[0] in text.partition("例：")[0] for text in drafting)
    questions = [text for text in drafting if "恰好 2 項" in text]
    assert len(questions) == 6  # two of each of the three kinds, as the paper has
    unchecked = [note for note in made.record.notes if "not checked against a text" in note]
    assert len(unchecked) == 3


@pytest.mark.parametrize(
    ("show", "images", "text"),
    [("", 1, False), ("image", 1, False), ("text", 0, True), ("image-and-text", 1, True)],
)
def test_what_is_shown_can_be_chosen(
    chat: Chat, tmp_path: Path, show: str, images: int, text: bool
) -> None:
    source = make(tmp_path / "d", read=True)
    chat.plan(finds=ANSWERS, images=True)
    draft(chat, source, tmp_path / "out", "translation", benchmark="AncientDoc", show=show)
    requests = sent(chat)
    assert [len(each) for _, each in requests] == [images] * 2
    shown = "".join(prompt for prompt, _ in requests)
    assert [known in shown for known in TEXTS] == [text] * 2


def test_mcs_bench_drafts_are_made_from_the_transcription_by_default(
    chat: Chat, tmp_path: Path
) -> None:
    source = make(tmp_path / "d", read=True)
    chat.plan(finds=ANSWERS, images=True)
    draft(chat, source, tmp_path / "out", "translation")
    assert [(len(images), "⟦材料" in text) for text, images in sent(chat)] == [(0, True)] * 2


def test_a_quotation_is_checked_against_the_text_although_it_was_not_shown(
    chat: Chat, tmp_path: Path
) -> None:
    source = make(tmp_path / "d", read=True)
    chat.plan(finds=ANSWERS)
    made = draft(chat, source, tmp_path / "out", "variants", benchmark="AncientDoc")
    drafted = [item for item in Dataset.open(tmp_path / "out").items() if item.draft]
    assert {item.id for item in drafted} == {"p0-variants-1", "p0-variants-2"}
    assert "1 of 2 pages have fewer than 2 drafts of variants" in made.record.notes


def test_a_text_without_an_image_is_drafted_from_where_that_is_said(
    chat: Chat, tmp_path: Path
) -> None:
    with DatasetWriter(tmp_path / "d", name="d", version="1", licence="CC0", source="s") as writer:
        writer.add(page_item("p", answer=TEXTS[0], transcription=TEXTS[0]))
    source = Dataset.open(tmp_path / "d")
    chat.plan(finds=ANSWERS)
    made = draft(chat, source, tmp_path / "out", "translation", benchmark="AncientDoc")
    assert chat.stats()["requests"] == 0
    (note,) = [note for note in made.record.notes if "no draft of the kind" in note]
    assert ": missing image" in note
    assert 'show = "text"' in note
    draft(chat, source, tmp_path / "two", "translation", benchmark="AncientDoc", show="text")
    assert chat.stats()["requests"] == 1


@pytest.mark.parametrize(
    ("kind", "show", "names"),
    [
        ("introduction", "image", "known facts about the image"),
        ("description-from-image", "text", "Remove show"),
    ],
)
def test_what_a_kind_cannot_be_drafted_from_is_refused(
    chat: Chat, tmp_path: Path, kind: str, show: str, names: str
) -> None:
    source = make(tmp_path / "d", read=True)
    with pytest.raises(UsageError, match=names):
        draft(chat, source, tmp_path / "out", kind, show=show)


def test_linguistic_variants_are_drafted_about_style_not_variant_characters() -> None:
    kind = read_templates().get_kind("variants")
    asked = "".join((stage.instruction + str(stage.example)) for stage in kind.stage)
    assert all(word in asked for word in ("修辭", "文體", "風格", "時代"))
    assert not any(word in asked for word in ("異體", "通假", "古今異義"))


def test_reasoning_and_white_space_of_a_reply_are_no_part_of_a_draft(
    chat: Chat, tmp_path: Path
) -> None:
    source = make(tmp_path / "d", read=False)
    thought = "<think>先看右起第一列。{}</think>\n\n"
    chat.plan(finds=[(words, f"{thought}{said}\n") for words, said in ANSWERS])
    draft(chat, source, tmp_path / "out", "ocr", "translation", benchmark="AncientDoc")
    answers = {item.task: item.answer for item in Dataset.open(tmp_path / "out").items()}
    assert answers == {"page_level_ocr": TEXTS[0], "vernacular_translation": "譯文"}


def test_a_reading_fills_the_item_that_waits_for_it_in_any_order(
    chat: Chat, tmp_path: Path
) -> None:
    with DatasetWriter(tmp_path / "d", name="d", version="1", licence="CC0", source="s") as writer:
        ref = writer.add_image(picture(0), "p")
        for task in ("T9", "T8"):
            writer.add(Item(id=f"p-{task}", benchmark="MCS-Bench", task=task, images=(ref,),
                            draft=True))  # fmt: skip
    chat.plan(says=TEXTS[0])
    draft(chat, Dataset.open(tmp_path / "d"), tmp_path / "out", "ocr")
    answers = {item.id: item.answer for item in Dataset.open(tmp_path / "out").items()}
    assert answers == {"p-T9": "", "p-T8": TEXTS[0]}
