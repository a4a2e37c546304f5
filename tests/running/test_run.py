"""Whole runs: the real client, a real server in its own process, real files."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import time
from collections import Counter
from math import inf, nan
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import PrerequisiteError, UsageError
from keju.models import Decoding, ModelOptions
from keju.running import Policy, ResponseStore, RunSummary, Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run, stored_scores
from tests.support import children
from tests.support.commanding import keju
from tests.support.making import make_dataset, page_item, picture
from tests.support.policies import policy_of
from tests.support.serving import Chat, run_command

KEY = "sk-run-0123456789abcdefABCDEF"
MODEL = "openai:served"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("run") / "dataset", pages=40)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def go(
    dataset: Path, out: Path, url: str, *models: str, options: ModelOptions | None = None,
    policy: Policy | None = None, **settings: object,
) -> RunSummary:  # fmt: skip
    return run(
        dataset,
        models or [MODEL],
        out,
        options=options or ModelOptions(base_url=url),
        policy=policy or policy_of(concurrency=8, first_wait=0.02),
        **settings,
    )


def items_of(out: Path) -> Counter[str]:
    """How often each item stands in the files, without any reader's help."""
    lines = [
        line for path in out.glob("responses/*/*.jsonl") for line in path.read_text().splitlines()
    ]
    return Counter(json.loads(line)["item"] for line in lines)


def test_a_run_stores_each_answer_once_and_describes_itself(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    summary = go(dataset, out, chat.url)
    assert (summary.complete, summary.failures, summary.left) == (True, 0, 0)
    assert summary.models[0].statuses == {"answered": 40}
    folder = RunFolder.open(out)
    assert {r.item: r.text for r in folder.responses(MODEL)} == {
        f"i{n:04}": f"answer to i{n:04}" for n in range(40)
    }
    assert [item.answer for item in folder.items()] == ["天地玄黃"] * 40
    manifest = folder.manifest()
    assert manifest.models[MODEL]["endpoint"] == chat.url
    assert (out / manifest.dataset_path).resolve() == dataset.resolve()
    assert json.loads((out / "run.json").read_text())["format"] == "keju-run-2"


def test_what_is_stored_is_never_asked_again(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=15))
    chat.plan()
    summary = go(dataset, out, chat.url)
    assert chat.stats()["requests"] == 25
    assert (summary.models[0].asked, summary.models[0].statuses) == (25, {"answered": 40})
    assert set(items_of(out).values()) == {1}
    assert len(RunFolder.open(out).items()) == 40
    chat.plan()
    assert go(dataset, out, chat.url).complete
    assert chat.stats()["requests"] == 0


def test_a_server_that_bears_few_at_once_is_asked_slower(chat: Chat, dataset: Path, out: Path):
    chat.plan(cap=3, delay=0.02)
    summary = go(dataset, out, chat.url, policy=policy_of(concurrency=32, first_wait=0.05))
    assert summary.models[0].statuses == {"answered": 40}
    seen = chat.stats()
    assert len(seen["answered"]) == 40
    assert seen["most_in_flight"] > 3


def test_lasting_failures_are_stored_as_failures_and_asked_again_only_when_told(
    chat: Chat, dataset: Path, out: Path
):
    chat.plan(modes=["400"], share=0.3, times=-1)
    summary = go(dataset, out, chat.url)
    failed = summary.failures
    assert 0 < failed < 40
    assert summary.models[0].failures == {"bad-request": failed}
    # The same request would be refused again.
    assert "--retry-failed" not in summary.advice
    assert all(r.text == "" for r in RunFolder.open(out).responses() if r.status == "failed")
    chat.plan()
    assert go(dataset, out, chat.url).failures == failed
    assert chat.stats()["requests"] == 0
    again = go(dataset, out, chat.url, policy=Policy(retry_failed=True))
    assert chat.stats()["requests"] == failed
    assert again.complete
    assert again.models[0].statuses == {"answered": 40}
    assert items_of(out) == {f"i{n:04}": 1 for n in range(40)}


