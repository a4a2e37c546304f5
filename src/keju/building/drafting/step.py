"""Step ``draft``: propose items by an OCR engine or a language model, for review by a person."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from keju.building.drafting.asking import DraftRequester, DraftSettings, UnusedReply
from keju.building.drafting.making import make_item, make_transcription_item
from keju.building.drafting.pages import (
    Page,
    list_pages,
    list_targets,
    make_question,
    make_request,
)
from keju.building.drafting.replies import Values, find_failed_check, find_text_fault, parse_reply
from keju.building.drafting.templates import Kind, Templates, change_material, read_templates
from keju.building.step import Step
from keju.building.step_context import StepContext
from keju.definitions import benchmark, definitions
from keju.definitions import task as declared
from keju.errors import DataError, UsageError, unknown_name
from keju.items import Item, Request
from keju.models import role_of
from keju.runs import RunFolder
from keju.runs.record_list import LazyList, RecordList
from keju.texts import _, listed, n_

OCR = "ocr"
"""The kind that needs no template: a transcription, as the task itself requests it."""

ASKED = "asked"
"""Where responses are kept: in a build BUILD/asked, of a command OUT.asked beside its dataset."""

_STEPS = "steps"
"""The directory of a build's steps."""

_STAGES = dict[str, dict[str, str | list[str]]]
"""The type of the values of a page's stages, by the name of the stage."""


class Draft(Struct, frozen=True, array_like=True):
    """A proposed item, and the signature of what proposed it."""

    item: Item
    signature: str


def draft_items(context: StepContext, settings: DraftSettings) -> None:
    """Keep every item and add the proposals, each a draft.

    A page whose text is known is not transcribed again, and earlier drafts are not proposed again.

    Raises:
        UsageError: no such kind or task, or a model that cannot draft it.
        DataError: requests failed or are left; the same command resumes.
        PrerequisiteError: the model needs something that is not installed.
    """
    settings = replace(settings, benchmark=_choose_benchmark(settings.benchmark))
    templates = read_templates(settings.templates, settings.benchmark)
    kinds = [_get_kind(name, templates, settings) for name in settings.kinds if name != OCR]
    work = DraftRequester(
        context.dataset, settings, RunFolder(_get_responses_folder(context.out, settings))
    )
    pages = list_pages(context.items())
    recognised = _transcribe(work, pages) if OCR in settings.kinds else ()
    drafts = RecordList(Draft, (Draft(item, OCR) for item in recognised))
    filled = {draft.item.id for draft in drafts}
    lacks: list[str] = []
    for kind in kinds:
        fit = _find_targets(kind, pages, templates, settings, lacks)
        made: Counter[str] = Counter()
        for page, number, stages in _propose(work, kind, fit, templates):
            made[page.source.id] += 1
            rng = context.rng(page.source.id, kind.name, str(number))
            name = _choose_task(kind, settings, page)
            fills = page.source.id not in filled
            item = make_item(page, kind, stages, number, task=name, rng=rng, fills=fills)
            filled.add(item.id)
            drafts.append(Draft(item, templates.make_signature(kind)))
        lacks += _describe_shortage(kind, made, fit, settings)
    _check_failed(work)
    for item in context.iter_items():
        if item.id not in filled:
            context.keep(item)
    for draft in drafts:
        context.keep(draft.item, tool=settings.model, note=draft.signature)
    context.table("unused", work.unused, UnusedReply)
    _report(context, drafts, lacks, work)


STEP = Step(
    "draft",
    "Draft items: an OCR engine transcribes, a language model writes questions.",
    DraftSettings,
    draft_items,
    asks_models=True,
)


def _choose_benchmark(name: str) -> str:
    """Choose the benchmark of that name, or the first known one that has drafts.

    Raises:
        UsageError: there is no benchmark of that name.
    """
    if name:
        return benchmark(name).name
    return next(each.name for each in definitions() if each.drafts)


def _get_responses_folder(out: Path, settings: DraftSettings) -> Path:
    """Return the directory of responses: outside the step, because they cost money.

    A request has a cache key of everything that determines its answer, so that a response to
    another prompt is never used for this one.
    """
    if settings.answers:
        return Path(settings.answers)
    out = out.resolve()
    in_build = out.parent.name == _STEPS
    return out.parent.parent / ASKED if in_build else out.with_name(f"{out.name}.{ASKED}")


def _get_kind(name: str, templates: Templates, settings: DraftSettings) -> Kind:
    kind = templates.get_kind(name)
    if kind is None:
        raise UsageError(
            unknown_name(name, [OCR, *(each.name for each in templates.kinds)], "kind")
        )
    if role_of(settings.model) not in {"model", "answers"}:
        raise UsageError(
            "{} cannot draft {}, which requires a language model", settings.model, name
        )
    if not settings.task and settings.benchmark not in kind.tasks:
        raise UsageError(
            "{} does not make items of {}. Set benchmark: {}",
            name,
            settings.benchmark,
            ", ".join(kind.tasks),
        )
    if settings.task and settings.task not in kind.makes:
        raise UsageError("{}: {}", kind.name, unknown_name(settings.task, kind.makes, "task"))
    show = settings.show or kind.shown.get(declared(_list_tasks(kind, settings)[0]).benchmark)
    return change_material(kind, show) if show else kind


