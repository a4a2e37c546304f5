"""A definition file: what is accepted, and what each mistake in it is reported as."""

from pathlib import Path

import pytest

from keju.definitions import (
    benchmark,
    definition_texts,
    definitions,
    load_benchmark,
    parse_definition,
    register_definition,
    registry,
    task,
    tasks,
)
from keju.definitions.draft import sample_prompt, write_draft
from keju.errors import DataError, KejuError, UsageError
from keju.registry import PluginError, list_shipped_folders
from keju.scoring import check_metrics
from keju.scoring.lookup import strict_metrics
from tests.support.bundled import FOLDERS, PAPERS

TEXT = """
name = "Studies"
version = "1"
title = "Manuscript Studies"
count_kind = "items"

[domains_zh]
Dunhuang = "敦煌"

[families.choice]
form = "letter"
strict = ["Acc", "Acc_chance_corrected"]

[families.locate]
form = "boxes"
strict = ["mIoU"]

[tasks.dating]
name_zh = "断代"
name_en = "Dating"
domain = "Dunhuang"
format = "MCQ"
family = "choice"
ask = "{question}\\n{options}"
requirement = "只输出字母。"
count = 12

[tasks.seals]
name_zh = "印章"
name_en = "Seals"
domain = "Dunhuang"
format = "QA"
count = 3

[tasks.seals.queries.Where]
family = "locate"
ask = "Where are the seals? {box_format}"
box_convention = "xyxy"

[means.MCQ]
formats = ["MCQ"]
"""


pytestmark = pytest.mark.usefixtures("definitions_of_the_test")


def test_a_definition_has_its_tasks_with_prompts_and_metrics() -> None:
    found = register_definition(TEXT, "studies.toml")
    dating, seals = found.tasks
    assert (dating.benchmark, dating.domain_zh, dating.count) == ("Studies", "敦煌", 12)
    assert dating.queries[0].template == "{question}\n{options}\n只输出字母。"
    assert dating.queries[0].strict == ("Acc", "Acc_chance_corrected")
    assert seals.queries[0].box_convention == "xyxy"
    assert not found.from_paper
    assert not dating.has_official
    assert task("dating") is dating
    assert tasks()[-2:] == (dating, seals)
    assert benchmark("Studies").title == "Manuscript Studies"
    assert not found.shipped
    assert definition_texts(["Studies", "MCS-Bench", "nobody's"]) == {"Studies": TEXT}


