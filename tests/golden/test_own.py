"""Our own golden cases hold, and would not if the official reading were changed in small ways."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import opencc
import pytest
from rapidfuzz.distance import LCSseq, Levenshtein

from keju import metrics
from keju.benchmarks.mcs_bench import metrics as official
from keju.benchmarks.mcs_bench import script
from keju.benchmarks.mcs_bench.script import official_clean
from keju.metrics import EditCounts
from keju.scoring.metric import keju_metrics
from keju.text import Pair, official_convert


@pytest.mark.parametrize("protocol", ["official", "strict"])
def test_every_value_is_the_golden_one(golden, protocol):
    assert golden.differences(protocol) == []


def test_every_golden_metric_is_still_computed(golden):
    for case in golden.cases:
        for protocol in ("official", "strict"):
            found = {score.metric for score in golden.scores(case, protocol)}
            assert set(case[protocol]) <= found


def test_every_verdict_is_the_golden_one(golden):
    for case in golden.cases:
        assert golden.scores(case, "strict")[0].verdict == case["verdict"], case["id"]


def exchange(monkeypatch, form: str, name: str, function: Callable[[str, str], float]) -> None:
    """Let the authors' metric of that form and name be another function."""
    for key, metric in keju_metrics().items():
        is_official = metric.protocol == "official" and metric.benchmark == official.BENCHMARK
        if is_official and (metric.form, metric.name) == (form, name):
            monkeypatch.setitem(keju_metrics(), key, replace(metric, function=function))


def exchange_rates(monkeypatch, form: str, rates: Callable[[str, str], metrics.PRF]) -> None:
    """Let precision, recall and F1 of a form be those of another function."""
    for name, part in (("Precision", "precision"), ("Recall", "recall"), ("F1", "f1")):
        exchange(monkeypatch, form, name, lambda *pair, part=part: getattr(rates(*pair), part))


def convert_before_clean(monkeypatch):
    def swapped(case):
        truth = official_clean(script.simplified_answer(case))
        return Pair(truth, official_clean(official_convert(case.text)))

    monkeypatch.setattr(script, "cleaned_pair", swapped)


def convert_before_clean_for_acc(monkeypatch):
    def swapped(case):
        return official_clean(official_convert(case.text))

    monkeypatch.setattr(script, "cleaned", swapped)


def opencc_for_zhconv(monkeypatch):
    monkeypatch.setattr(script, "official_convert", opencc.OpenCC("t2s").convert)


def subsequence_for_cr(monkeypatch):
    def counts(reference, hypothesis):
        hits = LCSseq.similarity(reference, hypothesis)
        return EditCounts(hits, 0, len(reference) - hits, len(hypothesis) - hits)

    monkeypatch.setattr(script, "official_edits", counts)


def editops_for_cr(monkeypatch):
    def counts(reference, hypothesis):
        tags = [step.tag for step in Levenshtein.editops(reference, hypothesis)]
        changed, gone, new = (tags.count(tag) for tag in ("replace", "delete", "insert"))
        return EditCounts(len(reference) - changed - gone, changed, gone, new)

    monkeypatch.setattr(script, "official_edits", counts)


def bags_for_sets(monkeypatch):
    def rates(reference, hypothesis):
        hits = (Counter(reference) & Counter(hypothesis)).total()
        return metrics.prf(hits, len(hypothesis), len(reference))

    exchange_rates(monkeypatch, "transcription", rates)


def method_4_for_method_1(monkeypatch):
    def bleu(reference, hypothesis):
        return metrics.sentence_bleu(reference, hypothesis, smoothing="method4")

    exchange(monkeypatch, "transcription", "BLEU", bleu)


def method_1_for_method_4(monkeypatch):
    def bleu(reference, hypothesis, *, smoothing="method1"):
        return metrics.sentence_bleu(reference, hypothesis, smoothing="method1")

    monkeypatch.setattr(script, "sentence_bleu", bleu)


def lists_for_sets_of_names(monkeypatch):
    def rates(reference, hypothesis):
        wanted, found = reference.split("、"), hypothesis.strip().split("、")
        hits = sum(name in wanted for name in set(found))
        return metrics.prf(hits, len(found), len(wanted))

    exchange_rates(monkeypatch, "entities", rates)


def marks_once_each(monkeypatch):
    def rates(reference, hypothesis):
        wanted, found = (
            {text[place - 1] + char for place, char in enumerate(text) if not char.isalnum()}
            for text in (reference, hypothesis)
        )
        return metrics.entities_prf(wanted, found)

    exchange_rates(monkeypatch, "punctuated", rates)


def no_wrap_at_the_first_mark(monkeypatch):
    unchanged = script.official_punctuation_prf

    def rates(reference, hypothesis):
        return unchanged(reference, hypothesis.lstrip("。，"))

    exchange_rates(monkeypatch, "punctuated", rates)


def ratio_of_difflib_for_the_distance(monkeypatch):
    def distance(reference, hypothesis):
        return 1 - difflib.SequenceMatcher(None, reference, hypothesis, autojunk=False).ratio()

    monkeypatch.setattr(official, "normalised_distance", distance)


MUTATIONS = [
    convert_before_clean,
    convert_before_clean_for_acc,
    opencc_for_zhconv,
    subsequence_for_cr,
    editops_for_cr,
    bags_for_sets,
    method_4_for_method_1,
    method_1_for_method_4,
    lists_for_sets_of_names,
    marks_once_each,
    no_wrap_at_the_first_mark,
    ratio_of_difflib_for_the_distance,
]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_a_mutation_of_the_official_protocol_is_seen(golden, monkeypatch, mutate):
    mutate(monkeypatch)
    assert golden.differences("official")
