"""The audit of the papers' tables does not move: its findings, cells and verdicts.

A part is a finding, in each of its places; its cells (``cells:``); the verdicts on the claims of a
paper, and the values that decide them; the checks that hold (``held:``); or a table's printed means
beside those that scoring gives (``rebuilt:``). An edit of a sentence or of a check's kind moves
nothing here.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.support.commanding import keju
from tests.support.rebuilt_means import rebuilt_means
from tests.support.snapshots import compare_snapshot

WORDS = {"says", "says_zh", "consequence", "consequence_zh", "title", "title_zh",
         "mismatches", "kind"}  # fmt: skip


def test_every_finding_cell_and_verdict_is_the_recorded_one(tmp_path: Path) -> None:
    parts: dict[str, list[Any]] = defaultdict(list)
    table = tmp_path / "cells.csv"
    audit = json.loads(_output("audit", "published", "--json", "--csv", table))
    for finding in audit["findings"]:
        name = f"finding: {finding['benchmark']}, {finding['topic']}"
        parts[name].append({key: finding[key] for key in finding.keys() - WORDS})
    with table.open(encoding="utf-8-sig", newline="") as stream:
        head, *cells = csv.reader(stream)
    parts["columns"].append(head)
    for cell in cells:
        parts[f"cells: {cell[0]}, {cell[1]}"].append(cell)
    for claim in audit["claims"]:
        name = claim["claim"]["id"]
        parts[f"verdicts: {claim['benchmark']}"].append([name, claim["verdict"]])
        parts[f"values of claims: {claim['benchmark']}"].append([name, claim["values"]])
    for held in audit["held"]:
        fields = [held[key] for key in ("check", "places", "compared")]
        parts[f"held: {held['benchmark']}"].append(fields)
    for mean in rebuilt_means():
        parts[f"rebuilt: {mean.table}"].append(list(mean))
    compare_snapshot("audit", parts)
    assert len(audit["claims"]) == 161
    assert len({(finding["benchmark"], finding["topic"]) for finding in audit["findings"]}) == 41


def _output(*words: object) -> str:
    result = keju(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout
