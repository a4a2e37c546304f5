"""The directories of judges' and extractors' responses, beside a run's and appended alike.

::

    RUN/judgements/   judges.json                       the judges and their decoding
                      rubrics-<id>.json                 the rubrics of their prompts
                      <judge>/<id>/<task>.jsonl         responses, each a `Response`
                      judges.lock
    RUN/extractions/  extractors.json, prompts-<id>.json, <extractor>/<id>/<task>.jsonl …

In a judge's response the item is the spelled id of an answer (`AnswerId`), the model is the judge,
the round is the number of the repeat, and the query is the name of a probe, or empty. In an
extractor's response the item is a hash of the prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

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


class PromptsVersion(Protocol):
    """Prompts in a file of their own."""

    @property
    def id(self) -> str:
        """Name, version and hash of the file."""


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


class ReplyFolder(RunFolder):
    """Models' replies about the answers of one run under one version of the prompts.

    Args:
        run: the run.
        place: the folder within the run.
        models: the name of the files that list and lock the models.
        prompts: the name of the files with the prompts.
        version: the prompts; `id` is their version.
    """

    def __init__(
        self, run: RunFolder, place: str, models: str, prompts: str, version: PromptsVersion
    ) -> None:
        super().__init__(run.path / place)
        self.manifest_path = self.path / f"{models}.json"
        self.lock_path = self.path / f"{models}.lock"
        self.run = run
        self._prompts, self._version = prompts, version

    def responses_path(self, model: str, task: str) -> Path:
        """The file of one model's responses about one task."""
        return path_of_name(path_of_name(self.path, model) / self._version.id, task, ".jsonl")

    def response_files(self, model: str | None = None) -> list[Path]:
        """The files of responses to these prompts, all or one model's."""
        folder = path_of_name(self.path, model).name if model else "*"
        return sorted(self.path.glob(f"{folder}/{self._version.id}/*.jsonl"))

    def judges(self) -> dict[str, dict[str, str]]:
        """All models that replied here, to any prompts: the identity of each, by name."""
        if not self.exists():
            return {}
        return read_json(self.manifest_path, JudgesManifest).judges

    def admit(self, judges: list[Model]) -> None:
        """Record the models and the prompts.

        Raises:
            UsageError: one of them replied here before with other decoding parameters.
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
                    "or move {} away and remove the judge from {}",
                    self.path,
                    judge.name,
                    "; ".join(differing),
                    path_of_name(self.path, judge.name),
                    self.manifest_path.name,
                )
        self.admit_identities(earlier | {judge.name: judge.identity for judge in judges})

    def admit_identities(self, identities: dict[str, dict[str, str]]) -> None:
        """Record the models by name, and the prompts."""
        write_json(self.manifest_path, JudgesManifest(judges=identities))
        write_json(self.path / f"{self._prompts}-{self._version.id}.json", self._version)

    def hash_of(self, model: str) -> str:
        """A hash of a model's identity, of 8 digits."""
        identity = msgspec.json.encode(self.judges().get(model, {}), order="sorted")
        return sha256_bytes(identity)[:8]


class JudgementFolder(ReplyFolder):
    """The judgements of one run by one set of rubrics, in the layout of a response store."""

    def __init__(self, run: RunFolder, rubrics: Rubrics) -> None:
        super().__init__(run, "judgements", "judges", "rubrics", rubrics)
        self.rubrics = rubrics

    def signature(self, judge: str) -> str:
        """Signature of a judge's grades: the judge, its decoding, the rubrics, keju's version."""
        return (
            f"grade|judge:{judge}@{self.hash_of(judge)}|rubrics:{self.rubrics.id}"
            f"|keju:{__version__}"
        )
