"""What every import has in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.base import Reader, image_files, inside, join_names
from keju.datasets.readers.pages.folder import PagesSettings
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, ProblemsError, UsageError
from keju.settings import Settings

ABOUT = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}


def test_every_format_says_its_layout_and_its_options() -> None:
    assert set(FORMATS) >= {
        "obi-recognition", "obi-rejoining", "obi-classification", "obi-retrieval",
        "obi-deciphering", "vlmevalkit-tsv",
        "pages", "page-xml", "alto", "hocr", "mcs-bench", "ancientdoc",
        "ancientdoc-lines", "ancientdoc-images", "hisdoc", "parquet", "mapped",
    }  # fmt: skip
    for name, reader in FORMATS.items():
        assert reader.name == name
        assert len(reader.layout) > 80
        assert all(reader.every_option.values())


def test_an_unknown_format_option_or_source_is_wrong_use(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError, match=r"no format 'pdf'\. Choose from: pages"):
        import_dataset("pdf", tmp_path, out, **ABOUT)
    for wrong, near in (("page", "pages"), ("MCSBench", "mcs-bench"), ("obi-deciph", "obi-dec")):
        with pytest.raises(UsageError, match=f"'{wrong}'. Did you mean '{near}.* Choose from: p"):
            import_dataset(wrong, tmp_path, out, **ABOUT)
    with pytest.raises(UsageError, match=r"pages: no key 'colour'\. Choose from: "):
        import_dataset("pages", tmp_path, out, **ABOUT, options={"colour": "red"})
    with pytest.raises(UsageError, match=r"no key 'field\.id'"):
        import_dataset("pages", tmp_path, out, **ABOUT, options={"field.id": "x"})
    with pytest.raises(UsageError, match="no such file or folder"):
        import_dataset("pages", tmp_path / "nowhere", out, **ABOUT)
    assert not out.exists()


def test_a_failed_import_can_be_repeated(tmp_path: Path, picture: Callable[..., bytes]) -> None:
    src, out = tmp_path / "src", tmp_path / "out"
    src.mkdir()
    for name in ("a", "b"):
        (src / f"{name}.png").write_bytes(picture(ord(name)))
        (src / f"{name}.txt").write_text("" if name == "b" else "天")
    with pytest.raises(DataError, match="the text is empty"):
        import_dataset("pages", src, out, **ABOUT)
    assert not (out / "dataset.json").exists()
    (src / "b.txt").write_text("地")
    assert import_dataset("pages", src, out, **ABOUT).manifest.items == 2


def test_the_same_source_gives_the_same_dataset(
    tmp_path: Path, picture: Callable[..., bytes]
) -> None:
    src = tmp_path / "src"
    src.mkdir()
    for name in "cab":
        (src / f"{name}.png").write_bytes(picture(ord(name)))
        (src / f"{name}.txt").write_text(name)
    hashes = {
        import_dataset("pages", src, tmp_path / out, **ABOUT).manifest.hash for out in ("x", "y")
    }
    assert len(hashes) == 1


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/etc/passwd", "a/../../x", "..\\x", "C:/x", "\0", "link/x", "out.png"]
)
def test_a_name_in_the_data_never_leads_out_of_its_folder(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    (root / "out.png").symlink_to(tmp_path / "out.png")
    with pytest.raises(DataError, match="must be inside"):
        inside(root, name, file=root / "data.json", item="1")


def test_a_name_below_its_folder_is_found_whichever_way_its_slashes_lean(tmp_path: Path) -> None:
    for name in ("a/b.png", "a\\b.png", "./a/b.png"):
        found = inside(tmp_path, name, file=tmp_path, item="1")
        assert found == tmp_path / "a" / "b.png"


def test_image_files_are_found_in_order_and_links_to_folders_are_not_followed(
    tmp_path: Path,
) -> None:
    for name in ("b/2.jpg", "b/1.TIF", "a.png", "b/notes.txt", "b/.hidden.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = [path.relative_to(tmp_path).as_posix() for path in image_files(tmp_path)]
    assert found == ["a.png", "b/1.TIF", "b/2.jpg"]


def test_the_texts_of_options_become_settings() -> None:
    reader = FORMATS["pages"]
    assert reader.parse({}) == PagesSettings()
    assert reader.parse({"dpi": ""}) == PagesSettings()
    assert reader.parse({"skip_missing": "yes"}) == PagesSettings(skip_missing=True)
    given = {"skip-missing": "Yes", "texts": "0", "blank-pages": "TRUE", "dpi": "300"}
    found = reader.parse(given | {"task": "T1", "encoding": "Big5"})
    assert found == PagesSettings(
        skip_missing=True, texts=False, blank_pages=True, dpi=300, task="T1"
    )


@pytest.mark.parametrize(
    ("name", "option", "text", "allowed"),
    [
        ("pages", "skip-missing", "maybe", "true or false, got 'maybe'"),
        ("pages", "skip-missing", "", "true or false, got ''"),
        ("pages", "dpi", "0", "a whole number >= 1, got '0'"),
        ("pages", "dpi", "-3", "a whole number >= 1, got '-3'"),
        ("pages", "dpi", "1.5", "a whole number, got '1.5'"),
        ("pages", "dpi", "1_0", "a whole number, got '1_0'"),
        ("pages", "dpi", "٣", "a whole number, got '٣'"),
        ("alto", "dpi", "nan", "a number >= 1.0, got 'nan'"),
        ("alto", "dpi", "many", "a number, got 'many'"),
        (
            "alto",
            "order",
            "geometri",
            "Did you mean 'geometry'? Choose from: auto, document, geometry",
        ),
    ],
)
def test_a_wrong_value_is_one_line_with_option_value_and_what_is_allowed(
    name: str, option: str, text: str, allowed: str
) -> None:
    with pytest.raises(UsageError) as error:
        FORMATS[name].parse({option: text})
    assert str(error.value).startswith(f"format {name}: {option}: ")
    assert allowed in str(error.value)


def test_all_wrong_options_are_reported_before_anything_is_read(tmp_path: Path) -> None:
    wrong = {"skip-mising": "yes", "texts": "2", "dpi": "x", "task": "page_ocr"}
    with pytest.raises(ProblemsError) as error:
        import_dataset("pages", tmp_path / "missing", tmp_path / "out", **ABOUT, options=wrong)
    unknown, texts, dpi = error.value.lines
    assert "Did you mean 'skip-missing'?" in unknown
    assert "texts: expected true or false" in texts
    assert "dpi: expected a whole number" in dpi
    assert not (tmp_path / "out").exists()


class EverySettings(Settings, frozen=True, kw_only=True):
    table: Annotated[Path, Meta(description="a table")]
    field: Annotated[dict[str, str], Meta(description="columns")] = msgspec.field(
        default_factory=dict
    )
    share: Annotated[float | None, Meta(ge=0, le=1)] = None
    sides: tuple[int, ...] = ()


def test_families_paths_and_other_types_are_settings_too() -> None:
    seen: list[EverySettings] = []

    def read(src: Path, writer: DatasetWriter, settings: EverySettings) -> list[str]:
        seen.append(settings)
        return []

    reader = Reader("every", "", "", read, EverySettings, texts=False)
    assert reader.every_option == {
        "table": "a table", "field.NAME": "columns", "share": "", "sides": "",
    }  # fmt: skip
    found = reader.parse({"table": "a.csv", "field.id": "编号", "field.a.b": "c", "share": "0.5"})
    columns = {"id": "编号", "a.b": "c"}
    assert found == EverySettings(table=Path("a.csv"), field=columns, share=0.5)
    wrong = {
        "it needs table = …": {},
        "keju reads and writes local files": {"table": "s3://bucket/a"},
        "field: expected a table": {"table": "t", "field": "x"},
        "sides: expected a list": {"table": "t", "sides": "1"},
        "share: expected a number <= 1": {"table": "t", "share": "2"},
        "no key 'encoding'": {"table": "t", "encoding": "Big5"},
    }
    for problem, options in wrong.items():
        with pytest.raises(UsageError, match=re.escape(problem)):
            reader.parse(options)


def test_a_long_list_of_names_is_cut() -> None:
    assert join_names("abc") == "a, b, c"
    assert join_names("abcdefgh") == "a, b, c, d, e and 3 more"
