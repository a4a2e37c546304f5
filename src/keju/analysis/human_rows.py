"""People in a report: a row for each, and one for all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from keju.analysis.asked_items import Answer, AskedItem
from keju.analysis.run_set import PEOPLE, ModelResponses, RunSet


def with_people(run_set: RunSet) -> RunSet:
    """The same data, with a voice of all people where there are at least two.

    That voice, ``people (n)``, has every answer of each of the n; answers to the same item count as
    its rounds.
    """
    by_model = {
        name: model_responses
        for name, model_responses in run_set.by_model.items()
        if model_responses.role == PEOPLE
    }
    if len(by_model) < 2:
        return run_set
    everybody = f"people ({len(by_model)})"
    return replace(
        run_set,
        by_model={**run_set.by_model, everybody: _joint(everybody, list(by_model.values()))},
        asked=[_add_people(each, everybody, by_model) for each in run_set.asked],
    )


def _joint(name: str, by_model: Sequence[ModelResponses]) -> ModelResponses:
    first = by_model[0]
    benchmarks = dict.fromkeys(
        benchmark for model_responses in by_model for benchmark in model_responses.parts
    )
    return ModelResponses(
        name,
        first.run,
        first.variant,
        PEOPLE,
        items=sum(model_responses.items for model_responses in by_model),
        responses=sum(model_responses.responses for model_responses in by_model),
        seconds=sum(model_responses.seconds for model_responses in by_model),
        times=[seconds for model_responses in by_model for seconds in model_responses.times],
        statuses=sum((model_responses.statuses for model_responses in by_model), Counter[str]()),
        parts={
            benchmark: _joint(
                name,
                [
                    model_responses.parts[benchmark]
                    for model_responses in by_model
                    if benchmark in model_responses.parts
                ],
            )
            for benchmark in benchmarks
        },
    )


def _add_people(asked: AskedItem, everybody: str, by_model: dict[str, ModelResponses]) -> AskedItem:
    """The item with a copy of every person's answer, in the name of all people."""
    theirs = [answer for answer in asked.answers if answer.model in by_model]
    again = [
        Answer(
            everybody,
            answer.response,
            [replace(score, model=everybody, round=number) for score in answer.scores],
        )
        for number, answer in enumerate(theirs, start=1)
    ]
    return asked._replace(answers=[*asked.answers, *again])
