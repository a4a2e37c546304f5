"""Every question about an image can be answered from the image."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from keju.definitions import task
from keju.errors import DataError
from keju.text import simplified_reference
from keju_synthetic.pictures.illustrations import SCENES as CUT
from keju_synthetic.pictures.illustrations import load_prints
from keju_synthetic.pictures.paintings import SCENES as PAINTED
from keju_synthetic.pictures.paintings import load_paintings
from keju_synthetic.pictures.works import Work

RECIPES = Path(__file__).resolve().parents[2] / "src/keju_synthetic/recipes/mini"

FAMILIES = {
    "paintings": (load_paintings(), "Painting", PAINTED, range(16, 28)),
    "illustrations": (load_prints(), "Illustration", CUT, range(37, 46)),
}
WORKS = [(name, work) for name, (works, *_) in FAMILIES.items() for work in works.values()]


def written(work: Work) -> str:
    """All that can be read in the picture, in simplified characters, without breaks."""
    return simplified_reference("".join(w.text for w in work.writings)).replace("\n", "")


def list_asked_tasks(work: Work) -> list[str]:
    tasks = [choice.task for choice in work.choices] + [short.task for short in work.shorts]
    return tasks + [*work.texts] + ([work.reads] if work.reads else [])


@pytest.mark.parametrize(("family", "work"), WORKS, ids=lambda v: getattr(v, "id", v))
def test_a_work_names_a_scene_and_tasks_of_its_domain(family: str, work: Work):
    _, domain, scenes, _ = FAMILIES[family]
    assert work.scene in scenes
    for name in list_asked_tasks(work):
        assert task(name).domain == domain


@pytest.mark.parametrize(("family", "work"), WORKS, ids=lambda v: getattr(v, "id", v))
def test_author_dynasty_title_and_source_stand_in_the_picture(family: str, work: Work):
    text = written(work)
    for choice in work.choices:
        assert choice.right not in choice.others
        assert len({choice.right, *choice.others}) == 4
        if choice.task in {"T18", "T24", "T41"}:
            names = re.split(r"[（）]", choice.right)
            quoted = len(text) > 20 and choice.task == "T41"
            assert quoted or any(name and name in text for name in names), (work.id, choice.task)
        elif choice.task == "T20":
            assert choice.right in text
        elif choice.task == "T19":
            assert text.startswith(choice.right[-1])


@pytest.mark.parametrize(("family", "work"), WORKS, ids=lambda v: getattr(v, "id", v))
def test_the_correct_option_is_not_recognised_by_its_length(family: str, work: Work):
    for choice in work.choices:
        longest = max(map(len, choice.others))
        assert len(choice.right) <= longest + 2, (work.id, choice.task)


@pytest.mark.parametrize(("family", "work"), WORKS, ids=lambda v: getattr(v, "id", v))
def test_open_answers_are_of_the_length_that_the_benchmark_has(family: str, work: Work):
    means = {"T17": 446, "T22": 228, "T25": 215, "T27": 196, "T38": 208, "T39": 283, "T44": 328}
    for name, text in work.texts.items():
        assert 0.75 * means[name] < len(text.strip()) < 1.3 * means[name], (work.id, name)
        assert simplified_reference(text) == text or work.id == "molan", (work.id, name)


@pytest.mark.parametrize("family", FAMILIES)
def test_mini_asks_enough_of_every_task(family: str):
    works, _, _, numbers = FAMILIES[family]
    recipe = tomllib.loads((RECIPES / f"{family}.toml").read_text("utf-8"))
    tests, references = Counter(), Counter()
    for entry in recipe[family]:
        for name in list_asked_tasks(works[entry.get("work", entry["id"])]):
            (references if entry.get("split") == "reference" else tests)[name] += 1
    for number in numbers:
        name = f"T{number}"
        assert tests[name] >= 3, name
        if task(name).format == "MCQ" or name in {"T21", "T45"}:
            assert references[name] >= 1, name


def test_two_works_of_one_id_are_refused(tmp_path: Path):
    path = tmp_path / "twice.toml"
    entry = '[[works]]\nid = "a"\ntitle = "a"\nbook = "b"\nscene = "zither"\nsize = [9, 9]\n'
    path.write_text(entry * 2, "utf-8")
    with pytest.raises(DataError) as caught:
        load_prints(path)
    assert (caught.value.id, caught.value.item) == ("synthetic.id-twice", "a")