def test_the_shipped_definitions_come_first_and_through_the_same_parser() -> None:
    names = [each.name for each in definitions()]
    assert names[:3] == [*PAPERS]
    assert set(names[:-1]) == set(FOLDERS)
    assert names[-1] == "pages"
    assert all(each.shipped for each in definitions())
    assert benchmark("MCS-Bench").means["QA as printed"].without == ("T39",)
    for folder in list_shipped_folders():
        text = folder.joinpath(registry.FILE).read_text("utf-8")
        assert parse_definition(text, folder.name).name in {each.name for each in definitions()}


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('form = "letter"', 'form = "lettr"', ("families.choice", "'lettr'", "'letter'")),
        ('family = "choice"', 'family = "choise"', ("tasks.dating", "'choise'", "'choice'")),
        ('name_zh = "断代"\n', "", ("tasks.dating", "name_zh")),
        ('name_zh = "断代"', 'name_zh = " "', ("tasks.dating", "name_zh")),
        ("count = 12", 'count = "12"', ("tasks.dating", "count")),
        ("count = 12\n", "", ("tasks.dating", "count")),
        ("count = 12", "cout = 12", ("tasks.dating", "'cout'", "'count'")),
        ("[tasks.dating]", '[tasks."a/b"]', ("tasks.a/b", "'a/b'")),
        ("{question}", "{Question}", ("tasks.dating", "{Question}")),
        ('ask = "{question}\\n{options}"\n', "", ("tasks.dating", "queries")),
        ('box_convention = "xyxy"', "", ("tasks.seals.queries.Where", "box_convention")),
        ('"xyxy"', '"xyyx"', ("tasks.seals.queries.Where", "'xyyx'")),
        ('formats = ["MCQ"]', 'formats = ["MQC"]', ("means.MCQ", "'MQC'", "'MCQ'")),
        ('Dunhuang = "敦煌"', 'Dunhang = "敦煌"', ("domains_zh", "'Dunhang'", "'Dunhuang'")),
        ('name = "Studies"', 'name = "a/b"', ("'a/b'",)),
        ('name = "Studies"', 'nam = "Studies"', ("'nam'", "'name'")),
        ('version = "1"\n', "", ("version", "keju benchmark new")),
        ('format = "MCQ"', 'format = "pairs"', ("tasks.dating", "pairs")),
        ("[families.choice]", "[families.choice", ("not a benchmark definition",)),
        ('version = "1"', 'version = " "', ("version is empty", 'version = "1"')),
        ('version = "1"', "version = 1", ("version", "expected text")),
        ('title = "Manuscript Studies"', "title = []", ("title", "expected text")),
        ('version = "1"', 'version = "1"\nlicence = 4', ("licence", "expected text")),
        ('version = "1"', 'version = "1"\nplugins = "mine.py"', ("plugins", "expected a list")),
        (
            'version = "1"',
            'version = "1"\nofficial_with_reasoning = "yes"',
            ("official_with", "true or false"),
        ),
        ('version = "1"', 'version = "1"\nanswer_language = "fr"', ("answer_language", "'fr'")),
        (
            'version = "1"',
            'version = "1"\nreading_task = "dating"',
            ("reading_task", "transcription"),
        ),
        ('count_kind = "items"', 'count_kind = "pages"', ("count_kind", "'pages'")),
        ("count = 12", "count = -1", ("tasks.dating", "-1")),
        (
            'form = "letter"',
            'form = "letter"\nimage = "no"',
            ("families.choice", "image", "true or false"),
        ),
        (
            'form = "letter"',
            'form = "letter"\nrubric = 1',
            ("families.choice", "rubric", "expected text"),
        ),
        (
            'form = "letter"',
            'form = "letter"\nstrit = []',
            ("families.choice", "'strit'", "'strict'"),
        ),
        ('strict = ["mIoU"]', 'strict = "mIoU"', ("families.locate", "strict", "expected a list")),
        ("count = 12", 'count = 12\ncandidates = "glyphs"', ("tasks.dating", "'glyphs'")),
        ("count = 12", 'count = 12\ntranscription_from = "dating"', ("tasks.dating", "'dating'")),
        ("count = 3", 'count = 3\nask = "?"', ("tasks.seals", "belong to its queries")),
        ("queries.Where]", 'queries."Who?"]', ("tasks.seals.queries.Who?", "not usable")),
        ('formats = ["MCQ"]', 'formats = ["MCQ"]\nwithout = ["seal"]', ("means.MCQ", "'seals'")),
        ("[means.MCQ]", "[drafts.qa]\ntasks = []\n[means.MCQ]", ("drafts.qa", "no tasks")),
        ("[means.MCQ]", '[drafts.qa]\ntasks = ["x"]\n[means.MCQ]', ("drafts.qa", "'x'")),
        (
            "[means.MCQ]",
            '[drafts.qa]\ntasks = ["seals"]\nshow = "audio"\n[means.MCQ]',
            ("drafts.qa", "show", "'audio'"),
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_place(old: str, new: str, named: tuple[str, ...]) -> None:
    assert old in TEXT
    with pytest.raises(DataError) as caught:
        parse_definition(TEXT.replace(old, new), "studies.toml")
    message = str(caught.value)
    assert "\n" not in message
    for word in ("studies.toml", *named):
        assert word in message


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"Acc_chance_corrected"', '"Acc_chance"', ("tasks.dating", "Acc_chance_corrected")),
        ('strict = ["mIoU"]', 'strict = ["CER"]', ("tasks.seals.queries.Where", "mIoU, F1_IoU")),
        ('strict = ["mIoU"]', 'strict = []\nofficial = ["mIoU"]', ("official", "official_as")),
    ],
)
def test_a_metric_that_keju_does_not_compute_is_refused(
    old: str, new: str, named: tuple[str, ...]
) -> None:
    with pytest.raises(DataError) as caught:
        check_metrics(parse_definition(TEXT.replace(old, new), "studies.toml"), "studies.toml")
    for word in named:
        assert word in str(caught.value)


