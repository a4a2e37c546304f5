"""Without zhconv, `official` of MCS-Bench is unscored with the reason, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

SCORED = """
import json, sys
if BLOCKED:
    sys.modules["zhconv"] = None  # as if it were not installed
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.items import Response
from keju.scoring import score_answer
found = []
items = {(item.benchmark, item.task, item.query): item for item in Dataset.open(mini.path()).items()
         if item.split == "test" and not item.relevant}
for item in items.values():
    answer = Response(key="", item=item.id, model="m", benchmark=item.benchmark, task=item.task,
                      status="answered", text=item.answer + "學")
    found += [(s.item, s.benchmark, s.protocol, s.metric, s.value, s.reason, s.signature)
              for s in score_answer(item, answer)]
print(json.dumps(found))
"""
COMMAND = 'pip install "keju[official]"'


def scores(*, blocked: bool) -> list[tuple]:
    code = f"BLOCKED = {blocked}{SCORED}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return [tuple(each) for each in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def both() -> tuple[list[tuple], list[tuple]]:
    return scores(blocked=False), scores(blocked=True)


def test_only_official_scores_of_mcs_bench_are_lost_and_they_give_the_command(both):
    with_it, without = both
    lost = [after for before, after in zip(with_it, without, strict=True) if before != after]
    assert {(benchmark, protocol) for _, benchmark, protocol, *_ in lost} == {
        ("MCS-Bench", "official")
    }
    assert all(each[4] is None and COMMAND in each[5] and "GPL" in each[5] for each in lost)


def test_no_official_score_of_mcs_bench_is_left(both):
    _, without = both
    left = Counter(
        each[3] for each in without if each[1:3] == ("MCS-Bench", "official") and each[4]
    )
    assert not left
