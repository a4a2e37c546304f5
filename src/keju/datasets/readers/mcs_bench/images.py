"""Finding the images of records: by a name, by the record's ID, or inside the record itself."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import Options, files_under, inside, listed, source_bytes
from keju.datasets.readers.mcs_bench.entries import Entry
from keju.datasets.readers.mcs_bench.words import domains_in, tasks_of_path
from keju.datasets.readers.records import Place, image_roots, picture_under, text_of
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, shortened
from keju.files import sha256_bytes
from keju.images import EXTENSIONS
from keju.items import ImageRef

MOST_FILES = 500_000
"""Images that are looked through for one that is not where its name says."""

_DATA_URL = re.compile(r"data:[a-z]{1,20}/[\w.+-]{1,40};base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{64,}={0,2}\s*")
_SPACE = re.compile(r"\s+")
_MAGIC = (b"\xff\xd8", b"\x89PNG", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*", b"\0\0\0\x0cjP")
_SEPARATORS = re.compile(r"\s*[;；|,，\n]\s*")
_APART = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


class ReleaseImages:
    """Stores the images of records, each once, and remembers which are missing.

    A name is looked for where `image_roots` says. Else it may have a path before it that is not
    here, or another suffix: the image is then searched for by its name under the source. Of
    several with that name the one is taken whose folders are those of the name, or name the
    record's task or domain. A record without a name has the images that are named like its ID.

    Args:
        writer: the dataset that takes them.
        src: the source.
        options: of the import; `images` is the folder to look in instead.
    """

    def __init__(self, writer: DatasetWriter, src: Path, options: Options) -> None:
        self._writer = writer
        self._src = src
        self._options = options
        self._stored: dict[Path, ImageRef] = {}
        self.missing: dict[str, str] = {}
        self.searched: dict[str, None] = {}
        """Names that were found elsewhere than they say."""
        self.by_id = 0

    @cached_property
    def _top(self) -> Path:
        given = self._options.get("images")
        if given:
            return Path(given)
        return self._src if self._src.is_dir() else self._src.parent

    @cached_property
    def _files(self) -> list[Path]:
        return list(islice(files_under(self._top, EXTENSIONS), MOST_FILES))

    @cached_property
    def _by_stem(self) -> Mapping[str, list[Path]]:
        return _grouped((path.stem.casefold(), path) for path in self._files)

    @cached_property
    def _by_name(self) -> Mapping[str, list[Path]]:
        return _grouped((_numberless(path.stem), path) for path in self._files)

    @cached_property
    def _by_folder(self) -> Mapping[str, list[Path]]:
        return _grouped((path.parent.name.casefold(), path) for path in self._files)

    def of(self, entry: Entry) -> tuple[ImageRef, ...] | None:
        """The images of a record; None if one of them is missing.

        Raises:
            DataError: the record has none, a name leads out of the source or may mean several
                files, or an image is broken.
        """
        if not entry.images:
            paths = self._of_id(entry)
            if not paths:
                raise DataError(
                    "without an image", file=entry.place.file, item=entry.place.item,
                    mend="Name its image, or call the file like its ID",
                )  # fmt: skip
            self.by_id += 1
            return tuple(map(self._store, paths))
        refs: list[ImageRef] = []
        complete = True
        for value in entry.images:
            found = self._stored_of(value, entry)
            complete = complete and found is not None
            refs += found or []
        return tuple(refs) if complete else None

    def has_of_id(self, entry: Entry) -> bool:
        """Whether an image is named like the record's ID."""
        return bool(self._of_id(entry))

    def raise_if_missing(self) -> None:
        """Raise for what was not found.

        Raises:
            DataError: naming the first images that are missing, and where they were looked for.
        """
        if self.missing:
            names = listed(f"{shortened(name)} (of {item})" for name, item in self.missing.items())
            raise DataError(
                f"{len(self.missing)} images are missing: {names}; looked in {self._top}",
                file=self._src,
                mend="Give their folder: --option images=FOLDER, or skip their items: "
                "--option skip-missing=yes",
            )

    def _stored_of(self, value: object, entry: Entry) -> list[ImageRef] | None:
        if isinstance(value, dict):
            data, name = value.get("bytes"), value.get("path") or value.get("url")
            if isinstance(data, bytes):
                return [self._writer.add_image(data, f"{entry.place.file}: {entry.place.item}")]
            value = name if isinstance(name, str) and name else value
        if isinstance(value, bytes):
            return [self._writer.add_image(value, f"{entry.place.file}: {entry.place.item}")]
        if isinstance(value, list) or not isinstance(value, str | int | float):
            kind = "text" if isinstance(value, dict) else "texts"
            raise DataError(
                f"expected {kind} in 'Image'; found {type(value).__name__}",
                file=entry.place.file, item=entry.place.item, mend="Write the image's name",
            )  # fmt: skip
        text = text_of({"Image": value}, "Image", entry.place).strip()
        if (data := _inline(text, entry.place)) is not None:
            return [self._writer.add_image(data, f"{entry.place.file}: {entry.place.item}")]
        return self._named(text, entry)

    def _named(self, name: str, entry: Entry) -> list[ImageRef] | None:
        if path := self._found(name, entry):
            return [self._store(path)]
        parts = [part for part in _SEPARATORS.split(name.strip("[]")) if part]
        if len(parts) > 1:
            found = [self._found(part.strip("'\""), entry) for part in parts]
            paths = [path for path in found if path]
            if len(paths) == len(parts):
                return list(map(self._store, paths))
        self.missing[name] = entry.place.item
        return None

    def _found(self, name: str, entry: Entry) -> Path | None:
        """The file of a name: exactly there, else by its last parts.

        Raises:
            DataError: the name leads out of the source and no file under it is meant, or it may
                mean several files.
        """
        local = PurePosixPath(_without_scheme(name).replace("\\", "/"))
        parts = [part for part in local.parts if part not in {"/", ".", ".."}]
        roots = image_roots(self._src, entry.place.file, self._options)
        plain = not local.is_absolute() and ".." not in local.parts and "\0" not in name
        if plain and parts and ":" not in parts[0] and "://" not in name:
            exact = picture_under(roots, str(local), entry.place)
            if exact is not None:
                return exact
        if parts and "\0" not in name:
            last = PurePosixPath(parts[-1])
            known = last.suffix.casefold().lstrip(".") in EXTENSIONS
            candidates = self._by_stem.get((last.stem if known else last.name).casefold(), [])
            if candidates:
                self.searched[name] = None
                return self._one_of(candidates, parts, name, entry)
        if not plain or ":" in (parts or [""])[0]:
            if "://" in name:
                return None
            inside(roots[0], name, file=entry.place.file, item=entry.place.item)
        return None

    def _of_id(self, entry: Entry) -> list[Path]:
        """The images that are named like the record's ID, or that are in a folder of that name."""
        if not entry.name:
            return []
        number, name = entry.kind.id.removeprefix("T"), entry.name
        wanted = (f"T{number}-{name}", f"task-{number}-{name}", f"task{number}-{name}",
                  f"{number}-{name}", name)  # fmt: skip
        for each in wanted:
            if found := self._by_name.get(_numberless(each)):
                if each == wanted[3] and _numberless(name) in self._by_name:
                    continue
                return [self._one_of(found, [name], name, entry)]
        in_folder = self._by_folder.get(name.casefold(), [])
        return in_folder if len({path.parent for path in in_folder}) == 1 else []

    def _one_of(
        self, candidates: Sequence[Path], parts: Sequence[str], name: str, entry: Entry
    ) -> Path:
        """The one of several files with a name that the record means.

        Raises:
            DataError: several may be meant.
        """
        inner = {path: path.relative_to(self._top).parts for path in candidates}
        for narrow in (
            lambda path: _common(inner[path], parts),
            lambda path: entry.kind in tasks_of_path(_outward(inner[path])),
            lambda path: entry.kind.domain in _domains(_outward(inner[path])),
            lambda path: path.name.casefold() == parts[-1].casefold(),
            lambda path: _shared(path, entry.place.file),
        ):
            if len(candidates) > 1:
                best = max(map(narrow, candidates))
                candidates = [path for path in candidates if narrow(path) == best]
        if len(candidates) > 1 and len({sha256_bytes(p.read_bytes()) for p in candidates}) > 1:
            several = listed((path.relative_to(self._top).as_posix() for path in candidates), 3)
            raise DataError(
                f"image {shortened(name)!r} may be {several}",
                file=entry.place.file,
                item=entry.place.item,
                mend="Write the path from the folder of the images on",
            )
        return candidates[0]

    def _store(self, path: Path) -> ImageRef:
        if path not in self._stored:
            self._stored[path] = self._writer.add_image(source_bytes(path), str(path))
        return self._stored[path]


