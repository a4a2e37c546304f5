"""examples/baselines: shared characters, UDPipe's clauses and names, and the installed package."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import keju
from keju.datasets.store import DatasetWriter
from keju.definitions import task
from keju.items import AnswerForm, Item, Request
from keju.metrics.alignment import punctuation_counts
from keju.models import ModelOptions
from keju.models.base import Answer
from keju.running.requests import request_for, with_source
from keju.runs import RunFolder
from tests.support.making import picture
from tests.support.plugged import install_example, run_here, run_with_site

EXAMPLE = Path(__file__).parents[1] / "examples" / "baselines"
PACKAGE = EXAMPLE / "src" / "keju_baselines"
PAGE = "北冥有魚其名爲鯤\n鯤之大不知其幾千里也\n化而爲鳥其名爲鵬"
OPTIONS = ("逍遙遊", "鯤鵬", "北冥有鱼", "秋水")
INSTALLED = find_spec("udkanbun") is not None and find_spec("ufal") is not None
needs_udpipe = pytest.mark.skipif(
    not INSTALLED and os.environ.get("CI") != "true",
    reason="make install-semantic installs ufal.udpipe and udkanbun",
)


def load_example(name: str) -> ModuleType:
    """A file of the package as a module, without a declaration in this process."""
    spec = spec_from_file_location(f"example_{name}", PACKAGE / f"{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keju, "model", lambda *_, **__: lambda opens: opens)
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    return module


overlap, udpipe = load_example("overlap"), load_example("udpipe")
Word = udpipe.Word


def choice(*options: str, text: str = PAGE) -> Request:
    item = Item(
        id="c", benchmark="MCS-Bench", task="T5", fields={"term": "鯤"}, options=options, answer="A"
    )
    return request_for(item, reading=text)


def question(words: str, text: str = PAGE, where: str = "T6") -> Request:
    item = Item(id="q", benchmark=task(where).benchmark, task=where, question=words, answer="x")
    return request_for(item, reading=text)


def answer(request: Request) -> Answer:
    model = overlap.Overlap(ModelOptions())
    assert model.unsupported_reason(request) == ""
    return asyncio.run(model.answer(request, ()))


def test_the_option_that_the_page_shares_most_of_is_chosen_in_either_script():
    assert answer(choice(*OPTIONS)).text == "C"


def test_pairs_go_before_characters_and_equals_are_settled_by_the_first():
    # 名鯤 has both characters on the page but not side by side; 千里 has its pair.
    assert answer(choice("名鯤", "千里")).text == "B"
    assert answer(choice("千里", "其名", "秋水")).text == "A"


def test_what_shares_nothing_is_an_empty_answer_and_not_a_guess():
    silent = answer(choice("秋", "冬"))
    assert (silent.text, silent.status) == ("", "empty")
    model = overlap.Overlap(ModelOptions())
    assert asyncio.run(model.answer(choice(*OPTIONS, text=""), ())).status == "empty"


def test_an_open_question_is_answered_with_the_line_that_shares_most_of_it():
    assert answer(question("鯤之大有幾千里？")).text == "鯤之大不知其幾千里也"
    assert answer(question("化而为鸟之后叫什么？", where="reasoning_qa")).text == "化而爲鳥其名爲鵬"


def test_words_that_every_question_of_the_task_has_count_for_nothing():
    template = "根據圖像回答下列問題"
    assert template not in task("T6").queries[0].template
    page = f"{template}者\n化而爲鳥"
    assert answer(question("鳥？", text=page)).text == "化而爲鳥"


def test_the_page_itself_is_not_searched_for_options():
    page = "A、甲 B、乙 C、丙\n千里"
    assert answer(choice("秋水", "千里", text=page)).text == "B"


@pytest.mark.parametrize(
    ("where", "form", "why"),
    [
        ("T1", "transcription", "overlap only chooses options and lines"),
        ("T9", "text", "none of its own"),
    ],
)
def test_it_declines_what_asks_nothing(where: str, form: AnswerForm, why: str):
    template = task(where).queries[0].template
    prompt = with_source(template, PAGE)
    request = Request(
        item="x", benchmark="MCS-Bench", task=where, form=form, prompt=prompt, source=PAGE
    )
    assert why in overlap.Overlap(ModelOptions()).unsupported_reason(request)


@pytest.mark.parametrize(
    ("wanted", "text", "expected"),
    [
        ("天地", "天地玄黃", (1.0, 1.0)),
        ("地天", "天地玄黃", (0.0, 1.0)),
        ("天日", "天地玄黃", (0.0, 0.5)),
        ("天", "天地玄黃", (1.0, 1.0)),
        ("", "天地玄黃", (0.0, 0.0)),
        ("天天天", "天地", (0.0, 1.0)),
    ],
)
def test_shares(wanted: str, text: str, expected: tuple[float, float]):
    assert overlap.shared(wanted, text) == expected


def test_of_none_there_is_no_greatest():
    shares = [overlap.Shared(*pair) for pair in ((0, 0.5), (0.5, 0.5), (0.5, 0.5))]
    assert overlap.most([]) is None
    assert overlap.most([overlap.Shared(0, 0)] * 2) is None
    assert overlap.most(shares) == 1


def test_every_clause_has_a_mark_after_it():
    assert udpipe.punctuated(["子曰", "學而時習之", "不亦說乎"]) == "子曰：學而時習之，不亦說乎。"
    assert udpipe.punctuated(["子曰"]) == "子曰。"
    assert udpipe.punctuated([]) == ""


def test_a_family_name_and_a_given_name_are_one_name():
    clause = [Word("項", "Sur"), Word("燕", "Giv"), Word("爲"), Word("秦", "Nat")]
    assert list(udpipe.names(clause)) == ["項燕", "秦"]
    clause = [Word("籍", "Giv"), Word("顏", "Sur"), Word("楚", "Nat")]
    assert list(udpipe.names(clause)) == ["籍", "顏", "楚"]


@cache
def opened() -> object:
    """Loading takes seconds."""
    return udpipe.UDPipe(ModelOptions())


def annotated(form: AnswerForm, text: str) -> Answer:
    where = "T3" if form == "punctuated" else "T4"
    request = Request(
        item="x", benchmark="MCS-Bench", task=where, form=form, prompt=text, source=text
    )
    assert opened().unsupported_reason(request) == ""
    return asyncio.run(opened().answer(request, ()))


@needs_udpipe
def test_udpipe_declines_what_it_cannot_do_and_what_comes_without_a_text():
    assert "only punctuates" in opened().unsupported_reason(choice(*OPTIONS))
    item = Item(id="p", benchmark="MCS-Bench", task="T3", answer="天地玄黃。")
    assert "it needs a text" in opened().unsupported_reason(request_for(item))


@needs_udpipe
def test_a_passage_is_punctuated_and_its_characters_stay():
    passage = "子曰學而時習之不亦說乎\n有朋自遠方來不亦樂乎"
    marked = annotated("punctuated", passage).text
    assert marked == "子曰：學而時習之，不亦說乎，有朋自遠方來，不亦樂乎。"
    odd = "𠀋□⿰木皆 A1〇"
    assert "".join(annotated("punctuated", odd).text.split("，"))[:-1] == "".join(odd.split())


@needs_udpipe
def test_names_are_listed_each_once():
    listed = annotated("entities", "項籍者下相人也\n項籍與秦戰").text
    assert listed.split("、") == ["項籍", "秦"]
    none = annotated("entities", "學而時習之")
    assert (none.text, none.status) == ("", "empty")


@needs_udpipe
def test_none_of_the_code_of_udkanbun_is_run():
    annotated("punctuated", "天地玄黃")
    assert not [name for name in sys.modules if name.split(".")[0] in {"udkanbun", "MeCab"}]


@needs_udpipe
def test_clauses_and_names_of_a_treebank_that_it_may_have_seen(shared: Path):
    """Sanity, not a score: the model was trained on this treebank's other part at least."""
    text = (shared / "data" / "ud-kyoto" / "lzh_kyoto-ud-dev.conllu").read_text("utf-8")
    sentences = list(udpipe.read_words(text))[:400]
    hits = predicted = expected = 0
    right = given = wanted = 0
    for start in range(0, 400, 20):
        group = sentences[start : start + 20]
        clauses = ["".join(word.form for word in sentence) for sentence in group]
        passage = "".join(clauses)
        counts = punctuation_counts(
            udpipe.punctuated(clauses), annotated("punctuated", passage).text
        )
        hits, predicted = hits + counts.hits, predicted + counts.predicted
        expected += counts.expected
        truth = {name for sentence in group for name in udpipe.names(sentence)}
        names = set(annotated("entities", passage).text.split("、"))
        right, given, wanted = right + len(truth & names), given + len(names), wanted + len(truth)
    assert 2 * hits / (predicted + expected) > 0.6
    assert 2 * right / (given + wanted) > 0.6


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return install_example(EXAMPLE, tmp_path_factory.mktemp("baselines"))


