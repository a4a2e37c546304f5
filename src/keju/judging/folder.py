"""The directory of judges' responses, beside a run's responses and appended in the same way.

::

    RUN/judgements/  judges.json                                the judges and their decoding
                     rubrics-<id>.json                          the rubrics of their prompts
                     <judge>/<id>/<task>.jsonl                  responses, each a `Response`
                     judges.lock

In such a response the item is the spelled id of an answer (`AnswerId`), the model is the judge, the
round is the number of the repeat, and the query is the name of a probe, or empty.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import field

from keju import __version__
from keju.errors import UsageError
from keju.files import read_json, sha256_bytes, write_json
from keju.items import Record
from keju.judging.rubrics import Rubrics
from keju.models import Model
from keju.runs import RunFolder, path_of_name

FORMAT = "keju-judgements-1"


class JudgesManifest(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of judges.json: each judge's identity, by name."""

    format: str = FORMAT
    keju: str = __version__
    judges: dict[str, dict[str, str]] = field(default_factory=dict)


def stored_rubrics(run: RunFolder) -> list[Rubrics]:
    """The rubrics by which a run has been judged, as they were then.

    Raises:
        DataError: a file of them is damaged.
    """
    paths = sorted((run.path / "judgements").glob("rubrics-*.json"))
    return [read_json(path, Rubrics) for path in paths]


class JudgementFolder(RunFolder):
    """The judgements of one run by one set of rubrics, in the layout of a response store."""

    def __init__(self, run: RunFolder, rubrics: Rubrics) -> None:
        super().__init__(run.path / "judgements")
        self.manifest_path = self.path / "judges.json"
        self.lock_path = self.path / "judges.lock"
        self.run = run
        self.rubrics = rubrics

    def responses_path(self, model: str, task: str) -> Path:
        """The file of one judge's responses about one task."""
        return path_of_name(path_of_name(self.path, model) / self.rubrics.id, task, ".jsonl")

    def response_files(self, model: str | None = None) -> list[Path]:
        """The files of responses under these rubrics, all or one judge's."""
        folder = path_of_name(self.path, model).name if model else "*"
        return sorted(self.path.glob(f"{folder}/{self.rubrics.id}/*.jsonl"))

    def judges(self) -> dict[str, dict[str, str]]:
        """All judges of this run, under any rubrics: the identity of each, by name."""
        if not self.exists():
            return {}
        return read_json(self.manifest_path, JudgesManifest).judges

    def admit(self, judges: list[Model]) -> None:
        """Record the judges and the rubrics.

        Raises:
            UsageError: one of them judged here before with other decoding parameters.
        """
        earlier = self.judges()
        for judge in judges:
            was, now = earlier.get(judge.name, judge.identity), judge.identity
            if differing := [
                f"{part} ({was.get(part, 'unset')}, now {now.get(part, 'unset')})"
                for part in sorted({*was, *now})
                if was.get(part) != now.get(part)
            ]:
                raise UsageError(
                    "{}: {} judged this run with different settings: {}. Use the same settings, "
                    "or move {} away and remove the judge from judges.json",
                    self.path,
                    judge.name,
                    "; ".join(differing),
                    path_of_name(self.path, judge.name),
                )
        named = {judge.name: judge.identity for judge in judges}
        write_json(self.manifest_path, JudgesManifest(judges={**earlier, **named}))
        write_json(self.path / f"rubrics-{self.rubrics.id}.json", self.rubrics)

    def signature(self, judge: str) -> str:
        """Signature of a judge's grades: the judge, its decoding, the rubrics, keju's version."""
        identity = msgspec.json.encode(self.judges().get(judge, {}), order="sorted")
        return (
            f"grade|judge:{judge}@{sha256_bytes(identity)[:8]}|rubrics:{self.rubrics.id}"
            f"|keju:{__version__}"
        )
