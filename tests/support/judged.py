"""A run of open questions for judges, and a server that judges by rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from keju.items import Item, Request
from keju.judging.store import JudgementFolder, ask_judges, open_judges
from keju.models import ModelOptions
from tests.support.chat_server import asked_for
from tests.support.policies import policy_of
from tests.support.serving import Chat

KEY = "sk-judge-0123456789abcdefABCDEF"
JUDGE = "openai:judge"
GOOD, POOR = "replay:good.jsonl", "replay:poor.jsonl"

TRANSLATIONS = {
    "學而時習之": "學了又按時去溫習它。",
    "溫故而知新": "溫習舊的知識，得到新的體會。",
    "吾日三省吾身": "我每天多次反省自己。",
    "君子不器": "君子不像器具那樣只有一種用途。",
}


def items() -> list[Item]:
    """Two questions on each of four sentences, each question a group of its own."""
    found = []
    for place, (source, meaning) in enumerate(TRANSLATIONS.items()):
        shared = {"benchmark": "MCS-Bench", "transcription": source}
        found.append(Item(id=f"t{place}", task="T2", answer=meaning, group=f"t{place}", **shared))
        found.append(
            Item(id=f"q{place}", task="T6", question=f"「{source}」是什麼意思？", answer=meaning,
                 group=f"q{place}", **shared)
        )  # fmt: skip
    return found


class StepContext:
    """Judges of one run: gives the server a rule for each request, and asks."""

    def __init__(self, chat: Chat, folder: JudgementFolder) -> None:
        self.chat = chat
        self.folder = folder

    def rule(self, requests: Iterable[Request], says: Callable[[Request], str]) -> None:
        """Let the server answer each of these as told."""
        replies = {asked_for(each.prompt, []): says(each) for each in requests}
        self.chat.plan(replies=replies)

    def ask(self, requests: Iterable[Request], *judges: str, **policy: object):
        asked = list(requests)
        opened = open_judges(judges or [JUDGE], ModelOptions(base_url=self.chat.url))
        policy = {"concurrency": 4, "first_wait": 0.02, **policy}
        return ask_judges(self.folder, opened, lambda _: asked, policy=policy_of(**policy))
