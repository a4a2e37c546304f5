"""Checks of the models of a run against its prompts and its form of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from keju.definitions.wordings import RELEASED, Wording, own_wordings
from keju.errors import UsageError
from keju.models import Model, ModelOptions
from keju.models.base import ENDPOINTS
from keju.running.selection import Selection, takes_no_prompt
from keju.texts import Text, _, listed


def with_own_prompts(options: ModelOptions, wordings: Mapping[str, Wording]) -> ModelOptions:
    """The model options, with the texts of the user's own wordings, which must not contain a key.

    Raises:
        UsageError: there are two system prompts.
    """
    stored = {}
    for name, own in wordings.items():
        systems = [own.system, *(prompt.system for prompt in own.prompts.values())]
        if options.system_prompt and any(systems):
            raise UsageError(
                "--system-prompt: wording {} has a system prompt too. Use only one of them", name
            )
        stored[f"--prompts ({name})"] = "\n".join(
            [own.what, *systems, *(prompt.ask for prompt in own.prompts.values())]
        )
    return replace(options, stored=stored)


def check_models(
    models: Sequence[Model], options: ModelOptions, selection: Selection
) -> list[Text]:
    """Check that the models can answer in the selected wordings and form of pairs.

    Replayed answers to pairs must have the form that is selected now: in another form the same
    number means another candidate.

    Returns:
        Notes on tasks that are not run in the user's own prompts, and on unused system prompts.

    Raises:
        UsageError: every model is an OCR engine, which has no prompt, and the wordings are the
            user's own; or replayed answers come from a run in another form of pairs, or not from a
            run while a reduced form is selected.
    """
    wordings = own_wordings(selection.wordings).values()
    names = [model.name for model in models]
    if wordings and all(map(takes_no_prompt, names)):
        raise UsageError(
            "--prompts: {} takes no prompt, because it is an OCR engine. Remove the option",
            ", ".join(names),
        )
    notes = []
    has_system = any(wording.system for wording in wordings)
    if wordings and RELEASED not in selection.wordings and not has_system:
        forms = dict.fromkeys(form for wording in wordings for form in wording.prompts)
        note = _(
            "Only {} are run: the wordings have no prompts for other tasks. Add --wording "
            "released to run the other tasks with the published prompts",
            listed(forms),
        )
        notes.append(note)
    for model in models:
        if options.system_prompt and model.identity.get("kind") not in ENDPOINTS:
            note = _(
                "{} does not accept a system prompt and is run without --system-prompt", model.name
            )
            notes.append(note)
        stored = model.pair_forms
        if stored is not None and (stored or {""}) != {selection.pairs or ""}:
            raise UsageError(
                "{}: its responses are of {}, but --pairs is {}. The candidates have other "
                "numbers there. Use the form in which they were asked",
                model.name,
                ", ".join(form or "all pairs" for form in sorted(stored)) or _("no run"),
                selection.pairs or _("not given"),
            )
    return notes
