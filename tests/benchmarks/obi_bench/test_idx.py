"""Labelled crops in IDX files."""

from __future__ import annotations

import gzip
import io
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from keju.benchmarks.obi_bench.readers import idx
from keju.datasets.readers import Imported, import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError

PICTURES = np.random.default_rng(3).integers(0, 256, (5, 4, 6), dtype=np.uint8)
LABELS = np.array([0, 1, 1, 2, 0], np.uint8)


def packed(values: np.ndarray, *, magic: int | None = None) -> bytes:
    head = 0x800 + values.ndim if magic is None else magic
    return struct.pack(f">I{values.ndim}I", head, *values.shape) + values.tobytes()


@pytest.fixture
def src(tmp_path: Path) -> Path:
    root = tmp_path / "idx"
    root.mkdir()
    (root / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(packed(PICTURES), mtime=0))
    (root / "t10k-labels-idx1-ubyte").write_bytes(packed(LABELS))
    return root


def read(src: Path, **options: str) -> Imported:
    about = {"name": "n", "version": "1", "licence": "Apache-2.0", "source": "s"}
    return import_dataset("idx", src, src.parent / "out", **about, options=options)


def test_each_crop_is_a_labelled_reference_with_its_pixels_unchanged(src: Path) -> None:
    read(src)
    dataset = Dataset.open(src.parent / "out")
    items = dataset.items()
    assert [item.id for item in items] == [f"t10k-0000{n}" for n in range(5)]
    assert [item.metadata["class"] for item in items] == ["0", "1", "1", "2", "0"]
    assert {(item.task, item.split) for item in items} == {("classification", "reference")}
    for item, picture in zip(items, PICTURES, strict=True):
        stored = Image.open(io.BytesIO(dataset.image_bytes(item.images[0])))
        assert (stored.format, stored.mode) == ("PNG", "L")
        assert np.array_equal(np.asarray(stored), picture)
    assert list(validate(dataset.path)) == []


def test_the_images_file_alone_may_be_named(src: Path) -> None:
    assert read(src / "t10k-images-idx3-ubyte.gz").manifest.items == 5


def test_labels_without_pictures_are_passed_over_and_said(src: Path) -> None:
    (src / "train-labels-idx1-ubyte.gz").write_bytes(b"x")
    assert read(src).notes == (
        "skipped train-labels-idx1-ubyte.gz: labels without images",
        "No group column: images are the units of independence (5)",
    )


def test_classes_can_have_names(src: Path) -> None:
    names = src / "names.txt"
    names.write_text("大\n日\n月\n")
    read(src, classes=str(names))
    items = Dataset.open(src.parent / "out").items()
    assert [item.answer for item in items] == ["大", "日", "日", "月", "大"]
    assert items[3].metadata == {"class": "2", "class_name": "月", "set": "t10k"}


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("大\n日\n", "label 3: class 2, but there are names for 0 to 1"),
        ("大\n\n月\n", "a class without a name"),
        ("大\n日\n大\n", "two classes have one name"),
    ],
)
def test_names_that_do_not_fit_the_labels_are_named(src: Path, names: str, says: str) -> None:
    (src / "names.txt").write_text(names)
    with pytest.raises(DataError, match=says):
        read(src, classes=str(src / "names.txt"))


@pytest.mark.parametrize(
    ("images", "says"),
    [
        (packed(PICTURES, magic=0x801), "expected IDX magic 0x00000803 .*found 0x00000801"),
        (packed(PICTURES, magic=0xD03), "found 0x00000d03"),
        (b"", "expected IDX magic 0x00000803"),
        (b"<!DOCTYPE html>", "expected IDX magic"),
        (packed(PICTURES)[:10], "truncated: 10 bytes, less than its header"),
        (packed(PICTURES)[:-1], "its header says 5 x 4 x 6 = 120 bytes; found 119"),
        (packed(PICTURES) + b"x", "its header says 5 x 4 x 6 = 120 bytes; found 121"),
        (struct.pack(">4I", 0x803, 2**31, 2**31, 2**31), "its header says"),
        (struct.pack(">4I", 0x803, 5, 0, 6), "its header says 5 x 0 x 6 = 0"),
        (packed(PICTURES[:4]), "5 labels, but .* has 4 images"),
        (gzip.compress(packed(PICTURES), mtime=0)[:-9], "damaged gzip"),
        (gzip.compress(packed(PICTURES), mtime=0)[:15] + b"\xff" * 20, "damaged gzip"),
        (gzip.compress(packed(PICTURES), mtime=0) + b"\0\0", "more data after its end"),
    ],
)
def test_a_file_that_is_not_what_its_header_says_is_named(
    src: Path, images: bytes, says: str
) -> None:
    (src / "t10k-images-idx3-ubyte.gz").write_bytes(images)
    with pytest.raises(DataError, match=says):
        read(src)


def test_a_gzip_bomb_is_not_unpacked(src: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idx, "MAX_BYTES", 1 << 20)
    (src / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(50 << 20)))
    with pytest.raises(DataError, match="more than 1 MB unpacked"):
        read(src)


def test_missing_files_are_named(src: Path) -> None:
    (src / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataError, match=r"its labels are missing: expected t10k-labels-idx1-ubyte"):
        read(src)
    (src / "t10k-images-idx3-ubyte.gz").unlink()
    with pytest.raises(DataError, match=r"expected NAME-images-idx3-ubyte\[\.gz\]; found nothing"):
        read(src)


def test_oracle_mnist_imports_and_its_3000_crops_validate(shared: Path, tmp_path: Path) -> None:
    about = {"version": "1", "licence": "Apache-2.0", "source": "wm-bupt/oracle-mnist"}
    done = import_dataset(
        "idx", shared / "data/oracle-mnist", tmp_path / "d", name="oracle-mnist", **about
    )
    assert (done.manifest.items, done.manifest.images) == (3000, 3000)
    assert list(validate(tmp_path / "d")) == []
    classes = [item.answer for item in Dataset.open(tmp_path / "d").items()]
    assert {name: classes.count(name) for name in classes} == {str(n): 300 for n in range(10)}
