"""`keju weights`: the published weights that metrics and engines need."""

from __future__ import annotations

import json

from keju.encoders.weights import ENCODERS, known_weights
from keju.scoring.metric import keju_metrics
from tests.support.commanding import keju


def test_every_encoder_of_a_metric_is_listed():
    used = {metric.encoder for metric in keju_metrics().values() if metric.encoder}
    assert used <= ENCODERS.keys()


def test_every_value_has_a_source_and_every_hash_is_complete():
    for each in known_weights():
        assert each.source
        assert len(each.revision) in {0, 40} or each.name == "ppocr"
        for sha256 in each.files.values():
            assert len(bytes.fromhex(sha256)) == 32


def test_the_command_lists_sources_hashes_and_what_is_unknown():
    done = keju("weights")
    assert done.returncode == 0, done.stderr
    assert "bert-base-chinese: google-bert/bert-base-chinese" in done.stdout
    assert "metrics: BERTScore_floor, BERTScore_zhang, BS-F1" in done.stdout
    assert "SHA-256: unknown" in done.stdout
    listed = json.loads(keju("weights", "--json").stdout)
    assert [each["name"] for each in listed] == [each.name for each in known_weights()]
    assert "BERTScore" in listed[0]["metrics"]
