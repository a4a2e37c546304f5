"""`replies_of`: a model's stored responses to requests that are made again, such as a judge's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from keju.items import Request, Response
from keju.running.key import request_key
from keju.runs import RunFolder
from keju.runs.record_list import RecordList


def replies_of(
    folder: RunFolder, model: str, identity: Mapping[str, str], requests: Iterable[Request]
) -> Iterator[Response | None]:
    """A model's stored response to each request, or None.

    A stored response to another prompt, or of a model with other settings, is none. Many responses
    are on disk while they are compared.
    """
    responses: RecordList[Response] = RecordList(Response)
    stored: dict[tuple[str, int], list[tuple[int, str, str]]] = {}
    for place, response in enumerate(folder.responses(model)):
        responses.append(response)
        about = place, response.key, response.source_sha256
        stored.setdefault((response.item, response.candidate), []).append(about)
    for request in requests:
        yield next(
            (
                responses[place]
                for place, key, source in stored.get((request.item, request.candidate), ())
                if key == request_key(request, identity, source)
            ),
            None,
        )