def names_file(value: object) -> bool:
    """Whether a value of an image field names a file, rather than being the image itself."""
    if isinstance(value, dict):
        return not isinstance(value.get("bytes"), bytes)
    if isinstance(value, str):
        return not (_DATA_URL.match(value) or _BASE64.fullmatch(value))
    return not isinstance(value, bytes)


def _grouped(pairs: Iterable[tuple[str, Path]]) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for name, path in pairs:
        found.setdefault(name, []).append(path)
    return found


def _numberless(stem: str) -> str:
    """A stem without the zeros before its numbers, its parts joined by ``-``."""
    return _ZEROS.sub("", _APART.sub("-", stem.casefold()).strip("-"))


def _without_scheme(name: str) -> str:
    return name.removeprefix("file://").partition("?")[0] if "://" in name else name


def _common(parts: Sequence[str], wanted: Sequence[str]) -> int:
    """The number of equal folders at the ends of two paths, above the file."""
    count = 0
    for one, other in zip(reversed(parts[:-1]), reversed(wanted[:-1]), strict=False):
        if one.casefold() != other.casefold():
            break
        count += 1
    return count


def _outward(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(reversed(parts[:-1]))


def _domains(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        yield from domains_in(word)


def _shared(path: Path, file: Path) -> int:
    """The number of folders that two files have in common, from the top on."""
    count = 0
    for one, other in zip(path.parent.parts, file.parent.parts, strict=False):
        if one != other:
            break
        count += 1
    return count


def _inline(text: str, place: Place) -> bytes | None:
    """The image that a text is, as a data URL or base64; None if it is a name.

    Raises:
        DataError: a data URL is not base64.
    """
    url = _DATA_URL.match(text)
    if not url and not _BASE64.fullmatch(text):
        return None
    try:
        data = base64.b64decode(_SPACE.sub("", text[url.end() :] if url else text), validate=True)
        return data if url or data.startswith(_MAGIC) else None
    except (binascii.Error, ValueError):
        if not url:
            return None
        raise DataError(
            "the image is not base64", file=place.file, item=place.item, mend="Write it again"
        ) from None
