"""Shards are asked apart and become one run, and what does not fit is refused by name."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.analysis.unfinished import unfinished_models
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError
from keju.models import Decoding, ModelOptions
from keju.running import RunSummary, Selection, merge, run
from keju.running.selection import in_shard
from keju.runs import RunFolder, record_list
from tests.support.commanding import keju
from tests.support.making import make_dataset, page_item, picture
from tests.support.policies import policy_of
from tests.support.serving import Chat

MODEL = "openai:served"
ITEMS = 21


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("merge") / "d"
    with DatasetWriter(path, name="m", version="1", licence="CC0-1.0", source="tests") as writer:
        for number in range(ITEMS):
            ref = writer.add_image(picture(number // 3), f"page {number // 3}")
            task = "T1" if number % 3 else "T5"
            fields = {"question": f"[item i{number:02}] A. 天 B. 地"} if task == "T5" else {}
            writer.add(page_item(f"i{number:02}", task=task, images=(ref,), **fields))
    return path


def go(dataset: Path, out: Path, chat: Chat, *models: str, seed: int | None = None, **chosen):
    return run(
        dataset,
        models or [MODEL],
        out,
        selection=Selection(**chosen),
        options=ModelOptions(base_url=chat.url, decoding=Decoding(seed=seed)),
        policy=policy_of(concurrency=4, first_wait=0.01),
    )


def shards(dataset: Path, tmp_path: Path, chat: Chat, count: int, *models: str, **chosen):
    paths = [tmp_path / f"s{number}" for number in range(1, count + 1)]
    for number, path in enumerate(paths, start=1):
        summary: RunSummary = go(
            dataset, path, chat, *models, shard=f"{number}/{count}", **chosen
        )  # fmt: skip
        assert summary.complete
    return paths


def texts(path: Path) -> dict[tuple[object, ...], str]:
    return {
        (r.model, r.task, r.item, r.setting, r.script, r.round): f"{r.key} {r.status} {r.text}"
        for r in RunFolder.open(path).responses()
    }


def test_every_item_is_in_one_shard_and_those_of_an_image_stay_together(dataset: Path):
    items = RunFolder(dataset).items()
    for count in (1, 2, 3, 7, 30):
        parts = [in_shard(items, f"{number}/{count}") for number in range(1, count + 1)]
        assert sorted(item.id for part in parts for item in part) == [item.id for item in items]
        images = Counter(ref for part in parts for ref in {item.images for item in part})
        assert set(images.values()) == {1}
        assert max(map(len, parts)) - min(map(len, parts)) <= 3


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", "１/２"])
def test_what_is_no_shard_is_refused(shard: str):
    with pytest.raises(UsageError, match="--shard must be I/N"):
        in_shard([], shard)


def test_a_merge_reads_items_in_batches(dataset: Path, tmp_path: Path, monkeypatch):
    parts = [tmp_path / name for name in ("1", "2")]
    for part in parts:
        run(dataset, ["baseline:copy"], part, selection=Selection(shard=f"{part.name}/2"))
    run(dataset, ["baseline:copy"], tmp_path / "whole")
    monkeypatch.setattr(record_list, "MOST_IN_MEMORY", 1)
    monkeypatch.setattr(RunFolder, "items", lambda _: pytest.fail("all items were read"))
    merge(parts, tmp_path / "merged")
    assert texts(tmp_path / "merged") == texts(tmp_path / "whole")


def test_merged_shards_are_the_run_that_one_machine_would_have_made(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    models = (MODEL, "baseline:chance")
    how = {
        "settings": ("image", "own-ocr"), "scripts": ("simplified", "traditional"), "rounds": 2,
    }  # fmt: skip
    go(dataset, tmp_path / "whole", chat, *models, **how)
    asked = chat.stats()["requests"]
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 3, *models, **how)
    assert chat.stats()["requests"] == asked
    merged = merge(parts, tmp_path / "sub" / "merged")
    whole, joined = tmp_path / "whole", Path(merged.out)
    assert texts(joined) == texts(whole)
    assert merged.responses == len(texts(whole))
    assert (joined / "items.parquet").read_bytes() == (whole / "items.parquet").read_bytes()
    first, second = (RunFolder.open(path) for path in (whole, joined))
    one, other = first.manifest(), second.manifest()
    assert (one.settings, one.models, one.not_asked) == (
        other.settings, other.models, other.not_asked,
    )  # fmt: skip
    assert {r.key for r in first.readings()} == {r.key for r in second.readings()}
    assert (joined / other.dataset_path).resolve() == dataset.resolve()
    # It goes on like any run, and nothing is left to ask.
    chat.plan()
    assert go(dataset, joined, chat, *models, **how).complete
    assert chat.stats()["requests"] == 0
    assert not list(joined.parent.glob(".*"))


def test_a_merge_without_a_shard_or_a_response_is_unfinished_and_the_same_run_completes_it(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    requests, scripts = 2 * ITEMS, ("simplified", "traditional")
    parts = shards(dataset, tmp_path, chat, 3, scripts=scripts)
    file = RunFolder.open(parts[2]).responses_path(MODEL, "T5")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[1:]))
    for number, runs in enumerate((parts, [parts[0], parts[2]])):
        out = tmp_path / f"m{number}"
        merged = merge(runs, out)
        assert merged.responses < requests
        assert len(merged.missing) == number
        (model,) = unfinished_models(RunFolder.open(out))
        assert (model.there, model.planned) == (merged.responses, requests)
        chat.plan()
        assert go(dataset, out, chat, scripts=scripts).complete
        assert chat.stats()["requests"] == requests - merged.responses


def test_a_damaged_response_leaves_no_half_of_a_merge(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 2)
    file = RunFolder.open(parts[1]).responses_path(MODEL, "T1")
    lines = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(lines[0]) | {"text": 7}), *lines[1:], ""]))
    with pytest.raises(DataError, match="line 1: not readable"):
        merge(parts, tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir() if "m" in path.name.split(".")] == []


def test_the_first_and_the_last_shard_are_missed_too(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 3)
    missing = merge(parts[1:2], tmp_path / "m").missing
    assert [str(each) for each in missing] == ["no run is the shard 1/3", "no run is the shard 3/3"]


def test_a_response_that_is_there_twice_is_named(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 2)
    with pytest.raises(UsageError, match="given twice"):
        merge([parts[0], parts[0]], tmp_path / "m")
    foreign = RunFolder.open(parts[0]).responses_path(MODEL, "T1").read_text().splitlines()[0]
    with RunFolder.open(parts[1]).responses_path(MODEL, "T1").open("a") as stream:
        stream.write(foreign + "\n")
    name = json.loads(foreign)["item"]
    with pytest.raises(UsageError, match=f"s2: {MODEL} has a response to {name}, and another"):
        merge(parts, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    go(dataset, tmp_path / "a", chat)
    with pytest.raises(UsageError, match="not the shards of one run"):
        merge([tmp_path / "a"], tmp_path / "m")


def test_runs_that_were_begun_otherwise_are_refused(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    first = tmp_path / "first"
    go(dataset, first, chat, shard="1/2")
    other = make_dataset(tmp_path / "other", pages=2)

    def refused(words: str, from_: Path = dataset, **settings: object) -> None:
        second = tmp_path / words[:6].replace(" ", "_")
        go(from_, second, chat, **{"shard": "2/2", **settings})
        with pytest.raises(UsageError, match=words):
            merge([first, second], tmp_path / "m")

    refused(r"the dataset \(m .*, now small", other)
    refused(r"differs from .*first: --rounds \(1, now 2\)", rounds=2)
    refused(r"--limit \(unset, now 3\)", limit=3)
    refused(r"seed of openai:served \(unset, now 5\)", seed=5)
    refused("not the shards of one run", shard="2/3")
    refused("is whole", shard=None)
    refused("the shard 1/2 is given twice", shard="1/2")
    with pytest.raises(UsageError, match="not a run"):
        merge([first, dataset], tmp_path / "m")
    with pytest.raises(UsageError, match="already exists"):
        merge([first], first)


def test_a_response_to_another_prompt_is_found_when_the_merged_run_is_resumed(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 2)
    file = RunFolder.open(parts[1]).responses_path(MODEL, "T1")
    first, *others = file.read_text().splitlines(keepends=True)
    altered = json.loads(first)
    file.write_text(json.dumps({**altered, "key": "0" * 64}) + "\n" + "".join(others))
    merge(parts, tmp_path / "m")
    words = f"stored responses of {MODEL} are outdated"
    with pytest.raises(UsageError, match=words):
        go(dataset, tmp_path / "m", chat)


def test_shards_of_two_versions_are_refused(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 2)
    manifest = RunFolder.open(parts[1]).manifest()
    RunFolder(parts[1]).write_manifest(replace(manifest, keju="0.9.9"))
    with pytest.raises(UsageError, match=r"s2 differs from .*s1: keju \(.*, now 0\.9\.9\)"):
        merge(parts, tmp_path / "m")


def test_a_shard_with_other_references_is_refused(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    parts = shards(dataset, tmp_path, chat, 2)
    folder = RunFolder.open(parts[1])
    folder.write_items([replace(item, answer="地") for item in folder.items()])
    with pytest.raises(DataError, match=r"items\.parquet"):
        merge(parts, tmp_path / "m")


def test_a_shard_keeps_its_number_and_its_items(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    go(dataset, tmp_path / "s", chat, shard="1/2", limit=2)
    with pytest.raises(UsageError, match=r"--shard \(1/2, now 2/2\)"):
        go(dataset, tmp_path / "s", chat, shard="2/2", limit=2)


def test_the_commands(chat: Chat, dataset: Path, tmp_path: Path):
    shards(dataset, tmp_path, chat, 2, "baseline:chance")
    parts = (tmp_path / "s1", tmp_path / "s2")
    done = keju("merge", *parts, "--out", tmp_path / "m")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{tmp_path / 'm'}: 7 responses of baseline:chance" in done.stdout
    half = keju("merge", parts[0], "--out", tmp_path / "h")
    assert half.returncode == 1
    assert "Missing: no run is the shard 2/2" in half.stdout
    assert "requests have a response. Complete the run with: keju run" in half.stdout
    wrong = keju("merge", parts[0], parts[0], "--out", tmp_path / "h2")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1
