"""Event log of the annotation app: an append-only SQLite file.

An event is a row: which person did what about which subject in which queue. Undoing is an event
too. A row is on disk (WAL, ``synchronous=FULL``) before the browser gets the
response, so that neither kill -9 nor a power loss loses a submission.
"""

from __future__ import annotations

import secrets
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from keju.errors import DataError
from keju.texts import _

FORMAT = 0x6B656A31
"""``kej1``: the application id of these SQLite files."""

BUSY_MS = 10_000
"""The maximum time to wait for another writer, in milliseconds."""

Kind = Literal["answer", "skip", "undo"]
_T = TypeVar("_T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS acts (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  person TEXT NOT NULL,
  desk TEXT NOT NULL,
  subject TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('answer', 'skip', 'undo')),
  value TEXT NOT NULL,
  seconds REAL NOT NULL,
  undoes INTEGER UNIQUE REFERENCES acts (id),
  ticket TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS acts_of ON acts (desk, person, subject);
CREATE INDEX IF NOT EXISTS acts_sent ON acts (ticket);
CREATE TRIGGER IF NOT EXISTS acts_stay BEFORE UPDATE ON acts
  BEGIN SELECT RAISE(ABORT, 'acts only grow'); END;
CREATE TRIGGER IF NOT EXISTS acts_last BEFORE DELETE ON acts
  BEGIN SELECT RAISE(ABORT, 'acts only grow'); END;
