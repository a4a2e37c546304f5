"""Answers, ratings, verdicts and decisions of two people in ``keju serve`` of 0.1.0."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode

from aiohttp import web
from keju.web import Choice, Hall
from keju.web.gate import Gate
from keju.web.server import Server

from keju.running import Selection


class Served:
    """The pages over a run or a dataset, answered by requests of two people."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self.token = hall.acts.token()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._runner, self.port = self._call(self._start())

    async def _start(self) -> tuple[web.AppRunner, int]:
        gate = Gate(self.token, "127.0.0.1", 0)
        runner = web.AppRunner(Server(self.hall, gate).app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, runner.addresses[0][1]

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def post(self, path: str, person: str, **form: str) -> int:
        """Send a form as a person; gives the status and fails on a refusal."""
        link = HTTPConnection("127.0.0.1", self.port, timeout=30)
        cookies = {"keju-0": self.token, "keju-person": quote(person)}
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        link.request("POST", path, urlencode(form), headers)
        response = link.getresponse()
        text = response.read().decode()
        if response.status >= 400:
            raise SystemExit(f"{path} {form}: {response.status} {text[:600]}")
        return response.status

    def stop(self) -> None:
        """Write everything out and end."""
        self._call(self._runner.cleanup())
        self.hall.close()


def people(made: Path) -> None:
    """An exam of two people over a dataset, and the other queues over a run."""
    exam = Served(
        Hall(
            made / "datasets/all",
            made / "runs/exam",
            Choice(selection=Selection(tasks=("T1", "T5", "recognition"))),
        )
    )
    desk = exam.hall.desks["exam"]
    for person in ("anna", "bo"):
        for number, subject in enumerate(desk.subjects(person), 1):
            shown = desk.shown(subject, None, "en")
            exam.post(f"/exam/{number}", person, **answer(shown, person))
    exam.post("/exam/1", "bo", act="undo")
    exam.stop()
    run = made / "runs/people"
    shutil.copytree(
        made / "runs/settings",
        run,
        ignore=shutil.ignore_patterns("scores", "judgements", "readings"),
    )
    served = Served(Hall(run, None, Choice(per_task=2, every=True)))
    for person, score in (("anna", "7"), ("bo", "6.5")):
        for number, _ in enumerate(served.hall.desks["rating"].subjects(person)[:4], 1):
            served.post(f"/rating/{number}", person, score=score)
    desk = served.hall.desks["review"]
    for number, _ in enumerate(desk.subjects("anna")[:4], 1):
        act = ("accept", "reject", "accept", "reject")[number - 1]
        served.post(f"/review/{number}", "anna", act=act, reason="checked")
    for number, _ in enumerate(served.hall.desks["adjudication"].subjects("bo"), 1):
        served.post(f"/adjudication/{number}", "bo", answer="B")
    served.stop()


def answer(shown: dict, person: str) -> dict[str, str]:
    """A person's answer to a card."""
    form = shown["asked"].form
    if form == "boxes":
        return {"boxes": json.dumps([[10, 12, 30, 40]])}
    said = {"letter": "A", "yes-no": "Yes", "number": "2", "probability": "70"}
    return {"answer": said.get(form, "天地玄黃宇宙洪荒" if person == "anna" else "天地")}
