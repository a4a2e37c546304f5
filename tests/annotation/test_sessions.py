"""Sessions: a signed cookie that ends, is bound to the token, and survives a restart."""

from __future__ import annotations

import pytest
from aiohttp import web

from keju.annotation.events import EventLog
from keju.annotation.sessions import LIFETIME, Session, Sessions
from keju.annotation.signing import Signer
from tests.annotation.conftest import ask


def cookie_of(sessions: Sessions, session: Session) -> str:
    response = web.Response()
    sessions.set_cookie(response, "c", session)
    return response.cookies["c"].value


def test_a_session_ends_12_hours_after_the_address_was_opened():
    now = [1_000_000.0]
    sessions = Sessions(Signer("k"), "token", now=lambda: now[0])
    first = sessions.start()
    named = sessions.rename(first, "Li")
    cookies = [cookie_of(sessions, each) for each in (first, named)]
    assert [sessions.read(each).person for each in cookies] == ["", "Li"]
    now[0] += LIFETIME - 1
    assert all(map(sessions.read, cookies))
    now[0] += 1
    assert not any(map(sessions.read, cookies))
    now[0] = 1_000_000.0 - LIFETIME
    assert not any(map(sessions.read, cookies)), "from the future"


def test_another_token_or_key_reads_no_session():
    cookie = cookie_of(Sessions(Signer("k"), "token"), Sessions(Signer("k"), "token").start("Li"))
    assert Sessions(Signer("k"), "token").read(cookie).person == "Li"
    assert Sessions(Signer("k"), "new token").read(cookie) is None
    assert Sessions(Signer("other"), "token").read(cookie) is None


def test_a_signed_value_is_read_for_its_purpose_and_type_alone():
    signer = Signer("k")
    text = signer.sign("a", ["x", 1])
    assert signer.read("a", text, list) == ["x", 1]
    assert signer.read("b", text, list) is None
    assert signer.read("a", text, Session) is None
    assert signer.read("a", text + "0", list) is None
    body, _, signature = text.partition(".")
    for wrong in (f"A{body}.{signature}", f"{body[:-4]}.{signature}", f".{signature}", "", "."):
        assert signer.read("a", wrong, list) is None


def test_a_restart_keeps_sessions_and_another_cookie_does_not_enter(serving, dataset, tmp_path):
    served = serving(dataset, tmp_path / "run")
    cookie = served.cookie("Li")
    again = serving(dataset, tmp_path / "run")
    assert "<bdi>Li</bdi>" in ask(again.port, "GET", "/", cookies={"keju-0": cookie}).text
    refused = ask(again.port, "POST", "/exam/1", cookies={"keju-0": cookie + "0"},
                  form={"act": "skip"}, X_Keju="script")  # fmt: skip
    assert refused.status == 403
    assert refused.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("site", ["cross-site", "none", "same-origin", ""])
def test_the_address_works_from_a_link_of_another_site(serving, dataset, tmp_path, site):
    served = serving(dataset, tmp_path / "run")
    path = f"/exam?t={served.token}&x=%22%3E%3Cb%3E"
    headers = {"Sec_Fetch_Site": site} if site else {}
    entered = ask(served.port, "GET", path, **headers)
    assert "SameSite=Strict" in entered.headers["Set-Cookie"]
    if site == "cross-site":
        assert entered.status == 200
        assert 'content="0;url=/exam?x=' in entered.text
        assert "<b>" not in entered.text
    else:
        assert entered.status == 303


def test_a_new_token_keeps_the_key(tmp_path):
    events = EventLog(tmp_path / "acts.sqlite")
    key, token = events.get_key(), events.get_token()
    assert len(key) >= 32
    assert key != token
    events.get_token(renew=True)
    assert events.get_key() == key
    events.close()
