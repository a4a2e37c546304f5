"""Datasets in object stores, in a server of each that the test starts."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keju.building.releasing.release import write_release
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset, partitioning
from keju.datasets.validate import validate
from keju.datasets.writers import export_dataset
from keju.errors import DataError, UsageError
from keju.object_stores import ObjectFolder, parse_address, upload_folder
from keju.running import run
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.object_server import AZURE_SECRET, KEY, SECRET, ObjectServer, reach

OCCUPIED = (
    "{}: objects already exist there, or another process is writing there. Use another address; "
    "after an interrupted upload, delete its objects"
)


@pytest.fixture
def local(tmp_path: Path) -> Dataset:
    return Dataset.open(make_dataset(tmp_path / "local", pages=6))


def objects(address: str) -> list[str]:
    return [each.name for each in ObjectFolder(parse_address(address)).list()]


@pytest.mark.parametrize("parts", [0, 4])
@pytest.mark.parametrize("form", ["images", "packed"])
def test_a_dataset_is_the_same_at_an_address(
    local: Dataset, address: str, tmp_path: Path, form: str, parts: int
):
    with partitioning(parts):
        made = make_dataset(tmp_path / "made", pages=6)
        if form == "packed":
            export_dataset("parquet", made, Path(address))
        else:
            upload_folder(made, ObjectFolder(parse_address(address)), "dataset.json")
    assert ".unfinished" not in objects(address)
    remote = Dataset.open(Path(address))
    assert remote.address == address
    assert bool(remote.packed) == (form == "packed")
    assert remote.items_path.is_dir() == bool(parts)
    assert remote.manifest == local.manifest
    assert remote.items() == local.items()
    for item in remote:
        assert remote.image_bytes(item.images[0]) == local.image_bytes(item.images[0])
    assert not [each for each in validate(Path(address)) if each.severity == "error"]


def test_images_are_fetched_when_they_are_read_and_once(
    local: Dataset, address: str, tmp_path: Path
):
    upload_folder(local.path, ObjectFolder(parse_address(address)), "dataset.json")
    remote = Dataset.open(Path(address))
    items = remote.items()
    assert not list((tmp_path / "cache").rglob("objects/*/*"))
    remote.image_bytes(items[0].images[0])
    assert len(list((tmp_path / "cache").rglob("objects/*/*"))) == 1
    folder = ObjectFolder(parse_address(address))
    folder.delete(items[0].images[0].path)
    assert Dataset.open(Path(address)).image_bytes(items[0].images[0])
    folder.delete(items[1].images[0].path)
    with pytest.raises(DataError) as caught:
        remote.image_bytes(items[1].images[0])
    assert caught.value.template == "the object does not exist"
    assert items[1].images[0].path in str(caught.value)


def test_an_exchanged_image_is_refused_and_not_cached(local: Dataset, address: str, tmp_path: Path):
    folder = ObjectFolder(parse_address(address))
    upload_folder(local.path, folder, "dataset.json")
    first, second = (item.images[0] for item in local.items()[:2])
    folder.write(first.path, local.image_bytes(second))
    remote = Dataset.open(Path(address))
    with pytest.raises(DataError) as caught:
        remote.image_bytes(first)
    assert caught.value.template.startswith("the image is not the one")
    assert not list((tmp_path / "cache").rglob("objects/*/*"))


def test_a_release_and_an_import_are_written_to_an_address(
    local: Dataset, address: str, tmp_path: Path
):
    done = write_release(local, Path(address))
    assert sorted(objects(address)) == sorted(done.files)
    again = import_dataset(
        "parquet", local.path, Path(f"{address}-import"), name="small", version="1",
        licence="CC0-1.0", source="made by the tests",
    )  # fmt: skip
    assert again.manifest.hash == Dataset.open(Path(address)).manifest.hash == local.manifest.hash
    released = write_release(Dataset.open(Path(address)), tmp_path / "local-release")
    assert Dataset.open(released.folder).items() == local.items()
    assert not list((tmp_path / "cache" / "staging").iterdir())


def test_what_exists_at_an_address_is_never_overwritten(local: Dataset, address: str):
    write_release(local, Path(address))
    before = objects(address)
    with pytest.raises(UsageError) as caught:
        write_release(local, Path(address))
    assert caught.value.template == OCCUPIED
    assert objects(address) == before


def test_of_writers_at_the_same_time_one_succeeds(local: Dataset, address: str):
    folder = ObjectFolder(parse_address(address))

    def write(_: int) -> str:
        try:
            upload_folder(local.path, folder, "dataset.json")
        except UsageError as error:
            return error.template
        return "done"

    with ThreadPoolExecutor(6) as pool:
        ends = list(pool.map(write, range(6)))
    assert ends.count("done") == 1
    assert {*ends} == {"done", OCCUPIED}
    assert Dataset.open(Path(address)).items() == local.items()


def test_of_many_conditional_puts_exactly_one_is_written(address: str):
    folder = ObjectFolder(parse_address(address))
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: folder.create("one", b"%d" % n), range(24)))
    assert won.count(True) == 1
    assert folder.read("one") == b"%d" % won.index(True)


def test_an_interrupted_upload_is_not_a_dataset_and_is_named(local: Dataset, address: str):
    folder = ObjectFolder(parse_address(address))
    folder.create(".unfinished", b"x")
    folder.write("items.parquet", local.items_path)
    with pytest.raises(UsageError) as caught:
        Dataset.open(Path(address))
    assert caught.value.template == "{}: there is no dataset (no object {})"
    with pytest.raises(UsageError) as caught:
        upload_folder(local.path, folder, "dataset.json")
    assert caught.value.template == OCCUPIED


def test_a_run_records_the_address_and_finds_the_dataset_again(
    local: Dataset, address: str, tmp_path: Path
):
    upload_folder(local.path, ObjectFolder(parse_address(address)), "dataset.json")
    run(Path(address), ["baseline:copy"], tmp_path / "run")
    run(local.path, ["baseline:copy"], tmp_path / "run-local")
    remote, near = RunFolder.open(tmp_path / "run"), RunFolder.open(tmp_path / "run-local")
    assert remote.manifest().dataset_path == address
    assert remote.manifest().dataset_hash == near.manifest().dataset_hash
    assert remote.dataset().items() == near.items()
    texts = [[(r.item, r.text) for r in each.responses()] for each in (remote, near)]
    assert texts[0] == texts[1]


def test_commands_take_addresses(local: Dataset, address: str, server, tmp_path: Path):
    steps = [
        ("data", "export", "parquet", local.path, "--out", address),
        ("data", "validate", address),
        ("build", "subset", address, "--out", f"{address}-2", "--partition-items", 2),
        ("run", f"{address}-2", "--model", "baseline:copy", "--out", "run", "--limit", 2),
        ("score", "run"),
    ]
    for step in steps:
        done = keju(*step, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not any(each in done.stdout + done.stderr for each in (SECRET, AZURE_SECRET))
    assert objects(f"{address}-2").count("items/part-00002.parquet") == 1
    assert not list(tmp_path.glob("*:"))
    refused = keju("report", address, "-o", "r.html", cwd=tmp_path)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    for path in tmp_path.rglob("*"):
        if path.is_file():
            for secret in (SECRET, AZURE_SECRET, KEY):
                assert secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("bucket", "NoSuchBucket|ContainerNotFound"),
        ("server", "error sending request"),
        ("key", ""),
    ],
)
def test_an_error_of_the_store_is_one_line_and_repeats_no_credentials(
    local: Dataset, server: ObjectServer, tmp_path: Path, monkeypatch, fault: str, reason: str
):
    if fault == "bucket":
        server = server._replace(bucket="missing-bucket")
    if fault == "server":
        reach(server._replace(url="http://127.0.0.1:9"), monkeypatch)
    if fault == "key":
        for name in set(server.environment) & {"AWS_ACCESS_KEY_ID", "GOOGLE_BEARER_TOKEN",
                                               "AZURE_STORAGE_ACCOUNT_KEY"}:  # fmt: skip
            monkeypatch.setenv(name, "AKIASECRETSECRETSECR\n")
    monkeypatch.setattr("keju.object_stores.MAX_RETRIES", 0)
    address = Path(server.at(f"never/{fault}"))
    for act in (lambda: write_release(local, address), lambda: Dataset.open(address)):
        with pytest.raises((DataError, UsageError)) as caught:
            act()
        settings = (
            "the settings of the object store in the environment are not valid ({}). Check {}"
        )
        request = "the request to the object store failed ({})"
        assert caught.value.template == (settings if fault == "key" else request)
        assert re.search(reason, str(caught.value))
        text = f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"
        for secret in (KEY, SECRET, AZURE_SECRET, "AKIASECRET", "Signature", "Authorization"):
            assert secret not in text
        assert "\n" not in str(caught.value)
    assert not list(Path().glob("*:"))


def test_of_a_missing_object_the_deletion_is_not_an_error(address: str):
    folder = ObjectFolder(parse_address(address))
    folder.delete("nothing")
    folder.write("one", b"1")
    for _ in range(2):
        folder.delete("one")
    assert folder.find("one") is None