CREATE TABLE IF NOT EXISTS house (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_COLUMNS = "id, at, person, desk, subject, kind, value, seconds"
_VALID = "kind != 'undo' AND id NOT IN (SELECT undoes FROM acts WHERE undoes IS NOT NULL)"

_INSERT = """
INSERT INTO acts (at, person, desk, subject, kind, value, seconds, undoes, ticket)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
WHERE NOT EXISTS (
  SELECT 1 FROM (SELECT kind, value FROM acts WHERE ticket = ? ORDER BY id DESC LIMIT 1)
  WHERE kind = ? AND value = ?
)
ON CONFLICT DO NOTHING
"""
"""Insert an event unless the same page sent the same one last, which means that the response was
lost and the browser repeats the request. A different answer from an earlier page is stored."""


class Event(NamedTuple):
    """One event: `value` is JSON, `at` UTC, `seconds` the time that the page was displayed."""

    id: int
    at: str
    person: str
    queue: str
    subject: str
    kind: Kind
    value: str
    seconds: float


def decode_event(event: Event | None, kind: type[_T]) -> _T | None:
    """Decode the record that a person stored; None if there is no answer."""
    if event is None or event.kind != "answer":
        return None
    return msgspec.json.decode(event.value, type=kind)


class EventLog:
    """The open event log. One process writes; its threads take turns.

    Raises:
        DataError: the file is not an event log, or it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # It contains the token and what people wrote, so other users of the machine may not
            # read it.
            path.touch(0o600)
            self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            why = _(
                "the file of people's answers cannot be opened: {}",
                error,
                hint="Make the file writable, and close other programs that use it",
            )
            raise DataError(why, file=path) from None
        except sqlite3.Error as error:
            why = _(
                "the file does not contain people's answers: {}",
                error,
                hint="Move the file away; keju then creates a new one",
            )
            raise DataError(why, file=path) from None

    def _open(self) -> None:
        self._file.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        self._use_write_ahead_log()
        self._file.execute("PRAGMA synchronous = FULL")
        (tables,) = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (mark,) = self._file.execute("PRAGMA application_id").fetchone()
        if not tables:
            # Another server may create it at the same moment; it must be created once.
            self._file.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {FORMAT}; COMMIT;"
            )
        elif mark != FORMAT:
            raise sqlite3.DatabaseError(_("the file belongs to another program"))

    def _use_write_ahead_log(self) -> None:
        # SQLite does not wait for another server that opens the file at the same moment: a change
        # of the journal mode fails at once, whatever `busy_timeout` is.
        deadline = monotonic() + BUSY_MS / 1000
        while True:
            try:
                self._file.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                    raise
                sleep(0.01)
            else:
                return

    def close(self) -> None:
        """Close the file, after the query of another thread has ended.

        SQLite crashes the process if a connection is closed while a thread uses it.
        """
        with self._turn:
            self._file.close()

    def add(
        self,
        person: str,
        queue: str,
        subject: str,
        value: str,
        *,
        kind: Kind = "answer",
        seconds: float = 0.0,
        ticket: str = "",
    ) -> bool:
        """Store an event; it is on disk when this function returns.

        `value` is JSON, `seconds` the time that the page was displayed; a card that is left for
        later has the kind ``skip``. The same event sent twice with one ticket counts once.

        Returns:
            False if the page had sent the same event before.

        Raises:
            DataError: the event cannot be written to disk.
        """
        return self._insert(person, queue, subject, kind, value, seconds, None, ticket)

    def undo(self, person: str, queue: str, ticket: str = "") -> Event | None:
        """Undo a person's last event in a queue and return it; None if there is none.

        If one page sends the same request twice, it undoes one event and returns it twice.
        """
        if (first := self._find_undone(person, queue, ticket)) is not None:
            return first
        rows = self._select(
            f"SELECT {_COLUMNS} FROM acts WHERE desk = ? AND person = ? AND {_VALID} "  # noqa: S608
            "ORDER BY id DESC LIMIT 1",
            queue,
            person,
        )
        if not rows:
            return None
        last = Event(*rows[0])
        if self._insert(person, queue, last.subject, "undo", "null", 0.0, last.id, ticket):
            return last
        # Another window, or a repeated request of this page, undid it in between.
        return self._find_undone(person, queue, ticket) or last

    def _find_undone(self, person: str, queue: str, ticket: str) -> Event | None:
        """The event that a page undid, if that is the last event from the page."""
        if not ticket:
            return None
        rows = self._select(
            "SELECT undoes FROM (SELECT undoes, desk, person FROM acts WHERE ticket = ? "
            "ORDER BY id DESC LIMIT 1) WHERE undoes IS NOT NULL AND desk = ? AND person = ?",
            ticket,
            queue,
            person,
        )
        return self.get_event(rows[0][0]) if rows else None

    def _select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query, as no other thread changes the file."""
        with self._turn:
            return self._file.execute(query, values).fetchall()

    def _insert(self, *row: object) -> bool:
        *rest, ticket = row
        kind, value = rest[3:5]
        values = (_now(), *rest, ticket or secrets.token_hex(16))
        try:
            with self._turn:
                cursor = self._file.execute(_INSERT, (*values, ticket, kind, value))
        except sqlite3.Error as error:
            why = _(
                "the answer was not stored: {}",
                error,
                hint="Make the disk writable and submit again",
            )
            raise DataError(why, file=self.path) from None
        return cursor.rowcount == 1

    def find_latest(self, queue: str, person: str | None = None) -> dict[tuple[str, str], Event]:
        """Current event of each person and subject of a queue: the last one that was not undone.

        Its seconds are those of all events about that subject, including undone ones.
        """
        found: dict[tuple[str, str], Event] = {}
        spent: dict[tuple[str, str], float] = {}
        whose, persons = ("AND person = ?", (person,)) if person else ("", ())
        selected = self._select(
            f"SELECT {_COLUMNS}, undoes FROM acts WHERE desk = ? {whose} ORDER BY id",  # noqa: S608
            queue,
            *persons,
        )
        rows, undone = [(Event(*row), undoes) for *row, undoes in selected], set()
        for event, undoes in rows:
            place = (event.person, event.subject)
            spent[place] = spent.get(place, 0.0) + event.seconds
            if undoes is not None:
                undone.add(undoes)
        for event, __ in rows:
            place = (event.person, event.subject)
            if event.kind != "undo" and event.id not in undone:
                found[place] = event._replace(seconds=spent[place])
        return found

    def get_event(self, number: int) -> Event | None:
        """The event with that number."""
        rows = self._select(f"SELECT {_COLUMNS} FROM acts WHERE id = ?", number)  # noqa: S608
        return Event(*rows[0]) if rows else None

    def count_by_person(self, queue: str) -> dict[str, int]:
        """All people with events in a queue, in order of their first, with the number of events."""
        counts = "SELECT person, count(*) FROM acts WHERE desk = ? GROUP BY person ORDER BY min(id)"
        return dict(self._select(counts, queue))

    def count(self) -> int:
        """The number of events."""
        return int(self._select("SELECT count(*) FROM acts")[0][0])

    def get_token(self, *, renew: bool = False) -> str:
        """The access token; kept over restarts unless a new one is requested."""
        return self._get_secret("token", renew=renew)

    def get_key(self) -> str:
        """The key that signs pages and cookies; kept over restarts."""
        return self._get_secret("key")

    def bind_dataset(self, hash_now: str) -> str:
        """The hash of the dataset of the exam's answers; the given one if there are no answers."""
        with self._turn:
            self._file.execute(
                "INSERT INTO house VALUES ('dataset', ?) ON CONFLICT (name) DO UPDATE SET value = "
                "excluded.value WHERE NOT EXISTS (SELECT 1 FROM acts WHERE desk = 'exam')",
                (hash_now,),
            )
            found = self._file.execute("SELECT value FROM house WHERE name = 'dataset'")
            (stored,) = found.fetchone()
        return str(stored)

    def _get_secret(self, name: str, *, renew: bool = False) -> str:
        with self._turn:
            if renew:
                self._file.execute("DELETE FROM house WHERE name = ?", (name,))
            self._file.execute(
                "INSERT INTO house VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, secrets.token_urlsafe(24)),
            )
            found = self._file.execute("SELECT value FROM house WHERE name = ?", (name,))
            (secret,) = found.fetchone()
        return str(secret)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