def test_a_strict_metric_of_any_benchmark_can_be_used() -> None:
    text = TEXT.replace('form = "letter"', 'form = "text"').replace(
        '["Acc", "Acc_chance_corrected"]', '["BERTScore_floor", "cosine_floor", "chrF"]'
    )
    found = register_definition(text, "studies.toml")
    check_metrics(found, "studies.toml")
    assert found.tasks[0].queries[0].strict == ("BERTScore_floor", "cosine_floor", "chrF")


def test_official_metrics_are_those_of_the_benchmark_that_official_as_names() -> None:
    text = TEXT.replace('version = "1"', 'version = "1"\nofficial_as = "MCS-Bench"')
    text = text.replace('form = "letter"', 'form = "letter"\nofficial = ["Acc"]')
    found = register_definition(text, "studies.toml")
    check_metrics(found, "studies.toml")
    assert found.tasks[0].has_official
    with pytest.raises(DataError, match=r"'pages'.*MCS-Bench, AncientDoc, OBI-Bench"):
        register_definition(
            text.replace("MCS-Bench", "pages").replace("Studies", "Other"), "other.toml"
        )


def test_a_shipped_name_with_another_content_is_refused() -> None:
    named = r"studies\.toml: this definition of 'AncientDoc' differs from the one in keju\."
    with pytest.raises(UsageError, match=named):
        register_definition(TEXT.replace('"Studies"', '"AncientDoc"'), "studies.toml")


def test_a_copy_of_a_shipped_definition_is_accepted() -> None:
    text = (list_shipped_folders()[1] / "benchmark.toml").read_text("utf-8")
    assert register_definition(f"# copied\n{text}", "copy.toml") == benchmark("AncientDoc")


def test_two_definitions_of_one_name_are_refused_with_both_places() -> None:
    register_definition(TEXT, "a.toml")
    register_definition(f"# a comment more\n{TEXT}", "same.toml")
    with pytest.raises(UsageError, match=r"b\.toml: this definition of 'Studies'.*a\.toml"):
        register_definition(TEXT.replace("count = 12", "count = 13"), "b.toml")


def test_a_task_of_two_benchmarks_is_refused_with_both_names() -> None:
    with pytest.raises(UsageError, match=r"'recognition' of Third.*OBI-Bench"):
        register_definition(
            TEXT.replace('"Studies"', '"Third"').replace("tasks.seals", "tasks.recognition"), "c"
        )
    register_definition(TEXT, "a.toml")
    with pytest.raises(UsageError, match=r"b\.toml: the task 'dating' of Others.*Studies.*a\.toml"):
        register_definition(TEXT.replace('"Studies"', '"Others"'), "b.toml")
    assert [each.name for each in definitions()][-1] == "Studies"


def test_a_missing_plugin_is_named() -> None:
    text = TEXT.replace('version = "1"', 'version = "1"\nplugins = ["keju", "no-such-plugin"]')
    with pytest.raises(PluginError, match=r"studies\.toml: .* no-such-plugin, which is missing"):
        register_definition(text, "studies.toml")
    with pytest.raises(PluginError, match=r"--plugin none\.py \(in Python: import it\)"):
        register_definition(text.replace("no-such-plugin", "none.py"), "studies.toml")
    with pytest.raises(UsageError):
        task("dating")


def test_a_draft_is_accepted_and_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "drafted.toml"
    write_draft("Drafted Slips", file, strict_metrics())
    assert "# transcription        CharAcc, CER," in file.read_text("utf-8")
    assert "# yes-no (pairs)       Acc@1, AP, AUC\n" in file.read_text("utf-8")
    found = load_benchmark(file)
    check_metrics(found, str(file))
    assert found.name == "Drafted Slips"
    prompts = {own.id: sample_prompt(own, own.queries[0]) for own in found.tasks}
    assert "A、唐代 B、宋代" in prompts["drafted_slips_dating"]
    assert "{" not in "".join(prompts.values())
    with pytest.raises(UsageError, match="exists already"):
        write_draft("Drafted Slips", file, {})
    with pytest.raises(KejuError, match="not usable"):
        write_draft('a"b', tmp_path / "other.toml", {})


def test_every_shipped_prompt_can_be_shown_with_sample_content() -> None:
    for each in definitions():
        questions = [(own, query) for own in each.tasks for query in own.queries]
        for own, query in questions:
            assert sample_prompt(own, query)
            assert "{question}" not in sample_prompt(own, query)
