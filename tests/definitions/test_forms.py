"""Question forms by name."""

from __future__ import annotations

import pytest

from keju.definitions import check_question_form, question_forms_of, takes_question
from keju.errors import UsageError
from keju.items import Item


def obi(name: str, query: str, task: str = "recognition") -> Item:
    return Item(id=name, benchmark="OBI-Bench", task=task, query=query)


ITEMS = [obi("a", "How"), obi("b", "Where"), obi("c", "What", "deciphering")]


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (None, "abc"),
        (["recognition"], "ab"),
        (["recognition/Where"], "b"),
        (["recognition/Where", "deciphering"], "bc"),
        (["deciphering/How"], ""),
    ],
)
def test_a_form_takes_its_own_questions(names: list[str] | None, taken: str):
    assert (
        "".join(item.id for item in ITEMS if takes_question(names, item.task, item.query)) == taken
    )


def test_a_form_that_does_not_exist_names_those_that_do():
    with pytest.raises(UsageError, match=r"recognition/What, recognition/Yes-or-No.*Where"):
        check_question_form("recognition/Wher")
    with pytest.raises(UsageError, match="Choose from: T1"):
        check_question_form("T1/How")
    with pytest.raises(UsageError, match="recogniton"):
        check_question_form("recogniton/Where")


def test_the_forms_of_items_are_listed():
    assert question_forms_of([*ITEMS, Item(id="d", benchmark="MCS-Bench", task="T1")]) == [
        "T1",
        "deciphering",
        "deciphering/What",
        "recognition",
        "recognition/How",
        "recognition/Where",
    ]
