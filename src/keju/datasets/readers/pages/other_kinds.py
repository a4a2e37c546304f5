"""`other_kinds`: files of a folder that are neither images nor texts, and how to convert them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import join_names
from keju.datasets.readers.obstacles import unpacking_command
from keju.datasets.readers.words import shell_word
from keju.errors import number_of

_CONVERTERS = (
    ({"heic", "heif", "avif"}, "Convert them to JPEG: magick mogrify -format jpg {all}"),
    ({"djvu", "djv"}, "Convert them to TIFF: ddjvu -format=tiff {file} {stem}.tif"),
    (
        {"doc", "docx", "odt", "rtf", "wps"},
        "Save them as plain text: soffice --headless --convert-to 'txt:Text (encoded):UTF8' "
        "--outdir {folder} {all}",
    ),
    ({"xml", "hocr", "alto"}, "If they are PAGE-XML, ALTO or hOCR, see: keju data detect {root}"),
)
"""Suffixes, and the command that converts such files to images or texts."""


def other_kinds(root: Path, files: Sequence[PurePosixPath], read: frozenset[str]) -> Iterator[str]:
    """One line for each kind of file whose suffix is not read, with the command to convert it."""
    kinds: dict[str, list[PurePosixPath]] = {}
    for path in files:
        if _suffix(path) not in read:
            kinds.setdefault(_template(path), []).append(path)
    for template, found in kinds.items():
        names = join_names(path.as_posix() for path in found)
        line = f"not imported, since neither images nor texts: {number_of(len(found), 'file')}"
        hint = _hint(template, root, found[0])
        yield f"{line}, {names}{f'. {hint}' if hint else ''}"


_UNPACK = "Unpack them: {unpack}"


def _template(path: PurePosixPath) -> str:
    """A hint on files like this one, with placeholders for names; empty if there is none."""
    if unpacking_command(Path(path)):
        return _UNPACK
    return next((hint for suffixes, hint in _CONVERTERS if _suffix(path) in suffixes), "")


def _hint(template: str, root: Path, path: PurePosixPath) -> str:
    folder = shell_word(str(root / path.parent))
    return template.format(
        root=shell_word(str(root)),
        folder=folder,
        file=shell_word(str(root / path)),
        stem=shell_word(str(root / path.with_suffix(""))),
        # The shell expands the star only outside of quotes.
        all=f"{folder}/*{path.suffix}",
        unpack=unpacking_command(root / path),
    )


def _suffix(path: PurePosixPath) -> str:
    return path.suffix.casefold().lstrip(".")
