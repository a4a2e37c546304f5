"""`Renewal`: finds stored responses that no longer belong to their requests and are sent again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from keju.errors import UsageError, number_of, shortened
from keju.items import Response
from keju.messages import message
from keju.models import RESULTS, Model
from keju.running.outcomes import Job
from keju.running.reading import NO_READING, failure_of
from keju.running.store import StoredResponse


class Renewal:
    """Compares the stored responses of one model with its present requests.

    A response that was read from a file is replaced if the file changed; one that failed because of
    another program's transcription is replaced if there is a transcription now. Any other
    difference is an error, because answers may have been paid for.

    Args:
        model: the model.
        place: the name of the run in errors.
    """

    def __init__(self, model: Model, place: str) -> None:
        self._model = model
        self._place = place
        self._of_files = model.identity.get("kind") == RESULTS
        self._counts: Counter[str] = Counter()

    def is_needed(self, stored: StoredResponse, job: Job, reading: Response | None) -> bool:
        """Whether the request is to be sent again.

        Raises:
            UsageError: the stored response is to another prompt.
        """
        if stored.kind == NO_READING:
            return reading is not None and failure_of(reading) is None
        if stored.key == job.key:
            self._counts["kept"] += 1
            return False
        if not self._of_files:
            raise UsageError(
                message(
                    "running.response-of-other-prompt",
                    place=self._place,
                    name=self._model.name,
                    item=shortened(job.request.item),
                )
            )
        if stored.source_sha256 != job.source_sha256:
            known, now = bool(stored.source_sha256), bool(job.source_sha256)
            self._counts["changed" if known and now else "new" if now else "gone"] += 1
        return True

    def lines(self) -> Iterator[str]:
        """The changes of result files since they were read, one line; none if nothing changed."""
        changed = [
            f"{number_of(self._counts[kind], 'result file')} {words}"
            for kind, words in (("new", "new"), ("changed", "changed"), ("gone", "gone"))
            if self._counts[kind]
        ]
        if changed:
            kept = number_of(self._counts["kept"], "other page")
            yield (
                f"{self._model.name}: {', '.join(changed)} since the last call: these pages are "
                f"read again, {kept} kept"
            )
