"""docs/formats.md and its Chinese version say what the readers do."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.mapping import ROLES, Lookup, Mapping, Part, Table, mapping_from
from keju.datasets.store import Dataset
from keju.datasets.writers import FORMATS as WRITTEN
from keju.definitions import has_task
from tests.support.released import picture, put, table

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text("utf-8") for name in ("formats.md", "formats.zh.md")}
MOST_WORDS = 3500
EDITS = re.findall(
    r"^\| [^`|]*(?:`[0-9_]+\.png`)? \| `([a-z_.]+ = .*)` \|$", PAGES["formats.md"], re.MULTILINE
)


def test_the_page_is_short():
    assert len(PAGES["formats.md"].split()) <= MOST_WORDS


@pytest.mark.parametrize("name", PAGES)
def test_the_page_has_every_format_role_and_key(name):
    page = PAGES[name]
    rows = set(re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE))
    formats = {each for row in rows for each in re.findall(r"`([a-z0-9-]+)`", row)}
    assert formats >= {*FORMATS, *WRITTEN}
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    structs = (Mapping, Table, Part, Lookup)
    keys = {key for struct in structs for key in struct.__struct_fields__} - {"key_of"}
    example = set(re.findall(r"^\[?([a-z_]+)", page, re.MULTILINE))
    assert {*ROLES, *keys} <= named | example


def test_both_languages_have_the_same_commands_and_layouts():
    commands, sources = (
        [re.findall(pattern, page, re.MULTILINE) for page in PAGES.values()]
        for pattern in ("^keju data .*", r"^\| `([a-z-]+)`[,、 |]")
    )
    assert commands[0] == commands[1]
    assert sources[0] == sources[1]


@pytest.mark.parametrize(
    "command",
    sorted(set(re.findall(r"^keju data import .*", PAGES["formats.md"], re.MULTILINE))),
)
def test_the_commands_of_the_page_name_formats_and_options_that_exist(command):
    words = shlex.split(command.partition("  [")[0])
    name, options = words[3], dict(
        words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--option"
    )  # fmt: skip
    assert "--out" in words
    if name not in {"FORMAT", "auto"}:
        FORMATS[name].parse(options)


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_of_the_page_is_a_valid_mapping(edit):
    mapping = mapping_from(tomllib.loads(edit), Path("mapping.toml"))
    ids = [part.task for part in mapping.items] + [each.task for each in mapping.tables]
    assert all(map(has_task, filter(None, [*ids, *mapping.values.get("task", {}).values()])))


def test_the_page_has_an_edit_for_each_layout_of_its_table():
    assert len(EDITS) >= 15
    assert (
        re.findall(
            r"^\| [^`|]*(?:`[0-9_]+\.png`)? \| `([a-z_.]+ = .*)` \|$",
            PAGES["formats.zh.md"],
            re.MULTILINE,
        )
        == EDITS
    )


@pytest.mark.parametrize("name", PAGES)
def test_the_example_of_a_mapping_file_imports_what_the_page_says(tmp_path, name):
    (example,) = re.findall(r"^```toml\n(.*?)^```", PAGES[name], re.MULTILINE | re.DOTALL)
    src = tmp_path / "src"
    heads = ("编号", "题型", "题干", "A", "B", "C", "D", "答案", "朝代", "模型回答")
    table(src / "exam.csv", heads,
          ("1", "单选", "何书？", "說苑", "論語", "孟子", "莊子", "論語", "漢", "A"),
          ("2", "识文", "读出文字。", "", "", "", "", "天地", "宋", ""))  # fmt: skip
    for number in (1, 2):
        put(src / f"scans/book{number}/page_{number}.jpg", picture(number, form="JPEG"))
    options = {"map": str(put(tmp_path / "mapping.toml", example))}
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
    import_dataset("mapped", src, tmp_path / "out", **about, options=options)
    first, second = Dataset.open(tmp_path / "out").items()
    assert (first.id, first.task, first.answer, first.group) == ("T7-1", "T7", "B", "book1")
    assert first.options == ("說苑", "論語", "孟子", "莊子")
    assert first.metadata == {"dynasty": "漢", "exam": "2026"}
    assert (second.task, second.answer, second.group) == ("T1", "天地", "book2")
