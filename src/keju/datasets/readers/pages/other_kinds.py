"""`other_kinds`: files of a folder that are neither images nor texts, and how to convert them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import join_names
from keju.datasets.readers.listing import unpacking_command
from keju.datasets.readers.words import shell_word
from keju.texts import Text, _, join_sentences, n_

_CONVERTERS = (
    ({"heic", "heif", "avif"}, "magick mogrify -format jpg {all}"),
    ({"djvu", "djv"}, "ddjvu -format=tiff {file} {stem}.tif"),
    (
        {"doc", "docx", "odt", "rtf", "wps"},
        "soffice --headless --convert-to 'txt:Text (encoded):UTF8' --outdir {folder} {all}",
    ),
    ({"xml", "hocr", "alto"}, "keju data detect {root}"),
)
"""Suffixes, and the command that converts such files to images or texts."""


def other_kinds(root: Path, files: Sequence[PurePosixPath], read: frozenset[str]) -> Iterator[str]:
    """One line for each kind of file whose suffix is not read, with the command to convert it."""
    kinds: dict[str, list[PurePosixPath]] = {}
    for path in files:
        if _suffix(path) not in read:
            kinds.setdefault(_template(path), []).append(path)
    for command, found in kinds.items():
        names = join_names(path.as_posix() for path in found)
        line = n_(
            "not imported, since neither images nor texts: {n:,} file, {}",
            "not imported, since neither images nor texts: {n:,} files, {}",
            len(found),
            names,
        )
        hint = _describe_command(command, _fill(command, root, found[0]))
        yield join_sentences([line, hint]) if hint else line


def _describe_command(template: str, command: str) -> Text | None:
    """The hint with a command; None where there is none."""
    if template.startswith("magick"):
        return _("Convert them to JPEG: {}", command)
    if template.startswith("ddjvu"):
        return _("Convert them to TIFF: {}", command)
    if template.startswith("soffice"):
        return _("Save them as plain text: {}", command)
    if template.startswith("keju"):
        return _("If they are PAGE-XML, ALTO or hOCR, see: {}", command)
    return _("Unpack them: {}", command) if template else None


def _template(path: PurePosixPath) -> str:
    """The command for files like this one, with placeholders for names; empty if there is none."""
    if unpacking_command(Path(path)):
        return "{unpack}"
    return next((command for kinds, command in _CONVERTERS if _suffix(path) in kinds), "")


def _fill(command: str, root: Path, path: PurePosixPath) -> str:
    folder = shell_word(str(root / path.parent))
    return command.format(
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
