"""Few-shot examples: what a real server is sent, what never leaks, and what is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from lxml import html

from keju.datasets.store import Dataset, DatasetWriter, write_items
from keju.definitions import prompt_of
from keju.definitions.wordings import parse_few_shot
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Box, Item
from keju.models import ModelOptions
from keju.running import Selection, merge, request_key, run
from keju.running.examples import Examples, with_examples
from keju.running.request_rebuilding import RequestRebuilder
from keju.running.selection import RequestVariant
from keju.runs import RunFolder
from keju.scoring import score_responses, score_run
from tests.support.commanding import keju
from tests.support.making import picture
from tests.support.serving import Chat

OPTIONS = ("論語", "孟子", "史記", "漢書")
TWO = "released+2-shot"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two questions of T7 in the groups x and y, and four examples, of which one is of group x."""
    path = tmp_path_factory.mktemp("shots") / "d"
    with DatasetWriter(path, name="s", version="1", licence="CC0-1.0", source="tests") as writer:

        def add(name: str, number: int, group: str, split: str, answer: str = "B") -> None:
            ref = writer.add_image(picture(number, side=40), name)
            writer.add(Item(id=name, benchmark="MCS-Bench", task="T7", images=(ref,),
                            options=OPTIONS, answer=answer, answer_simplified=answer,
                            group=group, split=split))  # fmt: skip

        add("a", 1, "x", "test")
        add("b", 2, "y", "test")
        for number, (name, group) in enumerate(zip("pqrs", "xvwz", strict=True), start=10):
            add(name, number, group, "reference", "ABCD"[number % 4])
        page = writer.add_image(picture(30, side=40), "page")
        writer.add(Item(id="page", benchmark="MCS-Bench", task="T1", images=(page,), answer="天",
                        answer_simplified="天", group="u"))  # fmt: skip
    return path


def items_of(dataset: Path) -> dict[str, Item]:
    return {item.id: item for item in Dataset.open(dataset).items()}


def chosen(dataset: Path, item: str, wording: str = TWO) -> list[Item]:
    known = items_of(dataset)
    return Examples(known.values()).items_of(known[item], RequestVariant(wording=wording))


def command(dataset: Path, out: Path, chat: Chat, *more: object) -> list[object]:
    return ["run", dataset, "--model", "openai:served", "--base-url", chat.url, "--out", out,
            "--task", "T7", *more]  # fmt: skip


def test_examples_are_turns_before_the_question_with_their_images(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says="B")
    out = tmp_path / "run"
    done = keju(*command(dataset, out, chat, "--examples", 2, "--system", "Be brief."))
    assert done.returncode == 0, done.stderr
    stats, known = chat.stats(), items_of(dataset)
    assert stats["requests"] == 2
    for body, images in zip(map(json.loads, stats["bodies"]), stats["images"], strict=True):
        shown = {ref.sha256: item for item in known.values() for ref in item.images}
        asked = [shown[image.split()[1]] for image in images]
        *solved, item = asked
        assert solved == chosen(dataset, item.id)
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
        said = [message["content"] for message in body["messages"]]
        assert [said[2], said[4]] == [each.answer for each in solved]
        for place, each in zip((1, 3, 5), asked, strict=True):
            kinds = [part["type"] for part in said[place]]
            assert kinds == ["image_url", "text"]
            assert said[place][1]["text"] == prompt_of(each)


def test_what_was_shown_is_recorded_and_remade(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="B")
    out = tmp_path / "run"
    done = keju(*command(dataset, out, chat, "--examples", 2, "--examples", 0))
    assert done.returncode == 0, done.stderr
    folder = RunFolder.open(out)
    stored = {(each.item, each.wording): each for each in folder.responses()}
    assert {wording for _, wording in stored} == {TWO, "released"}
    assert stored["a", "released"].examples == ()
    known = items_of(dataset)
    for name in "ab":
        response = stored[name, TWO]
        assert response.examples == tuple(each.id for each in chosen(dataset, name))
        request = RequestRebuilder(folder).request(known[name], response)
        assert request_key(request, folder.manifest().models["openai:served"]) == response.key
    assert {each.id for each in folder.examples()} == {
        name for each in stored.values() for name in each.examples
    }
    signed = {(score.wording, score.signature) for score in score_run(folder) if score.signature}
    assert all(signature.endswith(f"|wording:{TWO}") == (wording == TWO)
               for wording, signature in signed)  # fmt: skip
    assert keju(*command(dataset, out, chat, "--examples", 2, "--examples", 0)).returncode == 0
    assert chat.stats()["requests"] == 4
    done = keju(*command(dataset, out, chat, "--examples", 1))
    assert done.returncode == 2
    assert f"--wording ({TWO},released, now released+1-shot)" in done.stderr


