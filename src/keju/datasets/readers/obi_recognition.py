"""FORMAT ``obi-recognition``: pictures of oracle bones with boxes around the characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from keju.datasets.readers._boxes import OPTIONS as BOX_OPTIONS
from keju.datasets.readers._boxes import Drawn, boxes_of, sound
from keju.datasets.readers._obi import (
    BENCHMARK,
    SEED_OPTION,
    SOURCE_OPTION,
    Found,
    asked,
    declare,
    drawn,
    inside_name,
    pictures_in,
    sources_in,
    unlike_print,
)
from keju.datasets.readers.base import Options, Reader, flag, listed, source_bytes, whole
from keju.datasets.readers.descriptions import descriptions_in
from keju.datasets.store import DatasetWriter
from keju.errors import DataError
from keju.items import Item

LAYOUT = """\
SRC/                          one source, or a folder for each: O2BR, YinQiWenYuan_detection
  images/bone001.jpg          the pictures, in folders as deep as you like
  annotations/bone001.xml     the boxes: LabelImg's Pascal VOC, a file of the picture's name; or
  boxes.csv                   one line a box: image, xmin, ymin, xmax, ymax (also .tsv, .json)
  descriptions.csv            if there is one: image, description, the answer to What
  negatives/tree.jpg          if there are: pictures without any inscription
Each picture is asked What, Yes-or-No, How and Where; one of negatives is asked Yes-or-No alone.
This layout is our reading of the paper. The authors offer their test images on a network drive
(README of zijianchen98/OBI-Bench, 2025-03-21); its layout was not seen."""

OPTIONS = {
    "source": SOURCE_OPTION,
    **BOX_OPTIONS,
    "description": "the answer to What for every picture that descriptions.csv does not name",
    "sample": "this many pictures of each source, drawn (default all)",
    "seed": SEED_OPTION,
    "skip-missing": "yes: leave out pictures without boxes (default no)",
}

_TASK = "recognition"
_NEGATIVES = "negatives"


def read_recognition(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Read pictures with boxes: four items a picture, one for a negative.

    The count of boxes answers How, the boxes Where. A picture is its own group.

    Raises:
        UsageError: an option is none of those above.
        DataError: no pictures or boxes, a picture without boxes (unless skipped), a box outside
            its picture or without area, a file that is not as its form says.
    """
    found = sources_in(src, _TASK, options)
    seed = options.get("seed", "0")
    declare(writer, found, seed=seed, sample=options.get("sample", "all"))
    for each in found:
        yield from _read_source(each, writer, options, seed)


READER = Reader(
    "obi-recognition",
    "OBI-Bench's recognition: pictures with boxes",
    LAYOUT,
    read_recognition,
    OPTIONS,
)


def _read_source(found: Found, writer: DatasetWriter, options: Options, seed: str) -> Iterator[str]:
    every = pictures_in(found)
    negatives = [path for path in every if _NEGATIVES in path.relative_to(found.folder).parts[:-1]]
    pictures = [path for path in every if path not in set(negatives)]
    boxes = boxes_of(found.folder, pictures, options)
    if drawn_on := [path for path in negatives if boxes.get(path)]:
        raise DataError(
            f"boxes on pictures of {_NEGATIVES}: {listed(_names(found, drawn_on))}",
            file=found.folder,
            mend=f"Take the boxes out, or the pictures out of {_NEGATIVES}",
        )
    bare = [path for path in pictures if not boxes.get(path)]
    if bare and not flag(options, "skip-missing"):
        raise DataError(
            f"{len(bare)} pictures without boxes: {listed(_names(found, bare))}",
            file=found.folder,
            mend=f"Draw them, put pictures without characters into {_NEGATIVES}, "
            "or leave them out: --option skip-missing=yes",
        )
    if bare:
        yield f"left out {len(bare)} pictures without boxes: {listed(_names(found, bare))}"
    chosen = _sampled(found, [path for path in pictures if boxes.get(path)], options, seed)
    described = descriptions_in(found.folder)
    for path in chosen:
        _add(found, writer, path, boxes[path], _What(described, options, found).of(path))
    for path in _sampled(found, negatives, options, seed):
        _add_negative(found, writer, path)
    twice = sum(len(boxes[path]) - len({each.box for each in boxes[path]}) for path in chosen)
    if twice:
        yield f"{found.source.name}: {twice} boxes stand there twice and are counted once"
    yield from unlike_print(found, len(chosen))
    yield from _What(described, options, found).note(chosen)
    if not negatives:
        yield (
            f"{found.source.name}: no {_NEGATIVES}, so a model that always says yes is right in "
            "Yes-or-No, as in the paper"
        )


class _What:
    """Where the answer to What comes from."""

    def __init__(self, described: Mapping[Path, str], options: Options, found: Found) -> None:
        self._described = described
        self._otherwise = options.get("description", "") or found.source.describes
        self._name = "" if options.get("description") else found.source.name

    def of(self, path: Path) -> str:
        return self._described.get(path, "") or self._otherwise

    def note(self, chosen: list[Path]) -> Iterator[str]:
        ours = [path for path in chosen if path not in self._described]
        if ours and not self._otherwise:
            yield f"{self._name}: {len(ours)} pictures are not asked What: nothing describes them"
        elif ours and self._name:
            yield (
                f"{self._name}: What is held to keju's own description for {len(ours)} pictures, "
                "since the paper prints none; give yours with --option description=TEXT"
            )


def _add(
    found: Found, writer: DatasetWriter, path: Path, boxes: list[Drawn], describes: str
) -> None:
    ref = writer.add_image(source_bytes(path), str(path))
    inside = sound(boxes, ref)
    pattern = Item(
        id=inside_name(found, path),
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        group=ref.sha256,
        metadata=found.source.about | {"file": path.relative_to(found.folder).as_posix()},
    )
    answers = {"What": describes, "Yes-or-No": "yes", "How": str(len(inside)), "Where": ""}
    for item in asked(pattern):
        if item.query == "What" and not describes:
            continue
        where = inside if item.query == "Where" else ()
        writer.add(replace(item, answer=answers[item.query], boxes=where))


def _add_negative(found: Found, writer: DatasetWriter, path: Path) -> None:
    ref = writer.add_image(source_bytes(path), str(path))
    pattern = Item(
        id=inside_name(found, path),
        benchmark=BENCHMARK,
        task=_TASK,
        images=(ref,),
        answer="no",
        group=ref.sha256,
        metadata=found.source.about | {"file": path.relative_to(found.folder).as_posix()},
    )
    for item in asked(pattern, "Yes-or-No"):
        writer.add(item)


def _sampled(found: Found, paths: list[Path], options: Options, seed: str) -> list[Path]:
    """As many of the pictures as the option says, in their order."""
    most = whole(options, "sample", len(paths) or 1)
    names = {path.relative_to(found.folder).as_posix(): path for path in paths}
    chosen = drawn(names, seed, found.source.name)[:most]
    return [names[name] for name in sorted(chosen)]


def _names(found: Found, paths: list[Path]) -> list[str]:
    return [path.relative_to(found.folder).as_posix() for path in paths]
