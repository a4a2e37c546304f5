"""Transfer of the exam's answers into the run, as the responses of ``human:NAME``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from keju.annotation.events import EventLog
from keju.annotation.exam import WARM_UP, Exam, given_by
from keju.items import Response
from keju.running import ResponseStore, request_key
from keju.runs import HUMAN, RunFolder


def identity_of(person: str) -> dict[str, str]:
    """The identity of a person in a run's manifest, which is part of every cache key."""
    return {"kind": "human", "name": person}


def responses_of(events: EventLog, exam: Exam, person: str) -> list[Response]:
    """A person's current answers, in the exam's order."""
    places = {subject: place for place, subject in enumerate(exam.subjects(person))}
    found: list[tuple[int, Response]] = []
    for (_, subject), event in events.progress(exam.name, person).items():
        given = given_by(event)
        if given is None or subject not in places or subject.startswith(WARM_UP):
            continue
        _, request = exam.request(subject)
        response = Response(
            key=request_key(request, identity_of(person)),
            item=request.item,
            model=f"{HUMAN}{person}",
            benchmark=request.benchmark,
            task=request.task,
            status="answered" if given.text else "empty",
            query=request.query,
            setting=request.setting,
            script=request.script,
            wording=request.wording,
            round=request.round,
            candidate=request.candidate,
            box_convention=request.box_convention,
            text=given.text,
            seconds=event.seconds,
        )
        found.append((places[subject], response))
    return [response for _, response in sorted(found, key=lambda row: row[0])]


def enter(folder: RunFolder, answers: Mapping[str, Sequence[Response]]) -> None:
    """Replace all answers of these people in the run with the given ones.

    Args:
        folder: a run with a manifest.
        answers: the current answers by person; a person with an empty list has no answers
            afterwards.

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
                models[f"{HUMAN}{person}"] = identity_of(person)
        folder.write_manifest(replace(manifest, models=models))
        for person, responses in answers.items():
            store.replace(f"{HUMAN}{person}", responses)