def test_an_item_never_gets_an_example_of_its_own_group(dataset: Path):
    for seed in range(20):
        wording = parse_few_shot("released")._replace(examples=3, seed=seed).name
        assert "p" not in {each.id for each in chosen(dataset, "a", wording)}
    drawn = {
        tuple(each.id for each in chosen(dataset, "b", f"released+3-shot.{seed}"))
        for seed in range(1, 20)
    }
    assert len(drawn) > 5
    assert any("p" in names for names in drawn)


def test_the_draw_is_the_same_from_the_chosen_items_alone(dataset: Path):
    known = items_of(dataset)
    items, variants = [known["a"], known["b"]], [RequestVariant(wording=TWO)]
    whole = Examples(known.values())
    part = Examples(whole.used(items, variants))
    for item in items:
        assert part.items_of(item, variants[0]) == whole.items_of(item, variants[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "T7", "--examples", 4], "item a of T7 can have 3"),
        (["--task", "T1", "--examples", 1], "The reference split has 0 of T1"),
        (["--task", "T7", "--examples", 2, "--setting", "own-ocr"], "--setting own-ocr"),
        (["--task", "T7", "--examples", 51], "must be 0 to 50"),
        (["--task", "T7", "--examples", 1, "--examples-seed", -1], "--examples-seed"),
        (["--task", "T7", "--examples", 1, "--examples", 1], "given twice"),
    ],
)
def test_too_few_examples_are_refused(dataset: Path, options: list[object], words: str):
    done = keju("run", "--plan", dataset, "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1",
                *options)  # fmt: skip
    assert done.returncode == 2
    assert words in done.stderr


def test_a_dataset_without_reference_split_is_refused(dataset: Path):
    items = [item for item in items_of(dataset).values() if item.split == "test"]
    with pytest.raises(UsageError, match="The reference split has 0 of"):
        Examples(items).check(items[:1], [RequestVariant(wording=TWO)])


def test_the_plan_counts_images_and_tokens_of_examples(dataset: Path):
    done = keju("run", "--plan", dataset, "--model", "openai:gpt-4o", "--base-url", "http://127.0.0.1:9/v1",
                "--task", "T7", "--examples", 2, "--json")  # fmt: skip
    few = json.loads(done.stdout)["rows"][0]
    done = keju("run", "--plan", dataset, "--model", "openai:gpt-4o", "--base-url", "http://127.0.0.1:9/v1",
                "--task", "T7", "--json")  # fmt: skip
    none = json.loads(done.stdout)["rows"][0]
    assert (few["calls"], few["images"], none["images"]) == (2, 6, 2)
    assert few["image_tokens"] == 3 * none["image_tokens"]
    assert few["text_tokens"] > 3 * none["text_tokens"]