def _list_tasks(kind: Kind, settings: DraftSettings) -> list[str]:
    """List the tasks of a kind's drafts, that of new items first."""
    if settings.task:
        return [settings.task]
    made = [settings.benchmark == declared(name).benchmark for name in kind.makes]
    return [name for name, here in zip(kind.makes, made, strict=True) if here]


def _choose_task(kind: Kind, settings: DraftSettings, page: Page) -> str:
    """Choose the task of a page's drafts: that of its item without an answer, else of new ones."""
    tasks = _list_tasks(kind, settings)
    return next((name for name in tasks if page.is_waiting_for(name)), tasks[0])


def _find_targets(
    kind: Kind,
    pages: Sequence[Page],
    templates: Templates,
    settings: DraftSettings,
    lacks: list[str],
) -> Sequence[Page]:
    """Find the pages of a kind's drafts; `lacks` gets a line for the user about the others."""
    completing = [each for each in templates.kinds if each.completes and not settings.task]
    completed = [name for each in completing for name in each.makes]
    tasks = _list_tasks(kind, settings)
    numbers, places = array("q"), array("q")
    missing: Counter[str] = Counter()
    complete = 0
    for number, page in enumerate(pages):
        complete += bool(page.tasks & set(completed))
        for place, target in enumerate(list_targets(page, kind, tasks, completed)):
            if lack := _find_lack(target, kind, settings):
                missing[lack] += 1
            else:
                numbers.append(number)
                places.append(place)
    if kind.completes and complete and not numbers and not missing:
        lacks.append(
            n_(
                "no item without an answer for {}; {n:,} page has items of such tasks. Set task = "
                "… to add a draft to them",
                "no item without an answer for {}; {n:,} pages have items of such tasks. Set task "
                "= … to add a draft to them",
                complete,
                kind.name,
            )
        )
    for lack, count in missing.items():
        what = _describe_lack(lack, kind, settings)
        lacks.append(
            n_(
                "{n:,} page has no draft of the kind {}: missing {}",
                "{n:,} pages have no draft of the kind {}: missing {}",
                count,
                kind.name,
                what,
            )
        )

    def make(place: int) -> Page:
        return list_targets(pages[numbers[place]], kind, tasks, completed)[places[place]]

    return LazyList(len(numbers), make)


def _describe_lack(lack: str, kind: Kind, settings: DraftSettings) -> str:
    """Name the material that a kind's pages lack, with a hint on how to supply it."""
    if lack == "image" and kind.completes:
        return _("image. Name the image of a web page in the same row of the table")
    if lack == "image" and kind.shown and not settings.show:
        return _('image. Set show = "text" to draft from their text')
    names = {
        "image": _("image"),
        "text": _("text"),
        "notes": _("notes"),
        "description": _("description"),
        "keywords": _("keywords"),
    }
    return names.get(lack, lack)


def _find_lack(page: Page, kind: Kind, settings: DraftSettings) -> str:
    """Find what a page lacks for a kind: material, or the value of a placeholder of its prompt."""
    if lack := page.find_missing(kind):
        return lack
    if any(stage.asks_question for stage in kind.stage):
        try:
            make_question(page, _choose_task(kind, settings, page))
        except DataError as error:
            return _("complete question ({})", error.problem)
    return ""


def _describe_shortage(
    kind: Kind, made: Mapping[str, int], pages: Sequence[Page], settings: DraftSettings
) -> Iterator[str]:
    """Describe pages with fewer drafts than requested, and unchecked quotations, a line each."""
    short = unread = 0
    for page in pages:
        count = made.get(page.source.id, 0)
        short += count < settings.per_page
        unread += 0 if page.text.strip() else count
    if kind.exact and short:
        yield _(
            "{} of {} pages have fewer than {} drafts of {}",
            short,
            len(pages),
            settings.per_page,
            kind.name,
        )
    if unread and kind.checks:
        yield n_(
            "{n:,} draft of {} not checked against a text, because their pages have no "
            "transcription",
            "{n:,} drafts of {} not checked against a text, because their pages have no "
            "transcription",
            unread,
            kind.name,
        )


