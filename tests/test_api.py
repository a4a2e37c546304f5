"""The public Python interface: its names, types and refusals."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import keju
from keju import api
from keju.cli.app import app
from keju.errors import DataError, KejuError, UsageError
from keju.extraction import READER
from keju.text import official_convert

SIGNATURES = {
    "bundle": "(run: 'AnyPath', path: 'AnyPath', *, include_data: 'bool' = False) -> 'Path'",
    "verify": "(path: 'AnyPath', dataset: 'AnyPath | None' = None, *, verified_by: 'str' = '') -> "
    "'Verification'",
    "cer": "(reference: 'str | Iterable[str]', hypothesis: 'str | Iterable[str]', *, "
    "normalize: 'Layer | None' = 'script') -> 'float'",
    "export": "(name: 'str', *, summary: 'str', run: 'str' = 'Run directory.', "
    "out: 'str' = 'Output file or directory.', images: 'str' = '', next_step: 'str' = '') "
    "-> 'Callable[[E], E]'",
    "extract": "(task: 'str', text: 'str', *, item: 'Item | None' = None, query: 'str' = '', "
    "question: 'str' = '', options: 'Iterable[str]' = ()) -> 'Reading'",
    "open_run": "(path: 'AnyPath') -> 'Run'",
    "load": "(dataset: 'AnyPath') -> 'Dataset'",
    "metric": "(*, name: 'str', form: 'AnswerForm', rule: 'str', protocol: 'Protocol' = 'strict', "
    "benchmark: 'str' = '', prepare: 'str' = '', higher_is_better: 'bool' = True, "
    "lowest: 'float | None' = 0.0, highest: 'float | None' = 1.0, worst: 'float | None' = None, "
    "pooled: 'bool' = False, source: 'str' = '', rule_zh: 'str' = '') "
    "-> 'Callable[[F], F]'",
    "model": "(spelling: 'str', *, summary: 'str', role: 'Role' = 'model', local: 'bool' = False, "
    "packages: 'Sequence[str]' = (), program: 'str' = '', install: 'str' = '', key: 'str' = '') "
    "-> 'Callable[[M], M]'",
    "read_alto": "(path: 'AnyPath', *, dpi: 'float | None' = None) -> 'Page'",
    "read_hocr": "(path: 'AnyPath') -> 'Page'",
    "read_page_xml": "(path: 'AnyPath') -> 'Page'",
    "reader": "(name: 'str', *, summary: 'str', layout: 'str' = '', "
    "settings: 'type[Settings]' = <class 'keju.settings.Settings'>, "
    "detect: 'Detect | None' = None, texts: 'bool' = True) "
    "-> 'Callable[[R], R]'",
    "reading_order": "(lines: 'Page | Iterable[Line]') -> 'list[Line]'",
    "responses": "(name: 'str') -> 'Callable[[A], A]'",
    "score": "(responses: 'AnyPath | Iterable[tuple[Item, str]]', *, "
    "protocol: 'ProtocolChoice' = 'both', model: 'str' = '', adjudicated: 'AnyPath | None' = None, "
    "extractor: 'str' = '') -> 'Results'",
    "show": "(what: 'Page | Item | Iterable[Line]', image: 'AnyPath | Dataset | None' = None) -> "
    "'View'",
    "source": "(name: 'str', *, summary: 'str', settings: 'type[S]', version: 'int' = 1, "
    "check: 'Callable[[S], None] | None' = None, "
    "reads: 'Callable[[S], Iterable[Path]] | None' = None) -> 'Callable[[Make[S]], Make[S]]'",
    "step": "(name: 'str', *, summary: 'str', settings: 'type[S]', version: 'int' = 1) -> "
    "'Callable[[Run[S]], Run[S]]'",
    "writer": "(name: 'str', *, summary: 'str', layout: 'str' = '') -> 'Callable[[W], W]'",
}
PARAMETERS = {
    "run": {
        "dataset": ..., "models": ..., "out": ..., "tasks": None, "limit": None, "sample": None,
        "seed": 0, "rounds": None, "preset": "", "settings": None, "scripts": None,
        "wordings": None, "prompts": None, "boxes": "",
        "items": None, "pairs": None, "shard": None, "label": None,
        "base_url": "", "api_key_env": "OPENAI_API_KEY", "concurrency": None, "temperature": None,
        "top_p": None, "top_k": None, "max_tokens": None, "sampling_seed": None,
        "system_prompt": "", "reasoning_effort": None, "extra_body": {},
        "dtype": "unknown", "timeout": 600.0, "max_pixels": None, "max_bytes": None,
        "max_cost": None, "prices": None,
        "per_minute": None, "batch": False,
        "retry_failed": False, "replace": False, "reading_order": True, "replay_columns": "",
        "send_restricted_data": False,
        "engine": "native", "ray_address": "",
        "progress": False,
    },
    "compare": {
        "first": ..., "second": None, "by": "", "model": (), "setting": (), "script": (),
        "wording": (), "protocol": "strict", "margin": None,
    },
}  # fmt: skip
"""The parameters of functions with many, with their defaults."""
TYPES = {
    "Comparison": {
        "first",
        "second",
        "verdict",
        "notes",
        "overall",
        "tasks",
        "to_frame",
        "to_dict",
    },
    "Dataset": {"items", "image_bytes", "to_frame", "manifest", "path"},
    "Item": {"id", "task", "images", "question", "options", "answer", "lines", "group", "metadata"},
    "Leaderboard": {"overall", "domains", "tasks", "notes", "to_frame", "to_pandas"},
    "Line": {"id", "text", "polygon", "box", "kind"},
    "metrics": {"CER", "CharAcc", "F1", "BLEU", "chrF", "chrFpp", "ROUGE_L", "ANLS", "Acc"},
    "Page": {"lines", "width", "height", "image_name"},
    "PythonModel": {"name", "identity"},
    "Reading": {"state", "value", "rule", "quote"},
    "Results": {"scores", "to_frame", "tasks", "overall", "leaderboard"},
    "Run": {
        "path",
        "summary",
        "manifest",
        "models",
        "items",
        "dataset",
        "responses",
        "score",
        "report",
    },
    "Verification": {"result", "checks", "differences", "not_verified", "audit"},
    "View": {"html"},
}
COLUMNS = [
    "model", "setting", "script", "wording", "protocol", "task", "query", "metric", "main",
    "value", "value_if_right", "without_failures", "item_mean", "items", "scored", "signature",
]  # fmt: skip


def _default(parameter: inspect.Parameter) -> object:
    """The default of a parameter; one that is made anew for each call is empty."""
    return {} if repr(parameter.default) == "<factory>" else parameter.default


def items_of(task: str) -> list[keju.Item]:
    return [item for item in keju.load("mini") if item.task == task]


def column(text: str, x: float) -> keju.Line:
    return keju.Line(id=text, text=text, polygon=((x, 0), (x + 20, 0), (x + 20, 300), (x, 300)))


def test_public_names_and_signatures_are_these():
    assert set(keju.__all__) == {"__version__", *SIGNATURES, *PARAMETERS, "arun", *TYPES}
    assert dir(keju) == sorted(keju.__all__)
    assert keju.__all__ == ["__version__", *api.__all__]
    found = {name: str(inspect.signature(getattr(keju, name))) for name in SIGNATURES}
    assert found == SIGNATURES
    for name, parameters in {**PARAMETERS, "arun": PARAMETERS["run"]}.items():
        signature = inspect.signature(getattr(keju, name)).parameters
        assert list(signature) == list(parameters)
        given = {key: value for key, value in parameters.items() if value is not ...}
        assert {n: _default(each) for n, each in signature.items() if n in given} == given


def test_the_options_of_run_are_those_of_the_command():
    command = typer.main.get_command(app).commands["run"]
    names = {each.name for each in command.params} - {"plan", "as_json", "everything"}
    renamed = {"task": "tasks", "setting": "settings", "script": "scripts", "wording": "wordings",
               "item_list": "items", "model": "models", "folder": "out"}  # fmt: skip
    ours = set(PARAMETERS["run"]) - {"progress"}
    assert {renamed.get(name, name) for name in names} == ours
    defaults = {renamed.get(each.name, each.name): each.default for each in command.params}
    for name in ours - {"dataset", "models", "out", "extra_body"}:
        assert defaults[name] == PARAMETERS["run"][name], name


@pytest.mark.parametrize("model", ["baseline:copy", keju.PythonModel("mine", lambda asked: "")])
def test_only_local_engines_run_on_ray(model, tmp_path):
    with pytest.raises(UsageError) as caught:
        keju.run("mini", model, tmp_path / "run", engine="ray")
    assert "--engine ray" in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", TYPES)
def test_public_types_have_these_members(name):
    # Attributes that a constructor sets are not in dir() of its class.
    made = {
        "Dataset": {"manifest", "path"},
        "PythonModel": {"name", "identity"},
        "Results": {"scores"},
        "Run": {"summary"},
        "View": {"html"},
        "Comparison": TYPES["Comparison"],
        "Leaderboard": TYPES["Leaderboard"],
    }.get(name, set())
    assert TYPES[name] <= {*dir(getattr(keju, name)), *made}


def test_importing_keju_imports_no_library_and_no_function():
    code = (
        "import sys, keju; print([name for name in sys.modules if name.startswith('keju.')]); "
        "print({'polars', 'numpy', 'msgspec', 'lxml'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert done == ["['keju.telemetry']", "set()"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'wer'"):
        keju.wer  # noqa: B018


@pytest.mark.parametrize(
    ("normalize", "value"),
    [
        (None, 1.5),
        ("exact", 1),
        ("nfc", 0.75),
        ("compatibility", 0.5),
        ("variants", 0.25),
        ("script", 0),
    ],
)
def test_cer_prepares_both_texts_by_the_layer_that_is_named(normalize, value):
    reference, hypothesis = "\uf900\u2f00旣學", "\u8c48\u4e00既学。 "
    assert keju.cer(reference, hypothesis, normalize=normalize) == value


def test_cer_normalises_script_by_default():
    assert keju.cer("學", "学") == 0


def test_cer_of_lists_is_the_strict_value_of_the_task():
    items = items_of("T1")
    texts = [item.answer[1:] + "人" for item in items]
    tasks = keju.score(list(zip(items, texts, strict=True)), protocol="strict").tasks
    (scored,) = tasks.filter(tasks["metric"] == "CER")["value"]
    assert keju.cer([item.answer for item in items], texts) == pytest.approx(scored, abs=1e-15)
    assert 0 < scored < 0.5


@pytest.mark.parametrize(
    ("reference", "hypothesis", "error"),
    [
        ("子", None, TypeError),
        (None, "子", TypeError),
        (b"a", b"a", TypeError),
        (1, 1, TypeError),
        ("子", ["子"], TypeError),
        (["子"], "子", TypeError),
        (["子", None], ["子", "曰"], TypeError),
        (["子", float("nan")], ["子", "曰"], TypeError),
        ({"子": 1}, {"子": 1}, TypeError),
        ({"子"}, {"子"}, TypeError),
        (["子"], ["子", "曰"], ValueError),
        ([], [], ValueError),
        ("", "子", ValueError),
        ("。", "子", ValueError),
        (["子", "。"], ["子", "曰"], ValueError),
    ],
)
def test_cer_refuses_what_has_no_error_rate(reference, hypothesis, error):
    with pytest.raises(error):
        keju.cer(reference, hypothesis)


def test_cer_refuses_an_unknown_layer():
    with pytest.raises(ValueError, match="NFKC"):
        keju.cer("子", "子", normalize="NFKC")


def test_extract_takes_options_from_the_item_or_from_the_call():
    item = next(each for each in items_of("T7") if each.options)
    text = f"這段文字出自{item.options[1]}。"
    assert keju.extract("T7", text, item=item).value == "B"
    assert keju.extract("T7", text, options=item.options).value == "B"
    assert keju.extract("T7", text).state == "unclear"


def test_extract_reports_rule_and_quote():
    reading = keju.extract("recognition", "Yes, it is.", query="Yes-or-No")
    assert reading == keju.Reading("read", "Yes", "stated", "Yes, it is.")


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (("T7", None), {}, TypeError),
        ((7, "B"), {}, TypeError),
        (("T7", "B"), {"options": "甲乙"}, TypeError),
        (("T7", "B"), {"item": {"id": "1"}}, TypeError),
        (("T99", "B"), {}, UsageError),
        (("recognition", "B"), {}, DataError),
    ],
)
def test_extract_refuses_wrong_arguments(arguments, options, error):
    with pytest.raises(error):
        keju.extract(*arguments, **options)


def test_extract_refuses_the_item_of_another_task_and_two_sources_of_options():
    (item, *_) = items_of("T1")
    with pytest.raises(ValueError, match="T7"):
        keju.extract("T7", "B", item=item)
    with pytest.raises(ValueError, match="options"):
        keju.extract("T1", "B", item=item, options=["甲"])


def test_a_dataset_is_iterated_counted_and_tabulated(tmp_path):
    dataset = keju.load("mini")
    assert list(dataset) == dataset.items()
    assert len(dataset) == len(dataset.items()) == dataset.to_frame().height
    assert dataset.to_frame()["id"].to_list() == [item.id for item in dataset]
    assert keju.load(str(dataset.path)).manifest == keju.load(dataset.path).manifest


@pytest.mark.parametrize(
    "read", ["load", "open_run", "read_page_xml", "read_alto", "read_hocr", "score"]
)
def test_paths_are_checked(read, tmp_path):
    for path in (tmp_path / "none", str(tmp_path / "none"), "gs://bucket/none"):
        with pytest.raises(KejuError):
            getattr(keju, read)(path)
    for wrong in (b"none", None, 3):
        with pytest.raises(TypeError):
            getattr(keju, read)(wrong)


def test_alto_and_hocr_are_read_as_pages(tmp_path):
    alto, hocr = tmp_path / "p.xml", tmp_path / "p.hocr"
    alto.write_text(
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="100" '
        'HEIGHT="320"><PrintSpace><TextBlock><TextLine HPOS="20" VPOS="0" WIDTH="20" HEIGHT="300">'
        '<String CONTENT="左"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>',
        "utf-8",
    )
    hocr.write_text(
        '<html><body><div class="ocr_page" title="bbox 0 0 100 320">'
        '<span class="ocr_line" title="bbox 20 0 40 300">左</span></div></body></html>',
        "utf-8",
    )
    for page in (keju.read_alto(alto), keju.read_hocr(str(hocr))):
        (line,) = page.lines
        assert line.text == "左"
        assert (line.box.x0, line.box.y0, line.box.x1, line.box.y1) == (20, 0, 40, 300)
        assert (page.width, page.height) == (100, 320)


def test_a_line_without_outline_has_no_box():
    assert keju.Line(id="1", text="左").box is None


def test_reading_order_of_lines_is_by_their_outlines():
    lines = [column("左", 20), column("右", 100), column("中", 60)]
    assert [line.text for line in keju.reading_order(lines)] == ["右", "中", "左"]
    assert keju.reading_order(lines[:1]) == lines[:1]
    assert keju.reading_order([]) == []


def test_reading_order_keeps_the_order_that_a_page_states():
    page = keju.Page(
        file="p.xml", image_name="", width=200, height=320,
        lines=(column("左", 20), column("右", 100)), explicit_order=True,
    )  # fmt: skip
    assert [line.text for line in keju.reading_order(page)] == ["左", "右"]


def test_reading_order_refuses_what_it_cannot_order():
    with pytest.raises(ValueError, match="outline"):
        keju.reading_order([keju.Line(id="1"), keju.Line(id="2")])
    for wrong in (["左"], "左", None):
        with pytest.raises(TypeError):
            keju.reading_order(wrong)


def test_answers_in_memory_are_scored_as_items_of_a_run():
    items = items_of("T1")
    results = keju.score([(item, item.answer) for item in items], protocol="strict", model="me")
    assert results.tasks.columns == COLUMNS
    rows = {row["metric"]: row for row in results.tasks.iter_rows(named=True)}
    assert (rows["CharAcc"]["value"], rows["CharAcc"]["main"], rows["CER"]["main"]) == (
        1.0, True, False,
    )  # fmt: skip
    assert {row["model"] for row in rows.values()} == {"me"}
    assert results.to_frame().height == len(results.scores) == len(items) * len(rows)
    (overall,) = results.overall.iter_rows(named=True)
    assert (overall["benchmark"], overall["value"]) == ("MCS-Bench", 1.0)
    assert "Seal" in " ".join(overall["missing"])


def test_an_empty_answer_is_scored_and_not_skipped():
    (item, *_) = items_of("T1")
    (row, *_) = keju.score([(item, "")], protocol="strict").tasks.iter_rows(named=True)
    assert (row["value"], row["scored"]) == (0.0, 1)


def test_a_response_file_and_a_path_as_text_are_scored(tmp_path):
    file = tmp_path / "responses.json"
    file.write_text(
        '[{"ID": 1, "Task_ID": 7, "Answer_Simplified": "B", "Response": "答案是B"},'
        ' {"ID": 2, "Task_ID": 7, "Answer_Simplified": "B", "Response": "答案是C"}]',
        "utf-8",
    )
    tasks = keju.score(str(file), protocol="strict").tasks
    assert tasks.filter(tasks["main"])["value"].to_list() == [0.5]
    assert set(tasks["model"]) == {"responses"}


@pytest.mark.parametrize("wrong", [{"a": "b"}, ["a"], [("a", "b")], [()], None, 3])
def test_score_refuses_what_is_neither_a_path_nor_pairs(wrong):
    with pytest.raises(TypeError):
        keju.score(wrong)


def test_score_refuses_pairs_that_would_give_a_wrong_number():
    (item, *_) = items_of("T1")
    pair = next(each for each in keju.load("mini") if each.relevant)
    for wrong, named in (
        ([(item, "a"), (item, "b")], item.id),
        ([], "empty"),
        ([(pair, "Yes")], pair.task),
    ):
        with pytest.raises(ValueError, match=named):
            keju.score(wrong)
    with pytest.raises(TypeError):
        keju.score([(item, None)])


def test_score_refuses_an_unknown_protocol_and_a_name_for_the_models_of_a_run():
    with pytest.raises(ValueError, match="loose"):
        keju.score("run", protocol="loose")
    with pytest.raises(ValueError, match="model"):
        keju.score(Path("run"), model="me")


def test_a_metric_object_gives_the_value_and_signature_of_scoring():
    items = items_of("T1")
    texts = [item.answer[1:] + "人" for item in items]
    tasks = keju.score(list(zip(items, texts, strict=True))).tasks
    references = [item.answer for item in items]
    for row in tasks.iter_rows(named=True):
        benchmark = "MCS-Bench" if row["protocol"] == "official" else ""
        made = getattr(keju.metrics, row["metric"])
        metric = made(protocol=row["protocol"], benchmark=benchmark, form="transcription")
        found = metric.corpus_score(texts, references)
        # The hypothesis is the whole answer, so no rule reads it.
        signature = row["signature"].removesuffix(f"|{READER}")
        assert (found.signature, found.items) == (signature, len(items))
        if row["protocol"] == "strict":
            assert found.value == row["value"], row["metric"]
        else:
            # Scoring converts a reference to simplified; here it is taken as it is given.
            simplified = [official_convert(text) for text in references]
            assert metric.corpus_score(texts, simplified).value == row["value"], row["metric"]


def test_metric_objects_refuse_what_has_no_value():
    cer = keju.metrics.CER()
    for hypotheses, references in (
        ("a", "a"),
        (None, ["a"]),
        ([1], ["a"]),
        (["a"], [float("nan")]),
    ):
        with pytest.raises(TypeError):
            cer.corpus_score(hypotheses, references)
    with pytest.raises(TypeError):
        cer.sentence_score(["a"], ["a"])
    for hypotheses, references in (([], []), (["子"], []), (["子"], [""]), (["子"], ["。"])):
        with pytest.raises(ValueError, match=r"empty|reference|no character"):
            cer.corpus_score(hypotheses, references)


@pytest.mark.parametrize(
    "arguments",
    [{"benchmark": "MCS-Bench", "protocol": "official"}, {"form": "letter"}, {"protocol": "loose"}],
)
def test_a_metric_that_does_not_exist_is_an_error_that_lists_those_that_do(arguments):
    with pytest.raises(ValueError, match="AncientDoc"):
        keju.metrics.CER(**arguments)
    with pytest.raises(AttributeError, match="WER"):
        keju.metrics.WER  # noqa: B018


def test_a_metric_object_is_read_by_its_fields():
    cer = keju.metrics.CER()
    assert (cer.name, cer.higher_is_better) == ("CER", False)
    assert cer.rule.startswith("character error rate")
    found = cer.sentence_score("孔予", "孔子")
    assert float(found) == found.value == 0.5
    with pytest.raises(AttributeError):
        found.value = 1


def test_an_error_rate_of_texts_imports_neither_models_nor_datasets() -> None:
    code = (
        "import sys, keju; keju.cer('天地', '天'); "
        "print(*sorted({name.split('.')[1] for name in sys.modules if name.startswith('keju.')}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "models",
        "datasets",
        "definitions",
        "scoring",
        "running",
        "reporting",
        "object_stores",
    }
    assert not heavy & set(done.stdout.split()), done.stdout
