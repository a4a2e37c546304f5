"""The prompt of a judge: the rubric, the question, the reference, and the delimited answer.

The answer is untrusted. It is between two delimiters with a number that is computed from all texts
of the prompt; a text that contained the number would have another one. Brackets in the answer that
look like the delimiters' are replaced, so that it cannot close them.
"""

from __future__ import annotations

import re

from keju.definitions import prompt_of
from keju.items import Item, Request
from keju.judging.answers import AnswerId
from keju.judging.rubrics import Rubrics
from keju.running.requests import seal_of, without_marks

_BLANK = re.compile(r"\{([a-z]+)\}")


def grading_request(
    which: AnswerId,
    item: Item,
    text: str,
    rubrics: Rubrics,
    *,
    repeat: int = 1,
    probe: str = "",
    author: str = "",
) -> Request:
    """A request for a grade; it does not name the model of the answer.

    Args:
        which: the answer; its spelled id becomes the request's item, because the judge's response
            is about an answer.
        item: the item.
        text: the answer to grade.
        rubrics: these contain one for the item's query.
        repeat: the number of the repeat, from 1; it becomes the request's round.
        probe: the name of a probe of the judge; it becomes the request's query.
        author: a name to append to the answer, for a probe.

    Raises:
        ValueError: there is no rubric for the item.
        DataError: the item's prompt cannot be made.
    """
    rubric = rubrics.rubric(item.task, item.query)
    if rubric is None:
        raise ValueError(f"no rubric for {item.task}")
    question, reference = prompt_of(item), _reference(item)
    shown = rubrics.page_text and item.transcription != item.answer
    source = (item.transcription or "") if shown else ""
    seal = seal_of(rubrics.id, question, reference, text)
    fill = {
        "rubric": rubric.says.strip(),
        "question": question,
        "source": rubrics.source.replace("{text}", source) if source else "",
        "reference": reference,
        "author": rubrics.author.replace("{name}", author) if author else "",
        "answer": without_marks(text),
        "opening": f"⟦答卷 {seal}⟧",
        "closing": f"⟦答卷完 {seal}⟧",
    }
    prompt = _BLANK.sub(lambda blank: fill.get(blank[1], blank[0]), rubrics.template.strip())
    return Request(
        item=which.spelled,
        benchmark=item.benchmark,
        task=item.task,
        form="number",
        prompt=prompt.encode("utf-8", "replace").decode(),
        query=probe,
        round=repeat,
    )


def _reference(item: Item) -> str:
    return "\n或：".join((item.answer, *item.also_accepted))
