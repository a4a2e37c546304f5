"""Both scripts in one run: what a real server is sent, what is stored, and what is scored."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from keju.analysis.run_set import load_runs
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import UsageError
from keju.items import Item, PromptVariant
from keju.models import ModelOptions, open_models
from keju.running import RunSummary, Selection, run
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run
from tests.support.making import picture
from tests.support.planning import estimate
from tests.support.serving import Chat

BOTH = ("simplified", "traditional")
MODEL = "openai:served"
WORDINGS = {"simplified": "谁是后羿？", "traditional": "孰爲后羿？"}
"""OpenCC makes neither of the other, so that it shows which one was sent."""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A question released in both scripts, one in simplified alone, both of one page."""
    with DatasetWriter(
        tmp_path / "data", name="d", version="1", licence="CC0-1.0", source="made here"
    ) as writer:
        page = writer.add_image(picture(1), "page")
        for name, more in (
            ("both", {"question": WORDINGS["simplified"], "question_in": WORDINGS}),
            ("one", {"question": "这是谁的书？"}),
        ):
            writer.add(
                Item(
                    id=name, benchmark="MCS-Bench", task="T6", images=(page,), verbatim=True,
                    answer="這裏說後羿", answer_simplified="这里说后羿", transcription="彀中",
                    **more,
                )
            )  # fmt: skip
    return tmp_path / "data"


def go(dataset: Path, out: Path, chat: Chat, *scripts: str, **how: object) -> RunSummary:
    return run(
        dataset, [MODEL], out,
        selection=Selection(scripts=scripts, **how), options=ModelOptions(base_url=chat.url),
    )  # fmt: skip


def texts_sent(chat: Chat) -> Counter[str]:
    found: Counter[str] = Counter()
    for body in chat.stats()["bodies"]:
        (message,) = json.loads(body)["messages"]
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        found["".join(part.get("text", "") for part in parts)] += 1
    return found


def test_the_released_wording_is_sent_and_only_what_lacks_one_is_converted(
    dataset: Path, tmp_path: Path, chat: Chat
):
    chat.plan(images=True)
    assert go(dataset, tmp_path / "run", chat, "released", *BOTH).complete
    assert texts_sent(chat) == {
        "谁是后羿？": 2, "孰爲后羿？": 1, "这是谁的书？": 2, "這是誰的書？": 1,
    }  # fmt: skip
    assert all(len(images) == 1 for images in chat.stats()["images"])
    folder = RunFolder.open(tmp_path / "run")
    assert folder.manifest().scripts == ["released", *BOTH]
    stored = Counter((each.item, each.script) for each in folder.responses())
    assert stored == {(item, s): 1 for item in ("both", "one") for s in ("released", *BOTH)}


def test_a_script_can_be_added_and_none_taken_away(dataset: Path, tmp_path: Path, chat: Chat):
    chat.plan()
    go(dataset, tmp_path / "run", chat, "simplified")
    chat.plan()
    assert go(dataset, tmp_path / "run", chat, *BOTH).complete
    assert chat.stats()["requests"] == 2
    with pytest.raises(UsageError, match=r"--script \(simplified,traditional, now traditional\)"):
        go(dataset, tmp_path / "run", chat, "traditional")
    for wrong in (("simplified", "simplified"), ("latin",)):
        with pytest.raises(UsageError, match=r"--script is given twice|no script .latin."):
            go(dataset, tmp_path / "other", chat, *wrong)


def test_the_words_around_a_text_and_its_prompt_follow_the_script(
    dataset: Path, tmp_path: Path, chat: Chat
):
    chat.plan(images=True, says="讀作此")
    go(dataset, tmp_path / "run", chat, *BOTH, settings=("own-ocr", "gold-text"))
    sent = texts_sent(chat)
    before = Counter(text.partition("：")[0] for text in sent.elements() if "\n\n" in text)
    assert before == {"以下是图中的文字": 4, "以下是圖中的文字": 4}
    readings = [text for text in sent.elements() if "\n\n" not in text]
    assert len(readings) == 2
    assert sum("识别" in text for text in readings) == sum("識別" in text for text in readings) == 1
    folder = RunFolder.open(tmp_path / "run")
    assert {each.script for each in folder.readings(MODEL)} == set(BOTH)
    shown = sum(bool(images) for images in chat.stats()["images"])
    assert shown == 2 + 4  # the readings, and own-ocr; gold-text sends none


def test_the_plan_counts_each_script_and_its_readings(dataset: Path):
    models = open_models([MODEL], ModelOptions(base_url="http://localhost:1/v1", asking=False))
    selection = Selection(scripts=BOTH, settings=("image", "own-ocr"))
    reading, asking = estimate(Dataset.open(dataset), models, selection).rows
    assert (reading.calls, reading.images) == (2, 2)
    assert (asking.calls, asking.images) == (8, 8)


def test_an_engine_reads_once_for_both_scripts(dataset: Path):
    spec = "ocr+llm:ppocr+openai:m"
    models = open_models([spec], ModelOptions(base_url="http://localhost:1/v1", asking=False))
    reading, asking = estimate(Dataset.open(dataset), models, Selection(scripts=BOTH)).rows
    assert (reading.calls, asking.calls) == (1, 4)


def test_both_scripts_have_rows_and_official_scores_them_against_one_answer(
    dataset: Path, tmp_path: Path, chat: Chat
):
    chat.plan(says="這裏說後羿")
    go(dataset, tmp_path / "run", chat, *BOTH)
    folder = RunFolder.open(tmp_path / "run")
    results = {r.variant: r for r in aggregate(score_run(folder, ("official",)))}
    assert set(results) == {PromptVariant("image", script) for script in BOTH}
    values = {
        variant.script: {each.metric: each.value for each in result.tasks[0].metrics}["ANLS"]
        for variant, result in results.items()
    }
    assert values == {"simplified": 1.0, "traditional": 1.0}
    run_set = load_runs([folder.path])
    assert run_set.models == [f"{MODEL} · {script}" for script in BOTH]
