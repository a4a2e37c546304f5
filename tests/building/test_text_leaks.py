"""Runs of texts on disk: the same leaks as a comparison of sets of strings."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.building.releasing import run_table, text_leaks
from keju.building.releasing.leaks import find_leaks
from keju.building.releasing.run_table import RunTable, ranges_of
from keju.items import Item

RUN = text_leaks.RUN
WORDS = st.sampled_from(["天地玄黃宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "某"])
TEXTS = st.lists(WORDS, max_size=8).map("".join)
ITEMS = st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from("ABC")), max_size=14)


def items_of(drawn: list[tuple[str, str, str]], name: str) -> list[Item]:
    return [
        Item(id=f"{name}{number}", benchmark="MCS-Bench", task="T1", question=question,
             answer=answer, group=group)
        for number, (question, answer, group) in enumerate(drawn)
    ]  # fmt: skip


def runs_of(text: str) -> set[str]:
    return {text[place : place + RUN] for place in range(len(text) - RUN + 1)}


def naive_leaks(ours: list[Item], theirs: list[Item]) -> list[tuple[str, str, str, float]]:
    """Leaks by sets of strings: item, part, nearest item and share."""
    groups, asked = defaultdict(set), defaultdict(set)
    own = [
        (item, "question" if text == item.question else "answer", runs_of(text))
        for item in ours
        for text in dict.fromkeys((item.question, item.answer))
        if text
    ]
    for item, part, runs in own:
        for run in runs:
            groups[run].add(item.group)
            if part == "question":
                asked[run].add(item.group)
    common = {run for run in groups if len(groups[run]) > text_leaks.FORMULA or len(asked[run]) > 1}
    other = [(each, runs_of(text)) for each in theirs for text in (each.question, each.answer)]
    whole = set().union(*(runs for _, runs in other))
    found = []
    for item, part, runs in own:
        left = runs - common
        if left and len(left & whole) / len(left) >= text_leaks.SHARE:
            nearest = max(other, key=lambda each: len(each[1] & left))[0]
            found.append((item.id, part, nearest.id, round(len(left & whole) / len(left), 4)))
    return found


@pytest.fixture(autouse=True, params=[4, 1 << 20])
def most_pairs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(run_table, "MOST_PAIRS", request.param)
    monkeypatch.setattr(text_leaks, "MOST_LEAKING", request.param)
    return request.param


@settings(max_examples=60)
@given(ours=ITEMS, theirs=ITEMS)
def test_leaks_are_those_of_sets_of_strings(ours, theirs):
    mine, others = items_of(ours, "a"), items_of(theirs, "b")
    found = find_leaks(mine, {"x": others}).leaks
    assert [(leak.item, leak.part, leak.other, leak.share) for leak in found] == naive_leaks(
        mine, others
    )


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=20), max_size=20))
def test_a_table_returns_its_pairs_sorted_by_hash_then_by_addition(added):
    table = RunTable()
    for number, runs in enumerate(added):
        table.add(np.array(runs, np.uint64), number)
    pairs = [(run, number) for number, runs in enumerate(added) for run in runs]
    found = []
    for span in ranges_of(table):
        runs, numbers = table.between(*span)
        found += zip(runs.tolist(), numbers.tolist(), strict=True)
    assert len(table) == len(pairs)
    assert found == sorted(pairs)


def test_the_ranges_cover_all_hashes(most_pairs: int):
    table = RunTable()
    table.add(np.arange(5000, dtype=np.uint64) << np.uint64(50), 0)
    spans = list(ranges_of(table))
    assert (spans[0][0], spans[-1][1]) == (0, 1024)
    assert all(one[1] == other[0] for one, other in pairwise(spans))
    assert (len(spans) > 1) == (most_pairs < 5000)
