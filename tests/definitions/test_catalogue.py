"""The catalogues say what the papers' registries say."""

import csv
import json
import re
from pathlib import Path

import pytest

from keju.definitions import benchmark as benchmark_named
from keju.definitions import (
    official_number,
    paper_tasks,
    prompt_of,
    task,
    tasks,
)
from keju.definitions.schema import Task
from keju.errors import UsageError
from keju.items import Item
from keju.scoring import metric_of
from tests.support.bundled import PAPERS, TASKS

OPEN_QA = (6, 9, 15, 17, 22, 25, 27, 29, 35, 38, 39, 44)
NAME_NOT_LEGIBLE = {("recognition", "Where")}


def of(benchmark: str) -> list[Task]:
    return [task for task in tasks() if task.benchmark == benchmark]


def registry(shared: Path, name: str) -> dict:
    return json.loads((shared / "published" / name).read_text("utf-8"))


def results(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "published" / name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def meant(benchmark: str, printed: list[str]) -> list[str]:
    """Our metrics for names as printed; every name must be declared in the data file."""
    mapping = benchmark_named(benchmark).printed_metrics
    return [ours for name in printed for ours in mapping[name]]


def test_the_tasks_are_those_of_the_definitions_with_ids_of_their_own() -> None:
    assert {name: [task.id for task in of(name)] for name in TASKS} == TASKS
    assert len({task.id for task in tasks()}) == len(tasks()) == sum(map(len, TASKS.values()))
    assert [len(of(name)) for name in PAPERS] == [45, 5, 5]


def test_tasks_of_papers_have_counts_and_benchmarks_of_papers_official_metrics() -> None:
    from_paper = {task.benchmark for task in paper_tasks()}
    assert set(PAPERS) <= from_paper
    assert all(task.count for task in paper_tasks())
    for name in from_paper:
        assert any(task.has_official for task in of(name))
    assert task("page_ocr") not in paper_tasks()


def test_mcs_facts_are_the_registrys(shared: Path) -> None:
    rows = registry(shared, "mcs_task_registry.json")["tasks"]
    statistics = json.loads((shared / "published/mcs_table5_task_stats.json").read_text("utf-8"))
    assert [row["id"] for row in rows] == [task.id for task in of("MCS-Bench")]
    for row in rows:
        declared = task(row["id"])
        for fact in ("name_zh", "name_en", "domain", "format"):
            assert getattr(declared, fact) == row[fact], (row["id"], fact)
        assert declared.count == row["n_questions"] == statistics[row["id"]]["n_questions"]
        assert declared.name_en == statistics[row["id"]]["name_en"]
        assert declared.count_kind == "items"


def test_mcs_prompts_are_the_registrys(shared: Path) -> None:
    for row in registry(shared, "mcs_task_registry.json")["tasks"]:
        (query,) = task(row["id"]).queries
        assert query.template == row["template_zh"], row["id"]
        assert query.requirement == (row["requirement_zh"] or ""), row["id"]


def test_mcs_official_metrics_are_the_registrys_main_one_first(shared: Path) -> None:
    for row in registry(shared, "mcs_task_registry.json")["tasks"]:
        (query,) = task(row["id"]).queries
        printed = [row["main_metric"], *row["other_metrics"].split(", ")]
        assert list(query.official) == meant("MCS-Bench", printed), row["id"]


def test_mcs_domains_add_up_to_table_2(shared: Path) -> None:
    table = json.loads((shared / "published/mcs_table2_stats.json").read_text("utf-8"))["text"]
    for row in table:
        held = [task for task in of("MCS-Bench") if row["domain"] in (task.domain, "OverAll")]
        assert len(held) == row["n_task"], row["domain"]
        assert sum(task.count for task in held) == row["n_q"], row["domain"]
    assert sum(task.count for task in of("MCS-Bench")) == 6500


def test_mcs_metrics_bear_the_names_of_the_golden_vectors(shared: Path) -> None:
    golden = json.loads((shared / "golden/mcs_public.json").read_text("utf-8"))
    for number, main in golden["meta"]["main_metric"].items():
        (query,) = task(f"T{number}").queries
        assert query.official[0] == ("Avg" if main == "mean(BERTScore,ANLS)" else main), number
    given: dict[int, set[str]] = {}
    for item in golden["public"]["items"]:
        given.setdefault(int(item["Task_ID"]), set()).update(item["official"])
    for number, names in given.items():
        (query,) = task(f"T{number}").queries
        assert names <= set(query.official), number


def test_the_average_leads_the_12_open_questions_only() -> None:
    with_average = [task.id for task in of("MCS-Bench") if "Avg" in task.queries[0].official]
    assert with_average == [f"T{number}" for number in OPEN_QA]
    for task_id in with_average:
        assert task(task_id).queries[0].official == ("Avg", "BERTScore", "ANLS")


def test_ancientdoc_facts_and_metrics_are_the_registrys(shared: Path) -> None:
    given = registry(shared, "ancientdoc_registry.json")
    assert [row["id"] for row in given["tasks"]] == [task.id for task in of("AncientDoc")]
    pages = given["total_pages_text_exact"]
    for row in given["tasks"]:
        declared = task(row["id"])
        (query,) = declared.queries
        assert declared.name_en == row["name_en"]
        assert (declared.count, declared.count_kind) == (
            pages * row["qa_per_page"],
            "items-implied",
        )
        assert list(query.official) == meant("AncientDoc", row["metrics"])
        assert query.template == row.get("example_prompt_zh", "{question}")
    assert sum(task.count for task in of("AncientDoc")) == 23784


def test_own_pages_have_the_strict_metrics_of_ancientdoc_and_no_official_protocol() -> None:
    own, published = task("page_ocr"), task("page_level_ocr")
    assert (own.benchmark, own.count, own.count_kind) == ("pages", 0, "open")
    (query,) = own.queries
    assert query.strict == published.queries[0].strict
    assert query.official == ()
    assert query.requirement.startswith("要求：请只输出转录的文字")
    assert benchmark_named("pages").printed_metrics == {}


def test_ancientdoc_tables_print_only_names_that_are_declared(shared: Path) -> None:
    printed: dict[str, list[str]] = {}
    for row in results(shared, "ancientdoc_results_long.csv"):
        if row["task"] in {task.id for task in of("AncientDoc")}:
            names = printed.setdefault(row["task"], [])
            if row["metric"] not in names:
                names.append(row["metric"])
    assert set(printed) == {task.id for task in of("AncientDoc")}
    for task_id, names in printed.items():
        assert set(meant("AncientDoc", names)) == set(task(task_id).queries[0].official)


def test_obi_facts_and_prompts_are_the_registrys(shared: Path) -> None:
    given = registry(shared, "obi_registry.json")
    assert [row["id"] for row in given["tasks"]] == [task.id for task in of("OBI-Bench")]
    for row in given["tasks"]:
        declared = task(row["id"])
        assert [query.name for query in declared.queries] == [q["type"] for q in row["queries"]]
        asked = [
            prompt_of(Item(id="x", benchmark="OBI-Bench", task=row["id"], query=query.name))
            for query in declared.queries
        ]
        assert asked == [q["prompt"] for q in row["queries"]]
        images = [d["sampled_size"] for d in given["datasets"] if d["task"] == row["id"]]
        assert (declared.count, declared.count_kind) == (sum(images), "images")
    assert sum(task.count for task in of("OBI-Bench")) == given["total_images"]


def test_obi_official_metrics_are_the_registrys(shared: Path) -> None:
    mapping = benchmark_named("OBI-Bench").printed_metrics
    held = set()
    for row in registry(shared, "obi_registry.json")["tasks"]:
        for query, given in zip(task(row["id"]).queries, row["queries"], strict=True):
            if (row["id"], query.name) in NAME_NOT_LEGIBLE:
                continue
            names = [
                max((name for name in mapping if part.startswith(name)), key=len, default=None)
                for part in given["metric"].split(", ")
            ]
            known = [name for name in names if name is not None]
            assert known, given["metric"]
            assert list(query.official) == meant("OBI-Bench", known), (row["id"], query.name)
            held.add((row["id"], query.name))
    assert len(held) == 11


def test_obi_tables_print_the_metrics_of_each_query(shared: Path) -> None:
    in_csv = {"cosine_similarity": "cosine similarity"}
    printed: dict[tuple[str, str], set[str]] = {}
    for row in results(shared, "obi_results_long.csv"):
        if row["task"] in {task.id for task in of("OBI-Bench")}:
            name = in_csv.get(row["metric"], row["metric"])
            printed.setdefault((row["task"], row["domain"]), set()).update(
                meant("OBI-Bench", [name])
            )
    for declared in of("OBI-Bench"):
        for query in declared.queries:
            if query.official and declared.id != "deciphering":
                assert printed[declared.id, query.name] == set(query.official)
    assert printed["deciphering", "Average"] == {"BERTScore"}


def test_every_published_query_but_one_has_metrics_in_both_protocols() -> None:
    bare = {
        (task.id, query.name)
        for name in PAPERS
        for task in of(name)
        for query in task.queries
        if not (query.official and query.strict)
    }
    assert bare == {("deciphering", "How")}
    assert task("deciphering").queries[1].official == task("deciphering").queries[1].strict == ()


def test_strict_leads_with_a_measure_where_more_is_better() -> None:
    mains = [
        metric_of("strict", task.benchmark, query.form, query.strict[0])
        for task in tasks()
        for query in task.queries
        if query.strict
    ]
    assert {main.name for main in mains} >= {
        "CharAcc", "chrF", "F1", "Acc", "ExactMatch", "BERTScore_floor", "cosine_floor",
        "BalancedAcc", "CountAcc", "mIoU", "Acc@1",
    }  # fmt: skip
    assert [main.name for main in mains if not main.higher_is_better] == []


def test_queries_ask_for_answers_of_the_right_form() -> None:
    for declared in of("MCS-Bench"):
        (query,) = declared.queries
        assert (query.form == "letter") == (declared.format == "MCQ")
        assert (query.form == "transcription") == declared.name_zh.endswith("OCR")
    forms = [query.form for query in task("recognition").queries]
    assert forms == ["text", "yes-no", "number", "boxes"]
    assert task("recognition").queries[3].box_convention == "xyxy"
    assert [query.form for query in task("retrieval").queries] == ["yes-no", "probability"]


def test_blanks_are_the_ones_that_an_item_can_fill() -> None:
    blanks = {
        blank
        for name in (*PAPERS, "pages")
        for task in of(name)
        for query in task.queries
        for blank in re.findall(r"\{(.*?)\}", query.template)
    }
    assert blanks == {"question", "options", "term", "character", "book", "box_format"}


def test_a_requirement_is_the_last_line_of_its_template() -> None:
    with_one = [(task, query) for task in tasks() for query in task.queries if query.requirement]
    assert sum(declared.benchmark in PAPERS for declared, _ in with_one) == 31
    for declared, query in with_one:
        assert query.template.split("\n")[-1] == query.requirement, declared.id
        assert query.requirement.startswith("要求：") or declared.benchmark not in PAPERS


def test_a_task_is_found_by_its_id_and_a_slip_is_answered_with_near_ones() -> None:
    assert task("T1").name_zh == "文本OCR"
    with pytest.raises(UsageError, match=r"no task 'recogniton'\. Did you mean 'recognition'"):
        task("recogniton")
    with pytest.raises(UsageError, match="'T1'"):
        task("t1")
    with pytest.raises(UsageError, match="keju tasks"):
        task("")


def test_numbers_are_mcs_benchs_only() -> None:
    assert official_number("T7") == "7"
    assert official_number("retrieval") == "retrieval"
    assert official_number("Txt") == "Txt"
    assert official_number("7") == "7"
    for number in (0, 46, -1):
        with pytest.raises(UsageError):
            task(f"T{number}")


def test_a_row_lists_what_the_contract_names() -> None:
    assert task("T21").row == {
        "id": "T21",
        "benchmark": "MCS-Bench",
        "name_zh": "画面问答",
        "name_en": "Image-based Q&A",
        "domain": "Painting",
        "format": "QA",
        "metrics": {"official": ["Acc"], "strict": ["ExactMatch"]},
        "count": 55,
        "count_kind": "items",
    }
    metrics = task("classification").row["metrics"]
    assert metrics == {"official": ["Acc@5", "Acc@1"], "strict": ["Acc@1", "AP", "AUC"]}
    json.dumps([task.row for task in tasks()])


def test_metric_names_of_an_unknown_benchmark_are_refused() -> None:
    with pytest.raises(UsageError, match="MCS-Bench, AncientDoc, OBI-Bench"):
        benchmark_named("MMMU")
