"""What an import prints about a source is Chinese as a whole, with no English half."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keju.cli.app import note, say
from keju.datasets.readers.base import check_name
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import rows
from keju.errors import DataError
from keju.texts import _, in_terminal, recognised, using

ENGLISH = re.compile(r"\b(the|is|are|of|not|no|with|for|and|or|since|more|which|it|them|here)\b")


def lines(tmp_path: Path) -> list[str]:
    found: list[str] = []
    (tmp_path / "e.zip").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "x.rar").touch()
    for name in ("e.zip", "empty", "archives"):
        obstacle = Listing(tmp_path / name).obstacle()
        assert obstacle is not None, name
        found += [obstacle.problem, obstacle.hint]
    with pytest.raises(DataError) as caught:
        check_name("\udcff", tmp_path)
    return [*found, caught.value.hint]


def test_notes_and_hints_of_an_import_have_no_english_half(tmp_path):
    with using("zh"):
        found = [in_terminal(line) for line in lines(tmp_path)]
    # An obstacle is a problem and a hint.
    assert len(found) == 3 * 2 + 1
    quoted = re.compile(r"'[^']*'|[\w./-]*[./][\w./-]*|unrar x|keju data detect")
    english = [line for line in found if ENGLISH.search(quoted.sub(" ", line))]
    assert english == []


@pytest.mark.parametrize(("write", "stream"), [(say, "out"), (note, "err")])
def test_a_stored_reason_inside_a_message_is_translated_too(write, stream, monkeypatch):
    printed: list[str] = []
    monkeypatch.setattr(write.__globals__[stream], "print", lambda text, **_: printed.append(text))
    with using("zh"):
        reason = recognised("an OCR engine takes no prompt: add --wording released to ask it too")
        write(_("Its time is not known: {}", reason))
    assert printed == ["用时未知：OCR 引擎不接受提示词：要同时提问它，请加 --wording released"]


def test_the_place_of_a_record_is_chinese(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,question\n1,a\n2,b,c\n", "utf-8")
    with pytest.raises(DataError) as caught:
        list(rows(table))
    assert caught.value.item == "line 3"
    assert "t.csv: 第 3 行: " in caught.value.render("zh")
    assert Place(table, "sheet S1, line 2").error("x").render("zh").endswith("sheet S1，第 2 行: x")
