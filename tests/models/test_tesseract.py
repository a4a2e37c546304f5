"""Tesseract as an engine, where it is installed; what is read of its output, everywhere."""

from __future__ import annotations

import asyncio
import shutil
import stat
from pathlib import Path

import pytest

from keju.errors import DataError, PrerequisiteError, UsageError
from keju.models import ModelOptions, check_models, open_model, open_models, role_of
from keju.models.base import Answer, AskError
from keju.models.tesseract import Tesseract
from tests.models.conftest import page_request, white_png

HEAD = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
)
TABLE = "\n".join(
    (
        HEAD,
        "1\t1\t0\t0\t0\t0\t0\t0\t400\t300\t-1\t",
        "4\t1\t1\t1\t1\t0\t300\t10\t40\t250\t-1\t",
        "5\t1\t1\t1\t1\t1\t300\t10\t40\t120\t90.0\t天地",
        "5\t1\t1\t1\t1\t2\t300\t130\t40\t120\t80.0\t玄黃",
        "4\t1\t1\t1\t2\t0\t250\t10\t40\t250\t-1\t",
        "5\t1\t1\t1\t2\t1\t250\t10\t40\t250\t70.0\t ",
        "4\t1\t1\t1\t3\t0\t200\t10\t40\t250\t-1\t",
        '5\t1\t1\t1\t3\t1\t200\t10\t40\t250\t60.0\t"宙',
    )
)


