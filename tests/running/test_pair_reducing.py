"""Tasks of pairs in a reduced form: what a real server is asked, and what its answers become."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from keju.analysis.run_set import load_runs
from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions.pair_forms import pair_form, reduced_form, sent_candidates
from keju.errors import UsageError
from keju.formatting import NOTHING
from keju.items import Item
from keju.models import ModelOptions, open_model
from keju.reporting.page import Report, write_report
from keju.running import Selection, merge, run
from keju.running.pair_reducing import reduce_pairs
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture
from tests.support.planning import estimate
from tests.support.policies import policy_of
from tests.support.serving import Chat

MODEL = "openai:served"
FRAGMENTS = 8
QUERIES = ("Yes-or-No", "How")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight fragments, each against all others; 0-1, 2-3, 4-5, 6-7 belong together."""
    path = tmp_path_factory.mktemp("fragments") / "d"
    with DatasetWriter(path, name="f", version="1", licence="CC0-1.0", source="tests") as writer:
        refs = [writer.add_image(picture(seed), f"f{seed}") for seed in range(FRAGMENTS)]
        for number, ref in enumerate(refs):
            others = [*refs[:number], *refs[number + 1 :]]
            mate = others.index(refs[number ^ 1]) + 1
            for query in QUERIES:
                writer.add(
                    Item(id=f"f{number}#{query}", benchmark="OBI-Bench", task="rejoining",
                         query=query, images=(ref, *others), relevant=(mate,),
                         metadata={"source": "OBI-rejoin"})
                )  # fmt: skip
    return path


def go(dataset: Path, out: Path, chat: Chat, **chosen: object) -> RunFolder:
    summary = run(
        dataset,
        [MODEL],
        out,
        selection=Selection(**chosen),
        options=ModelOptions(base_url=chat.url),
        policy=policy_of(concurrency=2, first_wait=0.01),
    )
    assert summary.complete
    return RunFolder.open(out)


def pictures_of(dataset: Path) -> dict[str, int]:
    """The number of each fragment by its image's hash."""
    return {
        item.images[0].sha256: int(item.id[1])
        for item in Dataset.open(dataset).items()
        if item.query == "How"
    }


def asked_pairs(chat: Chat, dataset: Path) -> Counter[tuple[str, int, int]]:
    """The form and the two fragments, in their order, of every request that the server saw."""
    numbers, seen = pictures_of(dataset), chat.stats()
    found: Counter[tuple[str, int, int]] = Counter()
    for body, (first, second) in zip(map(json.loads, seen["bodies"]), seen["images"], strict=True):
        prompt = str(body["messages"][0]["content"])
        form = "How" if "How much probability" in prompt else "Yes-or-No"
        pair = [numbers[shown.split()[1]] for shown in (first, second)]
        found[form, *pair] += 1
    return found


def test_once_asks_each_pair_in_one_direction_the_earlier_item_first(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says="Yes")
    folder = go(dataset, tmp_path / "run", chat, pairs="once")
    pairs = [(a, b) for a in range(FRAGMENTS) for b in range(a + 1, FRAGMENTS)]
    assert asked_pairs(chat, dataset) == Counter((q, *pair) for q in QUERIES for pair in pairs)
    assert folder.manifest().settings["pairs"] == "once"
    go(dataset, tmp_path / "run", chat, pairs="once")
    assert chat.stats()["requests"] == 2 * len(pairs)


def test_once_counts_the_answer_for_both_fragments(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="0.5")
    folder = go(dataset, tmp_path / "run", chat, pairs="once", tasks=("rejoining/How",))
    asked = {item.id: sent_candidates(item) for item in folder.items()}
    assert asked == {f"f{n}#How": FRAGMENTS - 1 - n for n in range(FRAGMENTS)}
    lines = [json.loads(line) for line in folder.response_files()[0].read_text().splitlines()]
    for line in lines:
        item = next(each for each in folder.items() if each.id == line["item"])
        right = line["candidate"] in item.relevant
        line["text"] = "0.9" if right else "0.1"
    folder.response_files()[0].write_text("".join(json.dumps(line) + "\n" for line in lines))
    scores = {(s.item, s.metric): s for s in score_run(folder, ("official",))}
    for item in folder.items():
        score = scores[item.id, "Acc@1"]
        assert (score.value, score.stats["pairs"]) == (1.0, FRAGMENTS - 1)
        assert score.signature.endswith("|pairs:once")


