"""What `keju data import` makes of every layout and of the real sources of the shared material.

The part of a source is its items without ids and provenance, or that it is refused. Their order
does not count. An image is a hash of its pixels, since the bytes that Pillow writes differ between
machines, with its format, its size, and whether a file of the source contains its bytes.

A part ``notes: FORMAT`` is what the imports of a format print on stderr: of each source, for each
line, its numbers. A new wording moves no part; a note or a number that comes or goes moves one.

`run_import` and `values_of` alone know how keju is called and what its items are.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from itertools import chain
from pathlib import Path
from types import CodeType, FrameType, MappingProxyType, ModuleType
from typing import Any, NamedTuple
from unittest import mock

import msgspec
from PIL import Image

import keju
from keju.cli import main
from tests.support import layouts as package
from tests.support.layouts import MAP, layouts, options_for
from tests.support.mutations.mapped import SOURCES as MAPPED
from tests.support.page_forms import SIZE, forms, lossy_forms
from tests.support.released import FORMS, picture, put
from tests.support.showing import oracle_crops
from tests.support.snapshots import compare_snapshot

Write = Callable[[Path], Path | None]
"""Writes a source into a folder; returns what is imported, if that is not the folder."""


class Source(NamedTuple):
    """A source: its name, the format that reads it, how it is written, and options."""

    name: str
    format: str
    write: Write
    options: Mapping[str, str] = MappingProxyType({})


NOTE = re.compile("note: |keju: ")


def run_import(source: Source, src: Path, out: Path) -> tuple[int, list[str]]:
    """Run the command in this process; return its exit status, and its notes or its refusal.

    Lines about the progress of an import, which depend on the time that it takes, are left out.
    """
    given = {**source.options, **({"map": MAP} if source.format == "mapped" else {})}
    given = options_for(given, src)
    options = ["--map", given.pop("map")] if "map" in given else []
    options += [f"--option={name}={value}" for name, value in given.items()]
    words = ["keju", "data", "import", source.format, src, "--out", out, *options]
    words += ["--licence", "CC0-1.0", "--source", "made for a test"]
    errors = io.StringIO()
    with (
        redirect_stderr(errors),
        redirect_stdout(io.StringIO()),
        mock.patch.object(sys, "argv", [str(word) for word in words]),
    ):
        try:
            main()
        except SystemExit as end:
            lines = errors.getvalue().splitlines()
            return int(end.code or 0), [line for line in lines if NOTE.match(line)]
    raise AssertionError("the command did not exit")


def values_of(out: Path, files: Collection[bytes]) -> list[dict[str, Any]]:
    """The items of a dataset without ids and provenance, its images described by `image_value`."""
    dataset = keju.load(out)
    images: dict[str, Any] = {}
    rows = []
    for item in dataset:
        row = msgspec.to_builtins(item)
        row = {key: value for key, value in row.items() if key not in {"id", "provenance"}}
        for ref in item.images:
            if ref.sha256 not in images:
                images[ref.sha256] = image_value(dataset.image_bytes(ref), files)
        if item.images:
            row["images"] = [images[ref.sha256] for ref in item.images]
        # The group of an item without another one is the hash of its image.
        row["group"] = images.get(item.group, item.group)
        rows.append(row)
    return sorted(rows, key=partial(json.dumps, sort_keys=True))


def image_value(data: bytes, files: Collection[bytes]) -> dict[str, Any]:
    """What a snapshot has of an image."""
    with Image.open(io.BytesIO(data)) as image:
        pixels = f"{image.mode} {image.size} ".encode() + image.tobytes()
        return {
            "pixels": hashlib.sha256(pixels).hexdigest()[:16],
            "format": image.format,
            "size": image.size,
            "copied": data in files or any(data in file for file in files if file[:4] == b"%PDF"),
        }


COUNT = re.compile(r"(?<![^\s(])[0-9]+(?![^\s,;:)])")
"""A number that is a word of a note, and not in a name."""


def source_parts(sources: Iterable[Source], folder: Path) -> dict[str, list[Any]]:
    """The parts of sources, each written into a folder of its own and imported from there."""
    parts: dict[str, list[Any]] = {}
    notes: dict[str, list[Any]] = {}
    for source in sources:
        assert source.name not in parts, f"two sources are called {source.name!r}"
        src = source.write(folder / "source/src") or folder / "source/src"
        status, lines = run_import(source, src, folder / "out")
        files = {path.read_bytes() for path in (folder / "source").rglob("*") if path.is_file()}
        parts[source.name] = [{"refused": status}] if status else values_of(folder / "out", files)
        lines = [line.replace(str(src), "").replace(str(folder), "") for line in lines]
        numbers = sorted(sorted(map(int, COUNT.findall(line))) for line in lines)
        notes.setdefault(f"notes: {source.format}", []).append([source.name, numbers])
        shutil.rmtree(folder)
    return parts | {name: sorted(rows) for name, rows in notes.items()}


def drawn_sources() -> Iterator[Source]:
    """Every layout, small source, source with a mapping file, and form of a page."""
    for layout in layouts():
        yield Source(layout.name, layout.reader, layout.write, layout.options)
    for name, form in FORMS.items():
        yield Source(f"small: {name}", form.name, form.build, form.options)
    for name, write in MAPPED.items():
        yield Source(name, "mapped", write)
    pages = {f"form: {name}": form for name, form in forms().items()}
    pages |= {f"lossy form: {name}": form[:2] for name, form in lossy_forms().items()}
    image = picture(1, SIZE)
    for name, (suffix, content) in pages.items():
        # Pixels of a tenth of a millimetre.
        options = {"dpi": "254"} if name == "form: alto mm10" else {}
        write = page_writer(suffix, content, image)
        yield Source(name, page_format(suffix, content), write, options)


def page_format(suffix: str, content: bytes | str) -> str:
    """The format that reads a form of a page."""
    if suffix == ".xml":
        return "alto" if "<alto" in str(content) else "page-xml"
    return {".hocr": "hocr", ".txt": "pages"}[suffix]


def page_writer(suffix: str, content: bytes | str, image: bytes) -> Write:
    """What writes a page with its image."""

    def write(src: Path) -> None:
        put(src / f"book/p{suffix}", content)
        put(src / "book/p.png", image)

    return write


def test_every_layout_imports_to_the_recorded_items(tmp_path):
    compare_snapshot("imports", source_parts(drawn_sources(), tmp_path / "place"))


# Of real sources


REAL_PAGES = """\
tables = [{ path = "gt.json", shape = "by-key" }]
[fields]
image = "**/{key}.*"
id = "key"
answer = "value"
[constants]
task = "page_level_ocr"
"""
OPEN_GUJI = """\
names = '(?:[0-9]+[.]cn_page_)?(?P<page>[0-9]+)[.]png'
metadata.page = "page"
[constants]
task = "page_level_ocr"
"""
ORACLE_MNIST = """\
names = '(?P<class>[0-9])/[0-9]+[.]png'
[fields]
answer = "class"
[constants]
task = "T1"
question = "Which of the ten characters is this?"
"""

CROPS = 600
"""The first crops of Oracle-MNIST; all 3,000 would only take longer."""


def shared_sources(data: Path) -> dict[str, list[Source]]:
    """The imports of each folder of the shared data."""
    sources: dict[str, list[Source]] = {}

    def add(folder: str, form: str, write: Write | None = None, **options: str) -> None:
        settings = [f"{name}={value}" for name, value in options.items()]
        name = " ".join((f"{folder}: {form}", *settings))
        write = write or partial(copy_folder, data / folder)
        sources.setdefault(folder, []).append(Source(name, form, write, options))

    add("chi-know-po", "auto")
    add("chi-know-po", "page-xml", text="main", order="document", kinds="Commentary=main")
    add("chi-know-po", "page-xml", text="body", task="T1", **{"blank-pages": "yes"})
    add("open-guji", "auto")
    add("open-guji", "mapped", partial(copy_folder, data / "open-guji", mapping=OPEN_GUJI))
    add("real-pages", "pages", texts="no")
    add("real-pages", "mapped", partial(copy_folder, data / "real-pages", mapping=REAL_PAGES))
    add("oracle-mnist", "auto")
    crops = partial(write_crops, data.parent)
    add("oracle-mnist", "obi-classification", crops)
    add("oracle-mnist", "obi-classification", crops, classes="5", seed="1")
    add("oracle-mnist", "obi-retrieval", crops, classes="5", distractors="20")
    add("oracle-mnist", "mapped", partial(crops, mapping=ORACLE_MNIST))
    add("ud-kyoto", "auto")
    return sources


def copy_folder(folder: Path, src: Path, *, mapping: str = "") -> Path:
    """Copy a folder of the shared data, under its name, since a group can be called after it."""
    shutil.copytree(folder, src / folder.name)
    if mapping:
        put(src / folder.name / MAP, mapping)
    return src / folder.name


def write_crops(shared: Path, src: Path, *, mapping: str = "") -> Path:
    """Write the crops of Oracle-MNIST as images in a folder for each class."""
    crops = oracle_crops(shared)
    for number, (pixels, label) in enumerate(zip(*crops, strict=True)):
        if number == CROPS:
            break
        path = src / f"Oracle-MNIST/{label}/{number:04}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
    if mapping:
        put(src / "Oracle-MNIST" / MAP, mapping)
    return src / "Oracle-MNIST"


def test_every_folder_of_the_shared_data_imports_to_the_recorded_items(shared, tmp_path):
    sources = shared_sources(shared / "data")
    assert sorted(sources) == sorted(path.name for path in (shared / "data").iterdir())
    parts = source_parts(chain.from_iterable(sources.values()), tmp_path / "place")
    compare_snapshot("imports_of_shared_data", parts)


# Of the makers


def test_every_function_of_the_layouts_has_a_part_in_one_that_is_imported(tmp_path):
    """Each runs while the modules of the package are read or their layouts are written."""
    names: dict[CodeType, str] = {}
    executed: set[CodeType] = set()

    def record_call(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            executed.add(frame.f_code)

    sys.setprofile(record_call)
    try:
        for name in package.MODULES:
            module = copy_module(f"{package.__name__}.{name}")
            for number, layout in enumerate(module.LAYOUTS):
                layout.write(tmp_path / name / str(number))
            for function in vars(module).values():
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    names[function.__code__] = f"{name}.{function.__name__}"
    finally:
        sys.setprofile(None)
    assert [names[code] for code in names.keys() - executed] == []


def copy_module(name: str) -> ModuleType:
    """A module read once more, beside the one that is imported already."""
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
