"""`answer_shown`: the text of a response in reports."""

from __future__ import annotations

from keju.text import answer_part


def answer_shown(content: str) -> str:
    """The answer part; reasoning before or after it is replaced by the number of its characters."""
    answer = answer_part(content)
    if answer == content:
        return content
    return f"<think>… {len(content) - len(answer):,} characters …</think>{answer}"
