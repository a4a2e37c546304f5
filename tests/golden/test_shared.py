"""The reference vectors made with the authors' functions and the reference libraries."""

from __future__ import annotations

import json

import pytest

from keju.definitions import task
from keju.items import Item, Response
from keju.scoring import aggregate, score_answer, score_responses
from tests.support.score_json import to_json

NEEDS_ENCODER = {"BERTScore", "Avg"}


@pytest.fixture(scope="module")
def vectors(shared):
    return json.loads((shared / "golden" / "mcs_public.json").read_text("utf-8"))


def scored(vectors, section, folder):
    """Score one section of the vectors as a file in the authors' form."""
    rows = []
    for item in vectors[section]["items"]:
        row = {key: item[key] for key in ("ID", "Task_ID", "Answer_Simplified", "Response")}
        if row["Answer_Simplified"] == "__missing__":
            del row["Answer_Simplified"]
        rows.append(row)
    path = folder / f"{section}.json"
    path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return score_responses(path)


def official(scores):
    return {(s.item, s.metric): s for s in scores if s.protocol == "official"}


@pytest.mark.parametrize("section", ["public", "edge", "ties", "probes"])
def test_every_official_value_is_the_authors(vectors, section, tmp_path):
    found = official(scored(vectors, section, tmp_path))
    wrong, compared = [], 0
    for item in vectors[section]["items"]:
        for metric, value in item["official"].items():
            if metric not in NEEDS_ENCODER:
                compared += 1
                score = found[item["ID"], metric]
                if score.value != value:
                    wrong.append((item["ID"], metric, value, score.value, score.reason))
    assert not wrong
    assert compared > 100


def test_where_the_script_stopped_the_item_is_unscored_and_says_why(vectors, tmp_path):
    found = official(scored(vectors, "edge", tmp_path))
    stopped = [item for item in vectors["edge"]["items"] if item["error"]]
    assert stopped
    for item in stopped:
        if item["Response"] is None:
            continue
        declared = task(f"T{item['Task_ID']}").queries[0].official
        for metric in set(declared) - set(item["official"]):
            score = found[item["ID"], metric]
            assert score.value is None
            assert score.reason


def test_a_null_response_is_scored_as_empty_text(vectors, tmp_path):
    items = [item for item in vectors["edge"]["items"] if item["Response"] is None]
    empty = [item | {"Response": ""} for item in items]
    assert items
    assert all("error" in item and not item["official"] for item in items)
    both = [
        official(scored({"edge": {"items": rows}}, "edge", tmp_path)) for rows in (items, empty)
    ]
    assert both[0] == both[1]


def test_every_task_value_is_the_authors(vectors, tmp_path):
    tasks = to_json(scored(vectors, "public", tmp_path))["official"]["tasks"]
    for number, values in vectors["public"]["tasks"].items():
        for metric, value in values.items():
            if metric in NEEDS_ENCODER:
                assert tasks[number][metric] is None
            else:
                assert tasks[number][metric] == pytest.approx(value, abs=1e-12), (number, metric)


def test_the_main_metric_of_every_task_is_the_papers(vectors):
    for number, metric in vectors["meta"]["main_metric"].items():
        main = task(f"T{number}").queries[0].official[0]
        assert main == ("Avg" if metric == "mean(BERTScore,ANLS)" else metric)


@pytest.fixture(scope="module")
def pages(shared):
    golden = json.loads((shared / "golden" / "ancientdoc_public.json").read_text("utf-8"))
    scores = []
    for row in golden["ocr"]:
        item = Item(
            id=row["ID"], benchmark="AncientDoc", task="page_level_ocr", answer=row["reference"]
        )
        response = Response(
            key=row["ID"],
            item=row["ID"],
            model="m",
            benchmark="AncientDoc",
            task="page_level_ocr",
            status="answered" if row["prediction"] else "empty",
            text=row["prediction"],
        )
        scores += score_answer(item, response, ("official",))
    return golden, scores


def test_every_page_of_ancientdoc_has_its_value(pages):
    golden, scores = pages
    found = {(score.item, score.metric): score.value for score in scores}
    for row in golden["ocr"]:
        assert found[row["ID"], "CER"] == row["CER"]
        assert found[row["ID"], "CharPrecision"] == row["P"]
        assert found[row["ID"], "CharRecall"] == row["R"]
        assert found[row["ID"], "CharF1"] == pytest.approx(row["F1"], abs=1e-12)


def test_ancientdocs_aggregates(pages):
    golden, scores = pages
    (result,) = aggregate(scores)
    metrics = {each.metric: each for each in result.tasks[0].metrics}
    expected = golden["ocr_aggregate"]
    assert metrics["CER"].value == pytest.approx(expected["CER_mean"], abs=1e-12)
    assert metrics["CharPrecision"].value == pytest.approx(expected["P_mean"], abs=1e-12)
    assert metrics["CharRecall"].value == pytest.approx(expected["R_mean"], abs=1e-12)
    assert metrics["CharF1"].value == pytest.approx(expected["F1_harmonic_of_means"], abs=1e-12)
    assert metrics["CharF1"].item_mean == pytest.approx(expected["F1_mean"], abs=1e-12)
    edits = sum(score.stats["edits"] for score in scores if score.metric == "CER")
    length = sum(score.stats["length"] for score in scores if score.metric == "CER")
    assert edits / length == pytest.approx(expected["CER_corpus"], abs=1e-12)


def test_ancientdocs_chrf_plus_plus_is_sacrebleus(shared):
    golden = json.loads((shared / "golden" / "ancientdoc_public.json").read_text("utf-8"))
    for row in golden["text"]:
        item = Item(
            id=row["ID"], benchmark="AncientDoc", task="knowledge_qa", answer=row["reference"]
        )
        response = Response(
            key=row["ID"],
            item=row["ID"],
            model="m",
            benchmark="AncientDoc",
            task="knowledge_qa",
            status="answered",
            text=row["prediction"],
        )
        found = {s.metric: s.value for s in score_answer(item, response, ("official",))}
        assert 100 * found["chrF++"] == pytest.approx(row["chrfpp"], abs=1e-9)
