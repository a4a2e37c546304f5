"""Another wording of a prompt: what a real server is asked, and how its one answer is scored."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import prompt_of
from keju.definitions.wordings import DECLARED, wording, wording_skip_reason
from keju.errors import UsageError
from keju.items import Box, Item
from keju.models import ModelOptions
from keju.reporting.page import write_report
from keju.running import Policy, Selection, merge, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores

SIDE = 200
GEMINI = "obi-gemini"
PROMPT = (
    "How many oracle bone character in this image? Return a bounding box for each detected oracle "
    "bone character in [ymin, xmin, ymax, xmax] format."
)
SAID = "There are 2 oracle bone characters.\n\n- [100, 200, 300, 400]\n- [500, 500, 600, 600]\n"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pictures with one box each; the truth of the first is the first box of `SAID`."""
    path = tmp_path_factory.mktemp("worded") / "d"
    answers = {"What": "A bone.", "Yes-or-No": "Yes", "How": "1", "Where": ""}
    with DatasetWriter(path, name="w", version="1", licence="CC0-1.0", source="tests") as writer:
        for name in ("a", "b"):
            ref = writer.add_image(picture(ord(name), side=SIDE), name)
            for query, answer in answers.items():
                writer.add(
                    Item(id=f"{name}#{query}", benchmark="OBI-Bench", task="recognition",
                         query=query, images=(ref,), answer=answer,
                         boxes=(Box(x0=40, y0=20, x1=80, y1=60),))
                )  # fmt: skip
    return path


def command(dataset: Path, out: Path, chat: Chat, *more: str) -> list[object]:
    return [
        "run", dataset, "--model", "openai:served", "--base-url", chat.url, "--out", out, *more,
    ]  # fmt: skip


def prompts(chat: Chat) -> list[str]:
    found = []
    for body in map(json.loads, chat.stats()["bodies"]):
        parts = body["messages"][0]["content"]
        found.append("".join(part.get("text", "") for part in parts))
    return found


def values(folder: RunFolder, wanted: str = GEMINI) -> dict[tuple[str, str], float | None]:
    return {
        (score.item, score.metric): score.value
        for score in score_run(folder, ("official",))
        if score.wording == wanted
    }


