"""A dataset folder: what is written, what is refused, what survives a crash."""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from msgspec.structs import replace

from keju.datasets.store import Dataset, DatasetWriter, items_hash
from keju.datasets.table import write_items
from keju.errors import DataError, UsageError
from keju.items import ImageRef, Item, Line
from tests.support.small_datasets import ABOUT, picture


def page(item_id: str = "p1", **more: object) -> Item:
    return Item(**({"id": item_id, "benchmark": "MCS-Bench", "task": "T1", "answer": "天"} | more))


def files(path: Path) -> set[str]:
    return {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}


def test_an_image_of_another_dataset_is_linked_or_copied_and_must_be_whole(tmp_path: Path) -> None:
    data = picture(3)
    with DatasetWriter(tmp_path / "one", **ABOUT) as writer:
        ref = writer.add_image(data, "scan.png")
        writer.add(page(images=(ref,)))
    file = tmp_path / "one" / ref.path
    with DatasetWriter(tmp_path / "two", **ABOUT) as writer:
        assert not writer.has_image(ref)
        writer.link_image(file, ref)
        assert writer.has_image(ref)
        writer.add(page(images=(ref,)))
    assert (tmp_path / "two" / ref.path).samefile(file)
    with DatasetWriter(tmp_path / "three", **ABOUT) as writer:
        writer.link_image(file, ref, copy=True)
        writer.add(page(images=(ref,)))
    assert not (tmp_path / "three" / ref.path).samefile(file)
    assert (tmp_path / "three" / ref.path).read_bytes() == data
    writer = DatasetWriter(tmp_path / "four", **ABOUT)
    with pytest.raises(DataError, match="size or SHA-256 differs"):
        writer.link_image(file, replace(ref, size=ref.size + 1))
    with pytest.raises(DataError, match="not readable"):
        writer.link_image(tmp_path / "nowhere", ref)
    writer.abandon()


def test_a_full_disk_is_not_laid_to_the_image_that_is_copied(tmp_path: Path, monkeypatch) -> None:
    with DatasetWriter(tmp_path / "one", **ABOUT) as writer:
        ref = writer.add_image(picture(3), "scan.png")
        writer.add(page(images=(ref,)))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("keju.datasets.store._store", full)
    writer = DatasetWriter(tmp_path / "two", **ABOUT)
    with pytest.raises(DataError, match=r"two.*cannot be written: No space left.*Free disk space"):
        writer.link_image(tmp_path / "one" / ref.path, ref, copy=True)
    writer.abandon()


def test_a_dataset_holds_its_manifest_its_items_and_its_images_byte_for_byte(
    tmp_path: Path,
) -> None:
    data = picture(9)
    with DatasetWriter(tmp_path / "d", **ABOUT, synthetic=True, language="lzh") as writer:
        ref = writer.add_image(data, "scan.png")
        writer.add(page(images=(ref,)))
    sha = hashlib.sha256(data).hexdigest()
    assert files(tmp_path / "d") == {"dataset.json", "items.parquet", f"images/{sha}.png"}
    assert ref == ImageRef(
        path=f"images/{sha}.png", sha256=sha, width=40, height=60, size=len(data)
    )
    dataset = Dataset.open(tmp_path / "d")
    assert dataset.items() == [page(images=(ref,))]
    assert dataset.image_bytes(ref) == data
    manifest = json.loads((tmp_path / "d/dataset.json").read_text())
    assert manifest == {
        "format": "keju-dataset-1", "name": "small", "version": "1", "licence": "CC0-1.0",
        "source": "made in the test", "hash": items_hash([page(images=(ref,))]),
        "synthetic": True, "language": "lzh", "script": "",
        "items": 1, "images": 1, "tasks": {"T1": 1}, "made": {},
    }  # fmt: skip


def test_the_extension_follows_the_content_and_equal_images_are_stored_once(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "d", **ABOUT) as writer:
        one = writer.add_image(picture(form="JPEG"), "wrong.png")
        two = writer.add_image(picture(form="JPEG"), "again.png")
        writer.add(page(images=(one, two)))
    assert one == two
    assert one.path.endswith(".jpg")
    assert Dataset.open(tmp_path / "d").manifest.images == 1


