"""A report of own pages shows no paper's benchmark, and no protocol without metrics."""

from pathlib import Path

import msgspec
import pytest
from lxml import html

from keju.analysis.comparison import comparison_of
from keju.analysis.run_set import RunSet, load_runs
from keju.cli.output.comparison_table import comparison_table
from keju.cli.output.protocol_tables import list_protocol_differences
from keju.datasets.store import DatasetWriter
from keju.items import Item
from keju.reporting.comparison_text import comparison_lines
from keju.reporting.latex import write_latex
from keju.reporting.leaderboard_cells import overall_cell
from keju.reporting.page import write_report
from keju.reporting.view import View, build_view
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.commanding import keju
from tests.support.making import picture

TEXTS = ["天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律呂調陽"]
ANSWERS = {"right": TEXTS, "broken": ["天地玄黃\n宇宙洪", "\n日月盈昃\n辰宿列張", *TEXTS[2:]]}


def scored(tmp_path: Path, benchmark: str, task: str) -> Path:
    """A scored run of two replayed models over two pages of a task."""
    with DatasetWriter(
        tmp_path / "set", name="mine", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for place, text in enumerate(TEXTS):
            image = writer.add_image(picture(100 + place), f"page {place}")
            writer.add(
                Item(id=f"p{place}", benchmark=benchmark, task=task, images=(image,), answer=text,
                     group=f"book {place}", metadata={"file": f"p{place}.jpg"})
            )  # fmt: skip
    specs = []
    for name, texts in ANSWERS.items():
        lines = [{"item": f"p{place}", "text": text} for place, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
        specs.append(f"replay:{tmp_path / name}.jsonl")
    run(tmp_path / "set", specs, tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    return tmp_path / "run"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scored(tmp_path_factory.mktemp("own"), "pages", "page_ocr")


def viewed(path: Path, *, published: bool = False) -> tuple[RunSet, View]:
    run_set = load_runs([path])
    return run_set, build_view(run_set, title="mine", published=published)


def test_only_strict_has_values_and_its_column_names_the_metric(own):
    _, view = viewed(own)
    (board,) = view.boards
    assert (board.benchmark, board.title) == ("pages", "Own pages")
    assert (list(board.protocols), list(board.heads)) == (["strict"], ["strict: CharAcc"])
    rows = [row for group in board.groups for row in group.rows]
    assert [[overall_cell(mean).value for mean in row.overall] for row in rows] == [
        ["100.0"],
        ["96.9"],
    ]
    assert (view.own_pages, view.official, view.missing) == (True, False, [])
    (table,) = view.tables
    assert (table.title, [row.protocol for row in table.rows], table.notes) == (
        "Own pages", ["strict"], []
    )  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_names_no_benchmark_of_a_paper(own, tmp_path, language):
    report = write_report([own], tmp_path / "report.html", language=language, published=True)
    page = report.page.read_text("utf-8")
    body = page[page.index("<body>") : page.index('<script type="application/json" id="views">')]
    for word in ("AncientDoc", "MCS-Bench", "OBI-Bench", "GPT4o", "Table "):
        assert word not in body
    assert ("自有页面" in body, "Own pages" in body) == (language == "zh", language == "en")
    assert "页面转录" in body
    assert ("Page transcription" in body) == (language == "en")
    assert (report.paper_tables, report.view.other_data) == ([], [])
    (tex,) = write_latex(report, tmp_path / "tex")
    assert tex.name == "pages-leaderboard.tex"
    assert "Model & Strict: CharAcc & Rank" in tex.read_text("utf-8")


def test_pages_break_down_by_book_and_not_by_file(own):
    _, view = viewed(own)
    assert [table["kind"] for table in view.breakdowns] == ["group"]


def test_no_protocol_differences_are_found(own):
    assert list_protocol_differences(RunFolder.open(own)) == []


def test_pages_imported_as_ancientdoc_explain_the_official_values(tmp_path):
    path = scored(tmp_path, "AncientDoc", "page_level_ocr")
    _, view = viewed(path)
    assert [line for line in view.missing if "page_level_ocr" not in line] == [
        "AncientDoc: 4 of 5 tasks are not in the data"
    ]
    (note,) = view.tables[0].notes
    assert note.startswith("official counts line breaks and punctuation as characters")
    broken = [
        each for each in list_protocol_differences(RunFolder.open(path)) if "broken" in each.model
    ]
    (task,) = broken
    why = {item.id: item.why for item in task.largest}
    assert why["p0"] == "official edits: 2 of 8 characters; strict edits: 1 of 8 characters"


@pytest.mark.parametrize("command", ["score", "compare"])
def test_official_is_refused_with_the_reason_and_no_score_is_lost(own, command):
    before = {path: path.read_bytes() for path in (own / "scores").rglob("*.parquet")}
    done = keju(command, own, "--protocol", "official")
    assert done.returncode == 2
    assert "page_ocr has no official protocol, because no paper defines how it is scored" in (
        done.stderr
    )
    assert "Use --protocol strict" in done.stderr
    assert {path: path.read_bytes() for path in (own / "scores").rglob("*.parquet")} == before
    assert before


def test_official_of_a_papers_task_is_not_refused(tmp_path):
    path = scored(tmp_path, "AncientDoc", "page_level_ocr")
    assert keju("score", path, "--protocol", "official").returncode == 0


def test_recognition_and_layout_error_are_compared_as_exploratory(own):
    compared = comparison_of([RunFolder.open(own)], "strict")
    (main,) = compared.tasks
    assert (main.metric, main.needed) == ("CharAcc", 6)
    assert [each.metric for each in compared.errors] == ["CER_recognition", "CER_layout"]
    recognition, layout = compared.errors
    # "broken" lost one character of 32, and read all others in their order.
    assert (recognition.first, recognition.second) == (0, 1 / 32)
    assert (layout.first, layout.second) == (0, 0)
    assert {each.better for each in compared.errors} == {""}
    # Their own family: the main measure needs no more groups for them.
    assert {each.needed for each in compared.errors} == {7}
    assert sum("exploratory" in line for line in comparison_lines(compared)) == 1
    assert comparison_table(compared).row_count == 3


def conclusions(own: Path, tmp_path: Path, language: str) -> list[str]:
    page = write_report([own], tmp_path / f"{language}.html", language=language).page
    tree = html.fromstring(page.read_text("utf-8"))
    return [" ".join(each.text_content().split()) for each in tree.xpath("//*[@id='verdicts']//li")]


def test_the_page_says_what_can_be_relied_on_in_both_languages(own, tmp_path):
    *rates, english = conclusions(own, tmp_path, "en")
    assert english == (
        "No difference between engines is reliable yet: the pages are from 4 books (folders), and "
        "at least 6 are needed, 2 more."
    )
    # Each engine's own rate comes first.
    assert len(rates) == 2
    assert all("of the characters wrong (recognition" in rate for rate in rates)
    *chinese_rates, chinese = conclusions(own, tmp_path, "zh")
    assert all("的字有误（识别" in rate for rate in chinese_rates)
    assert chinese.startswith("引擎之间的差别还不可靠：各页出自 4 部书")
