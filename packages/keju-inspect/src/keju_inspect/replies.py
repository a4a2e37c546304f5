"""Parser of a vendor's reply as Inspect returns it: content, reasoning, stop reason."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai.model import ModelOutput, ModelUsage

from keju.errors import printable, shortened
from keju.items import Usage
from keju.models.base import Answer, AskError
from keju.models.openai import plausible
from keju.models.replies import excerpt, status_of_ending
from keju.texts import _


def answer_of(output: ModelOutput, hide: Callable[[str], str] = str) -> Answer:
    """Read an output; content and reasoning parts are kept as Inspect gives them.

    Args:
        output: what the provider returned.
        hide: returns a text without any key; used before a long error is cut.

    Raises:
        AskError: it contains no answer: no choice (``bad-response``), a refusal (``refused``), or
            an error that Inspect converted to a text (``refused`` or ``bad-request``).
    """
    if output.empty:
        raise AskError("bad-response", _("the reply has no choices"), retryable=True)
    reason, content = output.stop_reason, output.message.content
    parts = [] if isinstance(content, str) else content
    said = content if isinstance(content, str) else "\n".join(
        part.text for part in parts if part.type == "text"
    )  # fmt: skip
    if output.usage is None and reason in {"content_filter", "model_length"}:
        # This is not a model's text, but the server's error, which Inspect returns as an answer.
        kind = "refused" if reason == "content_filter" else "bad-request"
        raise AskError(kind, excerpt(hide(said)) or reason)
    if any(part.type == "text" and part.refusal for part in parts):
        raise AskError("refused", excerpt(hide(said)))
    thoughts = [part.reasoning or "" for part in parts if part.type == "reasoning"]
    return Answer(
        text=said,
        thinking="\n".join(filter(None, thoughts)),
        # "unknown" is also what Inspect makes of a reply without a reason.
        status=status_of_ending("" if reason == "unknown" else reason, said),
        finish_reason=reason,
        usage=_usage(output.usage),
        served_model=shortened(printable(output.model), 120),
    )


def _usage(usage: ModelUsage | None) -> Usage:
    """Tokens as the vendor bills them, including those of its cache.

    Inspect reports 0 tokens of a prompt where the vendor reports none.
    """
    if usage is None:
        return Usage()
    cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    prompt_tokens = usage.input_tokens + sum(filter(None, cached))
    return Usage(
        input_tokens=plausible(prompt_tokens),
        output_tokens=plausible(usage.output_tokens),
        thinking_tokens=plausible(usage.reasoning_tokens, 0),
    )
