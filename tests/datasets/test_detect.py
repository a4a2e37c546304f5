"""`keju data detect`: what a source is, how it is imported, and its first items."""

from __future__ import annotations

import json
import os
import re
import shlex

import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.cli.output.detected_formats import as_data, describe_findings
from keju.datasets.examine import examine, preview
from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.base import Detection, Reader
from keju.datasets.readers.listing import Listing, find_best
from keju.datasets.readers.words import import_command, shell_word
from keju.errors import DataError, UsageError
from keju.items import Item
from keju.settings import Settings
from keju.texts import using
from tests.support.damage import DAMAGES
from tests.support.hanging import ends
from tests.support.layouts import layouts
from tests.support.released import FORMS, obi_classes, picture, put, table

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
LAYOUTS = {layout.name: layout for layout in layouts()}


def detected(src):
    return "\n".join(describe_findings(examine(src)))


def test_the_command_that_is_printed_imports_the_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FORMS["pages"].build(tmp_path / "my pages; rm")
    printed = CliRunner().invoke(app, ["data", "detect", "my pages; rm"])
    assert printed.exit_code == 0
    command = next(line for line in printed.output.splitlines() if "keju data import" in line)
    words = shlex.split(command)
    assert words[:5] == ["keju", "data", "import", "pages", "my pages; rm"]
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    assert "3 items" in done.output
    assert not any("dataset" in path.name for path in (tmp_path / "my pages; rm").iterdir())


def test_the_items_shown_are_those_that_are_imported(tmp_path):
    FORMS["pages"].build(tmp_path)
    shown = as_data(examine(tmp_path))
    assert shown["candidates"][0]["format"] == "pages"
    assert shown["candidates"][0]["options"] == {}
    assert [item["id"] for item in shown["preview"]["items"]] == ["book/p0", "book/p1", "book/p2"]
    first = shown["preview"]["items"][0]
    assert first["task"] == "page_ocr"
    assert first["answer"] == "第0頁\n天地玄黃"
    assert first["images"] == [[40, 60]]
    assert first["group"] == "book"
    text = detected(tmp_path)
    assert "    images:   40x60" in text
    assert "    answer:   第0頁 天地玄黃" in text


def test_answers_of_every_form_are_shown(tmp_path):
    FORMS["obi-rejoining"].build(tmp_path / "OBI-rejoin")
    text = detected(tmp_path / "OBI-rejoin")
    assert "    answer:   relevant images: 2" in text
    FORMS["obi-recognition, boxes.csv"].build(tmp_path / "boxes")
    found = examine(tmp_path / "boxes")
    boxes = {item["query"]: item["boxes"] for item in as_data(found)["preview"]["items"]}
    assert boxes["Where"] == [[1, 1, 9, 20], [10, 1, 20, 20]]
    assert "    answer:   2 boxes" in "\n".join(describe_findings(found))


def test_untrusted_text_is_printed_without_control_characters(tmp_path):
    put(tmp_path / "b\u202eook/p.png", picture(1))
    put(tmp_path / "b\u202eook/p.txt", "天\x1b[31m地")
    printed = CliRunner().invoke(app, ["data", "detect", str(tmp_path)])
    assert printed.exit_code == 0
    assert "\x1b[31m" not in printed.output
    assert "\u202e" not in printed.output
    assert "天\\x1b[31m地" in printed.output


def test_json_output_is_data(tmp_path):
    FORMS["alto"].build(tmp_path)
    printed = CliRunner().invoke(app, ["data", "detect", str(tmp_path), "--json"])
    found = json.loads(printed.stdout)
    assert found["candidates"][0]["format"] == "alto"
    assert found["seen"]["files"] == 2
    assert len(found["preview"]["items"]) == 1


def test_a_source_that_nothing_fits_is_described(tmp_path):
    table(tmp_path / "talk.csv", ("when", "who"), ("1911", "王"))
    put(tmp_path / "notes.odt", b"x")
    found = examine(tmp_path)
    assert as_data(found)["seen"]["suffixes"] == {".csv": 1, ".odt": 1}
    assert found.preview is None
    text = "\n".join(describe_findings(found))
    assert "No format fits." in text
    assert 'path = "talk.csv"' in text
    assert "when" in text
    assert CliRunner().invoke(app, ["data", "detect", str(tmp_path)]).exit_code == 1
    with pytest.raises(DataError, match=r"not certain: .* = TODO.*--write-map mapping\.toml"):
        import_dataset("auto", tmp_path, tmp_path.with_name("out"), **ABOUT)


def quiz(tmp_path, *heads):
    """A table of two questions with images, whose columns are called as given."""
    rows = (
        ("1", "T7", "出自哪部書？", "說苑", "論語", "A", "scans/1.png"),
        ("2", "T7", "何書？", "孟子", "荀子", "B", "scans/2.png"),
    )
    table(tmp_path / "src/quiz.csv", (*heads, "图片"), *rows)
    for number in (1, 2):
        put(tmp_path / f"src/scans/{number}.png", picture(number, (8, 12)))
    return tmp_path / "src"