@pytest.mark.parametrize("modes", [["401"], ["drop-before"]])
def test_the_summary_of_a_retry_at_a_dead_server_is_what_is_stored(
    chat: Chat, dataset: Path, out: Path, modes: list[str]
):
    """20 answered, some failed, the rest never asked: the retry is stopped before the end."""
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=20))
    quick = policy_of(concurrency=2, attempts=1, first_wait=0.01, dead_after=4)
    chat.plan(modes=["drop-before"], times=-1)
    go(dataset, out, chat.url, policy=quick)
    stored = Counter(r.status for r in RunFolder.open(out).responses())
    assert stored["answered"] == 20
    assert 4 <= stored["failed"] < 20
    chat.plan(modes=modes, times=-1)
    again = replace(quick, retry_failed=True, retry=replace(quick.retry, dead_after=2))
    summary = go(dataset, out, chat.url, policy=again)
    stored = Counter(r.status for r in RunFolder.open(out).responses())
    kinds = Counter(r.error.kind for r in RunFolder.open(out).responses() if r.error)
    model = summary.models[0]
    assert model.halted
    assert model.statuses == dict(stored)
    assert model.failures == dict(kinds)
    assert model.left == 40 - stored.total()
    assert not summary.complete


def test_several_models_and_declined_requests(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    summary = go(
        dataset, out, chat.url, MODEL, "baseline:copy", "baseline:chance",
        selection=Selection(limit=5),
    )  # fmt: skip
    by_name = {model.model: model for model in summary.models}
    assert by_name["baseline:copy"].statuses == {"answered": 5}
    assert by_name["baseline:chance"].planned == 0
    why = {"chance answers only letters, yes or no, and probabilities": 5}
    assert by_name["baseline:chance"].not_asked == why
    assert RunFolder.open(out).manifest().not_asked == {"baseline:chance": why}
    assert summary.complete
    added = go(dataset, out, chat.url, "replay:" + str(responses_file(out)),
               selection=Selection(limit=5))  # fmt: skip
    assert added.models[0].statuses == {"answered": 5}
    assert set(RunFolder.open(out).manifest().models) == {*by_name, added.models[0].model}


def responses_file(out: Path) -> Path:
    return RunFolder.open(out).responses_path(MODEL, "T1")


def test_rounds_are_asked_and_may_be_added(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=3))
    go(dataset, out, chat.url, selection=Selection(limit=3, rounds=3))
    assert chat.stats()["requests"] == 9
    rounds = Counter(r.round for r in RunFolder.open(out).responses())
    assert rounds == {1: 3, 2: 3, 3: 3}


@pytest.mark.parametrize(
    ("options", "selection", "words"),
    [
        ({"decoding": Decoding(seed=5)}, {}, r"seed of openai:served \(unset, now 5\)"),
        ({"base_url": "http://127.0.0.1:1/v2"}, {}, r"endpoint of openai:served \("),
        ({}, {"limit": 3}, r"are outdated, .*--limit \(5, now 3\)"),
        ({}, {"limit": 5, "rounds": 1}, r"--rounds \(2, now 1\)"),
    ],
)  # fmt: skip
def test_other_settings_are_refused_and_what_differs_is_named(
    chat: Chat, dataset: Path, out: Path, options: dict[str, object], selection: dict[str, object],
    words: str,
):  # fmt: skip
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=5, rounds=2))
    before = (out / "run.json").read_bytes()
    with pytest.raises(UsageError, match=words) as caught:
        go(
            dataset, out, chat.url,
            options=ModelOptions(**{"base_url": chat.url, **options}),
            selection=Selection(**{"limit": 5, "rounds": 2, **selection}),
        )  # fmt: skip
    assert "another --out" in str(caught.value)
    assert (out / "run.json").read_bytes() == before
    assert chat.stats()["requests"] == 10


def test_a_run_whose_rounds_are_no_number_is_gone_on_with(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=1))
    manifest = RunFolder.open(out).manifest()
    for said in ("many", "9" * 5000, ""):
        spoilt = {**manifest.settings, "rounds": said}
        RunFolder(out).write_manifest(replace(manifest, settings=spoilt))
        assert RunFolder.open(out).manifest().rounds == 1
        assert go(dataset, out, chat.url, selection=Selection(limit=1)).complete
    assert chat.stats()["requests"] == 1


