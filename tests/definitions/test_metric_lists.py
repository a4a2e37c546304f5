"""The lists of metrics by answer form, for authors of definitions, are those of the registry."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from keju.items import AnswerForm
from keju.scoring import metrics

ROOT = Path(__file__).parents[2]
DRAFT = "src/keju/definitions/data/draft.toml"
GUIDE = "docs/own-benchmarks.md"


def listed(file: str) -> dict[str, list[str]]:
    """The metrics by form of the one table of a file; metrics have a capital letter or ``_``."""
    lines = (ROOT / file).read_text("utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if re.match(r"[|#] form\b.*strict", line))
    rows: dict[str, list[str]] = {}
    for line in lines[start + 1 :]:
        if line.strip("|-# ") == "":
            if rows:
                break
            continue
        form = re.findall(r"[a-z-]+", line)[0]
        cell = line.strip("|").rsplit("|", 1)[-1].removeprefix(f"# {form}")
        rows[form] = re.findall(r"\b(?!box_)[\w@]*[A-Z_][\w@]*", cell)
    return rows


@pytest.mark.parametrize("file", [DRAFT, GUIDE])
def test_the_metrics_of_every_form_are_listed(file: str) -> None:
    declared: dict[str, list[str]] = {form: [] for form in get_args(AnswerForm)}
    for each in metrics():
        if each.protocol == "strict" and not each.benchmark and not each.origin:
            declared[each.form].append(each.name)
    assert listed(file) == declared, f"write the metrics of each form into the table of {file}"
