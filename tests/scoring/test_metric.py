"""Every metric is declared once, and what a paper defines does not change by accident.

`metrics.json` has the declarations for single benchmarks as they were reviewed. After a wanted
change write it again with ``KEJU_WRITE_METRICS=1 pytest tests/scoring/test_metric.py`` and read the
diff.
"""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path

import pytest

from keju.definitions import tasks
from keju.scoring import PROTOCOLS, metric_of, metrics
from keju.scoring.metric import MEAN, declare
from keju.scoring.preparations import RAW

FILE = Path(__file__).with_name("metrics.json")


def declarations():
    """The declarations for single benchmarks as data."""
    return [
        {
            "name": each.name,
            "form": each.form,
            "protocol": each.protocol,
            "benchmark": each.benchmark,
            "text": each.prepare.name,
            "encoder": each.encoder,
            "worst": each.worst,
            "higher_is_better": each.higher_is_better,
            "rule": each.rule,
            "over": each.over.rule,
            "ratio_of_sums": each.over.value is None,
            "failure": each.failure,
            "source": each.source,
        }
        for each in sorted(
            metrics(), key=lambda each: (each.protocol, each.benchmark, each.form, each.name)
        )
        if each.benchmark
    ]


def test_the_declarations_are_those_that_were_reviewed():
    rows = [f" {json.dumps(row, ensure_ascii=False)}" for row in declarations()]
    text = "[\n" + ",\n".join(rows) + "\n]\n"
    if os.environ.get("KEJU_WRITE_METRICS"):
        FILE.write_text(text, "utf-8")
    reviewed = FILE.read_text("utf-8")
    changed = difflib.unified_diff(reviewed.splitlines(), text.splitlines(), FILE.name, n=0)
    assert reviewed == text, "\n".join(changed)


def test_every_metric_of_the_catalogue_is_declared_and_no_other():
    used = {
        metric_of(protocol, each.benchmark, query.form, name)
        for each in tasks()
        for query in each.queries
        for protocol in (*PROTOCOLS, "printed")
        for name in query.metrics(protocol)
    }
    assert used == set(metrics())


def test_a_metric_cannot_be_declared_twice():
    with pytest.raises(ValueError, match="CER"):
        declare("CER", "another", form="transcription", protocol="strict", prepare=RAW)(
            lambda reference, answer: 0.0
        )


def test_a_benchmarks_own_metric_comes_before_the_general_one():
    general = metric_of("strict", "MCS-Bench", "text", "BERTScore_floor")
    own = metric_of("strict", "OBI-Bench", "text", "BERTScore_floor")
    assert (general.benchmark, own.benchmark) == ("", "OBI-Bench")
    assert metric_of("strict", "MCS-Bench", "text", "nothing") is None
    assert general.over is MEAN