def test_a_report_shows_every_item_and_counts_every_response_once(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says="0.5")
    folder = go(dataset, tmp_path / "run", chat, pairs="once", tasks=("rejoining/How",))
    score_run(folder)
    run_set = load_runs([folder.path])
    assert [len(asked.answers) for asked in run_set.asked] == [1] * FRAGMENTS
    (model_responses,) = run_set.by_model.values()
    assert (model_responses.responses, model_responses.items) == (
        FRAGMENTS * (FRAGMENTS - 1) // 2,
        FRAGMENTS,
    )


def test_a_gallery_has_all_relevant_candidates_and_is_one_for_all_question_forms(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says="0.5")
    folder = go(dataset, tmp_path / "run", chat, pairs="gallery=3,seed=1")
    seen = asked_pairs(chat, dataset)
    galleries: dict[tuple[str, int], set[int]] = {}
    for form, first, second in seen:
        galleries.setdefault((form, first), set()).add(second)
    assert len(galleries) == 2 * FRAGMENTS
    for number in range(FRAGMENTS):
        own = galleries["How", number]
        assert own == galleries["Yes-or-No", number]
        assert (len(own), number ^ 1 in own) == (3, True)
    for item in folder.items():
        assert reduced_form(item) == "gallery=3,seed=1"
        assert len(item.images) == 4
        (mate,) = item.relevant
        numbers = pictures_of(dataset)
        assert numbers[item.images[mate].sha256] == numbers[item.images[0].sha256] ^ 1
    (signature,) = {s.signature.split("|pairs:")[1] for s in score_run(folder, ("official",))}
    assert signature == "gallery=3,seed=1"
    whole = Dataset.open(dataset).items()
    draws = {seed: reduce_pairs(whole, pair_form(f"gallery=3,seed={seed}")) for seed in (1, 2)}
    assert draws[1] == folder.items()
    assert draws[1] != draws[2]


