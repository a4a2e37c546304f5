"""One command from scans to a report: what it prints, that it resumes, what it refuses."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from keju.files import sha256_file
from keju.runs import RunFolder
from tests.support import commanding
from tests.support.making import picture

TEXTS = [
    "天地玄黃宇宙洪荒日月盈昃辰宿列張",
    "寒來暑往秋收冬藏閏餘成歲律呂調陽",
    "雲騰致雨露結為霜金生麗水玉出崑岡",
    "劍號巨闕珠稱夜光果珍李柰菜重芥薑",
    "海鹹河淡鱗潛羽翔龍師火帝鳥官人皇",
    "始制文字乃服衣裳推位讓國有虞陶唐",
    "弔民伐罪周發殷湯坐朝問道垂拱平章",
]


def keju(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return commanding.keju(*args, cwd=cwd, env={**os.environ, "COLUMNS": "200"})


def make_scans(path: Path, books: int) -> Path:
    for number in range(books):
        book = path / f"book {number}"
        book.mkdir(parents=True)
        (book / "p1.png").write_bytes(picture(number))
        (book / "p1.txt").write_text(TEXTS[number] + "\n", "utf-8")
    return path


def replayed(path: Path, books: int, said) -> str:
    rows = [{"item": f"book {n}/p1", "text": said(TEXTS[n])} for n in range(books)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return f"replay:{path.name}"


def two_engines(folder: Path, books: int) -> list[str]:
    exact = replayed(folder / "exact.jsonl", books, lambda text: text)
    # The second half of the columns first: recognition is right, layout is not.
    turned = replayed(folder / "turned.jsonl", books, lambda text: text[8:] + text[:8])
    return ["--model", exact, "--model", turned]


def test_scans_become_a_report_with_conclusions(tmp_path):
    make_scans(tmp_path / "my scans", 7)
    engines = two_engines(tmp_path, 7)
    done = keju("ocr-report", "my scans", "-o", "out.html", *engines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Work folder: out-work" in done.stderr
    exact, turned, reliable, paths = done.stdout.splitlines()[-4:]
    assert exact.startswith("replay:exact.jsonl: 0.0 % of the characters wrong (recognition 0.0,")
    assert "(recognition 0.0, layout" in turned
    assert "layout 0.0" not in turned
    assert "most characters are right, their order is wrong" in turned
    assert "order is wrong" not in exact
    assert "7 pages" in turned
    assert reliable.startswith("Reliable (p ≤ .05 over 7 books): replay:exact.jsonl better than")
    assert "points of the strict score" in reliable
    assert "out.html" in paths
    assert "out-work" in paths
    assert (tmp_path / "out.html").read_text("utf-8").lstrip().startswith("<!doctype html>")


def test_invented_text_on_a_blank_page_is_printed(tmp_path):
    scans = make_scans(tmp_path / "scans", 2)
    (scans / "book 1/p1.txt").write_text("[blank]", "utf-8")
    engines = two_engines(tmp_path, 2)
    done = keju("ocr-report", "scans", "-o", "r.html", *engines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "imported as blank: 1 page: book 1/p1" in done.stderr
    assert done.stdout.count("invented text on 1 of 1 blank page, ") == 2
    # The blank page has no character that could be wrong.
    assert done.stdout.count(", 1 page with a reference text") == 2
    assert "the pages are from 1 book (folder), and at least 6" in done.stdout


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_the_readmes_command_for_several_engines_works_as_it_says(readme, tmp_path):
    text = (Path(__file__).parents[2] / readme).read_text("utf-8")
    (line,) = [each for each in text.splitlines() if "--model replay:Vendor=" in each]
    # The engines of the command are left out: their models are not part of this test.
    command = line.replace("--model ppocr --model tesseract ", "")
    assert command != line
    for place, said in (("lunyu/vol1", "天地(玄黃)\n宇宙"), ("lunyu/vol2", "[blank]")):
        folders = [tmp_path / "my-scans" / place, tmp_path / "vendor-results" / place]
        for folder in folders:
            folder.mkdir(parents=True)
        (folders[0] / "p1.png").write_bytes(picture(len(said)))
        (folders[0] / "p1.txt").write_text(said, "utf-8")
        (folders[1] / "p1.txt").write_text("天地玄黃宇宙", "utf-8")
    done = keju(*shlex.split(command)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Brackets and line breaks do not count, a blank page is one, and each folder is a book.
    assert "Vendor: 0.0 % of the characters wrong" in done.stdout
    assert "invented text on 1 of 1 blank page" in done.stdout
    run = tmp_path / "report-work" / "run"
    assert {item.group for item in RunFolder(run).items()} == {"lunyu/vol1", "lunyu/vol2"}
    empty = tmp_path / "my-scans/lunyu/vol2/p1.txt"
    empty.write_text("", "utf-8")
    refused = keju(*shlex.split(command)[1:], cwd=tmp_path)
    assert refused.returncode != 0
    taken = keju(*shlex.split(command)[1:], "--option", "blank-pages=yes", cwd=tmp_path)
    assert "invented text on 1 of 1 blank page" in taken.stdout


def test_more_text_than_the_pages_have_is_not_a_share_of_their_characters(tmp_path):
    make_scans(tmp_path / "scans", 2)
    long = replayed(tmp_path / "long.jsonl", 2, lambda text: text * 20)
    same = replayed(tmp_path / "same.jsonl", 2, lambda text: text * 20)
    engines = ("--model", long, "--model", same)
    done = keju("ocr-report", "scans", "-o", "r.html", *engines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of the characters wrong" not in done.stdout
    assert done.stdout.count("CER 1900.0 %, above 100") == 2
    assert "No two engines differ" in done.stdout


def vendor_files(folder: Path, *numbers: int) -> None:
    for number in numbers:
        place = folder / "theirs" / f"book {number}" / "p1.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(TEXTS[number], "utf-8")


def stored(folder: Path, model: str) -> dict[str, dict[str, object]]:
    """The lines of a model's responses in the run of the work folder, by item."""
    files = RunFolder(folder / "r-work" / "run").response_files(model)
    lines = [json.loads(line) for path in files for line in path.read_bytes().splitlines()]
    return {line["item"]: line for line in lines}


