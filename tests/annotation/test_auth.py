"""Who gets in: those with the token, by this machine's name, from its own pages."""

from __future__ import annotations

import socket
from http.client import HTTPConnection

import pytest

from keju.annotation.auth import is_loopback
from keju.annotation.events import EventLog
from tests.annotation.conftest import ask, sign_in


@pytest.fixture
def served(serving, dataset, tmp_path):
    return serving(dataset, tmp_path / "run")


@pytest.mark.parametrize("path", ["/", "/exam", "/exam/1", "/assets/queue.js", "/nowhere"])
def test_without_the_token_nothing_is_shown(served, path):
    for there, cookies in (
        (path, {}),
        (path, {"keju-0": "wrong"}),
        (f"{path}?t=", {}),
        (f"{path}?t=wrong", {}),
        (f"{path}?t=wrong", {"keju-0": served.cookie()}),
        (path, {"keju-0": served.token}),
        (path, {"keju-0": served.cookie()[:-1]}),
        (path, {"keju-0": f"{served.cookie()}x"}),
    ):
        refused = ask(served.port, "GET", there, cookies=cookies)
        assert refused.status == 403, there
        assert "token" in refused.text
        assert "small" not in refused.text
        assert "Set-Cookie" not in refused.headers


def test_the_token_leaves_the_address_for_a_session(served):
    entered = ask(served.port, "GET", f"/exam?t={served.token}&lang=zh")
    assert entered.status == 303
    assert entered.headers["Location"] == "/exam?lang=zh"
    cookie = entered.headers["Set-Cookie"]
    assert served.token not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Max-Age=43200" in cookie
    assert served.ask("GET", "/", person="Li").status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/%5Cevil.example/", "///evil.example"])
@pytest.mark.parametrize("query", ["t={}", "lang=zh"])
def test_redirects_stay_on_this_site(served, path, query):
    led = served.ask("GET", f"{path}?{query.format(served.token)}", person="Li")
    assert led.status == 303
    assert not led.headers["Location"].startswith(("//", "/\\"))
    assert led.headers["Location"].startswith("/")


BODIES = [
    ("application/x-www-form-urlencoded; charset=none", b"name=Li"),
    ("application/x-www-form-urlencoded; charset=utf-16", b"name=Li"),
    ("multipart/form-data", b"name=Li"),
    ("multipart/form-data; boundary=x", b"name=Li"),
    ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="na'),
    ("multipart/form-data; boundary=x",
     b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n\xff\r\n--x--\r\n'),
    ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\nLi"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body"), BODIES)
def test_a_body_that_is_not_a_form_is_rejected(served, kind, body):
    link = HTTPConnection("127.0.0.1", served.port, timeout=30)
    head = {"Cookie": f"keju-0={served.cookie()}", "Content-Type": kind}
    link.request("POST", "/who", body, head)
    assert link.getresponse().status == 400
    link.close()


def test_nothing_can_be_sent_without_the_token(served, tmp_path):
    refused = ask(served.port, "POST", "/exam/1", form={"act": "skip"},
                  cookies={"keju-0": "x"})  # fmt: skip
    assert refused.status == 403
    assert served.app.events.count() == 0


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.7", "", "[::", "a b"])
def test_another_host_name_is_rejected(served, host):
    assert served.ask("GET", "/", person="Li", Host=host).status == 403


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}"])
def test_names_of_this_machine_are_accepted(served, host):
    assert served.ask("GET", "/", person="Li", Host=host.format(served.port)).status == 200


def test_a_form_of_another_site_is_refused(served):
    form = {"act": "skip", "ticket": "1"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
        refused = served.ask("POST", "/exam/1", person="Li", form=form, Origin=origin)
        assert refused.status == 403
    assert served.app.events.count() == 0
    taken = served.ask("POST", "/exam/1", person="Li", form=form, Origin=served.root)
    assert taken.status == 303
    assert served.app.events.count() == 1


def test_every_response_has_the_content_security_policy(served):
    for path in ("/", "/exam/1", "/assets/web.css", "/nowhere"):
        headers = served.ask("GET", path, person="Li").headers
        assert "default-src 'none'" in headers["Content-Security-Policy"], path
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["/assets/..%2fserver.py", "/assets/%2e%2e%2fgate.py", "/assets/page.html.j2", "/image/../x",
     "/image/" + "0" * 64, "/files/acts.sqlite", "/files/..%2facts.sqlite", "/exam/0", "/exam/999",
     "/exam/-1", "/assets/%00.js", "/assets/" + "a" * 300 + ".js"],
)  # fmt: skip
def test_other_files_of_the_disk_are_not_served(served, path):
    assert served.ask("GET", path, person="Li").status == 404


def test_only_this_machine_can_reach_it_by_default(command):
    process, port, _ = command()
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass
    lines = [process.stderr.readline() for _ in range(2)]
    assert any("Only this computer" in line for line in lines), lines
    own = _address_of_this_machine()
    if own is None:
        pytest.skip("this machine has no other address than loopback")
    with pytest.raises((ConnectionRefusedError, TimeoutError)):
        socket.create_connection((own, port), timeout=2)
    assert process.poll() is None


def _address_of_this_machine() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only says from which address it would be.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return None if is_loopback(probe.getsockname()[0]) else probe.getsockname()[0]


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("127.0.0.2", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("library.example", False)],
)  # fmt: skip
def test_loopback_addresses_are_recognised(host, alone):
    assert is_loopback(host) == alone


def test_another_host_address_warns_and_is_reachable_by_number(command):
    process, port, said = command("--host", "0.0.0.0")
    token = said.rpartition("=")[2]
    name = socket.gethostname().lower()
    assert f"http://{name}:{port}/" in said
    cookies = {f"keju-{port}": sign_in(port, token, "", f"keju-{port}")}
    assert ask(port, "GET", "/who", cookies=cookies, Host="10.0.0.7").status == 200
    assert ask(port, "GET", "/who", cookies=cookies, Host=f"{name}:{port}").status == 200
    assert ask(port, "GET", "/who", cookies=cookies, Host="evil.example").status == 403
    process.terminate()
    _, printed = process.communicate(timeout=30)
    assert "warning: everyone who can reach 0.0.0.0" in printed
    assert "Everyone who reaches this computer" in printed


def test_the_address_is_valid_after_a_restart(command, tmp_path):
    events = EventLog(tmp_path / "run" / "people" / "acts.sqlite")
    token = events.get_token()
    events.close()
    _, _, said = command()
    assert said.endswith(f"/?t={token}")
