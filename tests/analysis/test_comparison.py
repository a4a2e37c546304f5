"""``keju compare``: two models, settings, scripts or runs, paired by item."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

import keju
from keju.analysis.comparison import comparison_of
from keju.analysis.comparison_sides import SideChoice
from keju.analysis.run_set import load_runs
from keju.bundles import write_bundle
from keju.cli import app
from keju.errors import UsageError
from keju.items import Item, PromptVariant, Response
from keju.reporting.view import build_view
from keju.runs import RunFolder, RunManifest
from keju.scoring import (
    SideScores,
    adjust_comparisons,
    compare_tasks,
    score_run,
    scores_frame,
)

ITEMS = 24
M, N = "openai:m", "openai:n"
Asked = tuple[str, ...]
"""Model, setting, script, and a wording other than the released one."""


def items(task: str = "T5", answer: str = "A") -> list[Item]:
    return [
        Item(id=f"q{n}", benchmark="MCS-Bench", task=task, options=("甲", "乙"), answer=answer,
             group=f"g{n // 2}")
        for n in range(ITEMS)
    ]  # fmt: skip


def made(
    path: Path, right: Mapping[Asked, int], *, asked: list[Item] | None = None, dataset: str = "h"
) -> Path:
    """A scored run in which each of the models gets so many of the items right."""
    folder, asked = RunFolder(path), items() if asked is None else asked
    path.mkdir(parents=True)
    folder.write_items(asked)
    folder.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash=dataset,
            models={model: {} for model, *_ in right},
        )
    )  # fmt: skip
    for (model, setting, script, *more), count in right.items():
        for n, item in enumerate(asked):
            file = folder.responses_path(model, item.task)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as stream:
                response = Response(
                    key=f"{setting}{script}{more}{n}", item=item.id, model=model,
                    benchmark="MCS-Bench",
                    task=item.task, status="answered", setting=setting, script=script,
                    wording=more[0] if more else "released", text="A" if n < count else "B",
                )  # fmt: skip
                stream.write(msgspec.json.encode(response) + b"\n")
    score_run(folder)
    return path


def compared(*arguments: object) -> dict:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """One model in three settings and both scripts, another in the default alone."""
    return made(tmp_path_factory.mktemp("c") / "run", {
        (M, "image", "simplified"): 12, (M, "image", "traditional"): 4,
        (M, "own-ocr", "simplified"): 18, (M, "gold-ocr", "simplified"): 24,
        (N, "image", "released"): 20,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("options", "names", "values"),
    [
        (["--model", M, "--setting", "image", "--script", "simplified", "--script", "traditional"],
         (f"{M} · simplified", f"{M} · traditional"), (12, 4)),
        (["--model", M, "--script", "simplified", "--setting", "image", "--setting", "gold-ocr"],
         (f"{M} · image", f"{M} · gold-ocr"), (12, 24)),
        (["--model", M, "--setting", "own-ocr", "--setting", "gold-ocr"],
         (f"{M} · own-ocr", f"{M} · gold-ocr"), (18, 24)),
        (["--model", N, "--model", M, "--setting", "image", "--script", "released",
          "--script", "traditional"],
         (f"{N} · released", f"{M} · traditional"), (20, 4)),
    ],
)  # fmt: skip
def test_two_scripts_or_settings_of_a_model_are_compared(run, options, names, values):
    result = compared(run, *options)
    assert (result["first"], result["second"]) == names
    assert result["shared"] == ("simplified" if options.count("--setting") == 2 else "")
    (task,) = result["tasks"]
    assert (task["task"], task["items"], task["groups"]) == ("T5", ITEMS, ITEMS // 2)
    assert [task["first"], task["second"]] == [value / ITEMS for value in values]
    assert [side["model"] for side in result["sides"]] == [name.split(" · ")[0] for name in names]


def test_the_statistics_are_those_of_two_models(run, tmp_path):
    """The same answers as two models give the same numbers, adjusted p included."""
    right = {(M, "image", "released"): 12, (N, "image", "released"): 4}
    models = compared(made(tmp_path / "two", right))
    scripts = compared(run, "--model", M, "--setting", "image", "--script", "simplified",
                       "--script", "traditional")  # fmt: skip
    assert models["tasks"] == scripts["tasks"]
    assert models["tasks"][0]["p_holm"] is not None
    scores = score_run(RunFolder(tmp_path / "two"))
    sides = [
        SideScores("strict", scores_frame([score for score in scores if score.model == model]))
        for model in (M, N)
    ]
    known = adjust_comparisons(compare_tasks(*sides))
    assert models["tasks"] == msgspec.to_builtins(known)


def test_two_runs_of_a_model_are_named_by_their_folders(tmp_path):
    runs = [
        made(tmp_path / name / "run", {(M, "image", "released"): right})
        for name, right in (("thinking", 20), ("plain", 10))
    ]
    result = compared(*runs)
    assert (result["first"], result["second"]) == (f"{M} · thinking/run", f"{M} · plain/run")
    assert result["tasks"][0]["difference"] == pytest.approx(10 / ITEMS)
    assert result["dropped"] == 0
    printed = CliRunner().invoke(app, ["compare", *map(str, runs)]).stdout
    assert "thinking/run" in printed
    assert "plain/run" in printed


def test_a_run_of_one_model_in_two_variants_needs_no_option(tmp_path):
    right = {(M, "image", "released"): 4, (M, "gold-ocr", "released"): 9}
    result = compared(made(tmp_path / "r", right))
    assert (result["first"], result["second"]) == (f"{M} · image", f"{M} · gold-ocr")


def test_two_wordings_are_compared(tmp_path):
    right = {(M, "image", "released"): 9, (M, "image", "released", "obi-gemini"): 3}
    path = made(tmp_path / "r", right)
    by_wording = compared(path, "--by", "wording")
    assert (by_wording["first"], by_wording["second"]) == (f"{M} · released", f"{M} · obi-gemini")
    result = compared(path, "--wording", "obi-gemini", "--wording", "released")
    assert (result["first"], result["second"]) == (f"{M} · obi-gemini", f"{M} · released")
    assert result["tasks"][0]["first"] == 3 / ITEMS


def test_runs_of_different_datasets_are_compared_over_the_items_that_are_the_same(tmp_path):
    changed = [msgspec.structs.replace(each, answer="B") if n < 6 else each
               for n, each in enumerate(items())]  # fmt: skip
    one = made(tmp_path / "one", {(M, "image", "released"): 24})
    two = made(tmp_path / "two", {(M, "image", "released"): 12}, asked=changed, dataset="other")
    result = compared(one, two)
    assert result["dropped"] == 6
    (task,) = result["tasks"]
    assert (task["items"], task["first"], task["second"]) == (18, 1.0, 6 / 18)


def test_datasets_in_two_scripts_have_the_same_items(tmp_path):
    runs = [
        made(tmp_path / text, {(M, "image", "released"): 3}, dataset=text, asked=[
            msgspec.structs.replace(each, task="T2", options=(), answer=text) for each in items()
        ])
        for text in ("何謂学问", "何謂學問")
    ]  # fmt: skip
    assert compared(*runs, "--protocol", "official")["dropped"] == 0


def test_where_nothing_matches_the_reason_is_given(tmp_path):
    first = made(tmp_path / "one", {(M, "image", "released"): 24})
    other = made(tmp_path / "two", {(M, "image", "released"): 12}, asked=items("T7"))
    wrong = items(answer="B")
    third = made(tmp_path / "three", {(M, "image", "released"): 1}, asked=wrong, dataset="other")
    with pytest.raises(UsageError, match=r"no scored item in common .*T5; and T7"):
        comparison_of([RunFolder(first), RunFolder(other)], "strict")
    with pytest.raises(UsageError, match="different datasets, and 24 items are not the same"):
        comparison_of([RunFolder(first), RunFolder(third)], "strict")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (
            SideChoice(),
            r"several prompt variants \(image simplified, .*name two by giving one of them twice",
        ),
        (SideChoice(script=("simplified", "traditional")), "name the model with --model M"),
        (SideChoice(model=("openai:x",)), "no model 'openai:x'. Choose from: openai:m, openai:n"),
        (SideChoice(model=(M,), setting=("image", "gold-text")), "has no answers in gold-text"),
        (SideChoice(model=(N,)), "both sides are openai:n"),
        (
            SideChoice(model=(M,), setting=("image", "own-ocr", "gold-ocr")),
            "--setting is given more than twice",
        ),
        (
            SideChoice(by="setting", model=(M,)),
            "--by setting compares two, but openai:m has image, ",
        ),
    ],
)
def test_sides_that_are_not_there_or_not_two_are_refused(run, wanted: SideChoice, words: str):
    with pytest.raises(UsageError, match=words):
        comparison_of([RunFolder(run)], "strict", wanted)


def test_a_main_metric_that_is_unscored_is_the_reason(tmp_path):
    asked = [msgspec.structs.replace(each, task="T6", options=()) for each in items()]
    right = {(M, "image", "released"): 4, (N, "image", "released"): 9}
    path = made(tmp_path / "r", right, asked=asked)
    with pytest.raises(UsageError, match=r"T6; and T6; unscored: .*(bert|semantic)"):
        comparison_of([RunFolder(path)], "official")


def test_tasks_that_are_unscored_are_named_beside_those_that_are_compared(tmp_path):
    asked = items()
    opened = [
        msgspec.structs.replace(each, id=f"o{each.id}", task="T6", options=())
        for each in items()[:3]
    ]
    right = {(M, "image", "released"): 4, (N, "image", "released"): 9}
    path = made(tmp_path / "r", right, asked=[*asked, *opened])
    result = compared(path)
    assert [each["task"] for each in result["tasks"]] == ["T5"]
    (lacking,) = result["unscored"]
    assert (lacking["task"], lacking["metric"], lacking["items"]) == ("T6", "BERTScore_floor", 3)
    assert "semantic" in lacking["reason"]
    assert "3 items are not compared (T6)" in CliRunner().invoke(app, ["compare", str(path)]).stdout


def test_one_run_or_two_are_taken(run):
    with pytest.raises(UsageError, match="one run or two, not 3"):
        comparison_of([RunFolder(run)] * 3, "strict")
    with pytest.raises(UsageError, match="is given twice"):
        comparison_of([RunFolder(run)] * 2, "strict", SideChoice(model=(M,)))


def test_a_variants_label_names_what_is_not_usual_or_differs():
    image, own = PromptVariant(), PromptVariant("own-ocr", "traditional")
    assert (image.label(), own.label()) == ("", "own-ocr · traditional")
    assert image.label([image, own]) == "image · released"
    assert PromptVariant("own-ocr").label([image]) == "own-ocr"


@pytest.fixture(scope="module")
def two_tasks(tmp_path_factory) -> Path:
    """Two models on two tasks in the same 12 books."""
    asked = [*items(), *(msgspec.structs.replace(each, id=f"s{each.id}", task="T7")
                         for each in items())]  # fmt: skip
    right = {(M, "image", "released"): 40, (N, "image", "released"): 29}
    return made(tmp_path_factory.mktemp("two") / "run", right, asked=asked)


def test_the_overall_p_is_that_of_the_ranks_of_a_report(two_tasks):
    """Fault 13: the report ranked one model first, and no task differed significantly."""
    (board,) = build_view(load_runs([two_tasks]), title="t").boards
    gap = board.resampled["strict"].gaps[M, N]
    result = compared(two_tasks)
    (mean,) = result["overall"]
    assert mean["tasks"] == ["T5", "T7"]
    assert (mean["p"], mean["p_holm"]) == (gap.p_holm, gap.p_holm)
    assert mean["difference"] == gap.difference
    assert (mean["p"], mean["better"]) == (2 / 2**6, "first")
    printed = CliRunner().invoke(app, ["compare", str(two_tasks)]).stdout
    assert printed.startswith(
        f"MCS-Bench, strict, mean over domains of 2 tasks: {M} 83.3, {N} 60.4; difference +22.9"
    )
    assert ", p .032\n" in printed
    bundle = write_bundle(two_tasks, two_tasks.parent / "two.keju.zip").path
    (same,) = compared(bundle)["overall"]
    assert same == mean


def test_the_margin_decides_what_counts_as_equal(two_tasks):
    for margin, equal in ((100, True), (30, False)):
        result = compared(two_tasks, "--margin", margin)
        assert result["margin"] == margin
        assert [each["equal"] for each in result["overall"]] == [equal]
        python = keju.compare(two_tasks, margin=margin)
        assert python.to_dict() == result
        assert python.overall["equal"].to_list() == [equal]
        assert (f"are equal within {margin} points in the mean of MCS-Bench" in python.verdict) == (
            equal
        )
    assert compared(two_tasks)["overall"][0]["equal"] is None
    for margin in (0, -1, 101, math.nan):
        with pytest.raises(UsageError, match="above 0 and at most 100"):
            keju.compare(two_tasks, margin=margin)


def test_items_of_one_side_alone_and_other_models_are_counted(two_tasks, tmp_path):
    shutil.copytree(two_tasks, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    file = folder.responses_path(N, "T7")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:20]))
    manifest = folder.manifest()
    folder.write_manifest(
        msgspec.structs.replace(manifest, models={**manifest.models, "openai:o": {}})
    )
    score_run(folder)
    (mean,) = compared(folder.path, "--model", M, "--model", N)["overall"]
    assert (mean["items"], mean["only_first"], mean["only_second"]) == (44, 4, 0)
    arguments = ["compare", str(folder.path), "--model", M, "--model", N]
    printed = CliRunner().invoke(app, arguments).stdout
    printed = " ".join(printed.split())
    assert "Compared on 44 shared items in 12 groups" in printed
    assert f"; 4 only in {M}, 0 only in {N}" in printed
    assert "A table of all of them adjusts for 3 tests" in printed


@pytest.mark.parametrize("groups", [2, 4, 5, 6])
def test_too_few_books_are_never_said_to_find_a_difference(tmp_path, groups):
    asked = [
        msgspec.structs.replace(each, id=f"q{n}", group=f"book {n}")
        for n, each in enumerate(items()[:groups])
    ]
    right = {(M, "image", "released"): groups, (N, "image", "released"): 0}
    path = made(tmp_path / "r", right, asked=asked)
    result = compared(path)
    (task,), (mean,) = result["tasks"], result["overall"]
    assert task["needed"] == 6
    assert (mean["tasks"], mean["difference"], mean["p"]) == (["T5"], 1.0, task["p"])
    printed = " ".join(CliRunner().invoke(app, ["compare", str(path)]).stdout.split())
    if groups < 6:
        assert (task["p"], task["better"], task["low"]) == (None, "", None)
        assert f"T5: {6 - groups} more group" in printed
        assert "no interval), not tested" in printed
    else:
        assert (task["better"], task["p"]) == ("first", 2 / 2**6)
        assert "needed" not in printed
