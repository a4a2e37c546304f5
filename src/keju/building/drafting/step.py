"""Step ``draft``: items proposed by an OCR engine or a language model, for a person to review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from keju.benchmarks import task as declared
from keju.building.bench import Bench
from keju.building.drafting.asking import Drafting, DraftSettings, Unused
from keju.building.drafting.making import item_of, read_item
from keju.building.drafting.pages import Page, asked_of, pages_of
from keju.building.drafting.replies import Values, refused, taken, unfit
from keju.building.drafting.templates import Kind, Templates, read_templates
from keju.building.settings import unlike
from keju.building.step import Step
from keju.errors import DataError, UsageError
from keju.items import Item, Request
from keju.models import role_of
from keju.runs import RunFolder

OCR = "ocr"
"""The kind that needs no template: what the task itself asks."""

ASKED = "asked"
"""Where replies are kept: in a build BUILD/asked, of a command OUT.asked beside its dataset."""

_STEPS = "steps"
"""The folder of a build's steps."""

_READING = {"MCS-Bench": "T1", "AncientDoc": "page_level_ocr"}


def draft(bench: Bench, settings: DraftSettings) -> None:
    """Pass every item on and add what is proposed, each a draft.

    A page whose text is known is not read again, and what was drafted before is not proposed again.

    Raises:
        UsageError: no such kind or task, or a model that cannot draft it.
        DataError: requests failed or are left; the same command goes on with them.
        PrerequisiteError: the model needs something that is not installed.
    """
    templates = read_templates(settings.templates)
    kinds = [_kind(name, templates, settings) for name in settings.kinds if name != OCR]
    work = Drafting(bench.given, settings, RunFolder(_kept(bench.out, settings)))
    items = bench.items()
    pages = pages_of(items)
    lacking: Counter[tuple[str, str]] = Counter()
    drafts: list[tuple[Item, str]] = []
    if OCR in settings.kinds:
        drafts += [(item, OCR) for item in _read(work, pages)]
    filled = {item.id for item, _ in drafts}
    for kind in kinds:
        lacking.update((kind.name, lack) for page in pages if (lack := page.lacks(kind)))
        fit = [page for page in pages if not page.lacks(kind) and kind.name not in page.drafted]
        for page, number, stages in _proposed(work, kind, fit, templates):
            rng = bench.rng(page.source.id, kind.name, str(number))
            name = _task(kind, settings)
            fills = page.source.id not in filled
            item = item_of(page, kind, stages, number, task=name, rng=rng, fills=fills)
            filled.add(item.id)
            drafts.append((item, templates.signature(kind)))
    _check_failed(work)
    for item in items:
        if item.id not in filled:
            bench.keep(item)
    for item, signature in drafts:
        bench.keep(item, tool=settings.model, note=signature)
    bench.table("unused", work.unused, Unused)
    _say(bench, drafts, lacking, work)


STEP = Step("draft", "Propose items: OCR engines read, language models ask.", DraftSettings, draft)


def _kept(out: Path, settings: DraftSettings) -> Path:
    """Where replies lie: outside the step, for they were paid for and outlive its settings.

    A request bears a key of all that decides its answer, so that an old reply to another prompt is
    never taken for one to this.
    """
    if settings.answers:
        return Path(settings.answers)
    out = out.resolve()
    in_build = out.parent.name == _STEPS
    return out.parent.parent / ASKED if in_build else out.with_name(f"{out.name}.{ASKED}")


def _kind(name: str, templates: Templates, settings: DraftSettings) -> Kind:
    kind = templates.kind(name)
    if kind is None:
        raise UsageError(unlike(name, [OCR, *(each.name for each in templates.kinds)], "kind"))
    if role_of(settings.model) not in {"model", "answers"}:
        raise UsageError(f"{settings.model} cannot draft {name}: that takes a language model")
    if not settings.task and settings.benchmark not in kind.tasks:
        raise UsageError(
            f"{name} makes no items of {settings.benchmark}. Say benchmark: {', '.join(kind.tasks)}"
        )
    _task(kind, settings)
    return kind


