"""Links in a source: only those of Hugging Face's cache may lead out of the folder."""

from __future__ import annotations

import pytest

from keju.datasets.readers.base import files_under, inside, kept_inside, leads_out
from keju.errors import DataError
from tests.support.released import put

REVISION = "0123456789abcdef0123456789abcdef01234567"
BLOB = "ab" * 32


def snapshot(root, repository="datasets--owner--name", revision=REVISION):
    folder = root / repository / "snapshots" / revision
    (folder / "imgs").mkdir(parents=True)
    put(root / repository / "blobs" / BLOB, b"x")
    put(root / repository / "blobs" / "notes.txt", b"x")
    return folder


def test_a_link_to_a_blob_of_the_same_repository_is_followed(tmp_path):
    folder = snapshot(tmp_path)
    (folder / "imgs/a.png").symlink_to(f"../../../blobs/{BLOB}")
    assert kept_inside(folder / "imgs/a.png", folder) == folder / "imgs/a.png"
    assert inside(folder, "imgs/a.png", file=folder, item="1") == folder / "imgs/a.png"
    assert list(files_under(folder, {"png"})) == [folder / "imgs/a.png"]
    assert list(files_under(folder / "imgs", {"png"})) == [folder / "imgs/a.png"]


@pytest.mark.parametrize(
    ("target", "repository", "revision"),
    [
        ("../../../blobs/notes.txt", "datasets--owner--name", REVISION),
        ("../../../../other/" + BLOB, "datasets--owner--name", REVISION),
        ("../../../../../secret", "datasets--owner--name", REVISION),
        (f"../../../blobs/{BLOB}", "folder", REVISION),
        (f"../../../blobs/{BLOB}", "datasets--owner--name", "main"),
        (f"../../../../datasets--b--b/blobs/{BLOB}", "datasets--owner--name", REVISION),
    ],
)
def test_any_other_link_to_outside_is_refused(tmp_path, target, repository, revision):
    put(tmp_path / "secret", b"x")
    put(tmp_path / "other" / BLOB, b"x")
    put(tmp_path / "datasets--b--b" / "blobs" / BLOB, b"x")
    folder = snapshot(tmp_path, repository, revision)
    (folder / "imgs/a.png").symlink_to(target)
    assert leads_out(folder / "imgs/a.png", folder)
    with pytest.raises(DataError, match="points outside"):
        kept_inside(folder / "imgs/a.png", folder)
    with pytest.raises(DataError, match="must be inside"):
        inside(folder, "imgs/a.png", file=folder, item="1")


def test_blobs_that_are_a_link_themselves_are_refused(tmp_path):
    folder = snapshot(tmp_path)
    outside = tmp_path / "elsewhere"
    put(outside / BLOB, b"x")
    blobs = folder.parents[1] / "blobs"
    for path in blobs.iterdir():
        path.unlink()
    blobs.rmdir()
    blobs.symlink_to(outside)
    (folder / "a.png").symlink_to(f"../../blobs/{BLOB}")
    assert leads_out(folder / "a.png", folder)


def test_a_blob_that_leads_on_is_refused(tmp_path):
    folder = snapshot(tmp_path)
    put(tmp_path / "secret", b"x")
    (folder.parents[1] / "blobs" / ("cd" * 32)).symlink_to(tmp_path / "secret")
    (folder / "a.png").symlink_to("../../blobs/" + "cd" * 32)
    assert leads_out(folder / "a.png", folder)


def test_a_folder_that_is_a_link_is_refused_even_in_the_cache(tmp_path):
    folder = snapshot(tmp_path)
    (tmp_path / "far").mkdir()
    (tmp_path / "far/a.png").symlink_to(folder.parents[1] / "blobs" / BLOB)
    (folder / "far").symlink_to(tmp_path / "far")
    assert leads_out(folder / "far/a.png", folder)


def test_a_link_inside_the_folder_is_followed(tmp_path):
    put(tmp_path / "a.png", b"x")
    (tmp_path / "b.png").symlink_to("a.png")
    assert not leads_out(tmp_path / "b.png", tmp_path)
