"""A run goes out as Inspect's logs, and comes back with the same scores."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.items import Item, Line, Score
from keju.models import Decoding, ModelOptions
from keju.plugins import ResponseFile
from keju.running import Policy, Selection, run
from keju.runs import RunFolder, file_name
from keju.scoring import score_run
from tests.support.making import make_dataset, page_item, picture
from tests.support.needing import inspect_missing
from tests.support.policies import policy_of
from tests.support.serving import Chat

pytestmark = inspect_missing
KEY = "sk-export-0123456789abcdef"
MODEL = "openai:served"
PAGES = 24
MODES = ["400", "refusal", "length", "filter", "reasoning", "empty-content", "policy"]


def export_inspect(run: Path, out: Path, **options: bool) -> list[ResponseFile]:
    from keju_inspect.export import export_logs

    return list(export_logs(run, out, **options))


def earned(scores: list[Score]) -> dict[tuple[object, ...], tuple[object, ...]]:
    """All that a score says, but for the model's name and the request's key."""
    return {
        (s.item, s.query, s.setting, s.round, s.protocol, s.metric): (
            s.value, s.status, s.verdict, s.reason, s.extracted, s.stats, s.signature,
        )
        for s in scores
    }  # fmt: skip


def back(dataset: Path, logs: Path, out: Path, selection: Selection) -> list[Score]:
    run(dataset, [f"replay:{logs}/**/*.eval"], out, selection=selection)
    return score_run(RunFolder.open(out))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Pages and questions about them, with transcriptions; an id that is not a file name."""
    with DatasetWriter(
        tmp_path / "data", name="d", version="1", licence="CC0-1.0", source="made here"
    ) as writer:
        for number in range(PAGES):
            ref = writer.add_image(picture(400 + number), f"page {number}")
            writer.add(page_item(f"p/{number}", images=(ref,)))
            question = {"question": f"[item q {number}] 何謂天地？", "verbatim": True}
            writer.add(
                Item(id=f"q {number}", benchmark="MCS-Bench", task="T6", images=(ref,),
                     answer="天", transcription="天地玄黃", group="page", **question)
            )  # fmt: skip
    return tmp_path / "data"