@pytest.fixture(scope="module")
def worded_run(
    chat: Chat, dataset: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """A run in the authors' wording, which the tests only read, and the prompts of it."""
    chat.plan(images=True, says=SAID)
    out = tmp_path_factory.mktemp("run") / "run"
    done = keju(*command(dataset, out, chat, "--wording", GEMINI))
    assert done.returncode == 0, done.stderr
    return out, prompts(chat)


def test_the_authors_prompt_is_sent_once_an_image_and_recorded(
    chat: Chat, dataset: Path, worded_run: tuple[Path, list[str]]
):
    out, asked = worded_run
    assert asked == [PROMPT] * 2
    folder = RunFolder.open(out)
    stored = [(each.item, each.query, each.wording, each.box_convention)
              for each in folder.responses()]  # fmt: skip
    assert sorted(stored) == [
        (f"{name}#Where", "Where", GEMINI, "yxyx-1000") for name in ("a", "b")
    ]
    manifest = folder.manifest()
    assert manifest.settings["wordings"] == GEMINI
    reasons = manifest.not_asked["openai:served"]
    assert sum(reasons.values()) == 6
    assert sum("recognition/Where" in reason for reason in reasons) == 1
    chat.plan(says=SAID)
    assert keju(*command(dataset, out, chat, "--wording", GEMINI)).returncode == 0
    assert chat.stats()["requests"] == 0


def test_the_one_answer_is_scored_for_both_questions(worded_run: tuple[Path, list[str]]):
    folder = RunFolder.open(worded_run[0])
    found = values(folder)
    # Two boxes of which one is the true one: IoU 1 over the larger number, 2. Two counted, 1 true.
    assert found == {
        ("a#Where", "mIoU"): 0.5, ("b#Where", "mIoU"): 0.5,
        ("a#How", "MRE"): 1.0, ("b#How", "MRE"): 1.0,
    }  # fmt: skip
    signatures = {score.signature for score in score_run(folder) if score.signature}
    assert all(signature.endswith(f"|wording:{GEMINI}") for signature in signatures)


def test_both_wordings_are_asked_in_one_run_and_shown_apart(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says=SAID)
    out, tables = tmp_path / "run", tmp_path / "tables"
    both = ("--wording", "released", "--wording", GEMINI, "--task", "recognition/Where")
    assert keju(*command(dataset, out, chat, *both)).returncode == 0
    assert sorted(prompt == PROMPT for prompt in prompts(chat)) == [False, False, True, True]
    assert len({each.key for each in RunFolder.open(out).responses()}) == 4
    assert keju("score", out).returncode == 0
    done = keju("report", out, "-o", tmp_path / "r.html", "--csv", tables)
    assert done.returncode == 0, done.stderr
    with (tables / "items.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    shown = {(row["model"], row["wording"]) for row in rows}
    assert len(shown) == 2
    assert {wording for _, wording in shown} == {"released", GEMINI}
    assert any(GEMINI in model for model, _ in shown)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert PROMPT in page
    assert "gemini15pro.py" in page


def test_another_wording_stays_out_of_the_papers_tables(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says=SAID)
    out = tmp_path / "run"
    both = ("--wording", "released", "--wording", GEMINI)
    assert keju(*command(dataset, out, chat, *both)).returncode == 0
    score_run(RunFolder.open(out))
    report = write_report([out], tmp_path / "r.html", picture_bytes=0)
    tables = [table for table in report.paper_tables if table.name == "Table 2"]
    assert tables
    rows = [row.model for table in tables for row in table.rows if row.source == "this run"]
    assert rows == ["openai:served · released"]
    assert any(GEMINI in note for table in tables for note in table.notes)


def test_a_run_resumes_and_merges_with_its_wording(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says=SAID)
    options = ModelOptions(base_url=chat.url)
    parts = [tmp_path / f"s{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        chosen = Selection(wordings=(GEMINI,), shard=f"{number}/2")
        run(dataset, ["openai:served"], part, selection=chosen, options=options)
        with pytest.raises(UsageError, match=rf"--wording \({GEMINI}, now released\)"):
            run(dataset, ["openai:served"], part, options=options,
                selection=Selection(shard=f"{number}/2"))  # fmt: skip
    merged = merge(parts, tmp_path / "merged")
    assert (merged.responses, merged.missing) == (2, ())
    assert len(values(RunFolder.open(tmp_path / "merged"))) == 4


def test_a_stored_run_is_replayed_in_its_wording(
    dataset: Path, tmp_path: Path, worded_run: tuple[Path, list[str]]
):
    again = tmp_path / "again"
    replay = f"replay:{worded_run[0] / 'responses'}"
    summary = run(
        dataset, [replay], again, selection=Selection(wordings=(GEMINI,)), policy=Policy()
    )
    assert summary.complete
    assert {response.text for response in RunFolder.open(again).responses()} == {SAID}


def test_every_declared_wording_has_a_prompt_for_each_of_its_forms(dataset: Path):
    items = {item.id: item for item in Dataset.open(dataset).items()}
    assert prompt_of(items["a#Where"], wording=GEMINI) == PROMPT
    assert prompt_of(items["a#What"], wording=GEMINI) == prompt_of(items["a#What"])
    assert wording_skip_reason(items["a#Where"], GEMINI) == ""
    assert "recognition/Where" in wording_skip_reason(items["a#How"], GEMINI)
    assert "no prompt" in wording_skip_reason(items["a#What"], GEMINI)
    for each in DECLARED.values():
        assert each.what
        assert each.source
        assert each.prompts or each.forms


LINE = "answer-line"


def test_the_answer_line_is_asked_for_in_the_language_of_the_prompt(dataset: Path):
    items = {item.id: item for item in Dataset.open(dataset).items()}
    yes_no = items["a#Yes-or-No"]
    assert prompt_of(yes_no, wording=LINE) == (
        f"{prompt_of(yes_no)}\nWrite only this on the last line: Answer: Yes, or: Answer: No"
    )
    assert "no prompt" in wording_skip_reason(items["a#Where"], LINE)
    question = "何意？\nA、甲 B、乙"
    letter = Item(id="i", benchmark="MCS-Bench", task="T5", question=question, answer="A",
                  verbatim=True)  # fmt: skip
    assert wording_skip_reason(letter, LINE) == ""
    assert prompt_of(letter, wording=LINE) == (
        "何意？\nA、甲 B、乙\n最后一行只写：答案：X（X 为选项字母）"
    )
    assert prompt_of(letter, script="traditional", wording=LINE).endswith(
        "最後一行只寫：答案：X（X 爲選項字母）"
    )
    assert "no prompt" in wording_skip_reason(replace(letter, task="T1"), LINE)


def test_unclear_answers_of_both_wordings_are_compared(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="It is hard to say.", finds=[["Write only this", "Hard to say.\nAnswer: Yes"]])
    run = tmp_path / "run"
    form = ("--task", "recognition/Yes-or-No")
    wanted = ("--wording", "released", "--wording", LINE)
    assert keju(*command(dataset, run, chat, *form, *wanted)).returncode == 0
    assert keju("score", run).returncode == 0
    (path,) = (run / "scores").glob("*.parquet")
    verdicts = {(score.wording, score.verdict) for score in read_scores(path)}
    assert verdicts == {("released", "unparsable"), (LINE, "ok")}
    done = keju("compare", run, "--wording", "released", "--wording", LINE, "--json")
    assert done.returncode == 0, done.stderr
    (task,) = json.loads(done.stdout)["tasks"]
    assert (task["first"], task["second"]) == (0, 1)


def test_a_wording_that_does_not_exist_names_those_that_do(dataset: Path):
    with pytest.raises(UsageError, match=GEMINI):
        wording("paper")
    done = keju("run", "--plan", dataset, "--model", "baseline:chance", "--wording", "paper")
    assert done.returncode == 2
    assert GEMINI in done.stderr
