"""The model lists are the papers'."""

import json
from collections import Counter

import pytest

from keju.published import published_model, published_models, task_sources


def names(benchmark: str, *roles: str) -> list[str]:
    return [
        each.name
        for each in published_models()
        if each.benchmark == benchmark and each.role in roles
    ]


def test_there_are_37_27_and_23_models_and_five_judges() -> None:
    evaluated = Counter(each.benchmark for each in published_models() if each.role == "evaluated")
    assert evaluated == {"MCS-Bench": 37, "AncientDoc": 27, "OBI-Bench": 23}
    assert Counter(each.role for each in published_models())["judge"] == 5


def test_no_name_means_two_models_of_one_paper() -> None:
    spelled = Counter(
        (each.benchmark, name)
        for each in published_models()
        if each.role != "judge"
        for name in {each.name, each.also_printed_as} - {""}
    )
    assert max(spelled.values()) == 1


def test_a_model_is_found_in_both_spellings() -> None:
    found = published_model("AncientDoc", "LLaVA-OneVision-72B")
    assert found is not None
    assert found.name == "LLaVA-Onevision-72B"
    assert found.size_b == 72
    assert published_model("AncientDoc", "Claude-3.5-Sonnet") is None


def test_the_sources_and_licences_of_tasks_are_those_that_table_13_prints() -> None:
    found = {each.task: each for each in task_sources()}
    assert len(found) == 45
    assert found["T1"].links == (
        "https://github.com/HCIILAB/M5HisDoc",
        "https://github.com/SCUT-DLVCLab/HisDoc1B",
    )
    assert (found["T1"].method, found["T1"].licences) == ("M4", ("GPL-3.0", "-"))
    assert found["T24"].licences == ("CC-BY-4.0",)
    unlike = {name for name, each in found.items() if len(each.links) != len(each.licences)}
    assert unlike == {"T4", "T38"}, "printed with another number of licences than of links"


def test_lists_are_those_of_the_transcription(shared) -> None:
    def read(name):
        return json.loads((shared / "published" / name).read_text("utf-8"))

    assert names("MCS-Bench", "evaluated") == [each["model"] for each in read("mcs_models.json")]
    ancient = read("ancientdoc_models.json")
    assert names("AncientDoc", "evaluated") == [each["name"] for each in ancient["models"]]
    assert names("AncientDoc", "judge") == ancient["judges"]
    obi = read("obi_models.json")
    assert set(names("OBI-Bench", "evaluated")) == {each["results_name"] for each in obi}
    more = read("mcs_supplementary_models.json")
    supplementary = set(more["ocr_engines"]) | {
        name
        for table, listed in more.items()
        if table.startswith("table")
        for name in listed
        if name not in names("MCS-Bench", "evaluated")
    }
    assert set(names("MCS-Bench", "supplementary")) == supplementary


@pytest.mark.parametrize("benchmark", ["MCS-Bench", "AncientDoc", "OBI-Bench"])
def test_kinds_and_sizes_are_the_transcriptions(shared, benchmark) -> None:
    file = {"MCS-Bench": "mcs", "AncientDoc": "ancientdoc", "OBI-Bench": "obi"}[benchmark]
    rows = json.loads((shared / "published" / f"{file}_models.json").read_text("utf-8"))
    rows = rows["models"] if isinstance(rows, dict) else rows
    for row in rows:
        found = published_model(
            benchmark, row.get("model") or row.get("name") or row["results_name"]
        )
        assert found is not None
        is_open = row["group"] == "open" if "group" in row else row["open_source"]
        assert found.kind == ("open-mllm" if is_open else "closed-mllm")
        if "params_b" in row:
            assert found.size_b == row["params_b"]
        elif row.get("params"):
            assert found.size_b == float(row["params"].split("B")[0])


def test_details_are_the_rows_of_the_papers_table_6(shared) -> None:
    text = (shared / "papers" / "mcs-bench.txt").read_text("utf-8")
    header = "Model\tOpen-Source\t# Params\t"
    start = text.index(header)
    heads, *rows = (line.split("\t") for line in text[start:].split("\n\n")[0].splitlines())
    printed = {row[0].rpartition(" (")[0]: row[1:] for row in rows}
    ours = {
        each.name: [each.details[head] or "-" for head in heads[1:]]
        for each in published_models()
        if each.benchmark == "MCS-Bench" and each.role == "evaluated"
    }
    assert len(ours) == 37
    assert ours == printed


def test_obi_bench_describes_its_17_open_models() -> None:
    described = [each for each in published_models() if each.benchmark == "OBI-Bench"]
    open_models = {each.name for each in described if each.kind == "open-mllm"}
    assert {each.name for each in described if each.details} == open_models
    found = published_model("OBI-Bench", "DeepSeek-VL (DeepSeek-LLM-7B)")
    assert found is not None
    assert found.details["Input Size"] == "1024&384"
