"""`StoredResponses`: a model's stored responses, found by requests that are made again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from keju.items import Request, Response
from keju.running.key import request_key
from keju.runs.record_list import RecordList


class StoredResponses:
    """Responses of a model, such as a judge's replies or the transcriptions of images.

    Many responses are on disk; in memory are their places, about 300 bytes each.
    """

    def __init__(self, responses: Iterable[Response]) -> None:
        self._responses: RecordList[Response] = RecordList(Response)
        self._places: dict[tuple[str, int, str, int], list[int]] = {}
        for place, response in enumerate(responses):
            self._responses.append(response)
            name = response.item, response.candidate, response.script, response.round
            self._places.setdefault(name, []).append(place)

    def find(
        self, request: Request, identity: Mapping[str, str], source_sha256: str | None = None
    ) -> Response | None:
        """The latest response to a request, or None.

        A stored response to another prompt, or of a model with other settings, is none.

        Args:
            request: the request.
            identity: the identity of the model.
            source_sha256: the SHA-256 of the file that has the response now; None for any.
        """
        name = request.item, request.candidate, request.script, request.round
        for place in reversed(self._places.get(name, ())):
            response = self._responses[place]
            source = response.source_sha256
            same_source = source_sha256 in (None, source)
            if same_source and response.key == request_key(request, identity, source):
                return response
        return None

    def find_all(
        self, requests: Iterable[Request], identity: Mapping[str, str]
    ) -> Iterator[Response | None]:
        """The latest response to each request, or None."""
        return (self.find(request, identity) for request in requests)
