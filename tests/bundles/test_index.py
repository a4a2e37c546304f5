"""Metadata, groups and scores of a bundle do not contain answers."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from keju.bundles import open_bundle, verify_bundle, write_bundle
from keju.bundles.index import find_hidden, item_hash
from keju.datasets import mini
from keju.items import ImageRef, Item
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.bundles.bundling import members_of

IMAGE = ImageRef(path="images/a.png", sha256="a" * 64, width=1, height=1, size=1)
OTHER = ImageRef(path="images/b.png", sha256="b" * 64, width=1, height=1, size=1)


def item(name: str, task: str, answer: str, image: ImageRef = IMAGE, **fields: object) -> Item:
    return Item(
        id=name, benchmark="MCS-Bench", task=task, answer=answer, images=(image,),
        metadata={"dynasty": "唐", "script": "楷書"}, **fields,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ("唐", ()),
        ("唐代", ()),
        ("唐朝", ()),
        ("Tang", ()),
        ("B", ("宋", "唐代")),
        ("成于唐代", ()),
    ],
)
def test_metadata_that_a_task_asks_for_is_hidden(answer: str, options: tuple[str, ...]) -> None:
    asking = item("a", "T11", answer, options=options)
    hidden = find_hidden(lambda: [asking])
    assert hidden.covers(asking, "dynasty")
    assert not hidden.covers(asking, "script")


def test_it_is_hidden_for_other_tasks_of_the_image_and_of_the_group() -> None:
    items = [
        item("a", "T11", "唐", group="g"),
        item("same image", "T10", "歐陽詢"),
        item("same group", "T10", "歐陽詢", OTHER, group="g"),
        item("other", "T10", "歐陽詢", OTHER, group="h"),
    ]
    hidden = find_hidden(lambda: items)
    assert [hidden.covers(each, "dynasty") for each in items] == [True, True, True, False]


def test_a_character_of_a_long_text_hides_nothing() -> None:
    page = item("a", "T1", "唐" + "天地玄黃" * 10)
    assert not find_hidden(lambda: [page]).covers(page, "dynasty")


def test_the_hash_of_an_item_covers_its_reference() -> None:
    assert item_hash(item("a", "T1", "天")) != item_hash(item("a", "T1", "地"))
    assert item_hash(item("a", "T1", "天")) == item_hash(item("a", "T1", "天"))


def test_no_reference_transcription_or_group_of_the_bundled_set_is_in_a_bundle(
    tmp_path: Path,
) -> None:
    tasks = ("T1", "T11", "T28", "T30", "T32", "T33", "T35", "vernacular_translation")
    run(mini.path(), ["baseline:chance"], tmp_path / "run", selection=Selection(tasks=tasks))
    folder = RunFolder.open(tmp_path / "run")
    score_run(folder)
    written = write_bundle(tmp_path / "run", tmp_path / "x.zip")
    texts = {name: _text(name, data) for name, data in members_of(written.path).items()}
    definitions = {name for name in texts if name.startswith("definitions/")}
    responses = "".join(each.text + "\n" for each in folder.responses())
    for each in folder.iter_items():
        named = (each.answer, each.transcription or "", each.group, *each.options)
        for reference in named:
            if len(reference) > 3 and reference not in responses:
                found = {name for name, text in texts.items() if reference in text} - definitions
                assert not found, (each.id, reference)
    assert verify_bundle(written.path, mini.path()).result == "verified"
    with open_bundle(written.path) as opened:
        groups = {each.id: each.group for each in opened.items()}
        for model in opened.models:
            assert all(each.group == groups[each.item] for each in opened.scores(model))


def _text(name: str, data: bytes) -> str:
    if name.endswith(".parquet"):
        return pl.read_parquet(io.BytesIO(data)).write_ndjson()
    return data.decode()
