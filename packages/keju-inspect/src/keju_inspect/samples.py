"""Conversion of a response to an Inspect sample: request, answer and error."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import msgspec
from inspect_ai._util.error import EvalError
from inspect_ai.log import EvalSample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from msgspec.structs import replace

from keju.definitions import has_reference
from keju.files import sha256_bytes
from keju.items import ImageRef, Item, Request, Response, Score, get_group
from keju.models.images import mime_of
from keju.running.request_rebuilding import RequestRebuilder
from keju_inspect.scores import scores_of

_STOPS: dict[str, StopReason] = {"truncated": "max_tokens", "filtered": "content_filter"}


def sample_of(
    response: Response, item: Item, rebuilder: RequestRebuilder, scores: Sequence[Score]
) -> EvalSample:
    """The sample of one response, with its scores."""
    request = rebuilder.request(item, response)
    sample = _answered(response, _messages(request, response, rebuilder))
    pair = f"#{response.candidate}" if response.candidate else ""
    return sample.model_copy(
        update={
            "id": f"{item.id}{pair}",
            "target": _target(item, response),
            "choices": [f"{each}" for each in item.options] or None,
            "scores": scores_of(scores, item, response.text) or None,
            "metadata": {
                "group": get_group(item),
                "pictures": [ref.path for ref in request.images],
                **item.metadata,
                **sample.metadata,
            },
        }
    )


def reading_of(response: Response) -> EvalSample:
    """The sample of a transcription of an item's images; it is named after the images."""
    return _answered(response, [])


def _messages(
    request: Request, response: Response, rebuilder: RequestRebuilder
) -> list[ChatMessage]:
    """The system prompt, if any; then the question."""
    found: list[ChatMessage] = []
    if system := rebuilder.system_of(request, response.model):
        found.append(ChatMessageSystem(id=_name(response, "system"), content=system))
    content = _content(request.images, request.prompt, rebuilder)
    return [*found, ChatMessageUser(id=_name(response, "asked"), content=content)]


def _content(images: Sequence[ImageRef], prompt: str, rebuilder: RequestRebuilder) -> list[Content]:
    """The images in order, then the prompt; without a dataset, the names of the images."""
    found: list[Content] = []
    for ref in images:
        if rebuilder.dataset is None:
            found.append(ContentText(text=f"[{ref.path}, {ref.width} × {ref.height}]"))
            continue
        data = base64.b64encode(rebuilder.dataset.image_bytes(ref)).decode()
        found.append(ContentImage(image=f"data:{mime_of(ref)};base64,{data}"))
    return [*found, ContentText(text=prompt)]


def _answered(response: Response, asked: list[ChatMessage]) -> EvalSample:
    wrong = response.error
    said = f"{wrong.kind}: {wrong.message}" if wrong else ""
    output = _output(response)
    kept = msgspec.to_builtins(replace(response, text="", thinking=""))
    return EvalSample(
        id=response.item,
        epoch=response.round,
        input=asked,
        target="",
        messages=[*asked, *(choice.message for choice in output.choices)],
        output=output,
        metadata={"keju": kept},
        model_usage={response.model: output.usage} if output.usage else {},
        total_time=response.seconds,
        uuid=_name(response, "sample"),
        error=EvalError(message=said, traceback=said, traceback_ansi=said) if wrong else None,
    )


def _output(response: Response) -> ModelOutput:
    choices = []
    if response.error is None:
        stop = _STOPS.get(response.status, "stop")
        choices.append(ChatCompletionChoice(message=_message(response), stop_reason=stop))
    said = response.error.message if response.error else None
    return ModelOutput(
        model=response.model,
        choices=choices,
        usage=_usage(response),
        time=response.seconds,
        error=said,
    )


def _message(response: Response) -> ChatMessageAssistant:
    content: list[Content] = [ContentText(text=response.text)]
    if response.thinking:
        content.insert(0, ContentReasoning(reasoning=response.thinking))
    return ChatMessageAssistant(
        id=_name(response, "answer"), content=content, source="generate", model=response.model
    )


def _usage(response: Response) -> ModelUsage | None:
    usage = response.usage
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    given, made = usage.input_tokens or 0, usage.output_tokens or 0
    return ModelUsage(
        input_tokens=given,
        output_tokens=made,
        total_tokens=given + made,
        reasoning_tokens=usage.thinking_tokens,
    )


def _target(item: Item, response: Response) -> str | list[str]:
    """The reference: for a pair, whether it belongs together; for boxes, their positions.

    Empty where the item has no reference.
    """
    if not has_reference(item):
        return ""
    if response.candidate:
        return "yes" if response.candidate in item.relevant else "no"
    if item.answer or not item.boxes:
        return [item.answer, *item.also_accepted] if item.also_accepted else item.answer
    sides: list[list[Any]] = [[box.x0, box.y0, box.x1, box.y1] for box in item.boxes]
    return msgspec.json.encode(sides).decode()


def _name(response: Response, part: str) -> str:
    place = (response.key, response.item, response.candidate, response.round, response.model, part)
    return sha256_bytes(msgspec.json.encode(place))[:22]