def detect(*words):
    """The lines of `keju data detect`, and its exit code."""
    done = CliRunner().invoke(app, ["data", "detect", *map(str, words)])
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.output.splitlines(), done.exit_code


def test_a_draft_without_todo_is_printed_with_its_items_and_imports(tmp_path):
    src = quiz(tmp_path, "编号", "任务ID", "题干", "A", "B", "答案")
    lines, code = detect(src)
    text = "\n".join(lines)
    assert code == 0
    assert '  image = "图片"' in lines
    assert '  question = "题干"' in lines
    assert "    answer:   B" in lines
    assert f"write it to a file: keju data detect {src} --write-map mapping.toml" in text
    assert "TODO" not in text
    file = tmp_path / "mapping.toml"
    lines, code = detect(src, "--write-map", file)
    assert lines[-1] == f"  keju data detect {src} --map {file}"
    auto, mapped = (
        import_dataset(*words, **ABOUT, options=options).manifest
        for words, options in (
            (("auto", src, tmp_path / "auto"), {}),
            (("mapped", src, tmp_path / "mapped"), {"map": str(file)}),
        )
    )
    assert auto.hash == mapped.hash
    assert auto.items == 2


def test_a_todo_is_printed_with_the_commands_that_lead_to_the_import(tmp_path):
    src = quiz(tmp_path, "编号", "考试", "题干", "A", "B", "答案")
    file = tmp_path / "mapping.toml"
    lines, code = detect(src)
    assert code == 1
    assert "No format fits." in lines
    place = lines.index("keju cannot decide 1 place:")
    assert lines[place + 1] == "  tables 1.task = TODO: an id of keju tasks"
    assert lines[place + 3 :] == [
        f"  keju data detect {src} --write-map mapping.toml",
        f"  keju data detect {src} --map mapping.toml",
    ]
    assert not any("data import" in line for line in lines)
    lines, _code = detect(src, "--write-map", file)
    assert "  tables 1.task = TODO: an id of keju tasks" in lines
    assert lines[-1] == f"  keju data detect {src} --map {file}"
    assert "still TODO" in detect(src, "--map", file)[0][-1]
    file.write_text(file.read_text("utf-8").replace("TODO: an id of keju tasks", "T7"), "utf-8")
    lines, code = detect(src, "--map", file)
    assert code == 0
    assert "    options:  孟子 | 荀子" in lines
    found = as_data(examine(src))
    assert found["todo"] == [["tables 1.task", "an id of keju tasks"]]
    assert 'question = "题干"' in found["mapping"]


def test_a_chinese_draft_has_no_english_sentence(tmp_path):
    src = quiz(tmp_path, "编号", "考试", "题干", "A", "B", "答案")
    file = tmp_path / "mapping.toml"
    with using("zh"):
        lines = [*detect(src)[0], *detect(src, "--write-map", file)[0]]
    assert "有 1 处 keju 无法判断：" in lines
    assert "  tables 1.task = TODO: keju tasks 中的一个编号" in lines
    shown = [line for line in lines if not line.startswith("  keju ")]
    assert not re.search(r"\b(the|is|and|an?|of|to) ", "\n".join(shown))
    assert 'task = "TODO: keju tasks 中的一个编号"' in file.read_text("utf-8")


def test_a_broken_table_is_the_reason_why_no_mapping_is_drafted(tmp_path):
    put(tmp_path / "src/data.json", '[{"ID": 1,')
    lines, code = detect(tmp_path / "src")
    assert code == 1
    assert lines[-1].startswith("No mapping can be drafted: ")
    assert "data.json: object 1: not readable as JSON" in lines[-1]


def test_a_mapping_file_that_exists_is_not_overwritten(tmp_path):
    src = quiz(tmp_path, "编号", "任务ID", "题干", "A", "B", "答案")
    file = put(tmp_path / "mapping.toml", "kept")
    done = CliRunner().invoke(app, ["data", "detect", str(src), "--write-map", str(file)])
    assert isinstance(done.exception, UsageError)
    assert file.read_text("utf-8") == "kept"


@pytest.mark.parametrize("text", ["<!--" * 50_000, "<?xml" * 50_000, "<!" * 50_000, "[" * 200_000])
@pytest.mark.parametrize("name", ["a.xml", "a.json", "a.csv"])
def test_hostile_files_are_examined_in_a_moment(tmp_path, name, text):
    put(tmp_path / name, text)
    ends(lambda: examine(tmp_path))
    assert examine(tmp_path).candidates == ()


