"""The store of judges' and extractors' replies: sent, stored and resumed as in a run of models.

::

    RUN/judgements/   judges.json                       the judges and their decoding
                      rubrics-<id>.json                 the rubrics of their prompts
                      <judge>/<id>/<task>.jsonl         replies, each a `Response`
                      judges.lock
    RUN/extractions/  extractors.json, prompts-<id>.json, <extractor>/<id>/<task>.jsonl …

In a judge's reply the item is the spelled id of an answer (`AnswerId`), the model is the judge, and
the round is the number of the repeat; an answer of the model ``probe:NAME`` is one that a probe has
changed. In an extractor's reply the item is a hash of the prompt. All are found by
`ReplyFolder.find_replies`: a reply counts if its key is that of the request that is made now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import field

from keju import __version__
from keju.console import Console
from keju.errors import KejuError, UsageError
from keju.files import read_json, sha256_bytes, write_json
from keju.items import UNKNOWN, Record, Request, Response
from keju.judging.prompting import ExtractionPrompts, Rubrics, extraction_prompts
from keju.models import Model, ModelOptions, open_models
from keju.running import Plan, PlannedModel, Policy, ResponseStore, RunSummary, plan_of
from keju.running.requests import Slot, key_of
from keju.running.restricted_data import SentData, check_sending
from keju.running.session import send_requests
from keju.running.store import StoredResponses
from keju.runs import RunFolder, file_name
from keju.texts import Text, _

Questions = Callable[[Model], Iterable[Request]]
"""Returns the requests to a model; called several times."""


class JudgesManifest(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of judges.json: each judge's identity, by name."""

    format: str = "keju-judgements-1"
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

    The class attributes are the names of the folder and of its files, and the expected length of a
    reply with the words that describe it.
    """

    place: str
    models: str
    prompts: str
    reply_tokens: int
    reply_rule: Text

    def __init__(self, run: RunFolder, version: Rubrics | ExtractionPrompts) -> None:
        super().__init__(run.path / self.place)
        self.manifest_path = self.path / f"{self.models}.json"
        self.lock_path = self.path / f"{self.models}.lock"
        self.run, self.version = run, version

    def responses_path(self, model: str, task: str) -> Path:
        """The file of one model's responses about one task."""
        return self.path / file_name(model) / self.version.id / f"{file_name(task)}.jsonl"

    def response_files(self, model: str | None = None) -> list[Path]:
        """The files of responses to these prompts, all or one model's."""
        folder = file_name(model) if model else "*"
        return sorted(self.path.glob(f"{folder}/{self.version.id}/*.jsonl"))

    def judges(self) -> dict[str, dict[str, str]]:
        """All models that replied here, to any prompts: the identity of each, by name."""
        return read_json(self.manifest_path, JudgesManifest).judges if self.exists() else {}

    def replied(self) -> list[str]:
        """The models that replied to these prompts."""
        return [name for name in self.judges() if self.response_files(name)]

    def admit(self, identities: dict[str, dict[str, str]]) -> None:
        """Record models by name, and the prompts.

        Raises:
            UsageError: one of them replied here before with other decoding parameters.
        """
        earlier = self.judges()
        for name, now in identities.items():
            was = earlier.get(name, now)
            if differing := [
                f"{part} ({was.get(part, 'unset')}, now {now.get(part, 'unset')})"
                for part in sorted({*was, *now})
                if was.get(part) != now.get(part)
            ]:
                raise UsageError(
                    "{}: {} judged this run with different settings: {}. Use the same settings, "
                    "or move {} away and remove the judge from {}",
                    self.path,
                    name,
                    "; ".join(differing),
                    self.path / file_name(name),
                    self.manifest_path.name,
                )
        write_json(self.manifest_path, JudgesManifest(judges=earlier | identities))
        write_json(self.path / f"{self.prompts}-{self.version.id}.json", self.version)

    def find_replies(self, model: str, requests: Iterable[Request]) -> Iterator[Response | None]:
        """The latest stored reply of a model to each request, or None.

        A reply to another prompt, or of a model with other settings, is none.

        Raises:
            DataError: a stored line is damaged.
        """
        identity = self.judges().get(model, {})
        return StoredResponses(self.responses(model)).find_all(requests, identity)

    def hash_of(self, model: str) -> str:
        """A hash of a model's identity, of 8 digits."""
        identity = msgspec.json.encode(self.judges().get(model, {}), order="sorted")
        return sha256_bytes(identity)[:8]


