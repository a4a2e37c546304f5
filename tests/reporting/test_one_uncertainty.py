"""A run has the same intervals, p values and ranks in every place and in every order."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import msgspec
import pytest

import keju
from keju.analysis.comparison_sides import SideChoice
from keju.analysis.history import history_of
from keju.analysis.leaderboard import leaderboards
from keju.analysis.run_set import load_runs
from keju.bundles import write_bundle
from keju.datasets.store import DatasetWriter
from keju.formatting import format_p
from keju.items import Item, Protocol
from keju.running import Selection, run
from keju.running.merging import merge
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.site import write_site
from tests.support.making import picture

MARKED = "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。"
MODELS = ("one", "two")


def items_and_answers() -> list[tuple[Item, dict[str, str]]]:
    """Letters, punctuation and transcription of 13 books; the last three have no group.

    Book 10 is before book 2 in the order of texts. The answers of the second model are longer.
    """
    generator = random.Random(5)
    pairs = []
    for book in range(16):
        group = f"book {book}" if book < 13 else ""
        for page in range(1 + book % 3):
            name = f"b{book}-p{page}"
            shared = {"group": group, "fields": {"term": "洪荒"}, "metadata": {"image": str(book)}}
            letter = Item(id=f"{name}-letter", benchmark="MCS-Bench", task="T5", question="？",
                          options=("甲", "乙", "丙", "丁"), answer="B", **shared)  # fmt: skip
            marks = Item(id=f"{name}-marks", benchmark="MCS-Bench", task="T3", question="？",
                         answer=MARKED, **shared)  # fmt: skip
            text = Item(id=f"{name}-text", benchmark="MCS-Bench", task="T1", question="？",
                        answer="天地玄黃宇宙洪荒", **shared)  # fmt: skip
            hard = book / 16
            good = {
                model: generator.random() > hard * share
                for model, share in (("one", 0.5), ("two", 0.9))
            }
            pairs += [
                (letter, {model: "B" if good[model] else "C" for model in MODELS}),
                (marks, {"one": MARKED if good["one"] else "天地玄黃，宇宙洪荒",
                         "two": MARKED + "，。" * book}),
                (text, {model: "天地玄黃宇宙洪荒"[: 8 if good[model] else 5]
                        for model in MODELS}),
            ]  # fmt: skip
    return pairs


def make_run(folder: Path, *, reverse: bool, shards: int = 1) -> Path:
    """The scored run, its items and models in one order or the other, perhaps merged of shards."""
    pairs = items_and_answers()[:: -1 if reverse else 1]
    folder.mkdir()
    with DatasetWriter(
        folder / "set", name="mine", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        images = {n: writer.add_image(picture(100 + n), f"page {n}") for n in range(16)}
        for item, _ in pairs:
            image = images[int(item.metadata["image"])]
            writer.add(msgspec.structs.replace(item, images=(image,), metadata={}))
    specs = []
    for model in MODELS:
        lines = [msgspec.json.encode({"item": i.id, "text": texts[model]}) for i, texts in pairs]
        (folder / f"{model}.jsonl").write_bytes(b"\n".join(lines))
        specs.append(f"replay:{model}.jsonl")
    with contextlib.chdir(folder):
        parts = []
        for part in range(1, shards + 1):
            parts.append(Path(f"part-{part}"))
            selection = Selection(shard=f"{part}/{shards}" if shards > 1 else None)
            run(Path("set"), specs[:: -1 if reverse else 1], parts[-1], selection=selection)
        path = Path(merge(parts, Path("merged")).out) if shards > 1 else parts[0]
        score_run(RunFolder.open(path))
    return folder / path


def percents(*values: float | None) -> list[str]:
    return ["" if value is None else f"{100 * value:.1f}" for value in values]


def of_report(path: Path) -> dict[str, object]:
    """The overall means with intervals and ranks, and the p of the two models."""
    with contextlib.chdir(path.parent):
        (board,) = leaderboards(run_set := load_runs([path]), run_set.results)
    numbers: dict[str, object] = {}
    for protocol, means in board.resampled.items():
        for model, ends in means.overall.items():
            value = board.results[model, protocol].overall.value
            numbers[model, protocol] = [*percents(value, *ends), means.ranks[model]]
        numbers["p", protocol] = format_p(means.gaps[*sorted(means.ranks)].p_holm)
        numbers["domains", protocol] = sorted(
            (*key, *percents(*ends)) for key, ends in means.domains.items()
        )
    return numbers


def of_site(path: Path, folder: Path) -> list[object]:
    """The means with intervals and ranks of all models and protocols, from a bundle on a site."""
    write_bundle(path, folder / "bundles" / "run.keju.zip")
    write_site([folder / "bundles"], folder / "site", title="t")
    (file,) = (folder / "site").rglob("numbers.json")
    content = msgspec.json.decode(file.read_bytes())
    numbers = []
    for by_protocol in content["standings"].values():
        for protocol, position in by_protocol.items():
            value, ends, *_ = position["overall"]
            ranks = position["rank"], tuple(position["ranks"])
            numbers.append([protocol, *percents(value, *ends), ranks])
    return sorted(numbers)


def of_comparison(path: Path, protocol: Protocol) -> list[object]:
    """The overall difference of the first model from the second, and those of all tasks."""
    compared = keju.compare(path, model=("replay:one.jsonl", "replay:two.jsonl"),
                            protocol=protocol)  # fmt: skip
    rows = [*compared.overall.rows(named=True), *compared.tasks.rows(named=True)]
    return [
        [*percents(*(row[name] for name in ("first", "second", "difference", "low", "high"))),
         format_p(row["p"]), format_p(row["p_holm"]), row["groups"], row["items"]]
        for row in rows
    ]  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same run in both orders, and merged from two shards."""
    folder = tmp_path_factory.mktemp("orders")
    return [
        make_run(folder / "plain", reverse=False),
        make_run(folder / "reversed", reverse=True),
        make_run(folder / "shards", reverse=True, shards=2),
    ]


