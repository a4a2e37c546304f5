"""Export of the exam's answers to the run, as responses of the models ``human:NAME``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from keju.annotation.events import EventLog
from keju.annotation.exam import WARM_UP, Exam, decode_answer
from keju.items import Response
from keju.running import ResponseStore, request_key
from keju.runs import HUMAN, RunFolder


def make_identity(person: str) -> dict[str, str]:
    """The identity of a person in a run's manifest, which is part of every cache key."""
    return {"kind": "human", "name": person}


def list_responses(events: EventLog, exam: Exam, person: str) -> list[Response]:
    """A person's current answers, in the exam's order."""
    places = {subject: place for place, subject in enumerate(exam.list_subjects(person))}
    found: list[tuple[int, Response]] = []
    for (_, subject), event in events.find_latest(exam.name, person).items():
        answer = decode_answer(event)
        if answer is None or subject not in places or subject.startswith(WARM_UP):
            continue
        _, request = exam.request(subject)
        response = Response(
            key=request_key(request, make_identity(person)),
            item=request.item,
            model=f"{HUMAN}{person}",
            benchmark=request.benchmark,
            task=request.task,
            status="answered" if answer.text else "empty",
            query=request.query,
            setting=request.setting,
            script=request.script,
            wording=request.wording,
            round=request.round,
            candidate=request.candidate,
            box_convention=request.box_convention,
            text=answer.text,
            seconds=event.seconds,
        )
        found.append((places[subject], response))
    return [response for _, response in sorted(found, key=lambda row: row[0])]


def replace_answers(folder: RunFolder, answers: Mapping[str, Sequence[Response]]) -> None:
    """Replace all answers of the given people in a run.

    Args:
        folder: a run with a manifest.
        answers: the current answers by person; an empty list removes the person from the run.

    Raises:
        UsageError: another process is writing to this run.
        DataError: a stored line is damaged, or the disk is full.
    """
    with ResponseStore(folder) as store:
        manifest = folder.manifest()
        models = dict(manifest.models)
        for person, responses in answers.items():
            models.pop(f"{HUMAN}{person}", None)
            if responses:
                models[f"{HUMAN}{person}"] = make_identity(person)
        folder.write_manifest(replace(manifest, models=models))
        for person, responses in answers.items():
            store.replace(f"{HUMAN}{person}", responses)
