"""`other_kinds`: files of a folder that are neither images nor texts, and how to convert them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import join_names
from keju.datasets.readers.obstacles import unpacking_command
from keju.datasets.readers.words import shell_word
from keju.messages import Message, join_sentences, message

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
        line = message("datasets.neither-images-nor-texts", count=len(found), names=names)
        hint = _describe_command(command, _fill(command, root, found[0]))
        yield join_sentences([line, hint]) if hint else line


def _describe_command(template: str, command: str) -> Message | None:
    """The hint with a command; None where there is none."""
    if template.startswith("magick"):
        return message("datasets.convert-to-jpeg", command=command)
    if template.startswith("ddjvu"):
        return message("datasets.convert-to-tiff", command=command)
    if template.startswith("soffice"):
        return message("datasets.save-as-plain-text", command=command)
    if template.startswith("keju"):
        return message("datasets.if-page-files", command=command)
    return message("datasets.unpack-them", command=command) if template else None


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
