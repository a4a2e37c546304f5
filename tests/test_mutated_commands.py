"""Mutated replay forms, recipes, sheets, manifests, tables and IIIF: no command breaks.

CI runs a sample. ``KEJU_MUTATIONS=2000 pytest tests/test_mutated_commands.py`` runs that many.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.support.forked import WALL, Ended
from tests.support.mutated_commands import Case, faults, refusal_faults, run_cases
from tests.support.mutated_inputs import INPUTS

COUNT = int(os.environ.get("KEJU_MUTATIONS") or 120)
SEED = int(os.environ.get("KEJU_MUTATIONS_SEED") or 16)
CHUNK = 250


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
def test_commands_take_or_refuse_every_mutated_input(start: int) -> None:
    stop = min(start + CHUNK, COUNT)
    found = run_cases(start, stop, SEED)
    assert [case.number for case in found] == list(range(start, stop))
    assert faults(found) == []
    statuses = Counter(case.statuses[0] for case in found)
    assert statuses[2] >= (stop - start) // 5
    assert statuses[0] >= (stop - start) // 10
    assert sum(case.structured for case in found) >= (stop - start) // 2
    assert {case.kind for case in found} == {*INPUTS, "iiif"}


_ENDED = Ended(2, 1.0, 1.0, 9, "", "keju: a: b\n")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, ""),
        ({"status": -9}, "exit status -9"),
        (
            {"status": 1, "err": "Traceback (most recent call last):\nValueError: x\n"},
            "a traceback: ValueError",
        ),
        ({"err": "keju: a\nkeju: b\n"}, "2 lines of error"),
        ({"err": "oh\n"}, "refused without a line"),
        ({"err": "keju: \x1b[31m\n"}, "not a printable line"),
        ({"err": "keju: " + "x" * 3000}, "not a printable line"),
        ({"processor": 21.0}, "21 s of the processor"),
        ({"seconds": WALL + 1.0}, "41 s"),
        ({"peak": 3 << 30}, "3,072 MiB"),
    ],
)
def test_a_fault_is_named(change: dict[str, object], fault: str) -> None:
    found = list(refusal_faults(("score", "x"), _ENDED._replace(**change)))
    assert len(found) == bool(fault)
    assert fault in "".join(found)


def test_a_fault_is_reported_with_its_case() -> None:
    case = Case(7, "replay", "CSV", "noise: 'p'", structured=False, statuses=(2,), seconds=1.0,
                peak=9, said="", fault="score: x")  # fmt: skip
    assert faults([case, case._replace(fault="")]) == ["7 replay CSV [noise: 'p']: score: x"]
