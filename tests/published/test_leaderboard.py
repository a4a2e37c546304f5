"""Any leaderboard is held to what it says of itself."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.errors import DataError, UsageError
from keju.published.leaderboard import audit_leaderboard
from tests.support.commanding import keju
from tests.support.workbooks import write_workbook

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "src" / "keju" / "benchmarks" / "mcs_bench" / "published" / "tables"

SOUND = """\
model,Rank,A (n=40),B,CER,Average
x,1,**90.0**,**80.0**,30.0,**66.67**
y,2,_77.5_,_75.0_,_20.0_,_57.50_
z,3,62.5,60.0,**10.0**,44.17
w,4,50.0,50.0,30.5,43.50
v,5,50.0,40.0,31.0,40.33
Average,,66.0,61.0,24.3,50.43
"""


def audited(tmp_path, text):
    path = tmp_path / "board.csv"
    path.write_text(text, "utf-8")
    return {
        (each.check, cell.where): (cell.printed, cell.recomputed)
        for each in audit_leaderboard(path).findings
        for cell in each.mismatches
    }


def test_a_sound_table_has_no_finding_and_says_what_was_checked(tmp_path):
    assert audited(tmp_path, SOUND) == {}
    held = {each.check for each in audit_leaderboard(tmp_path / "board.csv").held}
    assert held == {
        "mean", "rank", "row-of-means", "counts", "marks", "repeated-columns", "repeated-rows",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("right", "wrong", "finding"),
    [
        ("43.50\n", "44.50\n", ("mean", "w")),
        ("z,3,", "z,2,", ("rank", "z")),
        ("62.5,", "61.3,", ("counts", "z")),
        ("61.0,24.3", "71.0,24.3", ("row-of-means", "Average")),
        ("_77.5_", "77.5", ("marks", "y")),
        ("v,5,50.0,40.0,31.0,40.33", "v,5,62.5,60.0,10.0,44.17", ("repeated-rows", "v")),
    ],
)
def test_one_wrong_cell_is_found(tmp_path, right, wrong, finding):
    assert right in SOUND
    assert finding in audited(tmp_path, SOUND.replace(right, wrong))


def test_a_mean_that_is_never_plain_is_a_caution_not_an_error(tmp_path):
    text = "model,A,B,Average\nx,10,20,12\ny,30,10,25\nz,50,70,55\n"
    (finding,) = audit_leaderboard(_written(tmp_path, text)).findings
    assert (finding.check, finding.severity) == ("mean", "caution")


def test_marks_within_groups_are_left_alone(tmp_path):
    text = "model,A,B\nclosed 1,**90**,**91**\nclosed 2,80,82\nopen 1,**70**,**71**\nopen 2,60,61\n"
    assert audited(tmp_path, text) == {}


def test_the_papers_own_tables_betray_themselves():
    found = audit_leaderboard(TABLES / "table-16.csv").findings
    assert [(each.check, len(each.mismatches)) for each in found if "T9" in each.place] == [
        ("repeated-columns", 35)
    ]
    (average,) = [
        each
        for each in audit_leaderboard(TABLES / "table-28.csv").findings
        if each.check == "row-of-means"
    ]
    assert average.place.endswith("T37:Edit_Distance")


def test_a_row_of_means_with_more_digits_does_not_sharpen_the_others(tmp_path):
    text = "model,A (n=120)\nx,71.7\ny,64.2\nz,41.7\nMean,59.18\n"
    assert audited(tmp_path, text) == {}
    assert ("counts", "z") in audited(tmp_path, text.replace("41.7", "41.9"))


def test_a_finding_says_how_many_ranks_move(tmp_path):
    text = "model,A,B,Average\nx,10.0,20.0,15.0\ny,12.0,20.0,14.0\nz,1.0,2.0,1.5\nw,0.0,1.0,0.5\n"
    (finding,) = audit_leaderboard(_written(tmp_path, text)).findings
    assert (finding.check, finding.size.ranks, finding.size.ranked) == ("mean", 2, 4)
    assert finding.size.points == pytest.approx(2)


def test_the_example_of_the_documentation_prints_what_is_documented(tmp_path):
    page = (ROOT / "docs" / "tables.md").read_text("utf-8")
    section = page.split("## Audit any table")[1]
    table = section.split("```")[1].removeprefix("\n")
    (output,) = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    (tmp_path / "example.csv").write_text(table, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "keju", "audit", "example.csv"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=tmp_path,
        timeout=120,
        env={**os.environ, "COLUMNS": "100"},
    )
    lines = [line.rstrip() for line in done.stdout.strip().splitlines()]
    assert lines == output.strip().splitlines()


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("model,A,B,Avg,Rank\nx,50,60,55,1\ny,40,50,45,2\nz,40,–,,3\n", []),
        (
            "model,A,B,Avg,Rank\nx,50,60,55,1\ny,40,50,45,3\nz,40,–,40,2\n",
            [("rank", "y"), ("rank", "z")],
        ),
        ("model,A,B,Avg CER ↓,Rank\nx,10,20,15,1\ny,20,30,25,2\n", []),
        ("model,A,B,Avg CER ↓,Rank\nx,10,20,15,2\ny,20,30,25,1\n", [("rank", "x"), ("rank", "y")]),
    ],
    ids=["lacking", "lacking and wrong", "less is better", "less is better and wrong"],
)
def test_means_and_ranks_are_checked_where_cells_are_missing_or_less_is_better(
    tmp_path, text, findings
):
    assert list(audited(tmp_path, text)) == findings


def test_what_so_few_cells_cannot_show_is_not_said_to_hold(tmp_path):
    text = "model,A,B,Average\nx,10,20,15\ny,12,20,16\nz,1,2,1.5\n"
    audit = audit_leaderboard(_written(tmp_path, text))
    assert {each.check for each in audit.held} == {"mean"}
    assert audit.findings == ()


def test_headings_are_no_patterns(tmp_path):
    text = "model,A*,A[1],A?,x | y,Average\np,1,2,3,4,2.5\nq,2,3,4,5,3.5\nr,3,4,5,6,9.9\n"
    assert audited(tmp_path, text) == {("mean", "r"): ("9.9", "4.50")}


def test_repeated_names_and_headings_are_told_apart(tmp_path):
    text = "model,A,A\nx,1.5,2.5\nx,3.5,4.5\ny,5.5,6.5\n"
    assert audited(tmp_path, text) == {}


@given(st.lists(st.lists(st.floats(0, 100), min_size=4, max_size=4), min_size=5, max_size=12))
def test_rounding_is_never_a_finding(tmp_path_factory, values):
    lines = ["model,A,B,C,D,Average"]
    for place, row in enumerate(values):
        cells = [f"{value:.1f}" for value in row]
        lines.append(",".join([f"m{place}", *cells, f"{sum(row) / 4:.2f}"]))
    found = audited(tmp_path_factory.mktemp("board"), "\n".join(lines))
    assert not [check for check, _ in found if check in {"mean", "marks", "rank"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a table of names and numbers"),
        ("model\nx\ny\n", "not a table of names and numbers"),
        ("model,A\nx,good\ny,bad\n", "no column of numbers"),
        ("model,A,B\nx,1,2\ny,1\n", "row 3"),
        ('model,A\nx,"1\n', "line 2: not readable as a table"),
    ],
)
def test_what_is_no_table_is_said_in_one_line(tmp_path, text, said):
    with pytest.raises(DataError, match=said) as caught:
        audit_leaderboard(_written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_other_encodings_and_absent_files_are_named(tmp_path):
    path = tmp_path / "damaged.csv"
    path.write_bytes(b"model,A\nx,1\xff\xfe\x81\ny,2\n")
    with pytest.raises(DataError, match="UTF-8"):
        audit_leaderboard(path)
    with pytest.raises(UsageError, match="no such file"):
        audit_leaderboard(tmp_path / "absent.csv")


WRONG = [["model", "A", "B", "average"], ["甲", "1.5", "2.5", "2.0"], ["乙", "3.5", "4.5", "4.0"],
         ["丙", "1.5", "3.5", "2.5"], ["丁", "2.5", "1.5", "9.9"]]  # fmt: skip


def _lines(separator: str) -> str:
    return "".join(separator.join(row) + "\r\n" for row in WRONG)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("plain.csv", _lines(",").encode("utf-8-sig")),
        ("semicolon.csv", _lines(";").encode("utf-8-sig")),
        ("unicode-text.txt", _lines("\t").encode("utf-16")),
        ("table.xlsx", b""),
    ],
)
def test_a_table_is_read_in_each_form_that_a_spreadsheet_writes(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    if path.suffix == ".xlsx":
        write_workbook(path, WRONG)
    found = audit_leaderboard(path).findings
    assert [(each.check, cell.where, cell.printed, cell.recomputed) for each in found
            for cell in each.mismatches] == [("mean", "丁", "9.9", "2.00")]  # fmt: skip


CELLS = """\
model,Reading,Dating,Style,Average
A,90.0,80.0,70.0,80.0
B,70.0,60.0,{},{}
C,50.0,40.0,30.0,40.0
D,30.0,20.0,10.0,20.0
E,31.0,21.0,11.0,21.0
"""


@pytest.mark.parametrize(
    ("cell", "recomputed"),
    [
        ("\u221210.0", "40.00"), ("-10.0", "40.00"), ("50.0*", "60.00"), ("５０．０", "60.00"),
        ("50.0 (3)", "60.00"), ('"50,0"', "43.33–76.67"), ("5O.0", "43.33–76.67"),
        ("<50", "43.33–76.67"),
    ],
)  # fmt: skip
def test_no_form_of_a_cell_hides_the_wrong_mean_of_its_row(tmp_path, cell, recomputed):
    assert audited(tmp_path, CELLS.format(cell, "99.0")) == {("mean", "B"): ("99.0", recomputed)}


def test_every_cell_that_is_not_read_is_named(tmp_path):
    text = CELLS.replace("C,50.0", "C,5O.0").format("<0.1", "60.0")
    audit = audit_leaderboard(_written(tmp_path, text))
    assert audit.findings == ()
    assert [(each.column, each.numbers, each.cells) for each in audit.unread] == [
        ("Reading", 4, {"C": "5O.0"}),
        ("Style", 4, {"B": "<0.1"}),
    ]
    done = keju("audit", tmp_path / "board.csv")
    assert "- Reading, 1 of 5: C “5O.0”" in done.stdout
    assert "- Style, 1 of 5: B “<0.1”" in done.stdout


def test_a_column_is_checked_although_half_of_it_is_not_read(tmp_path):
    text = "model,A (n=40)\nx,77.5\ny,61.3\nz,<1\nw,?\n"
    assert ("counts", "y") in audited(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("model,A,B,Avg,Rank\nx,5,7,6?,1\ny,4,6,5,2\nz,3,5,4,3\nw,1,3,2,4\n", []),
        ("model,A,B,Avg,Rank\nx,5,7,6?,1\ny,4,6,5,3\nz,3,5,4,2\nw,1,3,2,4\n",
         [("rank", "y"), ("rank", "z")]),
        ("model,A,B\nx,9?,7\ny,4,6\nz,3,5\nMean,5.3,6.0\n", []),
        ("model,A\nx,**9?**\ny,_4_\nz,3\n", []),
        ("model,A,B,C\nx,9?,**7**,**7**\ny,4,_6_,_6_\nz,**3**,5,4\n",
         [("marks", "y"), ("marks", "z")]),
    ],
    ids=["ranks", "wrong ranks", "row of means", "marks", "wrong mark"],
)  # fmt: skip
def test_a_cell_that_is_not_read_makes_no_other_cell_wrong(tmp_path, text, findings):
    assert list(audited(tmp_path, text)) == findings


def _written(tmp_path, text):
    path = tmp_path / "board.csv"
    path.write_text(text, "utf-8")
    return path
