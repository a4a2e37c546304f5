from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from keju.errors import UsageError
from keju.items import AnswerForm, Item, Request
from keju.models import Model, ModelOptions, open_model


def request(
    item: str = "x", form: AnswerForm = "letter", *, task: str = "T5", **fields: object
) -> Request:
    return Request(item=item, benchmark="MCS-Bench", task=task, form=form, prompt="?", **fields)


def labelled(name: str, answer: str) -> Item:
    return Item(id=name, benchmark="MCS-Bench", task="T5", answer=answer, split="reference")


def answer(model: Model, asked: Request) -> str:
    assert model.declines(asked) == ""
    return asyncio.run(model.answer(asked, ())).text


def test_copy_gives_back_the_source_or_else_the_prompt():
    model = open_model("baseline:copy", ModelOptions())
    assert answer(model, request(form="text")) == "?"
    assert answer(model, request(form="text", source="天地玄黃")) == "天地玄黃"


def test_chance_is_the_same_again_and_uniform_over_items():
    model = open_model("baseline:chance", ModelOptions(seed=3))
    again = open_model("baseline:chance", ModelOptions(seed=3))
    asked = [request(f"i{n}", choices=("A", "B", "C", "D")) for n in range(2000)]
    letters = [answer(model, each) for each in asked]
    assert letters == [answer(again, each) for each in asked]
    counts = Counter(letters)
    assert set(counts) == set("ABCD")
    # Four standard deviations of a binomial with n = 2000, p = 1/4.
    assert all(abs(count - 500) < 78 for count in counts.values())


def test_chance_follows_its_seed_and_the_round():
    asked = [request(f"i{n}", choices=("A", "B", "C", "D")) for n in range(50)]
    first = open_model("baseline:chance", ModelOptions(seed=1))
    other = open_model("baseline:chance", ModelOptions(seed=2))
    assert [answer(first, each) for each in asked] != [answer(other, each) for each in asked]
    second = [request(f"i{n}", choices=("A", "B", "C", "D"), round=2) for n in range(50)]
    assert [answer(first, each) for each in asked] != [answer(first, each) for each in second]
    assert first.identity != other.identity


def test_chance_says_yes_or_no():
    model = open_model("baseline:chance", ModelOptions())
    said = {answer(model, request(f"i{n}", form="yes-no")) for n in range(50)}
    assert said == {"Yes", "No"}


def test_chance_declines_what_has_no_closed_set_of_answers():
    model = open_model("baseline:chance", ModelOptions())
    assert (
        model.declines(request(form="text"))
        == "chance answers letters, yes-no and probabilities, not text"
    )
    assert model.declines(request(form="letter")) == "no letters on offer to guess from"


def test_majority_gives_the_commonest_and_of_equals_the_first():
    reference = [labelled(f"r{n}", a) for n, a in enumerate("BCACB")]
    model = open_model("baseline:majority", ModelOptions(reference=tuple(reference)))
    assert answer(model, request()) == "B"


def test_majority_declines_without_a_reference_split_for_the_task():
    model = open_model("baseline:majority", ModelOptions(reference=(labelled("r", "A"),)))
    why = "the dataset has no reference split for this task"
    assert model.declines(request(task="T7")) == why
    assert open_model("baseline:majority", ModelOptions()).declines(request()) == why


def test_an_unknown_baseline_is_named():
    with pytest.raises(UsageError, match=r"no baseline 'luck'\. Baselines: copy, chance, majority"):
        open_model("baseline:luck", ModelOptions())
