"""Recipes: what is read, joined, done, done again and refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.building import pipeline
from keju.building.engine import Engine
from keju.building.recipe import read_recipe
from keju.building.step import Settings
from keju.datasets.store import Dataset
from keju.errors import DataError, KejuError, ProblemsError, UsageError
from keju.settings import convert_settings
from keju.texts import _
from tests.support.builds import bench_over, run_keju
from tests.support.making import make_dataset, page_item

RECIPE = """
name = "trial"
[[source]]
form = "dataset"
path = "one"
[[source]]
form = "dataset"
path = "two"
name = "second"
[[step]]
do = "subset"
limit = 3
[[step]]
do = "subset"
limit = 2
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A folder with the recipe and its sources."""
    folder = tmp_path_factory.mktemp("template")
    make_dataset(folder / "one", pages=2)
    make_dataset(folder / "two", pages=4, first=1)
    (folder / "trial.toml").write_text(RECIPE)
    return folder


@pytest.fixture
def recipe(template, tmp_path) -> Path:
    """A copy that the test may change."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path / "trial.toml"


def built(file: Path, out: Path) -> tuple[pipeline.BuildRecord, list[str]]:
    lines: list[str] = []
    record = pipeline.build(read_recipe(file), out, engine=Engine(), say=lines.append)
    return record, lines


@pytest.fixture(scope="module")
def finished_build(template, tmp_path_factory) -> tuple[pipeline.BuildRecord, Path]:
    """A build that the tests only read."""
    folder = tmp_path_factory.mktemp("finished") / "b"
    return built(template / "trial.toml", folder)[0], folder


def test_sources_are_joined_with_ids_of_their_own(finished_build):
    record, folder = finished_build
    joined = Dataset.open(folder / "steps" / "00-join")
    names = [item.id for item in joined.items()]
    assert names == ["i0000", "i0001", "second/i0000", "second/i0001", "i0002", "i0003"]
    assert joined.manifest.images == 5
    assert record.steps[0].notes == ["2 ids of second were taken; they begin second/"]
    (entry,) = joined.items()[0].provenance
    assert (entry.step, entry.licence, entry.source) == ("dataset", "CC0-1.0", "made by the tests")


def test_the_last_step_is_the_dataset(finished_build):
    record, folder = finished_build
    dataset = Dataset.open(folder / "dataset")
    assert dataset.manifest.hash == record.hash
    assert dataset.manifest.name == "trial"
    assert [item.id for item in dataset.items()] == ["i0000", "i0001"]
    assert all(dataset.image_bytes(item.images[0]) for item in dataset.items())
    assert json.loads((folder / "build.json").read_text())["hash"] == record.hash


def test_what_stands_is_not_done_again(recipe, tmp_path):
    first, _ = built(recipe, tmp_path / "b")
    stamp = (tmp_path / "b" / "steps" / "01-subset" / "items.parquet").stat().st_mtime_ns
    again, lines = built(recipe, tmp_path / "b")
    assert again == first
    assert sum("up to date" in line for line in lines) == 5
    assert (tmp_path / "b" / "steps" / "01-subset" / "items.parquet").stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda step: (step / "items.parquet").unlink(), "output of the step is incomplete"),
        (
            lambda step: next((step / "images").iterdir()).unlink(),
            "output of the step is incomplete",
        ),
        (lambda step: (step / "step.json").write_text("{"), "not readable as JSON"),
        (lambda step: (step / "dataset.json").write_text("[]"), "expected structure"),
    ],
)
def test_a_damaged_step_does_not_pass_for_one_that_stands(recipe, tmp_path, damage, said):
    built(recipe, tmp_path / "build")
    last = (tmp_path / "build" / "dataset").resolve()
    damage(last)
    with pytest.raises(DataError, match=f"{said}.*Delete .*{last.name} to rebuild it"):
        built(recipe, tmp_path / "build")
    shutil.rmtree(last)
    built(recipe, tmp_path / "build")
    assert (last / "items.parquet").is_file()


