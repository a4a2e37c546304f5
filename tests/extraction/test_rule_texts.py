"""Every rule of the reader has a sentence for people, in both languages."""

import json

import pytest

from keju.extraction import read
from keju.extraction.rules import RULES, explain_origin
from keju.texts import in_language
from tests.support.readings import BANKS, DEVELOPMENT, STRESS


def test_every_rule_that_read_an_opened_bank_has_a_sentence():
    for name in (*DEVELOPMENT, *STRESS):
        for line in (BANKS / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            reading = read(row["form"], row["response"], row.get("question", ""))
            assert reading.rule in RULES


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_has_chinese(rule):
    chinese = in_language("zh", explain_origin(f"{rule}: “玄黄”"))
    assert chinese.endswith("：“玄黄”")
    assert not set(chinese) & set("abcdefghijklmnopqrstuvwxyz")


def test_another_origin_stays_as_it_is():
    assert explain_origin("answers to 5 pairs") == "answers to 5 pairs"
