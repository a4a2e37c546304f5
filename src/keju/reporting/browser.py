"""What the report's item browser reads: every item with its answers, scores and differences."""

from __future__ import annotations

from typing import Any

from keju.benchmarks import options_of, prompt_of, query_of, task
from keju.errors import KejuError
from keju.items import ImageRef, Item
from keju.reporting.differences import differences
from keju.reporting.gather import Answer, Asked, Gathered, main_metric
from keju.scoring import PROTOCOLS

_LONGEST = 20_000
_MOST_RELEVANT = 12

Json = dict[str, Any]


def browser_data(gathered: Gathered) -> Json:
    """Items in the datasets' order, and the pictures they name by number."""
    rows: list[Json] = []
    images: list[str] = []
    first: dict[str, int] = {}
    for asked in gathered.asked.values():
        pictures = asked.run.pictures
        places = [pictures.index(ref) for ref in _shown(asked.item)]
        row = _item(asked)
        row["images"] = []
        for place in places:
            if place is not None:
                url = pictures.urls[place]
                row["images"].append(first.setdefault(url, len(first)))
                if len(first) > len(images):
                    images.append(url)
        rows.append(row)
    return {"items": rows, "images": images}


def _item(asked: Asked) -> Json:
    item = asked.item
    known = task(item.task)
    truth = item.answer or item.answer_simplified or ", ".join(map(str, item.relevant))
    answers = [_answer(item, truth, answer) for answer in asked.answers]
    words = [item.id, item.question, truth, *item.options]
    words += [answer["text"][:2000] for answer in answers]
    return {
        "id": item.id,
        "task": item.task,
        "task_name": f"{known.name_zh} {known.name_en}"
        + (f" · {item.query}" if item.query else ""),
        "question": _question(item),
        "options": list(options_of(item)),
        "truth": truth,
        "note": " · ".join([*_of_pairs(item), *map(": ".join, item.metadata.items())]),
        "search": "\n".join(words).lower(),
        "answers": answers,
    }


def _shown(item: Item) -> tuple[ImageRef, ...]:
    """An item's pictures; of a gallery the one asked about, and those that belong to it."""
    if not item.relevant:
        return item.images
    places = [place for place in item.relevant if place < len(item.images)]
    return (*item.images[:1], *(item.images[place] for place in places[:_MOST_RELEVANT]))


def _of_pairs(item: Item) -> list[str]:
    if not item.relevant:
        return []
    return [
        f"one picture against {len(item.images) - 1:,} candidates; shown with those that belong "
        "to it"
    ]


def _question(item: Item) -> str:
    try:
        return prompt_of(item)
    except KejuError:
        return item.question


def _answer(item: Item, truth: str, answer: Answer) -> Json:
    response = answer.response
    strict = [score for score in answer.scores if score.protocol == "strict"]
    mains = {protocol: main_metric(item, protocol) for protocol in PROTOCOLS}
    read_out = next((score for score in strict if score.extracted), None)
    row: Json = {
        "model": answer.model,
        "text": response.text[:_LONGEST],
        "status": response.status,
        "verdict": next((score.verdict for score in answer.scores), ""),
        "scores": [
            [
                score.protocol,
                score.metric,
                score.value,
                score.reason,
                score.metric == mains[score.protocol],
            ]
            for score in answer.scores
        ],
    }
    if read_out is not None:
        row["extracted"] = read_out.extracted
        row["extracted_from"] = read_out.extracted_from
    if response.round > 1:
        row["round"] = response.round
    if response.error is not None:
        row["error"] = f"{response.error.kind}: {response.error.message}"
    main = next((score for score in strict if score.metric == mains["strict"]), None)
    if main is not None and main.value is not None:
        row["main"] = main.value
    if query_of(item).form == "transcription" and response.text:
        row["diff"] = [list(part) for part in differences(truth, response.text)]
    return row
