"""Prompts of judges and extractors, in which the answer is delimited; a judge's request.

The answer is untrusted. It is between two delimiters with a number that is computed from all texts
of the prompt; a text that contained the number would have another one. Brackets in the answer that
look like the delimiters' are replaced, so that it cannot close them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from keju.definitions import prompt_of
from keju.items import Item, Request
from keju.judging.answers import AnswerId
from keju.judging.rubrics import Rubrics
from keju.running.requests import seal_of, without_marks

_BLANK = re.compile(r"\{([a-z]+)\}")


def sealed_prompt(
    template: str, blanks: Mapping[str, str], mark: str, text: str, sealed_by: Sequence[str]
) -> str:
    """A prompt with an untrusted text between two delimiters.

    Args:
        template: the prompt with blanks; {answer}, {opening} and {closing} are for the text.
        blanks: what fills the other blanks.
        mark: the word of the delimiters.
        text: the untrusted text.
        sealed_by: the other texts from which the number of the delimiters is computed.
    """
    seal = seal_of(*sealed_by, text)
    values = {
        **blanks,
        "opening": f"⟦{mark} {seal}⟧",
        "answer": without_marks(text),
        "closing": f"⟦{mark}完 {seal}⟧",
    }
    prompt = _BLANK.sub(lambda blank: values.get(blank[1], blank[0]), template.strip())
    return prompt.encode("utf-8", "replace").decode()


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
    question = prompt_of(item)
    reference = "\n或：".join((item.answer, *item.also_accepted))
    shown = rubrics.page_text and item.transcription != item.answer
    source = (item.transcription or "") if shown else ""
    blanks = {
        "rubric": rubric.says.strip(),
        "question": question,
        "source": rubrics.source.replace("{text}", source) if source else "",
        "reference": reference,
        "author": rubrics.author.replace("{name}", author) if author else "",
    }
    sealed_by = (rubrics.id, question, reference)
    return Request(
        item=which.spelled,
        benchmark=item.benchmark,
        task=item.task,
        form="number",
        prompt=sealed_prompt(rubrics.template, blanks, "答卷", text, sealed_by),
        query=probe,
        round=repeat,
    )
