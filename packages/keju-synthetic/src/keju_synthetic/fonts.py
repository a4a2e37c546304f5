"""System fonts, found by name and checked for missing characters, and the hands that use them."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import field
from PIL import ImageFont

from keju.errors import DataError, PrerequisiteError
from keju.files import sha256_file
from keju.items import Record
from keju.texts import _

_ABSENT = chr(0x10FFFD)
"""A private-use code point that no font draws: its glyph is the font's `.notdef`."""

_PROBE_SIZE = 48
_SUFFIXES = {".ttf", ".ttc", ".otf", ".otc"}


class HandSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hand: a font, and its typesetting.

    `width` squeezes the character (1 = as designed), `fill` is the em against the cell, `weight`
    thickens (> 0) or thins (< 0) the strokes, `sway` is how far characters leave the middle and
    the upright (in parts of the em), `vary` how far the corners of each character are pulled out
    of shape, so that no two alike are equal. `forms` are characters that the font draws in another
    form.
    """

    family: str
    style: str
    licence: str
    width: float = 1.0
    fill: float = 1.0
    weight: float = 0.0
    sway: float = 0.01
    vary: float = 0.02
    forms: dict[str, str] = field(default_factory=dict)


class FontRecord(Record, frozen=True, kw_only=True):
    """A font that drew a dataset, as the dataset stores it, without the path of the file."""

    family: str
    style: str
    version: str
    licence: str
    sha256: str


class Font(NamedTuple):
    """A font file, the face in it, and its record."""

    path: Path
    face: int
    record: FontRecord


def find_font(family: str, style: str, licence: str) -> Font:
    """Find an installed font by family and style.

    The folder named by the environment variable ``KEJU_FONTS`` is searched first (font files are
    matched by the names inside them), then fontconfig is asked.

    Args:
        family: the family name, e.g. ``"TW-Kai"``.
        style: the style name, e.g. ``"Regular"``.
        licence: the SPDX identifier or name of its licence, for the record.

    Raises:
        PrerequisiteError: no such font is installed.
    """
    found = _find_in_folder(family, style) or _find_with_fontconfig(family, style)
    if found is None:
        raise PrerequisiteError(
            _("the font '{}' ({})", family, style),
            _(
                "your system's packages (Debian: fonts-noto-cjk fonts-cns11643-kai "
                "fonts-cns11643-sung fonts-kouzan-mouhitsu fontconfig), or set KEJU_FONTS to a "
                "folder that contains it"
            ),
        )
    path, index = found
    record = FontRecord(
        family=family,
        style=style,
        version=_read_version(path),
        licence=licence,
        sha256=sha256_file(path),
    )
    return Font(path=path, face=index, record=record)


def _find_with_fontconfig(family: str, style: str) -> tuple[Path, int] | None:
    program = shutil.which("fc-match")
    if program is None:
        return None
    escaped = "".join(f"\\{sign}" if sign in "-:,\\" else sign for sign in family)
    done = subprocess.run(  # noqa: S603 - the program is fontconfig's, the words are one argument
        [program, "-f", "%{file}\n%{index}\n%{family}\n%{style}", f"{escaped}:style={style}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    fields = done.stdout.split("\n")
    if done.returncode != 0 or len(fields) != 4:
        return None
    file, index, families, styles = fields
    # fontconfig always returns some font, so its name is compared with the requested one.
    if family not in families.split(",") or style not in styles.split(","):
        return None
    return Path(file), int(index)


def _find_in_folder(family: str, style: str) -> tuple[Path, int] | None:
    folder = os.environ.get("KEJU_FONTS")
    if not folder:
        return None
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() in _SUFFIXES:
            for index, names in enumerate(_list_faces(path)):
                if names == (family, style):
                    return path, index
    return None


def _list_faces(path: Path) -> list[tuple[str | None, str | None]]:
    faces: list[tuple[str | None, str | None]] = []
    while True:
        try:
            faces.append(ImageFont.truetype(path, 16, index=len(faces)).getname())
        except OSError:
            return faces


def _read_version(path: Path) -> str:
    """The version string of a font file (name table, entry 5), of its first face."""
    data = path.read_bytes()
    try:
        start = struct.unpack_from(">I", data, 12)[0] if data[:4] == b"ttcf" else 0
        for number in range(struct.unpack_from(">H", data, start + 4)[0]):
            tag, __, offset, __ = struct.unpack_from(">4sIII", data, start + 12 + 16 * number)
            if tag == b"name":
                return _read_name_entry(data, offset, 5)
    except (struct.error, UnicodeDecodeError):
        pass
    return "unknown"


def _read_name_entry(data: bytes, table: int, wanted: int) -> str:
    __, count, strings = struct.unpack_from(">3H", data, table)
    for number in range(count):
        entry = struct.unpack_from(">6H", data, table + 6 + 12 * number)
        platform, __, __, name, length, offset = entry
        if (platform, name) == (3, wanted):
            start = table + strings + offset
            return data[start : start + length].decode("utf-16-be")
    return "unknown"


@lru_cache(maxsize=64)
def load_face(path: Path, index: int, size: int) -> ImageFont.FreeTypeFont:
    """A face at `size` pixels an em, with FreeType's own plain layout."""
    try:
        return ImageFont.truetype(path, size, index=index, layout_engine=ImageFont.Layout.BASIC)
    except OSError as error:
        raise DataError("the file is not readable as a font: {}", str(error), file=path) from None


def find_missing_characters(font: Font, text: str) -> str:
    """The distinct characters of `text` that the font cannot draw, in order of appearance.

    A character counts as drawn only when its outline leaves ink and is not the `.notdef` glyph:
    some fonts map a code point to an empty glyph, which their cmap doesn't show.
    """
    face = load_face(font.path, font.face, _PROBE_SIZE)
    absent = bytes(face.getmask(_ABSENT))
    missing = []
    for sign in dict.fromkeys(text):
        mask = face.getmask(sign)
        if mask.getbbox() is None or bytes(mask) == absent:
            missing.append(sign)
    return "".join(missing)
