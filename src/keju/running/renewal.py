"""`Renewal`: finds stored responses that no longer belong to their requests and are sent again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from keju.errors import UsageError, shortened
from keju.items import Response
from keju.models import RESULTS, Model
from keju.running.outcomes import Job
from keju.running.reading import NO_READING, failure_of
from keju.running.store import StoredResponse
from keju.texts import join_parts, n_


class Renewal:
    """Compare the stored responses of one model with its present requests.

    A response that was read from a result file (``replay:``) is replaced if the file changed. One
    that failed because its transcription was missing is replaced if a transcription exists now. Any
    other difference is an error, so that no response that may have cost money is replaced.

    Args:
        model: the model.
        place: the name of the run in errors.
    """

    def __init__(self, model: Model, place: str) -> None:
        self._model = model
        self._place = place
        self._reads_files = model.identity.get("kind") == RESULTS
        self._counts: Counter[str] = Counter()

    def is_needed(self, stored: StoredResponse, job: Job, reading: Response | None) -> bool:
        """Whether the request must be sent again.

        Raises:
            UsageError: the stored response belongs to a different prompt.
        """
        if stored.kind == NO_READING:
            return reading is not None and failure_of(reading) is None
        if stored.key == job.key:
            self._counts["kept"] += 1
            return False
        if not self._reads_files:
            raise UsageError(
                "{}: the stored response of {} to {} was produced by a different prompt or "
                "transcription. Use a different --out",
                self._place,
                self._model.name,
                shortened(job.request.item),
            )
        if stored.source_sha256 != job.source_sha256:
            known, now = bool(stored.source_sha256), bool(job.source_sha256)
            self._counts["changed" if known and now else "new" if now else "gone"] += 1
        return True

    def lines(self) -> Iterator[str]:
        """Yield one line on the result files that changed since the last call, if any did."""
        new, changed, gone = (self._counts[kind] for kind in ("new", "changed", "gone"))
        parts = [n_("{n:,} new result file", "{n:,} new result files", new)] if new else []
        parts += (
            [n_("{n:,} changed result file", "{n:,} changed result files", changed)]
            if changed
            else []
        )
        parts += (
            [n_("{n:,} removed result file", "{n:,} removed result files", gone)] if gone else []
        )
        if parts:
            yield n_(
                "{}: {} since the last call. The pages of these files are read again; {n:,} "
                "other page is kept",
                "{}: {} since the last call. The pages of these files are read again; {n:,} "
                "other pages are kept",
                self._counts["kept"],
                self._model.name,
                join_parts(parts),
            )
