"""Bundles of all kinds of runs are verified in another folder, from a copy of the data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.bundles import Verification, open_bundle, verify_bundle, write_bundle
from keju.bundles.verification import TOLERANCE
from keju.datasets.store import DatasetWriter
from keju.encoders import Encoders
from keju.items import Item
from keju.judging.answers import answers_of, grading_requests
from keju.judging.prompting import read_rubrics
from keju.judging.store import JudgementFolder, ask_judges, open_judges
from keju.models import ModelOptions
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import answer_code, read_decisions, score_models, score_run
from keju.scoring.stored import read_fingerprint
from tests.bundles.bundling import altered, members_of
from tests.support import ROOT
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.policies import policy_of
from tests.support.serving import Chat
from tests.support.small_bert import write_bert
from tests.support.stored_scores import read_scores, write_scores

SERVED = "openai:served"
EXAMPLE = ROOT / "examples" / "manuscripts"


def fill_pages(writer: DatasetWriter) -> None:
    """Pages of two groups with a question each, and four examples of other groups."""
    for number, split in enumerate(["test", "test", "reference", "reference", "reference"]):
        ref = writer.add_image(picture(number, side=40), f"page {number}")
        shared = {"benchmark": "MCS-Bench", "images": (ref,), "group": f"g{number}"}
        writer.add(
            Item(id=f"t7-{number}", task="T7", options=("論語", "孟子", "史記"), answer="B",
                 split=split, **shared)
        )  # fmt: skip
        writer.add(Item(id=f"t1-{number}", task="T1", answer="天地玄黃", split=split, **shared))


def fill_texts(writer: DatasetWriter) -> None:
    """Two questions, whose text is the transcription that another item of the page has."""
    for number in range(2):
        ref = writer.add_image(picture(number, side=40), f"page {number}")
        shared = {"benchmark": "MCS-Bench", "images": (ref,), "group": f"g{number}"}
        writer.add(
            Item(id=f"t6-{number}", task="T6", question="何謂？", answer="天", **shared)
        )  # fmt: skip
        writer.add(Item(id=f"t1-{number}", task="T1", answer="天地玄黃", **shared))


def fill_fragments(writer: DatasetWriter) -> None:
    """Six fragments, each against all others; two and two belong together."""
    refs = [writer.add_image(picture(seed), f"f{seed}") for seed in range(6)]
    for number, ref in enumerate(refs):
        others = [*refs[:number], *refs[number + 1 :]]
        mate = others.index(refs[number ^ 1]) + 1
        writer.add(
            Item(id=f"f{number}", benchmark="OBI-Bench", task="rejoining", query="How",
                 images=(ref, *others), relevant=(mate,), metadata={"source": "OBI-rejoin"})
        )  # fmt: skip


def fill_questions(writer: DatasetWriter) -> None:
    """Two open questions that judges grade and that a text encoder compares."""
    for number, text in enumerate(["天地玄黃", "學而時習之"]):
        ref = writer.add_image(picture(number, side=40), f"page {number}")
        writer.add(
            Item(id=f"q{number}", benchmark="MCS-Bench", task="T6", images=(ref,), answer=text,
                 question="何謂？", transcription=text, group=f"g{number}")
        )  # fmt: skip


def make(path: Path, fill: Callable[[DatasetWriter], None], name: str = "first") -> Path:
    with DatasetWriter(path, name=name, version="1", licence="CC0-1.0", source="tests") as writer:
        fill(writer)
    return path


def verified_elsewhere(
    place: Path, fill: Callable[[DatasetWriter], None], encoders: Encoders | None = None
) -> Verification:
    """The verification of the run in `place` from the bundle and a dataset made again."""
    score_run(RunFolder.open(place / "run"), encoders=encoders)
    written = write_bundle(place / "run", place / "away" / "x.zip")
    shutil.rmtree(place / "run")
    shutil.rmtree(place / "set")
    return verify_bundle(written.path, make(place / "away" / "set", fill), encoders=encoders)


def checks(found: Verification) -> dict[str, tuple[int, int]]:
    return {each.id: (each.compared, each.differ) for each in found.checks}


def not_verified(found: Verification) -> list[str]:
    """The parts that are not verified, without the one that no bundle can have verified."""
    return [each.part for each in found.not_verified if "origin" not in each.part]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "away").mkdir()
    return tmp_path


@pytest.mark.parametrize("setting", ["own-ocr", "own-text", "gold-text"])
def test_a_run_with_a_reading_first(chat: Chat, place: Path, setting: str) -> None:
    chat.plan(says="B")
    make(place / "set", fill_texts)
    summary = run(
        place / "set", [SERVED], place / "run",
        selection=Selection(tasks=("T6",), settings=(setting,)),
        options=ModelOptions(base_url=chat.url), policy=policy_of(first_wait=0.01),
    )  # fmt: skip
    assert summary.complete
    found = verified_elsewhere(place, fill_texts)
    assert (found.result, found.differences, not_verified(found)) == ("verified", (), [])
    assert checks(found)["keys"] == (2, 0)
    with open_bundle(place / "away" / "x.zip") as bundle:
        readings = [name for name in bundle.manifest.members if name.startswith("run/readings/")]
    assert len(readings) == (setting != "gold-text")


@pytest.mark.parametrize("form", ["once", "gallery=3,seed=1"])
def test_a_run_of_reduced_pairs(place: Path, form: str) -> None:
    make(place / "set", fill_fragments)
    run(place / "set", ["baseline:chance"], place / "run", selection=Selection(pairs=form))
    found = verified_elsewhere(place, fill_fragments)
    assert (found.result, found.differences, not_verified(found)) == ("verified", (), [])
    assert checks(found)["keys"][0] > 6
    assert checks(found)["scores"][0] > 6


@pytest.mark.slow
@pytest.mark.usefixtures("definitions_of_the_test")
def test_an_own_benchmark_from_data_imported_again(place: Path) -> None:
    for name in ("here", "away"):
        shutil.copytree(EXAMPLE, place / name, dirs_exist_ok=True)
        for row in (EXAMPLE / "items" / "items.csv").read_text("utf-8").splitlines()[1:]:
            image = next(each for each in row.split(",") if each.endswith(".png"))
            target = place / name / "items" / image
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(picture(len(image), side=60))
        done = keju(
            "data", "import", "mapped", place / name / "items", "--map",
            place / name / "mapping.toml", "--benchmark", place / name / "manuscripts.toml",
            "--out", place / name / "dataset",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    model = f"replay:{place / 'here' / 'answers.jsonl'}"
    run(place / "here" / "dataset", [model], place / "run")
    score_run(RunFolder.open(place / "run"))
    written = write_bundle(place / "run", place / "x.zip")
    shutil.rmtree(place / "here")
    done = keju("verify", written.path, "--dataset", place / "away" / "dataset", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["result"], found["differences"]) == (0, "verified", [])
    assert {each["id"] for each in found["checks"]} >= {"definitions", "scores", "keys"}

    def other(content: bytes) -> bytes:
        return content.replace(b"dunhuang_dating", b"dunhuang_datinx")

    changed = altered(written.path, place / "y.zip", "run/run.json", other, rehash=True)
    named = keju("verify", changed, "--dataset", place / "away" / "dataset", "--json")
    differences = json.loads(named.stdout)["differences"]
    assert ("definitions/manuscripts.toml", True) in {
        (each["member"], each["item"].startswith("line ")) for each in differences
    }


@pytest.mark.slow
@pytest.mark.semantic
def test_values_of_an_encoder_within_the_tolerance(place: Path) -> None:
    encoders = Encoders({"chinese-bert-wwm": write_bert(place / "bert")}, device="cpu")
    make(place / "set", fill_questions)
    run(place / "set", ["baseline:copy"], place / "run")
    score_run(RunFolder.open(place / "run"), encoders=encoders)
    written = write_bundle(place / "run", place / "x.zip").path
    found = verify_bundle(written, place / "set", encoders=encoders)
    assert (found.result, found.tolerance) == ("verified", TOLERANCE)
    (member,) = (name for name in members_of(written) if name.startswith("run/scores/"))

    def moved(by: float) -> Verification:
        def change(content: bytes) -> bytes:
            path = place / "scores.parquet"
            path.write_bytes(content)
            scores = read_scores(path)
            number = next(n for n, each in enumerate(scores) if "|encoder:" in each.signature
                          and each.value is not None)  # fmt: skip
            value = scores[number].value
            assert value is not None
            scores[number] = replace(scores[number], value=value - by)
            write_scores(path, scores, read_fingerprint(path))
            return path.read_bytes()

        other = altered(written, place / "y.zip", member, change, rehash=True)
        return verify_bundle(other, place / "set", encoders=encoders)

    assert moved(TOLERANCE / 2).result == "verified"
    assert {each.member for each in moved(TOLERANCE * 3).differences} == {member}
    without = verify_bundle(written, place / "set")
    assert (without.result, without.differences) == ("incomplete", ())
    assert any("--semantic" in each.reason and each.count for each in without.not_verified)


def test_grades_of_a_judge_are_present_and_not_verified(
    chat: Chat, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-judge-0123456789abcdefABCDEF")
    make(place / "set", fill_questions)
    run(place / "set", ["baseline:copy"], place / "run")
    folder = JudgementFolder(RunFolder.open(place / "run"), read_rubrics())
    answers = answers_of(folder.run, folder.rubrics)
    chat.plan(says="分数：8")
    judges = open_judges(["openai:judge"], ModelOptions(base_url=chat.url))
    asked = list(grading_requests(answers, folder.rubrics))
    assert asked
    ask_judges(folder, judges, lambda _: asked, policy=policy_of(first_wait=0.02))
    found = verified_elsewhere(place, fill_questions)
    assert (found.result, checks(found)["grades"]) == ("verified", (len(asked), 0))
    (part,) = (each for each in found.not_verified if "judge" in each.part)
    assert (part.count, part.needed) == (len(asked), False)


def test_scores_with_decisions_are_verified_with_the_decisions(place: Path) -> None:
    make(place / "set", fill_pages)
    lines = [json.dumps({"item": f"t7-{number}", "text": "A或B"}) for number in range(2)]
    (place / "unsure.jsonl").write_text("\n".join(lines), "utf-8")
    run(place / "set", [f"replay:{place}/unsure.jsonl"], place / "run",
        selection=Selection(tasks=("T7",)))  # fmt: skip
    folder = RunFolder.open(place / "run")
    rows = [f"{answer_code(response)},B" for response in folder.responses()]
    (folder.path / "decisions.csv").write_text("\n".join(["answer_key,value", *rows]), "utf-8")
    decisions = read_decisions(folder.path / "decisions.csv")
    assert list(score_models(folder, decisions=decisions))
    written = write_bundle(folder.path, place / "x.zip").path
    found = verify_bundle(written, place / "set")
    assert found.result == "verified", found.differences
    (part,) = (each for each in found.not_verified if "decisions" in each.part)
    assert (part.count, part.needed) == (2, False)
    other = altered(written, place / "y.zip", "run/scores/decisions.json",
                    lambda content: content.replace(b'"B"', b'"A"'), rehash=True)  # fmt: skip
    assert verify_bundle(other, place / "set").differences
    # Scores that were computed without decisions do not keep those of an earlier scoring.
    score_run(folder)
    assert "run/scores/decisions.json" not in members_of(
        write_bundle(folder.path, place / "z.zip").path
    )
