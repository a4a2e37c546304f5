"""A review in Label Studio: keju's tasks imported, annotated by two people, exported, read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from msgspec.structs import replace

from keju.building.review_form import read_review_form
from keju.building.reviewing.label_studio import NO_IMAGE
from keju.building.reviewing.verdicts import Verdict
from keju.datasets.store import Dataset
from keju.items import Box
from tests.support.commanding import keju
from tests.support.contract_review import (
    PERSON,
    SECOND,
    STATES,
    decided,
    decided_second,
    drafts,
    exported,
    read_back,
    states,
)
from tests.support.contracting import Contract, Exchanged, compared

OFFLINE = {
    "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
    "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
}
PASSWORD = "contract-0123456789"
SIDE = 24
"""Width and height of the images, in pixels."""


class Login:
    """A person at a server of Label Studio: an account that is made, and its session."""

    def __init__(self, address: str, email: str) -> None:
        self._address = address
        self._cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))
        self.get("/user/signup/")
        form = {"email": email, "password": PASSWORD, "csrfmiddlewaretoken": self._token()}
        self._sent("POST", "/user/signup/", urlencode(form).encode())
        self.id = json.loads(self.get("/api/current-user/whoami"))["id"]

    def get(self, path: str) -> bytes:
        """What the server replies to a GET."""
        return self._sent("GET", path, None)

    def post(self, path: str, body: object) -> Any:
        """The reply to a POST of JSON."""
        return json.loads(self._sent("POST", path, json.dumps(body).encode(), "application/json"))

    def _token(self) -> str:
        return next((str(each.value) for each in self._cookies if each.name == "csrftoken"), "")

    def _sent(self, method: str, path: str, data: bytes | None, kind: str = "") -> bytes:
        asked = Request(f"{self._address}{path}", data, method=method)
        asked.add_header("X-CSRFToken", self._token())
        asked.add_header("Referer", self._address)
        if kind:
            asked.add_header("Content-Type", kind)
        try:
            with self._opener.open(asked, timeout=120) as reply:
                return bytes(reply.read())
        except HTTPError as error:
            said = error.read().decode("utf-8", "replace")[:1500]
            raise RuntimeError(f"{method} {path}: HTTP {error.code}: {said}") from None


def exchange(contract: Contract) -> Iterator[Exchanged]:
    """Two exports on one server, two people's annotations, and the export of them."""
    data = drafts(contract.work / "data")
    folders = [contract.work / "exports" / name for name in ("first", "second")]
    for folder in folders:
        exported(contract, data, folder, "--drafts", "--form", "label-studio")
    command = contract.python.parent / "label-studio"
    with contract.serve(
        lambda port: [command, "start", "--no-browser", "--internal-host", "127.0.0.1",
                      "--port", port, "--data-dir", contract.work / "label-studio"],
        "/health", 600,
        LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT=str(contract.work / "exports"), **OFFLINE,
    ) as address:  # fmt: skip
        first, second = Login(address, PERSON), Login(address, SECOND)
        for folder in folders:
            number = _project(first, folder)
            tasks = json.loads(first.get(f"/api/tasks?project={number}&fields=all"))["tasks"]
            yield from _imported(first, data, folder, tasks)
        for login, verdicts in ((first, decided(data)), (second, decided_second(data))):
            _annotate(login, data, tasks, verdicts)
        for kind in ("JSON", "JSON_MIN"):
            whole = first.get(f"/api/projects/{number}/export?exportType={kind}"
                              "&download_all_tasks=true")  # fmt: skip
            contract.keep(f"{kind.lower()}.json", whole)
    people = {f"user {first.id}": PERSON, f"user {second.id}": SECOND}
    contract.keep("people.json", people)
    yield from _read(contract, data, people)


def _project(login: Login, folder: Path) -> int:
    """A project with keju's interface, storage and tasks."""
    interface = (folder / "interface.xml").read_text("utf-8")
    made = login.post("/api/projects", {"title": folder.name, "label_config": interface})
    number = int(made["id"])
    login.post("/api/storages/localfiles",
               {"project": number, "path": str(folder / "images"), "use_blob_urls": True,
                "title": "images"})  # fmt: skip
    tasks = json.loads((folder / "tasks.json").read_text("utf-8"))
    login.post(f"/api/projects/{number}/import", tasks)
    return number