def multiple_choice(
    path: Path, *names: str, first: str = "天", answer: str = "A", transcription: str = "天"
) -> Path:
    """A dataset of a question about one picture for each name."""
    about = {"name": "small", "version": "1", "licence": "CC0-1.0", "source": "the tests"}
    with DatasetWriter(path, **about) as writer:
        for name in names:
            image = writer.add_image(picture(len(name)), name)
            writer.add(
                page_item(name, task="T5", question=f"[item {name}] A. {first} B. 地",
                          answer=answer, transcription=transcription, images=(image,))
            )  # fmt: skip
    return path


def test_corrected_references_and_more_items_ask_only_what_is_new(
    chat: Chat, tmp_path: Path, out: Path
):
    chat.plan()
    go(multiple_choice(tmp_path / "one", "q"), out, chat.url)
    (path,) = out.glob("responses/*/T5.jsonl")
    before = path.read_bytes()
    score_run(RunFolder(out))
    said = Console(file=io.StringIO(), width=200)
    run(
        multiple_choice(tmp_path / "two", "q", answer="B"), [MODEL], out,
        options=ModelOptions(base_url=chat.url), console=said,
    )  # fmt: skip
    assert chat.stats()["requests"] == 1
    assert path.read_bytes() == before
    (note,) = said.file.getvalue().splitlines()[:1]
    assert note.startswith("The dataset has changed since the last session. Responses to the same")
    folder = RunFolder.open(out)
    assert [item.answer for item in folder.items()] == ["B"]
    assert folder.dataset().path.name == "two"
    with pytest.raises(UsageError, match="keju score"):
        list(stored_scores(folder))
    go(multiple_choice(tmp_path / "three", "q", "more", answer="B"), out, chat.url)
    assert chat.stats()["requests"] == 2
    assert path.read_bytes().startswith(before)


def test_a_transcription_that_is_part_of_a_prompt_is_not_exchanged(
    chat: Chat, tmp_path: Path, out: Path
):
    chat.plan()
    selection = Selection(settings=("gold-ocr",))
    go(multiple_choice(tmp_path / "one", "q"), out, chat.url, selection=selection)
    corrected = multiple_choice(tmp_path / "two", "q", answer="B")
    assert go(corrected, out, chat.url, selection=selection).complete
    assert chat.stats()["requests"] == 1
    changed = multiple_choice(tmp_path / "three", "q", transcription="玄")
    with pytest.raises(UsageError, match="openai:served are outdated, 1 in number"):
        go(changed, out, chat.url, selection=selection)


def test_outdated_responses_are_replaced_only_on_request(chat: Chat, tmp_path: Path, out: Path):
    chat.plan()
    go(multiple_choice(tmp_path / "one", "q", "same", "gone"), out, chat.url)
    kept = {r.item: r.key for r in RunFolder.open(out).responses()}
    changed = tmp_path / "two"
    multiple_choice(changed, "q", first="玄")
    with DatasetWriter(tmp_path / "three", name="s", version="1", licence="CC0-1.0",
                       source="tests") as writer:  # fmt: skip
        for dataset in (changed, tmp_path / "one"):
            for item in Dataset.open(dataset):
                if dataset == changed or item.id == "same":
                    image = Dataset.open(dataset).image_bytes(item.images[0])
                    writer.add(replace(item, images=(writer.add_image(image, item.id),)))
    console = Console(file=io.StringIO(), width=200)
    summary = run(
        tmp_path / "three", [MODEL], out, options=ModelOptions(base_url=chat.url),
        policy=Policy(replace=True), console=console,
    )  # fmt: skip
    assert summary.complete
    assert "openai:served: outdated responses that are replaced: 2" in console.file.getvalue()
    now = {r.item: r.key for r in RunFolder.open(out).responses()}
    assert set(now) == {"q", "same"}
    assert now["same"] == kept["same"]
    assert now["q"] != kept["q"]
    assert chat.stats()["requests"] == 4
    assert set(items_of(out).values()) == {1}