def test_shards_with_examples_are_merged(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="B")
    options = ModelOptions(base_url=chat.url)
    parts = [tmp_path / f"s{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        selection = with_examples(Selection(tasks=("T7",), shard=f"{number}/2"), [2], 0)
        run(dataset, ["openai:served"], part, selection=selection, options=options)
    merged = merge(parts, tmp_path / "merged")
    assert (merged.responses, merged.missing) == (2, ())
    assert RunFolder.open(tmp_path / "merged").examples() == RunFolder.open(parts[0]).examples()
    assert all(
        RunFolder.open(tmp_path / name).manifest().examples_sha256 for name in ("merged", "s1")
    )


def test_exports_have_the_system_prompt_and_the_examples(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="B")
    out, logs, file = tmp_path / "run", tmp_path / "logs", tmp_path / "answers.json"
    own = tmp_path / "mine.toml"
    own.write_text('[prompts.T7]\nask = "Look. {prompt}"\nsystem = "Be brief."\n', "utf-8")
    more = ("--prompts", own, "--examples", 2)
    assert keju(*command(dataset, out, chat, *more)).returncode == 0
    before = score_run(RunFolder.open(out))
    known = items_of(dataset)

    done = keju("export", "mcs-bench", out, "-o", file)
    assert done.returncode == 0, done.stderr
    rows = {row["ID"]: row for row in json.loads(file.read_text("utf-8"))}
    for name in "ab":
        row, solved = rows[name], chosen(dataset, name)
        assert row["Question"] == prompt_of(known[name])
        assert row["Wording"].startswith("mine@")
        assert row["Prompt"] == f"Look. {prompt_of(known[name])}"
        assert row["System_Prompt"] == "Be brief."
        assert row["Examples"] == [
            {"ID": each.id, "Prompt": f"Look. {prompt_of(each)}", "Answer": each.answer}
            for each in solved
        ]
    again = {(s.protocol, s.metric): s.value for s in score_responses(file)}
    assert again == {(s.protocol, s.metric): s.value for s in before}

    read_eval_log = pytest.importorskip("inspect_ai.log").read_eval_log
    done = keju("export", "inspect", out, "-o", logs)
    assert done.returncode == 0, done.stderr
    (path,) = logs.rglob("*.eval")
    for sample in read_eval_log(str(path)).samples:
        solved = chosen(dataset, sample.id)
        roles = [message.role for message in sample.input]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
        texts = [message.text for message in sample.input]
        assert texts[0] == "Be brief."
        assert [texts[2], texts[4]] == [each.answer for each in solved]
        for place, each in zip((1, 3, 5), (*solved, known[sample.id]), strict=True):
            image, prompt = sample.input[place].content
            assert each.images[0].path in image.text
            assert prompt.text == f"Look. {prompt_of(each)}"


def test_a_changed_or_missing_file_of_examples_is_refused_and_restored_by_the_run(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says="B")
    out = tmp_path / "run"
    asking = command(dataset, out, chat, "--examples", 2)
    assert keju(*asking).returncode == 0
    folder = RunFolder.open(out)
    stored = folder.examples_path.read_bytes()
    assert folder.manifest().examples_sha256 == sha256_bytes(stored)
    others = [msgspec.structs.replace(each, answer="C") for each in folder.examples()]
    write_items(folder.examples_path, others)
    for change in (lambda: None, folder.examples_path.unlink):
        change()
        for step in (["export", "inspect", out, "-o", tmp_path / "x"],
                     ["export", "mcs-bench", out, "-o", tmp_path / "x.json"]):  # fmt: skip
            done = keju(*step)
            assert done.returncode == 2
            assert "examples.parquet: the file is not the one that the run stored" in done.stderr
            assert "Restore the file" in done.stderr
        assert not (tmp_path / "x").exists()
    assert keju(*asking).returncode == 0
    assert chat.stats()["requests"] == 2
    assert folder.examples_path.read_bytes() == stored
    assert {each.answer for each in folder.examples()} != {"C"}


def test_a_blind_model_sees_no_image_of_an_example(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(images=True, says="B")
    run(dataset, ["blind:openai:served"], tmp_path / "run",
        selection=with_examples(Selection(tasks=("T7",)), [1], 0),
        options=ModelOptions(base_url=chat.url))  # fmt: skip
    stats = chat.stats()
    assert stats["images"] == [[], []]
    assert all(len(json.loads(body)["messages"]) == 3 for body in stats["bodies"])


def test_the_boxes_of_an_example_are_in_the_convention_asked_for(tmp_path: Path):
    path = tmp_path / "boxes"
    with DatasetWriter(path, name="b", version="1", licence="CC0-1.0", source="tests") as writer:
        for number, (name, split) in enumerate((("t", "test"), ("e", "reference"))):
            ref = writer.add_image(picture(number, side=200), name)
            writer.add(Item(id=name, benchmark="OBI-Bench", task="recognition", query="Where",
                            images=(ref,), boxes=(Box(x0=40, y0=20, x1=80, y1=60),), group=name,
                            split=split))  # fmt: skip
    known = items_of(path)
    variant = RequestVariant(wording="released+1-shot", boxes="yxyx-1000")
    (example,) = Examples(known.values()).of(known["t"], variant)
    assert example.answer == "[100, 200, 300, 400]"
    assert "ymin" in example.prompt


def test_the_report_names_the_examples(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="B")
    out, page = tmp_path / "run", tmp_path / "r.html"
    done = keju(*command(dataset, out, chat, "--examples", 2, "--examples", 0))
    assert done.returncode == 0, done.stderr
    assert keju("score", out).returncode == 0
    done = keju("report", out, "-o", page, "--published")
    assert done.returncode == 0, done.stderr
    tree = html.parse(page).getroot()
    text = tree.text_content()
    assert f"openai:served · {TWO}" in text
    assert "2 examples of the reference split, sampled with seed 0" in text
