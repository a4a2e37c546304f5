"""docs/formats.md is what the readers and writers say of themselves."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.store import Dataset
from tests.support.layouts import layouts
from tests.support.released import picture, put, table
from tools import make_formats_page

ROOT = Path(__file__).parents[2]


def test_the_page_of_formats_is_the_one_that_the_code_makes():
    made = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert made == make_formats_page.page(), "python -m tools.make_formats_page > docs/formats.md"


def page():
    return (ROOT / "docs" / "formats.md").read_text("utf-8")


def test_every_layout_is_in_the_page_with_its_outcome():
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    for layout in layouts():
        files = layout.files.replace("|", "\\|")
        found = [row for row in rows if row.startswith(f"| `{files}` | {layout.reader}")]
        assert bool(layout.missing) in {"refused: " in row for row in found}, layout.name


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"^keju data import .*", page(), re.MULTILINE)))
)
def test_the_commands_of_the_page_name_formats_and_options_that_exist(command):
    words = shlex.split(command.partition("  [")[0])
    name, options = words[3], dict(
        words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--option"
    )  # fmt: skip
    assert "--out" in words
    if name not in {"FORMAT", "auto"}:
        FORMATS[name].parse(options)


def test_the_example_of_a_mapping_file_imports_what_the_page_says(tmp_path):
    (example,) = re.findall(r"^```toml\n(.*?)^```", page(), re.MULTILINE | re.DOTALL)
    src = tmp_path / "src"
    heads = ("编号", "题型", "题干", "A", "B", "C", "D", "答案", "朝代")
    table(src / "exam.csv", heads,
          ("1", "单选", "何书？", "說苑", "論語", "孟子", "莊子", "論語", "漢"),
          ("2", "识文", "读出文字。", "", "", "", "", "天地", "宋"))  # fmt: skip
    for number in (1, 2):
        put(src / f"scans/book{number}/page_{number}.jpg", picture(number, form="JPEG"))
    options = {"map": str(put(tmp_path / "mapping.toml", example))}
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
    import_dataset("auto", src, tmp_path / "out", **about, options=options)
    first, second = Dataset.open(tmp_path / "out").items()
    assert (first.id, first.task, first.answer, first.group) == ("1", "T7", "B", "book1")
    assert first.options == ("說苑", "論語", "孟子", "莊子")
    assert first.metadata == {"朝代": "漢", "exam": "2026"}
    assert (second.task, second.answer, second.group) == ("T1", "天地", "book2")
