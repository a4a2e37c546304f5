"""The records of keju, all frozen: item, request, response, score.

Data flows in one direction: an `Item` (with its reference) becomes a `Request` (which never
contains a reference), a model answers it with a `Response`, and scoring computes `Score`s from
both.
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
"""The value of the metadata ``gallery`` of items whose candidate images have several sources."""

LineKind = Literal[
    "main", "note", "title", "author", "head", "foot", "centre", "number", "margin", "seal", "other"
]
"""The kind of a text line on a page: main text, double-row note (one half-row), title, author's
name, head- or foot-margin note, running title of the centre column (版心), page number, any other
marginal line, seal legend."""

AnswerForm = Literal[
    "transcription", "letter", "short", "text", "punctuated", "entities",
    "number", "boxes", "yes-no", "probability",
]  # fmt: skip
"""The form of answer that a query asks for; it determines how an answer is extracted and scored."""

CODED_FORMS: frozenset[AnswerForm] = frozenset(
    {"letter", "number", "boxes", "yes-no", "probability"}
)
"""The forms whose answer is a code and not a text."""

Setting = Literal["image", "own-ocr", "gold-ocr", "own-text", "gold-text"]
"""The input that a model is sent in addition to the question.

``image``: the image; ``own-ocr``: the image and the model's own transcription of it; ``gold-ocr``:
the image and the true transcription. ``own-text`` and ``gold-text`` send the same texts without the
image."""

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
"""The status of a response. Refusals, repetition loops and wrong formats are verdicts of scoring.
"""

Protocol = Literal["official", "strict", "printed", "with-reasoning"]
"""`printed` are the papers' formulas, where `official` follows the authors' script.
`with-reasoning` is `official` of the content behind the reasoning that came in another field."""


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of the records: immutable, keyword-only, defaults omitted when encoded."""


class PromptVariant(NamedTuple):
    """The prompt variant of an item. Rounds of one variant are repetitions."""

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
        columns = zip(self, PromptVariant(), *among, strict=True)
        return " · ".join(value for value, *others in columns if {value} != {*others})


class Box(Record, frozen=True, kw_only=True):
    """An axis-parallel box in pixels of the stored image: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float


class Line(Record, frozen=True, kw_only=True):
    """One text line on a page: a column, or one half-row of a double-row note.

    `polygon` is a closed outline in pixels of the stored image; `kind` is keju's, `source_kind` the
    type in the source file; `confidence` is the engine's, in 0..1, if an engine transcribed it.
    """

    id: str
    text: str = ""
    polygon: tuple[Point, ...] = ()
    kind: LineKind = "main"
    source_kind: str = ""
    confidence: float | None = None

    @property
    def box(self) -> Box | None:
        """The bounding box of the outline; None where the line has none."""
        if not self.polygon:
            return None
        xs, ys = zip(*self.polygon, strict=True)
        return Box(x0=min(xs), y0=min(ys), x1=max(xs), y1=max(ys))


class ImageRef(Record, frozen=True, kw_only=True):
    """An image of a dataset: its path inside the dataset, and its expected properties."""

    path: str
    sha256: str
    width: int
    height: int
    size: int
    """Bytes of the file as stored, which is also what is sent to a model."""


class Provenance(Record, frozen=True, kw_only=True):
    """One step that made or changed an item.

    `step` is its name (``page-xml``, ``draft``, ``review`` …), `tool` the engine, model or program
    with its version, `source` and `licence` those of the material, `person` the person who did it,
    `note` the decision and its reason.
    """

    step: str
    tool: str = ""
    source: str = ""
    licence: str = ""
    person: str = ""
    note: str = ""


class Item(Record, frozen=True, kw_only=True):
    """One question of a benchmark, with its reference.

    `question` is the question; where `verbatim` is true it is the whole prompt as released, else it
    replaces the placeholder ``{question}`` of the task's template and `fields` replace the others.
    `question_in` is the question as released in each script, where it was released in both.
    `answer` is in the script of the source (for MCQ the letter); `answer_simplified` is the form
    that some `official` metrics read. `group` is the unit of independence (book, plate, bone).
    `lines` are the page's lines in reading order, where they are known.

    An item of a pair task asks for a ranking: ``images[0]`` is the query image, the others are its
    candidates, and `relevant` are the indices in `images`, 1 or more, of the relevant ones. A model
    gets one pair at a time.

    `provenance` are its steps, first to last; a `draft` was proposed by a program and is not an
    item of a benchmark before a person has accepted it.
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