class JudgementFolder(ReplyFolder):
    """The judgements of one run by one set of rubrics."""

    place, models, prompts = "judgements", "judges", "rubrics"
    reply_tokens = 80
    reply_rule = _("a reply of 80 tokens: two sentences and the grade; thinking is not counted")

    def __init__(self, run: RunFolder, rubrics: Rubrics) -> None:
        super().__init__(run, rubrics)
        self.rubrics = rubrics

    def signature(self, judge: str) -> str:
        """Signature of a judge's grades: the judge, its decoding, the rubrics, keju's version."""
        return (
            f"grade|judge:{judge}@{self.hash_of(judge)}|rubrics:{self.rubrics.id}"
            f"|keju:{__version__}"
        )


class ExtractionFolder(ReplyFolder):
    """The replies of extractors about one run, to the prompts of this keju."""

    place, models, prompts = "extractions", "extractors", "prompts"
    reply_tokens = 20
    reply_rule = _("a reply of 20 tokens: one line; thinking is not counted")

    def __init__(self, run: RunFolder) -> None:
        super().__init__(run, extraction_prompts())


def open_judges(specs: Sequence[str], options: ModelOptions) -> list[Model]:
    """Open the models that act as judges.

    Raises:
        UsageError: one is named twice, or cannot read an answer and grade it.
        PrerequisiteError: one needs something that is not installed.
    """
    judges = open_models(specs, options)
    for judge in judges:
        if judge.role not in {"model", "answers"} or judge.reader:
            raise UsageError(
                "{} cannot judge, because it cannot grade texts. Use a model, such as openai:MODEL",
                judge.name,
            )
    return judges


def ask_judges(
    folder: ReplyFolder,
    judges: list[Model],
    questions: Questions,
    *,
    policy: Policy | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Send the requests to judges that have no response yet; stored ones are not sent again.

    If the prompt has changed (for example because the model answered again), the request is sent
    again.

    Args:
        folder: where responses are stored.
        judges: the judges.
        questions: the requests to a judge.
        policy: concurrency, timeouts, retries and limits.
        console: where progress is shown; None shows none.

    Raises:
        UsageError: a judge had other settings before, another process is judging this run, or the
            texts may not be sent.
        DataError: a stored response is damaged, or the disk is full.
    """

    def admit(asked: Sequence[Model]) -> None:
        check_sending(asked, sent_data(folder.run))
        folder.admit({judge.name: judge.identity for judge in judges})

    with ResponseStore(folder) as store:
        return send_requests(
            store,
            judges,
            questions,
            policy=policy or Policy(),
            identities=folder.judges(),
            before=admit,
            console=console,
        )


def sent_data(run: RunFolder) -> SentData:
    """The data that requests to judges contain: questions, references and answers, no images.

    The licence is that of the run's dataset, or unknown where the dataset is not found.
    """
    manifest, licence = run.manifest(), UNKNOWN
    try:
        dataset = run.dataset().manifest
    except (KejuError, OSError):
        pass
    else:
        licence = dataset.licence if dataset.hash == manifest.dataset_hash else UNKNOWN
    count = sum(1 for _id in run.iter_item_ids())
    return SentData(manifest.dataset, licence, run.iter_items, count)


def plan_judging(
    folder: ReplyFolder,
    judges: Sequence[Model],
    questions: Questions,
    *,
    answers: int,
    policy: Policy | None = None,
) -> Plan:
    """Count the requests to judges or extractors and estimate their cost; sends nothing."""
    policy, counts = policy or Policy(), []
    for judge in judges:
        known, count = ResponseStore(folder).known(judge.name), PlannedModel(judge, policy)
        for request in questions(judge):
            if Slot(key_of(request, judge), request.item, request.candidate) in known:
                count.row(request.task).stored += 1
            else:
                count.add(request, folder.reply_tokens)
        counts.append(count)
    return plan_of(
        counts,
        items=answers,
        output_rule=folder.reply_rule,
        prices=policy.prices,
    )
