"""People in a report: a row for each, and one for all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from keju.analysis.run_set import PEOPLE, Answer, Asked, ModelResponses, RunSet

NOTE = (
    "The row of all people takes every answer of each; its interval says what other books and "
    "plates would change, not what other people would"
)


def with_people(gathered: RunSet) -> RunSet:
    """The same data, with a voice of all people where there are at least two.

    That voice, ``people (n)``, has every answer of each of the n; answers to the same item count as
    its rounds.
    """
    voices = {name: voice for name, voice in gathered.voices.items() if voice.role == PEOPLE}
    if len(voices) < 2:
        return gathered
    everybody = f"people ({len(voices)})"
    return replace(
        gathered,
        voices={**gathered.voices, everybody: _joint(everybody, list(voices.values()))},
        asked={key: _joined(each, everybody, voices) for key, each in gathered.asked.items()},
    )


def _joint(name: str, voices: Sequence[ModelResponses]) -> ModelResponses:
    first = voices[0]
    benchmarks = dict.fromkeys(benchmark for voice in voices for benchmark in voice.parts)
    return ModelResponses(
        name,
        first.run,
        first.variant,
        PEOPLE,
        items=sum(voice.items for voice in voices),
        responses=sum(voice.responses for voice in voices),
        seconds=sum(voice.seconds for voice in voices),
        times=[seconds for voice in voices for seconds in voice.times],
        statuses=sum((voice.statuses for voice in voices), Counter[str]()),
        parts={
            benchmark: _joint(
                name, [voice.parts[benchmark] for voice in voices if benchmark in voice.parts]
            )
            for benchmark in benchmarks
        },
    )


def _joined(asked: Asked, everybody: str, voices: dict[str, ModelResponses]) -> Asked:
    """The item with a copy of every person's answer, in the name of all people."""
    theirs = [answer for answer in asked.answers if answer.model in voices]
    again = [
        Answer(
            everybody,
            answer.response,
            [replace(score, model=everybody, round=number) for score in answer.scores],
        )
        for number, answer in enumerate(theirs, start=1)
    ]
    return asked._replace(answers=[*asked.answers, *again])