@pytest.mark.parametrize(("side", "found"), [(800, ["pages"]), (799, [])])
def test_images_without_texts_are_pages_if_they_are_as_large(tmp_path, side, found):
    put(tmp_path / "SOURCE.txt", "somewhere")
    put(tmp_path / "a.png", picture(1, (600, side)))
    assert [each.reader.name for each in examine(tmp_path).candidates] == found
    put(tmp_path / "labels.csv", "name,label\na,1\n")
    assert not examine(tmp_path).candidates


def test_what_is_missing_is_named_with_the_nearest_reader(tmp_path):
    put(tmp_path / "a.png", picture(1))
    put(tmp_path / "b.png", picture(2))
    put(tmp_path / "b.txt", "天")
    (found,) = [each for each in examine(tmp_path).candidates if each.reader.name == "pages"]
    assert "1 of 2 images" in found.detection.missing
    with pytest.raises((DataError, UsageError)):
        import_dataset("auto", tmp_path, tmp_path.with_name("out"), **ABOUT)


def test_a_dataset_of_keju_is_recognised(tmp_path):
    FORMS["parquet"].build(tmp_path / "src")
    text = detected(tmp_path / "src")
    assert f"keju run {tmp_path}/src --model MODEL" in text
    assert "parquet (fit 1.00)" in text


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("a b.zip", "unzip {dir}/'a b.zip' -d {dir}/'a b'"),
        ("x.tar.gz", "mkdir {dir}/x && tar -xf {dir}/x.tar.gz -C {dir}/x"),
        ("x.7z", "7z x {dir}/x.7z -o{dir}/x"),
        ("x.rar", "unrar x {dir}/x.rar {dir}/x/"),
    ],
)
def test_an_archive_is_not_unpacked_but_the_command_is_printed(tmp_path, name, command):
    put(tmp_path / name, b"PK")
    for src in (tmp_path / name, tmp_path):
        found = examine(src).obstacle
        assert "does not unpack" in found.problem
        expected = shlex.split(command.format(dir=tmp_path))
        assert shlex.split(found.hint.removeprefix("Run: "))[: len(expected)] == expected
        with pytest.raises(DataError, match="does not unpack"):
            import_dataset("auto", src, tmp_path / "out", **ABOUT)


