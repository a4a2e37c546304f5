"""Mutated sources: no traceback, no excess of time or memory, every refusal is one line.

The suite has 100; the environment variable KEJU_MUTATIONS=500 has that many.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from keju.datasets.readers import FORMATS
from tests.support.damage import DAMAGES
from tests.support.mutation import Case, faults, run_cases, sources
from tests.support.mutations import NAMES, RAW, STRUCTURED
from tests.support.released import FORMS

COUNT, CHUNK, SEED = int(os.environ.get("KEJU_MUTATIONS", "100")), 50, 15


@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
def test_readers_take_or_refuse_every_mutated_source(start: int) -> None:
    found = run_cases(start, start + CHUNK, SEED)
    assert [case.number for case in found] == list(range(start, start + CHUNK))
    assert faults(found) == []
    outcomes = Counter(case.outcome for case in found)
    assert outcomes["refused"] >= CHUNK // 5
    assert outcomes["imported"] >= CHUNK // 10
    assert sum(case.structured for case in found) >= CHUNK // 2


def test_every_format_is_mutated_and_every_kind_of_file_has_mutations() -> None:
    assert set(sources()) >= set(FORMATS) - {"drafted"}  # as mcs-bench, whose mapping is drafted
    assert {form.name for form in FORMS.values()} <= set(sources())
    assert all(STRUCTURED.values())
    names = [name for kind in (*STRUCTURED.values(), NAMES, RAW) for name in kind]
    assert len(set(names)) == len(names)
    assert not set(names) & set(DAMAGES)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, ""),
        ({"seconds": 21.0}, "21 s"),
        ({"peak": 3 << 30}, "3,072 MiB"),
        ({"fault": "ValueError: x"}, "ValueError: x"),
    ],
)
def test_a_fault_is_reported_with_the_case(change: dict[str, object], fault: str) -> None:
    case = Case(
        7, "pages", "pages", "noise: 'p.txt'", structured=False, outcome="refused", seconds=1.0,
        peak=9, said="", fault="",
    )  # fmt: skip
    told = faults([case._replace(**change)])
    assert told == ([f"7 pages [noise: 'p.txt']: {fault}"] if fault else [])
