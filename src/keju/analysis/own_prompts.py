"""The user's own prompts in a report's runs: their complete texts, and the results with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import convert

from keju.analysis.run_set import RunSet
from keju.definitions import prompt_of, query_of
from keju.definitions.wordings import Wording, own_wordings
from keju.errors import KejuError
from keju.items import Item, PromptScript
from keju.texts import _, listed


class OwnPrompt(NamedTuple):
    """One prompt of a wording: its texts as they are sent, never converted between scripts.

    `template` is empty where the published one is used. `sent` is the whole prompt of the item
    `item`, the first with it.
    """

    run: str
    wording: str
    form: str
    template: str
    system: str
    item: str
    sent: str


def own_prompts(run_set: RunSet) -> list[OwnPrompt]:
    """Every prompt of the users' own wordings, each text once."""
    several = len(run_set.runs) > 1
    found: dict[tuple[str, str], OwnPrompt] = {}
    for run in run_set.runs:
        for name, own in own_wordings(run.manifest.wordings).items():
            for row in _prompts(run_set, name, own, run.manifest.scripts[0]):
                shown = row._replace(run=run.name if several else "")
                found.setdefault((name, row.form), shown)
    return list(found.values())


def _prompts(run_set: RunSet, name: str, own: Wording, script: str) -> Iterator[OwnPrompt]:
    """The prompts of one wording, and the published ones that only get its system prompt."""
    firsts: dict[tuple[str, str], Item] = {}
    lasts: dict[tuple[str, str], int] = {}
    for number, each in enumerate(run_set.iter_items()):
        firsts.setdefault((each.task, each.query), each)
        lasts[each.task, each.query] = number
    latest = sorted(firsts, key=lambda place: -lasts[place])
    forms = {"/".join(filter(None, place)): firsts[place] for place in latest}
    for form in dict.fromkeys([*own.prompts, *(forms if own.system else ())]):
        item = forms.get(form)
        prompt = own.prompts.get(form) or (item and own.prompt(item.task, item.query))
        if prompt:
            yield OwnPrompt(
                "", name, form, prompt.ask, prompt.system or own.system,
                item.id if item else "", _sent(item, name, script) if item else "",
            )  # fmt: skip


def _sent(item: Item, name: str, script: str) -> str:
    try:
        return prompt_of(item, script=convert(script, PromptScript), wording=name)
    except KejuError:
        return ""  # The item has no value for a placeholder, and was not sent.


def prompt_notes(run_set: RunSet, benchmark: str) -> Iterator[str]:
    """The rows of a benchmark's leaderboard with another prompt than the paper's."""
    asked = {
        answer.model
        for each in run_set.asked
        if each.item.benchmark == benchmark and query_of(each.item).official
        for answer in each.answers
    }
    own = [
        f"{name} (--system-prompt)" if model_responses.instructed else name
        for name, model_responses in run_set.by_model.items()
        if name in asked and model_responses.own_prompt
    ]
    if own:
        yield _("Not the paper's prompt, even under official: {}", listed(own))
