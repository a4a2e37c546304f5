"""Rows are numbered like the keys of a dict, and forms are read back as they were."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from keju.building.dedup.canonical import canonicalize
from keju.building.dedup.groups import CLUSTER, choose_kept, rank_item
from keju.building.dedup.text_columns import TextColumns, number_rows
from keju.items import Item

SMALL = st.integers(0, 3)


@given(st.lists(st.tuples(SMALL, SMALL, SMALL)))
def test_rows_are_numbered_by_first_appearance(rows):
    numbers: dict[tuple[int, ...], int] = {}
    expected = [numbers.setdefault(row, len(numbers)) for row in rows]
    columns = np.array(rows, np.uint64).reshape(-1, 3).T
    assert number_rows(*columns).tolist() == expected


def test_forms_are_read_back_from_disk(monkeypatch):
    monkeypatch.setattr("keju.runs.record_list.MOST_IN_MEMORY", 2)
    items = [
        Item(id=f"i{n}", benchmark="MCS-Bench", task="T2", question=f"何謂{n}", answer="𠀀" * n)
        for n in range(5)
    ]
    columns = TextColumns(iter(items))
    assert [columns.read(at).id for at in range(5)] == [item.id for item in items]
    forms = [canonicalize(item) for item in items]
    assert [columns.read(at).form for at in (4, 0, 3)] == [forms[at] for at in (4, 0, 3)]
    assert columns.texts(np.array([2, 1]))[0:2] == [forms[2].text, forms[1].text]


def test_a_reviewed_item_comes_before_a_draft_a_copy_and_a_shorter_answer():
    def item(answer: str, *, draft: bool = False, copy: bool = False) -> Item:
        about = {CLUSTER: "0"} if copy else {}
        return Item(
            id="i", benchmark="b", task="t", answer=answer, draft=draft, metadata=about
        )  # fmt: skip

    items = [item("甲" * 99, draft=True), item("甲乙丙", copy=True), item("甲"), item("甲乙"),
             item("丙丁")]  # fmt: skip
    order = sorted(range(5), key=lambda at: (rank_item(items[at]), at))
    assert order == [3, 4, 2, 1, 0]
    assert choose_kept(order, lambda at: rank_item(items[at])) == 3