def _transcribe(work: DraftRequester, pages: Sequence[Page]) -> Iterator[Item]:
    """Draft the texts of pages that have none."""
    settings = work.settings
    if role_of(settings.model) == "baseline":
        raise UsageError("{} does not read text. Use an OCR engine, such as ppocr", settings.model)
    numbers = array("q")
    requests = RecordList(Request)
    for number, page in enumerate(pages):
        if page.images and not page.text.strip():
            numbers.append(number)
            requests.append(_make_reading_request(_choose_source(page, settings), settings))
    for number, request, reply in zip(numbers, requests, work.request(requests), strict=True):
        page = _choose_source(pages[number], settings)
        text = work.get_answer(page, OCR, OCR, reply)
        if reply is None or text is None:
            continue
        if why := find_text_fault(text):
            work.list_unused(page, OCR, OCR, "unparsed", f"the text {why}", text)
            continue
        yield make_transcription_item(page, text, reply.lines, task=request.task)


def _make_reading_request(page: Page, settings: DraftSettings) -> Request:
    task = declared(_choose_transcription_task(page, settings))
    return Request(
        item=f"{page.source.id}:{OCR}",
        benchmark=task.benchmark,
        task=task.id,
        form="transcription",
        prompt=task.queries[0].template,
        query=OCR,
        images=page.images,
    )


def _choose_source(page: Page, settings: DraftSettings) -> Page:
    """Return the page with its item without a transcription as the source, if there is one."""
    waiting = (
        item
        for item in page.waiting
        if _is_transcription(item.task) and settings.task in {"", item.task}
    )
    return next((page.with_source(item) for item in waiting), page)


def _is_transcription(task: str) -> bool:
    return declared(task).queries[0].form == "transcription"


def _choose_transcription_task(page: Page, settings: DraftSettings) -> str:
    """Choose the task of a transcription: that of the page's own item without an answer, or set."""
    own = page.source.task
    reads = _is_transcription(own) and page.is_waiting_for(own)
    every = (each.id for each in benchmark(settings.benchmark).tasks if _is_transcription(each.id))
    name = settings.task or (own if reads else next(every, ""))
    if not name:
        raise UsageError("{}: no task of {} asks for a transcription", OCR, settings.benchmark)
    if not _is_transcription(name):
        raise UsageError("{}: task {} does not ask for a transcription", OCR, name)
    return name


def _propose(
    work: DraftRequester, kind: Kind, pages: Sequence[Page], templates: Templates
) -> Iterator[tuple[Page, int, Mapping[str, Values]]]:
    """Yield proposals: the page, the number of the proposal, and the values of each stage."""
    settings = work.settings
    most = settings.per_page if kind.many else 1
    left: array[int] = array("q", range(len(pages)))
    earlier = RecordList(_STAGES, ({} for _ in left))
    for stage in kind.stage:
        last = stage is kind.stage[-1]
        asked = RecordList(
            Request,
            (
                make_request(
                    page,
                    kind,
                    stage,
                    templates,
                    task=_choose_task(kind, settings, page),
                    most=most,
                    earlier=replied,
                )
                for page, replied in zip(map(pages.__getitem__, left), earlier, strict=True)
            ),
        )
        replies = work.request(asked)
        still: array[int] = array("q")
        now = RecordList(_STAGES)
        for place, replied, reply in zip(left, earlier, replies, strict=True):
            page = pages[place]
            text = work.get_answer(page, kind.name, stage.name, reply)
            if text is None:
                continue
            found = parse_reply(text, stage, least=0 if kind.many else 1, most=most)
            if found.why:
                work.list_unused(page, kind.name, stage.name, "unparsed", found.why, text)
                continue
            if not last:
                still.append(place)
                now.append({**replied, stage.name: dict(found.items[0])})
                continue
            for number, values in enumerate(found.items, start=1):
                if why := find_failed_check(kind, values, page.text):
                    work.list_unused(page, kind.name, stage.name, "refused", why, text)
                else:
                    yield page, number, {**replied, stage.name: values}
        left, earlier = still, now


def _check_failed(work: DraftRequester) -> None:
    if work.settings.leave_failed:
        return
    first = next((each for each in work.unused if each.what == "failed"), None)
    if first is not None:
        count = sum(each.what == "failed" for each in work.unused)
        raise DataError(
            n_(
                "{n:,} request failed. The first error: {}",
                "{n:,} requests failed. The first error: {}",
                count,
                first.why,
                hint="Stored responses are kept. Run the same command again, or set leave_failed",
            ),
            item=first.page,
        )


def _report(
    context: StepContext,
    drafts: Sequence[Draft],
    lacks: Sequence[str],
    work: DraftRequester,
) -> None:
    counts = Counter(draft.signature.split()[0] for draft in drafts)
    found = listed(f"{count} {name}" for name, count in counts.items())
    context.note(
        _(
            "drafts: {}. They must be accepted by a person before use in a benchmark",
            found or _("none"),
        )
    )
    for line in lacks:
        context.note(line)
    for what, count in Counter(each.what for each in work.unused).items():
        context.note(_count_unused(what, count))


def _count_unused(what: str, count: int) -> str:
    if what == "failed":
        return _("{} responses failed (tables/unused)", count)
    if what == "unparsed":
        return _("{} responses unparsed (tables/unused)", count)
    return _("{} responses refused (tables/unused)", count)