def ask(model: Tesseract, *images: bytes) -> Answer:
    return asyncio.run(model.answer(page_request(images=len(images)), images))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the program, first on the path; its ``does`` file is what it does."""
    data = tmp_path / "tessdata"
    data.mkdir()
    for language in ("chi_tra_vert", "chi_tra"):
        (data / f"{language}.traineddata").write_bytes(b"model")
    (tmp_path / "table.tsv").write_text(TABLE, "utf-8")
    (tmp_path / "does").write_text('cat >/dev/null; cat "$(dirname "$0")/table.tsv"\n')
    script = tmp_path / "tesseract"
    script.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        "--version) echo tesseract 9.9; exit;;\n"
        f"--list-langs) printf 'List in \"{data}/\" (2):\\nchi_tra\\nchi_tra_vert\\n'; exit;;\n"
        "esac\n"
        f'echo "$@" > "{tmp_path}/arguments"\n'
        f'. "{tmp_path}/does"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def test_lines_come_in_the_program_s_order_with_boxes_and_confidence(program: Path):
    answer = ask(Tesseract("", ModelOptions()), white_png())
    assert answer.text == '天地玄黃\n"宙'
    assert [line.confidence for line in answer.lines] == [pytest.approx(0.85), 0.6]
    assert answer.lines[0].polygon == ((300, 10), (340, 10), (340, 260), (300, 260))
    arguments = (program / "arguments").read_text().split()
    assert arguments == ["stdin", "stdout", "-l", "chi_tra_vert", "--psm", "3", "tsv"]


def test_several_images_are_read_one_after_the_other(program: Path):
    answer = ask(Tesseract("", ModelOptions()), white_png(), white_png())
    assert answer.text == '天地玄黃\n"宙\n天地玄黃\n"宙'
    assert len({line.id for line in answer.lines}) == 4


def test_an_image_without_writing_gives_an_empty_answer(program: Path):
    (program / "table.tsv").write_text(HEAD + "\n")
    answer = ask(Tesseract("", ModelOptions()), white_png())
    assert (answer.text, answer.status) == ("", "empty")


def test_a_failing_program_is_an_answerless_request(program: Path):
    (program / "does").write_text("cat >/dev/null; echo out of ink >&2; exit 3\n")
    with pytest.raises(AskError, match="3: out of ink") as caught:
        ask(Tesseract("", ModelOptions()), white_png())
    assert caught.value.kind == "engine"


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("exec kill -9 $$", "tesseract ended with -9: SIGKILL"),
        ("cat >/dev/null; exit 3", "tesseract ended with 3: no reason given"),
    ],
)
def test_a_program_that_ends_without_words_has_a_reason(program: Path, does: str, words: str):
    (program / "does").write_text(f"{does}\n")
    with pytest.raises(AskError) as caught:
        ask(Tesseract("", ModelOptions()), white_png())
    assert str(caught.value) == words


def test_a_program_that_takes_too_long_is_ended(program: Path):
    (program / "does").write_text("exec sleep 60\n")
    with pytest.raises(AskError, match=r"more than 0\.5 s") as caught:
        ask(Tesseract("", ModelOptions(timeout=0.5)), white_png())
    assert caught.value.kind == "timeout"


def test_an_image_that_cannot_be_read_is_an_answerless_request(program: Path):
    with pytest.raises(DataError, match="page-1, image 1: "):
        ask(Tesseract("", ModelOptions()), b"GIF89a?")


def test_it_answers_transcriptions_of_images_only(program: Path):
    model = Tesseract("", ModelOptions())
    assert model.unsupported_reason(page_request()) == ""
    assert "only transcribes" in model.unsupported_reason(page_request("boxes"))
    assert "no image" in model.unsupported_reason(page_request(images=0))


@pytest.mark.parametrize(
    ("spec", "name", "language", "segmentation"),
    [
        ("tesseract", "tesseract", "chi_tra_vert", "3"),
        ("tesseract:psm=5", "tesseract:psm=5", "chi_tra_vert", "5"),
        ("tesseract:psm=3", "tesseract", "chi_tra_vert", "3"),
        ("tesseract:psm=6,lang=chi_tra", "tesseract:lang=chi_tra,psm=6", "chi_tra", "6"),
        ("tesseract:lang=chi_tra", "tesseract:lang=chi_tra", "chi_tra", "3"),
    ],
)
def test_language_and_page_segmentation_are_options_and_part_of_the_identity(
    program: Path, spec, name, language, segmentation
):
    model = open_model(spec, ModelOptions())
    assert model.name == name
    assert (model.identity["language"], model.identity["page_segmentation"]) == (
        language,
        segmentation,
    )
    assert (role_of(spec), model.local) == ("engine", True)
    asyncio.run(model.answer(page_request(), [white_png()]))
    arguments = (program / "arguments").read_text().split()
    assert arguments == ["stdin", "stdout", "-l", language, "--psm", segmentation, "tsv"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tesseract:psm=2", "psm=2"),
        ("tesseract:psm=99", "psm=99"),
        ("tesseract:psm=", "psm="),
        ("tesseract:oem=1", "oem=1"),
        ("tesseract:chi_tra", "chi_tra"),
        ("tesseract:psm=3,psm=5", "psm=5"),
        ("tesseract:lang=../x", "lang=../x"),
        ("tesseract:lang=chi_tra+chi_sim", "chi_tra+chi_sim"),
    ],
)
def test_options_that_tesseract_does_not_have_are_refused_before_any_page(
    program: Path, spec, words
):
    for refuse in (lambda: check_models([spec]), lambda: open_model(spec, ModelOptions())):
        with pytest.raises(UsageError) as caught:
            refuse()
        assert words in str(caught.value)


def test_the_same_engine_under_two_spellings_is_one(program: Path):
    with pytest.raises(UsageError) as caught:
        open_models(["tesseract", "tesseract:psm=3"], ModelOptions())
    assert (
        caught.value.template
        == "{} is the name of two models, or is given twice. Choose different names"
    )


def test_version_and_language_data_are_its_identity(program: Path):
    identity = Tesseract("", ModelOptions()).identity
    assert identity["tesseract"] == "tesseract 9.9"
    (program / "tessdata" / "chi_tra_vert.traineddata").write_bytes(b"another model")
    other = Tesseract("", ModelOptions()).identity
    assert {key for key in other if other[key] != identity[key]} == {"language_data"}


def test_a_missing_language_says_how_to_install_it(program: Path):
    (program / "tessdata" / "chi_tra_vert.traineddata").unlink()
    with pytest.raises(PrerequisiteError, match=r"chi_tra_vert.*tesseract-ocr-chi-tra-vert"):
        Tesseract("", ModelOptions())


def test_a_missing_program_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PrerequisiteError, match="apt-get install tesseract-ocr"):
        Tesseract("", ModelOptions())


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_the_real_program_reads_a_real_scan(shared: Path):
    try:
        model = open_model("tesseract", ModelOptions())
    except PrerequisiteError as missing:
        pytest.skip(str(missing))
    scan = shared / "data" / "real-pages" / "r01_jianmingmulu_ms.jpg"
    answer = asyncio.run(model.answer(page_request(), [scan.read_bytes()]))
    assert len(answer.lines) > 5
    assert answer.lines[0].polygon[0][0] > answer.lines[-1].polygon[0][0]
    assert answer.text == "\n".join(line.text for line in answer.lines)