def get_group(item: Item) -> str:
    """Return the unit of independence of an item: its group, else its first image, else itself.

    Values are resampled, tested and split by units. The first image of a pair task is the query
    image, so all items that search for its matches are one unit, although galleries share
    candidates. Of an item with several images only the first counts: items whose later images are
    the same are one unit only if their dataset gives them a group.
    """
    return item.group or (item.images[0].sha256 if item.images else item.id)


class Request(Record, frozen=True, kw_only=True):
    """One request to a model. It never contains the reference of its item.

    `choices` are the letters of the options; `source` is the text that the setting supplies (empty
    for ``image``, unless an engine transcribes first); `script` is the selected script of the
    prompt; `box_convention` is the coordinate format that the prompt asks for; `candidate` is the
    index in the item's images of the one that is compared with the first, 0 outside of pair tasks.
    `system` is the system prompt of the wording. `label` is the run's, which no model sees.
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
    label: str = ""


class Usage(Record, frozen=True, kw_only=True):
    """Token counts of the server; None where it did not report them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None


class Failure(Record, frozen=True, kw_only=True):
    """Why there is no answer: a class of failure, and the server's or system's message."""

    kind: str
    message: str = ""


class Response(Record, frozen=True, kw_only=True):
    """The response to one request.

    `key` is the cache key, a hash of everything that determines the answer. `text` is the content
    exactly as it was returned, reasoning inside it included (`keju.text.answer_part` extracts the
    answer); a null content is empty text. `not_text` is the content in JSON where it was neither
    text nor null, and then `text` has the texts in it, joined, or a server's number or object as
    JSON. `thinking` is reasoning that was returned in a separate field. A failure is in `error`,
    never in `text`. `lines` are an OCR engine's lines in its reading order; `candidate` and
    `box_convention` are the request's; `refused` are decoding parameters that the server did not
    accept, so that it answered without them. `source_sha256` is the SHA-256 of the file with the
    answer, where another program made it (`PageFiles`). `served_model` and `fingerprint` are the
    model and the system fingerprint that the server reported with the answer; empty where it
    reported none. `uncounted` are estimated tokens of attempts without an answer, which may have
    been charged and which no server counted.
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
    source_sha256: str = ""
    served_model: str = ""
    fingerprint: str = ""
    decoding: dict[str, str] | None = None
    """The parameters in the answered request, under the server's names. None where there is no
    answer or they are not known (responses of other programs); empty where none are sent (engines,
    baselines)."""


ReadBy = Literal["reader", "model", "person", "unclear", "none"]
"""Who read an answer: the rules, an extractor model or people. `unclear` is not decided yet; `none`
is a response without an answer."""


class Score(Record, frozen=True, kw_only=True):
    """One metric of one response under one protocol, or of the responses to all pairs of an item.

    `value` is None where the response is *unscored*, and then `reason` is the reason; unscored is
    not wrong. `extracted` is the extracted answer and `extracted_from` its position and rule.
    `verdict` is scoring's judgement of the response (``ok``, ``refused``, ``unparsable`` …).
    `stats` are the sufficient statistics from which `value` and corpus values are summed. A ranking
    has the key of the response to its first candidate. `read_by` is who read the answer, empty
    where no answer is read (passages, `official`, unscored responses); a ranking with an unclear
    pair is unclear. `if_right` are the statistics if an unclear answer were right; empty for all
    others.
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
    read_by: ReadBy | Literal[""] = ""
    if_right: dict[str, float] = field(default_factory=dict)

    @property
    def value_if_right(self) -> float | None:
        """The value if an unclear answer were right; `value` where the answer is not unclear."""
        if self.value is None or not self.if_right.get("denominator"):
            return self.value
        return self.if_right["numerator"] / self.if_right["denominator"]

    @property
    def unit(self) -> str:
        """The unit of independence of its item: scoring stores `get_group` as the group.

        Scores that a program makes without a group are each a unit.
        """
        return self.group or self.item


def better_end(score: Score) -> Score:
    """The score if its unclear answer were right; the same score if its answer is not unclear.

    The scores as they are give the lower end of a range (unclear answers are wrong), these the
    upper end. Of error rates the better end is the lower number.
    """
    if not score.if_right:
        return score
    return replace(score, value=score.value_if_right, stats=score.if_right)


def variant_of(record: Request | Response | Score) -> PromptVariant:
    """The prompt variant of a request, a response or a score."""
    return PromptVariant(record.setting, record.script, record.wording)