def test_the_same_input_gives_the_same_hash_and_any_change_another(tmp_path: Path) -> None:
    def hash_of(folder: str, answer: str = "天", shade: int = 1) -> str:
        with DatasetWriter(tmp_path / folder, **ABOUT) as writer:
            ref = writer.add_image(picture(shade), "p")
            line = Line(id="l", polygon=((0, 0), (1, 1)))
            writer.add(page(images=(ref,), answer=answer, lines=(line,), fields={"b": "", "a": ""}))
        return Dataset.open(tmp_path / folder).manifest.hash

    first = hash_of("one")
    assert first == hash_of("two")
    assert (tmp_path / "one/items.parquet").read_bytes() == (
        tmp_path / "two/items.parquet"
    ).read_bytes()
    assert len({first, hash_of("three", answer="夭"), hash_of("four", shade=2)}) == 3


def test_the_order_of_entries_does_not_change_the_hash_but_that_of_items_does() -> None:
    assert items_hash([page(fields={"a": "1", "b": "2"})]) == items_hash(
        [page(fields={"b": "2", "a": "1"})]
    )
    assert items_hash([page("a"), page("b")]) != items_hash([page("b"), page("a")])


@pytest.mark.parametrize("word", ["name", "version", "licence", "source"])
def test_name_version_licence_and_source_are_mandatory(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match=f"needs its {word}"):
        DatasetWriter(tmp_path / "d", **(ABOUT | {word: "  "}))
    assert not (tmp_path / "d").exists()


def test_opening_what_is_no_dataset_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"directory .*keju data import auto \S+ --out \S+"):
        Dataset.open(tmp_path)
    with pytest.raises(UsageError, match="dataset directory"):
        Dataset.open(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"format": "keju-dataset-1"}', '{"name": "\udc00"}'],
)  # fmt: skip
def test_a_damaged_manifest_is_a_data_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "dataset.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(DataError, match=r"dataset\.json: (not readable as JSON|the JSON)"):
        Dataset.open(tmp_path)


def test_a_manifest_of_another_format_is_refused(make: Callable[..., Dataset]) -> None:
    dataset = make(page())
    file = dataset.path / "dataset.json"
    file.write_text(file.read_text().replace("keju-dataset-1", "keju-dataset-9"))
    with pytest.raises(
        DataError, match="'keju-dataset-9', but this version of keju reads 'keju-dataset-1'"
    ):
        Dataset.open(dataset.path)


def test_items_other_than_the_manifests_are_refused(make: Callable[..., Dataset]) -> None:
    dataset = make(page())
    items = dataset.items()
    write_items(dataset.items_path, [replace(items[0], answer="夭")])
    with pytest.raises(DataError, match=r"not those that dataset\.json describes"):
        dataset.items()


def test_an_altered_or_missing_image_is_refused(make: Callable[..., Dataset]) -> None:
    dataset = make(page())
    ref = dataset.items()[0].images[0]
    path = dataset.image_path(ref)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="not the one that was imported"):
        dataset.image_bytes(ref)
    path.write_bytes(data + b"more")
    with pytest.raises(DataError, match="not the one that was imported"):
        dataset.image_bytes(ref)
    path.unlink()
    with pytest.raises(DataError, match="the image is missing"):
        dataset.image_bytes(ref)


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/etc/passwd", "../outside.png", "images/../../outside.png", "images/link.png",
        "linked/secret.png", "C:\\x.png", "..\\outside.png", "images/\0.png", "images/a:b.png",
    ],
)  # fmt: skip
def test_no_image_path_leaves_the_dataset(make: Callable[..., Dataset], path: str) -> None:
    dataset = make(page())
    outside = dataset.path.parent / "outside.png"
    outside.write_bytes(picture())
    (dataset.path.parent / "secret.png").write_bytes(picture())
    (dataset.images_dir / "link.png").symlink_to(outside)
    (dataset.path / "linked").symlink_to(dataset.path.parent)
    ref = ImageRef(path=path, sha256="", width=1, height=1, size=outside.stat().st_size)
    for read in (dataset.image_path, dataset.image_bytes):
        with pytest.raises(DataError, match="must be inside the dataset"):
            read(ref)