def test_answers_of_a_file_are_read_again(dataset: Path, tmp_path: Path, out: Path):
    file = tmp_path / "answers.jsonl"
    lines = {f"i{n:04}": "天" for n in range(5)}

    def write() -> None:
        rows = (json.dumps({"item": name, "text": text}) + "\n" for name, text in lines.items())
        file.write_text("".join(rows), "utf-8")

    def replay(limit: int) -> RunSummary:
        return run(dataset, [f"replay:{file}"], out, selection=Selection(limit=limit))

    write()
    assert replay(5).complete
    lines["i0002"] = "地"
    write()
    assert replay(5).complete
    stored = {response.item: response.text for response in RunFolder.open(out).responses()}
    assert stored == lines
    assert replay(3).complete
    assert len(list(RunFolder.open(out).responses())) == 3


def test_answers_of_a_model_that_is_not_named_now_are_never_orphaned(
    chat: Chat, dataset: Path, tmp_path: Path, out: Path
):
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=5))
    before = (out / "run.json").read_bytes()
    for selection in (Selection(limit=7), Selection(limit=5, settings=("gold-text",))):
        with pytest.raises(UsageError, match=r"stored responses of openai:served are outdated"):
            go(dataset, out, chat.url, "openai:other", selection=selection)
    other = make_dataset(tmp_path / "other", pages=5, first=100)
    with pytest.raises(UsageError, match=r"are outdated.*the dataset \(.*or name the model"):
        go(other, out, chat.url, "openai:other")
    assert (out / "run.json").read_bytes() == before
    assert go(dataset, out, chat.url, "openai:other", selection=Selection(limit=5)).complete


def test_another_dataset_or_setting_is_refused(chat: Chat, tmp_path: Path, out: Path):
    chat.plan()
    first = multiple_choice(tmp_path / "one", "q")
    go(first, out, chat.url)
    words = r"stored responses of openai:served are outdated, 1 in number"
    with pytest.raises(UsageError, match=words + r".*the dataset \(small .*, now small"):
        go(multiple_choice(tmp_path / "two", "q", first="玄"), out, chat.url)
    with pytest.raises(UsageError, match=words):
        go(multiple_choice(tmp_path / "three", "other"), out, chat.url)
    with pytest.raises(UsageError, match=words + r".*--setting \(image, now gold-ocr\)"):
        go(first, out, chat.url, selection=Selection(settings=("gold-ocr",)))


def test_an_answer_to_another_prompt_is_not_taken_for_this_one(
    chat: Chat, dataset: Path, out: Path
):
    chat.plan()
    go(dataset, out, chat.url, selection=Selection(limit=2))
    path = responses_file(out)
    lines = path.read_text().splitlines()
    changed = {**json.loads(lines[0]), "key": "0" * 64}
    path.write_text(json.dumps(changed) + "\n" + lines[1] + "\n")
    with pytest.raises(
        UsageError, match=r"are outdated, .*What differs: the prompts or the images"
    ):
        go(dataset, out, chat.url, selection=Selection(limit=2))


def test_wrong_use_is_refused_before_anything_is_written(chat: Chat, dataset: Path, out: Path):
    for wrong, words in [
        ({"models": []}, "no model is given"),
        ({"models": [MODEL, MODEL]}, "given twice"),
        ({"models": ["openai"]}, "needs a model's name"),
        ({"models": [MODEL], "policy": Policy(concurrency=0)}, "--concurrency must be 1"),
        ({"models": [MODEL], "policy": policy_of(timeout=0)}, "--timeout must be more than 0"),
        ({"models": [MODEL], "policy": policy_of(timeout=nan)}, "--timeout must be more than 0"),
        ({"decoding": Decoding(temperature=nan)}, "--temperature must be a number, not nan"),
        ({"decoding": Decoding(top_p=inf)}, "--top-p must be a number, not inf"),
    ]:
        decoding = wrong.pop("decoding", Decoding())
        options = ModelOptions(base_url=chat.url, decoding=decoding)
        with pytest.raises(UsageError, match=words):
            run(dataset, out=out, options=options, **{"models": [MODEL], **wrong})
    with pytest.raises(UsageError, match="dataset directory"):
        run(out / "nowhere", [MODEL], out, options=ModelOptions(base_url=chat.url))
    assert not out.exists()


