"""What the command line prints is never obeyed by the terminal nor read as markup."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from keju.items import Item, Response
from keju.reporting.terminal import plain_table, print_json, scores_table
from keju.scoring import aggregate, score_answer

HOSTILE = "\x1b[2J\x1b]0;t\x07[red]m[/red]:smile:\u202e"
SHOWN = "\\x1b[2J\\x1b]0;t\\x07[red]m[/red]:smile:\\u202e"


def printed(*things: object) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(*things)
    return console.file.getvalue()


@pytest.mark.parametrize("place", ["heading", "cell"])
def test_the_words_of_a_table_are_shown_as_they_stand(place: str):
    table = plain_table(HOSTILE if place == "heading" else "model")
    table.add_row(HOSTILE if place == "cell" else "x")
    assert SHOWN in printed(table)
    assert not {"\x1b", "\x07", "\u202e"} & set(printed(table))


def test_a_models_name_from_a_file_is_shown_as_it_stands():
    item = Item(id="a", benchmark="MCS-Bench", task="T1", answer="天", answer_simplified="天")
    response = Response(
        key="k", item="a", model=HOSTILE, benchmark="MCS-Bench", task="T1", status="answered",
        text="天",
    )  # fmt: skip
    shown = printed(scores_table(aggregate(score_answer(item, response)), [HOSTILE]))
    assert "\x1b" not in shown
    assert "[red]m[/red]" in shown.replace("\n", "")


def test_json_is_utf8_on_any_terminal(capfdbinary: pytest.CaptureFixture[bytes]):
    print_json({"書": "𠀀"})
    assert json.loads(capfdbinary.readouterr().out.decode()) == {"書": "𠀀"}
