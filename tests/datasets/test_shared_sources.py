"""Real sources of the shared material import through `auto`, by detection or by a mapping."""

from __future__ import annotations

from keju.datasets.readers import import_dataset
from keju.datasets.readers.draft import draft, mapping_text
from keju.datasets.store import Dataset
from tests.support.released import put

TASK = "TODO: an id of keju tasks"
ABOUT = {"name": "n", "version": "1", "licence": "see SOURCE.txt", "source": "see SOURCE.txt"}


def test_page_scans_without_texts_are_detected(shared, tmp_path):
    done = import_dataset("auto", shared / "data" / "open-guji", tmp_path / "out", **ABOUT)
    assert done.notes[0].startswith("read as pages --option texts=no: 6 images as large as pages")
    items = Dataset.open(tmp_path / "out").items()
    assert len(items) == 6
    assert all(item.images and not item.answer for item in items)


def mapped(shared, tmp_path, name, *edits):
    """The items of a source by its drafted mapping, after a few edits."""
    src = shared / "data" / name
    text = mapping_text(draft(src, None))
    for old, new in edits:
        assert old in text, text
        text = text.replace(old, new)
    file = put(tmp_path / "mapping.toml", text)
    import_dataset("auto", src, tmp_path / "out", **ABOUT, options={"map": str(file)})
    return {item.id: item for item in Dataset.open(tmp_path / "out").items()}


def test_page_scans_with_one_file_of_texts_import_by_a_mapping(shared, tmp_path):
    file = put(tmp_path / "mapping.toml", """
tables = [{ path = "gt.json", shape = "by-key" }]
fields = { id = "key", answer = "value", image = "**/{key}.*" }
constants.task = "page_level_ocr"
""")  # fmt: skip
    src = shared / "data/real-pages"
    import_dataset("auto", src, tmp_path / "out", **ABOUT, options={"map": str(file)})
    items = {item.id: item for item in Dataset.open(tmp_path / "out").items()}
    assert set(items) == {"r01_jianmingmulu_ms", "r03_jianming_seal"}
    first = items["r01_jianmingmulu_ms"]
    assert first.answer.startswith("稱為藏書之家即應將其姓名附載于各書提要末")
    assert (first.images[0].width, first.images[0].height) == (1116, 1500)


def test_page_scans_without_texts_import_by_a_mapping(shared, tmp_path):
    items = mapped(
        shared, tmp_path, "open-guji",
        (TASK, "page_level_ocr"),
        (
            "[constants]",
            "names = '(?:[0-9]+[.]cn_page_)?(?P<page>[0-9]+)[.]png'\n"
            "metadata.page = 'page'\n\n[constants]",
        ),
    )  # fmt: skip
    assert set(items) == {
        "1", "2", "3", "4", "06054854.cn_page_110", "06054854.cn_page_111",
    }  # fmt: skip
    assert items["06054854.cn_page_110"].metadata == {"page": "110"}
    assert all(item.images and not item.answer for item in items.values())
