"""The report in a real browser: it shows its items and asks no server for anything."""

from __future__ import annotations

import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from lxml import html

from keju.analysis.labels import metric_definition
from keju.items import Response
from keju.reporting.item_browser import _reasoning
from keju.reporting.page import write_report
from keju.text import answer_part
from tests.support.scored_runs import HOSTILE

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-domain-reliability",
]  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")


@pytest.fixture
def seen(scored_run, tmp_path):
    """The page as Chromium shows it, and every request that Chromium made of any server."""
    write_report([scored_run], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_bytes()
    asked: list[str] = []

    class Everything(BaseHTTPRequestHandler):
        """A server that is also the proxy, so that a request to any host comes here."""

        def do_GET(self):
            asked.append(self.path)
            self.send_response(200 if self.path.endswith("/report.html") else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page if self.path.endswith("/report.html") else b"")

        def do_CONNECT(self):
            asked.append(self.path)
            self.send_error(403)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Everything)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    done = subprocess.run(
        [
            CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}",
            f"--proxy-server=http://{address}", "--proxy-bypass-list=<-loopback>",
            "--virtual-time-budget=3000", "--dump-dom", f"http://{address}/report.html",
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    server.shutdown()
    return html.fromstring(done.stdout), asked


def test_it_shows_the_first_item_with_both_answers_and_asks_for_nothing_but_itself(seen):
    page, asked = seen
    assert [each.text_content() for each in page.xpath("//ul[@id='list']//button")]
    assert len(page.xpath("//article[@id='item']//section")) == 2
    assert page.xpath("//article[@id='item']//img/@src")[0].startswith("data:image/jpeg")
    own = [each for each in asked if "127.0.0.1" in each]
    assert {Path(each).name for each in own} <= {"report.html", "favicon.ico"}
    assert page.xpath("//title/text()") == ["keju · small"]
    hover = {each.text: each.get("title") for each in page.xpath("//article[@id='item']//abbr")}
    assert hover["CharAcc"] == metric_definition("T1", "", "strict", "CharAcc")
    bad = page.xpath("//article[@id='item']//section")[1]
    assert "onerror=alert(1)" in bad.text_content()
    assert not page.xpath("//img[@src='x']")
    assert not any(each.endswith("/x") for each in asked)
    breakdowns = page.xpath("//table[@id='stratum-table']//td[@class='task']")
    assert HOSTILE in [each.text_content() for each in breakdowns]


def test_a_folder_opens_from_the_disk_and_reads_its_items_there(scored_run, tmp_path):
    report = write_report([scored_run], tmp_path / "folder")
    done = subprocess.run(
        [
            CHROMIUM, *QUIET, f"--user-data-dir={tmp_path / 'profile'}",
            "--proxy-server=http://127.0.0.1:9", "--virtual-time-budget=3000", "--dump-dom",
            report.page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    page = html.fromstring(done.stdout)
    assert len(page.xpath("//article[@id='item']//section")) == 2
    assert page.xpath("//article[@id='item']//img/@src") == ["pictures/0.jpg"]
    assert page.xpath("//title/text()") == ["keju · small"]


@pytest.mark.parametrize(
    ("text", "thinking", "shown"),
    [
        ("B", "", {"text": "B"}),
        ("<think>A?</think>B", "", {"text": "B", "content": "<think>A?</think>B"}),
        ("B", "A?", {"text": "B", "thought": "A?"}),
        ("<think>A?", "", {"text": "", "content": "<think>A?"}),
    ],
)
def test_the_answer_is_shown_apart_from_its_reasoning(text, thinking, shown):
    response = Response(
        key="k", item="i", model="m", benchmark="MCS-Bench", task="T7", status="answered",
        text=text, thinking=thinking,
    )  # fmt: skip
    assert {"text": answer_part(text)} | _reasoning(response) == shown


def test_of_long_reasoning_the_beginning_and_the_end_are_shown():
    response = Response(
        key="k", item="i", model="m", benchmark="MCS-Bench", task="T7", status="answered",
        text="B", thinking="甲" * 9_000 + "乙" * 9_000,
    )  # fmt: skip
    thought = _reasoning(response)["thought"]
    assert (thought[0], thought[-1]) == ("甲", "乙")
    assert "18,000" in thought
    assert len(thought) < 5_000
