"""Faults in the files beside a user's own definition: one-line errors with file, item and hint."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from keju.definitions import load_benchmark
from keju.errors import DataError
from keju.published import published_models, published_tables
from keju.words import Words

DEFINITION = Path(__file__).parents[2] / "examples" / "manuscripts" / "manuscripts.toml"
MODELS = "role,name,kind,also_printed_as\nevaluated,A,ocr,A-1\nevaluated,B,ocr,\njudge,A,llm,\n"
TABLE = "model,Caves:mean,Slips:mean\nA,40.0,60.0\nB,40.0,60.0\n"

Make = Callable[[dict[str, str]], str]


@pytest.fixture
def make(tmp_path: Path, definitions_of_the_test: None) -> Make:
    """Registers a definition with files beside it; it is removed after the test."""
    del definitions_of_the_test

    def made(texts: dict[str, str]) -> str:
        name = f"Own-{uuid.uuid4().hex}"
        text = DEFINITION.read_text("utf-8").replace('"Manuscripts"', f'"{name}"')
        metrics = "metric,scale,better\nmean,100,higher\n"
        sound = {"paper.toml": "", "models.csv": MODELS, "metrics.csv": metrics}
        files = {f"published/{file}": content for file, content in sound.items()}
        for file, content in {"own.toml": text, **files, **texts}.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(content, "utf-8")
        return load_benchmark(tmp_path / "own.toml").name

    return made


def in_tables(**texts: str) -> dict[str, str]:
    return {f"published/tables/{file}.csv": text for file, text in texts.items()}


def fault(error: DataError) -> tuple[str, str | None]:
    """The file's name and the item; every such error has a hint."""
    assert error.hint
    return Path(str(error.file)).name, error.item


def test_sound_tables_are_read_by_number(make: Make) -> None:
    texts = {"figure-3": TABLE, "table-10": TABLE, "table-2": TABLE, "readme": TABLE}
    found = published_tables(make(in_tables(**texts)))
    assert list(found) == ["Figure 3", "README's table", "Table 2", "Table 10"]
    assert found["Table 2"].rows["B"]["Slips:mean"].value == 60.0
    assert found["Table 2"].spelled == {"A": "A", "B": "B"}


@pytest.mark.parametrize(
    ("text", "item", "named"),
    [
        ("model,Caves:mean,Caves:mean\nA,40.0,60.0\n", None, "'Caves:mean'"),
        (f"{TABLE}A,1.0,2.0\n", "line 4", "'A' is also in line 2"),
        (f"{TABLE}A-1,1.0,2.0\n", "line 4", "'A' is also in line 2"),
        (f"{TABLE}Average,1.0,2.0\nAverage,2.0,3.0\n", "line 5", "'Average' is also in line 4"),
        (f"{TABLE}C,1.0\n", "line 4", "2 cells, but there should be 3 columns"),
    ],
)
def test_a_table_with_two_columns_or_rows_of_one_name_is_refused(
    make: Make, text: str, item: str, named: str
) -> None:
    name = make(in_tables(**{"table-1": text}))
    with pytest.raises(DataError) as failed:
        published_tables(name)
    assert fault(failed.value) == ("table-1.csv", item)
    assert named in failed.value.problem


@pytest.mark.parametrize("name", ["table-1a", "table1", "tabelle-1", "table-", "readme-1"])
def test_a_file_that_is_not_named_as_a_table_is_refused(make: Make, name: str) -> None:
    benchmark = make(in_tables(**{name: TABLE}))
    with pytest.raises(DataError) as failed:
        published_tables(benchmark)
    assert fault(failed.value) == (f"{name}.csv", None)
    assert "table-N.csv" in str(failed.value.hint)


def test_two_files_of_one_table_are_refused(make: Make) -> None:
    benchmark = make(in_tables(**{"table-1": TABLE, "table-01": TABLE}))
    with pytest.raises(DataError, match="Table 1 is also in table-01") as failed:
        published_tables(benchmark)
    assert fault(failed.value) == ("table-1.csv", None)


@pytest.mark.parametrize(
    ("file", "row", "item", "named"),
    [
        ("models.csv", "evaluated,B,ocr,\n", "line 5", "model 'B' is also in line 3"),
        ("metrics.csv", "metric,scale,better\nmean,1,lower\nmean,1,lower\n", "line 3", "'mean'"),
    ],
)
def test_a_model_or_metric_in_two_rows_is_refused(
    make: Make, file: str, row: str, item: str, named: str
) -> None:
    text = MODELS + row if file == "models.csv" else row
    benchmark = make({f"published/{file}": text, **in_tables(**{"table-1": TABLE})})
    with pytest.raises(DataError) as failed:
        _ = published_tables(benchmark)["Table 1"].columns["Caves:mean"].how
    assert fault(failed.value) == (file, item)
    assert named in failed.value.problem


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("role,name,kind\nmodel,A,ocr\n", "role is one of: evaluated, supplementary, judge, human"),
        ("role,name,kind\nevaluated,A,vlm\n", "closed-mllm, open-mllm, llm, ocr, human"),
        ("role,name\nevaluated,A\n", "kind is one of: closed-mllm"),
    ],
)
def test_an_unknown_role_or_kind_has_the_known_ones_in_its_hint(
    make: Make, text: str, hint: str
) -> None:
    benchmark = make({"published/models.csv": text})
    with pytest.raises(DataError) as failed:
        published_models(benchmark)
    assert fault(failed.value) == ("models.csv", "line 2")
    assert hint in str(failed.value.hint)


def test_an_unknown_direction_has_the_known_ones_in_its_hint(make: Make) -> None:
    metrics = "metric,scale,better\nmean,100,more\n"
    benchmark = make({"published/metrics.csv": metrics, **in_tables(**{"table-1": TABLE})})
    with pytest.raises(DataError, match="better is one of: higher, lower, nearest to 0"):
        _ = published_tables(benchmark)["Table 1"].columns["Caves:mean"].how


def test_a_catalogue_beside_the_definition_has_the_chinese_of_its_texts(
    make: Make, tmp_path: Path
) -> None:
    make({"slips.po": 'msgid "slips of bamboo"\nmsgstr "竹简"\n'})
    texts = pytest.importorskip("tools.texts", reason="Babel is not installed: make docs")
    with (tmp_path / "slips.po").open("rb") as content:
        compiled = texts.compiled(texts.read_po(content, locale="zh"))
    (tmp_path / "slips.mo").write_bytes(compiled)
    assert Words("zh")("slips of bamboo") == "竹简"
