"""`RunStager`: writes the files of a run to a folder, without secrets and local paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec.structs import replace

from keju.bundles.cleaning import Cleaner
from keju.bundles.manifest import (
    DECISIONS,
    READINGS,
    RUN,
    RUN_MANIFEST,
    responses_folder,
    scores_member,
)
from keju.errors import UsageError, shortened
from keju.files import read_json, read_jsonl_lines, write_json
from keju.items import Response
from keju.judging.answers import ID_FIELDS
from keju.judging.grades import grade_in
from keju.judging.probes import PROBE
from keju.judging.store import JudgementFolder, stored_rubrics
from keju.runs import RunFolder, RunManifest, file_name, read_responses
from keju.scoring import NO_DECISIONS, Decisions, answer_code, read_fingerprint
from keju.scoring.stored import (
    decisions_path,
    fingerprint_of,
    read_frames,
    scores_path,
    write_frames,
)


class StagedModel(NamedTuple):
    """The numbers of a model's staged responses and scores, and the version of keju that scored."""

    responses: int
    scores: int
    scored_by: str


class RunStager:
    """Writes the files of a run to a folder, without secrets and local paths.

    Args:
        run: the run, which is scored.
        folder: the folder, new or empty; the files are in `folder`/run.
        cleaner: removes secrets and paths.
        groups: the number of each group, which replaces its name in the scores.
    """

    def __init__(
        self, run: RunFolder, folder: Path, cleaner: Cleaner, groups: Mapping[str, str]
    ) -> None:
        self._run, self._folder, self._cleaner = run, folder, cleaner
        self._groups = groups
        self._stored = run.manifest()
        self.names = cleaner.names_of([*self._stored.models, *self._stored.roles])
        path = decisions_path(run)
        self._decisions = read_json(path, Decisions) if path.is_file() else NO_DECISIONS
        self._codes: dict[str, str] = {}

    def stage_manifest(self) -> RunManifest:
        """Write run.json; returns it."""
        cleaned = self._cleaner.clean_manifest(self._stored, self.names)
        path = self._folder / RUN_MANIFEST
        write_json(path, cleaned)
        check_clean(self._cleaner, path.read_bytes(), "run.json")
        return cleaned

    def stage_model(self, model: str) -> StagedModel:
        """Write the responses and scores of a model, under its name in the bundle."""
        name = self.names[model]
        folder = self._folder / responses_folder(name)
        files = self._run.response_files(model)
        for path in files:
            self._stage_lines(path, folder / path.name)
        count = sum(1 for path in files for _ in read_responses(folder / path.name))
        scores, path = 0, scores_path(self._run, model)
        if path.is_file():
            target = self._folder / scores_member(name)
            scores = self._stage_scores(path, target, name)
        fingerprint = read_fingerprint(path) if scores else None
        return StagedModel(count, scores, fingerprint.keju if fingerprint else "")

    def stage_decisions(self) -> None:
        """Write the decisions of the scores; a response with another name has another code."""
        if not self._decisions.sources:
            return
        decided = (
            replace(decision, code=self._codes.get(code, code))
            for code, decision in self._decisions.by_code.items()
        )
        path = self._folder / DECISIONS
        by_code = {decision.code: decision for decision in decided}
        write_json(path, replace(self._decisions, by_code=by_code))
        check_clean(self._cleaner, path.read_bytes(), path.name)

    def stage_readings(self) -> None:
        """Write the transcriptions that models and engines made before they answered."""
        for path in self._run.reading_files():
            first = next(read_responses(path), None)
            if first is not None:
                name = (
                    self.names.get(first.model)
                    or self._cleaner.names_of([first.model])[first.model]
                )
                self.names[first.model] = name
                self._stage_lines(path, self._folder / READINGS / f"{file_name(name)}.jsonl")

    def _stage_lines(self, source: Path, target: Path) -> None:
        """Write the lines of a file of responses."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            for response, line in read_jsonl_lines(source, Response, appended=True):
                kept = self._cleaner.clean_response(response, self.names)
                if kept is not response:
                    if self._decisions.by_code:
                        self._codes[answer_code(response)] = answer_code(kept)
                    line = msgspec.json.encode(kept) + b"\n"  # noqa: PLW2901 - as it is stored
                check_clean(self._cleaner, line, f"{source.name}, {shortened(response.item)}")
                file.write(line)

    def _stage_scores(self, source: Path, target: Path, name: str) -> int:
        target.parent.mkdir(parents=True, exist_ok=True)
        fingerprint = read_fingerprint(source)
        if fingerprint is not None:
            staged = fingerprint_of(RunFolder(self._folder / RUN), name)
            fingerprint = replace(fingerprint, files=staged.files)
        write_frames(target, self._renamed(source, name), fingerprint)
        return sum(map(len, read_frames(source)))

    def _renamed(self, source: Path, name: str) -> Iterator[pl.DataFrame]:
        old, new = list(self._groups), list(self._groups.values())
        reasons: set[str] = set()
        for frame in read_frames(source):
            for reason, item in frame.unique("reason").select("reason", "item").iter_rows():
                if reason not in reasons:
                    check_clean(self._cleaner, reason.encode(), f"{source.name}, {item}")
                    reasons.add(reason)
            group = pl.col("group").replace_strict(old, new, return_dtype=pl.String)
            yield frame.with_columns(group, model=pl.lit(name))


class StoredGrade(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A judge's grade of an answer, without the judge's words, which may quote the reference.

    `grade` is None where the judge's reply has no grade or the call failed; `status` is that of the
    call.
    """

    judge: str
    rubrics: str
    model: str
    item: str
    task: str
    query: str = ""
    setting: str = "image"
    script: str = "released"
    wording: str = "released"
    round: int = 1
    repeat: int = 1
    grade: float | None
    status: str = "answered"


def stored_grades(run: RunFolder, names: Mapping[str, str]) -> Iterator[StoredGrade]:
    """The grades of a run by all judges and rubrics; probes of judges are not among them."""
    for rubrics in stored_rubrics(run):
        folder = JudgementFolder(run, rubrics)
        for judge in folder.judges():
            for reply in folder.responses(judge):
                answer = dict(zip(ID_FIELDS, msgspec.json.decode(reply.item), strict=True))
                model = answer.pop("model")
                if not model.startswith(PROBE):
                    yield StoredGrade(
                        judge=judge, rubrics=rubrics.id, model=names.get(model, model), **answer,
                        repeat=reply.round, grade=grade_in(reply).value, status=reply.status,
                    )  # fmt: skip


def check_clean(cleaner: Cleaner, data: bytes, place: str) -> None:
    """Check that data has no secret and no local path.

    Raises:
        UsageError: the data contain one; the message names the place, not the value.
    """
    match cleaner.find(data):
        case "secret":
            raise UsageError(
                "{}: contains the value of an environment variable that looks like a key. If the "
                "value is not secret, unset the variable. If it is secret, remove this response, "
                "run its item again, and score the run again",
                place,
            )
        case "path":
            raise UsageError(
                "{}: contains the path of a folder of this machine, which must not be in a "
                "bundle. keju does not change responses: remove this response, run its item "
                "again, and score the run again",
                place,
            )
