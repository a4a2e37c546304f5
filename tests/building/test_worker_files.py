"""Files of workers: images found locally or fetched, and results in a folder or an object store."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from keju.building.engine import Engine
from keju.building.image_files import ImageFiles, UnavailableError
from keju.building.running import StepCall, run_step
from keju.building.scratch_files import ScratchFiles
from keju.building.standardising.step import STEP, StandardiseSettings
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.items import ImageRef
from keju.object_stores import ObjectFolder, parse_address, upload_folder
from tests.support.making import make_dataset
from tests.support.object_server import (
    SERVED,
    ObjectServer,
    need_object_server,
    reach,
    serving_objects,
)


class Word(Struct, frozen=True):
    text: str


class Said(Struct, frozen=True):
    text: str = ""
    error: str = ""


CALLS: list[str] = []


def say(word: Word) -> Said:
    CALLS.append(word.text)
    return Said(word.text)


@pytest.fixture(scope="module", params=SERVED)
def server(request: pytest.FixtureRequest):
    need_object_server()
    with serving_objects(request.param) as served:
        yield served


@pytest.fixture
def address(server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    reach(server, monkeypatch)
    monkeypatch.setenv("KEJU_CACHE", str(tmp_path / "cache"))
    return server.at(tmp_path.name)


@pytest.fixture
def given(tmp_path: Path) -> Dataset:
    return Dataset.open(make_dataset(tmp_path / "given", pages=6))


@pytest.fixture
def ref(given: Dataset) -> ImageRef:
    return given.items()[0].images[0]


def test_a_local_image_is_used_if_it_is_the_right_one(given, ref, address, tmp_path):
    upload_folder(given.path, ObjectFolder(parse_address(address)), "dataset.json")
    images = ImageFiles((str(given.path),), address)
    assert images.path(ImageFiles.name(ref)) == given.path / ref.path
    whole = (given.path / ref.path).read_bytes()
    for wrong in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        (given.path / ref.path).write_bytes(wrong)
        found = images.path(ImageFiles.name(ref))
        assert found.is_relative_to(tmp_path / "cache")
        assert found.read_bytes() == whole


def test_the_name_of_an_image_is_the_same_on_every_machine(given, ref):
    assert ImageFiles.name(ref) == f"{ref.sha256}:{ref.size}:{ref.path}"


def test_a_missing_image_is_an_error_of_the_image_and_names_its_path_in_the_dataset(given, ref):
    (given.path / ref.path).unlink()
    images = ImageFiles((str(given.path),))
    assert images.path(ImageFiles.name(ref)) == given.path / ref.path
    with pytest.raises(DataError) as caught:
        images.read(ImageFiles.name(ref))
    assert caught.value.file == ref.path


def test_an_image_that_cannot_be_fetched_is_not_an_error_of_the_item(
    given, ref, address, server, monkeypatch
):
    folder = ObjectFolder(parse_address(address))
    with pytest.raises(UnavailableError):
        ImageFiles((), address).path(ImageFiles.name(ref))
    folder.write(ref.path, b"another")
    with pytest.raises(UnavailableError, match=ref.path):
        ImageFiles((), address).path(ImageFiles.name(ref))
    for name in server.environment:
        monkeypatch.delenv(name)
    with pytest.raises(UnavailableError):
        ImageFiles((), address).path(ImageFiles.name(ref))


def test_files_of_an_object_store(address):
    files = ScratchFiles(address)
    assert files.read("parts/a") is None
    files.write("parts/a", b"1")
    assert files.read("parts/a") == b"1"
    files.write("b", b"2")
    files.delete_all()
    assert files.read("parts/a") is None
    assert list(ObjectFolder(parse_address(address)).list()) == []


def test_finished_partitions_at_an_address_are_found_again(address):
    words = [Word(f"{number}") for number in range(30)]
    engine = Engine(store=address)
    engine.map("say", words[:20], say, Said, chunk=10)
    names = [each.name for each in ObjectFolder(parse_address(address)).list()]
    assert len(names) == 2
    assert all(name.startswith("parts/say/") for name in names)
    CALLS.clear()
    out = engine.map("say", words, say, Said, chunk=10)
    assert [each.text for each in out] == [word.text for word in words]
    assert sorted(CALLS) == [f"{number}" for number in range(20, 30)]


def test_a_step_from_and_to_an_address_gives_the_same_dataset(given, address, tmp_path):
    settings = StandardiseSettings(pixels=50_000)
    local = run_step(StepCall(STEP, settings, given), tmp_path / "local", engine=Engine())
    upload_folder(given.path, ObjectFolder(parse_address(f"{address}/given")), "dataset.json")
    remote = Dataset.open(Path(f"{address}/given"))
    out = Path(f"{address}/out")
    done = run_step(StepCall(STEP, settings, remote), out, engine=Engine())
    assert done.manifest.hash == local.manifest.hash
    assert not list(ObjectFolder(parse_address(f"{address}/out.scratch")).list())
    made = Dataset.open(out)
    assert all(made.image_bytes(item.images[0]) for item in made)


def test_an_image_that_the_store_lacks_ends_the_step(given, ref, address, tmp_path):
    folder = ObjectFolder(parse_address(address))
    upload_folder(given.path, folder, "dataset.json")
    folder.delete(ref.path)
    work = StepCall(STEP, StandardiseSettings(), Dataset.open(Path(address)))
    with pytest.raises(DataError):
        run_step(work, tmp_path / "out", engine=Engine())
    assert not (tmp_path / "out" / "dataset.json").exists()
