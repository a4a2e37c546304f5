"""Scores of a bundle beside those that follow from its responses."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from keju.bundles import score_comparison
from keju.bundles.score_comparison import ScoresToCompare, compare_scores
from keju.bundles.verification import Findings
from keju.items import Protocol, Score


@pytest.mark.parametrize("protocol", get_args(Protocol))
def test_without_zhconv_all_values_but_those_of_strict_cannot_be_verified(monkeypatch, protocol):
    monkeypatch.setattr(score_comparison, "find_spec", lambda _name: None)
    stored = Score(key="k", item="i", model="m", benchmark="MCS-Bench", task="T7", group="i",
                   protocol=protocol, metric="Acc", value=1.0)  # fmt: skip
    stopped = replace(stored, value=None, reason="the authors' script stops here")
    for score in (stored, stopped):
        findings = Findings()
        scores = ScoresToCompare("scores/m.parquet", same_program=True, groups={"i": "i"})
        computed = replace(score, value=None, reason="needs zhconv")
        compare_scores(scores, [score], [computed], findings)
        assert bool(findings.differences) == (protocol == "strict")
        assert bool(findings.not_verified) == (protocol != "strict")
