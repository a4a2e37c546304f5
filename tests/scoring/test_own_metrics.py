"""A metric that a plug-in declares is computed, signed, aggregated and shown like any other."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

import keju
from keju import registry
from keju.items import Box, ImageRef, Item, Response
from keju.registry import PluginError
from keju.scoring import aggregate, metric_of, score_answer
from keju.scoring.own_metrics import _collected
from keju.scoring.preparations import preparations
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import ScoringSample
from tests.support import commanding
from tests.support.plugged import distribution

RULE = "1 if the first character is the true one"
FILE = f"""
import keju


@keju.metric(
    name="FirstChar", form="transcription", rule="{RULE}", rule_zh="首字正确为一", source="tests",
)
def first(reference: str, answer: str) -> float:
    return float(reference[0] == answer[0])


@keju.metric(name="Length", form="transcription", rule="length / true length", highest=None,
             pooled=True)
def length(reference, answer):
    return len(answer), len(reference)


@keju.metric(name="Raises", form="letter", rule="nothing")
def raises(reference, answer):
    raise RuntimeError(f"no table for {{answer}}")
"""


@pytest.fixture(autouse=True)
def no_other_plugin():
    """Each test declares its own metrics, and leaves none behind."""
    before = dict(registry._CLAIMS)
    for key in [key for key in before if key[0] == "metrics"]:
        del registry._CLAIMS[key]
    _collected.cache_clear()
    yield
    registry._CLAIMS.clear()
    registry._CLAIMS.update(before)
    _collected.cache_clear()


def declare(function, form="transcription", **about):
    keju.metric(**{"name": "Own", "rule": "a rule", "form": form} | about)(function)


def scored(make, task, answer, text, *, protocol="strict", **fields):
    (score,) = (
        each
        for each in score_answer(*make(task, answer, text, **fields), (protocol,))
        if each.metric == "Own"
    )
    return score


def test_it_comes_after_the_tasks_own_metrics_with_value_and_signature(make):
    declare(lambda reference, answer: len(answer) / len(reference))
    item, response = make("T1", "天地玄黃", "天地。")
    scores = score_answer(item, response, ("strict",))
    assert scores[-1].metric == "Own"
    assert scores[-1].value == 0.5
    parts = scores[-1].signature.split("|")
    assert parts[:2] == ["Own", "strict"]
    assert parts[2].startswith("text:counted+script")
    assert parts[3].startswith("by:test_own_metrics.py (sha256 ")
    (result,) = aggregate(scores)
    assert [each.metric for each in result.tasks[0].metrics][-1] == "Own"
    assert result.tasks[0].main.metric == "CharAcc"


def test_another_source_gives_another_signature(make):
    found = set()
    for body in ("return 0.0", "return 1.0"):
        code = f"def own(reference, answer):\n    {body}\n"
        space = {"__name__": "__main__"}
        exec(compile(code, "<cell>", "exec"), space)
        declare(space["own"])
        found.add(scored(make, "T1", "天", "天").signature)
    assert len(found) == 2


GIVEN = [
    ("transcription", "T1", "天地，玄黃", "天地\n玄黄", {}, ("天地玄黄", "天地玄黄")),
    ("punctuated", "T3", "天，地。", "天，地。", {}, ("天,地。", "天,地。")),
    ("entities", "T4", "孔子、顏回", "孔子，颜回", {}, (frozenset({"孔子", "颜回"}),) * 2),
    ("letter", "T5", "B", "答案：B", {"options": ("甲", "乙")}, ("B", "B")),
    ("short", "T21", "紅色", "红色", {}, ("红色", "红色")),
    ("number", "recognition", "12", "There are 7.", {"query": "How"}, (12.0, 7.0)),
    ("yes-no", "recognition", "Yes", "No.", {"query": "Yes-or-No"}, ("Yes", "No")),
    (
        "boxes", "recognition", "", "[[1, 2, 3, 4]]",
        {"query": "Where", "boxes": (Box(x0=0, y0=0, x1=9, y1=9),)},
        ([(0.0, 0.0, 9.0, 9.0)], [(1.0, 2.0, 3.0, 4.0)]),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "task", "answer", "text", "fields", "given"), GIVEN, ids=[row[0] for row in GIVEN]
)
def test_each_form_gives_the_reference_and_the_extracted_answer(
    make, form, task, answer, text, fields, given
):
    seen = []
    declare(lambda *both: seen.append(both) or 1.0, form)
    assert scored(make, task, answer, text, **fields).value == 1
    assert seen == [given]


@pytest.mark.parametrize(
    ("prepare", "given"),
    [
        ("counted", ("为学", "为学")),
        ("script", ("为,学", "为学。")),
        ("raw", ("爲，學", "為學。")),
    ],
)
def test_the_preparation_is_named(make, prepare, given):
    seen = []
    declare(lambda *both: seen.append(both) or 1.0, prepare=prepare)
    found = scored(make, "T1", "爲，學", "為學。")
    assert seen == [given]
    assert found.signature.split("|")[2].startswith(f"text:{prepare}")


def test_official_gives_the_response_as_returned(make):
    seen = []
    declare(lambda *both: seen.append(both) or 1.0, protocol="official", benchmark="MCS-Bench")
    scored(make, "T1", "爲學", "答：\n為學。", protocol="official")
    assert seen == [("爲學", "答：\n為學。")]


def test_a_ranking_metric_gets_the_right_candidates_and_all_values():
    seen = []
    declare(lambda *both: seen.append(both) or 0.5, "probability")
    images = tuple(
        ImageRef(path=f"{place}.png", sha256=f"{place:064}", width=9, height=9, size=9)
        for place in range(4)
    )
    item = Item(
        id="q", benchmark="OBI-Bench", task="retrieval", query="How", images=images, relevant=(2,)
    )
    samples = [
        ScoringSample(item, Response(key=text, item="q", model="m", benchmark="OBI-Bench",
                                     task="retrieval",
                            query="How", status="answered", text=text, candidate=place))
        for place, text in enumerate(["0.1", "0.9", "0.2"], start=1)
    ]  # fmt: skip
    found = {each.metric: each.value for each in score_samples(samples, ("strict",))}
    assert found["Own"] == 0.5
    assert seen == [([1], [0.1, 0.9, 0.2])]


def test_an_exception_leaves_the_item_unscored_with_the_reason(make):
    declare(lambda reference, answer: {}[answer])
    found = scored(make, "T1", "天", "地")
    assert found.value is None
    assert found.reason.startswith("Own of ")
    assert "KeyError: '地'" in found.reason


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -0.1, 1.1, True, "1", None, (1, 2), 1j, np.float32("nan")],
    ids=repr,
)
def test_what_is_not_a_value_is_an_error_that_names_metric_and_item(make, value):
    declare(lambda reference, answer: value)
    with pytest.raises(PluginError, match=r"the metric Own of .* for item i7\. Return a finite"):
        scored(make, "T1", "天", "地", name="i7")


@pytest.mark.parametrize("value", [0.5, (1, 2, 3), (1, -1), (1, 0), (math.nan, 1), (3, 2), [1, 2]])
def test_what_is_not_a_pooled_value_is_an_error(make, value):
    declare(lambda reference, answer: value, pooled=True)
    with pytest.raises(PluginError, match="numerator, denominator"):
        scored(make, "T1", "天", "地")


@pytest.mark.parametrize("value", [1, 0, 0.25, np.float64(0.5), np.float32(0.5), np.int64(1)])
def test_numbers_of_any_kind_are_taken_as_floats(make, value):
    declare(lambda reference, answer: value)
    found = scored(make, "T1", "天", "地")
    assert found.value == float(value)
    assert type(found.value) is float
    assert msgspec.json.encode(found)


def test_no_answer_and_a_failure_are_worth_the_worst_without_a_call(make):
    declare(lambda reference, answer: 1 / 0, higher_is_better=False, highest=2.0)
    assert scored(make, "T1", "天", "").value == 2
    assert scored(make, "T1", "天", "天", status="failed").value == 2
    assert scored(make, "T1", "天", "天").value is None


def test_a_pooled_metric_sums_before_it_divides(make):
    declare(lambda reference, answer: (len(answer), len(reference)), pooled=True)
    pairs = [make("T1", "天地玄黃", "天", name="a"), make("T1", "天", "天", name="b")]
    scores = [each for pair in pairs for each in score_answer(*pair, ("strict",))]
    scores += score_answer(*make("T1", "天地", "天", name="c", status="failed"), ("strict",))
    (own,) = (each for each in aggregate(scores)[0].tasks[0].metrics if each.metric == "Own")
    assert (own.value, own.without_failures) == (2 / 7, 2 / 5)
    assert own.item_mean == pytest.approx((0.25 + 1 + 0) / 3)


def test_a_pooled_metric_must_take_an_empty_answer(make):
    declare(lambda reference, answer: (1 / len(answer), 1), pooled=True)
    with pytest.raises(PluginError, match=r"ZeroDivisionError.* on an empty answer"):
        scored(make, "T1", "天", "")


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"form": "page"}, "form"),
        ({"protocol": "loose"}, "protocol"),
        ({"prepare": "exact"}, "counted or script or raw"),
        ({"name": ""}, "name"),
        ({"name": "a|b"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 41}, "name"),
        ({"rule": " "}, "rule"),
        ({"worst": 2}, "worst"),
        ({"highest": None, "higher_is_better": False}, "worst"),
        ({"form": "letter", "pooled": True}, "pooled"),
    ],
)
def test_a_declaration_without_meaning_is_refused(about, named):
    with pytest.raises(ValueError, match=named):
        declare(lambda reference, answer: 0.0, **about)


@pytest.mark.parametrize(
    "about",
    [
        {"name": "CER"},
        {"name": "CER", "benchmark": "MCS-Bench"},
        {"name": "CER", "protocol": "official"},
    ],
)
def test_the_name_of_an_existing_metric_is_refused(about):
    with pytest.raises(PluginError, match="has the same name as a metric of keju"):
        declare(lambda reference, answer: 0.0, **about)


def test_the_name_of_anothers_official_metric_is_free(make):
    declare(lambda reference, answer: 0.5, name="CER", protocol="official", benchmark="MCS-Bench")
    assert metric_of("official", "MCS-Bench", "transcription", "CER").origin
    assert not metric_of("official", "AncientDoc", "transcription", "CER").origin


def test_two_plugins_with_the_same_metric_are_both_named():
    functions = []
    for module in ("one", "two"):
        space = {"__name__": module}
        exec("def own(reference, answer):\n    return 0.0", space)
        functions.append(space["own"])
    declare(functions[0])
    with pytest.raises(PluginError, match="provided by one and by two"):
        declare(functions[1])


def run(folder: Path, *arguments: object, file: Path | str = "", **environ: str):
    environment = {**os.environ, "KEJU_PLUGINS": str(file), **environ}
    return commanding.keju(*arguments, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of a model that transcribes pages, and answers questions with A."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(FILE, "utf-8")
    items = [item for item in keju.load("mini") if item.task in {"T1", "T7"}]
    lines = [{"item": each.id, "text": each.answer if each.task == "T1" else "A"} for each in items]
    (folder / "me.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    tasks = ("--task", "T1", "--task", "T7", "--out", "run")
    assert run(folder, "run", "mini", "--model", "replay:me.jsonl", *tasks).returncode == 0
    return folder


def test_a_plugin_file_reaches_scores_leaderboard_report_and_list(made):
    file = made / "mine.py"
    done = run(made, "score", "run", "--json", "scores.json", file=file)
    assert done.returncode == 0, done.stderr
    assert "no table for A" in done.stdout
    (scores,) = (made / "run" / "scores").glob("*.parquet")
    frame = pl.read_parquet(scores)
    own = frame.filter(pl.col("metric") == "FirstChar")
    assert own["value"].to_list() == [1.0] * own.height
    assert own["signature"][0].split("|")[3].startswith("by:mine.py (sha256 ")
    json_scores = json.loads((made / "scores.json").read_text("utf-8"))
    assert json_scores["strict"]["tasks"]["1"]["FirstChar"] == 1
    assert json_scores["strict"]["tasks"]["1"]["Length"] == 1

    for language, words in (("en", RULE), ("zh", "首字正确为一")):
        page = f"{language}.html"
        done = run(made, "report", "run", "-o", page, "--language", language, file=file)
        assert done.returncode == 0, done.stderr
        text = (made / page).read_text("utf-8")
        assert "FirstChar" in text
        assert words in text

    listed = json.loads(run(made, "metrics", "--json", file=file).stdout)
    (row,) = (each for each in listed if each["name"] == "FirstChar")
    assert row["plugin"].startswith("mine.py")
    assert (row["rule"], row["source"], row["form"]) == (RULE, "tests", "transcription")
    assert "FirstChar" in run(made, "metrics", file=file).stdout


def test_a_report_without_the_plugin_names_it(made):
    assert run(made, "score", "run", file=made / "mine.py").returncode == 0
    done = run(made, "report", "run", "-o", "r.html")
    assert done.returncode != 0
    assert "FirstChar comes from the plug-in mine.py" in done.stderr
    assert "--plugin" in done.stderr
    assert run(made, "score", "run").returncode == 0
    assert run(made, "report", "run", "-o", "r.html").returncode == 0


def test_a_value_out_of_range_stops_scoring_in_one_line(made):
    file = made / "wrong.py"
    file.write_text(
        "import keju\n\n@keju.metric(name='Wrong', form='transcription', rule='wrong')\n"
        "def wrong(reference, answer):\n    return float('nan')\n",
        "utf-8",
    )
    done = run(made, "score", "run", file=file)
    assert done.returncode != 0
    (line,) = done.stderr.strip().splitlines()
    assert "the metric Wrong of wrong.py" in line
    assert "returned nan for item lunyu-t1" in line


def test_an_installed_package_is_found_by_its_entry_point_and_signed_with_its_version(made):
    site = distribution(
        made / "site", "own-metrics", "1.2",
        {"own": "own_metrics_of_tests"},
        own_metrics_of_tests=FILE,
    )  # fmt: skip
    paths = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH", ""))))
    done = run(made, "metrics", "--json", PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    own = {row["name"]: row["plugin"] for row in json.loads(done.stdout) if row["plugin"]}
    assert own["FirstChar"] == "own-metrics 1.2"


def test_a_definition_may_name_it_as_its_main_metric(made):
    (made / "bamboo.toml").write_text(
        'name = "Bamboo"\nversion = "1"\ncount_kind = "open"\n[domains_zh]\nSlips = "簡"\n'
        '[families.ocr]\nform = "transcription"\nstrict = ["FirstChar", "CharAcc"]\n'
        '[tasks.slips]\nname_zh = "簡牘"\nname_en = "Slips"\ndomain = "Slips"\nformat = "OCR"\n'
        'family = "ocr"\nask = "請轉錄。"\n',
        "utf-8",
    )
    without = run(made, "benchmark", "check", "bamboo.toml")
    assert without.returncode != 0
    assert "FirstChar" in without.stderr
    done = run(made, "benchmark", "check", "bamboo.toml", file=made / "mine.py")
    assert done.returncode == 0, done.stderr


PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text("utf-8")


def test_the_example_of_the_page_is_a_metric(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "jian.py").write_text(code, "utf-8")
    done = run(tmp_path, "metrics", "--json", file="jian.py")
    (own,) = (row for row in json.loads(done.stdout) if row["plugin"])
    assert (own["name"], own["form"]) == ("GapAcc", "transcription")


def test_the_page_names_every_field_and_every_preparation():
    table = PAGE.split("| field |")[1].split("What the function gets")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
             for name in re.findall(r"`(\w+)`", row)}  # fmt: skip
    assert named == set(inspect.signature(keju.metric).parameters)
    rows = dict(re.findall(r"^\| (`[a-z`, -]+`) \|.*?\|([^|]*)\|$", PAGE, re.MULTILINE))
    for forms, texts in rows.items():
        for form in re.findall(r"`([a-z-]+)`", forms):
            known = list(preparations("strict", form))
            assert re.findall(r"`(\w+)`", texts) == (known if len(known) > 1 else []), form
    assert len(rows) == 9
