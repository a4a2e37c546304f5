"""The columns of the papers' tables of statistics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.datasets.stats import Stats, stats
from keju.datasets.store import DatasetWriter
from keju.definitions import prompt_of, task
from keju.errors import UsageError
from keju.items import Box, Item, Provenance


@pytest.fixture
def small(tmp_path: Path, picture, about: dict[str, str]) -> Stats:
    with DatasetWriter(tmp_path / "d", **about) as writer:
        tall = writer.add_image(picture(1, (10, 40)), "tall")
        wide = writer.add_image(picture(2, (30, 10)), "wide")

        def add(name: str, kind: str, *images: object, **more: object) -> None:
            benchmark = task(kind).benchmark
            writer.add(Item(id=name, benchmark=benchmark, task=kind, images=images, **more))

        add("1", "T2", tall, answer="天 地\n玄")
        add("2", "T2", tall, answer="黃")
        add("3", "T7", wide, answer="B", options=("說苑", "論衡"))
        add("4", "recognition", wide, query="Where", boxes=(Box(x0=0, y0=0, x1=1, y1=1),) * 3)
        add("5", "recognition", wide, query="How", answer="3")
        add("6", "recognition", tall, query="Where", boxes=(Box(x0=0, y0=0, x1=1, y1=1),))
        add("7", "classification", tall, split="reference", answer="大",
            metadata={"source": "HWOBC", "type": "Handprinted"})  # fmt: skip
    return stats(tmp_path / "d")


def test_a_task_has_counts_lengths_pixels_and_ratios(small: Stats) -> None:
    row = small.tasks.row(0, named=True)
    assert row == {
        "benchmark": "MCS-Bench", "domain": "Ancient Chinese Text", "task": "T2",
        "name_zh": "文白翻译", "name_en": "Classical Chinese to Modern Chinese", "format": "QA",
        "n_q": 2, "n_reference": 0, "avg_q": 46.0, "avg_a": 2.0,
        "avg_pv": 400.0, "max_pv": 400, "min_pv": 400,
        "avg_ar": 0.25, "max_ar": 0.25, "min_ar": 0.25,
    }  # fmt: skip


def test_domains_end_with_the_whole_and_means_are_over_questions(small: Stats) -> None:
    domains = {row["domain"]: row for row in small.domains.to_dicts()}
    text = domains["Ancient Chinese Text"]
    assert (text["n_task"], text["n_mcq_task"], text["n_qa_task"], text["n_q"]) == (2, 1, 1, 3)
    assert text["avg_pv"] == pytest.approx((400 + 400 + 300) / 3)
    assert text["avg_ar"] == pytest.approx((0.25 + 0.25 + 3) / 3)
    whole = small.domains.row(-1, named=True)
    assert (whole["domain"], whole["n_task"], whole["n_q"]) == ("OverAll", 4, 7)
    assert whole["n_reference"] == 1
    assert (whole["max_ar"], whole["min_ar"]) == (3.0, 0.25)


def test_labelled_references_ask_nothing_and_so_have_no_prompt(small: Stats) -> None:
    row = small.tasks.row(-1, named=True)
    assert (row["task"], row["avg_q"], row["n_reference"]) == ("classification", None, 1)


def test_a_source_is_that_of_the_provenance_and_only_without_one_the_set_s(
    tmp_path: Path, picture, about: dict[str, str]
) -> None:
    def came(*sources: str) -> tuple[Provenance, ...]:
        return tuple(Provenance(step="s", source=source) for source in sources)

    with DatasetWriter(tmp_path / "d", **about) as writer:

        def add(name: str, **more: object) -> None:
            ref = writer.add_image(picture(int(name)), name)
            writer.add(Item(id=name, benchmark="MCS-Bench", task="T2", images=(ref,), **more))

        add("1", provenance=came("", "a library", "a later one"))
        add("2", provenance=came("a library"), metadata={"source": "HWOBC"})
        add("3", provenance=came(""))
    assert stats(tmp_path / "d").sources["source"].to_list() == ["a library", "HWOBC", "small"]


def test_sources_count_each_image_once_with_size_and_boxes(small: Stats) -> None:
    found = {(row["source"], row["task"]): row for row in small.sources.to_dicts()}
    recognition = found["small", "recognition"]
    assert recognition["images"] == 2
    assert (recognition["width"], recognition["height"]) == (20.0, 25.0)
    assert recognition["boxes"] == 2.0
    assert found["HWOBC", "classification"]["type"] == "Handprinted"
    assert found["HWOBC", "classification"]["boxes"] is None
    assert found["small", "T2"]["images"] == 1


def test_prompts_are_as_long_as_the_paper_counts_them(shared: Path) -> None:
    registry = json.loads((shared / "published/mcs_task_registry.json").read_text())["tasks"]
    constant = [row for row in registry if row["prompt_is_constant"]]
    off = []
    for row in constant:
        options = tuple(row["example"]["options"] or ())
        fields = {"character": "大"}
        item = Item(id="x", benchmark="MCS-Bench", task=row["id"], options=options, fields=fields)
        length = sum(not character.isspace() for character in prompt_of(item))
        off.append(abs(length - row["avg_question_len"]))
    assert len(constant) > 15
    assert sum(distance < 0.1 for distance in off) / len(off) > 0.5
    assert max(off) < 2


def test_the_papers_means_are_over_questions(shared: Path) -> None:
    table2 = json.loads((shared / "published/mcs_table2_stats.json").read_text())
    rows = [row for row in table2["text"] if row["domain"] != "OverAll"]
    whole = table2["text"][-1]
    mean = sum(row["avg_a"] * row["n_q"] for row in rows) / sum(row["n_q"] for row in rows)
    assert mean == pytest.approx(whole["avg_a"], abs=0.01)


def test_a_folder_without_dataset_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dataset directory"):
        stats(tmp_path)


def test_strata_count_questions_and_images_the_largest_first(
    tmp_path: Path, picture, about
) -> None:
    with DatasetWriter(tmp_path / "d", **about) as writer:
        refs = [writer.add_image(picture(shade), "p") for shade in range(2)]
        for number, (dynasty, ref) in enumerate(
            zip(("Song", "Ming", "Ming"), [refs[0], *refs], strict=True)
        ):
            writer.add(Item(id=str(number), benchmark="AncientDoc", task="page_level_ocr",
                            images=(ref,), answer="天",
                            metadata={"dynasty": dynasty, "category": "Art"}))  # fmt: skip
    assert stats(tmp_path / "d").strata.rows() == [
        ("category", "艺术类 Art", 3, 2),
        ("dynasty", "明 Ming", 2, 2),
        ("dynasty", "宋 Song", 1, 1),
    ]