def _imported(
    login: Login, data: Dataset, folder: Path, tasks: list[dict[str, Any]]
) -> Iterator[Exchanged]:
    ours = json.loads((folder / "tasks.json").read_text("utf-8"))
    yield compared(
        f"{folder.name} export: tasks with their predictions, a text-only item among them",
        {each["data"]["item"]: each["predictions"][0]["result"] for each in ours},
        {each["data"]["item"]: each["predictions"][0]["result"] for each in tasks},
    )
    shown = {item.id: data.image_bytes(item.images[0]) if item.images
             else (folder / "images" / NO_IMAGE).read_bytes() for item in data.items()}  # fmt: skip
    served = {each["data"]["item"]: login.get(each["data"]["image"]) for each in tasks}
    yield compared(f"{folder.name} export: bytes of the images that are served", shown, served)


def _annotate(
    login: Login, data: Dataset, tasks: list[dict[str, Any]], verdicts: Mapping[str, Verdict]
) -> None:
    """Take over the predictions, change what the verdicts change; what has none is skipped."""
    for task in tasks:
        results = list(task["predictions"][0]["result"])
        verdict = verdicts.get(task["data"]["item"])
        if verdict:
            results = _results(results, verdict)
        body = {"result": results, "was_cancelled": verdict is None}
        login.post(f"/api/tasks/{task['id']}/annotations/", body)


def _results(results: list[dict[str, Any]], verdict: Verdict) -> list[dict[str, Any]]:
    corrected = verdict.corrections.fields()
    boxes = corrected.pop("boxes", None)
    kept = [each for each in results
            if each["from_name"] not in corrected
            and (boxes is None or each["type"] != "rectanglelabels")]  # fmt: skip
    texts = corrected | ({"reason": verdict.reason} if verdict.reason else {})
    kept += [_result(name, "textarea", {"text": [text]}) for name, text in texts.items()]
    kept.append(_result("decision", "choices", {"choices": [verdict.decision]}))
    scales = {scale.name: scale for scale in read_review_form().scale}
    for name, mark in verdict.marks.items():
        scale = scales[name]
        kept.append(_result(scale.key, "choices", {"choices": [scale.format_mark(mark)]}))
    return kept + [_drawn(box) for box in boxes or ()]


def _result(name: str, kind: str, value: dict[str, object]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "shown", "type": kind, "value": value}


def _drawn(box: Box) -> dict[str, Any]:
    share = 100 / SIDE
    value = {"x": box.x0 * share, "y": box.y0 * share, "width": (box.x1 - box.x0) * share,
             "height": (box.y1 - box.y0) * share, "rotation": 0,
             "rectanglelabels": ["character"]}  # fmt: skip
    return {"id": f"new-{box.x0}", "from_name": "boxes", "to_name": "image",
            "type": "rectanglelabels", "original_width": SIDE, "original_height": SIDE,
            "image_rotation": 0, "value": value}  # fmt: skip


def _read(contract: Contract, data: Dataset, people: Mapping[str, str]) -> Iterator[Exchanged]:
    file = contract.recorded / "json.json"
    found = read_back(file, data)
    numbers = sorted({each.person for each in found})
    yield compared("people in the JSON export, by number", sorted(people), numbers)
    for name, expected in ((PERSON, decided(data)), (SECOND, decided_second(data))):
        told = [replace(each, person=people[each.person]) for each in found]
        own = {each.item: each for each in told if each.person == name}
        yield compared(f"verdicts of {name}", expected, own)
    out = contract.work / "reviewed"
    named = [f"{key.removeprefix('user ')}={name}" for key, name in people.items()]
    done = keju(
        "build", "review", "import", data.path, "--reviewed", file, "--need", 2, "--out", out,
        *(word for each in named for word in ("--people", each)),
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    yield compared("imported, two must agree: state of each item", STATES, states(out))
    refused = keju("build", "review", "import", data.path, "--reviewed",
                   contract.recorded / "json_min.json", "--out", contract.work / "min")  # fmt: skip
    yield compared(
        "JSON_MIN is refused with a hint",
        (2, True),
        (refused.returncode, "not as JSON-MIN" in " ".join(refused.stderr.split())),
        detail="Export as JSON, not as JSON-MIN",
    )
