"""The glossary defines every metric that the page shows, and no other, in both languages."""

from __future__ import annotations

import re

import pytest
from lxml import html

from keju.analysis.labels import metric_definition, metric_of_task
from keju.analysis.run_set import load_runs
from keju.definitions import tasks
from keju.reporting.glossary import glossary
from keju.reporting.page import write_report
from keju.scoring import PROTOCOLS
from keju.text import LAYERS
from keju.words import Words

ZH = Words("zh")
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_metric_of_every_task_is_defined_in_both_languages(protocol):
    metrics = [
        (task.id, query.name, protocol, metric)
        for task in tasks()
        for query in task.queries
        for metric in getattr(query, protocol)
    ]
    assert len(metrics) > 50
    for where in metrics:
        for sentence in (metric_definition(*where), metric_of_task(*where).over.rule):
            assert len(sentence) > 8, where
            assert HAN.search(ZH(sentence)), (
                f"{where}: write the Chinese of {sentence!r} (rule_zh, or keju.po)"
            )


def test_every_term_and_layer_is_defined_in_both_languages(scored_run):
    words = glossary(load_runs([scored_run]).results)
    assert len(words.layers) == len(LAYERS)
    assert {"protocol", "official", "strict", "group", "interval", "floor"} <= set(words.terms)
    for term in [*words.terms.values(), *words.layers.values()]:
        assert HAN.search(ZH(term.meaning)), term


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_defines_exactly_the_metrics_that_it_shows(scored_run, tmp_path, language):
    page = tmp_path / "report.html"
    shown = write_report([scored_run], page, language=language).view.metrics
    expected = {row.metric.removesuffix(" ↓") for row in shown}
    tree = html.fromstring(page.read_text("utf-8"))
    listed = tree.xpath("//dl[@id='metrics']/dt/text()")
    assert {"CharAcc", "CER", "CER_recognition", "Acc"} <= expected
    assert sorted(listed) == sorted(expected)
    assert len(tree.xpath("//dl[@id='metrics']/dd")) >= len(expected)


def test_every_metric_in_a_table_is_defined_on_hover(scored_run, tmp_path):
    page = tmp_path / "report.html"
    shown = write_report([scored_run], page, published=True).view.metrics
    tree = html.fromstring(page.read_text("utf-8"))
    hover = {each.text: each.get("title") for each in tree.xpath("//td/abbr")}
    assert {row.metric for row in shown} <= set(hover)
    assert hover["CharAcc"].startswith("character accuracy")
    heads = {each.text: each.get("title") for each in tree.xpath("//th//abbr")}
    assert {"official", "strict", "rank", "CER", "recognition error", "layout error"} <= set(heads)
    assert heads["recognition error"] == metric_definition("T1", "", "strict", "CER_recognition")
    assert heads["script folded"].startswith("The CER after replacing traditional")


def test_one_metric_of_two_kinds_of_task_has_a_definition_for_each(scored_run):
    shown = glossary(load_runs([scored_run]).results)
    senses = shown.metrics["F1"]
    assert {(each.protocol, each.tasks) for each in senses} == {
        ("strict", ("T1",)),
        ("official", ("T1",)),
    }
    assert len({each.definition for each in senses}) == 2
    assert shown.of("strict", "T1", "CER ↓") == metric_definition("T1", "", "strict", "CER")
    assert shown.of("strict", "T2", "CER ↓") == ""
    assert shown.head("strict") == shown.terms["strict"].meaning
    assert shown.head("strict: CharAcc") == metric_definition("T1", "", "strict", "CharAcc")
