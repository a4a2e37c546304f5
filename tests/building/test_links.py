"""The names ``dataset`` and ``release`` in a build, with and without links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keju.building.links import link_folder, link_target, remove_link
from keju.errors import DataError


def step(folder: Path, text: str) -> Path:
    """The output of a step."""
    (folder / "images").mkdir(parents=True)
    (folder / "images/a.txt").write_text(text, "utf-8")
    return folder


def refuse(*_: object, **__: object) -> None:
    """Windows without developer mode."""
    raise OSError(1314, "A required privilege is not held by the client")


@pytest.fixture
def no_symlinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "symlink", refuse)


@pytest.fixture
def no_links(no_symlinks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse)


def test_a_link_is_relative_and_replaces_an_older_one(tmp_path: Path) -> None:
    for number in (1, 2):
        link_folder(tmp_path / "dataset", step(tmp_path / f"steps/{number}", str(number)))
    assert (tmp_path / "dataset").readlink() == Path("steps/2")
    assert link_target(tmp_path / "dataset") == (tmp_path / "steps/2").resolve()
    remove_link(tmp_path / "dataset")
    assert [path.name for path in tmp_path.iterdir()] == ["steps"]


@pytest.mark.usefixtures("no_symlinks")
def test_without_links_the_files_are_linked(tmp_path: Path) -> None:
    made = step(tmp_path / "steps/1", "one")
    link_folder(tmp_path / "dataset", made)
    assert not (tmp_path / "dataset").is_symlink()
    assert (tmp_path / "dataset/images/a.txt").samefile(made / "images/a.txt")
    assert link_target(tmp_path / "dataset") == made.resolve()


@pytest.mark.usefixtures("no_links")
def test_without_any_links_the_files_are_copied_and_replaced(tmp_path: Path) -> None:
    link = tmp_path / "dataset"
    for number in (1, 2):
        link_folder(link, step(tmp_path / f"steps/{number}", str(number)))
    assert (link / "images/a.txt").read_text("utf-8") == "2"
    assert not (link / "images/a.txt").samefile(tmp_path / "steps/2/images/a.txt")
    assert (tmp_path / ".dataset.copy").read_bytes() == b"steps/2\n"
    remove_link(link)
    assert [path.name for path in tmp_path.iterdir()] == ["steps"]


def test_a_copy_becomes_a_link_where_links_are_permitted_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = step(tmp_path / "steps/1", "one")
    with monkeypatch.context() as patched:
        patched.setattr(os, "symlink", refuse)
        link_folder(tmp_path / "dataset", made)
    link_folder(tmp_path / "dataset", made)
    assert (tmp_path / "dataset").is_symlink()
    assert not (tmp_path / ".dataset.copy").exists()


def test_a_folder_of_somebody_else_is_not_ours(tmp_path: Path) -> None:
    mine = step(tmp_path / "release", "mine")
    assert link_target(mine) is None
    remove_link(mine)
    assert (mine / "images/a.txt").read_text("utf-8") == "mine"


@pytest.mark.usefixtures("no_links")
def test_a_copy_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError) as failed:
        link_folder(tmp_path / "dataset", tmp_path / "steps/none")
    assert failed.value.file == str(tmp_path / "dataset")
