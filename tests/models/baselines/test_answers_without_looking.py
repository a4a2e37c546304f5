from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from keju.errors import UsageError
from keju.items import AnswerForm, ImageRef, Item, Request
from keju.models import DatasetAccess, Model, ModelOptions, open_model


def request(
    item: str = "x", form: AnswerForm = "letter", *, task: str = "T5", **fields: object
) -> Request:
    return Request(item=item, benchmark="MCS-Bench", task=task, form=form, prompt="?", **fields)


def labelled(name: str, answer: str) -> Item:
    return Item(id=name, benchmark="MCS-Bench", task="T5", answer=answer, split="reference")


def answer(model: Model, asked: Request) -> str:
    assert model.unsupported_reason(asked) == ""
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
        model.unsupported_reason(request(form="text"))
        == "chance answers only letters, yes or no, and probabilities"
    )
    assert model.unsupported_reason(request(form="letter")) == "no letters on offer to guess from"


def test_majority_declines_without_a_reference_split_for_the_task():
    model = open_model(
        "baseline:majority", ModelOptions(), DatasetAccess(reference=(labelled("r", "A"),))
    )
    why = "the dataset has no reference split for this task; make one with: keju build split"
    assert model.unsupported_reason(request(task="T7")) == why
    assert open_model("baseline:majority", ModelOptions()).unsupported_reason(request()) == why


def test_chance_draws_probabilities_evenly():
    model = open_model("baseline:chance", ModelOptions())
    drawn = [float(answer(model, request(f"i{n}", form="probability"))) for n in range(400)]
    assert len(set(drawn)) > 390
    # Four standard errors of the mean of 400 uniform draws.
    assert abs(sum(drawn) / 400 - 0.5) < 4 * (1 / 12 / 400) ** 0.5


def test_candidates_of_one_item_are_drawn_apart():
    model = open_model("baseline:chance", ModelOptions())
    asked = [request("q", form="probability", candidate=place) for place in range(1, 20)]
    assert len({answer(model, each) for each in asked}) == 19


@pytest.mark.parametrize(
    ("form", "said", "expected"),
    [("letter", ["B", "C", "A", "C", "B"], "B"), ("yes-no", ["no", "yes", "no"], "no"),
     ("number", ["3", "12", "12"], "12"), ("short", ["漢", "唐", "漢"], "漢")],
)  # fmt: skip
def test_majority_gives_the_commonest_and_of_equals_the_first(
    form: AnswerForm, said: list[str], expected: str
):
    reference = tuple(labelled(f"r{n}", a) for n, a in enumerate(said))
    model = open_model("baseline:majority", ModelOptions(), DatasetAccess(reference=reference))
    assert answer(model, request(form=form)) == expected


def test_majority_passes_over_letters_that_are_not_on_offer():
    reference = tuple(labelled(f"r{n}", a) for n, a in enumerate("EEEB"))
    model = open_model("baseline:majority", ModelOptions(), DatasetAccess(reference=reference))
    assert answer(model, request(choices=("A", "B", "C", "D"))) == "B"
    assert model.unsupported_reason(request(choices=("A",)))


def gallery(name: str, relevant: tuple[int, ...], candidates: int) -> Item:
    picture = ImageRef(path="x.png", sha256="0" * 64, width=1, height=1, size=1)
    return Item(
        id=name, benchmark="MCS-Bench", task="T5", images=(picture,) * (candidates + 1),
        relevant=relevant, split="reference",
    )  # fmt: skip


def test_majority_of_pairs_is_the_share_that_belongs_together():
    few = DatasetAccess(reference=(gallery("a", (1,), 4), gallery("b", (2, 3), 4)))
    model = open_model("baseline:majority", ModelOptions(), few)
    assert answer(model, request(form="yes-no", candidate=1)) == "No"
    assert answer(model, request(form="probability", candidate=3)) == "0.375000"
    many = open_model(
        "baseline:majority", ModelOptions(), DatasetAccess(reference=(gallery("a", (1, 2), 3),))
    )
    assert answer(many, request(form="yes-no", candidate=1)) == "Yes"
    assert many.identity != model.identity


@pytest.mark.parametrize("form", ["text", "transcription", "boxes", "entities"])
def test_running_text_and_lists_have_no_majority(form: AnswerForm):
    model = open_model(
        "baseline:majority", ModelOptions(), DatasetAccess(reference=(labelled("r", "A"),))
    )
    assert model.unsupported_reason(request(form=form)) == "answers of this form have no majority"


def test_an_unknown_baseline_is_named():
    with pytest.raises(
        UsageError, match=r"no model 'baseline:luck'\. .*: baseline:copy, baseline:chance"
    ):
        open_model("baseline:luck", ModelOptions())