def test_orders_of_items_models_and_shards_change_no_printed_digit(runs):
    plain, *others = map(of_report, runs)
    for numbers in others:
        assert numbers == plain
    assert plain["replay:one.jsonl", "strict"][3][0] == 1
    assert len(plain["domains", "strict"]) >= 2


def test_report_bundle_site_comparison_and_python_print_the_same(runs, tmp_path):
    plain = of_report(runs[0])
    for number, path in enumerate(runs):
        assert of_site(path, tmp_path / str(number)) == sorted(
            [protocol, *plain[f"replay:{model}.jsonl", protocol]]
            for model in MODELS
            for protocol in ("official", "strict")
        )
        bundle = tmp_path / str(number) / "bundles" / "run.keju.zip"
        for protocol in ("official", "strict"):
            compared = of_comparison(path, protocol)
            assert compared == of_comparison(bundle, protocol)
            assert compared == of_comparison(runs[0], protocol)
            overall = compared[0]
            assert overall[:2] == [plain[f"replay:{model}.jsonl", protocol][0] for model in MODELS]
            assert overall[5] == plain["p", protocol]
            assert overall[7] == 16


def test_python_and_history_print_the_intervals_of_the_report(runs):
    plain = of_report(runs[0])
    board = keju.score(runs[1]).leaderboard()
    for row in board.overall.rows(named=True):
        value, low, high, (rank, possible) = plain[row["model"], row["protocol"]]
        assert percents(row["value"], row["low"], row["high"]) == [value, low, high]
        assert (row["rank"], (row["rank_low"], row["rank_high"])) == (rank, possible)
    labels = [RunFolder.open(runs[0]), RunFolder.open(runs[2])]
    history = history_of(labels, "strict", SideChoice(model=("replay:one.jsonl",)))
    for value in history.rows[0].values:
        ends = percents(value.value, value.low, value.high)
        assert ends == plain["replay:one.jsonl", "strict"][:3]
