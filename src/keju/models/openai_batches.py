"""The batch endpoints of the OpenAI API: upload a file of requests, download a file of replies.

Half the price and up to a day's wait: ``POST /files``, ``POST /batches``, ``GET /batches/ID``,
``GET /files/ID/content``. A line of the file names its request by `custom_id`; replies come in any
order. Each batch has a tag of ours in its metadata, by which a batch is found whose creation was
not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from keju.models.base import AskError
from keju.models.batch_support import Batch, Result
from keju.models.http_client import Form, Wire, error_of_exception
from keju.models.openai_errors import error_of_reply
from keju.models.reply_json import as_utf8, repaired_json
from keju.texts import _

TAG = "keju"
_ANSWERS_MAY_BE = 4 << 30
_T = TypeVar("_T")
_CUSTOM_ID = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')
_PAGE = 100
_PAGES = 20


class _File(Struct):
    id: str


class _Listed(Struct):
    data: list[Batch]
    has_more: bool = False


class Batches:
    """The batch endpoints of one server.

    Args:
        endpoint: its base URL.
        headers: the headers of every request, including the key.
        timeout: seconds for one exchange; a file may take as long.
        hidden: removes the key from the server's messages.
    """

    def __init__(
        self,
        endpoint: str,
        headers: Mapping[str, str],
        timeout: float,
        hidden: Callable[[str], str],
    ) -> None:
        self._wire = Wire(endpoint, timeout)
        self._headers = {k: v for k, v in headers.items() if k.lower() != "content-type"}
        self._hidden = hidden

    async def submit(self, file: Path, tag: str) -> Batch:
        """Upload a file of requests and start a batch.

        Raises:
            AskError: the server rejects it.
        """
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        with file.open("rb") as stream:
            form.add_field(
                "file", stream, filename=f"{tag}.jsonl", content_type="application/jsonl"
            )
            stored = await self._ask("POST", "/files", _File, data=form)
        asked = {
            "input_file_id": stored.id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {TAG: tag},
        }
        return await self._ask("POST", "/batches", Batch, data=msgspec.json.encode(asked))

    async def look(self, name: str) -> Batch:
        """The state of a batch.

        Raises:
            AskError: the server does not report it.
        """
        return await self._ask("GET", f"/batches/{name}", Batch)

    async def tagged(self, tag: str) -> Batch | None:
        """The batch with a tag of ours, searched among the last 2,000.

        Raises:
            AskError: the server does not list them.
        """
        after = ""
        for __ in range(_PAGES):
            path = f"/batches?limit={_PAGE}{after}"
            listed = await self._ask("GET", path, _Listed)
            for batch in listed.data:
                if batch.metadata and batch.metadata.get(TAG) == tag:
                    return batch
            if not listed.has_more or not listed.data:
                return None
            after = f"&after={listed.data[-1].id}"
        return None

    async def results(self, batch: Batch) -> list[Result]:
        """All lines of a batch's results, replies and errors.

        Raises:
            AskError: a file cannot be downloaded, or does not have that form.
        """
        results: list[Result] = []
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            body = await self._fetched("GET", f"/files/{file}/content")
            lines = filter(bytes.strip, body.split(b"\n"))
            results += [result_in(line, batch) for line in lines]
        return results

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _ask(
        self, method: str, path: str, shape: type[_T], *, data: Form | None = None
    ) -> _T:
        body = await self._fetched(method, path, data=data)
        try:
            return msgspec.json.decode(repaired_json(as_utf8(body)), type=shape)
        except (ValueError, RecursionError) as error:
            raise AskError(
                "bad-response", _("the reply to {} {}: {}", method, path, error)
            ) from None

    async def _fetched(self, method: str, path: str, *, data: Form | None = None) -> bytes:
        headers = self._headers
        if isinstance(data, bytes):
            headers = {**headers, "Content-Type": "application/json"}
        try:
            reply = await self._wire.exchange(
                method, path, headers=headers, data=data, most=_ANSWERS_MAY_BE
            )
        except (aiohttp.ClientError, OSError) as error:
            failure = self._wire.through_proxy(error_of_exception(error))
            raise AskError(failure.kind, self._hidden(str(failure))) from None
        if not HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
            failure = error_of_reply(reply.status, reply.body, reply.headers)
            failure = self._wire.through_proxy(failure)
            said = self._hidden(f"{method} {path.partition('?')[0]}: {failure}")
            raise AskError(failure.kind, said)
        return reply.body


def result_in(line: bytes, batch: Batch) -> Result:
    """A line of results; a damaged one is a failure of the request that it names.

    Raises:
        AskError: it names no request.
    """
    try:
        return msgspec.json.decode(line, type=Result)
    except (ValueError, RecursionError):
        pass
    line = as_utf8(line)
    try:
        return msgspec.json.decode(repaired_json(line), type=Result)
    except (AskError, ValueError, RecursionError) as error:
        problem = _("a result of batch {}: {}", batch.id, error)
    if named := _CUSTOM_ID.search(line):
        return Result(custom_id=named[1].decode(), error={"message": str(problem)})
    raise AskError("bad-response", problem)