def test_a_run_resumes_only_in_the_same_form_and_keeps_its_pairs(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(says="0.5")
    out = tmp_path / "run"
    few = ("f3#How", "f5#How")
    go(dataset, out, chat, pairs="once", items=few)
    with pytest.raises(UsageError, match=r"--pairs \(once, now unset\)"):
        go(dataset, out, chat, items=few)
    with pytest.raises(UsageError, match=r"--pairs \(once, now gallery=2,seed=0\)"):
        go(dataset, out, chat, pairs="gallery=2,seed=0", items=few)
    limited = tmp_path / "limited"
    before = go(dataset, limited, chat, pairs="gallery=2", limit=3).items()
    after = go(dataset, limited, chat, pairs="gallery=2", limit=6).items()
    assert [item for item in after if item.id in {each.id for each in before}] == before
    assert {sent_candidates(item) for item in after} == {2}


def test_answers_are_replayed_in_their_own_form_alone(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="0.5")
    whole = go(dataset, tmp_path / "whole", chat).path / "responses"
    few = go(dataset, tmp_path / "few", chat, pairs="gallery=2").path / "responses"
    loose = tmp_path / "loose.jsonl"
    loose.write_text(json.dumps({"item": "f0#How", "candidate": 1, "text": "0.5"}))
    for number, (file, form) in enumerate(
        [(whole, "gallery=2"), (few, None), (few, "gallery=3"), (loose, "gallery=2")]
    ):
        with pytest.raises(UsageError, match="--pairs is"):
            run(dataset, [f"replay:{file}"], tmp_path / str(number),
                selection=Selection(pairs=form))  # fmt: skip
    summary = run(
        dataset, [f"replay:{few}"], tmp_path / "again", selection=Selection(pairs="gallery=2")
    )
    assert summary.complete


def test_shards_of_a_reduced_form_merge_to_the_whole(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says="0.5")
    parts = [tmp_path / f"s{n}" for n in (1, 2)]
    for number, part in enumerate(parts, 1):
        go(dataset, part, chat, pairs="once", shard=f"{number}/2")
    merged = merge(parts, tmp_path / "merged")
    assert merged.responses == FRAGMENTS * (FRAGMENTS - 1)
    values = {s.value for s in score_run(RunFolder.open(tmp_path / "merged"), ("official",))}
    assert None not in values


@pytest.fixture(scope="module")
def as_in_paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two fragments, each against 482 others: galleries of the paper's size."""
    path = tmp_path_factory.mktemp("paper") / "d"
    with DatasetWriter(path, name="p", version="1", licence="CC0-1.0", source="tests") as writer:
        refs = [writer.add_image(picture(seed, side=9), f"f{seed}") for seed in range(483)]
        for number in (0, 1):
            others = [*refs[:number], *refs[number + 1 :]]
            writer.add(
                Item(id=f"f{number}#How", benchmark="OBI-Bench", task="rejoining", query="How",
                     images=(refs[number], *others), relevant=(1,),
                     metadata={"source": "OBI-rejoin"})
            )  # fmt: skip
    return path


def test_results_of_a_reduced_form_stay_out_of_the_papers_tables(
    chat: Chat, as_in_paper: Path, tmp_path: Path
):
    chat.plan(says="0.5")
    runs = {}
    for name in ("", "once", "gallery=3,seed=0"):
        folder = go(as_in_paper, tmp_path / f"run {name}", chat, pairs=name or None)
        score_run(folder)
        runs[name] = folder.path
    counts = {name: sum(1 for _ in RunFolder(path).responses()) for name, path in runs.items()}
    assert counts == {"": 964, "once": 963, "gallery=3,seed=0": 6}
    (whole,) = own_values([runs[""]], tmp_path).values()
    assert len(whole) == 3
    assert own_values([path for name, path in runs.items() if name], tmp_path) == {}
    report = write_report(list(runs.values()), tmp_path / "r.html", picture_bytes=0)
    assert list(values_of(report).values()) == [whole]
    notes = [note for table in report.paper_tables for note in table.notes]
    assert any("--pairs gallery=3,seed=0, once" in note for note in notes)


def own_values(runs: list[Path], tmp_path: Path) -> dict[str, list[str]]:
    """The values in the paper's tables of each model of the runs that has any."""
    return values_of(write_report(runs, tmp_path / "r.html", picture_bytes=0))


def values_of(report: Report) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table in report.paper_tables:
        for row in table.rows:
            values = [cell.value for cell in row.cells if cell.value not in {"", NOTHING}]
            if row.model.startswith(MODEL) and values:
                found.setdefault(row.model, []).extend(values)
    return found


def test_a_plan_counts_the_reduced_form_that_is_selected(dataset: Path):
    opened = Dataset.open(dataset)
    models = [open_model(MODEL, ModelOptions(base_url="http://localhost:1/v1", asking=False))]
    plans = {
        form: estimate(opened, models, Selection(rounds=5, pairs=form), per_minute=60)
        for form in (None, "once", "gallery=5")
    }
    calls = {form: (plan.totals[0].calls, plan.totals[0].hours) for form, plan in plans.items()}
    assert calls == {
        None: (560, pytest.approx(560 / 3600)),
        "once": (280, pytest.approx(280 / 3600)),
        "gallery=5": (400, pytest.approx(400 / 3600)),
    }


def test_forms_that_make_no_sense_are_wrong_use(chat: Chat, dataset: Path, tmp_path: Path):
    for name in ("", "twice", "gallery", "gallery=0", "edges=5", "once,gallery=2"):
        with pytest.raises(UsageError, match="--pairs must be"):
            pair_form(name)
    with pytest.raises(UsageError, match="reduces none of these items"):
        go(dataset, tmp_path / "a", chat, pairs="gallery=7,seed=0")
    with pytest.raises(UsageError, match=r"f0#Yes-or-No has 1 relevant .* Use gallery=2 or more"):
        go(dataset, tmp_path / "c", chat, pairs="gallery=1")
