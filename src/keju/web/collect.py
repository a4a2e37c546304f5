"""The exam's answers enter the run, as the responses of ``human:NAME``."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keju.items import Response
from keju.running import ResponseStore, request_key
from keju.runs import HUMAN, RunFolder
from keju.web.acts import Acts
from keju.web.exam import WARM_UP, Exam, given_by


def identity_of(person: str) -> dict[str, str]:
    """What a run's manifest says of a person, and what is part of every key."""
    return {"kind": "human", "name": person}


def responses_of(acts: Acts, exam: Exam) -> dict[str, list[Response]]:
    """What stands of everybody's answers, by person, in the exam's order."""
    places = {subject: place for place, subject in enumerate(exam.subjects(""))}
    found: dict[str, list[tuple[int, Response]]] = {}
    for (person, subject), act in acts.standing(exam.name).items():
        given = given_by(act)
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
            round=request.round,
            candidate=request.candidate,
            box_convention=request.box_convention,
            text=given.text,
            seconds=act.seconds,
        )
        found.setdefault(person, []).append((places[subject], response))
    return {
        person: [response for _, response in sorted(rows, key=lambda row: row[0])]
        for person, rows in found.items()
    }


def enter(folder: RunFolder, answers: dict[str, list[Response]], known: Sequence[str]) -> int:
    """Make the run hold these answers of these people and nothing else of theirs.

    Args:
        folder: a run that was begun.
        answers: what stands, by person.
        known: everybody of whom an answer may have been entered before.

    Returns:
        The number of answers.

    Raises:
        UsageError: another process is writing to this run.
        DataError: a stored line is damaged, or the disk is full.
    """
    with ResponseStore(folder) as store:
        manifest = folder.manifest()
        people = [person for person in known if person in answers]
        models = {
            name: identity
            for name, identity in manifest.models.items()
            if name.removeprefix(HUMAN) not in known or not name.startswith(HUMAN)
        }
        models |= {f"{HUMAN}{person}": identity_of(person) for person in people}
        folder.write_manifest(replace(manifest, models=models))
        for person in known:
            store.replace(f"{HUMAN}{person}", answers.get(person, []))
    return sum(map(len, answers.values()))
