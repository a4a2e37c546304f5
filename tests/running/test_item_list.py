"""An exact list of items is asked, no more and no less, and the run records it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes
from keju.items import Item
from keju.running import Selection
from keju.running.options import read_item_ids
from keju.running.selection import select
from keju.runs import RunFolder
from tests.support.commanding import keju
from tests.support.making import make_dataset, page_item
from tests.support.serving import Chat


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("list") / "d", pages=9)


def command(dataset: Path, chat: Chat, out: Path, file: Path) -> list[str]:
    return [
        "run", str(dataset), "--model", "openai:served", "--base-url", chat.url,
        "--out", str(out), "--items", str(file),
    ]  # fmt: skip


def test_a_list_has_an_id_on_each_line(tmp_path: Path):
    file = tmp_path / "ids.txt"
    file.write_text("i0007\n\n i0002 \n")
    assert read_item_ids(file) == ("i0007", "i0002")


def test_a_list_that_is_no_list_is_refused(tmp_path: Path):
    (tmp_path / "a.txt").write_text("\n")
    with pytest.raises(DataError, match=r"a\.txt"):
        read_item_ids(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_text("i1\ni2\ni1\n")
    assert read_item_ids(tmp_path / "b.txt") == ("i1", "i2")
    with pytest.raises(DataError, match="missing"):
        read_item_ids(tmp_path / "missing.txt")
    (tmp_path / "e.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="UTF-8"):
        read_item_ids(tmp_path / "e.txt")


def test_the_server_sees_the_listed_items_alone_and_the_run_records_the_list(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    file, out = tmp_path / "ids.txt", tmp_path / "run"
    file.write_text("i0007\ni0002\ni0005\n")
    assert keju(*command(dataset, chat, out, file)).returncode == 0
    assert chat.stats()["asked"] == {"i0007": 1, "i0002": 1, "i0005": 1}
    folder = RunFolder.open(out)
    assert list(folder.iter_item_ids()) == ["i0002", "i0005", "i0007"]
    digest = sha256_bytes(b"i0002\ni0005\ni0007")
    assert folder.manifest().settings["items"] == f"3 ids, sha256 {digest}"


def test_a_run_resumes_with_the_same_list_or_a_longer_one(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan()
    file, out = tmp_path / "ids.txt", tmp_path / "run"
    file.write_text("i0001\ni0002\n")
    assert keju(*command(dataset, chat, out, file)).returncode == 0
    file.write_text("i0002\ni0001\n")
    assert keju(*command(dataset, chat, out, file)).returncode == 0
    assert chat.stats()["requests"] == 2
    file.write_text("i0001\ni0002\ni0003\n")
    assert keju(*command(dataset, chat, out, file)).returncode == 0
    assert chat.stats()["requests"] == 3
    file.write_text("i0001\ni0003\n")
    done = keju(*command(dataset, chat, out, file))
    assert done.returncode == 2
    assert "are outdated, 1 in number" in done.stderr
    assert "--items (3 ids" in done.stderr
    assert chat.stats()["requests"] == 3


def test_unknown_ids_are_named_and_nothing_is_asked(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan()
    file, out = tmp_path / "ids.txt", tmp_path / "run"
    file.write_text("i0001\nnobody\ni9999\n")
    done = keju(*command(dataset, chat, out, file))
    assert done.returncode == 2
    assert "2 of the ids of --items are not in its test split: nobody, i9999" in done.stderr
    assert chat.stats()["requests"] == 0
    assert not out.exists()


def test_tasks_and_limits_choose_among_the_listed(tmp_path: Path):
    items = [page_item(f"p{n}") for n in range(4)]
    items += [page_item("q1", task="T5", question="A. 天 B. 地", answer="A")]
    path = make_dataset(tmp_path / "d", items)
    chosen = Selection(items=("q1", "p3", "p1"), tasks=("T1",), limit=1)
    found = select(Dataset.open(path).items(), chosen, path)
    assert [item.id for item in found] == ["p1"]


def test_an_id_without_its_question_form_names_all_forms():
    items = [
        Item(id=f"O2BR/a.jpg#{query}", benchmark="OBI-Bench", task="recognition", query=query)
        for query in ("What", "Where")
    ]
    for name, chosen in (("O2BR/a.jpg", items), ("O2BR/a.jpg#Where", items[1:])):
        assert list(select(items, Selection(items=(name,)), Path("d"))) == chosen
    with pytest.raises(UsageError, match=r"a\.jpg#How"):
        select(items, Selection(items=("O2BR/a.jpg#How",)), Path("d"))
