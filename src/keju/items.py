"""The records that travel through keju, each frozen: item, request, response, score.

Data goes one way: an `Item` (with its answer) is planned into a `Request` (which never carries
an answer), a model turns that into a `Response`, and scoring turns both into `Score`s.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from keju.notebook import block, facts

Point = tuple[float, float]

UNKNOWN = "unknown"
"""The licence or source of a dataset that was imported without it."""

MIXED_GALLERY = "mixed"
"""Metadata ``gallery`` of items whose candidate images are of several sources."""

LineKind = Literal[
    "main", "note", "title", "author", "head", "foot", "centre", "number", "margin", "seal", "other"
]
"""What a text line is on a page: main text, double-row note (one half-row), title, author's name,
head- or foot-margin note, running title of the centre column (版心), page number, any other
marginal line, seal legend."""

AnswerForm = Literal[
    "transcription", "letter", "short", "text", "punctuated", "entities",
    "number", "boxes", "yes-no", "probability",
]  # fmt: skip
"""The shape of answer that a query asks for; it decides how an answer is extracted and scored."""

Setting = Literal["image", "own-ocr", "gold-ocr", "own-text", "gold-text"]
"""What a model is sent beside the question.

``image``: the image; ``own-ocr``: the image and the model's own transcription of it; ``gold-ocr``:
the image and the true transcription. ``own-text`` and ``gold-text`` send the same texts without the
image.
"""

OWN_READING: frozenset[Setting] = frozenset({"own-ocr", "own-text"})
"""The settings in which a model first transcribes the images itself."""

TRUE_READING: frozenset[Setting] = frozenset({"gold-ocr", "gold-text"})
"""The settings that send the true transcription."""

TEXT_ONLY: frozenset[Setting] = frozenset({"own-text", "gold-text"})
"""The settings that send no image."""

Script = Literal["simplified", "traditional"]

PromptScript = Literal["released", "simplified", "traditional"]
"""The characters of Chinese prompts: as the benchmark released them, or in one script."""

Status = Literal["answered", "empty", "truncated", "filtered", "failed"]
"""What the wire said. Refusing, looping or off-format answers are verdicts of scoring."""

Protocol = Literal["official", "strict"]


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the records: immutable, built by keyword, defaults left out when written."""


class PromptVariant(NamedTuple):
    """The prompt form in which an item is asked. Rounds of one variant are repetitions."""

    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = "released"

    @property
    def rank(self) -> tuple[int, int, bool, str]:
        """The sort key: `image` before `own-ocr`, and ``released`` before all others."""
        settings, scripts = get_args(Setting), get_args(PromptScript)
        place = settings.index(self.setting), scripts.index(self.script)
        return *place, self.wording != "released", self.wording

    def label(self, among: Iterable[PromptVariant] = ()) -> str:
        """The parts that are not the default, or differ from another variant in `among`.

        ``own-ocr · traditional``, for example; empty for the default alone.
        """
        others = list(among)
        return " · ".join(
            value
            for place, (value, usual) in enumerate(zip(self, PromptVariant(), strict=True))
            if value != usual or any(each[place] != value for each in others)
        )