def _task(kind: Kind, settings: DraftSettings) -> str:
    """The task of the items that a kind makes here."""
    if not settings.task:
        return kind.tasks[settings.benchmark]
    known = [*kind.tasks.values(), *kind.other_tasks]
    if settings.task not in known:
        raise UsageError(f"{kind.name}: {unlike(settings.task, known, 'task')}")
    return settings.task


def _read(work: Drafting, pages: Sequence[Page]) -> Iterator[Item]:
    """Drafts of the texts of pages that have none."""
    settings = work.settings
    if role_of(settings.model) == "baseline":
        raise UsageError(f"{settings.model} reads nothing. An engine: ppocr")
    unread = [page for page in pages if page.images and not page.text.strip()]
    names = [_reading_task(page, settings) for page in unread]
    requests = [
        Request(
            item=f"{page.source.id}:{OCR}",
            benchmark=declared(name).benchmark,
            task=name,
            form="transcription",
            prompt=declared(name).queries[0].template,
            query=OCR,
            images=page.images,
        )
        for page, name in zip(unread, names, strict=True)
    ]
    for page, name, reply in zip(unread, names, work.ask(requests), strict=True):
        text = work.usable(page, OCR, OCR, reply)
        if reply is None or text is None:
            continue
        if why := unfit(text):
            work.list_unused(page, OCR, OCR, "unparsed", f"the text {why}", text)
            continue
        yield read_item(page, text, reply.lines, task=name)


def _reading_task(page: Page, settings: DraftSettings) -> str:
    """The task of which a reading is: that for which the page's own item waits, else as is said."""
    own = page.source.task
    reads = declared(own).queries[0].form == "transcription" and page.waits_for(own)
    name = settings.task or (own if reads else _READING[settings.benchmark])
    if declared(name).queries[0].form != "transcription":
        raise UsageError(f"{OCR}: task {name} asks for no transcription")
    return name


def _proposed(
    work: Drafting, kind: Kind, pages: Sequence[Page], templates: Templates
) -> Iterator[tuple[Page, int, Mapping[str, Values]]]:
    """What a model proposes: the page, the number of the proposal, and what each stage said."""
    settings = work.settings
    name = _task(kind, settings)
    most = settings.per_page if kind.many else 1
    said: dict[str, dict[str, Values]] = {page.source.id: {} for page in pages}
    for stage in kind.stage:
        last = stage is kind.stage[-1]
        asked = [
            asked_of(page, kind, stage, templates, task=name, most=most,
                     earlier=said[page.source.id])
            for page in pages
        ]  # fmt: skip
        replies = work.ask(asked)
        still = []
        for page, reply in zip(pages, replies, strict=True):
            text = work.usable(page, kind.name, stage.name, reply)
            if text is None:
                continue
            found = taken(text, stage, least=0 if kind.many else 1, most=most)
            if found.why:
                work.list_unused(page, kind.name, stage.name, "unparsed", found.why, text)
                continue
            still.append(page)
            if not last:
                said[page.source.id][stage.name] = found.items[0]
                continue
            for number, values in enumerate(found.items, start=1):
                if why := refused(kind, values, page.text):
                    work.list_unused(page, kind.name, stage.name, "refused", why, text)
                else:
                    yield page, number, {**said[page.source.id], stage.name: values}
        pages = still


def _check_failed(work: Drafting) -> None:
    failed = [each for each in work.unused if each.what == "failed"]
    if failed and not work.settings.leave_failed:
        raise DataError(
            f"{len(failed)} requests failed, the first so: {failed[0].why}",
            item=failed[0].page,
            mend="What was answered is kept: run the same again, or say leave_failed",
        )


def _say(
    bench: Bench,
    drafts: Sequence[tuple[Item, str]],
    lacking: Mapping[tuple[str, str], int],
    work: Drafting,
) -> None:
    counts = Counter(signature.split()[0] for _, signature in drafts)
    said = ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
    bench.note(f"drafts: {said}; they are no items of a benchmark before a person accepts them")
    for (name, lack), count in lacking.items():
        bench.note(f"{count} pages were not asked about for {name}: they have no {lack}")
    for what, count in Counter(each.what for each in work.unused).items():
        bench.note(f"{count} replies {what} (tables/unused)")
