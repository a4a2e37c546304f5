"""What a build says of licences, where it says that things lie, and what it says comes next."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.next_steps import describe_next_steps
from keju.building.recipe import read_recipe
from keju.datasets.store import Dataset, DatasetWriter
from tests.support.builds import run_keju
from tests.support.making import make_dataset

SOURCE = '[[source]]\nform = "dataset"\npath = "d"\n'
RELEASE = '[[step]]\ndo = "release"\n'


def build(tmp_path: Path, text: str, *, head: str = "") -> list[str]:
    """Build a recipe in BUILD; the lines that it says, and its last words."""
    file = tmp_path / "r.toml"
    file.write_text(f'name = "r"\n{head}\n{text}')
    lines: list[str] = []
    pipeline.build(read_recipe(file), tmp_path / "BUILD", engine=Engine(), say=lines.append)
    return [*lines, *describe_next_steps(tmp_path / "BUILD")]


def drafts(tmp_path: Path, **changes: object) -> None:
    """The dataset `d`, whose items are drafts."""
    given = Dataset.open(make_dataset(tmp_path / "plain", pages=2))
    with DatasetWriter(
        tmp_path / "d", name="d", version="1", licence="CC0-1.0", source="s"
    ) as writer:
        for item in given.items():
            for ref in item.images:
                writer.link_image(given.image_path(ref), ref)
            writer.add(replace(item, draft=True, **changes))


def test_the_release_is_found_at_one_name_and_goes_with_its_step(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", pages=2)
    lines = build(tmp_path, SOURCE + RELEASE)
    release = tmp_path / "BUILD/release"
    assert lines[-2:] == [
        f"The release is in {release} (steps/01-release/release)",
        f"Next: keju data validate {release}",
    ]
    assert Dataset.open(release).manifest.items == 2
    lines = build(tmp_path, SOURCE)
    assert not release.is_symlink()
    assert lines[-1] == f"Next: keju data validate {tmp_path / 'BUILD/dataset'}"


def test_a_release_that_somebody_put_there_is_left_alone(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", pages=2)
    build(tmp_path, SOURCE)
    mine = tmp_path / "BUILD/release/mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    build(tmp_path, SOURCE + RELEASE)
    assert mine.read_text() == "mine"


def test_items_that_wait_are_to_be_drafted_or_written(tmp_path: Path) -> None:
    drafts(tmp_path, answer="", transcription="天地")
    assert build(tmp_path, SOURCE)[-2:] == [
        "Next: 2 items have no answer yet. Draft with a model: keju build draft "
        f"{tmp_path / 'BUILD/dataset'} --out NEW --model MODEL",
        f"      Or let people write: keju build review export {tmp_path / 'BUILD/dataset'} "
        "--out sheet.csv",
    ]


def test_answered_drafts_are_to_be_reviewed(tmp_path: Path) -> None:
    drafts(tmp_path)
    last = build(tmp_path, SOURCE)[-1]
    assert last.startswith("Next: 2 items are drafts. Have people review them: keju build review")


def test_drafts_without_answers_are_released_where_that_is_said(tmp_path: Path) -> None:
    drafts(tmp_path, answer="", transcription="天地")
    build(tmp_path, SOURCE + RELEASE + "drafts = true\n")
    done = run_keju("data", "validate", tmp_path / "BUILD/release")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("a draft of T1 without answer") == 1


def test_a_source_with_another_licence_than_the_recipe_is_noted_at_the_join(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", pages=2)
    lines = build(tmp_path, SOURCE + 'licence = "CC-BY-SA-4.0"\n', head='licence = "MIT"')
    assert any("recipe is MIT, that of a source CC-BY-SA-4.0" in line for line in lines)


def test_the_command_ends_with_the_last_words(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", pages=2)
    file = tmp_path / "r.toml"
    file.write_text(f'name = "r"\n{SOURCE}{RELEASE}')
    done = run_keju("build", file, "--out", tmp_path / "BUILD")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "(steps/01-release/release)" in said
    assert said.endswith(f"Next: keju data validate {tmp_path / 'BUILD/release'}")