def test_a_changed_step_is_done_anew_and_all_after_it(recipe, tmp_path):
    built(recipe, tmp_path / "b")
    recipe.write_text(RECIPE.replace("limit = 3", "limit = 1"))
    parts = list(pipeline.plan_build(read_recipe(recipe), tmp_path / "b"))
    assert [part.exists for part in parts] == [True, True, True, False, False]
    assert [part.may_change for part in parts] == [False, False, False, False, True]
    record, lines = built(recipe, tmp_path / "b")
    assert sum("up to date" in line for line in lines) == 3
    assert record.steps[-1].items == 1


def test_a_plan_says_perhaps_where_a_source_may_come_out_the_same(recipe, tmp_path):
    built(recipe, tmp_path / "trial")
    manifest = tmp_path / "one" / "dataset.json"
    manifest.write_text(manifest.read_text() + "\n")
    done = run_keju("build", recipe, "--plan", cwd=tmp_path)
    states = [line.partition(": ")[2].split(",")[0] for line in done.stdout.splitlines()]
    assert states == ["pending", "up to date", *["may need rebuilding"] * 3]
    _, lines = built(recipe, tmp_path / "trial")
    assert sum("up to date" in line for line in lines) == 4, "it did come out the same"
    recipe.write_text(RECIPE.replace('"trial"', '"trial"\nversion = "2"'))
    parts = list(pipeline.plan_build(read_recipe(recipe), tmp_path / "trial"))
    assert [part.exists for part in parts] == [True, True, False, False, False]
    assert not any(part.may_change for part in parts)


