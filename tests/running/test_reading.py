"""Two phases: images are read first, and models are asked about what was read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keju.analysis.run_set import load_runs
from keju.cli import app
from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import prompt_of, task
from keju.errors import UsageError
from keju.items import Item
from keju.models import ModelOptions, open_model
from keju.running import Selection, run
from keju.running.requests import with_source
from keju.running.selection import NO_TRANSCRIPTION
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run
from tests.support.chat_server import asked_for
from tests.support.making import make_dataset, picture
from tests.support.planning import requests
from tests.support.policies import policy_of
from tests.support.serving import Chat

T1 = task("T1").queries[0].template
READ = "天地玄黃，{prompt}宇宙洪荒。{source}"
"""What is read of the page; blanks in it must stay what they are."""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two questions about one page, one about another, and a transcription."""
    with DatasetWriter(
        tmp_path / "data", name="d", version="1", licence="CC0-1.0", source="made here"
    ) as writer:
        pages = [writer.add_image(picture(seed), str(seed)) for seed in range(2)]
        for name, page in (("a", 0), ("b", 0), ("c", 1)):
            writer.add(
                Item(id=name, benchmark="MCS-Bench", task="T6", question=f"{name}：何謂？",
                     images=(pages[page],), answer="天")
            )  # fmt: skip
        writer.add(
            Item(id="ocr", benchmark="MCS-Bench", task="T1", images=(pages[0],), answer="天地")
        )
    return tmp_path / "data"


def rules(dataset: Path) -> dict[str, str]:
    """The page is read, and what is asked about the reading is answered by the item's name."""
    opened = Dataset.open(dataset)
    found: dict[str, str] = {}
    for item in opened.items():
        pages = [opened.image_bytes(ref) for ref in item.images]
        found[asked_for(T1, pages)] = READ
        for images in (pages, []):
            found[asked_for(with_source(prompt_of(item), READ), images)] = f"這是{item.id}"
    return found


def go(dataset: Path, out: Path, chat: Chat, model: str, setting: str = "image", **policy):
    return run(
        dataset,
        [model],
        out,
        selection=Selection(settings=(setting,)),
        options=ModelOptions(base_url=chat.url),
        policy=policy_of(first_wait=0.02, **policy),
    )


def answers(out: Path) -> dict[str, str]:
    return {each.item: each.text for each in RunFolder.open(out).responses()}


@pytest.mark.parametrize("setting", ["own-ocr", "own-text"])
def test_each_page_is_read_once_and_asked_about(dataset, tmp_path, chat, setting):
    chat.plan(replies=rules(dataset), images=True)
    summary = go(dataset, tmp_path / "run", chat, "openai:served", setting)
    assert summary.complete
    assert summary.models[0].not_asked == {
        f"with {setting} the first reading is itself the answer: use --setting image": 1
    }
    sent = [len(images) for images in chat.stats()["images"]]
    assert sorted(sent) == [int(setting == "own-ocr")] * 3 + [1, 1]
    assert answers(tmp_path / "run") == {"a": "這是a", "b": "這是b", "c": "這是c"}
    assert chat.stats()["requests"] == 2 + 3
    folder = RunFolder.open(tmp_path / "run")
    assert [each.text for each in folder.readings("openai:served")] == [READ, READ]
    assert {score.setting for score in score_run(folder)} == {setting}


@pytest.mark.parametrize("setting", ["own-ocr", "own-text"])
@pytest.mark.parametrize("reading", [f"<think>是序？</think>\n\n{READ}\n", f"是序？</think>{READ}"])
def test_what_is_passed_on_is_the_reading_without_its_reasoning(
    dataset, tmp_path, chat, setting, reading
):
    pages = [picture(seed) for seed in range(2)]
    replies = rules(dataset) | {asked_for(T1, [page]): reading for page in pages}
    chat.plan(replies=replies)
    summary = go(dataset, tmp_path / "run", chat, "openai:served", setting)
    # The server has no rule for a prompt that holds the reasoning.
    assert summary.complete
    assert answers(tmp_path / "run") == {"a": "這是a", "b": "這是b", "c": "這是c"}
    stored = list(RunFolder.open(tmp_path / "run").readings("openai:served"))
    assert [each.text for each in stored] == [reading, reading]


