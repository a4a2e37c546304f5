"""The releases that programs of tables are given, and what keju makes of what they write."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from PIL import Image

from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import task
from keju.files import sha256_bytes
from keju.items import Box, Item, Line, Provenance
from tests.support.commanding import keju
from tests.support.contracting import Contract, Exchanged, compared
from tests.support.making import picture

ODD = "odd items"
ABOUT = ("--licence", "CC0-1.0", "--source", "made by the tests")
TASK = "T1"
"""The task by which exchanges filter."""

_PAGE = (
    Line(id="l1", text="天地", polygon=((0, 0), (5, 0), (5, 5)), confidence=0.5),
    Line(id="l2", text="玄黃，𠀀", polygon=((6, 0), (9, 0), (9, 9))),
)
_FULL = Item(
    id="001", benchmark="MCS-Bench", task=TASK, answer="天地\n玄黃，𠀀", lines=_PAGE,
    transcription="天地\n玄黃，𠀀", answer_simplified="天地\n玄黄，𠀀", group="book",
    boxes=(Box(x0=1.25, y0=2, x1=23.5, y1=4),), fields={"a": "=1+1"},
    metadata={"dynasty": "唐", "page": "007"},
    provenance=(Provenance(step="draft", tool="openai:m"),
                Provenance(step="review", person="王", source="scan", licence="CC0-1.0")),
)  # fmt: skip
_PLAIN = Item(
    id="1e5", benchmark="MCS-Bench", task="T21", question="幾隻鳥？\tA \"quoted\" \\ text",
    answer="007", transcription="三隻", group="other",
)  # fmt: skip
_CHOICE = Item(
    id="TRUE", benchmark="MCS-Bench", task="T11", question="兩圖朝代？", answer="B",
    options=("唐", "宋", "=1+1", "1/2"), group="third",
)  # fmt: skip


def odd(path: Path) -> Path:
    """Three items: one with every nested field, one without an image, one with two images."""
    with DatasetWriter(
        path, name="contract", version="1", licence="CC0-1.0", source="made by the tests"
    ) as writer:
        refs = [writer.add_image(picture(number), "page") for number in (1, 2)]
        writer.add(replace(_FULL, images=(refs[0],)))
        writer.add(_PLAIN)
        writer.add(replace(_CHOICE, images=(refs[1], refs[0])))
    return path


def releases(contract: Contract) -> Iterator[tuple[str, Dataset, Path]]:
    """The set of odd items and the bundled one, with their names and their releases."""
    for name, path in ((ODD, odd(contract.work / "odd")), ("the bundled set", mini.path())):
        out = contract.work / f"{path.name}-release"
        done = keju("build", "release", path, "--out", out, "--date", "2026-11-22",
                    "--citation", "keju")  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        yield name, Dataset.open(path), out


def folders(contract: Contract, release: Path) -> tuple[Path, Path]:
    """Where a program writes a release whole and in part."""
    return contract.work / f"{release.name}-whole", contract.work / f"{release.name}-part"


def taken_back(contract: Contract, folder: Path) -> Dataset:
    """A folder of tables that a program wrote, through `keju data import parquet`.

    Raises:
        RuntimeError: it is refused.
    """
    out = contract.work / "back" / folder.name
    done = keju("data", "import", "parquet", folder, "--out", out, *ABOUT)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return Dataset.open(out)


def same_again(contract: Contract, name: str, dataset: Dataset, folder: Path) -> Exchanged:
    """Whether what was written whole has the hash of the dataset."""
    back = taken_back(contract, folder)
    return compared(
        f"{name}: written and imported, hash",
        dataset.manifest.hash,
        back.manifest.hash,
        detail=f"{back.manifest.hash[:12]}, {back.manifest.items} items, "
        f"{back.manifest.images} images",
    )


def part_again(contract: Contract, name: str, dataset: Dataset, folder: Path) -> Exchanged:
    """Whether the items of one task, which were filtered and written, are those of the dataset."""
    ours = {item.id: item for item in dataset.items() if item.task == TASK}
    theirs = {item.id: item for item in taken_back(contract, folder).items()}
    return compared(f"{name}: filtered by task, written and imported, items", ours, theirs)


def has_prompt(item: Item) -> bool:
    """Whether a release has a prompt of an item: labelled images of pairs have none."""
    return item.split == "test" or not task(item.task).of_pairs


def asked(dataset: Dataset) -> dict[str, int]:
    """How many items of each task have a prompt."""
    return dict(Counter(item.task for item in dataset.items() if has_prompt(item)))


def facts(dataset: Dataset) -> dict[str, object]:
    """What a program must read alike, by id: task, answer, options, and hashes of the images."""
    return {
        item.id: [item.task, item.answer, list(item.options), [ref.sha256 for ref in item.images]]
        for item in dataset.items()
    }


def pixels(dataset: Dataset) -> dict[str, object]:
    """Of each image its width, its height and the SHA-256 of its RGB pixels, by path."""
    refs = {ref.path: ref for item in dataset.items() for ref in item.images}
    found: dict[str, object] = {}
    for path, ref in refs.items():
        with Image.open(io.BytesIO(dataset.image_bytes(ref))) as image:
            plain = image.convert("RGB")
        found[path] = [*plain.size, sha256_bytes(plain.tobytes())]
    return found
