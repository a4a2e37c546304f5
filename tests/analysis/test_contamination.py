"""Signs of contamination, and where the same is found by chance."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from keju.analysis.contamination import contamination
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.items import Item, Response
from keju.reporting.page import write_report
from keju.running import run
from keju.running.reading import name_of_images
from keju.runs import RunFolder, file_name
from keju.scoring import score_run
from keju.text import counted
from tests.support.scored_runs import picture

PAGE = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏"
EDITION = PAGE.replace("盈昃", "盈虧")
NEXT = "閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉出崑岡"
OTHERS = ["劍號巨闕珠稱夜光果珍李柰菜重芥薑", "海鹹河淡鱗潛羽翔龍師火帝鳥官人皇"]


def dataset(path: Path) -> Path:
    """Four pages of four books; the second holds the first's text in another wording."""
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        for place, text in enumerate([PAGE, EDITION + NEXT, *OTHERS]):
            image = writer.add_image(picture(60 + place), f"p{place}")
            writer.add(
                Item(
                    id=f"p{place}",
                    benchmark="MCS-Bench",
                    task="T1",
                    images=(image,),
                    answer=text,
                    transcription=text,
                    group=f"book {place}",
                )
            )
    return path


def answered(tmp_path: Path, answers: dict[str, str], change=None) -> Path:
    """A scored run of one replayed model; `change` makes other responses of those stored."""
    tmp_path.mkdir(exist_ok=True)
    file = tmp_path / "m.jsonl"
    lines = [msgspec.json.encode({"item": item, "text": text}) for item, text in answers.items()]
    file.write_bytes(b"\n".join(lines) + b"\n")
    run(dataset(tmp_path / "set"), [f"replay:{file}"], tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    if change:
        for path in folder.response_files():
            told = [
                msgspec.json.encode(change(msgspec.json.decode(line, type=Response)))
                for line in path.read_bytes().splitlines()
            ]
            path.write_bytes(b"\n".join(told) + b"\n")
        rename(folder)
    score_run(folder)
    return folder.path


def rename(folder: RunFolder) -> None:
    """The run's model is the one that its responses name."""
    (path,) = folder.path.glob("responses/*/*.jsonl")
    named = msgspec.json.decode(path.read_bytes().splitlines()[0], type=Response).model
    path.parent.rename(path.parent.with_name(file_name(named)))
    folder.write_manifest(msgspec.structs.replace(folder.manifest(), models={named: {}}))


def found(path: Path):
    made = contamination(load_runs([path]))
    return made.rows, made.suspects


def test_another_editions_wording_and_the_next_page_are_signs(tmp_path):
    rows, (suspect,) = found(answered(tmp_path / "a", {"p0": EDITION, "p2": OTHERS[0]}))
    assert [(row.sign, row.answers, row.found, row.by_chance) for row in rows] == [
        ("elsewhere", 2, 1, None)
    ]
    assert (suspect.item, suspect.place, suspect.where) == ("p0", 0, "p1")
    assert counted("盈虧") in suspect.run
    _, (suspect,) = found(answered(tmp_path / "b", {"p0": PAGE + NEXT}))
    assert suspect.run.endswith(counted(NEXT))


@pytest.mark.parametrize(
    "text",
    [
        PAGE,
        PAGE.replace("盈昃", "盈日"),  # misread, but not as another page has it
        PAGE[::-1],
        "辰宿列張寒來暑往秋收冬藏天地玄黃宇宙洪荒日月盈昃",
        "律呂調陽雲騰",  # too short a run
        PAGE + "閏",  # one character as another page has it
        "看不清",
    ],
)
def test_misreading_is_no_sign(tmp_path, text):
    rows, suspects = found(answered(tmp_path, {"p0": text}))
    assert suspects == []
    assert all(row.found == 0 for row in rows)


def engine(response: Response) -> Response:
    return msgspec.structs.replace(response, model="tesseract")


def test_an_engine_knows_no_texts_and_is_no_suspect(tmp_path):
    assert found(answered(tmp_path, {"p0": EDITION, "p2": OTHERS[0]}, engine)) == ([], [])


def blind(response: Response) -> Response:
    return msgspec.structs.replace(response, model="blind:openai:m")


def test_a_blind_answer_that_knows_the_text_is_a_sign_and_chance_is_beside_it(tmp_path):
    rows, (suspect,) = found(answered(tmp_path, {"p2": OTHERS[0], "p3": "不知道這是甚麼書"}, blind))
    (row,) = rows
    assert (row.sign, row.model, row.answers, row.found) == ("blind", "blind:openai:m", 2, 1)
    assert row.by_chance == 0
    assert suspect.run == counted(OTHERS[0])


def test_the_text_of_another_item_is_chance(tmp_path):
    (row,), suspects = found(answered(tmp_path, {"p2": OTHERS[1]}, blind))
    assert (row.found, row.by_chance) == (0, 1)
    assert suspects == []


def test_what_the_reading_lacked_is_a_sign(tmp_path):
    def own(response: Response) -> Response:
        return msgspec.structs.replace(response, setting="own-text")

    path = answered(tmp_path / "r", {"p0": PAGE, "p2": OTHERS[0]}, own)
    folder = RunFolder.open(path)
    (model,) = folder.manifest().models
    items = {item.id: item for item in folder.items()}
    readings = {"p0": PAGE[:10], "p2": OTHERS[0]}
    lines = [
        msgspec.json.encode(
            Response(
                key=name, item=name_of_images(items[name].images), model=model,
                benchmark="MCS-Bench", task="T1", status="answered", text=text,
            )
        )
        for name, text in readings.items()
    ]  # fmt: skip
    reading = folder.readings_path(model)
    reading.parent.mkdir(parents=True, exist_ok=True)
    reading.write_bytes(b"\n".join(lines) + b"\n")
    (row,), (suspect,) = found(path)
    assert (row.sign, row.answers, row.found, row.by_chance) == ("withheld", 2, 1, 0)
    assert (suspect.item, suspect.where) == ("p0", "the true text, not in the reading")


def test_the_page_shows_the_signs_and_where_they_are(tmp_path):
    path = answered(tmp_path, {"p0": EDITION})
    page = write_report([path], tmp_path / "r.html").page.read_text("utf-8")
    assert 'id="memory"' in page
    assert "Signs of contamination" in page
    assert 'data-item="0">p0' in page