class Box(Record, frozen=True, kw_only=True):
    """An axis-parallel box in pixels of the stored image: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float


class Line(Record, frozen=True, kw_only=True):
    """One text line on a page: a column, or one half-row of a double-row note.

    `polygon` is a closed outline in pixels of the stored image; `kind` is keju's, `source_kind`
    the word that the source file used; `confidence` is the engine's, in 0..1, if an engine read it.
    """

    id: str
    text: str = ""
    polygon: tuple[Point, ...] = ()
    kind: LineKind = "main"
    source_kind: str = ""
    confidence: float | None = None

    @property
    def box(self) -> Box | None:
        """The box around the outline; None where the line has none."""
        if not self.polygon:
            return None
        xs, ys = zip(*self.polygon, strict=True)
        return Box(x0=min(xs), y0=min(ys), x1=max(xs), y1=max(ys))


class ImageRef(Record, frozen=True, kw_only=True):
    """An image of a dataset: its path inside the dataset, and what must be found there."""

    path: str
    sha256: str
    width: int
    height: int
    size: int
    """Bytes of the file as stored, which is also what is sent to a model."""


class Provenance(Record, frozen=True, kw_only=True):
    """One step that made or changed an item.

    `step` names it (``page-xml``, ``draft``, ``review`` …), `tool` the engine, model or program
    with its version, `source` and `licence` where the material comes from and under which it may
    be used, `person` who did it, `note` what was decided and why.
    """

    step: str
    tool: str = ""
    source: str = ""
    licence: str = ""
    person: str = ""
    note: str = ""


class Item(Record, frozen=True, kw_only=True):
    """One question of a benchmark, with its answer.

    `question` is what is asked; where `verbatim` is true it is the whole prompt as released, else
    it fills the blank ``{question}`` of the task's template and `fields` fill the others.
    `question_in` is the question as released in each script, where it was released in both.
    `answer` is in the script of the source (for MCQ the letter); `answer_simplified` is the form
    that some `official` metrics read. `group` is the unit of independence (book, plate,
    bone). `lines` are the page's lines in reading order, where they are known.

    An item of a task of pairs asks for a ranking:
    ``images[0]`` is the picture asked about, the others are its candidates, and `relevant` are
    the places in `images`, 1 or more, of those that belong to it. A model sees one pair at a time.

    `provenance` is what was done to it, first to last; a `draft` was proposed by a program and is
    no item of a benchmark before a person has accepted it.
    """

    id: str
    benchmark: str
    task: str
    query: str = ""
    images: tuple[ImageRef, ...] = ()
    question: str = ""
    question_in: dict[Script, str] = field(default_factory=dict)
    verbatim: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    answer: str = ""
    answer_simplified: str = ""
    also_accepted: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    transcription: str | None = None
    lines: tuple[Line, ...] = ()
    relevant: tuple[int, ...] = ()
    group: str = ""
    split: Literal["test", "reference"] = "test"
    metadata: dict[str, str] = field(default_factory=dict)
    provenance: tuple[Provenance, ...] = ()
    draft: bool = False

    def __repr__(self) -> str:
        return f"Item({self.id!r}, {self.task!r}, {self.query!r})"

    def _repr_html_(self) -> str:
        sizes = ", ".join(f"{image.width} x {image.height}" for image in self.images)
        names = ("benchmark", "query", "question", "answer", "transcription", "group", "split")
        shown = {name: getattr(self, name) for name in names}
        lists = {
            "options": "\n".join(self.options),
            "also accepted": "\n".join(self.also_accepted),
            "images": f"{sizes} (keju.show(item, dataset) shows them)" if sizes else "",
            **self.metadata,
        }
        return block(f"{self.id} ({self.task})", facts(shown | lists))


class Example(Record, frozen=True, kw_only=True):
    """A solved item that is shown before the question: its prompt, images and reference.

    It is of the reference split, which is never asked.
    """

    item: str
    prompt: str
    answer: str
    images: tuple[ImageRef, ...] = ()


class Request(Record, frozen=True, kw_only=True):
    """What a model is shown. It never carries the answer of its item.

    `choices` are the letters on offer; `source` is the text that the setting supplies (empty for
    ``image``, unless an engine reads first); `script` is the one that was chosen for the prompt;
    `box_convention` names the coordinates that the prompt
    asks for; `candidate` is the place in the item's images of the one that is shown beside the
    first, 0 where nothing is paired. `system` is the system prompt of the wording, and `examples`
    are shown before the question.
    """

    item: str
    benchmark: str
    task: str
    form: AnswerForm
    prompt: str
    query: str = ""
    images: tuple[ImageRef, ...] = ()
    choices: tuple[str, ...] = ()
    source: str = ""
    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = "released"
    round: int = 1
    box_convention: str = ""
    candidate: int = 0
    system: str = ""
    examples: tuple[Example, ...] = ()

    @property
    def all_images(self) -> tuple[ImageRef, ...]:
        """The images of the item, then those of the examples."""
        return (*self.images, *(ref for example in self.examples for ref in example.images))


def without_images(request: Request) -> Request:
    """The same request in words alone, without the images of its examples too."""
    examples = tuple(replace(each, images=()) for each in request.examples)
    return replace(request, images=(), examples=examples)


class Usage(Record, frozen=True, kw_only=True):
    """Tokens as the server counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None


class Failure(Record, frozen=True, kw_only=True):
    """Why there is no answer: a class of failure, and the server's or system's words."""

    kind: str
    message: str = ""


class Response(Record, frozen=True, kw_only=True):
    """What came back for one request.

    `key` is the hash of everything that decides the answer. `text` is the content exactly as it
    was returned, reasoning inside it included (`keju.text.answer_part` takes the answer); a null
    content is empty text. `not_text` is the content in JSON where it was neither text nor null,
    and then `text` has the texts in it, joined, or a server's number or object as JSON.
    `thinking` is reasoning that came in a field of its own, as it was returned. A failure is in
    `error`, never in `text`.
    `lines` are an OCR engine's lines in the order in which it reads them; `candidate` and
    `box_convention` are the request's; `refused` are decoding parameters that the server would not
    take, so that it answered without them. `examples` are the ids of the items that were shown
    before the question. `source_sha256` is the SHA-256 of the file that the answer was read from,
    where another program made it (`PageResults`). `uncounted` are tokens, as estimated, that may
    have been paid for and that no server counted: of attempts that brought no answer.
    """

    key: str
    item: str
    model: str
    benchmark: str
    task: str
    status: Status
    query: str = ""
    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = "released"
    round: int = 1
    text: str = ""
    not_text: str = ""
    thinking: str = ""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    uncounted: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    attempts: int = 1
    error: Failure | None = None
    lines: tuple[Line, ...] = ()
    candidate: int = 0
    box_convention: str = ""
    refused: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    source_sha256: str = ""
    decoding: dict[str, str] | None = None
    """The parameters in the request that was answered, under the server's names. None where no
    answer came or they are not known (answers made elsewhere); empty where nothing of the kind is
    sent (engines, baselines)."""


class Score(Record, frozen=True, kw_only=True):
    """One metric of one response under one protocol, or of the responses to all pairs of an item.

    `value` is None where the response is *unscored*, and then `reason` says why; unscored is not
    wrong. `extracted` is the answer as taken and `extracted_from` where and by which rule.
    `verdict` is scoring's judgement of the response (``ok``, ``refused``, ``unparsable`` …).
    `stats` are the sufficient statistics from which `value` and corpus values are summed. A ranking
    bears the key of the response to its first candidate.
    """

    key: str
    item: str
    model: str
    benchmark: str
    task: str
    protocol: Protocol
    metric: str
    value: float | None
    query: str = ""
    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = "released"
    round: int = 1
    group: str = ""
    status: Status = "answered"
    verdict: str = "ok"
    reason: str = ""
    extracted: str = ""
    extracted_from: str = ""
    stats: dict[str, float] = field(default_factory=dict)
    signature: str = ""


def variant_of(record: Request | Response | Score) -> PromptVariant:
    """The prompt variant of a request, or of what came of it."""
    return PromptVariant(record.setting, record.script, record.wording)
