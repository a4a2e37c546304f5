"""What people do is kept: nothing is lost, changed or counted twice."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from keju.annotation.events import EventLog
from keju.errors import DataError


@pytest.fixture
def events(tmp_path):
    opened = EventLog(tmp_path / "people" / "acts.sqlite")
    yield opened
    opened.close()


def test_the_file_is_closed_after_the_query_of_another_thread(events):
    with ThreadPoolExecutor(1) as pool:
        with events._turn:
            closing = pool.submit(events.close)
            with pytest.raises(TimeoutError):
                closing.result(0.05)
            assert events._file.execute("SELECT count(*) FROM acts").fetchone() == (0,)
        closing.result(10)
    with pytest.raises(sqlite3.ProgrammingError):
        events.find_latest("exam")


def test_the_last_event_counts(events):
    events.add("李", "exam", "q1", '"A"')
    events.add("李", "exam", "q1", '"B"')
    events.add("Wang", "exam", "q1", '"C"')
    progress = events.find_latest("exam")
    assert progress["李", "q1"].value == '"B"'
    assert progress["Wang", "q1"].value == '"C"'
    assert list(events.find_latest("exam", "李")) == [("李", "q1")]
    assert events.find_latest("rating") == {}


def test_undo_removes_one_event_after_the_other_of_the_same_person(events):
    for value in ("1", "2"):
        events.add("Li", "exam", "q", value)
    events.add("Wang", "exam", "q", "9")
    assert events.undo("Li", "exam").value == "2"
    assert events.find_latest("exam")["Li", "q"].value == "1"
    assert events.undo("Li", "exam").value == "1"
    assert events.undo("Li", "exam") is None
    assert events.find_latest("exam") == {("Wang", "q"): events.find_latest("exam")["Wang", "q"]}


def test_an_undo_sent_twice_removes_one_event_and_returns_it_twice(events):
    for number in "12":
        events.add("Li", "exam", f"q{number}", number)
    first = events.undo("Li", "exam", "page")
    assert first.subject == "q2"
    assert events.undo("Li", "exam", "page") == first
    assert {subject for _, subject in events.find_latest("exam")} == {"q1"}
    assert events.undo("Li", "exam", "next page").subject == "q1"
    events.add("Li", "exam", "q3", "3", ticket="next page")
    assert events.undo("Li", "exam", "next page").subject == "q3"


def test_the_time_of_a_card_is_the_sum_of_its_events(events):
    events.add("Li", "exam", "q", "null", kind="skip", seconds=2.5)
    events.add("Li", "exam", "q", "1", seconds=4)
    events.undo("Li", "exam")
    events.add("Li", "exam", "q", "2", seconds=1)
    assert events.find_latest("exam")["Li", "q"].seconds == 7.5


def test_a_page_that_is_sent_twice_counts_once(events):
    assert events.add("Li", "exam", "q", "1", ticket="t")
    assert not events.add("Li", "exam", "q", "1", ticket="t")
    assert events.count() == 1


def test_another_answer_from_an_earlier_page_is_stored(events):
    for value in ("1", "2", "1"):
        assert events.add("Li", "exam", "q", value, ticket="t")
    assert events.find_latest("exam")["Li", "q"].value == "1"
    assert events.count() == 3


def test_a_full_disk_is_a_data_error(events):
    pages = events._file.execute("PRAGMA page_count").fetchone()[0]
    events._file.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DataError, match="was not stored"):
        events.add("Li", "exam", "q", f'"{"x" * 100_000}"')
    assert events.count() == 0


def test_rows_are_never_changed_nor_removed(events):
    events.add("Li", "exam", "q", "1")
    other = sqlite3.connect(events.path)
    for wrong in ("UPDATE acts SET value = '2'", "DELETE FROM acts"):
        with pytest.raises(sqlite3.IntegrityError, match="only grow"):
            other.execute(wrong)
    other.close()


def test_the_token_is_kept_until_it_is_renewed(events):
    first = events.get_token()
    assert len(first) >= 32
    again = EventLog(events.path)
    assert again.get_token() == first
    assert again.get_token(renew=True) != first
    assert again.get_token() == events.get_token()
    again.close()


def test_other_users_cannot_read_the_file(events):
    assert events.path.stat().st_mode & 0o077 == 0


def test_a_file_that_is_not_an_event_log_is_rejected(tmp_path):
    path = tmp_path / "acts.sqlite"
    path.write_text("not a database, but long enough to be taken for one " * 40)
    with pytest.raises(DataError, match="does not contain people's answers"):
        EventLog(path)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE mine (x)")
    file.close()
    with pytest.raises(DataError, match="belongs to another program"):
        EventLog(other)


def test_a_locked_file_has_another_hint_than_a_damaged_one(events, monkeypatch):
    holder = sqlite3.connect(events.path, isolation_level=None)
    events.close()
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("keju.annotation.events.BUSY_MS", 10)
    with pytest.raises(DataError, match="cannot be opened: database is locked") as caught:
        EventLog(events.path)
    assert "Move" not in str(caught.value)
    holder.close()


def test_servers_that_create_one_file_at_once_can_all_use_it(tmp_path):
    together = Barrier(8)

    def begin(path, number):
        together.wait()
        events = EventLog(path)
        events.add(f"P{number}", "exam", "q", "1")
        events.close()

    # One attempt in fifteen failed while SQLite did not wait for the change of the journal mode.
    for attempt in range(20):
        path = tmp_path / f"{attempt}.sqlite"
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(begin, [path] * 8, range(8)))
        events = EventLog(path)
        assert events.count() == 8
        events.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from keju.annotation.events import EventLog
events = EventLog(Path(sys.argv[1]))
for number in range(20):
    events.add("Li", "exam", f"q{number}", "1")
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_no_stored_event(tmp_path):
    path = tmp_path / "acts.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == -9
    events = EventLog(path)
    said = events.find_latest("exam")
    events.close()
    assert len(said) == len(done.stdout.split()) == 20