@pytest.fixture
def pages(tmp_path: Path) -> tuple[Path, Path]:
    """A question and a transcription about one page, and what an engine read of it."""
    data, engine = tmp_path / "data", tmp_path / "read.jsonl"
    with DatasetWriter(data, name="d", version="1", licence="CC0-1.0", source="made here") as out:
        ref = out.add_image(picture(1), "page")
        out.add(Item(
            id="mcq", benchmark="MCS-Bench", task="T7", images=(ref,), answer="B",
            options=("論語", "莊子逍遙遊"), transcription="北冥有魚莊子逍遙遊",
        ))  # fmt: skip
        out.add(Item(
            id="ocr", benchmark="MCS-Bench", task="T1", images=(ref,), answer="北冥有魚",
            transcription="北冥有魚",
        ))  # fmt: skip
    engine.write_text(json.dumps({"item": ref.sha256, "text": "北冥有魚\n莊子逍遙遊"}))
    return data, engine


def test_pages_that_an_engine_read_are_answered_by_the_installed_package(site, pages, tmp_path):
    data, engine = pages
    command = run_with_site(site, tmp_path)
    assert "keju-baselines 0.1.0" in command("models")
    runs = {
        "piped": ("--model", f"ocr+llm:replay:{engine}+overlap"),
        "given": ("--model", "overlap", "--setting", "gold-text"),
    }
    for out, options in runs.items():
        command("run", data, *options, "--out", out)
        (response,) = RunFolder.open(tmp_path / out).responses()
        assert (response.item, response.text) == ("mcq", "B")
        manifest = json.loads((tmp_path / out / "run.json").read_text("utf-8"))
        assert set(manifest["roles"].values()) == {"baseline"}
    printed = command("run", "--plan", data, "--model", "overlap", language="zh")
    assert "需要文本：请用 --setting gold-text，或 ocr+llm:ENGINE+overlap" in printed


def test_a_file_of_the_package_is_a_plug_in_of_its_own(monkeypatch, capsys, pages, tmp_path):
    data, _ = pages
    done = run_here(
        monkeypatch, capsys, "run", data, "--model", "overlap", "--setting", "gold-text",
        "--out", tmp_path / "run", "--plugin", PACKAGE / "overlap.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (response,) = RunFolder.open(tmp_path / "run").responses()
    assert response.text == "B"


def test_a_missing_package_is_named_with_its_installation(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "udkanbun", None)
    done = run_here(
        monkeypatch, capsys, "run", "mini", "--model", "udpipe", "--task", "T3",
        "--out", tmp_path / "run", "--plugin", PACKAGE / "udpipe.py",
    )  # fmt: skip
    assert done.returncode == 2
    assert 'pip install "ufal.udpipe>=1.4" "udkanbun==3.4.9"' in done.stderr