def test_a_folder_of_something_else_is_not_written_into(chat: Chat, dataset: Path, tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match=r"is not a keju run directory \(found thesis\.tex\)"):
        go(dataset, tmp_path, chat.url)
    with pytest.raises(UsageError, match=r"is not a keju run directory \(found thesis\.tex\)"):
        go(dataset, tmp_path / "new" / "sub" / ".." / "..", chat.url)
    assert not (tmp_path / "new").exists()
    with pytest.raises(UsageError, match="not a directory"):
        go(dataset, tmp_path / "thesis.tex", chat.url)


def test_a_missing_engine_is_named_before_anything_is_asked(
    chat: Chat, dataset: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("keju.models.registry.shutil.which", lambda name: None)
    with pytest.raises(PrerequisiteError, match="tesseract"):
        go(dataset, out, chat.url, MODEL, "tesseract")
    assert not out.exists()


def test_an_altered_image_fails_its_item_and_no_other(chat: Chat, tmp_path: Path, out: Path):
    dataset = make_dataset(tmp_path / "d", pages=4, first=1000)
    image = min((dataset / "images").iterdir())
    image.write_bytes(image.read_bytes()[:-1] + b"x")
    chat.plan()
    summary = go(dataset, out, chat.url)
    assert summary.models[0].statuses == {"answered": 3, "failed": 1}
    assert summary.models[0].failures == {"unreadable-image": 1}
    assert chat.stats()["requests"] == 3


def test_the_key_is_in_no_file_of_the_run(chat: Chat, dataset: Path, out: Path):
    chat.plan(modes=["echo-key", "echo-key-401", "500"], share=0.9, times=2)
    go(dataset, out, chat.url, policy=policy_of(dead_after=1000, first_wait=0.01))
    assert chat.stats()["keys"] == [f"Bearer {KEY}"]
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert "Bearer ***" in responses_file(out).read_text()
    for path in files:
        assert KEY.encode() not in path.read_bytes()


def test_progress_says_how_it_goes(chat: Chat, dataset: Path, out: Path):
    chat.plan(modes=["400"], share=0.3, times=-1)
    console = Console(file=(out.parent / "said").open("w+", encoding="utf-8"), width=200)
    summary = go(dataset, out, chat.url, console=console)
    console.file.seek(0)
    said = console.file.read()
    assert said.startswith("openai:served: 40/40 · ")
    assert f" · {summary.failures} failed" in said
    assert KEY not in said
    console.file.close()


def started(dataset: Path, out: Path, chat: Chat) -> subprocess.Popen[str]:
    return children.started(
        run_command(dataset, out, chat), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_requests(chat: Chat, count: int) -> None:
    for _ in range(3000):
        if chat.stats()["requests"] >= count:
            return
        time.sleep(0.02)
    pytest.fail("the run asked nothing")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_cleanly_and_tells_how_to_go_on(
    chat: Chat, dataset: Path, out: Path, number: signal.Signals
):
    chat.plan(delay=0.3)
    process = started(dataset, out, chat)
    wait_for_requests(chat, 6)
    process.send_signal(number)
    said, errors = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "Waiting for 4 answers under way" in errors
    assert "Run the same command again to continue" in said
    seen = chat.stats()
    # All that was sent was waited for and kept.
    assert sum(items_of(out).values()) == seen["requests"] < 40
    assert keju(*run_command(dataset, out, chat)[3:]).returncode == 0
    assert items_of(out) == {f"i{n:04}": 1 for n in range(40)}
    assert chat.stats()["requests"] == 40


def test_a_second_ctrl_c_does_not_wait(chat: Chat, dataset: Path, out: Path):
    chat.plan(modes=["hang"], share=0.5, times=-1, hang=600)
    process = started(dataset, out, chat)
    wait_for_requests(chat, 5)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)  # The server answers after 600 s.
    assert process.returncode == 1
    assert "Traceback" not in errors


def test_a_second_writer_is_refused_in_one_line(chat: Chat, dataset: Path, out: Path):
    chat.plan()
    command = run_command(dataset, out, chat)[3:]
    with ResponseStore(RunFolder(out)):
        second = keju(*command)
    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert "another keju is writing to this run" in second.stderr
    assert chat.stats()["requests"] == 0
    assert keju(*command).returncode == 0