def test_every_score_comes_back_failures_rounds_and_settings_included(
    chat: Chat, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat.plan(modes=MODES, share=0.6, times=-1)
    selection = Selection(
        settings=("image", "own-ocr", "gold-ocr", "gold-text"), rounds=2, tasks=("T6",)
    )
    options = ModelOptions(base_url=chat.url)
    run(dataset, [MODEL], tmp_path / "r", selection=selection, options=options,
        policy=policy_of(first_wait=0.01, dead_after=1000))  # fmt: skip
    before = score_run(RunFolder.open(tmp_path / "r"))
    written = export_inspect(tmp_path / "r", tmp_path / "logs")
    assert {each.file.name for each in written} == {
        "T6.eval", "T6-own-ocr.eval", "T6-gold-ocr.eval", "T6-gold-text.eval", "readings.eval",
    }  # fmt: skip
    assert sum(each.failures for each in written) > 0
    logs = tmp_path / "logs" / file_name(MODEL)
    after = back(dataset, logs, tmp_path / "again", selection)
    assert earned(after) == earned(before)
    statuses = {each.status for each in before}
    assert statuses == {"answered", "failed", "filtered", "truncated", "empty"}
    words = {(r.item, r.setting, r.round): (r.text, r.thinking, r.finish_reason, r.usage)
             for r in RunFolder.open(tmp_path / "r").responses()}  # fmt: skip
    assert words == {
        (r.item, r.setting, r.round): (r.text, r.thinking, r.finish_reason, r.usage)
        for r in RunFolder.open(tmp_path / "again").responses()
    }
    assert not any(KEY.encode() in path.read_bytes() for path in logs.iterdir())


def test_a_log_claims_the_parameters_that_were_sent(
    chat: Chat, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from inspect_ai.log import read_eval_log

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    body = {"error": {"message": "Unrecognized request argument supplied: top_k"}}
    chat.plan(refusals=[{"has": ["top_k"], "status": 400, "body": body}])
    decoding = Decoding(temperature=0.5, top_k=50)
    run(dataset, [MODEL], tmp_path / "r", selection=Selection(tasks=("T6",), limit=3),
        options=ModelOptions(base_url=chat.url, decoding=decoding))  # fmt: skip
    score_run(RunFolder.open(tmp_path / "r"))
    (written,) = export_inspect(tmp_path / "r", tmp_path / "logs")
    claimed = read_eval_log(str(written.file)).eval.model_generate_config
    assert (claimed.temperature, claimed.top_k) == (0.5, None)
    logs = tmp_path / "logs" / file_name(MODEL)
    back(dataset, logs, tmp_path / "again", Selection(tasks=("T6",), limit=3))
    for response in RunFolder.open(tmp_path / "again").responses():
        assert (response.decoding, response.refused) == ({"temperature": "0.5"}, ("top_k",))


def test_pairs_and_every_form_of_answer_come_back(tmp_path: Path):
    tasks = ("classification", "rejoining", "recognition", "T10", "T4")
    selection = Selection(limit=3, tasks=tasks)
    models = ["baseline:chance", "baseline:majority"]
    run(mini.path(), models, tmp_path / "r", selection=selection)
    before = score_run(RunFolder.open(tmp_path / "r"))
    export_inspect(tmp_path / "r", tmp_path / "logs")
    for model in models:
        own = [score for score in before if score.model == model]
        logs = tmp_path / "logs" / file_name(model)
        asked = sorted({score.task for score in own})
        after = back(mini.path(), logs, tmp_path / file_name(model), replaced(selection, asked))
        found = earned(after)
        assert {place: found[place] for place in earned(own)} == earned(own)


def replaced(selection: Selection, tasks: list[str]) -> Selection:
    return Selection(limit=selection.limit, tasks=tuple(tasks))


def test_an_engines_lines_come_back(tmp_path: Path):
    dataset = make_dataset(tmp_path / "d", pages=1)
    (item,) = Dataset.open(dataset).items()
    line = Line(id="l1", text="天地玄黃" * 40, polygon=((0.0, 0.0), (1.5, 0.0), (1.5, 9.0)))
    record = {"item": item.id, "key": "k", "text": line.text, "lines": [
        {"id": line.id, "text": line.text, "polygon": line.polygon}
    ]}  # fmt: skip
    (tmp_path / "answers.jsonl").write_text(json.dumps(record), "utf-8")
    model = f"replay:{tmp_path / 'answers.jsonl'}"
    run(dataset, [model], tmp_path / "r")
    export_inspect(tmp_path / "r", tmp_path / "logs")
    back(dataset, tmp_path / "logs", tmp_path / "again", Selection())
    (response,) = RunFolder.open(tmp_path / "again").responses()
    assert (response.lines, response.text) == ((line,), line.text)


def test_a_sample_shows_what_the_model_was_shown(
    chat: Chat, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from inspect_ai.log import read_eval_log

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat.plan(modes=["400"], share=0.5, times=-1)
    run(dataset, [MODEL], tmp_path / "r", options=ModelOptions(base_url=chat.url))
    scores = score_run(RunFolder.open(tmp_path / "r"))
    written = export_inspect(tmp_path / "r", tmp_path / "logs", images=True)
    file = str(next(each.file for each in written if each.file.stem == "T6"))
    log = read_eval_log(file, resolve_attachments=True)
    assert (log.status, log.eval.task, log.eval.model) == ("success", "keju/T6", MODEL)
    assert log.results.total_samples == PAGES
    assert log.results.completed_samples == sum(sample.error is None for sample in log.samples)
    sample = next(each for each in log.samples if each.error is None)
    item = next(each for each in Dataset.open(dataset).items() if each.id == sample.id)
    shown, text = sample.input[0].content
    data = Dataset.open(dataset).image_bytes(item.images[0])
    assert shown.image.startswith("data:image/png;base64,")
    sent = base64.b64decode(shown.image.partition(",")[2])
    assert sha256_bytes(sent) == sha256_bytes(data)
    assert text.text == item.question
    assert sample.target == "天"
    assert sample.messages[-1].text == f"answer to {item.id}"
    own = {(s.protocol, f"{s.protocol} {s.metric}"): s.value for s in scores if s.item == item.id}
    assert {(p, m): v for p, score in sample.scores.items() for m, v in score.value.items()} == own
    assert "verdict" in sample.scores["strict"].explanation
    values = {(s.scorer, s.name): s.metrics["value"].value for s in log.results.scores
              if "value" in s.metrics}  # fmt: skip
    assert ("official", "official ANLS") in values
    failed = next(each for each in log.samples if each.error is not None)
    assert failed.error.message.startswith("bad-request: HTTP 400")
    assert failed.output.choices == []


def test_the_command_writes_a_run_that_was_not_scored(tmp_path: Path):
    dataset = make_dataset(tmp_path / "d", pages=2)
    run(dataset, ["baseline:chance"], tmp_path / "r", selection=Selection())
    answers = tmp_path / "a.jsonl"
    answers.write_text('{"item": "i0000", "text": "天"}\n', "utf-8")
    run(dataset, [f"replay:{answers}"], tmp_path / "r2")
    done = CliRunner().invoke(
        app, ["export", "inspect", str(tmp_path / "r2"), "-o", str(tmp_path / "x")]
    )
    assert done.exit_code == 0, done.output
    assert "T1.eval: 2 responses (1 failure)" in done.output
    assert "Next: inspect view start --log-dir" in done.output


def test_scores_older_than_the_responses_are_refused(
    chat: Chat, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    options = ModelOptions(base_url=chat.url)
    chat.plan(modes=["400"], share=0.5, times=-1)
    run(dataset, [MODEL], tmp_path / "r", options=options)
    score_run(RunFolder.open(tmp_path / "r"))
    chat.plan()
    run(dataset, [MODEL], tmp_path / "r", options=options, policy=Policy(retry_failed=True))
    with pytest.raises(UsageError, match="Score it again: keju score"):
        export_inspect(tmp_path / "r", tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


def test_wrong_use_is_said(tmp_path: Path):
    with pytest.raises(UsageError, match="not a run"):
        export_inspect(tmp_path, tmp_path / "x")
    dataset = make_dataset(tmp_path / "d", pages=1)
    (tmp_path / "a.jsonl").write_text('{"item": "i0000", "text": "天"}\n', "utf-8")
    run(dataset, [f"replay:{tmp_path / 'a.jsonl'}"], tmp_path / "r")
    with pytest.raises(UsageError, match="not empty"):
        export_inspect(tmp_path / "r", tmp_path / "d")
    (tmp_path / "d").rename(tmp_path / "elsewhere")
    with pytest.raises((UsageError, DataError)):
        export_inspect(tmp_path / "r", tmp_path / "x", images=True)
