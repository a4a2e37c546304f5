"""Requests for drafts, sent as `keju run` does: stored, throttled, within a budget, resumable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from keju.building.drafting.pages import Page
from keju.building.drafting.templates import Show
from keju.building.step import Settings
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError, printable
from keju.items import Request, Response
from keju.models import open_model
from keju.models.base import UNKNOWN_DTYPE
from keju.models.decoding import parse_extra_body
from keju.running import ResponseStore
from keju.running.options import RunOptions
from keju.running.restricted_data import SentData, check_sending
from keju.running.session import send_requests
from keju.running.store import StoredResponses
from keju.runs import RunFolder
from keju.runs.record_list import RecordList
from keju.text import answer_part
from keju.texts import _

UnusedReason = Literal["failed", "unparsed", "refused"]


class DraftSettings(Settings, frozen=True):
    """The model, and the kinds of drafts that it proposes."""

    model: Annotated[
        str, Meta(description="Model of the drafts: ppocr, openai:MODEL, replay:FILE …")
    ]
    kinds: Annotated[
        tuple[str, ...],
        Meta(description="Kinds of drafts: ocr, translation, punctuation, entities, "
             "word-explanation, comprehension, appreciation, introduction, description, "
             "description-from-notes, description-from-image, reasoning, knowledge, variants.",
             min_length=1),
    ]  # fmt: skip
    benchmark: Annotated[
        str,
        Meta(
            description="Benchmark of the tasks; by default the first known benchmark with drafts."
        ),
    ] = ""
    task: Annotated[
        str,
        Meta(
            description="Another task that a kind can have; by default the task of the item "
            "without an answer."
        ),
    ] = ""
    per_page: Annotated[
        int,
        Meta(
            description="Questions per page: the maximum, or of some kinds the exact number.",
            ge=1,
            le=20,
        ),
    ] = 2
    show: Annotated[
        Literal["", Show],
        Meta(
            description="Material of the drafts: text, image or image-and-text. By default as "
            "the benchmark's definition declares it, else the text."
        ),
    ] = ""
    templates: Annotated[
        Path | None, Meta(description="A TOML file of templates, instead of keju's own.")
    ] = None
    answers: Annotated[
        str,
        Meta(
            description="Directory of the stored responses, relative to the current directory; by "
            "default asked/ in the build, or OUT.asked. It is kept when the step is built again."
        ),
    ] = ""  # fmt: skip
    leave_failed: Annotated[
        bool, Meta(description="Finish even if requests failed; they are listed.")
    ] = False
    base_url: Annotated[
        str, Meta(description="Address of an OpenAI-compatible server, up to its /v1.")
    ] = ""
    api_key_env: Annotated[str, Meta(description="Environment variable with the API key.")] = (
        "OPENAI_API_KEY"
    )
    temperature: Annotated[float, Meta(description="Sampling temperature.", ge=0)] = 0.0
    max_tokens: Annotated[int | None, Meta(description="Maximum number of new tokens.")] = None
    sampling_seed: Annotated[
        int | None, Meta(description="Seed of sampling on the server; none by default.")
    ] = None
    reasoning_effort: Annotated[
        str | None,
        Meta(description="Reasoning effort as the server names it: none, minimal, low, medium …"),
    ] = None
    extra_body: Annotated[
        tuple[str, ...], Meta(description="Additional fields of every request's body: NAME=JSON.")
    ] = ()
    dtype: Annotated[
        str,
        Meta(description="Number format in which the server runs the model, as you declare it."),
    ] = UNKNOWN_DTYPE
    concurrency: Annotated[
        int | None, Meta(description="Maximum number of concurrent requests.")
    ] = None
    timeout: Annotated[float, Meta(description="Time limit of one attempt in seconds.", gt=0)] = (
        600.0
    )
    per_minute: Annotated[
        float | None, Meta(description="Maximum number of requests per minute.")
    ] = None
    max_cost: Annotated[float | None, Meta(description="Maximum cost; requires prices.")] = None
    prices: Annotated[Path | None, Meta(description="A price file.")] = None


class UnusedReply(Struct, frozen=True):
    """A response that was not used, with the reason: failed, unparsed, or rejected by a check."""

    page: str
    kind: str
    stage: str
    what: str
    why: str
    reply: str


@dataclass
class DraftRequester:
    """Sends the requests of a step, and lists responses that could not be used."""

    dataset: Dataset
    settings: DraftSettings
    folder: RunFolder
    unused: RecordList[UnusedReply] = field(default_factory=lambda: RecordList(UnusedReply))

    def request(self, requests: Sequence[Request]) -> Iterable[Response | None]:
        """Send the requests that have no stored response; return the responses to all, in order.

        Raises:
            DataError: not every request was answered, so that the step must be run again.
        """
        settings = self.settings
        if not requests:
            return ()
        options = self._make_options()
        model = open_model(settings.model, options.model_options())
        if declined := next(
            (why for each in requests if (why := model.unsupported_reason(each))), ""
        ):
            raise UsageError("{} cannot draft that: {}", settings.model, declined)
        with ResponseStore(self.folder) as store:
            done = send_requests(
                store, [model], lambda _: requests, policy=options.policy(),
                dataset=self.dataset,
                before=lambda models: check_sending(models, self._sent_data()),
            )  # fmt: skip
        if done.left:
            why = done.used_up or next((each.halted for each in done.models if each.halted), "")
            raise DataError(
                "{} of {} requests have no response yet{}",
                done.left,
                len(requests),
                f": {why}" if why else "",
                hint=next((each.hint for each in done.models if each.hint), "")
                or _("The responses so far are stored. Run the same command again to resume"),
            )
        return StoredResponses(self.folder.responses(model.name)).find_all(requests, model.identity)

    def _make_options(self) -> RunOptions:
        """The options of a run with the model's settings, which have the same names there."""
        settings = self.settings
        shared = set(RunOptions.__struct_fields__).intersection(settings.__struct_fields__)
        given = {name: getattr(settings, name) for name in shared} | {
            "extra_body": parse_extra_body(settings.extra_body),
            "retry_failed": True,
        }
        return RunOptions(**given)

    def _sent_data(self) -> SentData:
        """The data that the requests contain; any item of the dataset may be material."""
        about = self.dataset.manifest
        given = self.dataset
        return SentData(about.name, about.licence, lambda: given, len(given))

    def list_unused(
        self, page: Page, kind: str, stage: str, what: UnusedReason, why: str, reply: str = ""
    ) -> None:
        """List a response that was not used."""
        shown = printable(reply[:300])
        self.unused.append(
            UnusedReply(page.source.id, kind, stage, what, printable(why)[:300], shown)
        )

    def get_answer(self, page: Page, kind: str, stage: str, reply: Response | None) -> str | None:
        """Return the answer part of a complete response; list any other response and return None.

        White space around the answer is stored, but is not part of a draft.
        """
        if reply is not None and reply.status == "answered":
            return answer_part(reply.text).strip()
        why = "no reply"
        if reply is not None:
            why = f"{reply.error.kind}: {reply.error.message}" if reply.error else reply.status
        failed = reply is None or reply.status == "failed"
        self.list_unused(page, kind, stage, "failed" if failed else "unparsed", why)
        return None
