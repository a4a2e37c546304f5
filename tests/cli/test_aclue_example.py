"""`examples/aclue`: a published benchmark of texts alone, by a definition and a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from keju.definitions import Definition, parse_definition
from tests.support.commanding import keju
from tests.support.serving import Chat

EXAMPLE = Path(__file__).parents[2] / "examples" / "aclue"
SUBJECTS = {
    "古文断句": "aclue_sentence_segmentation",
    "通假字": "aclue_homographic_character_resolution",
}
HEAD = "Question,A,B,C,D,Answer\n"
# Made up here, in the layout of the authors' files.
DEV = [
    "以下选项断句正确的是（）,山高/月小,山/高月小,山高月/小,山高月小/,A",
    "以下选项断句正确的是（）,水落/石出,水/落石出,水落石/出,水落石出/,A",
]
TEST = [
    "以下选项断句正确的是（）,风/清月白,风清/月白,风清月/白,风清月白/,B",
    "“寒来暑往”共有几个字？（）,二,三,四,五,C",
]


def done(*words: object) -> str:
    found = keju(*words)
    assert found.returncode == 0, (words, found.stdout, found.stderr)
    return found.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset that the README's command imports."""
    folder = tmp_path_factory.mktemp("aclue")
    for part, lines in (("dev", DEV), ("test", TEST)):
        for subject in SUBJECTS:
            file = folder / "ACLUE" / "data" / part / f"{subject}.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(HEAD + "\n".join(lines) + "\n", "utf-8")
    done("data", "import", "mapped", folder / "ACLUE", "--map", EXAMPLE / "mapping.toml",
         "--benchmark", EXAMPLE / "benchmark.toml", "--out", folder / "aclue")  # fmt: skip
    return folder


def definition() -> Definition:
    return parse_definition((EXAMPLE / "benchmark.toml").read_text("utf-8"), "benchmark.toml")


def test_the_definition_has_the_15_tasks_in_five_domains() -> None:
    found = definition()
    domains = [task.domain for task in found.tasks]
    assert {each: domains.count(each) for each in domains} == {
        "Lexical": 3, "Syntactic": 1, "Semantic": 2, "Inference": 4, "Knowledge": 5,
    }  # fmt: skip
    assert sum(task.count for task in found.tasks) == 4966
    assert not any(query.image for task in found.tasks for query in task.queries)


def test_the_folder_of_a_table_is_the_split_and_its_name_the_task(made: Path) -> None:
    table = pl.read_parquet(made / "aclue" / "items.parquet")
    rows = table.select("task", "split", "answer").rows()
    for task in SUBJECTS.values():
        assert [row[1:] for row in rows if row[0] == task] == [
            ("reference", "A"), ("reference", "A"), ("test", "B"), ("test", "C"),
        ]  # fmt: skip


def test_items_without_images_are_sound(made: Path) -> None:
    assert "0 errors" in done("data", "validate", made / "aclue")


def test_a_model_is_asked_in_the_words_of_the_authors(made: Path, chat: Chat) -> None:
    chat.plan(images=True, says="答案是：B")
    done("run", made / "aclue", "--model", "openai:m", "--base-url", chat.url, "--task",
         "aclue_sentence_segmentation", "--out", made / "run")  # fmt: skip
    bodies = [json.loads(each)["messages"] for each in chat.stats()["bodies"]]
    (sent,) = [body for body in bodies if "风/清月白" in str(body[-1])]
    assert [each["role"] for each in sent] == ["user"]
    assert sent[-1]["content"] == (
        "以下是关于古文断句的单项选择题，请直接给出正确答案的选项。\n\n"
        "题目：以下选项断句正确的是（）\nA. 风/清月白\nB. 风清/月白\nC. 风清月/白\n"
        "D. 风清月白/\n答案是："
    )
    # Of the task's two questions, B answers one.
    (line,) = [row for row in done("score", made / "run").splitlines() if "古文断句" in row]
    assert line.split()[-1] == "50.0"