def test_a_pipeline_passes_on_a_reading_without_its_reasoning(dataset, tmp_path, chat):
    pages = [picture(seed) for seed in range(2)]
    replies = {asked_for(T1, [page]): f"<think>是序？</think>{READ}" for page in pages}
    chat.plan(replies=rules(dataset) | replies)
    summary = go(dataset, tmp_path / "run", chat, "ocr+llm:openai:reader+openai:served")
    assert summary.complete
    assert answers(tmp_path / "run") == {"a": "這是a", "b": "這是b", "c": "這是c"}


def test_a_pipeline_asks_a_text_model_about_what_an_engine_read(dataset, tmp_path, chat):
    opened = Dataset.open(dataset)
    file = tmp_path / "read.jsonl"
    shas = {ref.sha256 for item in opened.items() for ref in item.images}
    file.write_text("".join(f'{{"item": "{sha}", "text": "{READ}"}}\n' for sha in shas))
    chat.plan(replies=rules(dataset))
    model = f"ocr+llm:replay:{file}+openai:served"
    summary = go(dataset, tmp_path / "run", chat, model)
    assert summary.complete
    assert answers(tmp_path / "run") == {"a": "這是a", "b": "這是b", "c": "這是c"}
    assert chat.stats()["requests"] == 3


def test_a_pipeline_is_asked_in_one_setting_for_the_others_repeat_its_prompt(
    dataset, tmp_path, chat
):
    shas = {ref.sha256 for item in Dataset.open(dataset).items() for ref in item.images}
    file = tmp_path / "read.jsonl"
    file.write_text("".join(f'{{"item": "{sha}", "text": "{READ}"}}\n' for sha in shas))
    chat.plan(images=True)
    settings = ("image", "own-ocr", "gold-ocr", "own-text", "gold-text")
    summary = run(
        dataset, [f"ocr+llm:replay:{file}+openai:served"], tmp_path / "run",
        selection=Selection(settings=settings, tasks=("T6",)),
        options=ModelOptions(base_url=chat.url),
    )  # fmt: skip
    assert chat.stats()["requests"] == summary.models[0].planned == 3
    assert chat.stats()["images"] == [[], [], []]
    assert summary.models[0].not_asked == {
        "in a pipeline the engine reads: --setting image asks the same prompt": 6,
        "the true text replaces the engine's: ask the text model alone with gold-text": 4,
        NO_TRANSCRIPTION: 2,
    }


def test_gold_ocr_sends_the_image_and_t1s_text_and_skips_what_has_none(dataset, tmp_path, chat):
    """T1 is not selected; its reference is sent with the questions about the same page."""
    chat.plan(images=True)
    summary = run(
        dataset, ["openai:served"], tmp_path / "run",
        selection=Selection(settings=("gold-ocr",), tasks=("T6",)),
        options=ModelOptions(base_url=chat.url),
    )  # fmt: skip
    assert summary.complete
    assert summary.models[0].not_asked == {NO_TRANSCRIPTION: 1}
    stats = chat.stats()
    page = Dataset.open(dataset).items()[0].images[0].sha256
    assert [[image.split()[1] for image in images] for images in stats["images"]] == [[page]] * 2
    (content,) = {
        part["text"]
        for body in stats["bodies"]
        for part in json.loads(body)["messages"][0]["content"]
        if part["type"] == "text" and "a：" in part["text"]
    }
    assert content == "以下是图中的文字：\n天地\n\n根据图像回答下列问题：a：何謂？"
    assert {each.setting for each in RunFolder.open(tmp_path / "run").responses()} == {"gold-ocr"}