def test_a_build_is_called_after_its_recipe_and_is_no_other_s(recipe, tmp_path):
    recipe.rename(tmp_path / "draft-of-it.toml")
    done = run_keju("build", "draft-of-it.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "trial" / "dataset").exists()
    assert not (tmp_path / "draft-of-it").exists()
    other = tmp_path / "other.toml"
    other.write_text(RECIPE.replace('"trial"', '"poems"', 1))
    for plan in ((), ("--plan",)):
        done = run_keju("build", other, "--out", tmp_path / "trial", *plan)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "is the build of 'trial'" in done.stderr
    assert json.loads((tmp_path / "trial" / "build.json").read_text())["steps"][2]["items"] == 2
    other.write_text(RECIPE.replace('"trial"', '"a/b"', 1))
    assert "a folder cannot be called 'a/b'" in run_keju("build", other, cwd=tmp_path).stderr


def test_what_the_recipe_has_no_more_is_taken_away_at_the_end(recipe, tmp_path):
    built(recipe, tmp_path / "b")
    (tmp_path / "b" / "steps" / "09-mine").mkdir()
    recipe.write_text(RECIPE.rpartition("[[step]]")[0])
    record, lines = built(recipe, tmp_path / "b")
    assert lines[-1] == _(
        "{}: removed, because the recipe does not contain it any more", "steps/02-subset"
    )
    left = sorted(path.name for path in (tmp_path / "b" / "steps").iterdir())
    assert left == ["00-join", "01-subset", "09-mine"]
    assert Dataset.open(tmp_path / "b" / "dataset").manifest.hash == record.hash


def test_a_changed_source_is_read_anew(recipe, tmp_path):
    before, _ = built(recipe, tmp_path / "b")
    make_dataset(tmp_path / "three", [page_item("x")])
    recipe.write_text(RECIPE.replace('"one"', '"three"'))
    after, _ = built(recipe, tmp_path / "b")
    assert after.hash != before.hash
    assert Dataset.open(tmp_path / "b" / "dataset").items()[0].id == "x"


def test_a_source_that_is_called_otherwise_is_joined_anew(recipe, tmp_path):
    built(recipe, tmp_path / "b")
    recipe.write_text(RECIPE.replace('name = "second"', 'name = "other"'))
    record, _ = built(recipe, tmp_path / "b")
    names = [item.id for item in Dataset.open(tmp_path / "b" / "steps" / "00-join").items()]
    assert names[2:4] == ["other/i0000", "other/i0001"]
    assert record == built(recipe, tmp_path / "elsewhere")[0]


def test_the_same_recipe_gives_the_same_hash_elsewhere(finished_build, recipe, tmp_path):
    other, _ = built(recipe, tmp_path / "elsewhere" / "b")
    assert other.hash == finished_build[0].hash


def test_a_table_says_what_was_left_out(finished_build):
    table = finished_build[1] / "steps" / "01-subset" / "tables" / "dropped.csv"
    lines = table.read_text("utf-8-sig").splitlines()
    assert lines[0] == "subject,reason,task,details"
    assert lines[1:] == [
        f'{name},more than 3 of its task,T1,""' for name in ("second/i0001", "i0002", "i0003")
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'do = "subset"\nlimit = 3',
            'do = "subsett"',
            "step 1: no step 'subsett'. Did you mean 'sub",
        ),
        ("limit = 3", "limti = 3", "step 1 (subset): no key 'limti'. Did you mean 'limit'?"),
        (
            "limit = 3",
            'limit = "many"',
            "step 1 (subset): limit: expected a whole number, got text",
        ),
        ("limit = 3", "limit = -3", "step 1 (subset): limit: expected a whole number >= 0"),
        ("limit = 3", 'tasks = ["T1", 4]', "step 1 (subset): tasks[1]: expected text"),
        ("limit = 3", 'tasks = ["T77"]', "step 1: subset: no task 'T77'"),
        ('path = "one"', 'path = "won"', "source 1 (dataset): path: "),
        (
            'path = "one"',
            "path = 7",
            "source 1 (dataset): path: expected a path, got a whole number",
        ),
        ('path = "one"\n', "", "source 1 (dataset): it needs path = …"),
        (
            'form = "dataset"\npath = "one"',
            'form = "datset"',
            "source 1: no form 'datset'. Did you",
        ),
        ('form = "dataset"\npath = "one"', 'path = "one"', "source 1: it needs form = …"),
        ('do = "subset"\nlimit = 3', "limit = 3", "step 1: it needs do = …"),
        ('name = "trial"', "", "it needs name = …"),
        ('name = "trial"', 'name = "trial"\nsede = 1', "no key 'sede'. Did you mean 'seed'?"),
        ("[[step]]", "[[step]", "not readable"),
        ('path = "one"', 'path = "two/images"', "dataset directory"),
    ],
)
def test_a_recipe_that_is_wrong_is_one_line(recipe, tmp_path, old, new, said):
    recipe.write_text(RECIPE.replace(old, new, 1))
    with pytest.raises(KejuError) as error:
        built(recipe, tmp_path / "b")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_all_faults_are_told_at_once_a_line_each(recipe, tmp_path):
    text = RECIPE.replace('name = "trial"', 'name = "trial"\nversion = 1', 1)
    text = text.replace('path = "one"', 'path = "won"').replace(
        "limit = 3", 'limit = "3"\nextra = 1'
    )
    recipe.write_text(text)
    done = run_keju("build", recipe, "--out", tmp_path / "b")
    assert done.returncode == 2
    lines = [line.split("trial.toml: ")[1] for line in done.stderr.splitlines()]
    assert lines == [
        "version: expected text, got a whole number",
        f"source 1 (dataset): path: {tmp_path / 'won'}: no such file or folder",
        "step 1 (subset): no key 'extra'. Choose from: benchmarks, groups, limit, tasks",
        "step 1 (subset): limit: expected a whole number, got text",
    ]
    assert not (tmp_path / "b").exists()


def test_one_pair_of_brackets_is_named(recipe, tmp_path):
    recipe.write_text(RECIPE.rpartition("[[step]]")[0].replace("[[step]]", "[step]"))
    with pytest.raises(ProblemsError) as error:
        read_recipe(recipe)
    assert (
        str(error.value) == f"{recipe}: [step]: write [[step]], because a recipe can have several"
    )


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "big5"])
def test_a_recipe_in_another_encoding_is_told_to_be_saved_as_utf_8(recipe, encoding):
    recipe.write_bytes(RECIPE.replace("trial", "地方志").encode(encoding))
    with pytest.raises(KejuError, match=r"trial\.toml: .*not UTF-8.*[Ss]ave it as UTF-8"):
        read_recipe(recipe)


def test_a_recipe_with_a_byte_order_mark_is_read(recipe):
    recipe.write_text(RECIPE, "utf-8-sig")
    assert read_recipe(recipe).head.name == "trial"


