"""The annotation app, served over a small dataset with every kind of question."""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace

from keju.annotation import AnnotationApp, AppOptions
from keju.annotation.auth import AccessControl
from keju.annotation.connections import Connections
from keju.annotation.server import Server
from keju.annotation.startup import open_server
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import query_of, task
from keju.errors import DataError
from keju.items import Item, Provenance
from keju.running import Selection, run
from tests.support import children
from tests.support.making import make_dataset

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\u202egnp.exe\u2066"
REFERENCES = 3


def small_items() -> list[Item]:
    """Of the bundled set one item of each kind of question, and some with their answers known."""
    found: dict[tuple[str, ...], Item] = {}
    known: list[Item] = []
    for item in Dataset.open(mini.path()).items():
        try:
            form = query_of(item).form
        except DataError:
            continue
        pairs = task(item.task).of_pairs
        if item.split == "reference":
            known.append(item)
        elif not pairs:
            found.setdefault((item.benchmark, form), item)
        elif item.query == "Yes-or-No" or (form, "pairs") not in found:
            kept = tuple(place for place in item.relevant if place < 4) or (1,)
            found.setdefault((form, "pairs"), replace(item, images=item.images[:4], relevant=kept))
    return [*found.values(), *known[:REFERENCES]]


def write_dataset(path: Path, items: list[Item]) -> Path:
    """Write items of the bundled set as a dataset."""
    return make_dataset(path, items, images_of=Dataset.open(mini.path()))


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of question once."""
    return write_dataset(tmp_path_factory.mktemp("web") / "set", small_items())


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """A run of two replayed models over drafts: open answers, and unclear ones to options."""
    everything = Dataset.open(mini.path()).items()
    items = [
        next(item for item in everything if item.task == name and item.split == "test")
        for name in ("T2", "T6", "T5", "T10")
    ]
    step = Provenance(step="draft", tool="proposer 1")
    items = [replace(item, draft=item.task != "T10", provenance=(step,)) for item in items]
    path = write_dataset(tmp_path / "set", items)
    for model, said in (("one", "A、B"), ("two", f"A和C都可以。{HOSTILE}")):
        texts = {item.id: said if item.options else item.answer[:9] + said for item in items}
        lines = [json.dumps({"item": name, "text": text}) for name, text in texts.items()]
        (tmp_path / f"{model}.jsonl").write_text("\n".join(lines), "utf-8")
    models = [f"replay:{tmp_path}/{name}.jsonl" for name in ("one", "two")]
    # In a thread: Playwright has a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(run, path, models, tmp_path / "run", selection=Selection()).result()
    return tmp_path / "run"


class Served:
    """The annotation app behind a server in its own thread."""

    def __init__(self, app: AnnotationApp, limits: Connections | None = None) -> None:
        self.app = app
        self.limits = limits
        self._cookies: dict[str, str] = {}
        self.token = app.events.get_token()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = self._call(self._start())

    async def _start(self) -> int:
        self.access = AccessControl(self.app.signer, self.token, "127.0.0.1", 0)
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        self._server = Server(self.app, self.access)
        self._runner, self._doors = await open_server(self._server, listening, self.limits)
        return port

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def collect(self) -> None:
        """Export, as every half minute."""
        self._call(self._server.collect())

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def entry(self, where: str = "/") -> str:
        """The address at which people come in."""
        return f"{self.root}{where}?t={self.token}"

    def cookie(self, person: str = "") -> str:
        """The session cookie of a person, who opened the address and gave a name."""
        if person not in self._cookies:
            self._cookies[person] = sign_in(self.port, self.token, person, "keju-0")
        return self._cookies[person]

    def ask(self, method: str, path: str, *, person: str = "", form=None, **headers: str):
        """One request of a person; gives the response with its text read.

        A form is sent as by a browser that has just opened its page, unless it says what was shown.
        """
        cookies = {"keju-0": self.cookie(person)}
        if method == "POST" and form is not None and path != "/who":
            form = {"shown": self.shown(path, person, form), **form}
        return ask(self.port, method, path, cookies=cookies, form=form, **headers)

    def shown(self, path: str, person: str, form: Mapping[str, str] = MappingProxyType({})) -> str:
        """What the page at a path says that it shows."""
        page = ask(self.port, "GET", path, cookies={"keju-0": self.cookie(person)})
        return hidden(page.text, "shown")

    async def _close(self) -> None:
        self._doors.close()
        await self._runner.cleanup()

    def stop(self) -> None:
        """End the server as the command does, the answers written out."""
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


def hidden(text: str, name: str) -> str:
    """The value of a hidden field of a page; empty where there is none."""
    found = re.search(rf'type="hidden" name="{name}" value="([^"]*)"', text)
    return html.unescape(found[1]) if found else ""


def session_in(response: HTTPResponse, name: str) -> str:
    """The session cookie that a response sets."""
    return next(morsel.partition(";")[0].partition("=")[2]
                for morsel in response.headers.get_all("Set-Cookie")
                if morsel.startswith(f"{name}="))  # fmt: skip


def sign_in(port: int, token: str, person: str, name: str) -> str:
    """Open the address and give a name, as a person does; gives the session cookie."""
    cookie = session_in(ask(port, "GET", f"/?t={token}"), name)
    if not person:
        return cookie
    page = ask(port, "GET", "/who", cookies={name: cookie})
    form = {"name": person, "next": "/", "ticket": hidden(page.text, "ticket")}
    return session_in(ask(port, "POST", "/who", cookies={name: cookie}, form=form), name)


def ask(port: int, method: str, path: str, *, cookies=None, form=None, **headers: str):
    """One request to this machine; gives the response, its text in `text`."""
    link = HTTPConnection("127.0.0.1", port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if cookies:
        sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    body = None
    if form is not None:
        body = urlencode(form)
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    link.request(method, path, body, sent)
    response: HTTPResponse = link.getresponse()
    response.text = response.read().decode("utf-8", "replace")
    link.close()
    return response


@pytest.fixture
def serving() -> Iterator:
    """Serve annotation apps, and stop them after the test."""
    opened: list[Served] = []

    def serve(
        what: Path, out: Path | None = None, limits: Connections | None = None, **choice: object
    ) -> Served:
        app = AnnotationApp(what, out, AppOptions(**choice))
        opened.append(Served(app, limits))
        return opened[-1]

    yield serve
    for each in opened:
        each.stop()
        each.app.close()


def _without(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Debian's Chromium, driven by Playwright, whose loop must not run on into other tests."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _without("the package playwright is not installed: make install-semantic")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if program is None:
        pytest.skip("needs Chromium (Debian: chromium)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def set_session(browser) -> Iterator:
    """A person at a browser of their own; what goes wrong in the page fails the test."""
    contexts, wrong = [], []

    def set_session(served: Served, person: str, where: str = "/", **settings: object):
        context = browser.new_context(viewport={"width": 1200, "height": 800}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        come_in(page, served, person, where)
        return page

    yield set_session
    for context in contexts:
        context.close()
    assert not wrong


def come_in(page, served: Served, person: str, where: str = "/") -> None:
    """Open the address, give a name, and go somewhere."""
    page.goto(served.entry("/who"))
    page.locator("#name").fill(person)
    page.locator("form.name button").click()
    page.wait_for_url(f"{served.root}/")
    page.goto(f"{served.root}{where}")


def after(page, act) -> None:
    """Do something that leads to another card, and wait until it is there."""
    ticket = page.locator("input[name=ticket]").get_attribute("value")
    act()
    page.wait_for_function(
        "was => { const now = document.querySelector('input[name=ticket]');"
        " return document.readyState === 'complete' && now && now.value !== was }",
        arg=ticket,
    )


@pytest.fixture
def command(dataset: Path, tmp_path: Path) -> Iterator:
    """Starts ``keju serve`` itself; gives the process, its port and the address it says."""
    started: list[subprocess.Popen[str]] = []

    def start(*more: str) -> tuple[subprocess.Popen[str], int, str]:
        process = children.started(
            [sys.executable, "-m", "keju", "serve", dataset, "--out", tmp_path / "run",
             "--port", "0", *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        address = process.stdout.readline().strip().rpartition(" ")[2]
        assert address, process.communicate()[1]
        return process, int(address.split("/?")[0].rpartition(":")[2]), address

    yield start
    for process in started:
        process.kill()
        process.communicate()
