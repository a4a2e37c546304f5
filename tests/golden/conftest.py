"""Golden cases of our own, kept as data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from keju.definitions import task
from keju.items import Item, Response
from keju.scoring import score_answer
from tests.conftest import restored_definitions


class Golden:
    """Cases with the values that a verified implementation gave."""

    def __init__(self) -> None:
        self.cases = json.loads(Path(__file__).with_name("own.json").read_text("utf-8"))

    def differences(self, protocol):
        """(case, metric, expected, found) wherever a value is not the golden one."""
        return [
            (case["id"], score.metric, case[protocol][score.metric], score.value)
            for case in self.cases
            for score in self.scores(case, protocol)
            if score.metric in case[protocol] and score.value != case[protocol][score.metric]
        ]

    @staticmethod
    def scores(case, protocol):
        item = Item(
            id=case["id"],
            benchmark=task(case["task"]).benchmark,
            task=case["task"],
            answer_simplified=case["answer_simplified"],
            question=case.get("question", ""),
            verbatim="question" in case,
        )
        response = Response(
            key=case["id"],
            item=case["id"],
            model="golden",
            benchmark=item.benchmark,
            task=item.task,
            status="answered" if case["response"].strip() else "empty",
            text=case["response"],
        )
        return score_answer(item, response, (protocol,))


@pytest.fixture(scope="session")
def golden() -> Golden:
    """Our own golden cases: ``tests/golden/own.json``."""
    return Golden()


@pytest.fixture(scope="module", autouse=True)
def definitions_of_the_module() -> Iterator[None]:
    """Definitions that a module's runs and datasets register are removed after it."""
    with restored_definitions():
        yield