def test_result_files_that_are_added_or_corrected_are_read_by_the_same_command(tmp_path):
    make_scans(tmp_path / "scans", 4)
    vendor_files(tmp_path, 0, 1)
    args = ("ocr-report", "scans", "-o", "r.html", "--model", "replay:X=theirs")
    first = keju(*args, cwd=tmp_path)
    assert first.returncode == 1
    assert "pages without a result file (2): book 2/p1, book 3/p1" in first.stderr
    assert "X: 4/4 · 2 without a result" in first.stderr
    said = first.stdout.splitlines()
    place = said.index("X: 2 results are missing: book 2/p1, book 3/p1")
    assert said[place + 1].startswith("  Hint: Add the missing files to the folder. Then run the")
    assert "--retry-failed" not in first.stdout
    before = stored(tmp_path, "X")
    vendor_files(tmp_path, 2, 3)
    corrected = tmp_path / "theirs" / "book 0" / "p1.txt"
    corrected.write_text(TEXTS[0][:8], "utf-8")
    done = keju(*args, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "X: outdated responses that are replaced: 1" in done.stderr
    assert "X: results for 4 of 4 pages" in done.stderr
    after = stored(tmp_path, "X")
    assert after["book 1/p1"] == before["book 1/p1"]
    assert after["book 0/p1"]["text"] == TEXTS[0][:8]
    assert after["book 0/p1"]["source_sha256"] == sha256_file(corrected)
    assert {line["status"] for line in after.values()} == {"answered"}
    (line,) = (each for each in done.stdout.splitlines() if "of the characters wrong" in each)
    # 8 of the 64 characters are missing.
    assert line.startswith("X: 12.5 % of the characters wrong")
    again = keju(*args, cwd=tmp_path)
    assert "since the last call" not in again.stderr


def test_a_result_file_that_is_gone_is_not_scored_any_longer(tmp_path):
    make_scans(tmp_path / "scans", 2)
    vendor_files(tmp_path, 0, 1)
    args = ("ocr-report", "scans", "-o", "r.html", "--model", "replay:X=theirs")
    assert keju(*args, cwd=tmp_path).returncode == 0
    (tmp_path / "theirs" / "book 0" / "p1.txt").unlink()
    done = keju(*args, cwd=tmp_path)
    assert done.returncode == 1
    assert "X: outdated responses that are replaced: 1" in done.stderr
    assert "Add the missing files to the folder" in done.stdout
    assert "would fail again" not in done.stdout
    assert stored(tmp_path, "X")["book 0/p1"]["error"]["kind"] == "missing-answer"


def test_the_same_command_resumes_and_changed_scans_are_noticed(tmp_path):
    scans = make_scans(tmp_path / "scans", 2)
    engines = two_engines(tmp_path, 2)
    first = keju("ocr-report", "scans", "-o", "r.html", *engines, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "No difference between engines is reliable yet" in first.stdout
    assert "at least 6 are needed, 4 more" in first.stdout
    run = tmp_path / "r-work" / "run"
    lines = {path: path.read_bytes() for path in RunFolder(run).response_files()}
    assert len(lines) == 2
    again = keju("ocr-report", "scans", "-o", "r.html", *engines, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert {path: path.read_bytes() for path in RunFolder(run).response_files()} == lines
    assert "changed" not in again.stderr
    (scans / "book 0" / "p1.txt").write_text(TEXTS[0][:8], "utf-8")
    changed = keju("ocr-report", "scans", "-o", "r.html", *engines, cwd=tmp_path)
    assert changed.returncode == 0, changed.stderr
    assert "The dataset has changed since the last session. Responses to the same" in changed.stderr
    # The responses are the same to the byte, and the scores are those of the corrected text.
    assert {path: path.read_bytes() for path in RunFolder(run).response_files()} == lines
    assert "replay:exact.jsonl: 0.0 %" in again.stdout
    assert "replay:exact.jsonl: 33.3 %" in changed.stdout


def test_only_new_and_replaced_pages_are_read(tmp_path):
    scans = make_scans(tmp_path / "scans", 4)
    last = scans / "book 3"
    last.rename(tmp_path / "later")
    vendor_files(tmp_path, 0, 1, 2, 3)
    args = ("ocr-report", "scans", "-o", "r.html", "--model", "replay:X=theirs")
    assert keju(*args, cwd=tmp_path).returncode == 0
    before = stored(tmp_path, "X")
    (tmp_path / "later").rename(last)
    (scans / "book 0" / "p1.png").write_bytes(picture(9))
    for file in (scans / "book 2").iterdir():
        file.unlink()
    done = keju(*args, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "X: outdated responses that are replaced: 2" in done.stderr
    after = stored(tmp_path, "X")
    assert sorted(after) == ["book 0/p1", "book 1/p1", "book 3/p1"]
    assert after["book 1/p1"] == before["book 1/p1"]
    assert after["book 0/p1"]["key"] != before["book 0/p1"]["key"]


def test_scans_without_texts_are_read_and_have_no_error(tmp_path):
    scans = make_scans(tmp_path / "scans", 2)
    for text in scans.rglob("*.txt"):
        text.unlink()
    engines = two_engines(tmp_path, 2)
    args = ("-o", "r.html", *engines, "--option", "texts=no")
    done = keju("ocr-report", "scans", *args, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no error is known" in done.stdout


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["-o", "out.pdf"], "out.html"),
        (["-o", "scans/r.html"], "inside the scans"),
        (["-o", "scans"], "not part of a report"),
        (["-o", "."], "not part of a report"),
        (["-o", ".."], "not part of a report"),
        (["-o", "/"], "not part of a report"),
        (["--machine-price", "1/h"], "--pages"),
        (["--model", "nothing"], "nothing"),
        (["--model", "replay:X=theirs"], "replay:X=theirs: theirs is not a folder"),
        (["--model", "replay:theirs.jsonl"], "replay:theirs.jsonl: no such file"),
        (["--model", "replay:X=scans", "--model", "replay:X=scans"], "given twice"),
        (["--option", "texts"], "texts=VALUE"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(args, named, tmp_path):
    make_scans(tmp_path / "scans", 1)
    done = keju("ocr-report", "scans", *args, cwd=tmp_path)
    assert done.returncode == 2
    assert named in done.stderr.splitlines()[-1]
    # Nothing is imported before the mistake is found.
    assert not list(tmp_path.glob("*-work"))


@pytest.mark.parametrize("texts", [True, False])
def test_running_on_scans_prints_the_command_that_takes_them(texts, tmp_path):
    name = "my 'scans' (掃描)"
    scans = make_scans(tmp_path / name, 1)
    if not texts:
        (scans / "book 0" / "p1.txt").unlink()
    done = keju("run", name, "--model", "ppocr", "--out", "run", cwd=tmp_path)
    assert done.returncode == 2
    command = shlex.split(done.stderr.splitlines()[-1])
    assert command == ["keju", "ocr-report", name, "-o", "report.html", "--model", "ppocr"]
    assert not (tmp_path / "run").exists()
