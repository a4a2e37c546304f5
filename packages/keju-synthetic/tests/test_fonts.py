"""Fonts: found by name, described, and trusted only as far as their outlines go."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import ImageFont

from keju.errors import PrerequisiteError
from keju.files import sha256_file
from keju_synthetic import fonts
from keju_synthetic.fonts import Font, find_font, find_missing_characters


@pytest.fixture
def pillows_font(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Font:
    """The Latin font inside Pillow, in a folder named by KEJU_FONTS."""
    face = ImageFont.load_default(20)
    (tmp_path / "some-name.ttf").write_bytes(face.path.getvalue())
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    monkeypatch.setenv("KEJU_FONTS", str(tmp_path))
    return find_font("Aileron", "Regular", "CC0-1.0")


@pytest.fixture
def brush() -> Font:
    try:
        return find_font("KouzanBrushFontGyousyo", "Regular", "LicenseRef-public-domain")
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def test_a_font_is_found_in_a_folder_by_the_name_inside_the_file(pillows_font: Font):
    assert pillows_font.path.name == "some-name.ttf"
    assert pillows_font.record.family == "Aileron"
    assert pillows_font.record.licence == "CC0-1.0"
    assert pillows_font.record.sha256 == sha256_file(pillows_font.path)
    assert pillows_font.record.version.startswith("Version")


def test_a_font_that_is_not_there_is_a_prerequisite(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(PrerequisiteError, match="no such family"):
        find_font("no such family", "Regular", "?")
    monkeypatch.delenv("KEJU_FONTS", raising=False)
    monkeypatch.setattr(fonts.shutil, "which", lambda _: None)
    with pytest.raises(PrerequisiteError, match="fontconfig"):
        find_font("Aileron", "Regular", "?")


def test_another_style_of_the_family_is_not_the_font(pillows_font: Font):
    with pytest.raises(PrerequisiteError):
        find_font("Aileron", "Bold", "?")


def test_characters_outside_a_font_are_named_once_and_in_order(pillows_font: Font):
    assert find_missing_characters(pillows_font, "A德B說德") == "德說"
    assert find_missing_characters(pillows_font, "AB") == ""


def test_an_empty_glyph_is_no_outline_even_if_the_cmap_lists_it(brush: Font):
    face = fonts.load_face(brush.path, brush.face, 48)
    mapped_to_nothing, absent = "德", "說"
    assert face.getmask(mapped_to_nothing).getbbox() is None
    assert face.getmask(absent).getbbox() is not None, "drawn as the box of .notdef"
    assert (
        find_missing_characters(brush, "山" + mapped_to_nothing + absent)
        == mapped_to_nothing + absent
    )