def test_a_recipe_without_sources_is_refused(tmp_path):
    (tmp_path / "r.toml").write_text('name = "x"')
    with pytest.raises(ProblemsError, match="source"):
        read_recipe(tmp_path / "r.toml")


def test_a_folder_with_something_else_is_left_alone(recipe, tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        built(recipe, tmp_path / "b")
    assert (tmp_path / "b" / "thesis.txt").exists()


def test_one_build_at_a_time(recipe, tmp_path):
    with pipeline._lock(tmp_path / "b"):
        done = run_keju("build", recipe, "--out", tmp_path / "b")
    assert done.returncode == 2
    assert "another build is writing there" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_builds_plans_and_says_what_stands(recipe, tmp_path):
    done = run_keju("build", recipe, "--out", tmp_path / "b", "--plan")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pending") == 5
    assert not (tmp_path / "b").exists()
    done = run_keju("build", recipe, "--out", tmp_path / "b")
    assert done.returncode == 0, done.stderr
    assert "2 items in" in done.stdout


def test_what_is_confused_with_a_dataset_model_or_format_is_named(finished_build, recipe, tmp_path):
    given = run_keju("data", "stats", finished_build[1])
    assert f"Its dataset is {finished_build[1] / 'dataset'}" in given.stderr
    model = run_keju("run", "mini", "--model", "majority", "--out", tmp_path / "run")
    assert "no model 'majority'. Did you mean 'baseline:majority'?" in model.stderr
    source = run_keju("data", "import", "iiif", recipe, "--out", tmp_path / "d", "--licence", "x",
                  "--source", "y")  # fmt: skip
    assert "'iiif' is a source of a recipe and not a format" in source.stderr
    assert {done.returncode for done in (given, model, source)} == {2}


def test_a_step_is_also_a_command(tmp_path):
    given = make_dataset(tmp_path / "given", pages=3)
    done = run_keju("build", "subset", given, "--out", tmp_path / "out", "--limit", "1")
    assert done.returncode == 0, done.stderr
    assert Dataset.open(tmp_path / "out").manifest.items == 1
    again = run_keju("build", "subset", given, "--out", tmp_path / "out", "--limit", "1")
    assert "it existed already" in again.stdout
    other = run_keju("build", "subset", given, "--out", tmp_path / "out", "--limit", "2")
    assert other.returncode == 2
    assert "already contains a dataset" in other.stderr


def test_a_step_that_is_not_there_is_one_line(tmp_path):
    done = run_keju("build", "subst", tmp_path)
    assert done.returncode == 2
    assert "Did you mean 'subset'?" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_take_paths_from_the_recipe_s_folder(tmp_path):
    class Two(Settings, frozen=True):
        here: Path
        there: Path | None = None

    found = convert_settings({"here": "a", "there": os.sep + "b"}, Two, place="x", base=tmp_path)
    assert found == Two(here=tmp_path / "a", there=Path(os.sep + "b"))


def test_items_that_change_say_so(tmp_path):
    context = bench_over(make_dataset(tmp_path / "given", pages=4), tmp_path / "out")
    a, b, c, d = context.items()
    context.keep(a)
    context.keep(replace(b, answer="宇宙洪荒"))
    context.keep(c, note="looked at", person="lin")
    context.keep(replace(d, id="new"), tool="cutter 1")
    context.writer.close()
    a2, b2, c2, d2 = Dataset.open(tmp_path / "out").items()
    assert a2 == a
    assert [entry.step for entry in b2.provenance] == ["trial"]
    assert (c2.provenance[0].note, c2.provenance[0].person) == ("looked at", "lin")
    assert d2.provenance[0].tool == "cutter 1"


def test_random_numbers_are_of_seed_step_and_names(tmp_path):
    given = make_dataset(tmp_path / "given", pages=1)
    one = bench_over(given, tmp_path / "1", seed=1)
    two = bench_over(given, tmp_path / "2", seed=2)
    assert one.rng("a").integers(1 << 30) == one.rng("a").integers(1 << 30)
    drawn = {
        context.rng(*names).integers(1 << 60)
        for context in (one, two)
        for names in ("a", "b", "ab")
    }
    assert len(drawn) == 6