def test_git_lfs_pointers_are_recognised(tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
    put(tmp_path / "README.md", "# Data")
    put(tmp_path / "a.jpg", pointer)
    put(tmp_path / "data.parquet", pointer)
    with pytest.raises(DataError, match=r"a Git LFS pointer, not .*git lfs pull"):
        import_dataset("drafted", tmp_path, tmp_path.parent / "out", **ABOUT)
    assert "Git LFS" in str(examine(tmp_path).problem)


def cached(root, build):
    """A download as huggingface_hub caches it; returns the snapshot."""
    build(root / "plain")
    repository = root / "hub" / "datasets--owner--name"
    snapshot = repository / "snapshots" / ("ab" * 20)
    (repository / "blobs").mkdir(parents=True)
    for number, path in enumerate(sorted((root / "plain").rglob("*.*"))):
        blob = repository / "blobs" / f"{number:064x}"
        path.rename(blob)
        link = snapshot / path.relative_to(root / "plain")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return snapshot


def test_a_snapshot_of_the_hugging_face_cache_is_imported(tmp_path):
    snapshot = cached(tmp_path, FORMS["pages"].build)
    assert import_dataset("auto", snapshot, tmp_path / "out", **ABOUT).manifest.items == 3


def test_a_link_out_of_the_source_is_not_shown(tmp_path):
    put(tmp_path / "secret.csv", "password,user\nx,y\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/table.csv").symlink_to(tmp_path / "secret.csv")
    assert "password" not in detected(tmp_path / "src")


def fixed(fit, missing=""):
    return lambda listing: Detection(fit, f"fits {fit}", missing=missing)


def reader(name, detect):
    return Reader(name, name, name, lambda src, writer, options: [], Settings, detect)


def test_the_best_reader_is_chosen_only_where_it_is_alone(tmp_path):
    listing = Listing(tmp_path)
    put(tmp_path / "a.txt", "x")
    listing = Listing(tmp_path)
    high, low = reader("high", fixed(0.9)), reader("low", fixed(0.6))
    assert find_best(listing, [low, high]).reader is high
    with pytest.raises(UsageError) as equal:
        find_best(listing, [high, reader("same", fixed(0.9)), low])
    assert "keju data import high" in str(equal.value)
    assert "keju data import same" in str(equal.value)
    assert "import low" not in str(equal.value)
    assert find_best(listing, [reader("low", fixed(0.3))]) is None
    with pytest.raises(DataError, match="part fits, but it needs label"):
        find_best(listing, [reader("part", fixed(1.0, "label.csv")), low])


def test_a_preview_stops_after_three_items_and_at_its_time_limit(tmp_path):
    added = []

    def endless(src, writer, options):
        while True:
            added.append(0)
            writer.add(Item(id=str(len(added)), benchmark="b", task="t"))
            yield ""

    def slow(src, writer, options):
        while True:
            writer.add_image(picture(1), "image")
            yield ""

    first = preview(Reader("endless", "", "", endless, Settings), tmp_path, {})
    assert [item.id for item in first.items] == ["1", "2", "3"]
    assert len(added) == 3
    late = preview(Reader("slow", "", "", slow, Settings), tmp_path, {}, seconds=0.05)
    assert late.timed_out
    assert late.items == ()


def test_an_error_of_the_reader_is_part_of_the_preview(tmp_path):
    FORMS["pages"].build(tmp_path)
    put(tmp_path / "book/p1.png", b"no image")
    found = examine(tmp_path)
    assert [item.id for item in found.preview.items] == ["book/p0", "book/p2"]
    assert "p1.png" in str(found.preview.error)


@pytest.mark.parametrize("text", ["a b", "a'b", "天", "x\ny", "\x1b[0m'", "a\udcffb", "\\n\u202e"])
def test_a_word_for_the_shell_is_printable_and_is_read_back(text):
    import subprocess

    word = shell_word(text)
    assert word.isprintable()
    echoed = subprocess.run(
        ["/bin/bash", "-c", f"printf %s {word}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C"},
    )
    assert echoed.stdout == os.fsencode(text)


def test_the_folder_of_a_new_dataset_is_one_that_does_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x-dataset").mkdir()
    assert "--out x-dataset-2 " in import_command("pages", tmp_path / "x", {}) + " "
    assert "./-x" in import_command("pages", (tmp_path / "-x").relative_to(tmp_path), {})


@pytest.mark.parametrize("form", FORMS)
def test_no_damage_of_a_source_breaks_detection(tmp_path, form):
    for number, damage in enumerate(DAMAGES.values()):
        src = tmp_path / str(number) / "src"
        FORMS[form].build(src)
        damage.do(src)
        found = examine(src, seconds=5)
        assert list(describe_findings(found))
        json.dumps(as_data(found))


def test_every_form_of_an_own_reader_is_detected(tmp_path):
    for form, (name, build, _) in FORMS.items():
        if FORMATS[name].detect is not None:
            src = tmp_path / form.replace("/", "-")
            build(src)
            assert examine(src).candidates[0].reader.name == name, form


def test_a_link_that_leads_to_itself_is_refused(tmp_path):
    loop = tmp_path / "label.csv"
    loop.symlink_to("label.csv")
    with pytest.raises(UsageError, match="the link leads nowhere, or to itself"):
        examine(loop)


def test_a_snapshot_of_the_cache_is_imported_under_the_name_of_its_repository(tmp_path):
    snapshot = cached(tmp_path, FORMS["pages"].build)
    assert "--out name-dataset" in detected(snapshot)


def test_a_source_that_the_import_refuses_gets_no_further_commands(tmp_path):
    put(tmp_path / "book.pdf", b"%PDF-1.4")
    put(tmp_path / "book.png", picture(1))
    put(tmp_path / "book.txt", "天")
    text = detected(tmp_path)
    assert "The import would stop" in text
    assert "keju run" not in text


def test_the_files_of_a_pdf_and_an_image_are_counted(tmp_path):
    put(tmp_path / "a.pdf", b"%PDF-1.4")
    put(tmp_path / "b.png", picture(1))
    for name in "ab":
        put(tmp_path / f"{name}.txt", "天")
    (found,) = [each for each in examine(tmp_path).candidates if each.reader.name == "pages"]
    assert found.detection.what.startswith("2 images, PDF or TIFF files with texts (.txt)")


def test_both_scripts_of_an_answer_are_shown(tmp_path):
    LAYOUTS["mcs-bench: both scripts in one list"].write(tmp_path)
    assert "    answer:   學而時習之 不亦說乎1 (simplified: 学而时习之 不亦说乎1)" in detected(
        tmp_path
    )


def test_several_relevant_images_are_listed(tmp_path):
    obi_classes(tmp_path / "retrieval", classes=8)
    assert "relevant images: 2, 3, 4, 5" in detected(tmp_path / "retrieval")


def test_formats_are_listed_and_one_is_shown_whole():
    short = CliRunner().invoke(app, ["data", "formats"])
    assert len(short.output.splitlines()) < 40
    assert all(name in short.output for name in FORMATS)
    assert "--option" not in short.output
    for name in FORMATS:
        whole = CliRunner().invoke(app, ["data", "formats", name])
        assert whole.exit_code == 0
        assert f"import {name}" in whole.output
    wrong = CliRunner().invoke(app, ["data", "formats", "nonsense"])
    assert isinstance(wrong.exception, UsageError)
