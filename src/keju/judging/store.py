"""The store of judges' and extractors' replies: a run folder inside the run that they are about.

::

    RUN/judgements/<rubrics>/   prompts.json · run.json · responses/<judge>/<task>.jsonl
    RUN/extractions/<prompts>/  prompts.json · run.json · responses/<extractor>/<task>.jsonl

In a judge's reply the item is the id of an answer (`answer_id`), the model is the judge, and the
round is the number of the repeat; an answer of the model ``probe:NAME`` is one that a probe has
changed. In an extractor's reply the item is a hash of the prompt. All are found by
`ReplyFolder.find_replies`: a reply counts if its key is that of the request that is made now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import msgspec
from msgspec.structs import replace

from keju import __version__
from keju.console import Console
from keju.errors import KejuError, UsageError
from keju.files import read_json, sha256_bytes, write_json
from keju.items import UNKNOWN, Request, Response
from keju.judging.prompting import ExtractionPrompts, Rubrics, extraction_prompts
from keju.models import Model, ModelOptions, open_models
from keju.running import Plan, PlannedModel, Policy, ResponseStore, RunSummary, plan_of
from keju.running.recording import list_differences
from keju.running.requests import Slot, key_of
from keju.running.restricted_data import SentData, check_sending
from keju.running.session import send_requests
from keju.running.store import StoredResponses
from keju.runs import RunFolder, RunManifest, file_name
from keju.texts import _, join_clauses

Questions = Callable[[Model], Iterable[Request]]
"""Returns the requests to a model; called several times."""


class ReplyFolder(RunFolder):
    """Models' replies about the answers of one run under one version of the prompts.

    The class attributes are the name of the folder in the run, and the expected length of a reply.
    """

    place: str
    reply_tokens: int

    def __init__(self, run: RunFolder, prompts: Rubrics | ExtractionPrompts) -> None:
        super().__init__(run.path / self.place / file_name(prompts.id))
        self.run, self.prompts = run, prompts

    def judges(self) -> dict[str, dict[str, str]]:
        """The models that were asked here: the identity of each, by name."""
        return self.manifest().models if self.exists() else {}

    def replied(self) -> list[str]:
        """The models that have replied."""
        return [name for name in self.judges() if self.response_files(name)]

    def admit(self, identities: dict[str, dict[str, str]]) -> None:
        """Record models by name, and the prompts.

        Raises:
            UsageError: one of them replied here before with other decoding parameters.
        """
        about = self.run.manifest()
        earlier = self.manifest() if self.exists() else RunManifest(
            keju=__version__, dataset=about.dataset, dataset_version=about.dataset_version,
            dataset_hash=about.dataset_hash,
        )  # fmt: skip
        now = replace(earlier, models=earlier.models | identities)
        for name in identities:
            if differences := list_differences(earlier, now, [name]):
                raise UsageError(
                    "{}: {} judged this run with different settings: {}. Use the same settings, "
                    "or move {} away and remove the judge from {}",
                    self.path,
                    name,
                    join_clauses(differences),
                    self.path / "responses" / file_name(name),
                    self.manifest_path.name,
                )
        write_json(self.path / "prompts.json", self.prompts)
        self.write_manifest(now)

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
    """The judgements of one run by one set of rubrics: two sentences and a grade each."""

    place, reply_tokens = "judgements", 80

    def __init__(self, run: RunFolder, rubrics: Rubrics) -> None:
        super().__init__(run, rubrics)
        self.rubrics = rubrics

    def signature(self, judge: str) -> str:
        """Signature of a judge's grades: the judge, its decoding, the rubrics, keju's version."""
        name = f"judge:{judge}@{self.hash_of(judge)}"
        return f"grade|{name}|rubrics:{self.rubrics.id}|keju:{__version__}"


class ExtractionFolder(ReplyFolder):
    """The replies of extractors about one run, one line each, to the prompts of this keju."""

    place, reply_tokens = "extractions", 20

    def __init__(self, run: RunFolder) -> None:
        super().__init__(run, extraction_prompts())


def stored_rubrics(run: RunFolder) -> list[Rubrics]:
    """The rubrics by which a run has been judged, as they were then.

    Raises:
        DataError: a file of them is damaged.
    """
    paths = sorted((run.path / JudgementFolder.place).glob("*/prompts.json"))
    return [read_json(path, Rubrics) for path in paths]


def merge_replies(runs: Sequence[RunFolder], merged: RunFolder) -> None:
    """Copy the replies of judges and extractors about the runs into their merged run, each once.

    Of a judge that the runs asked with different settings, the first run's replies count.

    Raises:
        DataError: a stored line is damaged.
    """
    rubric_sets = {rubrics.id: rubrics for run in runs for rubrics in stored_rubrics(run)}
    folders: list[Callable[[RunFolder], ReplyFolder]] = [ExtractionFolder]
    folders += [partial(JudgementFolder, rubrics=rubrics) for rubrics in rubric_sets.values()]
    for folder_of in folders:
        sources = [source for source in map(folder_of, runs) if source.exists()]
        if not sources:
            continue
        target, identities = folder_of(merged), dict[str, dict[str, str]]()
        slots: set[tuple[str, Slot]] = set()
        with ResponseStore(target) as store:
            for source in sources:
                identities = source.judges() | identities
                for reply in source.responses():
                    slot = reply.model, Slot(reply.key, reply.item, reply.candidate)
                    if slot not in slots:
                        slots.add(slot)
                        store.append(reply)
            target.admit(identities)


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
    policy: Policy,
    console: Console | None = None,
) -> RunSummary:
    """Send the requests to judges that have no response yet; stored ones are not sent again.

    If the prompt has changed (for example because the model answered again), the request is sent
    again. With `console`, progress is shown there.

    Raises:
        UsageError: a judge had other settings before, another process is judging this run, or the
            texts may not be sent.
        DataError: a stored response is damaged, or the disk is full.
    """

    def admit(models: Sequence[Model]) -> None:
        check_sending(models, sent_data(folder.run))
        folder.admit({judge.name: judge.identity for judge in judges})

    with ResponseStore(folder) as store:
        identities = folder.judges()
        return send_requests(
            store, judges, questions, policy=policy, identities=identities, before=admit,
            console=console,
        )  # fmt: skip


def sent_data(run: RunFolder) -> SentData:
    """The data that requests to judges contain: questions, references and answers, no images.

    The licence is that of the run's dataset, or unknown where the dataset is not found.
    """
    manifest, licence = run.manifest(), UNKNOWN
    with suppress(KejuError, OSError):
        dataset = run.dataset().manifest
        licence = dataset.licence if dataset.hash == manifest.dataset_hash else UNKNOWN
    count = sum(1 for _id in run.iter_item_ids())
    return SentData(manifest.dataset, licence, run.iter_items, count)


def plan_judging(
    folder: ReplyFolder,
    judges: Sequence[Model],
    questions: Questions,
    *,
    answers: int,
    policy: Policy,
) -> Plan:
    """Count the requests to judges or extractors and estimate their cost; sends nothing."""
    counts = []
    for judge in judges:
        stored_slots, count = ResponseStore(folder).known(judge.name), PlannedModel(judge, policy)
        for request in questions(judge):
            if Slot(key_of(request, judge), request.item, request.candidate) in stored_slots:
                count.row(request.task).stored += 1
            else:
                count.add(request, folder.reply_tokens)
        counts.append(count)
    rule = _("a reply of {} tokens; thinking is not counted", folder.reply_tokens)
    return plan_of(counts, items=answers, output_rule=rule, prices=policy.prices)
