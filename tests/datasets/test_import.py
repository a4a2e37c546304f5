"""What every import has in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.base import image_files, inside, join_names, parse_flag
from keju.errors import DataError, UsageError

ABOUT = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}


def test_every_format_says_its_layout_and_its_options() -> None:
    assert set(FORMATS) == {
        "obi-recognition", "obi-rejoining", "obi-classification", "obi-retrieval",
        "obi-deciphering", "vlmevalkit-tsv",
        "pages", "page-xml", "alto", "hocr", "mcs-bench", "ancientdoc", "hisdoc", "idx", "parquet",
        "mapped",
    }  # fmt: skip
    for name, reader in FORMATS.items():
        assert reader.name == name
        assert len(reader.layout) > 80
        assert all(reader.options.values())


def test_an_unknown_format_option_or_source_is_wrong_use(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError, match=r"no format 'pdf'\. There are: pages"):
        import_dataset("pdf", tmp_path, out, **ABOUT)
    for wrong, near in (("page", "pages"), ("MCSBench", "mcs-bench"), ("obi-deciph", "obi-dec")):
        with pytest.raises(UsageError, match=f"'{wrong}'. Did you mean '{near}.* There are: pages"):
            import_dataset(wrong, tmp_path, out, **ABOUT)
    with pytest.raises(UsageError, match=r"pages has no option 'colour'\. Options: task, skip"):
        import_dataset("pages", tmp_path, out, **ABOUT, options={"colour": "red"})
    with pytest.raises(UsageError, match=r"no option 'field\.id'"):
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


def test_yes_and_no_are_the_values_of_a_flag() -> None:
    assert parse_flag({"skip": "Yes"}, "skip")
    assert not parse_flag({"skip": "no"}, "skip")
    assert not parse_flag({}, "skip")
    with pytest.raises(UsageError, match="skip=maybe: use yes or no"):
        parse_flag({"skip": "maybe"}, "skip")


def test_a_long_list_of_names_is_cut() -> None:
    assert join_names("abc") == "a, b, c"
    assert join_names("abcdefgh") == "a, b, c, d, e and 3 more"