def test_a_run_in_which_every_item_is_skipped_says_so(dataset, tmp_path, chat):
    command = ["run", str(dataset), "--model", "openai:served", "--base-url", chat.url]
    chosen = ["--setting", "gold-text", "--task", "T1", "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, [*command, *chosen])
    assert result.exit_code == 1
    assert "No request was sent" in result.stdout
    assert RunFolder.open(tmp_path / "run").manifest().not_asked == {
        "openai:served": {"with gold-text the prompt would contain the answer": 1}
    }


def test_going_on_reads_nothing_twice(dataset, tmp_path, chat):
    chat.plan(replies=rules(dataset))
    go(dataset, tmp_path / "run", chat, "openai:served", "own-ocr")
    (path,) = RunFolder.open(tmp_path / "run").response_files()
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    chat.plan(replies=rules(dataset))
    assert go(dataset, tmp_path / "run", chat, "openai:served", "own-ocr").complete
    assert chat.stats()["requests"] == 2


def test_what_could_not_be_read_has_failed_until_it_is_read(dataset, tmp_path, chat):
    known = rules(dataset)
    opened = Dataset.open(dataset)
    unread = asked_for(T1, [opened.image_bytes(opened.items()[2].images[0])])
    chat.plan(replies={shown: said for shown, said in known.items() if shown != unread})
    summary = go(dataset, tmp_path / "run", chat, "openai:served", "own-ocr")
    assert summary.models[0].failures == {"no-reading": 1}
    (failed,) = (each for each in RunFolder.open(tmp_path / "run").responses() if each.error)
    assert failed.item == "c"
    assert "could not be read (bad-request: " in failed.error.message
    again = go(dataset, tmp_path / "run", chat, "openai:served", "own-ocr")
    assert again.models[0].failures == {"no-reading": 1}
    chat.plan(replies=known)
    mended = go(dataset, tmp_path / "run", chat, "openai:served", "own-ocr", retry_failed=True)
    assert mended.complete
    assert answers(tmp_path / "run")["c"] == "這是c"
    assert chat.stats()["requests"] == 2


def test_each_round_has_a_reading_of_its_own_but_an_engine_reads_once(dataset, tmp_path, chat):
    chat.plan(replies=rules(dataset))
    run(
        dataset,
        ["openai:served"],
        tmp_path / "run",
        selection=Selection(settings=("own-ocr",), rounds=3),
        options=ModelOptions(base_url=chat.url),
    )
    assert chat.stats()["requests"] == 3 * (2 + 3)


def test_several_settings_are_one_run_and_one_comparison(dataset, tmp_path, chat):
    """Shown the page, and later its own reading of it, into the same run."""
    known = rules(dataset)
    opened = Dataset.open(dataset)
    for item in opened.items():
        pages = [opened.image_bytes(ref) for ref in item.images]
        known[asked_for(prompt_of(item), pages)] = READ if item.task == "T1" else "天"
    chat.plan(replies=known)
    for settings in (("image",), ("image", "own-ocr")):
        summary = run(
            dataset,
            ["openai:served"],
            tmp_path / "run",
            selection=Selection(tasks=("T6",), settings=settings),
            options=ModelOptions(base_url=chat.url),
        )
        assert summary.complete
    assert chat.stats()["requests"] == 3 + 2 + 3
    folder = RunFolder.open(tmp_path / "run")
    results = aggregate(score_run(folder, ("strict",)))
    assert [(each.setting, each.tasks[0].metrics[1].value) for each in results] == [
        ("image", 1.0),
        ("own-ocr", 0.0),
    ]
    run_set = load_runs([folder.path])
    assert run_set.models == ["openai:served · image", "openai:served · own-ocr"]


@pytest.mark.parametrize("settings", [("gold",), ("image", "image")])
def test_settings_that_make_no_sense(dataset, settings):
    with pytest.raises(UsageError, match=r"no setting .gold.|--setting is given twice"):
        list(requests(Dataset.open(dataset), Selection(settings=settings)))


@pytest.mark.parametrize("spec", ["ocr+llm:", "ocr+llm:ppocr", "ocr+llm:+openai:m"])
def test_a_pipeline_needs_two(spec):
    with pytest.raises(UsageError, match="needs an engine and a model"):
        open_model(spec, ModelOptions(base_url="http://localhost:1/v1"))


def test_a_pipeline_leaves_transcriptions_to_the_engine(tmp_path, chat):
    data = make_dataset(tmp_path / "d", pages=2)
    summary = go(data, tmp_path / "run", chat, "ocr+llm:baseline:copy+openai:served")
    assert summary.models[0].planned == 0
    assert summary.models[0].not_asked == {
        "a transcription is what the engine itself gives: ask the engine": 2
    }
