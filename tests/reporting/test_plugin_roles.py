"""A report treats a plug-in's model by the role that the run stored, without the plug-in."""

from __future__ import annotations

import pytest

from keju.analysis.blank_pages import blank_page_rows, invented_in, invented_rows
from keju.analysis.run_set import load_runs
from keju.analysis.swapped import swapped_in, swapped_of
from keju.datasets.readers import import_dataset
from keju.models import role_of
from keju.running.request_rebuilding import RequestRebuilder
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.plugged import run_here
from tests.support.scored_runs import picture

TEXTS = {
    "p1": "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽",
    "p2": "蓋此身髮四大五常恭惟鞠養豈敢毀傷女慕貞潔男效才良知過必改得能莫忘",
    "p3": "[blank]",
}
FILE = f"""
import keju
from keju.plugins import Answer, Model

READ = {{"p1": {TEXTS["p2"]!r}, "p2": {TEXTS["p1"]!r}, "p3": "此頁空白"}}


class Swapping(Model):
    def __init__(self, options):
        pass

    async def answer(self, request, images):
        return Answer(text=READ[request.item])


@keju.model("my-floor", summary="a baseline", role="baseline")
class Floor(Swapping):
    pass


@keju.model("my-engine", summary="an engine", role="engine")
class Engine(Swapping):
    pass
"""


READERS = """
from keju.plugins import Answer, Model
import keju


class Reader(Model):
    def __init__(self, options):
        pass

    async def answer(self, request, images):
        return Answer(text=f"讀{request.item}")


@keju.model("my-reader", summary="reads and answers", role="model")
class Asked(Reader):
    pass
"""


def test_a_request_is_made_again_with_the_role_of_a_reader_that_is_not_loaded(
    tmp_path, monkeypatch, capsys
):
    plugin, out = tmp_path / "mine.py", tmp_path / "run"
    plugin.write_text(READERS, "utf-8")
    done = run_here(
        monkeypatch, capsys, "run", "mini", "--task", "T6", "--script", "traditional",
        "--model", "ocr+llm:my-reader+my-reader", "--out", out, "--plugin", plugin,
    )  # fmt: skip
    assert done.returncode == 0, done
    folder = RunFolder.open(out)
    assert role_of("my-reader") is None
    assert folder.manifest().roles["my-reader"] == "model"
    items = {item.id: item for item in folder.items()}
    shown = RequestRebuilder(folder)
    sources = {shown.request(items[each.item], each).source for each in folder.responses()}
    assert sources
    assert all(source and source.startswith("讀") for source in sources)


@pytest.fixture
def scored(tmp_path, monkeypatch, capsys) -> RunFolder:
    src, plugin, out = tmp_path / "src", tmp_path / "mine.py", tmp_path / "run"
    src.mkdir()
    for place, (name, text) in enumerate(TEXTS.items()):
        (src / f"{name}.png").write_bytes(picture(60 + place))
        (src / f"{name}.txt").write_text(text, "utf-8")
    about = {"name": "d", "version": "1", "licence": "CC0", "source": "tests"}
    import_dataset("pages", src, tmp_path / "data", **about)
    plugin.write_text(FILE, "utf-8")
    done = run_here(monkeypatch, capsys, "run", tmp_path / "data", "--model", "my-floor",
                    "--model", "my-engine", "--out", out, "--plugin", plugin)  # fmt: skip
    assert done.returncode == 0, done
    score_run(RunFolder.open(out))
    return RunFolder.open(out)


def test_a_plug_in_s_baseline_and_engine_are_those_also_where_it_is_not_loaded(scored):
    assert role_of("my-floor") is None
    assert scored.manifest().roles == {"my-floor": "baseline", "my-engine": "engine"}
    assert [model for model, _ in invented_in(scored)] == ["my-engine"]
    # An engine that transcribes "this page is blank" invents four characters; a model answers.
    (of_tasks,) = invented_in(scored).values()
    assert [found.characters for found in of_tasks.values()] == [4]
    run_set = load_runs([scored.path])
    (row,) = invented_rows(run_set)
    assert (row.model, row.found.characters) == ("my-engine", 4)
    assert {row["model"]: row["invented_characters"] for row in blank_page_rows(run_set)}[
        "my-engine"
    ] == 4
    for check in (swapped_in(scored), swapped_of(run_set)):
        assert [each.models for each in check.found] == [("my-engine",)] * 2