def test_a_dataset_reached_through_a_link_is_still_itself(make: Callable[..., Dataset]) -> None:
    dataset = make(page())
    link = dataset.path.parent / "link"
    link.symlink_to(dataset.path)
    linked = Dataset.open(link)
    assert linked.image_bytes(linked.items()[0].images[0]) == picture(0)


def test_a_writer_touches_no_folder_that_holds_something_else(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        DatasetWriter(tmp_path, **ABOUT)
    with pytest.raises(UsageError, match="not an empty folder"):
        DatasetWriter(tmp_path / "letters.txt", **ABOUT)
    assert files(tmp_path) == {"letters.txt"}


def test_a_writer_does_not_overwrite_a_dataset(make: Callable[..., Dataset]) -> None:
    dataset = make(page())
    before = files(dataset.path)
    with pytest.raises(UsageError, match="already contains a dataset"):
        DatasetWriter(dataset.path, **ABOUT)
    assert files(dataset.path) == before


def test_two_writers_do_not_share_a_folder(tmp_path: Path) -> None:
    first = DatasetWriter(tmp_path / "d", **ABOUT)
    first.add_image(picture(), "p")
    with pytest.raises(UsageError, match="another import is writing there"):
        DatasetWriter(tmp_path / "d", **ABOUT)
    first.abandon()


def test_after_a_crash_there_is_no_dataset_and_the_next_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "d"
    crashed = DatasetWriter(path, **ABOUT)
    kept = crashed.add_image(picture(1), "kept")
    crashed.add_image(picture(2), "dropped later")
    (path / kept.path).write_bytes(b"torn")
    crashed._lock.release()
    with pytest.raises(UsageError, match="did not finish"):
        Dataset.open(path)
    with DatasetWriter(path, **ABOUT) as writer:
        writer.add(page(images=(writer.add_image(picture(1), "kept"),)))
    assert files(path) == {"dataset.json", "items.parquet", kept.path}
    dataset = Dataset.open(path)
    assert dataset.image_bytes(kept) == picture(1)


def test_an_error_inside_leaves_an_unfinished_dataset(tmp_path: Path) -> None:
    def fail() -> None:
        with DatasetWriter(tmp_path / "d", **ABOUT) as writer:
            writer.add(page(images=(writer.add_image(picture(), "p"),)))
            raise DataError("page 2 is broken")

    with pytest.raises(DataError, match="page 2 is broken"):
        fail()
    with pytest.raises(UsageError, match="did not finish"):
        Dataset.open(tmp_path / "d")
    lock = FileLock(tmp_path / "d/.unfinished", timeout=0)
    lock.acquire()
    lock.release()


def test_an_import_that_failed_before_its_first_image_leaves_no_folder_in_the_way(
    tmp_path: Path,
) -> None:
    DatasetWriter(tmp_path / "d", **ABOUT).abandon()
    assert files(tmp_path) == set()


def test_a_dataset_without_items_is_refused(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "d", **ABOUT)
    with pytest.raises(DataError, match="no items"):
        writer.close()


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (page(""), "without an id"),
        (page("p1"), "p1: two items have this id"),
        (
            page("p2", images=(ImageRef(path="x", sha256="y", width=1, height=1, size=1),)),
            "p2: an image that was not added",
        ),
    ],
)
def test_the_writer_refuses_items_that_cannot_stand(tmp_path: Path, item: Item, says: str) -> None:
    writer = DatasetWriter(tmp_path / "d", **ABOUT)
    writer.add(page("p1"))
    with pytest.raises(DataError, match=says):
        writer.add(item)
    writer.abandon()


def test_a_broken_image_is_not_stored(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "d", **ABOUT)
    with pytest.raises(DataError, match=r"scan\.jpg: a web page, not an image"):
        writer.add_image(b"<html>404</html>", "scan.jpg")
    assert files(tmp_path / "d") == {".unfinished"}
    writer.abandon()
