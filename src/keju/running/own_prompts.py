"""Checks of a user's own prompts before requests are sent: system prompts, secrets, OCR engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from keju.definitions.wordings import RELEASED, own_wordings
from keju.errors import UsageError
from keju.models import Model, ModelOptions
from keju.models.base import ENDPOINTS
from keju.running.reading import takes_no_prompt
from keju.running.selecting import Selection
from keju.texts import _, listed


def with_own_prompts(options: ModelOptions, selection: Selection) -> ModelOptions:
    """The model options, with the texts of the user's own wordings, which must not contain a key.

    Raises:
        UsageError: there are two system prompts.
    """
    stored = {}
    for name, own in own_wordings(selection.wordings).items():
        systems = [own.system, *(prompt.system for prompt in own.prompts.values())]
        if options.system_prompt and any(systems):
            raise UsageError(
                "--system-prompt: wording {} has a system prompt too. Use only one of them", name
            )
        stored[f"--prompts ({name})"] = "\n".join(
            [own.what, *systems, *(prompt.ask for prompt in own.prompts.values())]
        )
    return replace(options, stored=stored)


def check_takes_prompts(models: Sequence[Model], selection: Selection) -> None:
    """Check that at least one model takes a prompt if the wordings are the user's own.

    Raises:
        UsageError: every model is an OCR engine, which has no prompt.
    """
    names = [model.name for model in models]
    if own_wordings(selection.wordings) and all(map(takes_no_prompt, names)):
        raise UsageError(
            "--prompts: {} takes no prompt, because it is an OCR engine. Remove the option",
            ", ".join(names),
        )


def prompt_notes(
    models: Sequence[Model], options: ModelOptions, selection: Selection
) -> Iterator[str]:
    """Notes on where the user's own prompts are not used: one line per model, and one for tasks."""
    own = own_wordings(selection.wordings).values()
    if own and RELEASED not in selection.wordings and not any(each.system for each in own):
        forms = dict.fromkeys(form for each in own for form in each.prompts)
        yield _(
            "Only {} are run: the wordings have no prompts for other tasks. Add --wording "
            "released to run the other tasks with the published prompts",
            listed(forms),
        )
    for model in models:
        sent = model.identity.get("kind") in ENDPOINTS
        if options.system_prompt and not sent:
            yield _(
                "{} does not accept a system prompt and is run without --system-prompt", model.name
            )
        if own and takes_no_prompt(model.name):
            if RELEASED in selection.wordings:
                yield _(
                    "{} does not accept a prompt and is run in the published wording only",
                    model.name,
                )
            else:
                yield _("{} does not accept a prompt and is not run", model.name)
