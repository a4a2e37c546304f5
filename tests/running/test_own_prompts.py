"""A user's own prompts: what a real server is sent, what the run stores, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import html

from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import prompt_of, query_of
from keju.files import read_json, sha256_bytes, write_json
from keju.items import Item
from keju.runs import RunFolder
from keju.scoring import score_run, stored_scores
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.serving import Chat

OPTIONS = ("論語", "孟子", "史記", "漢書")
SHORT = """
[prompts.T7]
ask = "Which book is it?\\n{options}\\nAnswer with one letter."
system = "You know <b>old</b> books."
"""
WRAPPED = """
[prompts.T7]
ask = "Look closely.\\n{prompt}"
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two questions of T7, one of them as released, and a page of T1."""
    path = tmp_path_factory.mktemp("own") / "d"
    with DatasetWriter(path, name="o", version="1", licence="CC0-1.0", source="tests") as writer:
        refs = [writer.add_image(picture(seed, side=40), str(seed)) for seed in range(3)]
        writer.add(Item(id="a", benchmark="MCS-Bench", task="T7", images=refs[:1],
                        options=OPTIONS, answer="B", answer_simplified="B", group="x"))  # fmt: skip
        writer.add(Item(id="b", benchmark="MCS-Bench", task="T7", images=refs[1:2], verbatim=True,
                        question="出自哪本書？A. 論語 B. 孟子 C. 史記 D. 漢書", answer="B",
                        answer_simplified="B", group="y"))  # fmt: skip
        writer.add(Item(id="p", benchmark="MCS-Bench", task="T1", images=refs[2:], answer="天地",
                        answer_simplified="天地", group="z"))  # fmt: skip
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> list[object]:
    """The options that name the files of two wordings."""
    folder = tmp_path / "wordings"
    folder.mkdir()
    options: list[object] = []
    for name, text in (("short", SHORT), ("wrapped", WRAPPED)):
        (folder / f"{name}.toml").write_text(text, "utf-8")
        options += ["--prompts", folder / f"{name}.toml"]
    return options


def command(dataset: Path, out: Path, chat: Chat, *more: object) -> list[object]:
    return ["run", dataset, "--model", "openai:served", "--base-url", chat.url, "--out", out, *more]


def sent(chat: Chat) -> list[list[tuple[str, str]]]:
    """Role and text of each message of every request, in any order."""
    found = []
    for body in map(json.loads, chat.stats()["bodies"]):
        messages = []
        for each in body["messages"]:
            parts = each["content"]
            text = parts if isinstance(parts, str) else "".join(p.get("text", "▣") for p in parts)
            messages.append((each["role"], text))
        found.append(messages)
    return sorted(found)


def test_the_wording_and_its_system_prompt_are_what_is_sent(
    chat: Chat, dataset: Path, prompts: list[object], tmp_path: Path
):
    chat.plan(images=True, says="B")
    out = tmp_path / "run"
    items = tmp_path / "ids.txt"
    items.write_text("a\n", "utf-8")
    done = keju(*command(dataset, out, chat, *prompts, "--items", items))
    assert done.returncode == 0, done.stderr
    published = prompt_of(Dataset.open(dataset).items()[0])
    choices = "A、論語 B、孟子 C、史記 D、漢書"
    assert sent(chat) == [
        [
            ("system", "You know <b>old</b> books."),
            ("user", f"▣Which book is it?\n{choices}\nAnswer with one letter."),
        ],
        [("user", f"▣Look closely.\n{published}")],
    ]
    assert published.endswith(query_of(Dataset.open(dataset).items()[0]).requirement)


def test_the_run_stores_the_wordings_and_needs_the_file_no_more(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says="B")
    out = tmp_path / "run"
    words = ("--wording", "released", "--task", "T7")
    file = tmp_path / "short.toml"
    file.write_text('[prompts.T7]\nask = "Book?\\n{prompt}"\n', "utf-8")
    done = keju(*command(dataset, out, chat, "--prompts", file, *words))
    assert done.returncode == 0, done.stderr
    file.unlink()
    folder = RunFolder.open(out)
    (name,) = folder.manifest().prompts
    assert name.startswith("short@")
    assert folder.manifest().prompts[name].prompts["T7"].ask == "Book?\n{prompt}"
    assert str(tmp_path) not in folder.manifest_path.read_text("utf-8").replace(str(dataset), "")
    assert len({each.key for each in folder.responses()}) == 4
    signatures = {(s.wording, s.signature) for s in score_run(folder) if s.signature}
    assert {wording for wording, _ in signatures} == {"released", name}
    assert all(signed.endswith(f"|wording:{name}") == (wording == name)
               for wording, signed in signatures)  # fmt: skip


def test_another_text_under_the_same_name_is_refused_and_a_further_wording_is_added(
    chat: Chat, dataset: Path, prompts: list[object], tmp_path: Path
):
    chat.plan(says="B")
    out, file = tmp_path / "run", tmp_path / "short.toml"
    file.write_text('[prompts.T7]\nask = "Book?\\n{prompt}"\n', "utf-8")
    assert keju(*command(dataset, out, chat, "--prompts", file)).returncode == 0
    assert keju(*command(dataset, out, chat, "--prompts", file)).returncode == 0
    assert chat.stats()["requests"] == 2
    both = command(dataset, out, chat, "--prompts", file, *prompts)
    done = keju(*both)
    assert done.returncode == 0, done.stderr
    assert chat.stats()["requests"] == 2 + 4
    file.write_text('[prompts.T7]\nask = "Which?\\n{prompt}"\n', "utf-8")
    done = keju(*command(dataset, out, chat, "--prompts", file))
    assert done.returncode == 2
    assert "outdated" in done.stderr
    assert "--wording (short@" in done.stderr
    assert chat.stats()["requests"] == 6


def test_a_run_with_a_changed_wording_in_run_json_is_refused(
    chat: Chat, dataset: Path, prompts: list[object], tmp_path: Path
):
    chat.plan(says="B")
    out = tmp_path / "run"
    assert keju(*command(dataset, out, chat, *prompts, "--task", "T7")).returncode == 0
    path = RunFolder.open(out).manifest_path
    raw = read_json(path, dict[str, object])
    for each in raw["prompts"].values():
        each["system"] = "Cheat."
    write_json(path, raw)
    done = keju("score", out)
    assert done.returncode == 2
    assert "run.json" in done.stderr
    assert "hash" in done.stderr


def test_the_report_shows_the_prompts_whole_escaped_and_labelled(
    chat: Chat, dataset: Path, prompts: list[object], tmp_path: Path
):
    chat.plan(says="B")
    out, page = tmp_path / "run", tmp_path / "r.html"
    words = (*prompts, "--wording", "released")
    assert keju(*command(dataset, out, chat, *words)).returncode == 0
    assert keju("score", out).returncode == 0
    done = keju("report", out, "-o", page, "--published")
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert "You know &lt;b&gt;old&lt;/b&gt; books." in text
    assert "<b>old" not in text
    tree = html.fromstring(text)
    lines = [each.text_content() for each in tree.xpath("//h3[@id='asked-otherwise']/..//li")]
    assert any(line.endswith(", T7: Look closely.\n{prompt}") for line in lines)
    notes = " ".join(each.text_content() for each in tree.xpath("//p[@class='soft']"))
    assert "Not the paper's prompt, even under official: openai:served · short@" in notes


def test_a_system_prompt_is_in_signatures_and_its_row_in_no_table_of_a_paper(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says="B")
    signatures = []
    for name, more in (("plain", ()), ("told", ("--system", "Be brief."))):
        out = tmp_path / name
        model = ("--model", f"openai:{name}")
        assert keju("run", dataset, *model, "--base-url", chat.url, "--out", out,
                    *more).returncode == 0  # fmt: skip
        done = keju("score", out)
        assert done.returncode == 0, done.stderr
        stored = list(stored_scores(RunFolder(out)))
        signatures.append([score.signature for score in stored])
    prompt_hash = sha256_bytes(b"Be brief.")[:8]
    part = f"|system:{prompt_hash}"
    plain, told = signatures
    assert any(plain)
    assert told == [each and each + part for each in plain]
    page = tmp_path / "r.html"
    both = (tmp_path / "plain", tmp_path / "told")
    done = keju("report", *both, "-o", page, "--published", "--csv", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    tree = html.parse(page).getroot()
    notes = " ".join(each.text_content() for each in tree.xpath("//p[@class='soft']"))
    assert "Not the paper's prompt, even under official: openai:told (--system-prompt)" in notes
    text = tree.text_content()
    assert "prompts than the paper's are not in this table: openai:told" in text
    line = "(--system-prompt), sent before every prompt of"
    assert f"System prompt {prompt_hash} {line} openai:told" in text
    assert text.count(line) == 1
    tables = [*(tmp_path / "csv").glob("mcs-bench-*.csv")]
    rows = "".join(each.read_text("utf-8") for each in tables)
    assert "openai:plain" in rows
    assert "openai:told" not in rows
    chinese = keju("report", *both, "-o", page, "--published", "--language", "zh")
    assert chinese.returncode == 0, chinese.stderr
    assert "用其他提示词得到的结果不在此表中：openai:told" in page.read_text("utf-8")


def test_ocr_engines_are_asked_as_published_alone(
    dataset: Path, prompts: list[object], tmp_path: Path
):
    file = tmp_path / "read.toml"
    file.write_text('[prompts.T1]\nask = "Read.\\n{prompt}"\n', "utf-8")
    done = keju("run", "--plan", dataset, "--model", "ppocr", "--prompts", file, "--json")
    assert json.loads(done.stdout)["totals"][0]["calls"] == 0
    assert "an OCR engine takes no prompt: add --wording released to ask it too" in done.stdout
    both = ("--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--model", "ppocr")
    done = keju("run", "--plan", dataset, *both, "--prompts", file, "--system", "Hi.", "--wording",
                "released", "--task", "T1", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {row["model"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["openai:x"]["calls"] == 2
    assert rows["ppocr"]["calls"] == 1
    assert sum(rows["ppocr"]["declined"].values()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "T1"], "has items of: T1, T7"),
        (["--system", "Hi."], "has a system prompt too"),
        (["--wording", "shorter"], "your own with --prompts FILE"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    dataset: Path, prompts: list[object], options: list[str], words: str
):
    done = keju("run", "--plan", dataset, "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1",
                *prompts, *options)  # fmt: skip
    assert done.returncode == 2
    assert words in done.stderr


def test_a_key_in_a_prompt_file_is_refused(chat: Chat, dataset: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    file = tmp_path / "leak.toml"
    file.write_text('[prompts.T7]\nask = "sk-0123456789abcdef {prompt}"\n', "utf-8")
    out = tmp_path / "run"
    done = keju(*command(dataset, out, chat, "--prompts", file))
    assert done.returncode == 2
    assert "contains a key from the environment" in done.stderr
    assert "sk-0123" not in done.stderr
    assert not RunFolder(out).exists()


def test_a_run_of_before_these_options_is_resumed(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="B")
    out = tmp_path / "run"
    assert keju(*command(dataset, out, chat)).returncode == 0
    path = RunFolder.open(out).manifest_path
    raw = read_json(path, dict[str, object])
    assert raw.pop("prompts") == {}
    write_json(path, raw)
    stored = [each.key for each in RunFolder.open(out).responses()]
    assert keju(*command(dataset, out, chat)).returncode == 0
    assert chat.stats()["requests"] == 3
    assert [each.key for each in RunFolder.open(out).responses()] == stored
